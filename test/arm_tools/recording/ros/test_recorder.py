"""Recordings: what is in the files, also cut off; a full disk; a clock that waits for them."""

import os
import random
import re
import resource
import shutil
import signal
import sys
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
import yaml

rclpy = pytest.importorskip('rclpy')

from clocked_arm import GRAVITY, PERIOD, lockstep, run  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from domains import fresh_domain  # noqa: E402
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from long_wait import spin_until  # noqa: E402
from mcap.reader import make_reader  # noqa: E402
from optional import optional  # noqa: E402
from rclpy.duration import Duration  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from rosbags.highlevel import AnyReader  # noqa: E402
from sensor_msgs.msg import Image, JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from arm_controllers.follower.goal import GoalResult, ResultCode  # noqa: E402
from arm_controllers.ros.cdr import serialized  # noqa: E402
from arm_controllers.ros.goal_endpoints import GoalEndpoints  # noqa: E402
from arm_controllers.ros.messages import wrench_message  # noqa: E402
from arm_controllers.ros.object_messages import ObjectMessages  # noqa: E402
from arm_controllers.ros.qos import LATCHED_QOS, STATE_QOS  # noqa: E402
from arm_controllers.ros.running import make_executor  # noqa: E402
from arm_controllers.ros.serialized_messages import FIELDS, JointStateWriter  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402
from arm_dynamics.object_shapes import ObjectShape  # noqa: E402
from arm_dynamics.robots import find_urdf  # noqa: E402
from arm_sim.ros.contact_messages import ContactMessages  # noqa: E402
from arm_sim.ros.loop_messages import CONTACTS, OBJECTS, STATE, WRENCH  # noqa: E402
from arm_sim.simulation.readers import AHEAD  # noqa: E402
from arm_tools.readers.recorded_messages import messages_of  # noqa: E402
from arm_tools.recording.mcap_file import McapFile  # noqa: E402
from arm_tools.recording.ros import replay_node  # noqa: E402
from arm_tools.recording.ros.recorded_run import RecordedRun  # noqa: E402
from arm_tools.recording.ros.recorded_states import StateSender  # noqa: E402
from arm_tools.recording.ros.recorder import Recorder  # noqa: E402
from arm_tools.recording.ros.recorder_node import RecorderNode  # noqa: E402
from arm_tools.recording.ros.schemas import message_class, schema_text  # noqa: E402

JOINTS = 'sensor_msgs/msg/JointState'
THREE = ('joint_1', 'joint_2', 'joint_3')


def state(time_ns):
    writer = JointStateWriter(THREE, FIELDS)
    writer.position[:] = time_ns * 1e-9
    return writer.serialized(time_ns)


def written(path, count, bag=False, end=True):
    file = McapFile(path, bag)
    file.open_channel('/joint_states', JOINTS, schema_text(JOINTS))
    file.open_channel('/robot_description', 'std_msgs/msg/String', 'string data\n', latched=True)
    for k in range(count):
        file.write('/joint_states', state(k * PERIOD), k * PERIOD)
    (file.close if end else file.abandon)()
    return path


def test_a_recording_is_of_the_profile_ros2_with_definitions_as_schemas(tmp_path):
    with written(tmp_path / 'x.mcap', 3).open('rb') as stream:
        reader = make_reader(stream)
        assert reader.get_header().profile == 'ros2'
        found = list(reader.iter_messages())
    assert [m.log_time for _, _, m in found] == [0, PERIOD, 2 * PERIOD]
    arguments = [deserialize_message(m.data, JointState) for _, _, m in found]
    assert arguments == [deserialize_message(state(k * PERIOD), JointState) for k in range(3)]
    schema, channel, _ = found[0]
    assert (channel.topic, channel.message_encoding) == ('/joint_states', 'cdr')
    assert (schema.name, schema.encoding) == (JOINTS, 'ros2msg')
    text = schema.data.decode()
    assert 'float64[] position' in text
    assert text.count('MSG: std_msgs/Header') == text.count('MSG: builtin_interfaces/Time') == 1
    (qos,) = yaml.safe_load(channel.metadata['offered_qos_profiles'])
    assert (qos['durability'], qos['reliability']) == ('volatile', 'reliable')


