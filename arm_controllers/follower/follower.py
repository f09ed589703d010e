"""Following joint trajectories: goals in, reference out, with every rule in between."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

import numpy as np

from arm_controllers.follower.braking import braking, braking_in_an_instant
from arm_controllers.follower.goal import Goal, GoalResult, ResultCode
from arm_controllers.follower.goal_check import checked_trajectory
from arm_controllers.follower.goal_rules import check_end, check_form
from arm_controllers.follower.motions import Motion, Motions
from arm_controllers.follower.parameters import FollowerParameters, Limits
from arm_controllers.follower.speed_scaling import SpeedScaling
from arm_controllers.follower.tolerances import ErrorWatch, GoalTolerances
from arm_controllers.follower.trajectory import Array, hold
from arm_controllers.reference import Reference
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import with_arrays


class TrajectoryFollower:
    """The reference of an arm that follows trajectory goals: a pure function of goals and stamps.

    It always has a reference: holding, following, or braking to hold. Stamps are integer
    nanoseconds; a goal's time is t = (stamp - lag - start) * 1e-9 [s], at full speed without lag.

    Attributes:
        model, joint_names: the arm, its n joints.
        time_ns: stamp of the newest state [ns].
        reference: what `update` returned last.
        results: ends of goals, oldest first; the reader takes them out.
        scaling: how fast goals are followed.
    """

    def __init__(self, model: RobotModel, parameters: FollowerParameters):
        """Take the model (joints, limits, inverse dynamics) and the rules, as `set_parameters`."""
        n = len(model.joint_names)
        self.model, self.joint_names = model, model.joint_names
        self.reference = Reference(n)
        self._watch = ErrorWatch(model)
        self._motions = Motions(hold(np.zeros(n)), SpeedScaling(parameters.speed_scaling))
        self.scaling = self._motions.scaling
        self.results: deque[GoalResult] = self._motions.results
        self.time_ns, self.parameters = 0, parameters
        self.set_parameters(parameters)

    def set_parameters(
        self, parameters: FollowerParameters, model: RobotModel | None = None
    ) -> None:
        """Take new rules, for goals to come and the tolerances of those at hand.

        `model`: the arm with its new rotors or friction, where these change too.

        Raises:
            ArmError: a parameter out of range; then nothing has changed.
        """
        p = with_arrays(parameters, self.joint_names)
        if p.speed_scaling != self.parameters.speed_scaling:
            self.scaling.wanted = p.speed_scaling
        self.parameters = p
        self.model = model or self.model
        self._longest_step_ns = int(p.time_jump_limit * 1e9)
        self._limits = Limits.of(p)
        for motion in self._motions.all:
            self._set_tolerances(motion)

    @property
    def active_goal(self) -> Goal | None:
        """The goal that is being followed or settled, if any."""
        return self._motions.now.goal

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals that have not ended: the one followed, then those waiting."""
        return self._motions.goals

    def time_in_goal(self, time_ns: int) -> float:
        """Return the time [s] since the start of the motion at hand."""
        return self._motions.now.time(time_ns - self.scaling.lag_ns)

    def activate(
        self, time_ns: int, q: Array, v: Array, reason: str = 'the controller took over anew'
    ) -> None:
        """Hold here, braking first where the arm moves; goals at hand end with `reason`.

        At this very instant the reference is the state without acceleration, so that a goal that
        starts with it goes on from the motion as it is.
        """
        self.abort(reason)
        self.time_ns = time_ns
        trajectory = braking_in_an_instant(self.model, q, v, self._limits.deceleration)
        self._motions.go_on(trajectory, self._motion_ns)
        self._motions.now.evaluate(self._motion_ns, self.reference)

    def abort(self, reason: str) -> None:
        """End all goals with `reason`; the reference goes on as planned until it is told more."""
        self._motions.end(ResultCode.INVALID_GOAL, reason)
        self._motions.end_waiting(ResultCode.INVALID_GOAL, reason)

    def cancel(self, time_ns: int, identifier: object = None, *end: Any) -> None:
        """Brake within limits and hold; all goals end, as `Motions.cancel` says by `end`.

        With the `identifier` of a goal that waits, only it and those after it end, and the arm
        goes on; an identifier that no goal at hand has changes nothing.
        """
        state = self.peek(time_ns)
        if self._motions.cancel(identifier, *end):
            gently = self.parameters.decelerate_on_cancel
            self._brake(time_ns, state.q, gently * state.v, state.effort)

    def set_goal(self, goal: Goal, time_ns: int) -> None:
        """Take a goal; it takes over at its own start, from the reference there.

        A goal without points brakes and holds. `time_ns` is the stamp of the newest state.

        Raises:
            GoalError: the goal is refused; nothing has changed.
        """
        for _ in self.accept(goal, time_ns):
            pass

    def accept(
        self, goal: Goal, time_ns: int, notice_ns: int = 0, aside: Executor | None = None
    ) -> Iterator[None]:
        """Do what `set_goal` does in slices of about a millisecond; the last one takes effect.

        Between slices the follower may be updated, but take no other goal. Where that moves the
        reference at the take-over, or the take-over passes, the checks start again.

        Args:
            goal: what is asked.
            time_ns: stamp of the newest state.
            notice_ns: earliest take-over after the newest state [ns]: time for the checks.
            aside: builds the trajectory; with 100 000 points that takes 0.1 s and more.
        """
        p = self.parameters
        check_form(goal, self.joint_names, p)
        yield
        if not len(goal.times):
            self.cancel(time_ns, None, 'ended by an empty trajectory', ResultCode.INVALID_GOAL)
            text = 'an empty trajectory: the arm stops and holds'
            self.results.append(GoalResult(goal.identifier, ResultCode.SUCCESSFUL, text))
            return
        while True:
            lag_ns = self.scaling.lag_ns
            now_ns = max(time_ns - lag_ns, self._motion_ns)
            start_ns = goal.start_ns - lag_ns if goal.start_ns else now_ns + notice_ns
            from_ns = max(start_ns, now_ns + notice_ns)
            check_end(goal, (start_ns - now_ns) * 1e-9, p.goal_duration_limit)
            self._motions.check_room(p.waiting_goals_limit, p.allow_trajectory_replacement)
            state = self._motions.planned(from_ns).copy()
            asked = goal, self.model, state, (from_ns - start_ns) * 1e-9, p, self._limits
            trajectory, point_times = yield from checked_trajectory(*asked, aside)
            in_time = self._motion_ns <= max(from_ns, now_ns)
            if in_time and np.array_equal(self._motions.planned(from_ns).row, state.row):
                break
            notice_ns *= 2
        motion = Motion(start_ns, from_ns, trajectory, goal, float(point_times[-1]), scaled=True)
        self._set_tolerances(motion)
        self._motions.add(motion)
        self._motions.start(self._motion_ns)

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
            way = 'back' if step < 0 else 'forward'
            text = f'time jumped {way} by {abs(step) * 1e-9:.6g} s; the arm holds'
            self.activate(time_ns, q, v, text)
        motions, scaling = self._motions, self.scaling
        if not scaling.idle:
            motions.slow_down(self._motion_ns - step, step, self._limits.deceleration)
        motion_ns = time_ns - scaling.lag_ns
        if motions.waiting:
            motions.start(motion_ns)
        motion = motions.now
        t = motion.time(motion_ns)
        motion.trajectory.evaluate(t, self.reference)
        if motion.scaled and not scaling.idle:
            scaling.apply(self.reference)
        if motion.tolerances is not None and motion.goal is not None:
            verdict = self._watch.judge(motion.tolerances, t, motion.end, self.reference, q, v)
            if verdict is not None:
                motions.end(*verdict)
                if verdict[0] is not ResultCode.SUCCESSFUL:
                    self._hold_after_violation(time_ns, q, v)
        return self.reference

    def peek(self, time_ns: int) -> Reference:
        """Return the reference at a stamp, changing nothing; the same object every time."""
        return self._motions.peek(self.scaling.motion_ns(time_ns, self.time_ns))

    @property
    def _motion_ns(self) -> int:
        """The motions' time [ns]."""
        return self.time_ns - self.scaling.lag_ns

    def _set_tolerances(self, motion: Motion) -> None:
        if motion.goal is not None:
            motion.tolerances = GoalTolerances.of(motion.goal, self.joint_names, self.parameters)

    def _hold_after_violation(self, time_ns: int, q: Array, v: Array) -> None:
        """Brake from the measured state: from the reference, the old error would go on pushing."""
        text = 'the goal before it was stopped by a violated tolerance'
        self._motions.end_waiting(ResultCode.INVALID_GOAL, text)
        gently = self.parameters.decelerate_on_violation
        self._brake(time_ns, q, gently * v, self.reference.effort)
        self._motions.now.evaluate(self._motion_ns, self.reference)

    def _brake(self, time_ns: int, q: Array, v: Array, effort: Array) -> None:
        motion = braking(self.model, q, v, effort, self._limits.on_cancel)
        self._motions.go_on(motion, time_ns - self.scaling.lag_ns)
