"""Rotors and friction are the model's: every law that uses it tracks as if they were not there."""

import numpy as np
import pytest

from arm_controllers.laws import law_class
from arm_controllers.reference import Reference
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, PlantParameters, plant_class
from arm_sim.tasks.sinusoid import JointSinusoid

HOME = np.array([0.1, -1.2, 1.1, -0.6, 0.9, 0.2])
SWING = JointSinusoid((0.3, 0.2, 0.4, 0.3, 0.3, 0.3), 0.5, HOME)
ACTUATOR = {'position': 'servo', 'effort': 'torque', 'voltage': 'voltage'}
SLOW = {'kp': (400.0,), 'kd': (40.0,)}
LAWS = [
    ('adaptive_computed_torque', {}),
    ('computed_torque', {}),
    ('computed_torque_pid', {}),
    ('joint_impedance', {}),
    ('momentum_observer', {}),
    ('motor_computed_torque', {}),
    ('operational_space', {}),
    ('pd_feedforward', {'feedforward_at': 'reference', **SLOW}),
    ('pd_feedforward', {'feedforward_at': 'measured', **SLOW}),
    ('servo', {'feedforward': 'inverse_dynamics'}),
    ('servo', {'feedforward': 'discrete', 'timestep': 1e-3}),
]
CASES = [
    (engine, name, parameters)
    for engine in RIGID_BODY_ENGINES
    for name, parameters in LAWS
    if (engine, name) != ('mujoco', 'motor_computed_torque')  # it has no DC motors
]


def arm(damping=0.0, friction=0.0, armature=0.1):
    """Return a UR5e whose URDF itself has the friction."""
    urdf = find_urdf('ur5e').read_text()
    dynamics = f'<dynamics damping="{damping}" friction="{friction}"/><limit'
    return RobotModel.from_urdf(urdf.replace('<limit', dynamics), armature=armature)


def follow(
    engine, name, parameters, arm, believed, reference=SWING.evaluate, period=1e-3, **integration
):
    cls = law_class(name)
    given = PlantParameters(ACTUATOR[cls.command_interface], timestep=period, **integration)
    law = cls(believed, cls.Parameters(**parameters))
    record = run_closed_loop(plant_class(engine)(arm, given), law, reference, 1.0)
    assert record.completed
    return record


def rms(record):
    return np.sqrt(np.mean((record.q - record.q_reference) ** 2))


@pytest.mark.parametrize(('engine', 'name', 'parameters'), CASES)
@pytest.mark.slow
def test_damped_arm_with_rotors_is_tracked_as_exactly_as_one_without(engine, name, parameters):
    plain, damped = arm(), arm(damping=5.0, armature=0.3)
    ignored = rms(follow(engine, name, parameters, damped, plain))
    # A position that is held is half a period late: a fifth of what ignored damping costs.
    assert ignored > 4.0 * rms(follow(engine, name, parameters, damped, damped))
    # Within one step the damping is what it is at the start of the step, as the law knows it. A
    # torque that is held costs the damped arm a little more.
    step = {'integrator': 'implicitfast'}
    without = rms(follow(engine, name, parameters, plain, plain, **step))
    assert rms(follow(engine, name, parameters, damped, damped, **step)) < 2.0 * without + 1e-9


@pytest.mark.parametrize(('engine', 'name', 'parameters'), CASES)
@pytest.mark.slow
def test_dry_friction_that_the_law_knows_costs_little_of_what_it_costs_unknown(
    engine, name, parameters
):
    plain, dry = arm(), arm(friction=2.0)
    message = rms(follow(engine, name, parameters, dry, dry))
    assert message < 0.5 * rms(follow(engine, name, parameters, dry, plain))


@pytest.mark.quick(3)
@pytest.mark.parametrize('period', [1e-3, 2e-3])
@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
@pytest.mark.parametrize('name', ['computed_torque', 'momentum_observer', 'joint_impedance'])
def test_law_that_knows_dry_friction_is_quiet_at_rest(engine, name, period):
    def hold(t: float, reference: Reference) -> None:
        reference.row[:] = 0.0
        reference.q[:] = HOME

    dry = arm(friction=2.0)
    effort = follow(engine, name, {}, dry, dry, hold, period).effort[200:]
    assert np.ptp(effort, axis=0).max() < 1e-6
