"""Blocks are picked up and put down; what a grip and a place are is checked."""

from functools import cache

import numpy as np
import pytest

from arm_dynamics import ArmError
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.loop import Loop
from arm_sim.loop.measures import track
from arm_sim.loop.record import Record
from arm_sim.robot import Robot
from arm_sim.tasks import Run, make_task

ARM = 'ur5e gripper:=parallel'


def loaded(**given):
    experiment = Experiment.of_files(ARM, 'pick_and_place', 'computed_torque').load()
    return LoadedExperiment(experiment.experiment, experiment.robot, given)


@cache
def run(**given):
    case = loaded(**given)
    record = case.run()
    found = case.task.report.results(Run(record, track(case.robot.model, record)))
    return record, found


def test_a_drawn_block_is_within_the_ranges_and_depends_on_its_number_alone():
    blocks = [loaded(number=k).task.block for k in (0, 1, 0)]
    p = loaded().task.parameters
    assert blocks[0] == blocks[2] != blocks[1]
    for block in blocks:
        assert p.masses[0] <= block.mass <= p.masses[1]
        assert min(block.size) >= p.sides[0]
        assert max(block.size) <= p.sides[1]
        assert np.abs(np.subtract(block.position[:2], p.pick)).max() <= p.spread


@pytest.mark.slow
def test_a_block_is_put_at_its_place_and_the_run_repeats_to_the_last_bit():
    record, found = run()
    assert found['success']
    assert found['place_error_mm'] < 5.0
    assert found['slip_mm'] < 1.0
    assert record.checksum() == loaded().run().checksum()


def test_the_fingers_press_with_the_effort_that_the_goal_allows():
    case = loaded(max_effort=40.0)
    plant, _ = case.plants()
    loop = Loop(plant, case.law(), case.task.reference)
    loop.run(case.task.lift_at)  # at rest
    for finger in ('left_finger', 'right_finger'):
        touching = [c for c in plant.contacts.points() if c.shapes[0].startswith(finger)]
        normal = sum(abs(c.normal @ c.force) for c in touching)
        assert len(touching) == 4
        np.testing.assert_allclose(normal, 20.0, rtol=0.01)
    np.testing.assert_allclose(abs(plant.effort[-1]), 40.0, rtol=1e-4)


@pytest.mark.slow
def test_a_grip_that_is_too_weak_loses_the_block():
    _, found = run(max_effort=0.5)
    assert not found['success']
    assert found['slip_mm'] > 10.0


def test_poses_of_the_block_are_part_of_the_record(tmp_path):
    record, _ = run()
    assert record.objects.shape == (len(record.t) + 1, 1, 7)
    record.save(tmp_path / 'record.npz')
    np.testing.assert_array_equal(Record.load(tmp_path / 'record.npz').objects, record.objects)


def test_an_arm_without_a_gripper_is_refused_in_one_line():
    with pytest.raises(ArmError, match='a gripper of one joint: gripper:=parallel, in') as refusal:
        make_task('pick_and_place', Robot.load('ur5e'))
    assert '\n' not in str(refusal.value)


@pytest.mark.slow
def test_a_block_out_of_reach_is_refused_with_its_position():
    with pytest.raises(ArmError, match=r'the block at \(.*\) m cannot be picked'):
        loaded(pick=(2.0, 0.5)).task.points()
