"""Coulomb friction over one step: the torque that stops a joint, within its bound."""

from numba import njit

_SWEEPS = 100


@njit(error_model='numpy', nogil=True)
def invert(matrix):
    """Invert a symmetric positive definite matrix in place: Gauss-Jordan, no pivot needed.

    Small loops take a second less to compile than LAPACK's interface.
    """
    n = matrix.shape[0]
    for k in range(n):
        pivot = 1.0 / matrix[k, k]
        matrix[k, k] = 1.0
        for j in range(n):
            matrix[k, j] *= pivot
        for i in range(n):
            if i != k:
                factor = matrix[i, k]
                matrix[i, k] = 0.0
                for j in range(n):
                    matrix[i, j] -= factor * matrix[k, j]


@njit(error_model='numpy', nogil=True)
def dry_friction(h, a, v, bound, mass, friction):
    """Write the Coulomb friction torque of the next step to `friction` (n,).

    It stops the joint by the end of the step where a torque within +-bound can, and otherwise
    opposes the motion at the bound: v_free + h A^-1 f = 0 or |f| = bound. Projected Gauss-Seidel.

    Args:
        h: step [s].
        a, v: (n,) acceleration without friction, and velocity.
        bound: (n,) [N.m | N].
        mass: (n, n) A = M + armature (+ h D); is overwritten by A^-1.
        friction: (n,) result [N.m | N].
    """
    friction[:] = 0.0
    response = mass
    invert(response)
    velocity = v + h * a
    for _ in range(_SWEEPS):
        change = 0.0
        for i in range(v.size):
            wanted = friction[i] - velocity[i] / (h * response[i, i])
            wanted = min(max(wanted, -bound[i]), bound[i])
            step = wanted - friction[i]
            friction[i] = wanted
            for k in range(v.size):
                velocity[k] += h * response[k, i] * step
            change = max(change, abs(step))
        if change < 1e-13:
            break
