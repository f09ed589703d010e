"""One step of q' = v, v' = a(q, v): four integrators behind one interface.

The functions run as plain Python and inside numba's compiled code alike. Order is that of the
error at a fixed time against the step h. See docs/integrators.md for error, energy and stability.
"""

from collections.abc import Callable

import numpy as np
from numba.extending import register_jitable
from numpy.typing import ArrayLike, NDArray

from arm_dynamics.checks import one_of

Array = NDArray[np.float64]

INTEGRATORS = ('explicit_euler', 'semi_implicit_euler', 'velocity_verlet', 'rk4')
ORDER = {'explicit_euler': 1, 'semi_implicit_euler': 1, 'velocity_verlet': 2, 'rk4': 4}

# Scratch rows that `step` needs.
SCRATCH = 8


def integrate(
    name: str, acceleration: Callable[[Array, Array], Array], q: ArrayLike, v: ArrayLike, h: float
) -> tuple[Array, Array]:
    """Return q and v one step h [s] later, for a plain function acceleration(q, v) -> a.

    Raises:
        ArmError: no integrator of that name.
    """
    one_of('integrator', name, INTEGRATORS)
    q, v = np.array(q, dtype=float), np.array(v, dtype=float)

    def write(q: Array, v: Array, function: Callable[[Array, Array], Array], a: Array) -> None:
        a[:] = function(q, v)

    scratch = np.empty((SCRATCH, q.size))
    step(INTEGRATORS.index(name), write, q, v, h, acceleration, scratch)
    return q, v


@register_jitable(inline='always')
def step(integrator, acceleration, q, v, h, context, scratch):
    """Move q and v on by h, in place.

    Args:
        integrator: index in INTEGRATORS.
        acceleration: called as acceleration(q, v, context, a); writes a.
        q, v: (n,) state.
        h: step [s].
        context: whatever `acceleration` takes.
        scratch: (SCRATCH, n).
    """
    if integrator == 0:
        explicit_euler(acceleration, q, v, h, context, scratch)
    elif integrator == 1:
        semi_implicit_euler(acceleration, q, v, h, context, scratch)
    elif integrator == 2:
        velocity_verlet(acceleration, q, v, h, context, scratch)
    else:
        rk4(acceleration, q, v, h, context, scratch)


@register_jitable(inline='always')
def explicit_euler(acceleration, q, v, h, context, scratch):
    """q+ = q + h v, v+ = v + h a(q, v). Order 1; gains energy."""
    a = scratch[0]
    acceleration(q, v, context, a)
    for i in range(q.size):
        q[i] += h * v[i]
        v[i] += h * a[i]


@register_jitable(inline='always')
def semi_implicit_euler(acceleration, q, v, h, context, scratch):
    """v+ = v + h a(q, v), q+ = q + h v+. Order 1; symplectic where a depends on q alone."""
    a = scratch[0]
    acceleration(q, v, context, a)
    for i in range(q.size):
        v[i] += h * a[i]
        q[i] += h * v[i]


@register_jitable(inline='always')
def velocity_verlet(acceleration, q, v, h, context, scratch):
    """q+ = q + h v + h^2/2 a, v+ = v + h/2 (a + a(q+, v + h a)). Order 2.

    The predicted velocity v + h a stands in for the unknown v+ in the second evaluation.
    """
    a, a_end, v_end = scratch[0], scratch[1], scratch[2]
    acceleration(q, v, context, a)
    for i in range(q.size):
        q[i] += h * (v[i] + 0.5 * h * a[i])
        v_end[i] = v[i] + h * a[i]
    acceleration(q, v_end, context, a_end)
    for i in range(q.size):
        v[i] += 0.5 * h * (a[i] + a_end[i])


@register_jitable(inline='always')
def rk4(acceleration, q, v, h, context, scratch):
    """Classical Runge-Kutta method of order 4."""
    a, q_stage, v_stage, q_sum, v_sum = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    q_sum[:] = 0.0
    v_sum[:] = 0.0
    q_stage[:] = q
    v_stage[:] = v
    for stage in range(4):
        acceleration(q_stage, v_stage, context, a)
        weight = 1.0 if stage in (0, 3) else 2.0
        ahead = h if stage == 2 else 0.5 * h
        for i in range(q.size):
            q_sum[i] += weight * v_stage[i]
            v_sum[i] += weight * a[i]
            q_stage[i] = q[i] + ahead * v_stage[i]
            v_stage[i] = v[i] + ahead * a[i]
    for i in range(q.size):
        q[i] += h / 6.0 * q_sum[i]
        v[i] += h / 6.0 * v_sum[i]
