"""The guard: what it notices, what it does then, what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from arm_controllers.adapted_law import adapted_law
from arm_controllers.drive_convention import DriveConvention
from arm_controllers.guard import GuardState
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.laws import law_class
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.ranges import Draw
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.events import Push, pushes_of_each
from arm_sim.loop.loop import Loop
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters

UR5E = Robot.load('ur5e')
MODEL, HOME = UR5E.model, UR5E.start
PD = law_class('computed_torque')
PUSH = Push('tool0', (0.0, 40.0, 0.0, 0.0, 0.0, 0.0), 0.5, 0.7)
DT = 0.002


def guarded(reaction='stop', threshold=(5.0,), **others):
    """Return a law with a guard for the UR5e, as an arm has it."""
    parameters = GuardParameters(reaction=reaction, threshold=threshold, **others)
    return adapted_law(PD, MODEL, PD.Parameters(), guard=parameters)


def moving(t, reference):
    """Turn the base and the elbow on circles of time, from rest."""
    shape = np.array([0.4, 0.0, 0.3, 0.0, 0.0, 0.0])
    reference.row[:] = 0.0
    reference.q[:] = HOME + shape * (1.0 - np.cos(t))
    reference.v[:], reference.a[:] = shape * np.sin(t), shape * np.cos(t)


def run(law, push=PUSH, duration=1.5, model=MODEL, **plant):
    """Return the states of the guard (k of them) and the positions (k, n) of a UR5e."""
    parameters = PlantParameters(actuator='torque', timestep=DT, **plant)
    arm = MujocoPlant(model, parameters)
    loop = Loop(arm, law, moving, push.events() if push else ())
    states, q = [], []

    def keep(step):
        states.append(GuardState(*loop.law_state))
        q.append(step.q)

    loop.run(duration, [keep])
    return states, np.array(q)


def detected(states):
    """Return the period of the detection; -1: there was none."""
    return next((k for k, state in enumerate(states) if state.since[0] >= 0.0), -1)


def test_the_residual_is_the_torque_of_a_push_behind_a_first_order_lag():
    gain, start, last = 50.0, 250, 300
    states, q = run(guarded(threshold=(1e6,), observer_gain=gain))
    torque = [MODEL.jacobian(each)[:3].T @ PUSH.wrench[:3] for each in q]
    expected = np.zeros(6)
    for k in range(start, last):  # dr/dt = L (d - r)
        expected += DT * gain * (torque[k] - expected)
    assert np.abs(expected).max() > 8.0
    np.testing.assert_allclose(states[last].residual, expected, atol=0.1)
    assert max(np.abs(each.residual).max() for each in states[:start]) < 0.01


def test_a_push_is_detected_when_the_lag_has_passed_the_threshold():
    law = guarded(threshold=(4.0,), observer_gain=50.0)
    states, q = run(law)
    k = detected(states)
    torque = np.abs(MODEL.jacobian(q[250])[:3].T @ PUSH.wrench[:3]).max()
    assert k * DT == pytest.approx(0.5 - np.log(1.0 - 4.0 / torque) / 50.0, abs=2.5 * DT)
    size = f'{-states[k].residual[2]:.4g}'
    words = f"the unexpected torque at joint 'elbow_joint' is {size}, guard.threshold is 4"
    assert law.collision(states[k]) == f'collision: {words}'


def test_without_a_push_nothing_is_detected_and_no_bit_changes():
    states, q = run(guarded(threshold=(0.1,)), push=None)
    assert detected(states) == -1
    plain = Loop(
        MujocoPlant(MODEL, PlantParameters(actuator='torque', timestep=DT)),
        PD(MODEL, PD.Parameters()), moving,
    )  # fmt: skip
    np.testing.assert_array_equal(q, [plain.step().q for _ in q])


@pytest.mark.slow
def test_a_step_is_noticed_that_is_smaller_than_the_error_of_the_model():
    heavier = with_error(MODEL, ModelError(payload=2.0))
    law = guarded(threshold=(0.0,), step_threshold=(4.0,))
    states, _ = run(law, model=heavier)
    k = detected(states)
    assert 250 < k < 275
    assert np.abs(states[k].mean).max() > 8.0
    assert law.collision(states[k]).startswith('collision: the change of the unexpected torque')
    assert detected(run(law, push=None, model=heavier)[0]) == -1


def test_stop_comes_to_rest_within_its_deceleration_and_holds():
    states, q = run(guarded(deceleration=(4.0,)), push=replace(PUSH, end=0.55))
    k = detected(states)
    state, end = states[k], states[-1]
    assert state.braking.max() >= np.abs(state.v).max() / 4.0
    np.testing.assert_allclose(q[-1], state.q + 0.5 * state.v * state.braking, atol=1e-3)
    assert np.abs(np.diff(q[-10:], axis=0)).max() < 1e-6
    assert end.since[0] == pytest.approx((len(states) - k) * DT)


@pytest.mark.slow
def test_retract_goes_back_along_the_path_by_a_distance():
    law = guarded('retract', (1.0,), retract_distance=0.04)
    states, q = run(law, replace(PUSH, start=1.0, end=1.01), 2.5)
    k = detected(states)
    rest = k + round(states[k].braking.max() / DT)
    tips = np.array([MODEL.forward_kinematics(each).translation for each in q])
    nearest = np.linalg.norm(tips[:rest] - tips[-1], axis=1).argmin()
    assert np.linalg.norm(tips[nearest] - tips[-1]) < 0.002  # where the tool has been
    way = np.linalg.norm(np.diff(tips[nearest : rest + 1], axis=0), axis=1).sum()
    assert way == pytest.approx(0.04, abs=0.005)
    speed = np.abs(np.diff(q, axis=0)).max(axis=1)
    assert speed[rest + 10 :].max() < 1.1 * speed[:rest].max()
    assert speed[-1] < 1e-6


def test_float_gives_way_and_comes_to_rest_where_it_is():
    states, q = run(guarded('float'), duration=3.0)
    k = detected(states)
    assert np.abs(q[-1] - states[k].q).max() > 0.2
    assert np.abs(np.diff(q[-2:], axis=0)).max() / DT < 1e-3


@pytest.mark.slow
def test_the_wrist_is_watched_and_the_tool_may_touch():
    felt = {'force_torque_frame': 'wrist_3_link', 'tare_at_reset': True}
    law = guarded(threshold=(0.0,), force=30.0)
    states, _ = run(law, **felt)
    assert detected(states) == 251
    assert law.guard.collision(states[251]).endswith(' N, guard.force is 30 N')
    states, _ = run(guarded(threshold=(2.0,), tool_contact=True), **felt)
    assert detected(states) == -1
    elbow = replace(PUSH, frame='forearm_link')
    assert detected(run(guarded(threshold=(2.0,), tool_contact=True), elbow, **felt)[0]) > 250


@pytest.mark.slow
@pytest.mark.parametrize('reaction', ['stop', 'retract', 'float'])
def test_one_arm_of_a_batch_is_one_arm_alone(reaction):
    guard = GuardParameters(reaction=reaction, threshold=(8.0,), retract_distance=0.02)
    case = Experiment('ur5e', 'sinusoid', 'computed_torque', timestep=DT, guard=guard).load()
    draws = [Draw(replace(case.experiment.error), 0, case.experiment.sensors)] * 3
    pushes = [
        PUSH,
        None,
        replace(PUSH, start=0.6, frame='wrist_1_link', wrench=(0, 60, 0, 0, 0, 0)),
    ]
    model = BatchModel(MODEL)

    def states(which):
        plant, _ = case.batch([draws[k] for k in which])
        events = pushes_of_each([pushes[k] for k in which], DT)
        loop = Loop(plant, case.batch_law(model), case.task.reference, events)
        loop.run(1.4)
        return GuardState(*loop.law_state), plant.q.copy()

    many, q = states([0, 1, 2])
    assert (many.since[:, 0] >= 0.0).tolist() == [True, False, True]
    for k in range(3):
        one, q_one = states([k])
        np.testing.assert_array_equal(q[k], q_one[0])
        np.testing.assert_array_equal(many.residual[k], one.residual[0])


def test_what_cannot_be_guarded_is_refused_in_one_line():
    servo, wanted = law_class('servo'), GuardParameters(reaction='stop')
    for_effort = "guard.reaction is 'stop'; that is for laws that command effort, not position"
    with pytest.raises(ArmError, match=for_effort):
        adapted_law(servo, MODEL, servo.Parameters(), guard=wanted)
    with pytest.raises(ArmError, match='nothing is watched; `examples/guard_thresholds.py'):
        guarded(threshold=(0.0,))
    with pytest.raises(
        ArmError, match="guard.threshold of joint 'elbow_joint' is inf; it must be"
    ):
        guarded(threshold=(1.0, 1.0, np.inf, 1.0, 1.0, 1.0))
    with pytest.raises(ArmError, match='guard.threshold of joint .* is -1'):
        guarded(threshold=(-1.0,))
    with pytest.raises(
        ArmError, match='guard.threshold has 2 values; allowed: 1 or one per joint'
    ):
        guarded(threshold=(1.0, 2.0))
    with pytest.raises(ArmError, match="guard.reaction is 'jump'; allowed: none, stop"):
        GuardParameters(reaction='jump')


def test_without_a_reaction_there_is_no_guard():
    law = adapted_law(PD, MODEL, PD.Parameters(), guard=GuardParameters(threshold=(1.0,)))
    assert type(law) is PD
    assert law.guard is None


def test_a_reading_that_is_no_number_is_a_collision():
    law = guarded(threshold=(10.0,), tool_contact=True)
    reference = Reference(6)
    reference.q[:] = HOME
    wrench = np.zeros(6)
    measured = Measurement(HOME, np.zeros(6), None, wrench)
    state = law.start(measured, reference)
    for _ in range(3):
        _, state = law(state, measured, reference, DT)
    assert law.collision(state) == ''
    for _ in range(2):
        command, state = law(state, measured._replace(wrench=wrench + np.nan), reference, DT)
    assert 'unexpected torque at joint' in law.collision(state)
    np.testing.assert_allclose(command, MODEL.gravity_torque(HOME), atol=1e-9)


def test_drives_that_compensate_gravity_change_nothing():
    convention = DriveConvention(effort_convention='gravity_compensated')
    parameters = GuardParameters(reaction='stop', threshold=(1.0,))
    law = adapted_law(PD, MODEL, PD.Parameters(), drives=convention, guard=parameters)
    states, _ = run(law, None, 0.5, effort_convention='gravity_compensated')
    assert law.guard is not None
    assert detected(states) == -1


@pytest.mark.parametrize(('felt', 'follows'), [(5.0, True), (50.0, False)])
def test_a_reaction_ends_the_goal_of_a_force(felt, follows):
    impedance = law_class('cartesian_impedance')
    guard = GuardParameters(reaction='stop', force=20.0)
    law = adapted_law(impedance, MODEL, impedance.Parameters(), guard=guard)
    measured = Measurement(HOME, np.zeros(6), None, np.array([0.0, 0.0, felt, 0.0, 0.0, 0.0]))
    efforts = []
    for goal in (-10.0, 0.0):
        reference = Reference(6)
        reference.q[:] = HOME
        reference.wrench = np.array([0.0, 0.0, goal, 0.0, 0.0, 0.0])
        efforts.append(law(law.start(measured, reference), measured, reference, DT)[0])
    assert np.array_equal(*efforts) is not follows
