"""A held pose in one compiled loop: motor steps, the voltages of PID gains, and the objective J.

The text of this module ends the generated module of the arm, where `motor_step` is before it.
"""

from numba import njit

# A rollout whose summed error of one step exceeds this has blown up [rad]; its cost is the latter.
BLOW_UP_ERROR = 100.0
BLOW_UP_COST = 9999999.0


@njit(cache=True, error_model='numpy', nogil=True, _nrt=False)
def pose_hold_rollout(
    q, v, a, stuck, previous, voltage, h, count, table, work, gains, target, active, memory
):
    """Hold a pose for `count` steps h [s]; return J, the summed error, or BLOW_UP_COST.

    After each step the error e = target - q of the controlled joints is summed up, and their next
    voltages are V = P e + I sum(e) + D (e - previous e); sums and differences carry no step.

    Args:
        q, v, a, stuck, previous, voltage, h, table, work: see rollouts.motor_step.
        count: number of steps.
        gains: (3, n) rows P, I, D.
        target: (n,) [rad].
        active: (m,) joints that are controlled.
        memory: (2, n) sum of errors, previous error.
    """
    total, last = memory
    cost = 0.0
    for _ in range(count):
        motor_step(q, v, a, stuck, previous, voltage, h, table, work)  # noqa: F821
        step_error = 0.0
        for i in active:
            error = target[i] - q[i]
            step_error += abs(error)
            total[i] += error
            voltage[i] = (
                gains[0, i] * error + gains[1, i] * total[i] + gains[2, i] * (error - last[i])
            )
            last[i] = error
        if not step_error <= BLOW_UP_ERROR:
            return BLOW_UP_COST
        cost += step_error
    return cost
