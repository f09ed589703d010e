"""The rules by which a trajectory follower takes, watches and ends goals."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.follower.wrench_goals import AXES
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class FollowerParameters(Parameters):
    """The rules, named as in ros2_control's joint_trajectory_controller where that has them."""

    allow_partial_joints_goal: bool = parameter(False, 'if true, goals may leave out joints')
    allow_integration_in_goal_trajectories: bool = parameter(
        False, 'if true, velocities or accelerations alone are integrated to positions'
    )
    allow_trajectory_replacement: bool = parameter(
        True, 'if true, joints that a goal leaves out finish their motion; else they brake'
    )
    interpolation_method: str = parameter(
        'splines',
        "interpolation between points; 'none': the reference is each point's position "
        'until the next',
        one_of=('splines', 'none'),
    )
    upsampling: bool = parameter(
        False,
        'if true, a goal on the topic whose points have positions alone is followed by a spline '
        'with continuous acceleration, which ends at rest',
        name='positions_upsampling.enable',
    )
    policy_frequency: float = parameter(
        0.0,
        'rate of the points of such a goal that has no times [Hz]; 0: goals have times',
        min=0,
        name='positions_upsampling.policy_frequency',
    )
    limit_overshoot: float = parameter(
        0.02,
        'share by which the polynomial between two points may exceed the limits of velocity, '
        'acceleration and jerk [1]',
        min=0,
        max=1,
    )
    allow_nonzero_velocity_at_trajectory_end: bool = parameter(
        False, 'if true, the last point may have a velocity; the arm brakes after the point'
    )
    trajectory_tolerance: PerJoint = parameter(
        (0.0,),
        'largest position error during the motion [rad | m]; 0: no limit',
        min=0,
        name='constraints.{}.trajectory',
    )
    goal_tolerance: PerJoint = parameter(
        (0.0,),
        'largest position error at the end of the motion [rad | m]; 0: no limit',
        min=0,
        name='constraints.{}.goal',
    )
    goal_time: float = parameter(
        0.0,
        'longest time after the last point until the goal tolerance holds [s]; 0: goal_time_limit',
        min=0,
        name='constraints.goal_time',
    )
    cmd_timeout: float = parameter(
        0.0, 'longest wait after the last point, if below goal_time_limit [s]; 0: not used', min=0
    )
    stopped_velocity_tolerance: float = parameter(
        0.01,
        'largest velocity error at the end of the motion [rad/s | m/s]; 0: no limit',
        min=0,
        name='constraints.stopped_velocity_tolerance',
    )
    decelerate_on_cancel: bool = parameter(
        True,
        'if true, brake with max_deceleration_on_cancel; else stop at once',
        name='constraints.decelerate_on_cancel',
    )
    decelerate_on_violation: bool = parameter(True, 'if true, brake after a violated tolerance')
    max_deceleration_on_cancel: PerJoint = parameter(
        (5.0,),
        'deceleration after cancel or violation [rad/s^2 | m/s^2]; 0: stop at once',
        min=0,
        name='constraints.{}.max_deceleration_on_cancel',
    )
    max_acceleration: PerJoint = parameter(
        (0.0,),
        "acceleration limit of goals [rad/s^2 | m/s^2], where the URDF's is not smaller; 0: none",
        min=0,
        name='joint_limits.{}.max_acceleration',
    )
    start_tolerance: PerJoint = parameter(
        (0.1,),
        "largest distance of a goal's start point from the reference [rad | m]",
        min=0,
        name='constraints.{}.start',
    )
    clearance: float = parameter(
        -1.0,
        'distance that links keep from the objects on simulator/objects while the arm follows '
        'goals [m]; negative: goals are not checked against objects',
        min=-1,
        max=1,
        name='constraints.clearance',
    )
    goal_time_limit: float = parameter(
        10.0, "longest wait after a goal's last point until the goal ends [s]", above=0
    )
    goal_duration_limit: float = parameter(
        3600.0, "longest time from acceptance to a goal's last point [s]", above=0
    )
    waiting_goals_limit: int = parameter(16, 'largest number of waiting goals', min=1)
    stream_horizon: float = parameter(
        0.2,
        'longest time to the point of a goal that is part of a stream [s]: the arm '
        'passes the point, and returns to it if no other goal follows',
        min=0,
    )
    speed_scaling: float = parameter(
        1.0,
        'factor on the speed of goals until ~/speed_scaling_input sets another one [1]',
        min=0,
        max=1,
        name='speed_scaling.initial_scaling_factor',
    )
    max_force: float = parameter(
        100.0, 'largest force of a wrench goal [N]', above=0, name='constraints.max_force'
    )
    max_torque: float = parameter(
        10.0, 'largest torque of a wrench goal [N.m]', above=0, name='constraints.max_torque'
    )
    wrench_axes: tuple[str, ...] = parameter(
        (),
        "axes of a wrench goal's frame in which the arm is controlled by force; empty: along the "
        'wrench alone',
        one_of=AXES,
        name='wrench_goal.axes',
    )
    end_force: float = parameter(
        0.0,
        'force on the tool at which a goal ends with success [N]; 0: no goal ends on force',
        min=0,
        name='end_on_force.force',
    )
    end_direction: PerJoint = parameter(
        (0.0, 0.0, 0.0),
        'direction of the force that ends a goal, of either sign, in axes of '
        'end_on_force.frame; zeros: any direction [1]',
        length=3,
        name='end_on_force.direction',
    )
    end_frame: str = parameter(
        '', 'link whose axes end_on_force.direction has; empty: base', name='end_on_force.frame'
    )
    end_distance: float = parameter(
        0.0,
        'distance of the tool from its start at which a goal ends with success [m]; 0: no limit',
        min=0,
        name='end_on_force.distance',
    )
    time_jump_limit: float = parameter(
        0.5,
        'longest time step between two states [s]; after a longer step, or a step back,'
        ' the arm holds its position',
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
    def of(cls, rules: Any, model: RobotModel) -> 'Limits':
        """Return those of FollowerParameters whose numbers per joint are arrays, and of an arm."""
        most, braking = rules.max_acceleration, rules.max_deceleration_on_cancel
        acceleration = np.minimum(np.where(most > 0, most, np.inf), model.acceleration_limit)
        deceleration = np.minimum(np.where(braking > 0, braking, _GENTLE), acceleration)
        return cls(acceleration, deceleration, np.where(braking > 0, deceleration, np.inf))