def test_the_definition_of_an_actions_goal_holds_what_it_uses_and_not_its_result():
    text = schema_text('control_msgs/action/FollowJointTrajectory_Goal')
    assert text.startswith('# The trajectory') or 'trajectory_msgs/JointTrajectory' in text
    for used in ('trajectory_msgs/JointTrajectoryPoint', 'control_msgs/JointTolerance'):
        assert f'MSG: {used}\n' in text
    assert 'error_string' not in text
    assert 'error_string' in schema_text('control_msgs/action/FollowJointTrajectory_Result')


def test_a_bag_is_a_folder_whose_metadata_counts_what_is_in_it(tmp_path):
    folder = written(tmp_path / 'bag', 5, bag=True)
    text = (folder / 'metadata.yaml').read_text()
    assert '&' not in text
    parameters = yaml.safe_load(text)['rosbag2_bagfile_information']
    assert (parameters['version'], parameters['storage_identifier']) == (9, 'mcap')
    assert parameters['relative_file_paths'] == ['bag_0.mcap']
    assert parameters['message_count'] == len(list(messages_of(folder / 'bag_0.mcap'))) == 5
    assert parameters['duration']['nanoseconds'] == 4 * PERIOD
    names = {
        each['topic_metadata']['name']: each for each in parameters['topics_with_message_count']
    }
    assert names['/joint_states']['message_count'] == 5
    (qos,) = names['/robot_description']['topic_metadata']['offered_qos_profiles']
    assert qos['durability'] == 'transient_local'
    assert read_by_rosbags(folder) == {'/joint_states': 5}


@pytest.mark.slow
def test_of_a_recording_that_a_crash_cut_off_all_but_the_last_chunk_is_read(tmp_path):
    path = written(tmp_path / 'x.mcap', 5000, end=False)
    found = [message.time_ns for message in messages_of(path)]
    assert found == [k * PERIOD for k in range(len(found))]
    assert 5000 - len(found) < 1000
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    half = [message.time_ns for message in messages_of(path)]
    assert half == found[: len(half)]
    assert len(half) > len(found) // 3


def test_a_damaged_recording_is_refused_in_a_line_and_takes_no_memory(tmp_path):
    path = written(tmp_path / 'x.mcap', 20)
    whole, rng, received = path.read_bytes(), random.Random(1), set()
    for _ in range(200):
        raw = bytearray(whole)
        at = rng.randrange(len(raw) - 8)
        new = rng.choice((b'\xff' * 8, b'\0' * 8, rng.randbytes(1)))
        raw[at : at + len(new)] = new
        path.write_bytes(raw)
        try:
            RecordedRun.load(path)
        except ArmError as error:
            assert '\n' not in str(error)
            received.add(str(error).partition('cannot be read: ')[2][:13])
    assert {'crc validatio', 'not an MCAP f'} <= received


@pytest.mark.parametrize(
    'kind',
    [
        'no_such_msgs/msg/Thing', 'sensor_msgs/msg/Thing', 'sensor_msgs/JointState', '',
        'this/msg/s', 'sensor_msgs/msg/__doc__', '../msg/Thing', 'control_msgs/action/Thing_Goal',
    ],
)  # fmt: skip
def test_a_type_that_is_not_installed_is_refused_in_a_line(kind):
    with pytest.raises(ArmError, match=re.escape(f'no message type {kind!r} is installed')):
        message_class(kind)
    assert 'this' not in sys.modules  # nothing but interfaces is imported


def text_of(names, sender, fields=FIELDS):
    writer = JointStateWriter(names, fields, sender)
    for field in fields:
        getattr(writer, field)[:] = np.arange(len(names))
    return writer.serialized(7)


@pytest.mark.parametrize('names', [['a'], list(THREE), ['ab', 'abc', 'abcd', 'abcde']])
@pytest.mark.parametrize('process', [1, 22, 333, 4444, 55555, 666666])
def test_recorded_states_name_the_simulator_without_its_process(names, process):
    sender, short = StateSender(), text_of(names, 'simulator')
    long = text_of(names, f'simulator 96a29182, process {process} of launch 27829 on host')
    other = text_of(names, 'hardware')
    for raw, expected in ((long, short), (long, short), (other, other), (long, short)):
        assert sender.shortened(raw) == expected
    no_position = text_of(names, 'simulator 96a29182, process 1 on host', ('effort',))
    assert sender.shortened(no_position) == no_position
    with pytest.raises(ArmError, match='cut off'):
        sender.shortened(other[:30])


# A recorder next to a node of this process


