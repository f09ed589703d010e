"""The rules by which a trajectory follower takes, watches and ends goals."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class FollowerParameters(Parameters):
    """The rules, named as in ros2_control's joint_trajectory_controller where that has them."""

    allow_partial_joints_goal: bool = parameter(False, 'a goal may leave joints out; they hold')
    allow_integration_in_goal_trajectories: bool = parameter(
        False, 'points may have velocities or accelerations alone; positions are their integral'
    )
    allow_trajectory_replacement: bool = parameter(
        True, 'a goal may replace one that has not ended; an empty one always ends it'
    )
    interpolation_method: str = parameter(
        'splines',
        "'none': the arm is asked to be at a point's position from its time on, until the next",
        one_of=('splines', 'none'),
    )
    limit_overshoot: float = parameter(
        0.02,
        'by how much the polynomial between two points may exceed the limits of velocity and'
        ' acceleration [1]; never those of position',
        min=0,
        max=1,
    )
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
    cmd_timeout: float = parameter(
        0.0, "longest wait after a goal's last point [s], as goal_time_limit; 0: that one", min=0
    )
    stopped_velocity_tolerance: float = parameter(
        0.01,
        'largest velocity error at the end [rad/s | m/s]; 0: none',
        min=0,
        name='constraints.stopped_velocity_tolerance',
    )
    decelerate_on_cancel: bool = parameter(
        True,
        'brake within `max_deceleration_on_cancel` (else stop at once)',
        name='constraints.decelerate_on_cancel',
    )
    decelerate_on_violation: bool = parameter(True, 'the same where a tolerance is violated')
    max_deceleration_on_cancel: PerJoint = parameter(
        (5.0,),
        'of braking that no goal asked for [rad/s^2 | m/s^2]; 0: at once',
        min=0,
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
    speed_scaling: float = parameter(
        1.0,
        'share of the speed at which goals are followed, until ~/speed_scaling_input says another',
        min=0,
        max=1,
        name='speed_scaling.initial_scaling_factor',
    )
    time_jump_limit: float = parameter(
        0.5,
        'longest step of time between two states [s]; after a longer one, or a step back, '
        'the arm holds',
        above=0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.cmd_timeout <= self.goal_time:
            raise ArmError(
                f'cmd_timeout is {self.cmd_timeout:g} s; it must be 0 or longer than'
                f' constraints.goal_time, {self.goal_time:g} s'
            )


# Of motions that no goal describes, where braking on a cancel is at once [rad/s^2 | m/s^2].
_GENTLE = 5.0


class Limits(NamedTuple):
    """How fast joints may change their speed, each (n,) [rad/s^2 | m/s^2].

    Attributes:
        acceleration: of goals; infinite where there is no limit.
        deceleration: of motions that no goal describes.
        on_cancel: of braking on a cancel; infinite: at once.
    """

    acceleration: Array
    deceleration: Array
    on_cancel: Array

    @classmethod
    def of(cls, rules: Any) -> 'Limits':
        """Return those of FollowerParameters whose numbers per joint are arrays."""
        most, asked = rules.max_acceleration, rules.max_deceleration_on_cancel
        acceleration = np.where(most > 0, most, np.inf)
        deceleration = np.minimum(np.where(asked > 0, asked, _GENTLE), acceleration)
        return cls(acceleration, deceleration, np.where(asked > 0, deceleration, np.inf))
