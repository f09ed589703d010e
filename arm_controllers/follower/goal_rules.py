"""Checks of a goal's form: names, shapes, numbers, times.

A refusal names joint, value, point and time.
"""

import numpy as np

from arm_controllers.follower.goal import Goal, GoalError, JointTolerance
from arm_controllers.follower.parameters import FollowerParameters

# A last velocity this small [rad/s | m/s] counts as zero.
AT_REST = 1e-6


def check_form(goal: Goal, joint_names: tuple[str, ...], rules: FollowerParameters) -> None:
    """Check names, shapes, numbers and times of a goal.

    Raises:
        GoalError: names the fault and its place.
    """
    allow_partial = rules.allow_partial_joints_goal or not len(goal.times)
    _check_names(goal.joint_names, joint_names, allow_partial)
    if len(goal.times) and not goal.joint_names:
        raise GoalError(f'{len(goal.times)} points, but no joint is named')
    shape = (len(goal.times), len(goal.joint_names))
    for name in ('positions', 'velocities', 'accelerations', 'effort'):
        values = getattr(goal, name)
        if values is None:
            continue
        if values.shape != shape:
            raise GoalError(
                f'{name} have shape {values.shape}, but {shape[0]} points of {shape[1]} joints'
                f' need {shape}'
            )
        for point, column in np.argwhere(~np.isfinite(values)).tolist():
            from arm_controllers.follower.refusals import not_finite

            raise not_finite(goal, name, point, column)
    if not goal.has_position:
        _check_integration(goal, rules.allow_integration_in_goal_trajectories)
    if rules.interpolation_method == 'none' and goal.velocities is not None:
        raise GoalError('interpolation_method is none: points may have no velocities')
    bare = goal.has_position and goal.velocities is None
    if goal.accelerations is not None and bare:
        raise GoalError('accelerations are given without velocities; give both or positions only')
    if not np.isfinite(goal.times).all() or (np.diff(goal.times, prepend=-1e-300) <= 0).any():
        from arm_controllers.follower.refusals import wrong_times

        raise wrong_times(goal.times)
    for tolerances in (goal.path_tolerance, goal.goal_tolerance):
        for tolerance in tolerances:
            _check_tolerance(tolerance, joint_names)
        given = [each.joint for each in tolerances]
        for twice in (name for name in joint_names if given.count(name) > 1):
            raise GoalError(f'joint {twice!r} has {given.count(twice)} tolerances; allowed: one')
    time_tolerance = goal.goal_time_tolerance
    if not np.isfinite(time_tolerance) or (time_tolerance < 0 and time_tolerance != -1):
        raise GoalError(
            f'goal time tolerance is {time_tolerance:g} s; allowed: a positive time, 0 (the'
            " controller's own) or -1 (none)"
        )
    if not rules.allow_nonzero_velocity_at_trajectory_end:
        _check_end_velocity(goal)


def check_end(goal: Goal, start: float, limit: float) -> None:
    """Raise GoalError where a goal that starts in `start` [s] ends later than allowed."""
    if start + float(goal.times[-1]) > limit:
        from arm_controllers.follower.refusals import too_late

        raise too_late(goal, start, limit)


def _check_integration(goal: Goal, allowed: bool) -> None:
    if not allowed:
        raise GoalError(
            'the points have no positions; set allow_integration_in_goal_trajectories to integrate'
            ' what they have'
        )
    if goal.velocities is None and goal.accelerations is None:
        raise GoalError('the points have no positions, velocities or accelerations')
    for field, given in (('velocity', goal.has_velocity), ('acceleration', goal.has_acceleration)):
        if given is not None and given.any() and not given.all():
            point = int(given.argmin())
            raise goal.error_at(point, f'no {field}, and no position either, but others have one')


def _check_names(names: tuple[str, ...], known: tuple[str, ...], allow_partial: bool) -> None:
    for k, name in enumerate(names):
        if name not in known:
            from arm_controllers.follower.refusals import unknown_joint

            raise unknown_joint(name, known)
        if name in names[:k]:
            raise GoalError(f'joint {name!r} is named twice', joint=name)
    for name in known:
        if name not in names and not allow_partial:
            raise GoalError(
                f'joint {name!r} is missing from the goal ({len(names)} of {len(known)} joints are'
                ' named); set allow_partial_joints_goal to leave joints out',
                joint=name,
            )


def _check_tolerance(tolerance: JointTolerance, joint_names: tuple[str, ...]) -> None:
    if tolerance.joint not in joint_names:
        from arm_controllers.follower.refusals import unknown_joint

        raise unknown_joint(tolerance.joint, joint_names, 'tolerance: ')
    for quantity in ('position', 'velocity', 'acceleration'):
        value = getattr(tolerance, quantity)
        if not np.isfinite(value) or (value < 0 and value != -1):
            raise GoalError(
                f'joint {tolerance.joint!r}: {quantity} tolerance is {value:g}; allowed: a'
                " positive bound, 0 (the controller's own) or -1 (none)",
                joint=tolerance.joint,
                value=value,
            )


def _check_end_velocity(goal: Goal) -> None:
    if goal.velocities is None or not len(goal.times):
        return
    if goal.has_velocity is not None and not goal.has_velocity[-1]:
        return
    moving = np.flatnonzero(np.abs(goal.velocities[-1]) > AT_REST)
    if len(moving):
        joint, value = goal.joint_names[moving[0]], float(goal.velocities[-1, moving[0]])
        text = f'joint {joint!r}: velocity {value:.6g} at the last point is not zero'
        remedy = '; set allow_nonzero_velocity_at_trajectory_end to allow it'
        last = len(goal.times) - 1
        raise goal.error_at(last, text, remedy, joint=joint, value=value, lower=0.0, upper=0.0)
