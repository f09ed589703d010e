"""controller_state as ROS reads it, field by field."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from control_msgs.msg import JointTrajectoryControllerState
from rclpy.serialization import deserialize_message

from arm_controllers.ros.state_report import StateReport

NAMES = ['a', 'the second joint', 'c']


class Topic:
    """Keeps what is published."""

    def publish(self, raw):
        self.message = deserialize_message(raw, JointTrajectoryControllerState)


def follower_at(draw, effort):
    """Return a follower whose reference is drawn, and whose difference is a subtraction."""
    return SimpleNamespace(
        reference=SimpleNamespace(q=draw(3), v=draw(3), a=draw(3), effort=draw(effort)),
        time_in_goal=lambda time_ns: 1.25,
        scaling=SimpleNamespace(wanted=0.375),
        model=SimpleNamespace(difference=np.subtract),
    )


@pytest.mark.parametrize('output', ['effort', 'positions', 'velocities'])
def test_each_number_is_where_ros_looks_for_it_whatever_fields_there_are(output):
    topic, draws = Topic(), np.random.default_rng(1).normal

    def draw(count):
        return draws(size=count)

    report = StateReport(topic, NAMES, 50.0)
    for effort, more in (
        (3, {}),
        (0, {'effort': 3}),
        (3, {'accelerations': 3, 'effort': 0}),
        (3, {}),
    ):
        follower, q, v, command = follower_at(draw, effort), draw(3), draw(3), draw(3)
        feedback = {field: draw(count) for field, count in more.items()}
        report.publish(5_000_000_007, follower, q, v, {output: command}, **feedback)
        message, r = topic.message, follower.reference
        stamp = message.header.stamp
        assert (message.header.frame_id, stamp.sec, stamp.nanosec) == ('', 5, 7)
        assert message.joint_names == NAMES
        assert message.speed_scaling_factor == 0.375
        assert message.multi_dof_joint_names == []
        expected = {
            'reference': {
                'positions': r.q,
                'velocities': r.v,
                'accelerations': r.a,
                'effort': r.effort,
            },
            'feedback': {'positions': q, 'velocities': v, **feedback},
            'error': {'positions': q - r.q, 'velocities': r.v - v},
            'output': {output: command},
        }
        for name, fields in expected.items():
            point = getattr(message, name)
            assert (point.time_from_start.sec, point.time_from_start.nanosec) == (1, 250_000_000)
            for field in ('positions', 'velocities', 'accelerations', 'effort'):
                assert list(getattr(point, field)) == list(fields.get(field, ())), (name, field)
