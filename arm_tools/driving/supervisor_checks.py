"""What the supervisor checks in each control period."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array
from arm_tools.driving.supervisor_limits import SupervisorLimits
from arm_tools.driving.supervisor_state import SupervisorState


@dataclass
class Cycle:
    """What the checks see in one control period; arrays (..., n) or (..., 1).

    Attributes:
        kept: the limits.
        state: its memory of the period before.
        q, v: reading [rad | m], [rad/s | m/s].
        command: of the law, behind the ramp.
        reference: position that the law follows [rad | m]; NaN where it is not known.
        gap: time since the reading before, by its stamp [s].
        age, silence: age of the reading, and of the law's command [s].
        dt: control period [s].
        speed, rest: predicted largest speed [rad/s | m/s], and position at the end of a stop that
            begins after this command [rad | m].
    """

    kept: SupervisorLimits
    state: SupervisorState
    q: Array
    v: Array
    command: Array
    reference: Array
    gap: Array
    age: Array
    silence: Array
    dt: float
    speed: Array
    rest: Array


class SupervisorCheck(NamedTuple):
    """A row of the table of checks.

    Attributes:
        name: in log lines.
        unit: of the value, behind that of `kind`.
        kind: 'position', 'velocity' or 'command', whose unit is the joint's; 'time': of a joint;
            '': of no joint.
        blinds: whether the readings cannot be used any more after it.
        value, limit: of a cycle; more is an intervention, and so is a value that is no number.
        stops: whether the intervention is a stop; else the command is limited.
    """

    name: str
    unit: str
    kind: str
    blinds: bool
    value: Callable[[Cycle], Array]
    limit: Callable[[Cycle], Array | float]
    stops: bool = True


def _outside(cycle: Cycle) -> Array:
    """Return how far the tool leaves the workspace, now or where a stop ends [m]."""
    assert cycle.kept.box is not None  # else it is not checked
    low, high = cycle.kept.box
    ways = []
    for q in (cycle.q, cycle.rest):
        place = cycle.kept.tool_at(q)
        ways.append(np.maximum(low - place, place - high).max(axis=-1, keepdims=True))
    return np.maximum(*ways)


def _torque_rate(cycle: Cycle) -> Array:
    """Return how fast the torque would change without a limit of its rate."""
    limit = cycle.kept.torque_limit
    change: Array = np.clip(cycle.command, -limit, limit) - cycle.state.sent
    return np.abs(change) / cycle.dt


_JUMPS = 0.01  # no arm gains all its speed in this time [s]
_SAME = 0.5  # of the way of the velocities, by which the positions may differ [1]


# What stops the law, and what limits its command.
CHECKS = (
    SupervisorCheck('age of the newest state', 's', '', True, lambda c: c.age,
                    lambda c: c.kept.parameters.state_age_limit),
    SupervisorCheck("age of the law's newest command", 's', '', False, lambda c: c.silence,
                    lambda c: c.kept.parameters.state_age_limit),
    SupervisorCheck('difference of the mean period of the states from the control period',
                    's', '', False, lambda c: np.abs(c.state.period - c.dt),
                    lambda c: c.kept.parameters.rate_tolerance * c.dt),
    SupervisorCheck('jump of the position', '', 'position', True,
                    lambda c: np.abs(c.q - c.state.q - 0.5 * (c.v + c.state.v) * c.gap),
                    lambda c: c.kept.parameters.jump),
    SupervisorCheck('jump of the speed', '', 'velocity', True, lambda c: np.abs(c.v - c.state.v),
                    lambda c: c.kept.speed_limit * np.maximum(1.0, c.gap / _JUMPS)),
    SupervisorCheck('difference of the way of the positions from that of the velocities',
                    '', 'position', True, lambda c: np.abs(c.state.apart),
                    lambda c: c.kept.parameters.jump + _SAME * c.state.travel),
    SupervisorCheck('time in which a reading has not moved where it should', 's', 'time', True,
                    lambda c: c.state.frozen,
                    lambda c: c.kept.parameters.state_age_limit),
    SupervisorCheck('command', '', 'command', False, lambda c: np.abs(c.command), lambda c: 1e9),
    SupervisorCheck('speed', '', 'velocity', False, lambda c: np.maximum(np.abs(c.v), c.speed),
                    lambda c: c.kept.speed_limit),
    SupervisorCheck('way of a stop beyond the position limit', '', 'position', False,
                    lambda c: np.maximum(c.rest - c.kept.upper, c.kept.lower - c.rest),
                    lambda c: 0.0),
    SupervisorCheck('way of the tool out of the workspace', 'm', '', False, _outside,
                    lambda c: 0.0),
    SupervisorCheck('tracking error', '', 'position', False, lambda c: np.abs(c.reference - c.q),
                    lambda c: c.kept.parameters.tracking_error),
    SupervisorCheck('torque', '', 'command', False, lambda c: np.abs(c.command),
                    lambda c: c.kept.torque_limit, stops=False),
    SupervisorCheck('rate of the torque', '/s', 'command', False, _torque_rate,
                    lambda c: c.kept.parameters.torque_rate, stops=False),
)  # fmt: skip


def checks_of(limits: SupervisorLimits) -> tuple[SupervisorCheck, ...]:
    """Return the checks that concern a robot with these limits."""
    return tuple(
        each
        for each in CHECKS
        if (limits.box is not None or each.value is not _outside)
        and (limits.interface == 'effort' or each.stops)
    )


def values_and_limits(checks: Sequence[SupervisorCheck], cycle: Cycle) -> Array:
    """Return values and limits (..., 2, k, n) of k checks in a cycle."""
    return np.stack(
        [
            np.stack([side(cycle) + np.zeros_like(cycle.q) for side in sides], axis=-2)
            for sides in zip(*((x.value, x.limit) for x in checks), strict=True)
        ],
        axis=-3,
    )
