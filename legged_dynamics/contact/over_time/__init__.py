# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact inverse dynamics over time: the ground reactions of a whole motion as one problem.

:mod:`.inverse_dynamics` is the interface; :mod:`.recorded_motion` and :mod:`.stretch` make motions
and the sections of them that are solved, :mod:`.limits` the cost and the friction. Below these,
:mod:`.passes` and :mod:`.frames` set up a problem, :mod:`.problem` solves it frame by frame
without limits, and :mod:`.interior_point` within them.
"""
