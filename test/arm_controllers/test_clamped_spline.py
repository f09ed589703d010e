"""The clamped spline against SciPy's."""

import numpy as np
from scipy.interpolate import CubicSpline

from arm_controllers.clamped_spline import knot_velocities


def test_knot_velocities_are_those_of_scipys_clamped_spline():
    rng = np.random.default_rng(0)
    for m in (2, 3, 10, 60):
        h = rng.uniform(0.02, 0.3, m - 1)
        q, v = rng.standard_normal((m, 6)), rng.standard_normal(6)
        times = np.concatenate([[0.0], np.cumsum(h)])
        spline = CubicSpline(times, q, bc_type=((1, v), (1, np.zeros(6))))
        np.testing.assert_allclose(knot_velocities(h, q, v), spline(times, 1), atol=1e-9)
