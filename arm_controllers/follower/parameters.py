"""The rules by which a trajectory follower takes, watches and ends goals."""

from dataclasses import dataclass

from arm_dynamics.checks import in_range
from arm_dynamics.errors import ArmError


@dataclass(frozen=True)
class FollowerParameters:
    """The rules, named as in ros2_control's joint_trajectory_controller where that has them.

    A tuple holds one number for all joints, or one per joint.

    Attributes:
        allow_partial_joints_goal: a goal may leave joints out; they hold.
        allow_nonzero_velocity_at_trajectory_end: the last point may have a velocity; the arm
            brakes after it.
        trajectory_tolerance: `constraints.<joint>.trajectory`, largest position error on the way
            [rad | m]; 0: none.
        goal_tolerance: `constraints.<joint>.goal`, largest position error at the end [rad | m];
            0: none.
        goal_time: `constraints.goal_time`, how late the goal tolerance may be met [s]; 0: as late
            as goal_time_limit.
        stopped_velocity_tolerance: `constraints.stopped_velocity_tolerance`, largest velocity
            error at the end [rad/s | m/s]; 0: none.
        decelerate_on_cancel: brake within `max_deceleration_on_cancel` (else stop at once).
        decelerate_on_violation: the same where a tolerance is violated.
        max_deceleration_on_cancel: `constraints.<joint>.max_deceleration_on_cancel`, of every
            braking that no goal asked for [rad/s^2 | m/s^2].
        max_acceleration: `joint_limits.<joint>.max_acceleration` [rad/s^2 | m/s^2]; 0: none.
        start_tolerance: `constraints.<joint>.start`, how far a point at the start may be from
            where the arm is [rad | m].
        goal_time_limit: longest wait after a goal's last point [s]; every goal ends.
        goal_duration_limit: longest time from acceptance to a goal's last point [s].
        waiting_goals_limit: most goals that may wait for their start.
        stream_horizon: a goal of a single position that is this near in time [s] belongs to a
            stream: the arm passes it without stopping, and returns to it if no other follows.
        time_jump_limit: longest step of time between two states [s]; after a longer one, or a step
            back, the arm holds.
    """

    allow_partial_joints_goal: bool = False
    allow_nonzero_velocity_at_trajectory_end: bool = False
    trajectory_tolerance: tuple[float, ...] = (0.0,)
    goal_tolerance: tuple[float, ...] = (0.0,)
    goal_time: float = 0.0
    stopped_velocity_tolerance: float = 0.01
    decelerate_on_cancel: bool = True
    decelerate_on_violation: bool = True
    max_deceleration_on_cancel: tuple[float, ...] = (5.0,)
    max_acceleration: tuple[float, ...] = (0.0,)
    start_tolerance: tuple[float, ...] = (0.1,)
    goal_time_limit: float = 10.0
    goal_duration_limit: float = 3600.0
    waiting_goals_limit: int = 16
    stream_horizon: float = 0.2
    time_jump_limit: float = 0.5

    def __post_init__(self) -> None:
        """Raise ArmError where a number is out of range (joints are counted by the follower)."""
        in_range('constraints.goal_time', self.goal_time, 0.0)
        in_range('constraints.stopped_velocity_tolerance', self.stopped_velocity_tolerance, 0.0)
        in_range('goal_time_limit', self.goal_time_limit, 0.0, exclusive=True)
        in_range('goal_duration_limit', self.goal_duration_limit, 0.0, exclusive=True)
        in_range('stream_horizon', self.stream_horizon, 0.0)
        in_range('time_jump_limit', self.time_jump_limit, 0.0, exclusive=True)
        if self.waiting_goals_limit < 1:
            raise ArmError(f'waiting_goals_limit is {self.waiting_goals_limit}; it must be >= 1')
