# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of the ground reaction estimator."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from legged_dynamics.schema import Setting, checked

SETTINGS = (
    Setting('rate', 500.0, 'Hz', 'Nominal rate of the joint states.', 1.0, 10000.0),
    Setting('max_gap', 0.05, 's', 'A longer gap between samples restarts the estimator.',
            1e-4, 10.0),
    Setting('fusion', 'fused', '', 'Equations used.',
            choices=('fused', 'base_only', 'torque_only')),
    Setting('derivative.half_window', 0, 'samples',
            'Samples on either side of the one whose acceleration is taken; it is the delay. '
            '0: the last two samples, and no delay.', 0, 50),
    Setting('force_filter.cutoff', 0.0, 'Hz',
            'Low-pass of the published forces; 0 switches it off.', 0.0, 5000.0),
    Setting('contact.force_threshold', 0.0, '',
            'Normal force, as a fraction of the weight, at which contact is as likely as not; '
            '0: from the noise of the torques and the number of feet.', 0.0, 1.0),
    Setting('contact.force_noise', 0.0, '',
            "Slow error of a swing foot's normal force, as a fraction of the weight; 0: from the "
            'noise of the torques.', 0.0, 1.0),
    Setting('contact.force_evidence', 12.0, '',
            'Largest log-likelihood ratio a sample may add by the load that the motion leaves a '
            'foot, while no torque is measured.', 0.0, 50.0),
    Setting('contact.motion_evidence', 12.0, '',
            'Largest log-likelihood ratio a sample may add while torques are measured, because a '
            'foot has not risen from where it stood; 0: force alone judges.', 0.0, 50.0),
    Setting('contact.slip_speed', 0.0, 'm/s',
            'Speed of a standing foot, one deviation; 0: from leg length and noise.', 0.0, 10.0),
    Setting('contact.swing_speed', 0.0, 'm/s',
            'Speed of a swinging foot, one deviation; 0: from the leg length.', 0.0, 50.0),
    Setting('contact.clearance', 0.0, 'm',
            'Height of a standing foot over where it last stood, one deviation; 0: from the leg '
            'length.', 0.0, 1.0),
    Setting('contact.swing_clearance', 0.0, 'm',
            'Height of a swinging foot over where it last stood, one deviation; 0: from the leg '
            'length.', 0.0, 2.0),
    Setting('contact.switching_rate', 5.0, '1/s',
            'How often a foot is expected to make or break contact.', 1e-3, 1000.0),
    Setting('contact.probability_on', 0.5, '', 'Probability above which a foot counts as down.',
            0.5, 1.0),
    Setting('contact.probability_off', 0.1, '', 'Probability below which a foot counts as up.',
            0.0, 0.5),
    Setting('prior.force', 3.0, '',
            'Force a foot may carry when nothing is measured, as a multiple of the weight.',
            0.01, 1000.0),
    Setting('prior.length', 0.1, 'm', 'Moment over force that a flat foot may carry.', 1e-3, 10.0),
)


@dataclass(frozen=True)
class EstimatorSettings:
    """Checked settings; the table `SETTINGS` documents each with unit and range."""

    rate: float
    max_gap: float
    fusion: str
    half_window: int
    force_cutoff: float
    contact_force_threshold: float
    contact_force_noise: float
    contact_force_evidence: float
    contact_motion_evidence: float
    contact_slip_speed: float
    contact_swing_speed: float
    contact_clearance: float
    contact_swing_clearance: float
    contact_switching_rate: float
    contact_on: float
    contact_off: float
    prior_force: float
    prior_length: float

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any] | None = None) -> EstimatorSettings:
        """
        Build from dotted parameter names.

        Raises
        ------
        ConfigurationError
            When a key is unknown, or a value has the wrong type or is out of range.

        """
        # The fields stand in the order of the table.
        return cls(*checked(values or {}, SETTINGS).values())
