"""Laws whose reference goes through a joint's stop, and comes back."""

import numpy as np
import pytest

from arm_lab.experiments.experiment import Experiment

START = np.array([0.0, 0.3, 0.0, -0.57, 0.0, 1.6, 0.8, 0.02])  # the elbow 0.5 rad from its stop


@pytest.mark.parametrize('law', ['adaptive_computed_torque', 'momentum_observer', 'servo'])
def test_the_arm_rests_at_its_stop_and_returns_from_it(law):
    loaded = Experiment.of_files('panda', 'step', law).load()
    loaded.robot.start[:], loaded.task.duration = START, 6.0

    def through(t, reference):
        phase = np.clip(t - 0.5 if t < 2.5 else 3.5 - t, 0.0, 1.0)
        reference.q[:], reference.v[:], reference.a[:] = START, 0.0, 0.0
        reference.q[3] += 0.8 * (3.0 * phase**2 - 2.0 * phase**3)

    record = loaded.task.run(loaded.law(), *loaded.plants(), reference=through)
    at_stop = (record.t > 2.0) & (record.t < 2.5)
    assert record.q[at_stop, 3].min() > loaded.robot.model.position_upper[3]
    assert np.abs(record.v[at_stop]).max() < 0.1
    np.testing.assert_allclose(record.q[-1], START, atol=1e-3)
