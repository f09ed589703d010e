"""What tests of the trajectory follower share: a UR5e's follower, goals, perfect following."""

import re

import numpy as np

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.goal import Goal
from arm_controllers.follower.parameters import FollowerParameters
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

MODEL = RobotModel.from_urdf(find_urdf('ur5e'))
NAMES = MODEL.joint_names
HOME = np.array([-1.57, -1.57, 1.57, -1.57, -1.57, 0.0])
REST = np.zeros(6)
DT = 2_000_000  # [ns]
SECOND = 1_000_000_000


def make(model=MODEL, q=HOME, v=None, at=0, **parameters):
    """Return a follower that has just taken over at q, v."""
    arm = TrajectoryFollower(model, FollowerParameters(**parameters))
    arm.activate(at, q, np.zeros(len(q)) if v is None else v)
    return arm


def goal(times, positions, velocities=None, accelerations=None, names=NAMES, **others):
    def rows(values):
        return None if values is None else np.array(values, dtype=float)

    return Goal(
        tuple(names),
        np.array(times, dtype=float),
        rows(positions),
        rows(velocities),
        rows(accelerations),
        **others,
    )


def states_at(trajectory, t, from_left=False):
    """Return q, v, a at t (k,); `from_left`: at a knot those of the segment that ends there."""
    i = np.searchsorted(trajectory.times[1:-1], t, 'left' if from_left else 'right')
    return trajectory.states_in(i, t - trajectory.times[i])


def run(arm, start_ns, end_ns):
    """Update from start to end; the arm is where the reference is. Return q, v, a."""
    rows = []
    for time_ns in range(start_ns, end_ns, DT):
        expected = arm.peek(time_ns)
        reference = arm.update(time_ns, expected.q.copy(), expected.v.copy())
        rows.append((reference.q.copy(), reference.v.copy(), reference.a.copy()))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def assert_no_jump(q, v, max_acceleration=100.0):
    """Positions must move as velocities say, and velocities change by no more than possible."""
    h = DT * 1e-9
    np.testing.assert_allclose(
        np.diff(q, axis=0), h * (v[1:] + v[:-1]) / 2, atol=max_acceleration * h * h
    )
    assert np.abs(np.diff(v, axis=0)).max() <= max_acceleration * h


def ends(arm):
    """Take out what has ended: (identifier, code) each."""
    found = [(end.identifier, end.code) for end in arm.results]
    arm.results.clear()
    return found


def assert_names_the_fault(error):
    """A refusal's one line holds what the error carries: joint, value, limit, point, time."""
    text = str(error)
    assert '\n' not in text
    found = [float(x) for x in re.findall(r'-?\d+\.?\d*(?:e[+-]?\d+)?|-?inf|nan', text)]

    def mentioned(number):
        return any(np.isclose(x, number, rtol=1e-5, atol=1e-12, equal_nan=True) for x in found)

    if error.joint is not None:
        assert repr(error.joint) in text
    if error.value is not None:
        assert mentioned(error.value), text
    if error.upper is not None:
        limit = error.upper if error.value > error.upper else error.lower
        around = (error.upper - error.lower) / 2  # a start's limit is reported as a distance
        assert mentioned(limit) or mentioned(around) or 'is not zero' in text, text
    if error.point is not None:
        assert re.search(rf'points? (\d+ and )?{error.point}\b', text), text
    if error.time is not None:
        assert mentioned(error.time), text
