# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What is wrong with a robot: faults, masses and friction, and how far its forces can be trusted.

`examine` tells faults of sensors, motors and description from a recording (`doctor`); `identify`
estimates masses, friction and offsets (`identification`); `validate` tells how far forces can be
trusted (`validation`).
"""
from typing import TYPE_CHECKING

from legged_dynamics._moved import lazy_names

if TYPE_CHECKING:
    from legged_dynamics.diagnosis.doctor.checkup import Checkup
    from legged_dynamics.diagnosis.doctor.examination import Examination, examine
    from legged_dynamics.diagnosis.doctor.hypotheses import Finding
    from legged_dynamics.diagnosis.identification.identify import (
        Identification,
        Quantity,
        identify,
    )
    from legged_dynamics.diagnosis.validation.validation import Validation, validate

__all__ = ['examine', 'Examination', 'Finding', 'Checkup', 'identify', 'Identification',
           'Quantity', 'validate', 'Validation']
__getattr__, __dir__ = lazy_names(__name__)
