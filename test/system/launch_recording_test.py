"""Recording over ROS: what the recorder writes, and a rerun of the recording."""

import signal

import numpy as np
import pytest
from arm_system import HOME, ArmSystem, goal, seconds
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message

from arm_controllers.ros.qos import CONTROL_QOS
from arm_tools.readers.recorded_messages import messages_of
from arm_tools.recording.ros import rerun
from arm_tools.recording.ros.recorded_run import RecordedRun

CONTROLLER = 'computed_torque_controller'
PERIOD = 0.002
SOON = 12  # from the publication of the push to its start, or up to 1 s less [s of simulated time]


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """Move and push an arm.

    Return the recording's file, the states seen over topics, and when the push began [s].
    """
    folder = tmp_path_factory.mktemp('recording')
    with ArmSystem() as system:
        system.simulator('engine:=analytical')
        system.start('recorder', f'output_dir:={folder}')
        system.wait(lambda: any(folder.glob('*.mcap')), 'recording')  # from the first state on
        system.controller()
        received = []
        system.node.create_subscription(
            Time, 'simulator/recorded_until', received.append, CONTROL_QOS
        )
        system.wait_for_motion_control(CONTROLLER)
        stand_still_while_stopped(system, 'recorder', folder)
        topics = [f'/{CONTROLLER}/{name}' for name in ('goals', 'results')]
        system.wait(lambda: all(map(system.node.count_subscribers, topics)), 'recorder of goals')
        system.spin(1.0)  # the controller may know of it later than we do
        pushes = system.node.create_publisher(WrenchStamped, 'external_wrench', 10)
        system.wait(lambda: pushes.get_subscription_count() > 1, 'simulator and recorder')
        push = WrenchStamped()
        push.header.frame_id = 'forearm_link'
        push.wrench.force.x = push.wrench.force.y = push.wrench.force.z = 5.0
        push.header.stamp.sec = push_at = int(system.now) + SOON
        pushes.publish(push)
        system.wait(lambda: system.now > push_at + 1.0, 'push')
        system.follow(CONTROLLER, goal([0.3], [HOME + 0.05]))
        assert system.pause()
        system.diagnostics.clear()
        system.words('simulator', 'paused')
        last = float(system.values['simulator']['simulated time [s]'])
        system.wait(lambda: abs(system.now - last) < 1e-6, 'last state')  # again if it is lost
        system.wait(lambda: abs(seconds(received[-1]) - last) < 1e-6, 'recorder')
        assert system.stop('recorder') == 0
        (file,) = folder.glob('*.mcap')
        return file, list(system.states), push_at


def stand_still_while_stopped(system, recorder, folder):
    """Stop a recorder; see that simulated time goes on a little, and then stops."""
    system.wait(lambda: any(folder.glob('*.mcap')), 'recording')
    heard = 'recorded until [s]'
    system.wait(lambda: system.values['simulator'].get(heard, '-') != '-', heard)
    system.processes[recorder].send_signal(signal.SIGSTOP)
    system.words('simulator', 'waiting for a recorder or camera that stays at ')
    said = system.values['simulator']
    assert float(said['simulated time [s]']) <= float(said[heard]) + 200.5 * PERIOD
    system.processes[recorder].send_signal(signal.SIGCONT)


def test_nothing_is_lost_in_lock_step_although_the_recorder_was_stopped(recorded):
    file, states, _ = recorded
    found = {}
    for message in messages_of(file):
        found.setdefault(message.topic, []).append(message)
    stamps = {topic: [each.time_ns for each in rows] for topic, rows in found.items()}
    for topic in ('/joint_states', '/joint_commands'):
        assert set(np.diff(stamps[topic])) == {round(PERIOD * 1e9)}, topic
    assert stamps['/joint_states'][-1] == round(states[-1][0] * 1e9)
    assert stamps['/joint_commands'][-1] >= stamps['/joint_states'][-2]
    assert set(np.diff(stamps[f'/{CONTROLLER}/controller_state'])) == {20_000_000}
    assert set(np.diff(stamps['/tf'])) == {20_000_000}
    assert len(found['/external_wrench']) == len(found[f'/{CONTROLLER}/goals']) == 1
    (result,) = found[f'/{CONTROLLER}/results']
    assert deserialize_message(result.data, FollowJointTrajectory.Result).error_code == 0
    events = b''.join(each.data for each in found['/parameter_events'])
    for name in (b'/simulator\0', f'/{CONTROLLER}\0'.encode(), b'control_decimation'):
        assert name in events
    assert found.keys() >= {'/robot_description', '/tf_static', '/diagnostics'}


def test_a_rerun_of_the_recording_ends_in_the_simulators_state_to_the_last_bit(recorded):
    file, states, push_at = recorded
    found = rerun.rerun(RecordedRun.load(file))
    assert found.difference() == ''
    again = found.again
    _, q, v = states[-1]
    np.testing.assert_array_equal(again[-1, :2], [q, v])
    pushed = round(push_at / PERIOD)
    assert np.abs(np.diff(again[pushed - 100 : pushed, 1], axis=0)).max() < 1e-9
    assert np.abs(np.diff(again[pushed : pushed + 100, 1], axis=0)).max() > 1e-6
