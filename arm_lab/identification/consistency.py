"""Physically consistent inertial parameters: those with a positive definite pseudo-inertia.

    P = [[S, h], [h^T, m]],   S = tr(I)/2 - I,   h = m c

P is linear in the ten parameters (Wensing, Kim, Slotine, Linear matrix inequalities for physically
consistent inertial parameter identification, RA-L 3(1), 2018).
"""

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array

_LEAST_MASS, _LEAST_RADIUS, _LEAST_SHARE = 1e-3, 5e-3, 0.2  # of a body to begin with [kg], [m]

_BASIS = np.array([pin.PseudoInertia.FromDynamicParameters(pi).toMatrix() for pi in np.eye(10)])


def thick_body(pi: Array) -> Array:
    """Return the parameters (10,) of a body, or of the nearest thick enough one.

    Radii of gyration below a fifth of the largest are raised to it: a rod's, a sheet's.
    """
    matrix = pseudo_inertia(pi)
    mass = max(matrix[3, 3], _LEAST_MASS)
    center = matrix[:3, 3] / matrix[3, 3] if matrix[3, 3] >= _LEAST_MASS else np.zeros(3)
    second = (
        matrix[:3, :3] / mass - np.outer(center, center) if center.any() else matrix[:3, :3] / mass
    )
    values, vectors = np.linalg.eigh(second)
    least = max(_LEAST_RADIUS, _LEAST_SHARE * np.sqrt(max(values[-1], 0.0)))
    second = (vectors * np.maximum(values, least**2)) @ vectors.T + np.outer(center, center)
    body = pin.PseudoInertia(float(mass), mass * center, mass * second)
    return np.array(body.toDynamicParameters())


def pseudo_inertia(pi: Array) -> Array:
    """Return P (..., 4, 4) of pi (..., 10)."""
    return np.tensordot(pi, _BASIS, axes=1)


def barrier(pi: Array) -> tuple[Array, Array]:
    """Return gradient (..., 10) and Hessian (..., 10, 10) of -log det P at bodies pi (..., 10)."""
    inverse = np.linalg.inv(pseudo_inertia(pi))[..., np.newaxis, :, :] @ _BASIS
    gradient = -np.trace(inverse, axis1=-2, axis2=-1)
    return gradient, np.einsum('...iab,...jba->...ij', inverse, inverse)


def deviation(pi: Array) -> Array:
    """Return D (10, 10): |D (pi' - pi)| is how far bodies pi' are from a body, relative to it.

    It is the norm of C^-1 (P' - P) C^-T with P = C C^T, the same in every frame.
    """
    inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(pi)))
    changed = inverse @ _BASIS @ inverse.T
    rows, columns = np.triu_indices(4)
    weight = np.where(rows == columns, 1.0, np.sqrt(2.0))
    return (changed[:, rows, columns] * weight).T
