"""Faults: what each does to commands and readings, alone, in batches, while running."""

from functools import partial

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_sim.devices.faults import KINDS, Fault, Faults, read_faults
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.mujoco_batch import MujocoBatch
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters, plant_class

ROBOT = Robot.load('planar_3r')
JOINTS = ROBOT.model.joint_names
COMMANDS = np.random.default_rng(1).normal(0.0, 5.0, (60, 3)).cumsum(axis=0) / 3.0
PLAIN = {
    'actuator': 'torque', 'timestep': 1e-3, 'force_torque_frame': 'link_3', 'joint_torque': True,
}  # fmt: skip
AT = 'time: 0.02, duration: 0.02'  # [s]: from state 20 to state 39


def plant_with(faults, **parameters):
    return MujocoPlant(ROBOT.model, PlantParameters(**PLAIN | parameters, faults=faults))


def course(plant):
    """Return measured q, v, effort, wrench, and true q, v of each state."""
    plant.reset(np.broadcast_to(ROBOT.start, plant.q.shape))
    rows = [(*(x.copy() for x in plant.measured[:4]), plant.q.copy(), plant.v.copy())]
    for command in COMMANDS:
        plant.step(np.ascontiguousarray(np.broadcast_to(command, plant.q.shape)))
        rows.append((*(x.copy() for x in plant.measured[:4]), plant.q.copy(), plant.v.copy()))
    return [np.array(each) for each in zip(*rows, strict=True)]


SOUND = course(plant_with(''))


def changed(faults):
    """Return the course with faults; commands do not depend on readings here."""
    return course(plant_with(f'[{faults}]'))


def test_feedback_freezes_or_is_lost_of_all_joints_or_of_one():
    during, after = slice(20, 40), slice(40, None)
    frozen = changed(f'{{kind: frozen_feedback, {AT}}}')
    lost = changed(f'{{kind: lost_feedback, joint: {JOINTS[1]}, {AT}}}')
    for k in range(4):
        np.testing.assert_array_equal(frozen[k][during], np.tile(SOUND[k][19], (20, 1)))
        np.testing.assert_array_equal(frozen[k][after], SOUND[k][after])
        if k < 3:
            assert not lost[k][during, 1].any()
            np.testing.assert_array_equal(lost[k][:, [0, 2]], SOUND[k][:, [0, 2]])
    np.testing.assert_array_equal(lost[3], SOUND[3])
    np.testing.assert_array_equal(lost[4], SOUND[4])


def test_an_encoder_drifts_and_sensors_have_offsets():
    t = 1e-3 * np.arange(20)
    drift, offset, torque, wrench = (
        changed(f'{{kind: {kind}, {AT}, value: 0.5, {where}}}')
        for kind, where in (
            ('drifting_encoder', f'joint: {JOINTS[0]}'),
            ('offset_encoder', f'joint: {JOINTS[0]}'),
            ('offset_torque', f'joint: {JOINTS[0]}'),
            ('offset_wrench', 'axis: ty'),
        )
    )
    difference = drift[0] - SOUND[0]
    np.testing.assert_allclose(difference[20:40, 0], 0.5 * t, atol=1e-14)
    np.testing.assert_allclose((drift[1] - SOUND[1])[20:40, 0], 0.5)
    assert not difference[40:].any()
    assert not difference[:, 1:].any()
    for course_, part, place in ((offset, 0, 0), (torque, 2, 0), (wrench, 3, 4)):
        difference = course_[part] - SOUND[part]
        np.testing.assert_allclose(difference[20:40, place], 0.5)
        difference[20:40, place] = 0.0
        assert not difference.any()


def test_dropped_commands_let_the_last_one_hold():
    dropped = changed(f'{{kind: dropped_commands, joint: {JOINTS[2]}, {AT}}}')
    plant, commands = plant_with(''), COMMANDS.copy()
    commands[20:40, 2] = COMMANDS[19, 2]
    plant.reset(ROBOT.start)
    for command in commands:
        plant.step(command)
    np.testing.assert_array_equal(dropped[4][-1], plant.q)


def test_dropped_commands_from_now_on_hold_although_the_caller_reuses_its_array():
    faults = Faults(read_faults('[{kind: dropped_commands}]'), [ROBOT.model], PlantParameters())
    own = COMMANDS[0].copy()
    sent = [faults.sent(own)]
    own[:] = COMMANDS[1]  # as the simulator does
    sent.append(faults.sent(own))
    np.testing.assert_array_equal(sent, [COMMANDS[0]] * 2)


