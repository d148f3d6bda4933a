# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Gait of a whole recording, off line: stance phases, and the ground reactions on each foot.

A caller begins with :mod:`.double_support`. It computes the :mod:`.inverse_dynamics` of the
motion, detects stance by it (:mod:`.stance_detection`, by the motion of the soles and the
:mod:`.contact_evidence` of the on-line estimator), times every touch-down and toe-off
(:mod:`.contact_timing`), shares the load between the feet on the ground (:mod:`.load_transfer`),
and completes the wrench on each foot, with its :mod:`.reactions`. Noise of the motion is taken
out beforehand by :mod:`.required_wrench`, and where feet and centre of mass are tells how forces
lean (:mod:`.force_direction`).
"""
