"""Servos identified from positions of an arm that SciPy moves over Pinocchio."""

import numpy as np
import pytest
from foreign_recordings import drawn, model_of, recording

from arm_lab.identification.positions import PositionParameters, identify_positions


@pytest.mark.slow
@pytest.mark.parametrize('seed', [3, 4])
def test_delay_and_rotors_of_a_foreign_arm_are_found_without_half_a_step(seed):
    rng, model = np.random.default_rng(seed), model_of()
    servos = drawn(model, rng, 0.007)
    known = PositionParameters(mass_spread=1e-3)
    found = identify_positions(model, recording(model, servos, rng), known)
    np.testing.assert_allclose(found.delay, 0.007, atol=1e-4)
    kp, kd, _, rotors = found.of_joints() / servos.of_joints
    np.testing.assert_allclose([kp, kd], 1.0, atol=0.01)
    np.testing.assert_allclose(rotors, 1.0, atol=0.05)
