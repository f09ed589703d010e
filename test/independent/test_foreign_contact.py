"""Force, sensors and a law's rest on an arm and a wall that SciPy moves over Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest
from foreign_contact import PressingArm, experiment, forces

from arm_sim.simulation.plant import RIGID_BODY_ENGINES, plant_class

PERIODS = 40


@pytest.mark.parametrize('delay', [0, 2])
@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
def test_sensors_of_the_default_plant_report_the_instant_as_a_foreign_arm_does(engine, delay):
    loaded = experiment('computed_torque')
    model, kind = loaded.robot.model, plant_class(engine)
    plant = kind(
        model,
        kind.Parameters(
            timestep=0.002, actuator='torque', command_delay=delay, joint_torque=True,
            force_torque_frame='probe', tare_at_reset=True,
        ),
    )  # fmt: skip
    arm = PressingArm(loaded)
    plant.reset(arm.q)
    commands = [
        model.gravity_torque(arm.q) + 20.0 * np.sin(0.2 * k + np.arange(6)) for k in range(PERIODS)
    ]
    for k, command in enumerate(commands):
        held = commands[max(0, k - delay)]
        plant.step(command)
        arm.move(held, 0.002)
    np.testing.assert_allclose(plant.q, arm.q, atol=1e-10)
    np.testing.assert_allclose(plant.v, arm.v, atol=1e-8)
    a = arm.acceleration(held, arm.q, arm.v)
    np.testing.assert_allclose(plant.measured.wrench, arm.wrench(held), atol=1e-5)
    np.testing.assert_allclose(plant.measured.effort, held - model.armature * a, atol=1e-4)
    assert np.abs(plant.measured.wrench[:3]).max() > 1.0


@pytest.mark.parametrize('stiffness', [4e4, 1e6])
def test_an_impact_under_held_torques_is_that_on_a_foreign_wall(stiffness):
    def impact(integrator):
        """Return forces (2, PERIODS), and how far the arms are apart [rad]."""
        case = replace(loaded.experiment, integrator=integrator)
        plant, arm = replace(loaded, experiment=case).plants()[0], PressingArm(loaded)
        plant.reset(arm.q)
        down = loaded.robot.model.jacobian(arm.q)[2]
        command = loaded.robot.model.gravity_torque(arm.q) - 10.0 * down
        both, apart = [], 0.0
        for _ in range(PERIODS):
            plant.step(command)
            arm.move(command, 0.002)
            arm.acceleration(command, arm.q, arm.v)
            both.append((np.nan_to_num(plant.contacts.facts()[1]), arm.force[2]))
            apart = max(apart, np.abs(plant.q - arm.q).max())
        return np.transpose(both), apart

    given = {'surface_stiffness': stiffness, 'surface_friction': 0.0, 'distance': 0.0101}
    loaded = experiment('computed_torque', **given)
    (ours, theirs), apart = impact('')
    assert theirs.max() > 20.0
    np.testing.assert_allclose(ours.sum(), theirs.sum(), rtol=5e-3)
    assert apart < 1.5e-5 < impact('implicitfast')[1]


@pytest.mark.slow
def test_mpc_rests_on_a_stiff_foreign_wall():
    loaded = experiment('mpc', surface_stiffness=1e6, distance=0.0101)
    np.testing.assert_allclose(forces(loaded, 2.5)[-100:], 10.0, atol=1e-3)
