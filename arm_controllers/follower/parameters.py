"""The rules by which a trajectory follower takes, watches and ends goals."""

from dataclasses import dataclass

from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class FollowerParameters(Parameters):
    """The rules, named as in ros2_control's joint_trajectory_controller where that has them."""

    allow_partial_joints_goal: bool = parameter(False, 'a goal may leave joints out; they hold')
    allow_nonzero_velocity_at_trajectory_end: bool = parameter(
        False, 'the last point may have a velocity; the arm brakes after it'
    )
    trajectory_tolerance: PerJoint = parameter(
        (0.0,),
        'largest position error on the way [rad | m]; 0: none',
        min=0,
        name='constraints.{}.trajectory',
    )
    goal_tolerance: PerJoint = parameter(
        (0.0,),
        'largest position error at the end [rad | m]; 0: none',
        min=0,
        name='constraints.{}.goal',
    )
    goal_time: float = parameter(
        0.0,
        'how late the goal tolerance may be met [s]; 0: as late as goal_time_limit',
        min=0,
        name='constraints.goal_time',
    )
    stopped_velocity_tolerance: float = parameter(
        0.01,
        'largest velocity error at the end [rad/s | m/s]; 0: none',
        min=0,
        name='constraints.stopped_velocity_tolerance',
    )
    decelerate_on_cancel: bool = parameter(
        True, 'brake within `max_deceleration_on_cancel` (else stop at once)'
    )
    decelerate_on_violation: bool = parameter(True, 'the same where a tolerance is violated')
    max_deceleration_on_cancel: PerJoint = parameter(
        (5.0,),
        'of braking that no goal asked for [rad/s^2 | m/s^2]',
        above=0,
        name='constraints.{}.max_deceleration_on_cancel',
    )
    max_acceleration: PerJoint = parameter(
        (0.0,), '[rad/s^2 | m/s^2]; 0: none', min=0, name='joint_limits.{}.max_acceleration'
    )
    start_tolerance: PerJoint = parameter(
        (0.1,),
        'how far a point at the start may be from where the arm is [rad | m]',
        min=0,
        name='constraints.{}.start',
    )
    goal_time_limit: float = parameter(
        10.0, "longest wait after a goal's last point [s]; every goal ends", above=0
    )
    goal_duration_limit: float = parameter(
        3600.0, "longest time from acceptance to a goal's last point [s]", above=0
    )
    waiting_goals_limit: int = parameter(16, 'most goals that may wait for their start', min=1)
    stream_horizon: float = parameter(
        0.2,
        'a goal of a single position that is this near in time [s] belongs to a stream: '
        'the arm passes it without stopping, and returns to it if no other follows',
        min=0,
    )
    time_jump_limit: float = parameter(
        0.5,
        'longest step of time between two states [s]; after a longer one, or a step back, '
        'the arm holds',
        above=0,
    )
