"""Force laws whose goal falls so far that the tool may leave the surface."""

from dataclasses import replace

import numpy as np
import pytest

from arm_lab.experiments.experiment import Experiment


@pytest.mark.parametrize(
    ('law', 'stiffness', 'given', 'largest'),
    [
        ('admittance', 4e4, {}, 90.0),
        ('cartesian_impedance', 4e4, {'force_ki': 20.0}, 90.0),
        ('cartesian_impedance', 4e4, {'force_ki': 20.0}, 600.0),  # more than the arm has
        ('hybrid_force_motion', 4e4, {}, 90.0),
        ('hybrid_force_motion', 4e4, {}, 600.0),
        ('mpc', 1e4, {}, 90.0),
        ('parallel_force_position', 4e4, {}, 90.0),
        ('parallel_force_position', 4e4, {}, 600.0),
    ],
)
def test_the_tool_presses_with_a_force_goal_that_has_fallen(law, stiffness, given, largest):
    experiment = Experiment.of_files('ur5e gripper:=probe', 'press', law).load()
    loaded = replace(experiment, given={'surface_stiffness': stiffness, 'distance': 0.012})
    loaded.task.duration = 6.0
    own = loaded.law(parameters=replace(loaded.law_parameters, **given))

    def falling(t, reference):
        loaded.task.reference(t, reference)
        force = largest if 1.0 < t < 3.0 else 10.0
        reference.wrench = np.array([0.0, 0.0, -force, 0.0, 0.0, 0.0])

    record = loaded.task.run(own, *loaded.plants(), reference=falling)
    force = 1e-3 * stiffness * record.contacts[:, 0]  # [N]
    assert force[record.t < 3.0].max() > 80.0
    np.testing.assert_allclose(force[record.t > 5.8], 10.0, atol=0.1)