class Graph:
    """A node that shows an arm, its recorder, and their executor."""

    def __init__(self, path, **options):
        rclpy.init(domain_id=int(fresh_domain()))
        self.node, self.executor = rclpy.create_node('arm'), make_executor()
        self.node.declare_parameter('gain', 7.0)
        self.executor.add_node(self.node)
        self.states = self.node.create_publisher(JointState, 'joint_states', STATE_QOS)
        text = String(data=find_urdf('planar_3r').read_text())
        self.description = self.node.create_publisher(String, 'robot_description', LATCHED_QOS)
        self.description.publish(text)
        self.recorder = Recorder(self.node, path, **options)

    def until(self, condition):
        spin_until(self.executor, condition)

    def receives(self, publisher):
        """Let the recorder write what a publisher of this process has published."""
        self.until(publisher.get_subscription_count)
        self.until(lambda: publisher.wait_for_all_acked(Duration(seconds=0.01)))
        self.recorder.drain()


@pytest.fixture
def graph(monkeypatch):
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    made = []

    def make(path, **options):
        made.append(Graph(path, **options))
        return made[0]

    yield make
    for each in made:
        each.node.destroy_node()
        rclpy.try_shutdown()


def by_topic(path, facts=None):
    found = {}
    for message in messages_of(path, facts):
        found.setdefault(message.topic, []).append(message)
    return found


def test_frames_begin_with_the_first_state_where_the_description_comes_later(graph, tmp_path):
    path = tmp_path / 'x.mcap'
    arm = graph(lambda number: path, own_states=False)
    arm.recorder.take_state(state(0))
    arm.receives(arm.description)
    arm.until(lambda: arm.recorder.ready)
    arm.recorder.take_state(state(10 * PERIOD))
    arm.recorder.close()
    assert [each.time_ns for each in by_topic(path)['/tf']] == [0, 10 * PERIOD]


def test_a_task_begins_when_its_recorder_has_the_cameras_that_time_waits_for(graph, tmp_path):
    arm = graph(lambda number: tmp_path / 'x.mcap', own_states=False)
    simulator, camera = rclpy.create_node('simulator'), rclpy.create_node('camera')
    simulator.declare_parameter('wait_for_camera', True)
    for node in (simulator, camera):
        arm.executor.add_node(node)
    arm.receives(arm.description)
    arm.until(lambda: arm.recorder.ready or simulator.count_clients('/simulator/get_parameters'))
    end = time.monotonic() + 1.0  # by which the simulator has answered
    arm.until(lambda: arm.recorder.ready or time.monotonic() > end)
    assert not arm.recorder.ready
    camera.create_publisher(Image, 'side/color/image_raw', LATCHED_QOS)
    arm.until(lambda: arm.recorder.ready)
    for node in (simulator, camera):
        node.destroy_node()


def test_a_recorder_writes_states_once_frames_parameters_goals_results_and_versions(
    graph, tmp_path
):
    path = tmp_path / 'x.mcap'
    arm = graph(lambda number: path, own_states=False)
    goals = GoalEndpoints(arm.node, False, lambda *_: None, lambda _: True)
    publishers = {each.topic_name: each for each in arm.node.publishers}
    of_goals = [publishers[topic] for topic in ('/arm/goals', '/arm/results')]
    for publisher in (arm.description, *of_goals):
        arm.receives(publisher)
    for k in range(101):
        for _ in range(1 + (k == 3)):  # one is shown again
            arm.recorder.take_state(state(k * PERIOD))
    asked = FollowJointTrajectory.Goal()
    asked.trajectory.joint_names = list(THREE)
    arm.recorder.take_command(text_of(THREE, 'law', ('effort',)))
    goals.publish_goal(bytes(serialize_message(asked)), 'identifier', 5_000_000_007)
    goals.publish_goal(bytes(serialize_message(asked.trajectory)), None, 6 * PERIOD)
    goals.resolve(GoalResult('gone', ResultCode.PATH_TOLERANCE_VIOLATED, 'too far'))
    for publisher in of_goals:
        arm.receives(publisher)
    arm.recorder.close({'task': {'name': 'none'}})

    facts = {}
    found = by_topic(path, facts)
    times = [message.time_ns for message in found['/joint_states']]
    assert times == [k * PERIOD for k in range(101)]
    assert [each.time_ns for each in found['/tf']] == [k * 10 * PERIOD for k in range(11)]
    assert len(found['/tf_static']) == len(found['/robot_description']) == 1
    kind = FollowJointTrajectory.Goal
    stamps = [
        deserialize_message(m.data, kind).trajectory.header.stamp for m in found['/arm/goals']
    ]
    assert [(stamp.sec, stamp.nanosec) for stamp in stamps] == [(5, 7), (0, 6 * PERIOD)]
    (result,) = found['/arm/results']
    assert deserialize_message(result.data, FollowJointTrajectory.Result).error_string == 'too far'
    (event,) = [m.data for m in found['/parameter_events']]
    assert b'/arm' in event
    assert b'gain' in event
    assert facts['arm_sim']['python'].startswith('3.')
    assert facts['task'] == {'name': 'none'}
    assert (
        read_by_rosbags(path)
        == read_by_mcap_ros2(path)
        == {topic: len(messages) for topic, messages in found.items()}
    )


