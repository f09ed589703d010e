"""Model predictive control: the optimal motion of the next fraction of a second, every period."""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_controllers.contact import ContactParameters, Touch
from arm_controllers.delayed_drives import DelayedDrives, Pending, Prediction
from arm_controllers.laws import (
    Array,
    Law,
    LawEvaluation,
    Measurement,
    Reference,
    RobotModel,
    State,
)
from arm_controllers.predicted_contact import PredictedContact, Pressing
from arm_controllers.second_order_gains import acceleration_gains
from arm_controllers.task_space import ToolParameters
from arm_dynamics.checks import ArmError, entries
from arm_dynamics.parameters import PerJoint, parameter
from arm_dynamics.small_matrices import solve_positive

_TIGHTER = 1e-6  # share of the limits that rounding of the solution may use


@dataclass(frozen=True)
class MpcParameters(ContactParameters, ToolParameters):
    """Gains without limits, horizon, observer, and contact."""

    kp: PerJoint = parameter((400.0,), 'position gain where no limit is near [1/s^2]', above=0)
    kd: PerJoint = parameter(
        (40.0,), 'velocity gain where no limit is near [1/s], at least sqrt(2 kp)', above=0
    )
    nodes: int = parameter(20, 'number of nodes of the horizon', min=2, max=200)
    horizon: float = parameter(0.2, 'time that is predicted [s]', above=0, max=10)
    newton_steps: int = parameter(
        8, 'most Newton steps per period, which bound the computing time', min=1, max=100
    )
    observer_pole: float = parameter(
        0.6, "pole of the observer [1]: 0 trusts the sensors, 0.8 suits noise",
        min=0, max=0.95,
    )  # fmt: skip
    delay: int = parameter(
        0, 'delay from command to drive that is predicted [control periods]', min=0, max=20
    )
    contact_stiffness: float = parameter(
        4e4, 'stiffness of arm and surface that the prediction of a force has [N/m]', above=0
    )
    force_ki: float = parameter(10.0, 'integral gain of the force error [1/s]', min=0)


class MpcState(NamedTuple):
    """Memory of the law; M is the product of the leading axes.

    Attributes:
        disturbance: d (..., n), the torque that the model lacks [N.m | N].
        expected: what the last period is expected to have led to.
        deviation: (M, N, n) accelerations of the last solution minus those of the reference.
        multipliers: (M, 3, N, n) of the limits.
        pending: commands that the drives have not applied yet.
        pressing: memory of a wrench goal; (): there is none.
        left: (..., n) what of the position's error the last goal has left; (): nothing.
    """

    disturbance: Array
    expected: Prediction
    deviation: Array
    multipliers: Array
    pending: Pending
    pressing: Pressing | tuple[()]
    left: Array | tuple[()] = ()


