# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact inverse dynamics: ground reactions from motion, instant by instant and over time.

A floating base has no actuator, so the wrench that the motion requires at the base by
Newton-Euler, ``b = [f; m]``, must come from the feet: ``A w = b`` (Nimble, *Computing skeleton
joint torques and forces*). Six equations; a flat foot brings six unknowns, a line foot four, a
point foot three.

===============================  ======  ======================================================
feet on the ground               rank A  answer
===============================  ======  ======================================================
none                             0       airborne; ``b`` is the residual
one flat foot                    6       unique, ``w = J_root^-T b``
one point foot                   3       least squares; the rest of ``b`` is the residual
one line foot                    4       the same, with the moment across the line carried
two point feet, or collinear     5       least squares; no moment about their line, and the
                                         squeeze along it is chosen
three or more point feet         6       null space chosen
several flat feet                6       null space of dimension 6 (k - 1) chosen
===============================  ======  ======================================================

The null space is chosen either nearest to a guess (``|w - w_guess|``), or for the smallest
contact moment, ``sum |m_i|^2 + L^2 |f_i|^2`` with ``L = 0.1 m``, about each foot's reference:
the middle of its sole, its link's frame, or a stated centre of pressure. With measured joint
torque there is no such choice; friction and the edges of soles restrict it.
"""
from legged_dynamics.contact.batch import ContactBatch
from legged_dynamics.contact.inverse_dynamics import (
    ContactInverseDynamics,
    InstantProblem,
    equation_weights,
)
from legged_dynamics.contact.over_time.inverse_dynamics import (
    ContactInverseDynamicsOverTime,
    OverTimeSolution,
)
from legged_dynamics.contact.over_time.limits import ContactLimits, OverTimeWeights
from legged_dynamics.contact.over_time.recorded_motion import GeneralizedMotion
from legged_dynamics.contact.over_time.stretch import Stretch
from legged_dynamics.contact.solution import ContactSolution, EquationWeights, Support
from legged_dynamics.contact.uncertainty import MotionNoise, WrenchUncertainty

__all__ = ['ContactInverseDynamics', 'ContactSolution', 'ContactBatch',
           'ContactInverseDynamicsOverTime', 'OverTimeSolution', 'OverTimeWeights',
           'ContactLimits', 'MotionNoise', 'EquationWeights', 'equation_weights',
           'WrenchUncertainty', 'GeneralizedMotion', 'Support', 'Stretch', 'InstantProblem']
