# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Measurements that follow from a chosen motion and chosen forces, exactly."""
import numpy as np
from robots import CONFIG

from legged_dynamics.contact import ContactInverseDynamics
from legged_dynamics.dynamics import BaseMotion, Motion
from legged_dynamics.estimation import GroundReactionEstimator, Measurement
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_vector

RATE = 500.0
QUIET = {f'noise.{name}': 1e-9 for name in
         ('position', 'velocity', 'effort', 'gyro', 'accelerometer', 'orientation', 'gyro_bias',
          'accelerometer_bias', 'mass', 'center_of_mass')}


def quadruped(**parameters):
    """Return (model, config) of the 52 kg robot, with other parameters if given."""
    from legged_dynamics.schema import read_parameter_file
    path = CONFIG / 'robots' / 'anymal_class.yaml'
    values = {**read_parameter_file(path), 'robot.joint_friction': [0.0],
              'noise.effort_age': 0.0, **parameters}      # exact torques are of their instant
    return RobotModel.from_urdf(path.with_suffix('.urdf')), RobotConfig.from_parameters(values)


def known_robot(model, config, settings=None):
    """Return the estimator of a robot whose actuators are exactly as stated."""
    return GroundReactionEstimator(model, config, {**(settings or {}), 'actuators.learn': False})


class Scene:
    """A robot with constant joint and angular acceleration, standing on given feet.

    Forces are those of least norm plus a squeeze between the feet that motion cannot see.
    """

    def __init__(self, model, config, seed=0, down=(True,) * 4, motion=1.0, squeeze=40.0):
        rng = np.random.default_rng(seed)
        self.model, self.config = config.apply_to(model), config
        self.solver = ContactInverseDynamics(self.model, config.feet)
        self.down = np.array(down, bool)
        order = [config.joints.index(name) for name in self.model.joint_names]
        self.q0 = np.array(config.nominal_position)[order] + 0.1 * rng.normal(size=12)
        self.v0 = motion * 0.3 * rng.normal(size=12)
        self.a = motion * 3.0 * rng.normal(size=12)
        self.w0, self.alpha = motion * 0.3 * rng.normal(size=3), motion * rng.normal(size=3)
        self.R_WB = rotation_from_vector(np.array([0.05, -0.1, 0.7]) * max(motion, 0.1))
        self.acceleration = motion * 0.5 * rng.normal(size=3)
        self.extra = squeeze * rng.normal(size=(len(config.feet), 3))
        mount = self.model.frame(config.imu_link).pose
        self.R_BI, self.p_BI = mount.R, mount.p

    def truth(self, t):
        """Return (motion, orientation, solution) at time t [s]."""
        rotation = self.R_WB @ rotation_from_vector(self.w0 * t)
        up = rotation.T @ [0, 0, 1]
        motion = Motion(
            self.q0 + self.v0 * t + self.a * t * t / 2, self.v0 + self.a * t, self.a,
            BaseMotion(self.w0 + self.alpha * t, self.alpha, 9.81 * up + self.acceleration))
        guess = np.zeros((len(self.extra), 6))
        guess[:, :3] = self.extra
        least = self.solver.solve(motion, in_contact=self.down, ground_normal=up)
        guess += least.wrench
        return motion, rotation, self.solver.solve(motion, in_contact=self.down, guess=guess,
                                                   ground_normal=up)

    def measurement(self, k):
        """Return the exact measurement number k."""
        motion, rotation, solution = self.truth(k / RATE)
        w, alpha = motion.base.angular_velocity, motion.base.angular_acceleration
        at_imu = (motion.base.proper_acceleration + np.cross(alpha, self.p_BI)
                  + np.cross(w, np.cross(w, self.p_BI)))
        return Measurement(
            round(k * 1e9 / RATE), motion.position, motion.velocity, solution.joint_effort,
            self.R_BI.T @ w, self.R_BI.T @ at_imu,
            quaternion_from_rotation(rotation @ self.R_BI))
