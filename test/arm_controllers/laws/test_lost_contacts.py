"""Force laws whose goal falls so far that the tool may leave the surface."""

from dataclasses import replace

import numpy as np
import pytest

from arm_lab.experiments.experiment import Experiment


@pytest.mark.parametrize(
    ('law', 'stiffness', 'given'),
    [
        ('admittance', 4e4, {}),
        ('cartesian_impedance', 4e4, {'force_ki': 20.0}),
        ('hybrid_force_motion', 4e4, {}),
        ('mpc', 1e4, {}),
        ('parallel_force_position', 4e4, {}),
    ],
)
def test_the_tool_presses_with_a_force_goal_that_has_fallen(law, stiffness, given):
    experiment = Experiment.of_files('ur5e gripper:=probe', 'press', law).load()
    loaded = replace(experiment, given={'surface_stiffness': stiffness, 'distance': 0.012})
    loaded.task.duration = 5.0
    own = loaded.law(parameters=replace(loaded.law_parameters, **given))

    def falling(t, reference):
        loaded.task.reference(t, reference)
        reference.wrench = np.array([0.0, 0.0, -90.0 if 1.0 < t < 2.0 else -10.0, 0.0, 0.0, 0.0])

    record = loaded.task.run(own, *loaded.plants(), reference=falling)
    force = 1e-3 * stiffness * record.contacts[:, 0]  # [N]
    assert force[record.t < 2.0].max() > 80.0
    np.testing.assert_allclose(force[record.t > 4.8], 10.0, atol=0.1)
