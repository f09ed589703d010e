"""The sinusoid of a task: about the robot's start, unless a limit is nearer than its amplitude."""

import re

import numpy as np

from arm_controllers.reference import Reference
from arm_dynamics.robots import find_urdf
from arm_sim.robot import Robot
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
