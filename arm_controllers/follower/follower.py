"""Following joint trajectories: goals in, reference out, with every rule in between."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from arm_controllers.follower.braking import braking
from arm_controllers.follower.goal import Goal, GoalError, GoalResult, ResultCode
from arm_controllers.follower.goal_rules import check_form
from arm_controllers.follower.goal_trajectory import TakeOver, goal_trajectory
from arm_controllers.follower.motion_limits import check_limits, check_torque
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.follower.tolerances import ErrorWatch, GoalTolerances
from arm_controllers.follower.trajectory import Array, Trajectory, hold
from arm_controllers.reference import Reference
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import with_arrays

_INSTANT = 1e-9  # [s]


@dataclass
class _Motion:
    """A trajectory on the clock, and the goal it serves (None: holding or braking)."""

    start_ns: int  # its time 0
    from_ns: int  # when it takes over: at start_ns or later
    trajectory: Trajectory
    goal: Goal | None = None
    end: float = 0.0  # the goal's last point [s]; the trajectory may brake beyond it
    tolerances: GoalTolerances | None = None


class TrajectoryFollower:
    """The reference of an arm that follows trajectory goals: a pure function of goals and stamps.

    It always has a reference: holding, following, or braking to hold. Stamps are integer
    nanoseconds; a goal's time is t = (stamp - start) * 1e-9 [s].

    Attributes:
        joint_names: the n joints.
        time_ns: stamp of the newest state [ns].
        reference: what `update` returned last.
        results: ends of goals, oldest first; the reader takes them out.
    """

    def __init__(self, model: RobotModel, parameters: FollowerParameters):
        """Take the model (joints, limits, inverse dynamics) and the rules.

        Raises:
            ArmError: a parameter out of range.
        """
        n = len(model.joint_names)
        self._model = model
        self.joint_names = model.joint_names
        self.reference = Reference(n)
        self._peeked = Reference(n)
        self._watch = ErrorWatch(model)
        self.results: deque[GoalResult] = deque()
        self._motion = _Motion(0, 0, hold(np.zeros(n)))
        self._waiting: list[_Motion] = []
        self.time_ns = 0
        self.set_parameters(parameters)

    def set_parameters(
        self, parameters: FollowerParameters, model: RobotModel | None = None
    ) -> None:
        """Take new rules, for goals to come and the tolerances of those at hand.

        `model`: the arm with its new rotors or friction, where these change too.

        Raises:
            ArmError: a parameter out of range; then nothing has changed.
        """
        self.parameters = p = with_arrays(parameters, self.joint_names)
        self._model = model or self._model
        self._longest_step_ns = int(p.time_jump_limit * 1e9)
        self._max_acceleration = np.where(p.max_acceleration > 0, p.max_acceleration, np.inf)
        self._max_deceleration = np.minimum(p.max_deceleration_on_cancel, self._max_acceleration)
        self._take_over = TakeOver(p.start_tolerance, self._max_deceleration, p.stream_horizon)
        for motion in (self._motion, *self._waiting):
            self._set_tolerances(motion)

    @property
    def active_goal(self) -> Goal | None:
        """The goal that is being followed or settled, if any."""
        return self._motion.goal

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals that have not ended: the one followed, then those waiting."""
        motions = (self._motion, *self._waiting)
        return tuple(motion.goal for motion in motions if motion.goal is not None)

    def difference(self, q_from: Array, q_to: Array) -> Array:
        """Return q_to - q_from (n,), the short way round for continuous joints."""
        return self._model.difference(q_from, q_to)

    def time_in_goal(self, time_ns: int) -> float:
        """Return the time [s] since the start of the motion at hand."""
        return (time_ns - self._motion.start_ns) * 1e-9

    def activate(
        self, time_ns: int, q: Array, v: Array, reason: str = 'the controller took over anew'
    ) -> None:
        """Hold here, braking first where the arm moves; goals at hand end with `reason`.

        At this very instant the reference is the state without acceleration, so that a goal that
        starts with it goes on from the motion as it is.
        """
        self.abort(reason)
        self.time_ns = time_ns
        self._brake(time_ns, q + _INSTANT * v, v, np.zeros_like(self.reference.effort))
        if np.any(v):
            as_it_is = np.zeros((1, 6, len(v)))
            as_it_is[0, 0], as_it_is[0, 1] = q, v
            moving = Trajectory(np.array([0.0, _INSTANT]), as_it_is)
            self._motion.trajectory = moving.followed_by(self._motion.trajectory)
        self._motion.trajectory.evaluate(0.0, self.reference)

    def abort(self, reason: str, code: ResultCode = ResultCode.INVALID_GOAL) -> None:
        """End all goals with `reason`; the reference goes on as planned until it is told more."""
        for goal in self.goals:
            self.results.append(GoalResult(goal.identifier, code, reason))
        self._motion.goal = None
        self._waiting.clear()

    def cancel(self, time_ns: int, identifier: object = None) -> None:
        """Brake within limits and hold; all goals end.

        With the `identifier` of a goal that waits, only it and those after it end, and the arm
        goes on; an identifier that no goal at hand has changes nothing.
        """
        goals = self.goals
        if identifier is not None:
            names = [goal.identifier for goal in goals]
            if identifier not in names:
                return
            first = names.index(identifier)
            if goals[first] is not self._motion.goal:
                waiting = len(goals) - first
                for motion in self._waiting[-waiting:]:
                    self._end_canceled(motion, identifier)
                del self._waiting[-waiting:]
                return
        for motion in (self._motion, *self._waiting):
            self._end_canceled(motion, identifier)
        self._stop_reference(time_ns)

    def set_goal(self, goal: Goal, time_ns: int) -> None:
        """Take a goal; it takes over at its own start, from the reference there.

        A goal without points brakes and holds.

        Args:
            goal: what is asked.
            time_ns: stamp of the newest state.

        Raises:
            GoalError: the goal is refused; nothing has changed.
        """
        for _ in self.accept(goal, time_ns):
            pass

    def accept(self, goal: Goal, time_ns: int, notice_ns: int = 0) -> Iterator[None]:
        """Do what `set_goal` does in slices of about a millisecond; the last one takes effect.

        Between slices the follower may be updated, but take no other goal. Where that moves the
        reference at the take-over, or the take-over passes, the checks start again.

        Args:
            goal: what is asked.
            time_ns: stamp of the newest state.
            notice_ns: earliest take-over after the newest state [ns]: time for the checks.
        """
        p = self.parameters
        check_form(
            goal,
            self.joint_names,
            p.allow_partial_joints_goal,
            p.allow_nonzero_velocity_at_trajectory_end,
        )
        yield
        if not len(goal.times):
            self._stop_for(goal, time_ns)
            return
        while True:
            time_ns = max(time_ns, self.time_ns)
            start_ns = goal.start_ns or time_ns + notice_ns
            from_ns = max(start_ns, time_ns + notice_ns)
            self._check_duration(goal, start_ns, time_ns)
            state = self.peek(from_ns).copy()
            late = (from_ns - start_ns) * 1e-9
            with np.errstate(all='ignore'):  # overflow of absurd numbers: see check_limits
                trajectory, point_times = goal_trajectory(
                    goal, self._model, state, late, self._take_over
                )
            yield
            yield from check_limits(trajectory, self._model, self._max_acceleration, point_times)
            yield from check_torque(trajectory, self._model, point_times)
            in_time = self.time_ns <= max(from_ns, time_ns)
            if in_time and np.array_equal(self.peek(from_ns).row, state.row):
                break
            notice_ns *= 2
        motion = _Motion(start_ns, from_ns, trajectory, goal, float(point_times[-1]))
        self._set_tolerances(motion)
        self._enqueue(motion)

    def update(self, time_ns: int, q: Array, v: Array) -> Reference:
        """Return the reference at the stamp of a measured state; end goals that have ended.

        The same object every time, valid until the next call.

        Args:
            time_ns: stamp of the state [ns].
            q, v: (n,) the state, finite.
        """
        step = time_ns - self.time_ns
        self.time_ns = time_ns
        if step < 0 or step > self._longest_step_ns:
            direction = 'back' if step < 0 else 'forward'
            self.activate(
                time_ns,
                q,
                v,
                f'time jumped {direction} by {abs(step) * 1e-9:.6g} s; the arm holds',
            )
        if self._waiting:
            self._start_waiting(time_ns)
        motion = self._motion
        t = (time_ns - motion.start_ns) * 1e-9
        motion.trajectory.evaluate(t, self.reference)
        if motion.goal is not None:
            self._judge(motion, time_ns, t, q, v)
        return self.reference

    def peek(self, time_ns: int) -> Reference:
        """Return the reference at a stamp, changing nothing; the same object every time."""
        motion = self._motion
        for waiting in self._waiting:
            if time_ns >= waiting.from_ns:
                motion = waiting
        motion.trajectory.evaluate((time_ns - motion.start_ns) * 1e-9, self._peeked)
        return self._peeked

    def _check_duration(self, goal: Goal, start_ns: int, time_ns: int) -> None:
        limit = self.parameters.goal_duration_limit
        end = (start_ns - time_ns) * 1e-9 + float(goal.times[-1])
        if end > limit:
            raise GoalError(
                f'the goal ends {end:.6g} s from now; allowed: goal_duration_limit ='
                f' {limit:.6g} s (point {len(goal.times) - 1}, t = {goal.times[-1]:.6g} s)',
                value=end,
                lower=0.0,
                upper=limit,
                point=len(goal.times) - 1,
                time=float(goal.times[-1]),
            )
        if len(self._waiting) >= self.parameters.waiting_goals_limit:
            raise GoalError(
                f'{len(self._waiting)} goals are waiting for their start; allowed:'
                f' waiting_goals_limit = {self.parameters.waiting_goals_limit}'
            )

    def _enqueue(self, motion: _Motion) -> None:
        """Let a motion take over at its instant; goals that would start later are replaced."""
        for waiting in [w for w in self._waiting if w.from_ns >= motion.from_ns]:
            self._waiting.remove(waiting)
            assert waiting.goal is not None
            self._report(waiting.goal, ResultCode.INVALID_GOAL, 'replaced by a newer goal')
        self._waiting.append(motion)
        self._start_waiting(self.time_ns)

    def _start_waiting(self, time_ns: int) -> None:
        while self._waiting and time_ns >= self._waiting[0].from_ns:
            self._end(ResultCode.INVALID_GOAL, 'replaced by a newer goal')
            self._motion = self._waiting.pop(0)

    def _set_tolerances(self, motion: _Motion) -> None:
        if motion.goal is not None:
            motion.tolerances = GoalTolerances.of(motion.goal, self.joint_names, self.parameters)

    def _judge(self, motion: _Motion, time_ns: int, t: float, q: Array, v: Array) -> None:
        """End the goal at t [s] if the arm is too far from it, or has arrived."""
        tolerances = motion.tolerances
        assert tolerances is not None
        on_the_way = t < motion.end
        bounds = tolerances.path if on_the_way else tolerances.end
        if bounds is None or not self._watch.violated(self.reference, q, v, bounds):
            if not on_the_way:
                self._end(ResultCode.SUCCESSFUL, '')
        elif on_the_way:
            text = self._watch.describe(bounds, 'path', t)
            self._end(ResultCode.PATH_TOLERANCE_VIOLATED, text)
            self._hold_after_violation(time_ns, q, v)
        elif t > motion.end + tolerances.patience:
            text = self._watch.describe(bounds, 'goal', t)
            text += f', {tolerances.patience:.6g} s ({tolerances.patience_name}) after its end'
            self._end(ResultCode.GOAL_TOLERANCE_VIOLATED, text)
            self._hold_after_violation(time_ns, q, v)

    def _hold_after_violation(self, time_ns: int, q: Array, v: Array) -> None:
        """Brake from the measured state: from the reference, the old error would go on pushing."""
        for waiting in self._waiting:
            assert waiting.goal is not None
            text = 'the goal before it was stopped by a violated tolerance'
            self._report(waiting.goal, ResultCode.INVALID_GOAL, text)
        self._waiting.clear()
        moving = v if self.parameters.decelerate_on_violation else np.zeros_like(v)
        self._brake(time_ns, q, moving, self.reference.effort)
        self._motion.trajectory.evaluate(0.0, self.reference)

    def _stop_for(self, goal: Goal, time_ns: int) -> None:
        for old in self.goals:
            self._report(old, ResultCode.SUCCESSFUL, 'canceled by an empty trajectory', True)
        self._stop_reference(time_ns)
        self._report(goal, ResultCode.SUCCESSFUL, 'an empty trajectory: the arm stops and holds')

    def _stop_reference(self, time_ns: int) -> None:
        state = self.peek(time_ns)
        self._waiting.clear()
        moving = state.v if self.parameters.decelerate_on_cancel else np.zeros_like(state.v)
        self._brake(time_ns, state.q, moving, state.effort)

    def _brake(self, time_ns: int, q: Array, v: Array, effort: Array) -> None:
        motion = braking(self._model, q, v, effort, self._max_deceleration)
        self._motion = _Motion(time_ns, time_ns, motion)

    def _end(self, code: ResultCode, message: str) -> None:
        goal = self._motion.goal
        if goal is not None:
            self._motion.goal = None
            self._report(goal, code, message)

    def _end_canceled(self, motion: _Motion, identifier: object) -> None:
        """End a goal on request; goals that wait behind it end too: they were to start from it."""
        if motion.goal is None:
            return
        if identifier is None or motion.goal.identifier == identifier:
            self._report(motion.goal, ResultCode.SUCCESSFUL, 'canceled', canceled=True)
        else:
            text = 'the goal before it was canceled'
            self._report(motion.goal, ResultCode.INVALID_GOAL, text)
        motion.goal = None

    def _report(self, goal: Goal, code: ResultCode, message: str, canceled: bool = False) -> None:
        self.results.append(GoalResult(goal.identifier, code, message, canceled))
