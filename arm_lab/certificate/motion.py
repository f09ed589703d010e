"""Whether the polynomials of a motion stay within limits: exact, without samples."""

import numpy as np

from arm_controllers.follower.motion_limits import LIMIT_TOLERANCE, first_outside
from arm_controllers.follower.refusals import worst
from arm_controllers.follower.trajectory import Trajectory
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_lab.certificate.finding import Finding

_STEP = 1e-6  # smaller jumps between polynomials are rounding [rad/s | m/s, .. per s]


def check_motion(
    trajectory: Trajectory, model: RobotModel, max_acceleration: Array, max_jerk: Array
) -> Finding | None:
    """Return where a motion is beyond a limit of position or its derivatives; None: nowhere.

    A step of the velocity needs infinite acceleration, a step of the acceleration infinite jerk.
    Unlike `check_limits`, an arm that starts outside its limits is refused.

    Args:
        trajectory: (m segments of n joints); its rest after the end counts.
        model: has the limits of position, velocity and effort.
        max_acceleration, max_jerk: (n,), may be infinite [rad/s^2, rad/s^3 | m/s^2, m/s^3].
    """
    h = np.diff(trajectory.times)[:, np.newaxis, np.newaxis]
    scaled = trajectory.coefficients * h ** np.arange(6)[:, np.newaxis]
    forced = np.isfinite(max_jerk) | np.isfinite(max_acceleration)
    no_steps = (None, forced | np.isfinite(model.effort_limit), np.isfinite(max_jerk), None)
    bounds = (
        ('position', model.position_lower, model.position_upper),
        ('velocity', -model.velocity_limit, model.velocity_limit),
        ('acceleration', -max_acceleration, max_acceleration),
        ('jerk', -max_jerk, max_jerk),
    )
    for order, (quantity, lower, upper) in enumerate(bounds):
        if order:
            scaled = scaled[:, 1:] * np.arange(1, 7 - order)[:, np.newaxis] / h
        if np.isfinite(lower).any() or np.isfinite(upper).any():
            low = np.tile(lower - LIMIT_TOLERANCE, (len(h), 1))
            high = np.tile(upper + LIMIT_TOLERANCE, (len(h), 1))
            segment, joint = first_outside(scaled, low, high)
            if segment >= 0:
                poly = scaled[segment, :, joint]
                value, share = worst(poly, low[segment, joint], high[segment, joint])
                time = float(trajectory.times[segment] + share * h[segment, 0, 0])
                limit = float(upper[joint] if value > upper[joint] else lower[joint])
                return Finding(quantity, model.joint_names[joint], float(value), limit, time)
        steps = no_steps[order]
        if steps is not None and steps.any():
            after = np.vstack([scaled[1:, 0], np.zeros_like(lower)])
            jump = np.where(steps, after - scaled.sum(axis=1), 0.0)
            knots = np.argwhere(np.abs(jump) > _STEP)
            if len(knots):
                knot, joint = knots[0]
                limit = (max_acceleration, max_jerk)[order - 1][joint]
                value = float(np.copysign(np.inf, jump[knot, joint]))
                quantity = bounds[order + 1][0]
                time = float(trajectory.times[knot + 1])
                return Finding(quantity, model.joint_names[joint], value, float(limit), time)
    return None
