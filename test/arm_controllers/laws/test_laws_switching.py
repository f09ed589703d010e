"""A law takes the arm over from another one in motion: every step of the arm is looked at."""

import itertools
from functools import cache

import numpy as np
import pytest
from following import DT, HOME, goal, make
from running_law import RunningLaw

from arm_controllers.laws import law_class
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.simulation import Simulation

STEP = DT * 1e-9
MODEL = RobotModel.from_urdf(find_urdf('ur5e'), armature=0.1)
PLANT = MujocoPlant(MODEL, PlantParameters('torque'))
TORQUE_LAWS = ('computed_torque', 'pd', 'independent_joint', 'momentum_observer')
# The follower's braking [rad/s^2]: a law that takes over may change the speed at this rate.
ACCELERATION = 5.0


def build(name):
    cls = law_class(name)
    return RunningLaw(cls(MODEL, cls.Parameters()))


def control(simulation, law, arm, seconds):
    """Run a law and its follower; return the states (k, 12) it leads through."""
    rows = []
    for _ in range(round(seconds / STEP)):
        q, v = simulation.plant.q.copy(), simulation.plant.v.copy()
        reference = arm.update(simulation.time_ns, q, v)
        simulation.advance(law(q, v, reference, STEP))
        rows.append(np.concatenate([simulation.plant.q, simulation.plant.v]))
    return np.array(rows)


@cache
def in_motion(law):
    """Return the state (12,) of an arm on its way under a law."""
    arm = make()
    arm.set_goal(goal([2.0], [HOME + np.array([1.0, 0.3, -0.4, 0.2, 0.2, 0.5])]), 0)
    return control(Simulation(PLANT, MODEL, HOME), build(law), arm, 0.7)[-1]


@pytest.mark.parametrize('braked_steps', [0, 1, 20])
@pytest.mark.parametrize(('old', 'new'), itertools.permutations(TORQUE_LAWS, 2))
def test_no_step_after_a_switch_is_longer_than_the_speed_at_the_switch_allows(
    old, new, braked_steps
):
    q, v = np.split(in_motion(old), 2)
    simulation = Simulation(PLANT, MODEL, HOME)
    PLANT.reset(q, v)
    simulation.brake()
    rows = [in_motion(old)]
    for _ in range(braked_steps):
        simulation.advance(None)
        rows.append(np.concatenate([PLANT.q, PLANT.v]))
    law, arm = build(new), make(q=PLANT.q.copy(), v=PLANT.v.copy(), at=simulation.time_ns)
    rows = np.vstack([rows, control(simulation, law, arm, 0.4)])
    steps = np.abs(np.diff(rows[:, :6], axis=0))
    assert np.abs(v).max() > 0.3
    assert (steps <= np.abs(v) * STEP + ACCELERATION * STEP**2).all()
