"""Force laws whose goal falls so far that the tool may leave the surface."""

from dataclasses import replace

import numpy as np
import pytest

from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.measures import tips


@pytest.mark.slow
@pytest.mark.parametrize(
    ('law', 'stiffness', 'given', 'largest'),
    [
        ('admittance', 4e4, {}, 90.0),
        ('cartesian_impedance', 4e4, {'force_ki': 20.0}, 90.0),
        ('cartesian_impedance', 4e4, {'force_ki': 20.0}, 600.0),  # more than the arm has
        ('hybrid_force_motion', 4e4, {}, 90.0),
        ('hybrid_force_motion', 4e4, {}, 600.0),
        ('mpc', 1e4, {}, 90.0),
        ('mpc', 4e4, {}, 600.0),
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


@pytest.mark.slow
def test_mpc_rests_with_what_the_drives_hold_of_a_force_beyond():
    experiment = Experiment.of_files('ur5e gripper:=probe', 'press', 'mpc').load()
    task, limit = experiment.task, experiment.robot.model.effort_limit
    task.duration = 3.0

    def pressing(t, reference):
        task.reference(t, reference)
        reference.wrench = np.array([0.0, 0.0, -600.0, 0.0, 0.0, 0.0])

    record = task.run(experiment.law(), *experiment.plants(), reference=pressing)
    late = record.t > 2.0
    assert np.ptp(record.contacts[late, 0]) < 1e-4  # [mm], 0.004 N
    share = (np.abs(record.effort[late]) / limit).max()
    np.testing.assert_allclose(share, 0.9, atol=1e-3)


@pytest.mark.slow
def test_under_mpc_the_tool_falls_from_an_edge_as_slowly_as_it_came():
    experiment = Experiment.of_files('ur5e gripper:=probe', 'press', 'mpc').load()
    loaded = replace(experiment, given={'distance': 0.002, 'surface_friction': 0.1})
    task, model, start = loaded.task, loaded.robot.model, loaded.robot.start
    task.duration = 5.0
    tip = model.forward_kinematics(start).translation
    plates = [
        task.parameters.surface(name=name, size=(side, side, 0.04), position=(*tip[:2], z))
        for name, side, z in (('step', 0.06, tip[2] - 0.022), ('lower', 0.6, tip[2] - 0.042))
    ]
    task.touch(plates)
    aside = np.linalg.solve(model.jacobian(start), np.eye(6)[0])

    def sliding(t, reference):
        task.reference(t, reference)
        reference.q[:] = start + 0.08 * min(max(t - 1.5, 0.0), 1.0) * aside
        reference.v[:] = 0.08 * (1.5 < t < 2.5) * aside
        reference.wrench = np.array([0.0, 0.0, -100.0, 0.0, 0.0, 0.0])

    record = task.run(loaded.law(), *loaded.plants(), reference=sliding)
    force, z = 1e-3 * 4e4 * record.contacts[:, 0], tips(model, record.q).position[:, 2]
    after = record.t > 1.5
    assert force[after].min() == 0.0  # it falls
    assert np.diff(z[after]).min() > -0.025 * 0.002  # [m], at 0.025 m/s
    assert force[after].max() < 105.0
    np.testing.assert_allclose(force[-1], 100.0, atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize('law', ['hybrid_force_motion', 'mpc'])
def test_the_tool_returns_slowly_to_a_reference_far_above_the_surface(law):
    experiment = Experiment.of_files('ur5e gripper:=probe', 'press', law).load()
    loaded = replace(experiment, given={'distance': 0.05})
    loaded.task.duration = 7.0

    def ending(t, reference):
        loaded.task.reference(t, reference)
        reference.wrench = loaded.task.wrench if t < 4.0 else None

    record = loaded.task.run(loaded.law(), *loaded.plants(), reference=ending)
    z = tips(loaded.robot.model, record.q).position[:, 2]
    rise, after = np.diff(z) / np.diff(record.t), record.t[1:] > 4.1
    assert 0.015 < rise[after].max() < 0.025  # 0.02 m/s, with the overshoot of exp(-2) of mpc
    np.testing.assert_allclose(z[-1], z[0], atol=1e-4)
