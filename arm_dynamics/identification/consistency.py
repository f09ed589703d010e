"""Physically consistent inertial parameters: those with a positive definite pseudo-inertia.

    P = [[S, h], [h^T, m]] = U U^T,   S = tr(I)/2 - I,   h = m c

U is upper triangular and given by ten free numbers, its log-Cholesky parameters (Rucker and
Wensing, Smooth parameterization of rigid-body inertia, RA-L 7(2), 2022), computed by Pinocchio.
"""

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array

_LEAST_MASS, _LEAST_RADIUS, _LEAST_SHARE = 1e-3, 5e-3, 0.2  # of a body to begin with [kg], [m]

_BASIS = np.array([pin.PseudoInertia.FromDynamicParameters(pi).toMatrix() for pi in np.eye(10)])


def bodies_parameters(theta: Array) -> tuple[Array, Array]:
    """Return pi (10,) of log-Cholesky parameters (10,), and its Jacobian (10, 10)."""
    parameters = pin.LogCholeskyParameters(theta)
    return parameters.toDynamicParameters(), parameters.calculateJacobian()


def log_cholesky(pi: Array) -> Array:
    """Return the log-Cholesky parameters (10,) of a body, or of the nearest thick enough one.

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
    second = (vectors * np.maximum(values, least**2)) @ vectors.T
    upper = np.linalg.cholesky(second[::-1, ::-1])[::-1, ::-1]
    diagonal = np.log(np.diagonal(upper))
    shears = upper[0, 1], upper[1, 2], upper[0, 2]
    return np.array([0.5 * np.log(mass), *diagonal, *shears, *center])


def pseudo_inertia(pi: Array) -> Array:
    """Return P (..., 4, 4) of pi (..., 10)."""
    return np.tensordot(pi, _BASIS, axes=1)


def deviation(pi: Array) -> Array:
    """Return D (10, 10): |D (pi' - pi)| is how far bodies pi' are from a body, relative to it.

    It is the norm of C^-1 (P' - P) C^-T with P = C C^T, the same in every frame.
    """
    inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(pi)))
    changed = inverse @ _BASIS @ inverse.T
    rows, columns = np.triu_indices(4)
    weight = np.where(rows == columns, 1.0, np.sqrt(2.0))
    return (changed[:, rows, columns] * weight).T
