"""Measurement of a run, and its recording."""

import numpy as np
import pytest
from mcap.reader import make_reader

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.checks import in_range, one_of, per_joint
from arm_dynamics.robots import find_urdf
from arm_sim.ros.recording import Channel, schema_text, write_recording
from arm_sim.tasks.cube import Cube
from arm_sim.tasks.cube_report import draw, print_table, summarize
from arm_sim.tasks.tracking import JointLog, Tracking, measure, rms

MODEL = RobotModel.from_urdf(find_urdf('ur5e'))


def make_log(count: int) -> JointLog:
    rows = np.arange(6.0 * count).reshape(count, 6)
    return JointLog(np.arange(count) * 2_000_000, rows, rows + 1, rows + 2)


def test_a_missing_sample_is_noticed():
    log = make_log(10)
    part = log.between(4_000_000, 10_000_000, 2_000_000)
    np.testing.assert_array_equal(part.time_ns, (4_000_000, 6_000_000, 8_000_000, 10_000_000))
    holed = JointLog(*(np.delete(x, 3, axis=0) for x in (log.time_ns, log.q, log.v, log.effort)))
    with pytest.raises(ArmError, match=r'3 of 4 states were recorded'):
        holed.between(4_000_000, 10_000_000, 2_000_000)


def test_checksum_depends_on_every_bit_and_not_on_the_start_time():
    log = make_log(5)
    later = JointLog(log.time_ns + 7, log.q, log.v, log.effort)
    assert later.checksum() == log.checksum()
    q = log.q.copy()
    q[2, 3] = np.nextafter(q[2, 3], np.inf)
    assert JointLog(log.time_ns, q, log.v, log.effort).checksum() != log.checksum()


def test_rms_of_a_sine_is_its_amplitude_over_root_two():
    t = np.arange(1000) / 1000
    np.testing.assert_allclose(rms(3 * np.sin(2 * np.pi * t)), 3 / np.sqrt(2), rtol=1e-12)


class LineAlongJointSpace:
    """A trajectory that turns the first joint at 0.1 rad/s."""

    def states(self, t):
        q = np.zeros((len(t), 6))
        q[:, 0] = 0.1 * t
        return q, None, None


def test_tracking_error_is_the_distance_of_the_tips_and_torque_that_of_the_period():
    count = 6
    cube = Cube(edge_time=1.0)
    log = make_log(count)
    q = LineAlongJointSpace().states(log.time_ns * 1e-9)[0]
    q[:, 5] += 0.01  # turning the last joint leaves the tip where it is
    q[:, 0] += 1e-3
    log = JointLog(log.time_ns, q, log.v, log.effort)
    run = measure(MODEL, log, LineAlongJointSpace(), 0.0, cube)
    radius = np.hypot(*MODEL.forward_kinematics(q[0]).translation[:2])
    chord = 2 * radius * np.sin(0.5e-3)
    np.testing.assert_allclose(run.tracking_error, chord, rtol=1e-9)
    np.testing.assert_allclose(run.joint_error, np.tile([-1e-3, 0, 0, 0, 0, -0.01], (5, 1)))
    np.testing.assert_array_equal(run.effort, log.effort[1:])


def make_run(error: float, share: float) -> Tracking:
    k, cube = 600, Cube()
    t = np.arange(k) * 0.05
    return Tracking(
        t=t,
        reference_tip=np.tile(cube.center, (k, 1)),
        tip=np.tile(cube.center, (k, 1)) + np.outer(np.sin(t), (0.05, 0.05, 0.05)),
        path_error=np.full(k, error),
        tracking_error=error * (1 + np.sin(t)),
        joint_error=np.full((k, 6), error),
        effort=np.full((k, 6), 150 * share),
        effort_share=np.full((k, 6), share),
    )


@pytest.mark.parametrize(('error', 'share'), [(0.0, 0.0), (1e-16, 0.1), (0.02, 1.0)])
def test_table_and_picture_come_for_perfect_and_for_bad_runs(error, share, tmp_path, capsys):
    run, cube = make_run(error, share), Cube()
    report = {
        'robot': 'ur5e', 'controller': 'servo', 'engine': 'mujoco', 'mode': 'lockstep',
        'feedforward': 'none', 'path': 'edges', 'cycles_per_second': 1.0, 'checksum': 'abc',
        'ik': {'calls': 1, 'max_position_error_mm': 0.0, 'max_joint_step_rad': 0.0},
        **summarize(run, cube, MODEL.joint_names),
    }  # fmt: skip
    np.testing.assert_allclose(report['path_error_mm']['rms'], error * 1e3)
    assert report['saturated_samples'] == (600 if share >= 1 else 0)
    draw(run, cube, report, tmp_path / 'tracking.png')
    assert (tmp_path / 'tracking.png').stat().st_size > 50_000
    check = {'name': 'path error', 'value': error, 'limit': 1.0, 'unit': 'mm', 'held': True}
    print_table(report, [check])
    printed = capsys.readouterr().out
    assert 'path error [mm]' in printed
    assert 'held' in printed


def test_recording_is_a_readable_mcap_with_the_message_definition(tmp_path):
    path = tmp_path / 'recording.mcap'
    messages = [(5, b'\x00\x01\x00\x00first'), (9, b'\x00\x01\x00\x00second')]
    write_recording(path, [Channel('/joint_states', 'sensor_msgs/msg/JointState', messages)])
    with path.open('rb') as stream:
        found = list(make_reader(stream).iter_messages())
    assert [(m.log_time, m.data) for _, _, m in found] == messages
    schema, channel, _ = found[0]
    assert (channel.topic, channel.message_encoding) == ('/joint_states', 'cdr')
    text = schema.data.decode()
    assert 'float64[] position' in text
    assert 'MSG: std_msgs/Header' in text
    assert 'MSG: builtin_interfaces/Time' in text
    assert text == schema_text('sensor_msgs/msg/JointState')


def test_checks_name_what_is_wrong():
    names = ('a', 'b')
    np.testing.assert_array_equal(per_joint('kp', 3.0, names), (3.0, 3.0))
    with pytest.raises(ArmError, match="kp of joint 'b' is -1; it must be >= 0"):
        per_joint('kp', (1.0, -1.0), names, minimum=0.0)
    with pytest.raises(ArmError, match="kp of joint 'a' is 0; it must be > 0"):
        per_joint('kp', (0.0, 1.0), names, minimum=0.0, exclusive=True)
    with pytest.raises(ArmError, match="kp of joint 'a' is nan; it must be finite"):
        per_joint('kp', (np.nan, 1.0), names)
    with pytest.raises(ArmError, match='kp has 3 values'):
        per_joint('kp', (1.0, 2.0, 3.0), names)
    with pytest.raises(ArmError, match="mode is 'x'; allowed: p, q"):
        one_of('mode', 'x', ('p', 'q'))
    with pytest.raises(ArmError, match='rate is 3; it must be finite, >= 0 and <= 2'):
        in_range('rate', 3.0, 0.0, 2.0)
