"""The trajectory follower: turns trajectory goals into the reference of a control law."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

import numpy as np

from arm_controllers.follower.braking import braking, braking_in_an_instant
from arm_controllers.follower.goal import Goal, GoalResult, ResultCode
from arm_controllers.follower.goal_rules import check_end, check_form
from arm_controllers.follower.goal_trajectory import checked_trajectory, with_policy_times
from arm_controllers.follower.object_check import MotionCheck, begin, object_check, rest
from arm_controllers.follower.parameters import FollowerParameters, Limits
from arm_controllers.follower.schedule import Schedule, Scheduled, passing_joints, trajectory_time
from arm_controllers.follower.speed_scaling import SpeedScaling
from arm_controllers.follower.tolerances import ErrorWatch, GoalTolerances, end_on_force
from arm_controllers.follower.trajectory import Array, hold
from arm_controllers.follower.wrench_goals import WrenchGoals
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import with_arrays


class TrajectoryFollower:
    """Computes the reference of an arm that follows trajectory goals: a function of their stamps.

    A reference always exists: holding, following a goal, or braking. Stamps are integer
    nanoseconds; a goal's time is t = (stamp - lag - start) * 1e-9 [s], at full speed without lag.

    Attributes:
        model, joint_names: the arm, its n joints.
        time_ns: stamp of the newest state [ns].
        reference: the reference that `update` returned last.
        shown: the same, read-only, for a law.
        results: ends of goals, oldest first; the reader takes them out.
        scaling: the speed at which goals are followed.
        check: of goals against objects, where `clearance` is not negative; else None.
    """

    def __init__(self, model: RobotModel, parameters: FollowerParameters):
        """Take the arm's model and the rules; raises as `set_parameters`."""
        n = len(model.joint_names)
        self.model, self.joint_names = model, model.joint_names
        self.reference = Reference(n)
        self.shown = self.reference.read_only()
        self._watch = ErrorWatch(model)
        self._schedule = Schedule(hold(np.zeros(n)), SpeedScaling(parameters.speed_scaling))
        self.scaling = self._schedule.scaling
        self.results: deque[GoalResult] = self._schedule.results
        self.time_ns, self.parameters = 0, parameters
        self.check: MotionCheck | None = None
        self._wrenches = WrenchGoals()
        self.set_parameters(parameters)

    def set_parameters(
        self, parameters: FollowerParameters, model: RobotModel | None = None
    ) -> None:
        """Take new rules for new goals, and new tolerances for all goals.

        `model`: the arm with new rotors or friction, where these change too.

        Raises:
            ArmError: a parameter out of range; then nothing has changed.
        """
        p = with_arrays(parameters, self.joint_names)
        if p.speed_scaling != self.parameters.speed_scaling:
            self.scaling.wanted = p.speed_scaling
        self.parameters = p
        self.model = model or self.model
        if p.end_frame:
            (model or self.model).frame_id(p.end_frame)  # there is such a frame
        self._longest_step_ns = int(p.time_jump_limit * 1e9)
        self._limits = Limits.of(p, self.model)
        self.check = object_check(self.check, self.model, p.clearance)
        for scheduled in self._schedule.all:
            self._set_tolerances(scheduled)

    @property
    def active_goal(self) -> Goal | None:
        """The goal that the arm follows, if any."""
        return self._schedule.now.goal

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals that have not ended: the followed one, then the waiting ones."""
        return self._schedule.goals

    def time_in_goal(self, time_ns: int) -> float:
        """Return the time [s] since the start of the present trajectory."""
        return self._schedule.now.time(time_ns - self.scaling.lag_ns)

    def activate(
        self, time_ns: int, q: Array, v: Array, reason: str = 'the controller took over again'
    ) -> None:
        """Hold at the state q, v (n,), after braking where it moves; all goals end with `reason`.

        At this stamp the reference is the state without acceleration, so that a goal that starts
        at this stamp continues the present motion.
        """
        self.abort(reason)
        self._wrenches.clear(self.reference)
        self.time_ns = time_ns
        trajectory = braking_in_an_instant(self.model, q, v, self._limits.deceleration)
        self._schedule.replace(trajectory, self._scaled_ns)
        self._schedule.now.evaluate(self._scaled_ns, self.reference)

    @property
    def has_wrench(self) -> bool:
        """Whether there is a wrench goal, or one that waits for its stamp."""
        return self.reference.wrench is not None or bool(self._wrenches)

    def set_wrench(self, wrench: Array, from_ns: int = 0, frame: str = '') -> None:
        """Desire a wrench (6,) from a stamp on, until the next one; see `WrenchGoals.add`.

        `activate` ends the wrench.
        """
        self._wrenches.add(self.model, self.parameters, wrench, from_ns, frame, self.time_ns)

    def abort(self, reason: str) -> None:
        """End all goals with `reason`; the reference continues as planned."""
        self._schedule.end(ResultCode.INVALID_GOAL, reason)
        self._schedule.end_waiting(ResultCode.INVALID_GOAL, reason)

    def cancel(self, time_ns: int, identifier: object = None, *end: Any) -> None:
        """Brake within limits and hold; all goals end.

        With the `identifier` of a waiting goal, only that goal and those after it end, and the
        arm continues; an unknown identifier changes nothing. `end`: as for `Schedule.cancel`.
        """
        state = self.peek(time_ns)
        if self._schedule.cancel(identifier, *end):
            gently = self.parameters.decelerate_on_cancel
            self._brake(time_ns, state.q, gently * state.v, state.effort)

    def set_goal(self, goal: Goal, time_ns: int) -> None:
        """Accept a goal, which takes over at its start, from the reference at that stamp.

        A goal without points brakes and holds. `time_ns` is the stamp of the newest state.

        Raises:
            GoalError: the goal is refused; nothing changes.
        """
        for _ in self.accept(goal, time_ns):
            pass

    def accept(
        self, goal: Goal, time_ns: int, notice_ns: int = 0, executor: Executor | None = None
    ) -> Iterator[None]:
        """Do what `set_goal` does in slices of about a millisecond; the last slice has the effect.

        Between slices `update` may be called, but no other goal may be set. Where an update
        changes the reference at the take-over, or the take-over passes, the checks start again.

        Args:
            goal: the goal.
            time_ns: stamp of the newest state.
            notice_ns: earliest take-over after the newest state [ns]: time for the checks.
            executor: builds the trajectory; for 100 000 points that takes 0.1 s and more.
        """
        p = self.parameters
        goal = with_policy_times(goal, p)
        check_form(goal, self.joint_names, p)
        yield
        if not len(goal.times):
            self.cancel(time_ns, None, 'ended by an empty trajectory', ResultCode.INVALID_GOAL)
            text = 'an empty trajectory: the arm stops and holds'
            self.results.append(GoalResult(goal.identifier, ResultCode.SUCCESSFUL, text))
            return
        schedule = self._schedule
        while True:
            now_ns = max(time_ns - self.scaling.lag_ns, self._scaled_ns)
            start_ns = now_ns + notice_ns
            if goal.start_ns:
                ahead_ns = goal.start_ns - max(time_ns, self.time_ns)
                start_ns = now_ns + ahead_ns
                if ahead_ns > 0 and self.scaling.wanted < 1.0:
                    start_ns = trajectory_time(schedule, now_ns, ahead_ns)
            from_ns = max(start_ns, now_ns + notice_ns)
            check_end(goal, (start_ns - now_ns) * 1e-9, p.goal_duration_limit)
            schedule.check_capacity(p.waiting_goals_limit)
            before, state = schedule.at(from_ns), schedule.planned(from_ns).copy()
            trajectory, point_times = yield from checked_trajectory(
                goal, self.model, state, (from_ns - start_ns) * 1e-9, p, self._limits, executor,
                (before.trajectory, before.time(start_ns)),
            )  # fmt: skip
            near = None
            if self.check is not None:
                near = yield from begin(self.check, trajectory, state.q)
            same = np.array_equal(schedule.planned(from_ns).row, state.row)
            if same and schedule.at(from_ns) is before and self._scaled_ns <= max(from_ns, now_ns):
                break
            notice_ns *= 2
        end = float(point_times[-1])
        scheduled = Scheduled(start_ns, from_ns, trajectory, goal, end, scaled=True, near=near)
        scheduled.passing = passing_joints(goal, trajectory, end, self.joint_names)
        self._set_tolerances(scheduled)
        schedule.add(scheduled)
        schedule.start(self._scaled_ns)

    def update(self, time_ns: int, q: Array, v: Array, wrench: Array | None = None) -> Reference:
        """Return the reference at the stamp of a measured state; end goals that have ended.

        The next call overwrites the returned object.

        Args:
            time_ns: stamp of the state [ns].
            q, v: (n,) the state, finite.
            wrench: (6,) of the same state, as `Measurement.wrench`; None: not measured.
        """
        step = time_ns - self.time_ns
        self.time_ns = time_ns
        if step < 0 or step > self._longest_step_ns:
            way = 'back' if step < 0 else 'forward'
            text = f'time jumped {way} by {abs(step) * 1e-9:.6g} s; the arm holds'
            self.activate(time_ns, q, v, text)
        schedule, scaling = self._schedule, self.scaling
        if not scaling.idle:
            schedule.slow_down(self._scaled_ns - step, step, self._limits.deceleration)
        scaled_ns = time_ns - scaling.lag_ns
        if schedule.waiting:
            schedule.start(scaled_ns)
        now = schedule.now
        t = now.time(scaled_ns)
        now.trajectory.evaluate(t, self.reference)
        if now.scaled and not scaling.idle:
            scaling.apply(self.reference)
        self._wrenches.begin(self.model, time_ns, q, self.reference)
        if now.goal is not None and (self.parameters.end_force or self.parameters.end_distance):
            self._end_on_force(time_ns, q, v, wrench)
        if now.tolerances is not None and now.goal is not None:
            aim = now.aim(t, self.reference)
            verdict = self._watch.judge(now.tolerances, t, now.end, aim, q, v)
            if verdict is not None:
                code, text = verdict
                schedule.end(code, text or self._passed(now))
                if code is not ResultCode.SUCCESSFUL:
                    self._hold_measured(
                        time_ns, q, self.parameters.decelerate_on_violation * v,
                        'the goal before it was stopped by a violated tolerance',
                    )  # fmt: skip
        return self.reference

    def check_again(self) -> Iterator[None]:
        """Check what is left of all goals against the objects as they are now, in slices.

        A goal that is blocked ends, with those after it; the arm brakes where it follows the goal.
        """
        if self.check is None:
            return
        for each in self._schedule.all:
            t = each.time(self._scaled_ns)
            try:
                yield from rest(self.check, each.trajectory, t, each.near)
            except ArmError as error:
                if each.goal is not None:
                    end = f'stopped on the way: {error}', ResultCode.INVALID_GOAL
                    self.cancel(self.time_ns, each.goal.identifier, *end)
                return

    def peek(self, time_ns: int) -> Reference:
        """Return the planned reference at a stamp of the newest state or later.

        No side effects: `reference`, goals and speed stay, so that a law with a horizon may call
        this several times per control period. Speed scaling is taken as constant from now on.
        The next call of `peek` or `update` overwrites the returned object.
        """
        return self._schedule.peek(self.scaling.scaled_ns(time_ns, self.time_ns))

    @property
    def _scaled_ns(self) -> int:
        """Stamp of the newest state, minus the lag of speed scaling [ns]."""
        return self.time_ns - self.scaling.lag_ns

    def _set_tolerances(self, each: Scheduled) -> None:
        if each.goal is not None:
            rules = self.joint_names, self.parameters, each.passing
            each.tolerances = GoalTolerances.of(each.goal, *rules)

    def _passed(self, now: Scheduled) -> str:
        """Return what a client does not expect: the arm passes the goal's point at speed."""
        if now.passing is None or now.goal is None or now.goal.identifier is None:
            return ''  # topics have no result
        k, horizon = int(now.passing.argmax()), self.parameters.stream_horizon
        return (
            f'joint {self.joint_names[k]!r} passes the point and returns: a single point within'
            f' stream_horizon = {horizon:g} s is part of a stream'
        )

    def _end_on_force(self, time_ns: int, q: Array, v: Array, wrench: Array | None) -> None:
        """End the followed goal where the force on the tool or its way is enough."""
        now = self._schedule.now
        if now.tool is None:
            now.tool = self.model.forward_kinematics(q).translation.copy()
        reason = end_on_force(self.model, self.parameters, now.tool, q, wrench)
        if reason:
            self._schedule.end(ResultCode.SUCCESSFUL, reason)
            self._hold_measured(time_ns, q, v, 'the goal before it ended on force')

    def _hold_measured(self, time_ns: int, q: Array, v: Array, text: str) -> None:
        """Brake from the measured state: from the reference, the old error would remain.

        Waiting goals end with a text.
        """
        self._schedule.end_waiting(ResultCode.INVALID_GOAL, text)
        self._brake(time_ns, q, v, self.reference.effort)
        self._schedule.now.evaluate(self._scaled_ns, self.reference)

    def _brake(self, time_ns: int, q: Array, v: Array, effort: Array) -> None:
        trajectory = braking(self.model, q, v, effort, self._limits.on_cancel)
        self._schedule.replace(trajectory, time_ns - self.scaling.lag_ns)
