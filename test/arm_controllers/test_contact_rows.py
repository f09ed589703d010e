"""Compiled parts of force laws, compared with NumPy's linear algebra."""

import numpy as np

from arm_controllers.contact_rows import least_axis, subtract_along


def test_the_least_axis_is_that_of_numpys_eigenvectors():
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(200, 3, 3)) * 10.0 ** rng.uniform(-6, 2, size=(200, 1, 1))
    roots[-3:] = [np.zeros((3, 3)), np.eye(3), np.diag([1.0, 0.0, 2.0])]
    matrices = roots @ roots.swapaxes(1, 2)
    axes = np.empty((len(matrices), 3))
    for matrix, axis in zip(matrices.copy(), axes, strict=True):
        least_axis(matrix, axis)
    np.testing.assert_allclose(np.linalg.norm(axes, axis=1), 1.0, rtol=1e-14)
    least = np.linalg.eigvalsh(matrices)[:, 0]
    size = np.linalg.norm(matrices, axis=(1, 2))
    off = np.einsum('kij,kj->ki', matrices, axes) - least[:, np.newaxis] * axes
    assert (np.abs(off).max(axis=1) <= 1e-14 * size).all()


def test_what_a_vector_has_along_a_direction_is_measured_along_the_normal():
    vector, normal, along = np.array([1.0, 2.0, 3.0]), np.eye(3)[2], np.array([0.0, 0.6, 0.8])
    subtract_along(vector, normal, along)
    np.testing.assert_allclose(vector, [1.0, 2.0 - 0.6 * 3.0 / 0.8, 0.0], atol=1e-15)
