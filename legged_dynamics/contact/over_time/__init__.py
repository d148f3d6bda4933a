# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact inverse dynamics over time: the ground reactions of a whole motion as one problem.

:mod:`.inverse_dynamics` is where a caller begins; :mod:`.motion` and :mod:`.recorded_motion` make
motions, :mod:`.stretch` says which feet stand in them. Below these, a problem is laid out
(:mod:`.task`, :mod:`.passes`, :mod:`.frames`, :mod:`.problem`) and solved: frame by frame without
limits (:mod:`.elimination`), by an interior-point method within them (:mod:`.interior_point`).
"""
