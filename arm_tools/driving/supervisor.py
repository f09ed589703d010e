"""Supervisor between a law and a robot: starts it gently, limits its commands, stops it."""

import numpy as np
from numpy.typing import NDArray

from arm_controllers.drive_convention import DriveConvention
from arm_dynamics.checks import Array, unit
from arm_dynamics.model import RobotModel
from arm_tools.driving.supervisor_checks import (
    Cycle,
    SupervisorCheck,
    checks_of,
    values_and_limits,
)
from arm_tools.driving.supervisor_limits import SupervisorLimits
from arm_tools.driving.supervisor_parameters import SupervisorParameters
from arm_tools.driving.supervisor_state import DRIVING, STOPPED, WAITING, SupervisorState, waited

_COMMANDED = {'position': 'position', 'velocity': 'velocity', 'effort': 'torque'}
_FREQUENCY = 10.0  # of the law that holds the arm during and after a stop [rad/s]
_RESPONSE = 0.5  # of an axis to a torque, compared with its own inertia alone [1]


class Supervisor(SupervisorLimits):
    """Lets a law command a robot within limits, from rest to a stop.

    WAITING until the arm has rested for `rest_time` with states at their rate; the command is the
    one that holds the arm where it is measured. DRIVING: the command goes over to the law's in
    `ramp_time`. STOPPED, by a row of CHECKS or by a request: the arm brakes at `deceleration` and
    holds; only a new start ends this. Effort commands keep `torque_share` and `torque_rate` in
    each phase.

    Speed and position are checked ahead: with the model's acceleration under the command, over the
    latency and the time in which the torque may reverse, and over the way of the stop.

    Attributes in addition to those of SupervisorLimits:
        checks: those that concern the robot.
    """

    def __init__(
        self,
        model: RobotModel,
        parameters: SupervisorParameters,
        interface: str,
        convention: DriveConvention | None = None,
    ):
        """Take the model of one arm, or a BatchModel, and what the drives add to an effort."""
        super().__init__(model, parameters, interface)
        self._convention = convention or DriveConvention()
        self.checks = checks_of(self)
        self._stops, self._blinds = (
            np.array([getattr(each, name) for each in self.checks]) for name in ('stops', 'blinds')
        )

    def start(self, q: Array, v: Array, dt: float) -> SupervisorState:
        """Return the memory before the first period at a reading (..., n)."""
        one, zero = np.zeros((*q.shape[:-1], 1)), np.zeros_like(q)
        return SupervisorState(
            one.astype(int), one, q, v, self.holding(q), q, zero, zero, q, zero, zero, zero, zero,
            q, zero, one > 0.0, zero, zero, zero, zero > 0.0, one + dt,
            np.zeros((*q.shape[:-1], 2, len(self.checks), q.shape[-1])),
        )  # fmt: skip

    def __call__(
        self,
        state: SupervisorState,
        q: Array,
        v: Array,
        command: Array,
        dt: float,
        reference: Array | None = None,
        gap: Array | float | None = None,
        age: Array | float = 0.0,
        silence: Array | float = 0.0,
        stop: NDArray[np.bool_] | bool = False,
    ) -> tuple[Array, SupervisorState]:
        """Return the command (..., n) for the robot, and the memory for the next period.

        Args:
            state: what the call before returned.
            q, v: (..., n) reading [rad | m], [rad/s | m/s]; of continuous joints also an angle.
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
        model = self.model
        q = np.where(model.continuous, state.q + model.difference(state.q, q), q)
        state = waited(self, state, q, v, dt, gap)
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
            where = q + share * model.difference(q, where)  # the law is not the only one before
            cycle = Cycle(self, state, q, v, wanted, where, gap, age, silence, dt, speed, rest)
            seen = values_and_limits(self.checks, cycle)
            over = ~(seen[..., 0, :, :] <= seen[..., 1, :, :]).all(axis=-1) & self._stops
        stops = drives & (over.any(axis=-1, keepdims=True) | stop)
        unseen = (over & self._blinds).any(axis=-1, keepdims=True)
        brakes = state.phase == STOPPED
        unseen |= brakes & (np.abs(v) > model.velocity_limit).any(axis=-1, keepdims=True)
        blind = state.blind | (unseen & (stops | brakes))
        shown = drives | (blind & ~state.blind)
        if shown.any():
            seen = np.where(shown[..., np.newaxis, np.newaxis], seen, state.seen)
            state = state._replace(seen=seen)
        state = self._phases(state, q, v, stops, blind, cycle)
        stopping = state.phase == STOPPED
        if stopping.any():
            wanted = np.where(stopping, self._stopping(state, q, v), wanted)
        sent = self.limited(wanted, state.sent, dt)
        leads = sent if self.interface == 'position' else where
        rate = sent if self.interface == 'velocity' else (leads - state.aim) / dt
        follows = stopping & (self.interface == 'effort')  # its brake, not the reference
        way = np.where(follows, 0.0, state.way + np.abs(rate) * dt)
        q, v = np.where(blind, state.q, q), np.where(blind, state.v, v)
        return sent, state._replace(q=q, v=v, sent=sent, aim=leads, rate=rate, way=way)

    def reasons(self, state: SupervisorState, blinds: bool = False) -> list[str]:
        """Return what one arm was beyond in the newest period of DRIVING, a line per check.

        `blinds`: only checks after which readings cannot be used, when one was beyond in a stop.
        """
        lines = []
        for check, value, limit in zip(self.checks, *state.seen, strict=True):
            beyond = np.where(np.isnan(value), np.inf, value) - limit
            joint, counts = int(beyond.argmax()), check.blinds if blinds else check.stops
            if not beyond[joint] > 0.0 or not counts:
                continue
            whole = not check.kind or (check.kind == 'time' and (beyond > 0.0).all())
            where = '' if whole else f'joint {self.model.joint_names[joint]!r}: '
            lines.append(
                f'{where}{check.name} is {value[joint]:.4g} {self.unit_of(check, joint)}; '
                f'allowed: {limit[joint]:.4g}'
            )
        return lines

    def unit_of(self, check: SupervisorCheck, joint: int) -> str:
        """Return the unit of a check's value at a joint."""
        if check.kind in ('', 'time'):
            return check.unit
        quantity = _COMMANDED[self.interface] if check.kind == 'command' else check.kind
        return unit(quantity, self.model.prismatic[joint]) + check.unit

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
        position = np.where(blind & (self.interface == 'effort'), state.q, position)
        rate = np.where(blind & (self.interface == 'effort'), state.v, rate)
        return state._replace(
            phase=phase,
            since=since,
            left=np.where(starts, 0.0, state.left),
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
