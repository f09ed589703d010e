"""Recordings: orders of joints, clocks, several publishers, missing efforts, files cut short."""

import json

import numpy as np
import pytest
from arms import load_arm
from bags import KIND, START, write_bag
from identification_samples import exact_samples, read_samples, some_motion
from mcap.reader import make_reader
from mcap.writer import IndexType, Writer
from optional import optional

from arm_dynamics.checks import ArmError
from arm_tools.inspection.inspected import inspected
from arm_tools.readers.read_options import ReadAs
from arm_tools.readers.recorded_samples import inspected_samples

NAMES = ['a', 'b']
TIMES = 0.01 * np.arange(100)
Q = np.column_stack([0.5 * np.sin(3.0 * TIMES), 0.2 * TIMES])
EFFORT = np.column_stack([np.cos(3.0 * TIMES), 2.0 + 0.1 * TIMES])


def states(topic='joint_states', times=TIMES, q=Q, effort=EFFORT, names=NAMES, later=0.0):
    """Return messages of two joints, received 1 ms after their stamps, in this order."""
    return [
        (topic, START + t + 1e-3 + later, START + t, names, q[k], effort[k] if len(effort) else [])
        for k, t in enumerate(times)
    ]


def test_joint_states_are_published_in_the_wrong_order(tmp_path):
    """UniversalRobots/Universal_Robots_ROS_Driver#619. Columns go by name.

    The same motion, written as (b, a).
    """
    file = write_bag(
        tmp_path / 'x', states(names=NAMES[::-1], q=Q[:, ::-1], effort=EFFORT[:, ::-1])
    )
    found = read_samples(file, NAMES)
    np.testing.assert_array_equal(found.q, Q)
    np.testing.assert_array_equal(found.effort, EFFORT)


def test_gripper_joints_come_between_those_of_the_arm(tmp_path):
    """jmscslgroup/catvehicle#9. Other joints' messages are skipped."""
    arm = states()
    gripper = [(topic, t, stamp, ['finger'], [0.02], [1.0]) for topic, t, stamp, *_ in arm]
    mixed = [each for pair in zip(arm, gripper, strict=True) for each in pair]
    np.testing.assert_array_equal(read_samples(write_bag(tmp_path / 'x', mixed), NAMES).q, Q)


def test_a_desired_and_a_measured_topic_are_mixed(tmp_path):
    """ros-controls/ros2_controllers#1572. Name the topic, where both have efforts.

    A second topic without efforts is not measured; one with efforts needs --topic.
    """
    wanted = states('wanted', q=Q + 0.1, effort=[], later=1e-4)
    both = write_bag(tmp_path / 'x', [*states(), *wanted])
    np.testing.assert_array_equal(read_samples(both, NAMES).q, Q)
    other = states('other', q=Q + 0.1, later=1e-4)
    unclear = write_bag(tmp_path / 'y', [*states(), *other])
    with pytest.raises(ArmError, match='which of them is measured is not clear: --topic names it'):
        read_samples(unclear, NAMES)
    np.testing.assert_array_equal(read_samples(unclear, NAMES, ReadAs(topic='/other')).q, Q + 0.1)


def test_newer_messages_are_interleaved_with_older_ones(tmp_path):
    """ros/ros_comm#2336. Record one publisher.

    A second publisher on the topic whose clock is 0.3 s late: every other stamp goes back.
    """
    late = states(times=TIMES, q=Q + 0.3)
    mixed = []
    for k, (one, two) in enumerate(zip(states(), late, strict=True)):
        mixed += [one, (two[0], two[1] + 5e-3, START + TIMES[k] - 0.3, *two[3:])]
    with pytest.raises(ArmError, match='has the states of several publishers, mixed'):
        read_samples(write_bag(tmp_path / 'x', mixed), NAMES)


def test_a_clock_set_back_mixes_two_times(tmp_path):
    """berndpfrommer/basalt_ros1#5. A stamp that goes back begins a new piece.

    Once in 100 states, by 0.2 s: one line names it, and no state is left out.
    """
    times = TIMES - 0.2 * (np.arange(100) >= 50)
    messages = [
        (topic, START + t, stamp, *row)
        for (topic, _, stamp, *row), t in zip(states(times=times), TIMES, strict=True)
    ]
    samples, lines = inspected_samples(write_bag(tmp_path / 'x', messages), NAMES)
    assert len(samples.times) == 100
    assert 'they go back once, which begins a new piece' in '\n'.join(lines)


