"""Supervisor between a law and a robot: starts it gently, limits its commands, stops it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_controllers.drive_convention import DriveConvention
from arm_controllers.law import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import Array, unit
from arm_dynamics.parameters import with_arrays
from arm_sim.driving.supervisor_parameters import SupervisorParameters

WAITING, DRIVING, STOPPED = range(3)  # phases
_COMMANDED = {'position': 'position', 'velocity': 'velocity', 'effort': 'torque'}
_FREQUENCY = 10.0  # of the law that holds the arm during and after a stop [rad/s]
_RATE_PERIODS = 50.0  # time constant of the mean period of the states [control periods]
_RESPONSE = 0.5  # of an axis to a torque, compared with its own inertia alone [1]


class SupervisorState(NamedTuple):
    """Memory of the supervisor.

    Attributes:
        phase: (..., 1) WAITING, DRIVING or STOPPED.
        since: (..., 1) time in this phase; while WAITING, time at rest [s].
        q, v: (..., n) the newest reading [rad | m], [rad/s | m/s].
        sent: (..., n) the newest command.
        rate: (..., n) change of a position command in time [rad/s | m/s].
        stop_q, stop_v: (..., n) where and how fast the stop began; before, where the arm is held.
        blind: (..., 1) whether the readings cannot be used any more.
        still: (..., 1) time since a reading changed [s].
        flickers: (..., 1) whether readings change at rest, too, as those with noise do.
        period: (..., 1) mean period of the states [s].
        seen: (..., 2, k, n) values and limits of the checks in the newest period of DRIVING.
    """

    phase: NDArray[np.int_]
    since: Array
    q: Array
    v: Array
    sent: Array
    rate: Array
    stop_q: Array
    stop_v: Array
    blind: NDArray[np.bool_]
    still: Array
    flickers: NDArray[np.bool_]
    period: Array
    seen: Array


@dataclass
class Cycle:
    """What the checks see in one control period; arrays (..., n) or (..., 1).

    Attributes:
        own: the supervisor.
        state: its memory of the period before.
        q, v: reading [rad | m], [rad/s | m/s].
        command: of the law, behind the ramp.
        reference: position that the law follows [rad | m]; NaN where it is not known.
        gap: time since the reading before, by its stamp [s].
        still: time in which no reading has changed although the arm moves, or flickers [s].
        age, silence: age of the reading, and of the law's command [s].
        dt: control period [s].
        speed, rest: predicted largest speed [rad/s | m/s], and position at the end of a stop that
            begins after this command [rad | m].
    """

    own: 'Supervisor'
    state: SupervisorState
    q: Array
    v: Array
    command: Array
    reference: Array
    gap: Array
    still: Array
    age: Array
    silence: Array
    dt: float
    speed: Array
    rest: Array


class Check(NamedTuple):
    """A row of the table of checks.

    Attributes:
        name: in log lines.
        unit: of the value, behind that of `kind`.
        kind: 'position', 'velocity' or 'command', whose unit is the joint's; '': of no joint.
        blinds: whether the readings cannot be used any more after it.
        value, limit: of a cycle; more is an intervention, and so is a value that is no number.
        stops: whether the intervention is a stop; else the command is limited.
    """

    name: str
    unit: str
    kind: str
    blinds: bool
    value: Callable[[Cycle], Any]
    limit: Callable[[Cycle], Any]
    stops: bool = True


def _outside(cycle: Cycle) -> Array:
    """Return how far the tool leaves the workspace, now or where a stop ends [m]."""
    assert cycle.own.box is not None  # else it is not checked
    low, high = cycle.own.box
    ways = []
    for q in (cycle.q, cycle.rest):
        place = cycle.own.tool_at(q)
        ways.append(np.maximum(low - place, place - high).max(axis=-1, keepdims=True))
    return np.maximum(*ways)


def _torque_rate(cycle: Cycle) -> Array:
    """Return how fast the torque would change without a limit of its rate."""
    limit = cycle.own.torque_limit
    change: Array = np.clip(cycle.command, -limit, limit) - cycle.state.sent
    return np.abs(change) / cycle.dt


# What stops the law, and what limits its command.
CHECKS = (
    Check('age of the newest state', 's', '', True, lambda c: c.age,
          lambda c: c.own.parameters.state_age_limit),
    Check("age of the law's newest command", 's', '', False, lambda c: c.silence,
          lambda c: c.own.parameters.state_age_limit),
    Check('difference of the mean period of the states from the control period', 's', '', False,
          lambda c: np.abs(c.state.period - c.dt),
          lambda c: c.own.parameters.rate_tolerance * c.dt),
    Check('jump of the position', '', 'position', True,
          lambda c: np.abs(c.q - c.state.q - 0.5 * (c.v + c.state.v) * c.gap),
          lambda c: c.own.parameters.jump),
    Check('time in which no reading has changed', 's', '', True, lambda c: c.still,
          lambda c: c.own.parameters.state_age_limit),
    Check('command', '', 'command', False, lambda c: np.abs(c.command), lambda c: 1e9),
    Check('speed', '', 'velocity', False, lambda c: np.maximum(np.abs(c.v), c.speed),
          lambda c: c.own.speed_limit),
    Check('way of a stop beyond the position limit', '', 'position', False,
          lambda c: np.maximum(c.rest - c.own.upper, c.own.lower - c.rest), lambda c: 0.0),
    Check('way of the tool out of the workspace', 'm', '', False, _outside, lambda c: 0.0),
    Check('tracking error', '', 'position', False, lambda c: np.abs(c.reference - c.q),
          lambda c: c.own.parameters.tracking_error),
    Check('torque', '', 'command', False, lambda c: np.abs(c.command),
          lambda c: c.own.torque_limit, stops=False),
    Check('rate of the torque', '/s', 'command', False, _torque_rate,
          lambda c: c.own.parameters.torque_rate, stops=False),
)  # fmt: skip


class Supervisor:
    """Lets a law command a robot within limits, from rest to a stop.

    WAITING until the arm has rested for `rest_time` with states at their rate; the command is the
    one that holds the arm where it is measured. DRIVING: the command goes over to the law's in
    `ramp_time`. STOPPED, by a row of CHECKS or by a request: the arm brakes at `deceleration` and
    holds; only a new start ends this. Effort commands keep `torque_share` and `torque_rate` in
    each phase.

    Speed and position are checked ahead: with the model's acceleration under the command, over the
    latency and the time in which the torque may reverse, and over the way of the stop.

    Attributes:
        model, parameters: the robot's model, the limits as arrays.
        interface: 'position', 'velocity' or 'effort': what the robot takes.
        torque_limit, speed_limit, lower, upper: (n,) limits that are kept.
        box: (2, 3) corners of the workspace less its margin [m]; None: none.
    """

    parameters: Any
    torque_limit: Array
    speed_limit: Array
    lower: Array
    upper: Array
    box: Array | None = None

    def __init__(
        self,
        model: Any,
        parameters: SupervisorParameters,
        interface: str,
        convention: DriveConvention | None = None,
    ):
        """Take the model of one arm, or a BatchModel, and what the drives add to an effort."""
        self.model, self.interface = model, interface
        p = self.parameters = with_arrays(parameters, model.joint_names)
        self._convention = convention or DriveConvention()
        self.torque_limit = p.torque_share * model.effort_limit
        self.speed_limit = p.speed_share * model.velocity_limit
        self.lower = model.position_lower + p.position_margin
        self.upper = model.position_upper - p.position_margin
        if len(p.workspace):
            low, high = np.reshape(p.workspace, (2, 3))
            self.box = np.array([low + p.workspace_margin, high - p.workspace_margin])
        self.checks = tuple(
            each
            for each in CHECKS
            if (self.box is not None or each.value is not _outside)
            and (interface == 'effort' or each.stops)
        )
        self._stops, self._blinds = (
            np.array([getattr(each, name) for each in self.checks]) for name in ('stops', 'blinds')
        )

    def start(self, q: Array, v: Array, dt: float) -> SupervisorState:
        """Return the memory before the first period at a reading (..., n)."""
        one, zero = np.zeros((*q.shape[:-1], 1)), np.zeros_like(q)
        return SupervisorState(
            one.astype(int), one, q, v, self.holding(q), zero, q, zero, one > 0.0,
            one, one == 0.0, one + dt,
            np.zeros((*q.shape[:-1], 2, len(self.checks), q.shape[-1])),
        )  # fmt: skip

    def __call__(
        self,
        state: SupervisorState,
        q: Array,
        v: Array,
        command: Array,
        dt: float,
        reference: Any = None,
        gap: Any = None,
        age: Any = 0.0,
        silence: Any = 0.0,
        stop: Any = False,
    ) -> tuple[Array, SupervisorState]:
        """Return the command (..., n) for the robot, and the memory for the next period.

        Args:
            state: what the call before returned.
            q, v: (..., n) reading [rad | m], [rad/s | m/s].
            command: (..., n) of the law.
            dt: control period [s].
            reference: (..., n) position that the law follows [rad | m]; None: not known.
            gap: (..., 1) time since the reading before, by its stamp [s]; None: dt.
            age: (..., 1) of the reading [s].
            silence: (..., 1) age of the law's command [s].
            stop: (..., 1) whether a stop is requested.
        """
        p, one = self.parameters, np.zeros_like(state.since)
        age, silence = one + age, one + silence
        gap = one + (dt if gap is None else gap)
        follow = np.minimum(gap, 1.0) - state.period
        state = state._replace(
            period=state.period + follow / _RATE_PERIODS, since=state.since + dt
        )
        changes = ((q != state.q) | (v != state.v)).any(axis=-1, keepdims=True)
        still = np.where(changes, 0.0, state.still + dt)
        unchanged = (state.phase == WAITING) & (still > 2.5 * dt)
        state = state._replace(still=still, flickers=state.flickers & ~unchanged)
        drives = state.phase == DRIVING
        share = np.minimum(state.since / p.ramp_time, 1.0)
        share = np.where(drives, share * share * (3.0 - 2.0 * share), 0.0)
        wanted = command
        if (share < 1.0).any():
            hold = self._stopping(state, q, v)
            wanted = np.where(share > 0.0, hold + share * (command - hold), hold)
        with np.errstate(invalid='ignore', over='ignore'):
            speed, rest = self._ahead(state, q, v, wanted, dt)
            where = q if reference is None else np.where(np.isnan(reference), q, reference)
            where = q + share * (where - q)  # the law is not the only one before
            fast = (np.abs(v) > p.rest_speed).any(axis=-1, keepdims=True)
            still = np.where(state.flickers | fast, state.still, 0.0)
            cycle = Cycle(
                self, state, q, v, wanted, where, gap, still, age, silence, dt, speed, rest
            )
            seen = np.stack(
                [
                    np.stack([side(cycle) + np.zeros_like(q) for side in sides], axis=-2)
                    for sides in zip(*((x.value, x.limit) for x in self.checks), strict=True)
                ],
                axis=-3,
            )
            over = ~(seen[..., 0, :, :] <= seen[..., 1, :, :]).all(axis=-1) & self._stops
        stops = drives & (over.any(axis=-1, keepdims=True) | stop)
        unseen = (over & self._blinds).any(axis=-1, keepdims=True)
        blind = state.blind | (unseen & (stops | (state.phase == STOPPED)))
        if drives.any():
            seen = np.where(drives[..., np.newaxis, np.newaxis], seen, state.seen)
            state = state._replace(seen=seen)
        state = self._phases(state, q, v, stops, blind, cycle)
        stopping = state.phase == STOPPED
        if stopping.any():
            wanted = np.where(stopping, self._stopping(state, q, v), wanted)
        sent = self.limited(wanted, state.sent, dt)
        rate = (sent - state.sent) / dt if self.interface == 'position' else state.rate
        q, v = np.where(blind, state.q, q), np.where(blind, state.v, v)
        return sent, state._replace(q=q, v=v, sent=sent, rate=rate)

    def limited(self, command: Array, before: Array, dt: float) -> Array:
        """Return an effort command (..., n) within torque and torque rate; others unchanged.

        Where one joint's torque would change too fast, those of all joints change by the same
        share: joints that are limited one by one would shake each other.
        """
        if self.interface != 'effort':
            return command
        limit, step = self.torque_limit, self.parameters.torque_rate * dt
        change = np.minimum(np.maximum(command, -limit), limit) - before
        most = np.max(np.abs(change) / step, axis=-1, keepdims=True)
        sent: Array = before + change / np.maximum(most, 1.0)
        return sent

    def reasons(self, state: SupervisorState) -> list[str]:
        """Return what one arm was beyond in the newest period of DRIVING, a line per check."""
        lines = []
        for check, value, limit in zip(self.checks, *state.seen, strict=True):
            beyond = np.where(np.isnan(value), np.inf, value) - limit
            if not (joint := int(beyond.argmax()), beyond.max())[1] > 0.0 or not check.stops:
                continue
            where = f'joint {self.model.joint_names[joint]!r}: ' if check.kind else ''
            lines.append(
                f'{where}{check.name} is {value[joint]:.4g} {self.unit_of(check, joint)}; '
                f'allowed: {limit[joint]:.4g}'
            )
        return lines

    def unit_of(self, check: Check, joint: int) -> str:
        """Return the unit of a check's value at a joint."""
        if not check.kind:
            return check.unit
        quantity = _COMMANDED[self.interface] if check.kind == 'command' else check.kind
        return unit(quantity, self.model.prismatic[joint]) + check.unit

    def tool_at(self, q: Array) -> Array:
        """Return the place of the tool (..., 3) [m]."""
        q = np.ascontiguousarray(q)
        still = np.zeros_like(q)
        place: Array = self.model.frame_motion(q, still, still).position
        return place

    def holding(self, q: Array) -> Array:
        """Return the command (..., n) that holds an arm at rest."""
        if self.interface == 'position':
            return q
        if self.interface == 'velocity':
            return np.zeros_like(q)
        held: Array = self.model.gravity_torque(q) - self._convention.added(
            self.model, q, np.zeros_like(q)
        )
        return held

    def _ahead(
        self, state: SupervisorState, q: Array, v: Array, command: Array, dt: float
    ) -> tuple[Array, Array]:
        """Return the largest speed and the position of rest (..., n) if a stop begins now."""
        p = self.parameters
        later = p.latency + dt
        if self.interface == 'effort':
            tau = self.limited(np.nan_to_num(command), state.sent, dt)
            tau = tau + self._convention.added(self.model, q, v)
            mass = self.model.mass_matrix(q)
            tau = tau - self.model.bias_torque(q, v) - self.model.friction_torque(v)
            a = np.linalg.solve(mass, tau[..., np.newaxis])[..., 0]
            inertia = np.diagonal(mass, axis1=-2, axis2=-1)
            # The torque needs this time to go from its value to that of the brake.
            later = later + (np.abs(tau) + inertia * p.deceleration) / (_RESPONSE * p.torque_rate)
            end = v + a * later
        elif self.interface == 'velocity':
            end, a = command, (command - v) / later
        else:
            end, a = (command - state.sent) / dt, np.zeros_like(q)
            q = command
        way = 0.5 * (v + end) * later if self.interface != 'position' else end * later
        rest = q + way + 0.5 * end * np.abs(end) / p.deceleration
        return np.maximum(np.abs(v), np.abs(end)), rest

    def _phases(
        self,
        state: SupervisorState,
        q: Array,
        v: Array,
        stops: NDArray[np.bool_],
        blind: NDArray[np.bool_],
        cycle: Cycle,
    ) -> SupervisorState:
        """Return the memory with this period's change of phase."""
        p = self.parameters
        waits = state.phase == WAITING
        rests = (np.abs(v) <= p.rest_speed).all(axis=-1, keepdims=True)
        rests &= (cycle.age <= p.state_age_limit) & (cycle.silence <= p.state_age_limit)
        rests &= np.abs(state.period - cycle.dt) <= p.rate_tolerance * cycle.dt
        rests &= np.isfinite(cycle.command).all(axis=-1, keepdims=True)
        since = np.where(waits & ~rests, 0.0, state.since)
        starts = waits & (since >= p.rest_time)
        phase = np.where(starts, DRIVING, np.where(stops, STOPPED, state.phase))
        since = np.where(starts | stops, 0.0, since)
        position, rate = (q, v) if self.interface == 'effort' else (state.sent, state.rate)
        if self.interface == 'velocity':
            rate = state.sent
        position = np.where(blind & (self.interface == 'effort'), state.q, position)
        rate = np.where(blind & (self.interface == 'effort'), state.v, rate)
        return state._replace(
            phase=phase,
            since=since,
            stop_q=np.where(stops, position, state.stop_q),
            stop_v=np.where(stops, rate, state.stop_v),
            blind=blind,
        )

    def _stopping(self, state: SupervisorState, q: Array, v: Array) -> Array:
        """Return the command (..., n) that brakes at `deceleration`, and holds."""
        speed, most = state.stop_v, self.parameters.deceleration
        lasts = np.abs(speed) / most
        s = np.minimum(state.since, lasts)
        slow = -np.sign(speed) * most
        at = state.stop_q + (speed + 0.5 * slow * s) * s
        if self.interface == 'position':
            return at
        rate = speed + slow * s
        if self.interface == 'velocity':
            return rate
        moves = state.since < lasts
        a = np.where(moves, slow, 0.0)
        seen, fast = np.where(state.blind, at, q), np.where(state.blind, rate, v)
        a = a + _FREQUENCY**2 * (at - seen) + 2.0 * _FREQUENCY * (rate - fast)
        model = self.model
        tau: Array = model.inverse_dynamics(seen, fast, a)
        return tau - self._convention.added(model, seen, fast)


class SupervisedLaw(Law):
    """A law behind a supervisor, as the loop runs it: its state is (law's, supervisor's)."""

    def __init__(self, law: Law, supervisor: Supervisor):
        """Take both; the law's model need not be the supervisor's."""
        self.law, self.model, self.supervisor = law, law.model, supervisor
        self.command_interface, self.lookahead = law.command_interface, law.lookahead
        self.needs, self.goal_needs, self.many_arms = law.needs, law.goal_needs, law.many_arms

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the state with which the law takes over the arm."""
        return self.law.start(measured, reference), ()

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the supervised command (..., n)."""
        law, own = state
        own = own or self.supervisor.start(measured.q, measured.v, dt)
        command, law = self.law(law, measured, reference, dt)
        goal = reference.ahead(self.lookahead).q if self.lookahead else reference.q
        sent, own = self.supervisor(own, measured.q, measured.v, command, dt, goal)
        return sent, (law, own)
