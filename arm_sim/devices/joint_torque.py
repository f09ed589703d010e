"""Joint torque sensors between gear and link: parameters and errors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arm_controllers.measurement import Measurement
from arm_dynamics.checks import Array, per_joint
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_sim.devices._device import Device, Setup
from arm_sim.devices._signal_errors import Errors, SignalErrors, bandwidth_of, delay_of

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


class JointTorqueDevice(Device):
    """The joint torque sensors: `Measurement.effort`."""

    Parameters = JointTorqueParameters
    order = 40.0
    alike = ('joint_torque',)
    needs_motion = True

    @classmethod
    def wanted(cls, parameters: JointTorqueParameters) -> bool:
        """Return whether there are sensors."""
        return parameters.joint_torque

    def __init__(self, setup: Setup):
        super().__init__(setup)
        names = self.plant.joint_names
        errors = [own.torque_errors(names) for own in setup.each]
        self._errors = SignalErrors(errors, len(names), setup.period, STREAM)

    def reset(self, seed: int | None, measured: Measurement) -> Measurement:
        """Begin again; return the first reading."""
        self._errors.reset(self.setup.seeds(seed))
        return self.read(measured)

    def read(self, measured: Measurement) -> Measurement:
        """Return the reading of the last integration step."""
        effort = self._errors.read(self.plant.link_motion.torque)
        return measured._replace(effort=effort.reshape(*self.plant.arms, -1))

    def continue_from(self, before: 'JointTorqueDevice') -> None:
        """Take over the errors."""
        self._errors = before._errors