@pytest.mark.parametrize('engine', ['mujoco', 'analytical'])
def test_a_stuck_joint_stays_while_the_others_move(engine):
    faults = f'[{{kind: stuck_joint, joint: {JOINTS[1]}, time: 0.01}}]'
    made = plant_class(engine)
    plant = made(ROBOT.model, made.Parameters(actuator='torque', timestep=1e-3, faults=faults))
    plant.reset(ROBOT.start)
    places = []
    for command in np.repeat(COMMANDS[:40], 10, axis=0):
        plant.step(command)
        places.append(plant.q.copy())
    places = np.array(places)
    moved = np.ptp(places[100:], axis=0)
    assert moved[1] < 1e-4 < 2.0 < moved[2]


@pytest.mark.parametrize('make', [MujocoBatch, partial(BatchPlant, engine='mujoco')])
def test_each_arm_of_a_batch_has_the_faults(make):
    faults = ', '.join(
        f'{{kind: {kind}, {AT}, joint: {JOINTS[k % 3]}}}'
        for k, kind in enumerate(('stuck_joint', 'frozen_feedback', 'dropped_commands'))
    )
    together = course(make([ROBOT.model] * 2, PlantParameters(**PLAIN, faults=f'[{faults}]')))
    alone = changed(faults)
    for many, one in zip(together, alone, strict=True):
        if make is MujocoBatch:
            np.testing.assert_array_equal(many[:, 1], one)
        np.testing.assert_allclose(many[:, 1], one, atol=1e-6)


def test_faults_begin_and_end_while_the_arm_runs_and_last_over_a_change_of_the_plant():
    plant, other = plant_with(''), plant_with('')
    plant.reset(ROBOT.start)
    plant.step(COMMANDS[0])
    plant.devices.get('faults').set(
        [Fault('offset_encoder', joint=JOINTS[0], value=0.5)], 1_000_000
    )
    plant.step(COMMANDS[1])
    assert plant.measured.q[0] - plant.q[0] == pytest.approx(0.5)
    other.continue_from(plant)
    other.step(COMMANDS[2])
    assert other.measured.q[0] - other.q[0] == pytest.approx(0.5)
    other.devices.get('faults').set([], 3_000_000)
    other.step(COMMANDS[3])
    np.testing.assert_array_equal(other.measured.q, other.q)


def test_a_list_may_be_in_a_file(tmp_path):
    (tmp_path / 'faults.yaml').write_text('- {kind: lost_feedback, time: 1}\n')
    expected = (Fault('lost_feedback', 1.0),)
    assert (
        read_faults(str(tmp_path / 'faults.yaml'))
        == expected
        == read_faults('[{kind: lost_feedback, time: 1.0}]')
    )
    assert read_faults('') == ()
    assert all(KINDS)


@pytest.mark.parametrize(
    ('faults', 'why'),
    [
        ('[{kind: broken}]', "fault 1: kind is 'broken'; allowed: frozen_feedback"),
        ('[{}]', "fault 1: kind is ''"),
        ('[{kind: stuck_joint}]', 'stuck_joint needs a joint'),
        ('[{kind: stuck_joint, joint: knee}]', "faults: joint 'knee'"),
        ('[{kind: stuck_joint, joint: joint_1, value: 2}]', 'stuck_joint has no value'),
        ('[{kind: lost_feedback, time: now}]', "'time' is 'now'; it must be a number"),
        ('[{kind: lost_feedback, duration: 0}]', 'duration is 0'),
        ('[{kind: lost_feedback, when: 0}]', "fault 1: unknown key 'when'"),
        ('[{kind: offset_wrench, value: 1}]', 'offset_wrench needs an axis'),
        ('[{kind: offset_wrench, axis: x}]', "fault 1: axis is 'x'"),
        ('[{kind: 3}]', "'kind' is 3; it must be a text"),
        ('{kind: lost_feedback}', 'faults: a list of faults is expected'),
        ('[{', 'faults: not YAML'),
        ('nowhere.yaml', "cannot read 'nowhere.yaml'"),
    ],
)
def test_what_is_no_fault_is_refused_in_one_line(faults, why):
    with pytest.raises(ArmError, match=why) as refused:
        plant_with(faults)
    assert '\n' not in str(refused.value)


def test_offsets_need_their_sensor():
    with pytest.raises(ArmError, match='offset_wrench needs force_torque.frame'):
        plant_with('[{kind: offset_wrench, axis: fx}]', force_torque_frame='')
    with pytest.raises(ArmError, match='offset_torque needs joint_torque.enabled'):
        plant_with('[{kind: offset_torque, joint: joint_1}]', joint_torque=False)
