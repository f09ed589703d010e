"""Drive model: delay, jitter, rate limit and compensation between a command and the joints."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from arm_controllers.drive_convention import DriveConvention
from arm_controllers.measurement import Measurement
from arm_dynamics.checks import ArmError, Array, per_joint
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import PerJoint, parameter
from arm_sim.devices._device import Device, OfPlant, Setup

_CHUNK = 64  # commands whose jitter is drawn together


@dataclass(frozen=True, kw_only=True)
class DriveParameters(DriveConvention):
    """The drives of an arm; with the defaults a command acts at once and unchanged."""

    compensation_scale: float = parameter(
        1.0, "factor on gravity and friction in the drives' own compensation [1]", min=0, max=10
    )
    servo_compensation: bool = parameter(
        False,
        'if true, position and velocity servos add the torque g(q) of their model, as those of '
        'robots that hold a position without droop; for commands without a gravity term',
    )
    effort_rate_limit: PerJoint = parameter(
        (), 'largest rate of an effort command [N.m/s | N/s]; empty: no limit', above=0
    )
    command_delay: int = parameter(
        0, 'delay from a state to the effect of its command [control periods]', min=0, max=1000
    )
    command_jitter: int = parameter(
        0, 'largest additional delay, drawn in each period [control periods]', min=0, max=1000
    )
    jitter_seed: int = parameter(0, 'random seed of the command jitter')

    def drives(self) -> dict[str, object]:
        """Return the parameters that differ from their defaults, by name."""
        own = [(each.name, each.default) for each in fields(DriveParameters)]
        now = {name: getattr(self, name) for name, default in own}
        return {name: now[name] for name, default in own if now[name] != default}

    def check_drives(self, command_interfaces: Sequence[str]) -> None:
        """Raise ArmError for parameters without meaning for joints with these commands."""
        given = self.drives()
        for name, taken in (
            ('effort_convention', ('effort',)),
            ('friction_compensation', ('effort',)),
            ('effort_rate_limit', ('effort',)),
            ('servo_compensation', ('position', 'velocity')),
        ):
            if name in given and not {*taken} & {*command_interfaces}:
                raise ArmError(
                    f'{name} is {given[name]!r}; it is for drives that take {" or ".join(taken)}, '
                    f'and these take {", ".join(dict.fromkeys(command_interfaces))}'
                )
        compensates = self.compensates or self.servo_compensation
        if 'compensation_scale' in given and not compensates:
            raise ArmError(
                f'compensation_scale is {self.compensation_scale:g}; the drives compensate '
                "nothing: effort_convention 'gravity_compensated', friction_compensation or "
                'servo_compensation'
            )


class Drives:
    """The drives of N arms; every arm has its own numbers and random stream.

    Commands never overtake each other; before `command_delay` periods the first command acts.

    Attributes:
        model: the drives' model of the arm, for compensation.
    """

    def __init__(
        self,
        model: RobotModel,
        parameters: Sequence[DriveParameters],
        period: float,
        torques: NDArray[np.bool_] | bool = True,
        per_torque: Array | float = 0.0,
    ):
        """Take the drives of N arms.

        Args:
            model: of the arms.
            parameters: of each arm, which alone may compensate.
            period: of control [s].
            torques: (n,) which joints take effort, or whether all do: only these have a rate limit
                or compensation of efforts.
            per_torque: (n,) change of a servo's command that changes its torque by one; 0: no
                servo.

        Raises:
            ArmError: a wrong count of numbers.
        """
        size, names = len(parameters), model.joint_names
        self.model, self._parameters, self._torques = model, parameters, torques
        self._per_torque = per_torque

        def rate(p: DriveParameters) -> Array:
            if not p.effort_rate_limit:
                return np.full(model.nv, np.inf)
            limit = per_joint('effort_rate_limit', p.effort_rate_limit, names, 0.0, True)
            return np.where(torques, limit, np.inf)

        self._most = np.array([rate(p) for p in parameters]) * period
        self._limited = bool(np.isfinite(self._most).any())
        self._delay = np.array([p.command_delay for p in parameters])
        self._jitter = np.array([p.command_jitter for p in parameters])
        self._sent = np.zeros((1 + int((self._delay + self._jitter).max()), size, model.nv))
        self._arms = np.arange(size)
        self.reset()

    def reset(self, seed: int | None = None) -> None:
        """Start again: no command is pending, the random streams begin again.

        `seed`: of the first arm, the next arm has one more; None: those of the parameters.
        """
        own = [p.jitter_seed for p in self._parameters]
        seeds = own if seed is None else range(seed, seed + len(own))
        self._streams = [np.random.default_rng(each) for each in seeds]
        self._drawn = 0
        self.release()

    def release(self) -> None:
        """Forget the pending commands; the next command acts at once."""
        self._count, self._age = 0, np.zeros(len(self._arms), dtype=int)
        self._last: Array | None = None

    def effect(self, command: Array, q: Array, v: Array) -> Array:
        """Return the commands (N, n) that act when these are sent at the states q, v (N, n)."""
        sent, i = self._sent, self._count
        sent[i % len(sent)] = command
        late = self._delay + self._more() if self._jitter.any() else self._delay
        self._age = np.minimum(np.minimum(late, self._age + 1), i)
        acting = sent[(i - self._age) % len(sent), self._arms]
        if self._limited:
            if self._last is not None:
                acting = np.clip(acting, self._last - self._most, self._last + self._most)
            self._last = acting
        self._count = i + 1
        p = self._parameters[0]
        if p.compensates:
            added = p.compensation_scale * p.added(self.model, q[0], v[0])
            acting = acting + np.where(self._torques, added, 0.0)
        if p.servo_compensation:
            weight = p.compensation_scale * self.model.gravity_torque(q[0])
            acting = acting + self._per_torque * weight
        return np.ascontiguousarray(acting)

    def _more(self) -> Array:
        """Return the additional periods (N,) of this command."""
        k = self._drawn % _CHUNK
        self._drawn += 1
        if k == 0:
            pairs = zip(self._streams, self._jitter, strict=True)
            self._table = np.array([rng.integers(most + 1, size=_CHUNK) for rng, most in pairs])
        more: Array = self._table[:, k]
        return more


def _servo_per_torque(parameters: OfPlant, model: RobotModel) -> Array:
    """Return by how much a servo's command (n,) changes for one N.m or N; 0: no servo."""
    kp, kd = parameters.servo_gains(model)
    kinds = np.array(parameters.actuators(model.joint_names))
    gain = np.select([kinds == 'servo', kinds == 'velocity'], [kp, kd])
    return np.divide(1.0, gain, out=np.zeros_like(gain), where=gain > 0.0)


