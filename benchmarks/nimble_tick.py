# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Nimble's contact inverse dynamics of one instant; run by the Python that has nimblephysics.

Its wheel wants numpy below 2, so it lives in an environment of its own, and the environment
variable NIMBLE_PYTHON says where. Prints the medians [us] of a tick: state set, wrenches and
joint torques of all feet, without and with guesses.
"""
import statistics
import sys
import time

import numpy as np


def main(urdf, feet):
    """Time both calls and print the medians."""
    import nimblephysics_libs._nimblephysics as nimble
    skeleton = nimble.utils.DartLoader().parseSkeleton(urdf)
    skeleton.setGravity([0.0, 0.0, -9.81])
    bodies = [skeleton.getBodyNode(foot) for foot in feet]
    rng, dofs = np.random.default_rng(0), skeleton.getNumDofs()
    q, v, a = 0.3 * rng.normal(size=dofs), rng.normal(size=dofs), rng.normal(size=dofs)
    guesses = [rng.normal(size=6) for _ in bodies]
    for arguments in ((a, bodies), (a, bodies, guesses)):
        times = []
        for _ in range(15):
            start = time.perf_counter()
            for _ in range(300):
                skeleton.setPositions(q)
                skeleton.setVelocities(v)
                skeleton.getMultipleContactInverseDynamics(*arguments)
            times.append((time.perf_counter() - start) / 300 * 1e6)
        print(statistics.median(times))


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
