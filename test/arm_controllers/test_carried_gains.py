"""Gains too high for a control period: what is said of them is what the simulated arm does."""

import re

import numpy as np
import pytest

from arm_controllers.adapted_law import adapted_law
from arm_controllers.carried_gains import why_not_carried
from arm_controllers.laws import law_class
from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.measurement import Measurement
from arm_controllers.parameter_values import read_fields
from arm_controllers.reference import Reference
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters

PERIOD = 2e-3
CASES = [
    ('ur5e', 'pd', 1e9, 40.0, 0.0),
    ('ur5e', 'pd', 400.0, 1e4, 0.0),
    ('ur5e', 'computed_torque', 1e9, 40.0, 0.0),
    ('ur5e', 'computed_torque', 400.0, 1e4, 0.0),
    ('ur5e', 'computed_torque_pid', 1e9, 40.0, 0.0),
    ('planar_3r', 'pd', 1e9, 10.0, 0.0),
    ('planar_3r', 'computed_torque', 0.0, 1500.0, 0.0),
    ('ur5e', 'pd', 1e6, 0.0, 20.0),
]


def law_of(robot, name, kp, kd, damping=0.0, **adapters):
    kind = law_class(name)
    parameters = kind.Parameters(kp=(kp,), kd=(kd,))
    model = with_error(Robot.load(robot).model, ModelError(damping=(damping,)))
    return adapted_law(kind, model, parameters, **adapters)


def growth(law, periods=2000):
    """Return the factor by which a small error grows or dies in a fine simulation by MuJoCo."""
    model, fine = law.model, {'timestep': PERIOD / 8, 'control_decimation': 8}
    plant = MujocoPlant(model, PlantParameters(actuator='torque', **fine))
    reference, start = Reference(model.nv), 1e-6
    reference.q[:] = model.neutral()
    plant.reset(model.neutral(), np.full(model.nv, start))
    state = law.start(Measurement(plant.q.copy(), plant.v.copy()), reference)
    for _ in range(periods):
        measured = Measurement(plant.q.copy(), plant.v.copy())
        command, state = law(state, measured, reference, PERIOD)
        plant.step(command)
        if np.abs(plant.v).max() > 1e3 * start:
            break
    return np.abs(plant.v).max() / start


@pytest.mark.slow
@pytest.mark.parametrize(('robot', 'name', 'kp', 'kd', 'damping'), CASES)
def test_the_arm_carries_what_is_said_and_shakes_with_more(robot, name, kp, kd, damping):
    text = why_not_carried(law_of(robot, name, kp, kd, damping), PERIOD)
    assert text.startswith("kp and kd shake joint '")
    share, which = re.search(r'carries (\S+) of this (stiffness|damping)$', text).groups()
    for part in (0.9, 1.1):
        x = part * float(share)
        scaled = (kp * x, kd) if which == 'stiffness' else (0.0, kd * x)
        law = law_of(robot, name, *scaled, damping)
        assert (growth(law) < 10.0) == (part < 1.0) == (why_not_carried(law, PERIOD) == '')


@pytest.mark.slow
def test_without_damping_no_stiffness_is_carried_and_friction_of_the_law_is_no_damping():
    law = law_of('ur5e', 'pd', 1e9, 0.0, friction_velocity='reference')
    assert why_not_carried(law, PERIOD).endswith('; without damping it carries no stiffness')
    assert growth(law) > 1e3


@pytest.mark.slow
@pytest.mark.parametrize('robot', ['ur5e', 'planar_3r', 'panda', 'z1'])
def test_the_gains_that_are_shipped_are_carried(robot):
    loaded, laws = Robot.load(robot), ['pd', 'pd_feedforward', 'computed_torque', 'servo']
    laws += ['momentum_observer'] + ['mpc'] * (robot in ('ur5e', 'planar_3r'))  # it compiles each
    for name in laws:
        kind, values = law_class(name), loaded.controller_parameters(name)
        law = adapted_law(kind, loaded.model, read_fields(kind.Parameters, values))
        assert why_not_carried(law, PERIOD) == '', name


@pytest.mark.slow
def test_weight_that_the_law_balances_is_no_gain():
    said = []
    for gravity in (0.0, -1000.0):
        model = RobotModel.from_urdf(find_urdf('ur5e'), armature=0.1, gravity=(0.0, 0.0, gravity))
        law = ComputedTorque(model, ComputedTorqueParameters(kp=(100.0,), kd=(1100.0,)))
        said.append(why_not_carried(law, PERIOD))
    assert said[0] == said[1] != ''
