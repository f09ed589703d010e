"""The sinusoid of a task: about the robot's start, unless a limit is nearer than its amplitude."""

import re

import numpy as np
import pytest
from arms import MIXED

from arm_controllers.reference import Reference
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.loop.measures import track
from arm_sim.loop.record import Record
from arm_sim.robot import Robot
from arm_sim.tasks import Run
from arm_sim.tasks.sinusoid import Sinusoid, SinusoidParameters

LIMIT = re.compile(r'lower="[^"]*" upper="[^"]*"')


def followed(robot):
    """Return what an arm is to follow (k, n) [rad]."""
    task = Sinusoid(robot, SinusoidParameters(amplitude=(0.2,)))
    reference, found = Reference(robot.model.nv), []
    for t in np.linspace(0.0, task.duration, 201):
        task.reference(t, reference)
        found.append(reference.q.copy())
    return np.array(found)


def test_the_middle_is_the_start_moved_away_from_a_limit_that_is_nearer_than_the_amplitude(
    tmp_path,
):
    text = find_urdf('planar_3r').read_text()
    limits = iter(('lower="-2" upper="2"', 'lower="-3" upper="-0.05"', 'lower="-0.1" upper="2"'))
    text, count = LIMIT.subn(lambda found: next(limits), text)
    assert count == 3
    file = tmp_path / 'arm.urdf'
    file.write_text(text)
    robot = Robot.load(str(file))
    np.testing.assert_allclose(robot.start, (0.0, -0.05, 0.0))
    q = followed(robot)
    assert (q >= robot.model.position_lower).all()
    assert (q <= robot.model.position_upper).all()
    np.testing.assert_allclose((q[0], q[100]), [(0.0, -0.25, 0.1)] * 2, atol=2e-6)
    np.testing.assert_allclose(np.ptp(q, axis=0), 0.4, atol=1e-6)


def test_where_limits_are_far_the_middle_is_the_start_to_the_bit():
    robot = Robot.load('ur5e')
    assert (followed(robot)[0] == robot.start).all()


FACTS = {
    'task': 'sinusoid', 'robot': 'mixed', 'controller': 'pd', 'engine': 'mujoco',
    'mode': 'lockstep', 'feedforward': '', 'cycles_per_second': 1.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ('slide', 'worst'),
    [
        (0.001, ('0.02 rad', 'limit 0.00872665 rad')),
        (0.002, ('2 mm', 'limit 0.5 mm')),
    ],
)
def test_angles_are_shown_in_rad_and_slides_in_mm_while_the_report_keeps_degrees(slide, worst):
    model = RobotModel.from_urdf(MIXED)
    task = Sinusoid(Robot('mixed', model, np.zeros(3)), SinusoidParameters(limit=0.5))
    reference, zero = np.zeros((100, 3)), np.zeros((100, 3))
    q = reference + np.array((0.01, slide, -0.02))
    record = Record(np.arange(100) * 1e-3, q, zero, reference, zero, zero, q[-1])
    run = Run(record, track(model, record), FACTS)
    report = task.report.numbers(run)
    assert report['joint_rms_deg']['turn'] == pytest.approx(np.degrees(0.01))
    assert report['joint_max_deg']['extend'] == pytest.approx(1e3 * slide)
    shown = {name: values for name, *values in task.report.rows(report)[:3]}
    assert shown == {
        'turn [rad]': ['0.01', '0.01', ''],
        'extend [mm]': [f'{1e3 * slide:g}', f'{1e3 * slide:g}', ''],
        'bend [rad]': ['0.02', '0.02', ''],
    }
    (check,) = task.report.checks(report)
    assert check.shown == worst
    figure = task.report.draw(run, report)
    texts = [text.get_text() for axis in figure.axes for text in axis.texts]
    assert texts == ['10 mrad\nRMS', f'{1e3 * slide:.3g} mm\nRMS', '20 mrad\nRMS']
