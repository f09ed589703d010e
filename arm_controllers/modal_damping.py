"""Damping of a stiffness: the same damping ratio for each mode of the mass and the stiffness."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.small_matrices import inverse_axes

_SLOWEST = 0.1  # natural frequency below which a mode is damped less [rad/s]


def modal_damping(
    mass: Array, right: Array, roots: Array, ratio: float | Array
) -> tuple[Array, Array]:
    """Return x (..., m, m) and w (..., m) of the damping D = x diag(w) x^T of a task J.

    D gives every mode of (J M^-1 J^T)^-1 and the stiffness K the same damping ratio:
    D = 2 ratio K^1/2 (K^-1/2 (J M^-1 J^T)^-1 K^-1/2)^1/2 K^1/2 (Albu-Schaeffer et al., ICRA 2003,
    double diagonalisation). K^1/2 J M^-1 J^T K^1/2 = F F^T with orthogonal columns f has the
    eigenvalues |f|^2, so that the root is the sum of f f^T / |f|^3; |f| is the natural frequency
    of a mode. Where the arm cannot move, and where K is zero, D is zero.

    Args:
        mass: M (..., n, n).
        right: J^T K^1/2 (..., n, m).
        roots: K^1/2 (..., m), its diagonal.
        ratio: of damping.
    """
    columns = inverse_axes(mass, right)
    lengths = np.maximum(np.sqrt((columns**2).sum(-2)), _SLOWEST)
    return roots[..., np.newaxis] * columns, 2.0 * ratio / (lengths * lengths * lengths)