def read_by_rosbags(path):
    """Return how many messages rosbags deserialises of each topic."""
    counts = Counter()
    with AnyReader([path]) as reader:
        for connection, _, raw in reader.messages():
            reader.deserialize(raw, connection.msgtype)
            counts[connection.topic] += 1
    return counts


def read_by_mcap_ros2(path):
    """Return how many messages Foxglove's mcap-ros2-support deserialises of each topic."""
    optional('mcap_ros2', 'mcap-ros2-support')
    from mcap_ros2.reader import read_ros2_messages

    with path.open('rb') as stream:
        return Counter(each.channel.topic for each in read_ros2_messages(stream))


def test_wrenches_of_batches_are_written_once_and_end_the_subscription_to_their_topic(
    graph, tmp_path
):
    path, topic = tmp_path / 'x.mcap', '/force_torque_sensor_broadcaster/wrench'
    arm = graph(lambda number: path, own_states=False)
    publisher = arm.node.create_publisher(WrenchStamped, topic, STATE_QOS)
    arm.receives(publisher)
    arm.recorder.take([(STATE, state(0))])
    wrenches = [wrench_message('tip', np.full(6, k), k) for k in range(5)]
    for k in range(3):  # one by one, before the batches
        publisher.publish(wrenches[k])
    arm.receives(publisher)
    for k in range(1, 5):
        arm.recorder.take([(STATE, state(k)), (WRENCH, serialized(wrenches[k]))])
    arm.until(lambda: not publisher.get_subscription_count())
    arm.recorder.close()
    found = [each.data for each in by_topic(path)[topic]]
    assert found == [serialized(each) for each in wrenches]


def test_a_batch_that_comes_late_brings_objects_and_contacts_of_states_at_their_stamps(
    graph, tmp_path
):
    path, later = tmp_path / 'x.mcap', 7 * PERIOD
    arm = graph(lambda number: path, own_states=False)
    shape = ObjectShape('block', 'box', (1, 1, 1), (1, 1, 1, 1), '', (0, 0, 0, 0, 0, 0, 1))
    objects = ObjectMessages([shape], [], 'base')
    contacts = ContactMessages()
    arm.recorder.take([(STATE, state(k)) for k in (PERIOD, later)])
    for k in (0, PERIOD, later):  # the recording does not begin before its first state
        about = (OBJECTS, objects.at(np.empty((0, 7)), k)), (CONTACTS, contacts.at(np.zeros(3), k))
        arm.recorder.take(about)
    arm.recorder.close()
    for topic in ('/simulator/objects', '/simulator/contacts'):
        assert [each.time_ns for each in by_topic(path)[topic]] == [PERIOD, later]


def test_after_a_reset_a_new_recording_begins_with_the_arm_and_its_parameters(graph, tmp_path):
    arm = graph(lambda number: tmp_path / f'{number}.mcap', own_states=False)
    arm.receives(arm.description)
    for k in (0, 1, 2, 0, 1):
        arm.recorder.take_state(state(k * PERIOD))
    arm.recorder.close()
    for number, count in ((0, 3), (1, 2)):
        found = by_topic(tmp_path / f'{number}.mcap')
        assert len(found['/joint_states']) == count
        assert len(found['/robot_description']) == len(found['/parameter_events']) == 1


