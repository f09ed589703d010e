"""Drives between command and joint: what they add, hold back and read, against closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from arm_controllers.adapted_law import adapted_law
from arm_controllers.drive_convention import OverDrives
from arm_controllers.laws.pd import PD
from arm_controllers.laws.servo import Servo, ServoParameters
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.experiments.compared_laws import compared_class, compared_laws
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.runs import record_of
from arm_lab.experiments.sweeps import case_at, run_sweep
from arm_lab.published.motion_model_plant import MotionModelPlant
from arm_sim.devices.drives import DriveParameters, Drives
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, PlantParameters, plant_class
from arm_sim.simulation.simulation import Simulation
from arm_sim.tasks import make_task

ROBOT = Robot.load('mr_three_link')
MODEL, START = ROBOT.model, ROBOT.start
WITH_FRICTION = RobotModel(MODEL.urdf, armature=0.1, damping=0.5, friction=0.4)
COMPENSATED = DriveParameters(effort_convention='gravity_compensated')
TORQUE_LAWS = [law for law in compared_laws() if compared_class(law).command_interface == 'effort']


def case(**others):
    return replace(Experiment('mr_three_link', 'step', 'pd_gravity'), **others)


@pytest.mark.quick(1)
@pytest.mark.parametrize('law', TORQUE_LAWS)
def test_drives_that_know_the_arm_give_every_torque_law_its_full_torque_run(law):
    # The arm of most tests: mpc and the adaptive law compile code for each arm.
    full = record_of(case(robot='ur5e', law=law))
    compensated = record_of(case(robot='ur5e', law=law, drives=COMPENSATED))
    np.testing.assert_allclose(compensated.q, full.q, atol=1e-9)
    np.testing.assert_allclose(compensated.effort, full.effort, atol=1e-6)


@pytest.mark.quick(1)
@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
def test_servos_that_compensate_gravity_rest_at_their_command(engine):
    pose = START + 0.4
    weight = MODEL.gravity_torque(pose)
    assert np.abs(weight).max() > 1.0
    for scale, share in ((0.0, -1.0), (1.0, 0.0), (1.05, 0.05)):
        of_plant = PlantParameters(servo_compensation=scale > 0.0, timestep=1e-3)
        if scale:
            of_plant = replace(of_plant, compensation_scale=scale)
        plant = plant_class(engine)(MODEL, of_plant)
        plant.reset(pose)
        for _ in range(5000):
            plant.step(pose)
        kp, _ = of_plant.servo_gains(MODEL)
        np.testing.assert_allclose(
            plant.q - pose, share * MODEL.gravity_torque(plant.q) / kp, atol=1e-9
        )


def test_velocity_servos_that_compensate_gravity_do_not_sink():
    plant = plant_class('mujoco')(
        MODEL, PlantParameters(actuator='velocity', servo_compensation=True, timestep=1e-3)
    )
    plant.reset(START + 0.4)
    for _ in range(1000):
        plant.step(np.zeros(3))
    np.testing.assert_allclose(plant.q, START + 0.4, atol=1e-12)


def test_compensation_is_for_servos():
    with pytest.raises(ArmError, match='^servo_compensation is True; .* position or velocity'):
        plant_class('mujoco')(MODEL, PlantParameters(actuator='torque', servo_compensation=True))


@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
def test_so_do_drives_that_compensate_friction_as_well(engine):
    parameters = PlantParameters(actuator='torque', timestep=1e-3)
    both = DriveParameters(effort_convention='gravity_compensated', friction_compensation=True)
    task, runs = make_task('step', ROBOT), []
    for drives in (DriveParameters(), both):
        plant = plant_class(engine)(WITH_FRICTION, replace(parameters, **vars(drives)))
        law = compared_class('computed_torque')
        law = law(WITH_FRICTION, law.designed(WITH_FRICTION, START, 20.0, 1.0))
        runs.append(
            run_closed_loop(
                plant, OverDrives(law, drives) if drives.compensates else law, task.reference, 0.5
            )
        )
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-9)


@pytest.mark.slow
def test_an_arm_droops_by_what_its_drives_do_not_know_of_gravity():
    law = PD.designed(MODEL, START, 20.0, 1.0)
    for scale in (0.95, 1.2):
        drives = replace(COMPENSATED, compensation_scale=scale)
        parameters = PlantParameters(actuator='torque', timestep=1e-3, **vars(drives))
        plant = plant_class('mujoco')(MODEL, parameters)

        def hold(t, reference):
            reference.row[:] = 0.0
            reference.q[:] = START

        record = run_closed_loop(plant, OverDrives(PD(MODEL, law), drives), hold, 4.0)
        lacking = (scale - 1.0) * MODEL.gravity_torque(record.q[-1])
        assert np.abs(lacking).max() > 0.1
        np.testing.assert_allclose(law.kp * (record.q[-1] - START), lacking, atol=1e-6)


def test_drives_do_not_know_a_payload():
    own = LoadedExperiment(case(task='payload_drop', drives=COMPENSATED), ROBOT)
    plant, later = own.plants()
    q = START + 0.1
    for each in (plant, later):
        each.reset(q)
        each.step(np.zeros(3))
        np.testing.assert_allclose(each.effort, MODEL.gravity_torque(q), rtol=1e-9)
    loaded = with_error(MODEL, ModelError(payload=own.task.payload)).gravity_torque(q)
    assert np.abs(loaded - MODEL.gravity_torque(q)).max() > 0.1


@pytest.mark.parametrize('delay', [1, 3])
def test_a_delay_holds_the_first_command_and_shifts_the_others(delay):
    late = record_of(case(task='step', drives=DriveParameters(command_delay=delay)))
    prompt = record_of(case(task='step'))
    jump = round(0.1 / 1e-3)
    before = late.effort[: jump + delay]
    np.testing.assert_allclose(before, np.broadcast_to(prompt.effort[0], before.shape), atol=1e-9)
    np.testing.assert_allclose(late.effort[jump + delay], prompt.effort[jump], atol=1e-9)


def effect(drives, command):
    state = START[np.newaxis]
    return drives.effect(command[np.newaxis], state, 0.0 * state)[0].copy()


def sent_through(message, periods=200, forget_at=None):
    drives, got = Drives(MODEL, [message], 1e-3), []
    for k in range(periods):
        if k == forget_at:
            drives.release()
        got.append(effect(drives, np.full(3, float(k)))[0])
    return np.array(got)


def test_jitter_stays_within_its_bounds_never_overtakes_and_repeats():
    parameters = DriveParameters(command_delay=2, command_jitter=3, jitter_seed=5)
    got = sent_through(parameters)
    age = np.arange(200) - got
    assert set(age[10:]) == {2, 3, 4, 5}
    assert (np.diff(got) >= 0).all()
    assert np.array_equal(sent_through(parameters), got)
    assert not np.array_equal(sent_through(replace(parameters, jitter_seed=6)), got)


def test_the_first_command_acts_until_the_delay_has_passed_and_again_after_a_brake():
    got = sent_through(DriveParameters(command_delay=2), 8, forget_at=4)
    assert got.tolist() == [0, 0, 0, 1, 4, 4, 4, 5]


def test_a_command_changes_no_faster_than_the_drives_can():
    parameters = DriveParameters(effort_rate_limit=(1000.0, 1000.0, 500.0))
    drives = Drives(MODEL, [parameters], 1e-3)
    wanted = [np.array([0.0, 0.0, 0.0]), np.array([2.5, -2.5, 0.2]), np.array([2.5, -2.5, 0.2])]
    got = [effect(drives, each) for each in wanted]
    assert np.array_equal(got, [[0, 0, 0], [1, -1, 0.2], [2, -2, 0.2]])


def test_encoders_round_positions_and_report_their_differences_as_velocity():
    parameters = PlantParameters(actuator='torque', timestep=1e-3, encoder_resolution=(1e-3,))
    plant = plant_class('mujoco')(MODEL, parameters)
    exact = plant_class('mujoco')(MODEL, replace(parameters, encoder_resolution=()))
    for each in (plant, exact):
        each.reset(START, np.full(3, 0.7))
    assert np.array_equal(plant.measured.v, plant.v)
    before = plant.measured.q
    for _ in range(50):
        for each in (plant, exact):
            each.step(np.zeros(3))
        steps = plant.measured.q / 1e-3
        np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)
        assert (np.abs(plant.measured.q - plant.q) <= 0.5e-3 + 1e-12).all()
        assert np.array_equal(plant.measured.v, (plant.measured.q - before) / 1e-3)
        before = plant.measured.q
    assert np.array_equal(plant.q, exact.q)  # who reads does not move the arm
    assert np.shares_memory(exact.measured.q, exact.q)


def test_a_brake_is_the_drives_own():
    states = []
    slow = replace(COMPENSATED, command_delay=20, effort_rate_limit=(1.0,))
    for drives in (DriveParameters(), slow):
        parameters = PlantParameters(actuator='torque', timestep=1e-3, **vars(drives))
        simulation = Simulation(
            plant_class('mujoco')(MODEL, parameters), MODEL, START, np.full(3, 0.3)
        )
        for _ in range(300):
            simulation.advance(None)
        states.append(simulation.plant.q.copy())
    assert np.array_equal(*states)


def test_a_payload_that_falls_off_leaves_commands_under_way():
    parameters = PlantParameters(actuator='torque', timestep=1e-3, command_delay=2)
    first, second = (plant_class('mujoco')(MODEL, parameters) for _ in range(2))
    for k in range(3):
        first.step(np.full(3, float(k)))
    second.continue_from(first)
    second.step(np.full(3, 3.0))
    np.testing.assert_allclose(second.effort, 1.0)


@pytest.mark.slow
def test_sweeps_of_drives_order_what_they_cost():
    laws = ('pd_gravity', 'computed_torque')
    slow = case(task='sinusoid', frequency=0.2)
    sweep = run_sweep('compensation_scale', slow, laws, (0.9, 0.95, 1.0))
    assert (np.diff(sweep.errors) < 0.0).all()
    with pytest.raises(ArmError, match=r'command_delay is 1.5; it must be a whole number'):
        case_at('command_delay', 1.5, case())


def test_what_has_no_effect_is_refused():
    with pytest.raises(
        ArmError, match='is set; that is for laws that command effort, not position'
    ):
        adapted_law(Servo, MODEL, ServoParameters(), drives=COMPENSATED)
    plain = adapted_law(Servo, MODEL, ServoParameters(), drives=DriveParameters())
    assert isinstance(plain, Servo)
    compensated = adapted_law(PD, MODEL, PD.Parameters(), drives=COMPENSATED)
    assert isinstance(compensated, OverDrives)
    make = plant_class('mujoco')
    for parameters, said in (
        ({'effort_convention': 'gravity_compensated'}, "effort_convention is 'gravity_comp"),
        ({'effort_rate_limit': (1.0,)}, 'effort_rate_limit is'),
        ({'compensation_scale': 0.9}, 'compensation_scale is 0.9; the drives compensate nothing'),
        ({'command_delay': -1}, 'command_delay is -1'),
        ({'encoder_resolution': (0.0,)}, 'encoder_resolution'),
        ({'encoder_resolution': (1e-5,) * 2}, 'encoder_resolution'),
        ({'effort_convention': 'none'}, 'effort_convention'),
    ):
        with pytest.raises(ArmError, match=said):
            make(MODEL, PlantParameters(**parameters))
    with pytest.raises(ArmError, match='a motion model has no drives'):
        MotionModelPlant(MODEL, MotionModelPlant.Parameters(command_delay=1))
    with pytest.raises(ArmError, match='the drives of a batch have no model of the arm'):
        BatchPlant([MODEL], PlantParameters(actuator='torque', **vars(COMPENSATED)))
    with pytest.raises(ArmError, match='effort_rate_limit is .* takes? position'):
        BatchPlant([MODEL], PlantParameters(effort_rate_limit=(1.0,)))
