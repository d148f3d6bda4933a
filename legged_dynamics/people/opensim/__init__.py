# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""OpenSim's musculoskeletal models (.osim) as RobotModels: bodies and joints, without muscles."""
from legged_dynamics.people.opensim.reader import OpenSimModel, read_osim

__all__ = ['OpenSimModel', 'read_osim']
