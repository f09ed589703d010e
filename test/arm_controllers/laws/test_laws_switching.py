"""A law takes the arm over from another one in motion: every step of the arm is looked at."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from following import DT, HOME, goal, make
from running_law import RunningLaw

from arm_controllers.adapted_law import adapted_law
from arm_controllers.laws import Measurement, Reference, law_class
from arm_controllers.laws.servo import Servo, ServoParameters
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


@pytest.mark.parametrize(
    ('name', 'given'),
    [
        ('adaptive_computed_torque', {}), ('admittance', {}), ('admittance_effort', {}),
        ('cartesian_impedance', {}), ('computed_torque_pid', {}), ('hand_guiding', {}),
        ('independent_joint', {}), ('momentum_observer', {}), ('mpc', {}),
        ('parallel_force_position', {}), ('servo', {'feedforward': 'observed'}),
        ('servo', {'feedforward': 'observed', 'delay': 2}),
    ],
)  # fmt: skip
@pytest.mark.parametrize('friction', ['measured', 'reference'])
def test_a_law_whose_parameters_are_set_goes_on(name, given, friction):
    cls, rng = law_class(name), np.random.default_rng(5)
    if friction == 'reference' and cls.command_interface != 'effort':
        pytest.skip('compensates no friction')
    parameters = cls.Parameters(**given)
    law, other = (adapted_law(cls, MODEL, parameters, friction) for _ in range(2))
    reference = Reference(6)
    reference.q[:], reference.wrench = HOME, np.array([0.0, 0.0, -10.0, 0.0, 0.0, 0.0])
    reference.future = lambda periods: reference
    state = None
    for _ in range(20):
        q, v = HOME + rng.uniform(-0.01, 0.01, 6), rng.uniform(-0.1, 0.1, 6)
        measured = Measurement(q, v, None, rng.uniform(-20.0, 20.0, 6))
        state = law.start(measured, reference) if state is None else state
        before = state
        command, state = law(before, measured, reference, STEP)
    again, _ = other(other.resumed(before), measured, reference, STEP)
    np.testing.assert_array_equal(again, command)
    begun, _ = other(other.start(measured, reference), measured, reference, STEP)
    assert np.abs(begun - command).max() > 1e-4


def test_the_observed_servo_begins_again_with_another_delay():
    own = ServoParameters(feedforward='observed')
    law, later = (Servo(MODEL, replace(own, delay=delay)) for delay in (0, 1))
    reference = Reference(6)
    reference.q[:], reference.future = HOME, lambda periods: reference
    measured = Measurement(HOME, np.zeros(6))
    _, state = law(law.start(measured, reference), measured, reference, STEP)
    assert law.resumed(state) is not None
    assert later.resumed(state) is None
    assert Servo(MODEL, ServoParameters()).resumed(state) is None


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
