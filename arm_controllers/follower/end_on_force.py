"""The end of a goal on force: what the tool feels, or how far it has moved, is enough."""

from typing import Any

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel


def end_on_force(
    model: RobotModel, rules: Any, start: Array, q: Array, wrench: Array | None
) -> str:
    """Return why a goal ends, '' where it goes on.

    Args:
        model: the arm.
        rules: FollowerParameters whose vectors are arrays.
        start: (3,) position of the tool frame where the goal began [m].
        q: (n,) the measured state.
        wrench: (6,) measured by the sensor on the link that carries the tool, in that link's
            axes; None: the force ends no goal.
    """
    if rules.end_force and wrench is not None:
        force = model.forward_kinematics(q, model.tool_carrier).rotation @ wrench[:3]
        size, words = float(np.linalg.norm(force)), ''
        if rules.end_direction.any():
            frame = rules.end_frame or model.base_frame
            along = model.forward_kinematics(q, frame).rotation @ rules.end_direction
            size = abs(float(force @ along)) / float(np.linalg.norm(along))
            words = f' along {rules.end_direction.tolist()} of {frame!r}'
        if size >= rules.end_force:
            return f'ended on force: {size:.4g} N{words}; end_on_force.force {rules.end_force:g} N'
    if rules.end_distance:
        distance = float(np.linalg.norm(model.forward_kinematics(q).translation - start))
        if distance >= rules.end_distance:
            return (
                f'ended on distance: the tool has moved by {distance:.4g} m; '
                f'end_on_force.distance {rules.end_distance:g} m'
            )
    return ''
