"""Joint torque sensors between gear and link: parameters and errors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arm_dynamics.checks import Array, per_joint
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_sim.simulation.signal_errors import Errors, bandwidth_of, delay_of

STREAM = 3  # of random numbers, separate from those of other sensors


@dataclass(frozen=True, kw_only=True)
class JointTorqueParameters(Parameters):
    """Torque sensors on the link side of all joints."""

    joint_torque: bool = parameter(
        False, 'if true, joints have torque sensors, which joint_states has as effort',
        name='joint_torque.enabled',
    )  # fmt: skip
    torque_bias: PerJoint = parameter(
        (), 'offset of measured joint torques [N.m | N]; empty: none', name='joint_torque.bias'
    )
    torque_drift: PerJoint = parameter(
        (), 'offset of measured joint torques per second [N.m/s | N/s]; empty: none',
        name='joint_torque.drift',
    )  # fmt: skip
    joint_torque_noise: float = parameter(
        0.0, 'standard deviation of the noise of joint torques [N.m | N]',
        name='joint_torque.noise', min=0,
    )  # fmt: skip
    torque_bandwidth: float = bandwidth_of('joint_torque')
    torque_delay: int = delay_of('joint_torque')
    torque_limit: PerJoint = parameter(
        (), 'largest joint torque that is reported [N.m | N]; empty: no limit',
        name='joint_torque.limit', above=0,
    )  # fmt: skip

    def torque_errors(self, joint_names: Sequence[str]) -> Errors:
        """Return the errors of the signals of joints."""

        def numbers(name: str, values: PerJoint, otherwise: float) -> Array:
            return per_joint(f'joint_torque.{name}', values or (otherwise,), joint_names)

        return Errors(
            numbers('bias', self.torque_bias, 0.0),
            numbers('drift', self.torque_drift, 0.0),
            self.joint_torque_noise,
            numbers('limit', self.torque_limit, np.inf) if self.torque_limit else np.inf,
            self.torque_bandwidth,
            self.torque_delay,
        )
