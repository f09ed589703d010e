"""Time steps of q' = v, v' = a(q, v): four integrators with one interface.

The functions run both as plain Python and inside numba's compiled code. docs/integrators.md
describes order, energy and stability.
"""

from numba.extending import register_jitable

INTEGRATORS = ('explicit_euler', 'semi_implicit_euler', 'velocity_verlet', 'rk4')

# Number of acceleration evaluations per step, by index in INTEGRATORS.
STAGES = (1, 1, 2, 4)

# Rows of the scratch: evaluation point, acceleration there, weighted sums.
POINT_Q, POINT_V, A, SUM_V, SUM_A = range(5)
SCRATCH = 5

_EXPLICIT_EULER, _SEMI_IMPLICIT_EULER, _VELOCITY_VERLET, RK4 = range(4)


@register_jitable
def begin_stage(integrator, stage, q, v, h, scratch):
    """Write the point at which a stage evaluates the acceleration.

    Args:
        integrator: index in INTEGRATORS.
        stage: 0 ... STAGES[integrator] - 1.
        q, v: (n,) state at the start of the step.
        h: step [s].
        scratch: (SCRATCH, n); its row A holds the acceleration of the stage before.
    """
    for i in range(q.size):
        if stage == 0:
            scratch[SUM_V, i] = 0.0
            scratch[SUM_A, i] = 0.0
            scratch[POINT_Q, i] = q[i]
            scratch[POINT_V, i] = v[i]
        elif integrator == _VELOCITY_VERLET:
            a = scratch[A, i]
            scratch[POINT_Q, i] = q[i] + h * (v[i] + 0.5 * h * a)
            scratch[POINT_V, i] = v[i] + h * a
        else:
            ahead = h if stage == 3 else 0.5 * h
            scratch[POINT_Q, i] = q[i] + ahead * scratch[POINT_V, i]
            scratch[POINT_V, i] = v[i] + ahead * scratch[A, i]


@register_jitable
def end_stage(stage, scratch):
    """Add velocity and acceleration of this stage to the sums, with the stage's weight."""
    weight = 2.0 if stage in (1, 2) else 1.0
    for i in range(scratch.shape[1]):
        scratch[SUM_V, i] += weight * scratch[POINT_V, i]
        scratch[SUM_A, i] += weight * scratch[A, i]


@register_jitable
def end_step(integrator, q, v, h, scratch):
    """Advance q and v by h, in place.

    Explicit Euler: q+ = q + h v, v+ = v + h a. Gains energy.
    Semi-implicit Euler: v+ = v + h a, q+ = q + h v+. Symplectic where a depends on q alone.
    Velocity Verlet: q+ = q + h v + h^2/2 a, v+ = v + h/2 (a + a(q+, v + h a)); the predicted
    velocity replaces the unknown v+.
    RK4: the classical Runge-Kutta method.
    """
    for i in range(q.size):
        a = scratch[A, i]
        if integrator == _EXPLICIT_EULER:
            q[i] += h * v[i]
            v[i] += h * a
        elif integrator == _SEMI_IMPLICIT_EULER:
            v[i] += h * a
            q[i] += h * v[i]
        elif integrator == _VELOCITY_VERLET:
            q[i] = scratch[POINT_Q, i]
            # The second stage has twice the weight in the sum.
            v[i] += 0.5 * h * (scratch[SUM_A, i] - a)
        else:
            q[i] += h / 6.0 * scratch[SUM_V, i]
            v[i] += h / 6.0 * scratch[SUM_A, i]