class Mpc(Law):
    """The first torque of the motion over the horizon with the lowest cost within all limits.

    The cost is that of e'' = -kp e - kd e', so that without limits each joint's error obeys this
    equation, as under computed torque: weights kp^2 of e, kd^2 - 2 kp of e', 1 of e'' - a_r, and
    beyond the horizon the cost of the linear law (Anderson and Moore, Optimal Control, 1990).
    Limits of torque, velocity and position are those of the model; see optimal_control.py.

    Each period has one linearisation of the dynamics, about the last solution one period later,
    from the state at which the command takes effect (real-time iteration: Diehl et al., J. Process
    Control 12, 2002). An observer as in `servo` finds the torque that the model lacks; the horizon
    takes it as constant.

    A wrench goal moves the reference to where the contact has the desired force, and adds its
    torque, see PredictedContact; the measured force is no torque that the model lacks. Source:
    Kleff et al., Introducing force feedback in model predictive control, IROS 2022.
    """

    gains = ('kp', 'kd')
    designed = acceleration_gains
    evaluation = LawEvaluation(model_use=85, knows_delay=True)
    goal_needs, wrench_goal = ('wrench',), ('force',)
    Parameters = MpcParameters

    def __init__(self, model: RobotModel, parameters: MpcParameters):
        super().__init__(model, parameters)
        p = self.parameters
        for (*_, i), (damping, least) in entries(p.kd, np.sqrt(2.0 * p.kp)):
            if damping < least * (1.0 - 1e-9):
                joint = model.joint_names[i]
                raise ArmError(
                    f'kd of joint {joint!r} is {damping:g}; it must be >= sqrt(2 kp) = {least:g}'
                )
        self.lookahead = 1 + p.delay
        # A launch file that looks at a law's parameters does not load Numba.
        from arm_controllers import optimal_control
        from arm_dynamics.compiled import BatchModel

        self._core, n = optimal_control, model.nv
        self._batch = model if isinstance(model, BatchModel) else BatchModel(model)
        self._contact = PredictedContact(model, self._batch, p)
        kp, kd = np.broadcast_arrays(p.kp, p.kd)
        one = np.ones_like(kp)
        running = np.stack([kp**2, np.maximum(kd**2 - 2.0 * kp, 0.0), one, 0.0 * one], axis=-2)
        final = np.stack([kp * kd, kp, kd], axis=-2)
        self._cost = optimal_control.Cost(running.reshape(-1, 4, n), final.reshape(-1, 3, n))
        speed, effort = model.velocity_limit, model.effort_limit
        lower = np.array([-effort, model.position_lower, -speed])
        upper = np.array([effort, model.position_upper, speed])
        self._limits = optimal_control.Limits(
            lower * (1.0 + _TIGHTER * np.sign(lower)), upper * (1.0 - _TIGHTER * np.sign(upper))
        )
        self._prepared = cache(self._prepare)
        self._load()

    def _load(self) -> None:
        """Compile or load all code before the first period, which may have a deadline."""
        q, v = self.model.neutral(), np.zeros(self.model.nv)
        rest, goal = Measurement(q, v, wrench=np.zeros(6)), Reference(self.model.nv)
        goal.set_wrench(np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0]))
        reference = goal.read_only()
        goal.future = lambda periods: reference
        self(self.start(rest, reference), rest, reference, 1e-3)

    def _prepare(self, dt: float) -> tuple[DelayedDrives, Any, NDArray[np.intp], Array]:
        """Return the drives, the grid, the nodes' periods, and what shifts a solution."""
        p, core = self.parameters, self._core
        drives = DelayedDrives(self.model, None, np.zeros(self.model.nv), dt, p.delay)
        grid = core.Grid.growing(p.nodes, p.horizon, dt)
        times = np.concatenate([[0], np.cumsum(grid.periods).astype(int)])
        return drives, grid, times, grid.shift()

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the memory of an arm that is where it is expected, without d."""
        q, v, (nodes, n) = measured.q, measured.v, (self.parameters.nodes, self.model.nv)
        m = q.size // n
        inertia, free = self.model.mass_matrix(q), np.ones((*q.shape[:-1], 1))
        expected = Prediction(q.copy(), v.copy(), inertia, free)
        none = np.zeros((m, nodes, n))
        return MpcState(np.zeros_like(q), expected, none, np.zeros((m, 3, nodes, n)), (), ())

    def resumed(self, state: State) -> State | None:
        """Go on; with another number of nodes or another delay, without what has the old one."""
        p, before = self.parameters, MpcState(*state)
        if before.deviation.shape[-2] != p.nodes:
            m, n = len(before.deviation), self.model.nv
            none = np.zeros((m, p.nodes, n))
            before = before._replace(deviation=none, multipliers=np.zeros((m, 3, p.nodes, n)))
        return before if len(before.pending) == p.delay + 1 else before._replace(pending=())

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N], and the memory of the next period."""
        p, core, state = self.parameters, self._core, MpcState(*state)
        drives, grid, times, shift = self._prepared(dt)
        expected, pressing, touch, left = state.expected, state.pressing, None, state.left
        if reference.wrench is None:
            if pressing:  # the goal ends
                left = self.model.difference(measured.q, reference.q)
            pressing = ()
        else:
            left = ()
            pressing, touch = self._contact.feel(
                pressing, measured, reference, expected.inertia, state.disturbance, dt
            )
            expected = _pushed(expected, pressing.torque, dt)
        q, v, d = drives.estimate(
            measured.q, measured.v, expected, state.disturbance, p.observer_pole
        )
        lacked = d + pressing.torque if pressing else d
        q_ahead, v_ahead = drives.ahead(q, v, lacked, state.pending)
        if state.pending:  # else this command acts at once
            times = times + p.delay
        target, effort, force = self._targets(
            q_ahead, reference, times.tolist(), grid, dt, pressing, touch
        )
        if isinstance(left, np.ndarray):
            left = self._contact.returned(left, measured, grid.t, dt, target)
        motion, n = target.copy(), q.shape[-1]
        motion[:, 0, 0], motion[:, 1, 0] = q_ahead.reshape(-1, n), v_ahead.reshape(-1, n)
        motion[:, 2, :-1] += shift @ state.deviation
        core.follow(grid.t, grid.s, motion)
        offset = effort - d.reshape(-1, 1, n) + force
        torque, slopes = core.linearised(self._batch, motion, offset, grid)
        multipliers = shift @ state.multipliers
        core.solve(grid, self._cost, self._limits, target, motion, torque, slopes, multipliers,
                   p.newton_steps)  # fmt: skip
        lower, upper = self._limits
        command = np.clip(torque[:, 0], lower[0], upper[0]).reshape(q.shape)
        drive_effort = effort[:, 0].reshape(q.shape)
        pending = drives.given(state.pending, command, drive_effort)
        expected = drives.next(q, v, d, pending)
        deviation = motion[:, 2, :-1] - target[:, 2, :-1]
        return command, MpcState(d, expected, deviation, multipliers, pending, pressing, left)

    def _targets(
        self,
        q: Array,
        reference: Reference,
        times: list[int],
        grid: Any,
        dt: float,
        pressing: Pressing | tuple[()],
        touch: Touch | None,
    ) -> tuple[Array, Array, Array | float]:
        """Return the reference at the nodes, (M, 3, N + 1, n), its effort, the force's torque."""
        n = q.shape[-1]
        rows = np.empty((q.size // n, len(times), 4, n))
        for k, periods in enumerate(times):
            wanted = reference.ahead(periods) if periods else reference
            rows[:, k] = wanted.row.reshape(-1, 4, n)
        force: Array | float = 0.0
        if pressing and touch is not None:
            since = np.concatenate([[0.0], np.cumsum(grid.t)])
            force = self._contact.follow(pressing, touch, q, since, rows)[:, :-1]
        t, s, a = grid.t[:, np.newaxis], grid.s[:, np.newaxis], rows[:, :, 2]
        v = rows[:, :, 1]
        target, size = np.stack([rows[:, :, 0], v, 0.0 * v], axis=1), np.abs(a)
        if self.model.continuous.any():
            here = q.reshape(-1, 1, n)
            target[:, 0] = here + self.model.difference(here, target[:, 0])
        target[:, 2, :-1] = np.diff(v, axis=1) / t
        # What the change of the acceleration between two nodes adds, which is no jump of q.
        more = np.diff(target[:, 0], axis=1) - t * v[:, :-1] - s * target[:, 2, :-1]
        more[np.abs(more) > t**2 * (size[:, :-1] + size[:, 1:]) + 1e-12] = 0.0
        target[:, 0, 1:] -= np.cumsum(more, axis=1)
        return target, rows[:, :-1, 3], force


def _pushed(expected: Prediction, torque: Array, dt: float) -> Prediction:
    """Return the arm after a period in which this torque (..., n) acted too."""
    change = dt * solve_positive(expected.inertia, torque[..., np.newaxis])[..., 0]
    return expected._replace(q=expected.q + 0.5 * dt * change, v=expected.v + change)