@contextmanager
def files_of_at_most(size):
    """Let no file of this process grow beyond this [bytes], as on a disk without room."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


@pytest.mark.parametrize('last', [b'\0', state(-PERIOD)])
def test_what_no_file_can_hold_is_left_out_and_the_recording_ends_well(graph, tmp_path, last):
    arm = graph(lambda number: tmp_path / 'x.mcap', own_states=False)
    arm.receives(arm.description)
    arm.description.publish(b'\0')
    arm.receives(arm.description)
    arm.recorder.take_state(state(PERIOD))
    arm.recorder.take_command(state(PERIOD))
    for take in (arm.recorder.take_command, arm.recorder.take_state):
        with pytest.raises(ArmError):
            take(last)
    arm.recorder.close()
    found = by_topic(tmp_path / 'x.mcap')
    assert [each.time_ns for each in found['/joint_states']] == [PERIOD]
    assert [each.time_ns for each in found['/joint_commands']] == [PERIOD]


@pytest.mark.slow
@pytest.mark.parametrize('where', ['full disk', 'no folder'])
def test_what_cannot_be_written_is_one_line_and_the_rest_goes_on(graph, tmp_path, where, capfd):
    folder = tmp_path
    if where == 'no folder':
        (tmp_path / 'file').write_text('')
        folder = tmp_path / 'file' / 'folder'
    arm = graph(lambda number: folder / 'x.mcap', own_states=False)
    arm.receives(arm.description)
    with files_of_at_most(50_000):
        for k in range(20_000):
            arm.recorder.take_state(state(k * PERIOD))
        arm.recorder.close()
    assert arm.recorder.failed
    assert arm.recorder.ready
    arguments = [line for line in capfd.readouterr().err.splitlines() if 'ends here' in line]
    assert len(arguments) == 1
    why = os.strerror(27 if where == 'full disk' else 20)  # EFBIG, ENOTDIR
    assert f"recording '{folder}/x.mcap' ends here: {why}; the arm goes on" in arguments[0]
    # No node waits for it any more.
    topic = '/simulator/recorded_until'
    arm.until(lambda: not arm.node.get_publishers_info_by_topic(topic))


@pytest.mark.parametrize('bag', [False, True])
def test_a_recording_that_was_deleted_meanwhile_is_one_line(graph, tmp_path, bag, capfd):
    folder = tmp_path / 'recordings'
    arm = graph(lambda number: folder / f'{number}.mcap', bag=bag, own_states=False)
    arm.recorder.take_state(state(PERIOD))
    shutil.rmtree(folder)
    arm.recorder.close()
    assert (
        f"'{folder}/0.mcap' ends here: {os.strerror(2)}; the arm goes on" in capfd.readouterr().err
    )


def test_a_recording_that_ends_at_its_last_messages_closes_in_silence(graph, tmp_path, capfd):
    folder = tmp_path / 'recordings'
    arm = graph(lambda number: folder / f'{number}.mcap')
    for stamp_s in (1, 0):  # a reset
        message = JointState(name=list(THREE), position=[0.0] * 3)
        message.header.stamp.sec = stamp_s
        arm.states.publish(message)
        if stamp_s:
            arm.until(folder.exists)
            shutil.rmtree(folder)
    arm.until(lambda: arm.states.wait_for_all_acked(Duration(seconds=0.01)))
    arm.recorder.close()
    assert arm.recorder.failed
    assert 'ends here' in capfd.readouterr().err


def test_a_recorder_that_could_not_write_does_not_say_that_no_state_came(tmp_path, capfd):
    (tmp_path / 'file').write_text('')
    arguments = ['--ros-args', '-p', f'output_dir:={tmp_path / "file"}']
    rclpy.init(args=arguments, domain_id=int(fresh_domain()))
    node, executor, lines = RecorderNode(), make_executor(), []
    executor.add_node(node)
    states = node.create_publisher(JointState, 'joint_states', STATE_QOS)

    def failed():
        states.publish(JointState())
        lines.append(capfd.readouterr().err)
        return 'ends here' in ''.join(lines)

    try:
        spin_until(executor, failed)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    assert 'nothing is recorded' not in capfd.readouterr().err


COUNT = 1000


@pytest.fixture
def recorded_arm(tmp_path, monkeypatch):
    """Return a recording of an arm, and of topics that cannot be played."""
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    path = tmp_path / 'x.mcap'
    file = McapFile(path)
    for topic, kind in (('/joint_states', JOINTS), ('/robot_description', 'std_msgs/msg/String')):
        file.open_channel(topic, kind, schema_text(kind))
    for topic, kind in (('/theirs', 'their_msgs/msg/Own'), ('/a b', JOINTS)):
        file.open_channel(topic, kind, '')
        file.write(topic, b'\0' * 8, 0)
    file.write('/robot_description', bytes(serialize_message(String(data='an arm'))), 0)
    for k in range(COUNT):
        file.write('/joint_states', state(k * PERIOD), k * PERIOD)
    file.close()
    return path


@contextmanager
def replay_domain(*arguments):
    """Initialise ROS with arguments; destroy the nodes in the list at the end."""
    rclpy.init(args=['--ros-args', *arguments], domain_id=int(fresh_domain()))
    nodes = []
    try:
        yield nodes
    finally:
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()


@pytest.mark.parametrize(
    ('speed', 'seek', 'namespace'), [(1000.0, 0.0, ''), (50.0, 1.0, ''), (1000.0, 1.9, '/again')]
)
def test_a_replay_publishes_from_the_sought_time_on_and_what_the_arm_is_and_ends(
    recorded_arm, monkeypatch, speed, seek, namespace
):
    ended = []
    monkeypatch.setattr(replay_node, 'end_node', lambda: ended.append(True))
    options = [f'file:={recorded_arm}', 'speed:=0.0', f'seek:={seek}']
    arguments = [word for each in options for word in ('-p', each)]
    with replay_domain(*arguments, '-r', f'__ns:={namespace or "/"}') as nodes:
        node, executor = replay_node.ReplayNode(), make_executor()
        listener = rclpy.create_node('listener', use_global_arguments=False, namespace=namespace)
        nodes += [node, listener]
        heard, arms = [], []
        listener.create_subscription(JointState, 'joint_states', heard.append, STATE_QOS, raw=True)
        listener.create_subscription(String, 'robot_description', arms.append, LATCHED_QOS)
        executor.add_node(node)
        executor.add_node(listener)
        until = partial(spin_until, executor)
        until(lambda: arms and node.count_subscribers(f'{namespace}/joint_states'))
        assert not heard  # paused
        (done,) = node.set_parameters([rclpy.parameter.Parameter('speed', value=speed)])
        assert done.successful
        first = round(seek / (PERIOD * 1e-9))
        until(lambda: len(heard) == COUNT - first)
        assert heard == [state(k * PERIOD) for k in range(first, COUNT)]
        assert arms[0].data == 'an arm'
        until(lambda: ended)


@pytest.mark.slow
def test_a_replay_next_to_a_live_arm_is_refused_except_in_another_namespace(recorded_arm):
    with replay_domain('-p', f'file:={recorded_arm}') as nodes:
        arm = rclpy.create_node('arm', use_global_arguments=False)
        nodes.append(arm)
        arm.create_publisher(JointState, 'joint_states', STATE_QOS)
        with pytest.raises(ArmError, match="/joint_states is published by 'arm': end that arm"):
            replay_node.ReplayNode()
    with replay_domain('-p', f'file:={recorded_arm}', '-r', '__ns:=/again') as nodes:
        arm = rclpy.create_node('arm', use_global_arguments=False, namespace='/')
        nodes.append(arm)
        arm.create_publisher(JointState, 'joint_states', STATE_QOS)
        nodes.append(replay_node.ReplayNode())
        assert nodes[-1].count_publishers('/again/joint_states') == 1


# A clock that is recorded


def test_lockstep_runs_no_further_ahead_of_a_recorder_than_publishers_keep():
    clock, simulation, _, wall = lockstep()
    clock.readers.is_there = lambda reader: True

    def go_on():
        for _ in range(3 * AHEAD):
            clock.take(simulation.time_ns, GRAVITY)
        return simulation.steps

    clock.readers.note(10 * PERIOD)
    assert go_on() == 10 + AHEAD
    run(clock, wall, 20.0)
    assert not simulation.braking  # the controller is not to blame
    clock.readers.note(30 * PERIOD)
    assert go_on() == 30 + AHEAD
    clock.reset()
    assert go_on() == AHEAD
    clock.readers.is_there = lambda reader: False
    run(clock, wall, 0.1)
    assert go_on() > 3 * AHEAD
    clock.readers.is_there = lambda reader: True
    clock.reset()
    clock.readers.await_camera()
    clock.reset()
    assert go_on() == 0
    clock.readers.note(0, 'camera')
    assert go_on() == AHEAD
    np.testing.assert_array_equal(simulation.plant.v.shape, (6,))
