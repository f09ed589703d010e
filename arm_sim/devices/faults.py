"""Faults of drives and sensors while an arm runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from arm_controllers.measurement import Measurement
from arm_controllers.parameter_rows import read_rows
from arm_dynamics.actuators import linear_gains
from arm_dynamics.checks import ArmError, Array, in_range, one_of, text_of, unknown
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.devices._device import Device, OfPlant, Setup

# What each kind does; those with a unit have a value.
KINDS = {
    'frozen_feedback': 'all readings, or those of a joint, stay as they are',
    'lost_feedback': 'all readings, or those of a joint, are zero',
    'dropped_commands': 'the last commands, of all joints or one, hold',
    'stuck_joint': 'a joint stays where it is, as far as its effort limit can hold it',
    'drifting_encoder': 'position and velocity readings of a joint drift [rad/s | m/s]',
    'offset_encoder': 'position readings of a joint have an offset [rad | m]',
    'offset_torque': 'torque readings of a joint have an offset [N.m | N]',
    'offset_wrench': 'the wrench readings of an axis have an offset [N | N.m]',
}
AXES = ('fx', 'fy', 'fz', 'tx', 'ty', 'tz')
_VALUED = ('drifting_encoder', 'offset_encoder', 'offset_torque', 'offset_wrench')
_OF_COMMANDS = ('dropped_commands', 'stuck_joint')
_OF_ONE = ('stuck_joint', 'drifting_encoder', 'offset_encoder', 'offset_torque')
_STIFF = 0.2  # rate of the spring that holds a stuck joint [1/control period]


@dataclass(frozen=True)
class Fault:
    """A fault for a while.

    Attributes:
        kind: one of KINDS.
        time: start [s of simulated time]; negative: now.
        duration: [s].
        joint: name; '': all joints.
        axis: of the wrench, one of AXES.
        value: in the unit of the kind.
    """

    kind: str = ''
    time: float = -1.0
    duration: float = inf
    joint: str = ''
    axis: str = ''
    value: float = 0.0

    def __post_init__(self) -> None:
        one_of('kind', self.kind, tuple(KINDS))
        for name in ('time', 'value'):
            in_range(name, getattr(self, name), -inf)
        if not self.duration > 0.0:
            raise ArmError(f'duration is {self.duration:g}; it must be > 0')
        if self.kind in _OF_ONE and not self.joint:
            raise ArmError(f'{self.kind} needs a joint')
        if (self.kind == 'offset_wrench') != bool(self.axis):
            raise ArmError('offset_wrench needs an axis, the other kinds have none')
        if self.axis:
            one_of('axis', self.axis, AXES)
        if self.value and self.kind not in _VALUED:
            raise ArmError(f'{self.kind} has no value; allowed for {", ".join(_VALUED)}')


def read_faults(text: str) -> tuple[Fault, ...]:
    """Return the faults of a YAML list, such as '[{kind: stuck_joint, joint: elbow_joint}]'.

    Args:
        text: the list, or the path of a YAML file with it; empty: none.

    Raises:
        ArmError: no such file, no list, or an entry that is no fault.
    """
    if not text.strip():
        return ()
    file = '' if text.lstrip().startswith(('[', '-', '{')) else text
    if file:
        text = text_of(Path(file).expanduser(), f'faults: cannot read {file!r}')
    return tuple(read_rows(Fault, text, 'faults', 'fault'))


def describe(fault: Fault) -> str:
    """Return a line about a fault, for reports."""
    where, value = fault.joint or fault.axis, f' {fault.value:g}' if fault.value else ''
    when = f'from t = {max(fault.time, 0.0):g} s'
    until = f' for {fault.duration:g} s' if fault.duration < inf else ''
    return f'{fault.kind}{value}{f" of {where}" if where else ""} {when}{until}'


class _Active:
    """A fault with its first and last period, its places, and what it keeps."""

    def __init__(self, fault: Fault, start: int, joint_names: Sequence[str], period: float):
        self.fault, self.start = fault, start
        lasts = fault.duration / period
        self.end = start + max(1, round(lasts)) if np.isfinite(lasts) else inf
        if fault.joint and fault.joint not in joint_names:
            raise unknown('faults: joint', fault.joint, joint_names)
        place = slice(None) if not fault.joint else joint_names.index(fault.joint)
        self.place: Any = AXES.index(fault.axis) if fault.axis else place
        self.kept: Any = None


class Faults:
    """The faults of N arms: what they make of commands and readings, period by period."""

    def __init__(
        self,
        faults: Sequence[Fault],
        models: Sequence[RobotModel],
        parameters: OfPlant,
        time_ns: int = 0,
    ):
        """Take the faults from a simulated time [ns] on.

        Args:
            faults: of every arm.
            models: of each arm, or the first.
            parameters: of the plants.
            time_ns: the present time; faults of negative time begin then.

        Raises:
            ArmError: no such joint.
        """
        self._models, self._parameters = models, parameters
        period = parameters.period
        now = round(time_ns / parameters.period_ns)
        names = models[0].joint_names
        self._faults = [
            _Active(each, now if each.time < 0.0 else round(each.time / period), names, period)
            for each in faults
        ]
        kinds = {each.kind for each in faults}
        if 'offset_torque' in kinds and not parameters.joint_torque:
            raise ArmError('faults: offset_torque needs joint_torque.enabled')
        if 'offset_wrench' in kinds and not parameters.force_torque_frame:
            raise ArmError('faults: offset_wrench needs force_torque.frame')
        if 'stuck_joint' in kinds:
            if parameters.actuator == 'voltage' or parameters.has_drive_trains:
                raise ArmError('faults: stuck_joint needs rigid joints that take no voltages')
            gains = parameters.servo_gains(models[0])
            self._gains = linear_gains(parameters.actuators(names), *gains)
            self._limit = parameters.effort_limit(models[0])
        self._period, self._count = period, now
        self._last_command: Array | None = None
        self._last: Measurement | None = None

    def reset(self, time_ns: int = 0) -> None:
        """Return to a time [ns]: at 0, faults that began while the arm ran begin there."""
        self._count = round(time_ns / self._parameters.period_ns)
        for each in self._faults:
            each.kept = None
            if each.fault.time < 0.0 and each.start > self._count:
                each.start, each.end = 0, each.end - each.start
        self._last_command = self._last = None

    def _now(self, *kinds: str) -> list[_Active]:
        k = self._count
        return [x for x in self._faults if x.start <= k < x.end and x.fault.kind in kinds]

    def sent(self, command: Array) -> Array:
        """Return the commands (..., n) that reach the drives."""
        for each in self._now('dropped_commands'):
            if each.kept is None:
                each.kept = (command if self._last_command is None else self._last_command).copy()
            command = command.copy()
            command[..., each.place] = each.kept[..., each.place]
        self._last_command = command.copy()
        return command

    def acting(self, command: Array, q: Array, v: Array) -> Array:
        """Return the commands (..., n) that act on joints at states q, v (N, n)."""
        stuck = self._now('stuck_joint')
        if not stuck:
            return command
        command = command.copy()
        rows = command.reshape(-1, command.shape[-1])
        for each in stuck:
            if each.kept is None:
                each.kept = q[:, each.place].copy()
        places = [each.place for each in stuck]
        at = np.array([each.kept for each in stuck]).T
        for arm, model in zip(range(len(rows)), cycle(self._models)):
            rows[arm, places] = self._holding(model, rows[arm], q[arm], v[arm], places, at[arm])
        return command

    def _holding(
        self, model: RobotModel, command: Array, q: Array, v: Array, joints: list[int], at: Array
    ) -> Array:
        """Return commands (k,) that hold k joints at positions, whatever the other ones do.

        They give these joints the acceleration of a critically damped spring; the model says with
        which torques, given those of the other joints.
        """
        gains, p = self._gains, self._parameters
        h, rate = p.timestep * (p.integrator != 'continuous'), _STIFF / self._period
        # As with implicit damping: (M + h (D + kd)) a = tau - C v - g - friction.
        inverse = np.linalg.inv(model.mass_matrix(q) + h * np.diag(model.damping + gains.velocity))
        force = gains.command * command - gains.position * q - gains.velocity * v
        force = np.clip(force, -self._limit, self._limit)
        lost = model.bias_torque(q, v) + model.friction_torque(v)
        force[joints] = 0.0
        wanted = rate**2 * (at - q[joints]) - 2.0 * rate * v[joints]
        lacking = wanted - (inverse @ (force - lost))[joints]
        held = np.linalg.solve(inverse[np.ix_(joints, joints)], lacking)
        others = gains.position * q + gains.velocity * v
        return (held + others[joints]) / gains.command[joints]

    def reported(self, measured: Measurement, first: bool = False) -> Measurement:
        """Return the readings of the next state, or of the first one."""
        self._count += not first
        found = _copy(measured)
        for each in self._now(*(kind for kind in KINDS if kind not in _OF_COMMANDS)):
            if each.kept is None:
                each.kept = found if self._last is None else self._last
            _change(found, each, (self._count - each.start) * self._period)
        self._last = _copy(found)
        return found


def _copy(measured: Measurement) -> Measurement:
    q, v, effort, wrench, readings = measured
    effort, wrench = (None if each is None else each.copy() for each in (effort, wrench))
    return Measurement(q.copy(), v.copy(), effort, wrench, readings)


def _change(found: Measurement, active: _Active, t: float) -> None:
    """Let a fault that began t [s] ago change readings."""
    fault, place = active.fault, active.place
    if fault.kind == 'drifting_encoder':
        found.q[..., place] += fault.value * t
        found.v[..., place] += fault.value
    elif fault.kind == 'offset_encoder':
        found.q[..., place] += fault.value
    elif fault.kind == 'offset_torque' and found.effort is not None:
        found.effort[..., place] += fault.value
    elif fault.kind == 'offset_wrench' and found.wrench is not None:
        found.wrench[..., place] += fault.value
    else:
        names = ('q', 'v', 'effort') if fault.joint else ('q', 'v', 'effort', 'wrench')
        for name in names:
            reading = getattr(found, name)
            if reading is not None:
                kept = getattr(active.kept, name)[..., place]
                reading[..., place] = kept if fault.kind == 'frozen_feedback' else 0.0


@dataclass(frozen=True, kw_only=True)
class FaultParameters(Parameters):
    """The faults of drives and sensors."""

    faults: str = parameter(
        '', "faults, as a YAML list such as '[{kind: stuck_joint, joint: elbow_joint, time: 1.0, "
        "duration: 0.5}]', or the path of a YAML file; empty: none",
    )  # fmt: skip


class FaultsDevice(Device):
    """Faults of drives and sensors: the outermost device, so that they change what others do."""

    Parameters = FaultParameters
    changes_joints = True
    order = 0.0
    alike = live = ('faults',)
    is_sensor = False

    @classmethod
    def wanted(cls, parameters: FaultParameters) -> bool:
        """Return True: faults may begin while the arm runs."""
        return True

    @classmethod
    def facts(cls, parameters: OfPlant) -> dict[str, object]:
        """Return a line about each fault, where there are any."""
        lines = [describe(each) for each in read_faults(parameters.faults)]
        return {'faults': lines} if lines else {}

    def __init__(self, setup: Setup):
        super().__init__(setup)
        self._reset_ns = 0
        listed = read_faults(setup.each[0].faults)
        self._faults = Faults(listed, setup.models, setup.each[0])
        self.idle = not listed

    def set(self, faults: Sequence[Fault], time_ns: int) -> None:
        """Have these faults in place of all earlier ones from a simulated time [ns] on.

        Raises:
            ArmError: no such joint, or an offset of a sensor that the arm does not have.
        """
        self._faults = Faults(faults, self.setup.models, self.setup.each[0], time_ns)
        self.idle = False
        self.plant.devices.refresh()

    def check_change(self, parameters: OfPlant) -> None:
        """Raise ArmError as `set`."""
        Faults(read_faults(parameters.faults), self.setup.models, parameters)

    def change(self, parameters: OfPlant, time_ns: int) -> None:
        """Have the faults of the parameters in place of all earlier ones, see `set`."""
        self.set(read_faults(parameters.faults), time_ns)

    def set_time(self, time_ns: int) -> None:
        """Let faults continue from a simulated time [ns], now and after each reset."""
        self._reset_ns = time_ns
        self._faults.reset(time_ns)

    def reset(self, seed: int | None, measured: Measurement) -> Measurement:
        """Return to the time of `set_time`; return the first reading."""
        self._faults.reset(self._reset_ns)
        return measured if self.idle else self._faults.reported(measured, first=True)

    def sent(self, command: Array) -> Array:
        """Return the commands that reach the drives."""
        return self._faults.sent(command)

    def acting(self, command: Array) -> Array:
        """Return the commands that act on the joints."""
        return self._faults.acting(command, *self.plant.sensed_rows())

    def read(self, measured: Measurement) -> Measurement:
        """Return the readings as the faults change them."""
        return self._faults.reported(measured)

    def continue_from(self, before: 'FaultsDevice') -> None:
        """Take over the faults and what they keep."""
        self._faults, self.idle = before._faults, before.idle