def test_messages_of_the_same_time_have_no_order(tmp_path):
    """ros2/rosbag2#2173. The order in the file counts.

    Times of receipt in steps of 50 ms, as of simulated time: five states have the same.
    """
    coarse = [
        (topic, START + 0.05 * (k // 5), *row) for k, (topic, _, *row) in enumerate(states())
    ]
    found = read_samples(write_bag(tmp_path / 'x', coarse), NAMES)
    np.testing.assert_array_equal(found.q, Q)
    np.testing.assert_allclose(found.times, START + TIMES, atol=1e-6)


def test_states_across_a_split_bag_are_out_of_order(tmp_path):
    """ros2/rosbag2#857. A new piece begins.

    The second half of the messages was written first: one step goes back, by 0.99 s.
    """
    half = states()
    file = write_bag(tmp_path / 'x', half[50:] + half[:50])
    samples, lines = inspected_samples(file, NAMES)
    np.testing.assert_array_equal(samples.q, np.roll(Q, 50, axis=0))
    np.testing.assert_allclose(np.diff(samples.times).min(), -0.99, atol=1e-6)
    assert 'they go back once, which begins a new piece' in '\n'.join(lines)


def test_headers_without_stamps_give_no_duration(tmp_path):
    """ros/ros_comm#952. Receive times count."""
    empty = [(topic, t, 0.0, *row) for topic, t, _, *row in states()]
    samples, lines = inspected_samples(write_bag(tmp_path / 'x', empty), NAMES)
    np.testing.assert_allclose(np.ptp(samples.times), np.ptp(TIMES), atol=1e-6)
    assert any('receive times of the recording, because 100 of 100' in line for line in lines)


@pytest.mark.parametrize('effort', [[], np.full((100, 2), np.nan)])
def test_efforts_are_nan_or_missing(tmp_path, effort):
    """kroshu/kuka_drivers#254. Record efforts."""
    file = write_bag(tmp_path / 'x', states(effort=effort))
    with pytest.raises(ArmError, match='its joint states have no effort, which is needed'):
        read_samples(file, NAMES)


def test_a_recording_is_corrupted_by_power_loss(tmp_path):
    """ros2/rosbag2#2133. It is read to the last whole chunk.

    The last 200 bytes, the index and the summary, are lost with the metadata of the folder.
    """
    folder = write_bag(tmp_path / 'x', states())
    (whole,) = folder.glob('*.mcap')
    cut = tmp_path / 'cut.mcap'
    cut.write_bytes(whole.read_bytes()[:-200])
    np.testing.assert_array_equal(read_samples(cut, NAMES).q, Q)


@pytest.mark.quick(1)
@pytest.mark.parametrize('kind', ['amperes', 'weightless'])
def test_efforts_are_currents_or_without_gravity(tmp_path, kind):
    """UniversalRobots/Universal_Robots_ROS2_Driver#794. Answer `--efforts`; gravity is found.

    Torques of the model's own inverse dynamics, divided by 10 N.m/A, or minus its gravity terms.
    """
    model = load_arm('ur5e')
    exact = exact_samples(model, some_motion(model, 3), 12.0, noise=0.01)
    weight = np.array([model.gravity_torque(q) for q in exact.q])
    effort = exact.effort / 10.0 if kind == 'amperes' else exact.effort - weight
    np.savez(tmp_path / 'x.npz', t=exact.times, q=exact.q, effort=effort)
    found = inspected(tmp_path / 'x.npz', model)
    assert bool(found.open) == (kind == 'amperes')
    assert found.weightless == (kind == 'weightless')
    if found.open:
        assert 'unit of the efforts: no N.m' in found.open[0]


def dataset(folder, stamps):
    """Write a LeRobotDataset of 50 frames per second with these timestamps [s]."""
    optional('pyarrow', 'pyarrow>=17')
    import pyarrow
    from pyarrow import parquet

    names = {
        'observation.state': ['a.pos', 'b.pos'],
        'observation.effort': ['a.effort', 'b.effort'],
    }
    facts = {
        x: {'dtype': 'float32', 'names': own} for x, own in (names | {'timestamp': None}).items()
    }
    for part in ('meta', 'data'):
        (folder / part).mkdir(parents=True)
    (folder / 'meta/info.json').write_text(json.dumps({'fps': 50, 'features': facts}))
    columns = {'timestamp': np.float32(stamps), 'frame_index': np.arange(len(stamps))}
    numbers = {x: (Q if x.endswith('state') else EFFORT)[: len(stamps)].tolist() for x in names}
    parquet.write_table(pyarrow.table(columns | numbers), folder / 'data/episode_000000.parquet')
    return folder


@pytest.mark.parametrize(('late', 'says'), [(0.0, ''), (0.005, '5 ms'), (0.015, '15 ms')])
def test_timestamps_violate_the_tolerance_inside_an_episode(tmp_path, late, says):
    """huggingface/lerobot#933. The rate counts, and stamps that differ are named.

    From frame 60 of 100 on each one is late: the episode is less than 1 % too long.
    """
    stamps = 0.02 * np.arange(100) + late * (np.arange(100) >= 60)
    samples, lines = inspected_samples(dataset(tmp_path / 'x', stamps), NAMES)
    np.testing.assert_allclose(samples.times, 0.02 * np.arange(100))
    assert [says in x for x in lines if 'off frame_index / fps' in x] == [True] * bool(says)


def copied(folder, name=KIND, **options):
    """Write the states into an MCAP file of another writer; return the file."""
    (whole,) = write_bag(folder / 'x', states()).glob('*.mcap')
    file = folder / 'x.mcap'
    with whole.open('rb') as read, file.open('wb') as written:
        copy = Writer(written, **options)
        copy.start(profile='', library='other')
        empty = copy.register_schema('std_msgs/msg/Empty', 'ros2msg', b'')
        tick = copy.register_channel('/tick', 'cdr', empty)
        kind = copy.register_schema(name, 'omgidl', b'')
        channel = copy.register_channel('/joint_states', 'cdr', kind)
        for _, _, each in make_reader(read).iter_messages():
            copy.add_message(tick, each.log_time, b'', each.publish_time)
            copy.add_message(channel, each.log_time, each.data, each.publish_time)
        copy.finish()
    return file


@pytest.mark.parametrize(
    'name', ['sensor_msgs::msg::dds_::JointState_', 'sensor_msgs::msg::JointState']
)
def test_a_dds_recorder_names_types_otherwise(tmp_path, name):
    """eProsima/DDS-Record-Replay#45. Both names of a type are read."""
    np.testing.assert_array_equal(read_samples(copied(tmp_path, name), NAMES).q, Q)


def test_a_file_without_an_index_of_messages_has_none(tmp_path):
    """foxglove/mcap#1735. The chunks are read."""
    for kind in (IndexType.CHUNK, IndexType.NONE):
        file = copied(tmp_path / kind.name, index_types=kind)
        np.testing.assert_array_equal(read_samples(file, NAMES).q, Q)


def test_an_empty_message_stops_the_reader(tmp_path):
    """foxglove/mcap#943. Messages of other types are passed over."""
    assert len(read_samples(copied(tmp_path), NAMES).times) == len(TIMES)


def test_fields_of_a_joint_state_have_different_sizes(tmp_path):
    """ros-controls/topic_based_hardware_interfaces#101. One number for each joint, or none."""
    file = write_bag(tmp_path / 'x', states(effort=EFFORT[:, :1]))
    line = '/joint_states: a joint state has 1 values of effort for 2 joints: publish one for each'
    with pytest.raises(ArmError, match=line):
        read_samples(file, NAMES)


def test_a_dataset_without_an_episode_is_looked_for_elsewhere(tmp_path):
    """huggingface/lerobot#3859. The line names what is missing."""
    with pytest.raises(ArmError, match='has no frames, as of a recording that was stopped at'):
        read_samples(dataset(tmp_path / 'x', []), NAMES)