class DrivesDevice(Device):
    """The drives between the commands of controllers and the joints."""

    Parameters = DriveParameters
    order = 10.0
    is_sensor = False

    @classmethod
    def wanted(cls, parameters: DriveParameters) -> bool:
        """Return whether a drive changes a command."""
        return bool(parameters.drives())

    @classmethod
    def check(cls, setup: Setup) -> None:
        """Raise ArmError for parameters without meaning for the joints of the plant."""
        plant = setup.plant
        for one in setup.each:
            one.check_drives(plant.command_interfaces)

    def __init__(self, setup: Setup):
        super().__init__(setup)
        model, p = setup.models[0], setup.each[0]
        torques = np.array(self.plant.command_interfaces) == 'effort'
        per_torque = _servo_per_torque(p, model)
        self._drives = Drives(model, setup.each, setup.period, torques, per_torque)

    def reset(self, seed: int | None, measured: Measurement) -> Measurement:
        """Forget pending commands; the random streams begin again."""
        self._drives.reset(seed)
        return measured

    def sent(self, command: Array) -> Array:
        """Return the commands (..., n) that act when these are sent."""
        rows = command.reshape(-1, command.shape[-1])
        return self._drives.effect(rows, *self.plant.sensed_rows()).reshape(command.shape)

    def braked(self) -> None:
        """Forget pending commands."""
        self._drives.release()

    def know(self, model: RobotModel) -> None:
        """Compensate with this model of the arm."""
        self._drives.model = model

    def continue_from(self, before: 'DrivesDevice') -> None:
        """Take over the pending commands and the drives' model."""
        self._drives = before._drives
