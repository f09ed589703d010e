"""Films of recordings: what the camera sees, the path in colours of its error, the files."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from optional import optional
from PIL import Image

pytest.importorskip('rclpy')

from control_msgs.msg import JointTrajectoryControllerState
from rclpy.serialization import serialize_message
from std_msgs.msg import String

from arm_controllers.ros.serialized_messages import FIELDS, JointStateWriter
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_tools.recording.mcap_file import McapFile
from arm_tools.recording.ros import render
from arm_tools.recording.ros.recorded_run import RecordedRun
from arm_tools.recording.ros.schemas import schema_text
from arm_tools.view import film_files, offscreen
from arm_tools.view.camera import FIELD_OF_VIEW, View, axes_of, camera_for
from arm_tools.view.caption import Caption, error_text
from arm_tools.view.error_scale import ErrorScale
from arm_tools.view.film_files import KINDS, MOST, check_file, usual_speed, write_gif, write_mp4
from arm_tools.view.recorded_motion import RecordedMotion, timed_segments
from arm_tools.view.scene import add_segment

# In grey, so that what is coloured in a picture is the path.
URDF = re.sub(r'rgba="[^"]*"', 'rgba="0.7 0.7 0.7 1"', find_urdf('planar_3r').read_text())
ARM = RobotModel(URDF)
PERIOD = 20_000_000
COUNT = 51  # states, of one second


@pytest.fixture(scope='module')
def file(tmp_path_factory):
    """Return a recording: a turn of 1.2 rad, in its first half 1e-9 rad off, then 0.01 rad."""
    path = tmp_path_factory.mktemp('recording') / 'x.mcap'
    file = McapFile(path)
    topics = {
        '/joint_states': 'sensor_msgs/msg/JointState',
        '/robot_description': 'std_msgs/msg/String',
        '/pd_controller/controller_state': 'control_msgs/msg/JointTrajectoryControllerState',
    }
    for topic, kind in topics.items():
        file.open_channel(topic, kind, schema_text(kind))
    file.write('/robot_description', bytes(serialize_message(String(data=URDF))), 0)
    writer = JointStateWriter(ARM.joint_names, FIELDS)
    for k in range(COUNT):
        time_ns, off = k * PERIOD, 1e-9 if 2 * k < COUNT else 1e-2
        q = np.array([1.2 * k / (COUNT - 1), 0.4, 0.4])
        writer.position[:] = q
        file.write('/joint_states', writer.serialized(time_ns), time_ns)
        report = JointTrajectoryControllerState(joint_names=list(ARM.joint_names)[::-1])
        report.header.stamp.nanosec, report.header.stamp.sec = time_ns % 10**9, time_ns // 10**9
        report.feedback.positions = q[::-1].tolist()
        report.reference.positions = (q + np.array([off, 0.0, 0.0]))[::-1].tolist()
        file.write('/pd_controller/controller_state', bytes(serialize_message(report)), time_ns)
    file.close()
    return path


def draws():
    """Return whether pictures can be drawn here; if not, pytest's summary says why."""
    why = {library: offscreen.why_not(library) for library in offscreen.BACKENDS}
    if all(why.values()):
        warnings.warn(f'no picture was drawn and looked at here: {why}', stacklevel=2)
    return not all(why.values())


def rendered(*arguments):
    return render.main(list(map(str, arguments)))


def coloured(picture, main, others):
    """Return where one channel is far above the others, captions apart."""
    picture = np.asarray(picture.convert('RGB'), dtype=int)[:190]
    return picture[..., main] - picture[..., others].max(axis=-1) > 60


@pytest.mark.slow
def test_the_pictures_show_the_arm_moving_and_the_path_in_colours_of_its_error(
    file, tmp_path, capsys
):
    shots = [tmp_path / f'{k}.png' for k in range(3)]
    for shot, end in zip(shots, (0.1, 0.46, 1.0), strict=True):
        code = rendered(file, '--output', shot, '--size', '320x240', '--to', end)
        if not draws():
            assert code == 1
            assert capsys.readouterr().err.count('no OpenGL without a window here') == 1
            return
        assert code == 0
        assert f'{shot}: 1 picture' in capsys.readouterr().out
    begin, middle, end = map(Image.open, shots)
    assert begin.size == middle.size == end.size == (320, 240)
    assert (np.asarray(begin) != np.asarray(middle)).any(axis=-1).mean() > 0.02
    assert coloured(middle, 0, [1, 2]).sum() == 0
    assert coloured(end, 0, [1, 2]).sum() > 30  # large errors are red
    assert coloured(end, 2, [0]).sum() > 30  # small ones blue


@pytest.mark.slow
def test_zoom_magnifies_the_path(file, tmp_path):
    if not draws():
        return
    found = []
    for zoom in (1, 3):
        shot = tmp_path / f'{zoom}.png'
        assert rendered(file, '--output', shot, '--size', '320x240', '--zoom', zoom) == 0
        found.append(coloured(Image.open(shot), 0, [1, 2]).sum())
    assert found[1] > 2 * found[0]


@pytest.mark.slow
def test_a_film_has_as_many_pictures_as_its_time_and_speed_say(file, tmp_path, capsys):
    if not draws():
        return
    film = tmp_path / 'film.gif'
    assert rendered(file, '--output', film, '--size', '160x120', '--speed', 2, '--orbit', 90) == 0
    printed = capsys.readouterr().out
    assert '7 of 7' in printed  # half a second, 12.5 a second, and the first
    assert 'film.gif: 7 pictures' in printed
    gif = Image.open(film)
    assert (gif.n_frames, gif.size, gif.info['duration']) == (7, (160, 120), 80)


@pytest.mark.slow
def test_recordings_are_drawn_side_by_side(file, tmp_path):
    if not draws():
        return
    for name, files in (('one.png', [file]), ('two.png', [file, file])):
        assert rendered(*files, '--output', tmp_path / name, '--size', '160x120') == 0
    one, two = (np.asarray(Image.open(tmp_path / name)) for name in ('one.png', 'two.png'))
    np.testing.assert_array_equal(two, np.hstack([one, one]))


def test_no_fact_of_a_drawn_segment_is_what_memory_held_before():
    drawn = []
    for garbage in (3, 4):
        scene = mujoco.MjvScene(mujoco.MjModel.from_xml_string('<mujoco/>'), 1)
        geom = scene.geoms[0]
        for fact in ('category', 'objtype', 'objid', 'segid', 'dataid', 'matid'):
            setattr(geom, fact, garbage)
        add_segment(scene, 0.1, np.zeros(3), np.ones(3), np.ones(4))
        by_renderer = {'camdist', 'transparent'}
        facts = {x for x in dir(geom) if not x.startswith('_')} - by_renderer
        drawn.append({x: np.array(getattr(geom, x)).tolist() for x in sorted(facts)})
    assert drawn[0] == drawn[1]


def test_a_gif_of_any_length_is_as_quick_as_its_size_asks_for():
    for name, duration, speed in (
        ('a.gif', 79.9, 1), ('a.gif', 80.0, 2), ('a.GIF', 3600.0, 46), ('a.mp4', 3600.0, 1),
    ):  # fmt: skip
        assert usual_speed(Path(name), duration) == speed
        if speed > 1:
            assert duration / speed * KINDS['.gif'] + 1 <= MOST < duration / (speed - 1) * 12.5 + 1


@pytest.mark.parametrize(
    ('arguments', 'line'),
    [
        (['--output', 'film.avi'], r"output 'film.avi' must end in .png, .gif, .mp4"),
        (['--output', '/no/where/a.gif'], "output '/no/where/a.gif': no such folder '/no/where'"),
        (['--size', 'big'], r"--size is 'big'; it must be WIDTHxHEIGHT"),
        (['--size', '961x720'], r'width of --size is 961; it must be even'),
        (['--size', '96x7'], r'height of --size is 7'),
        (['--camera', '12'], r'--camera is (12.0,); it must be two finite numbers'),
        (['--camera', '12,100'], r'elevation of --camera is 100'),
        (['--speed', '0'], r'--speed is 0'),
        (['--from', '3'], r'from 3 s to 1 s there is no state; there are states from 0 s to 1 s'),
        (
            ['--speed', '1e-4'],
            r'would have 125001 pictures; a GIF has at most 1000: raise --speed',
        ),
    ],
)
def test_what_cannot_be_rendered_is_one_line(file, capsys, arguments, line):
    assert rendered(file, *arguments) == 1
    printed = capsys.readouterr().err
    assert printed.count('\n') == 1
    assert line in printed


def test_a_recording_without_an_arm_or_none_at_all_is_one_line(tmp_path, capsys):
    path = tmp_path / 'states.mcap'
    recording = McapFile(path)
    kind = 'sensor_msgs/msg/JointState'
    recording.open_channel('/joint_states', kind, schema_text(kind))
    recording.write('/joint_states', JointStateWriter(('a',), FIELDS).serialized(0), 0)
    recording.close()
    assert rendered(path) == 1
    assert 'has no robot_description' in capsys.readouterr().err
    path.write_bytes(b'no recording')
    assert rendered(path) == 1
    assert 'cannot be read' in capsys.readouterr().err
    assert rendered(path.rename(path.with_name('record.npz'))) == 1
    assert "record.npz': it must be an .mcap or .db3 file, or the" in capsys.readouterr().err


def test_without_opengl_one_line_says_why_and_what_to_do(monkeypatch):
    reason = offscreen.why_not.__wrapped__('nothing')
    assert reason == 'RuntimeError: invalid value for environment variable MUJOCO_GL: nothing'
    monkeypatch.setattr(offscreen, 'why_not', lambda library: reason)
    monkeypatch.delenv('MUJOCO_GL', raising=False)
    with pytest.raises(ArmError, match=r'\(egl: RuntimeError.*; osmesa: .*install Mesa') as caught:
        offscreen.backend()
    assert '\n' not in str(caught.value)
    monkeypatch.setenv('MUJOCO_GL', 'osmesa')
    monkeypatch.setattr(offscreen, 'why_not', lambda library: '' if library == 'egl' else 'gone')
    with pytest.raises(ArmError, match=r'\(osmesa: gone\)'):
        offscreen.backend()
    monkeypatch.delenv('MUJOCO_GL')
    assert offscreen.backend() == 'egl'


@pytest.mark.parametrize('aspect', [0.5, 1.0, 2.0])
@pytest.mark.parametrize('view', [View(), View(30.0, -60.0), View(200.0, 10.0, 40.0)])
def test_the_camera_sees_all_points_and_no_more_room_than_they_need(view, aspect):
    rng = np.random.default_rng(4)
    points = rng.uniform((-3.0, 0.0, 0.5), (1.0, 0.3, 2.0), (200, 3))
    seconds = 5.0
    camera = camera_for(points, view, aspect, seconds)
    edge = np.tan(np.radians(FIELD_OF_VIEW) / 2) * np.array([aspect, 1.0])
    largest, highest = [], []
    for azimuth in view.azimuth + view.orbit * np.linspace(0.0, seconds, 37):
        seen = (points - camera.lookat) @ axes_of(azimuth, view.elevation).T
        depth = seen[:, 2] + camera.distance
        assert depth.min() > 0
        share = np.abs(seen[:, :2]) / depth[:, np.newaxis] / edge
        largest.append(share.max())
        highest.append(share[:, 1].max())
    assert 0.78 < max(largest) < 0.87
    assert max(highest) < 0.81  # a title is above


def test_a_path_is_drawn_in_few_pieces_near_it_and_not_over_a_reset():
    side = np.linspace(0.0, 0.3, 301)
    zero = np.zeros_like(side)
    path = np.concatenate([
        np.stack([side, zero, zero], axis=1), np.stack([zero + 0.3, side, zero], axis=1),
        np.stack([zero + 5.0, side, zero], axis=1),
    ])  # fmt: skip
    t, level = np.arange(903.0), np.zeros(903, dtype=np.int64)
    level[:150] = 3
    drawn = timed_segments(t, path, level, 0.004)
    lengths = np.linalg.norm(drawn.end - drawn.start, axis=1)
    assert len(lengths) <= 8
    np.testing.assert_allclose(lengths.sum(), 0.9, atol=0.02)
    assert lengths[drawn.level == 3].sum() == pytest.approx(0.15, abs=0.01)
    tip = path[200]
    now = drawn.until(200.0, tip)
    np.testing.assert_array_equal(now.end[-1], tip)
    np.testing.assert_allclose(np.linalg.norm(now.end - now.start, axis=1).sum(), 0.2, atol=0.01)
    np.testing.assert_array_equal(drawn.end[drawn.begun < 200.0][:-1], now.end[:-1])
    turn = np.linspace(0.0, 6.0, 2000)
    circle = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    drawn = timed_segments(turn, circle, np.zeros(2000, dtype=np.int64), 0.01)
    middles = 0.5 * (drawn.start + drawn.end)
    assert len(middles) > 10
    assert 1.0 - np.linalg.norm(middles, axis=1).min() <= 0.25 * 0.01


def test_colours_of_errors_span_at_most_four_decades_below_the_largest():
    scale = ErrorScale(np.geomspace(1e-12, 5e-3, 50))  # [m]
    assert (scale.low, scale.high) == (-3, 1)
    levels = scale.levels(np.array([0.0, 1e-9, 1e-6, 1e-5, 1e-4, 1e-2, 1.0]))
    last = len(scale.palette) - 1
    np.testing.assert_array_equal(levels, [0, 0, 0, last // 4 + 1, last // 2 + 1, last, last])
    for none in (np.zeros(5), np.array([])):
        assert ErrorScale(none).low < ErrorScale(none).high
    one = ErrorScale(np.full(3, 2e-6))
    assert (one.low, one.high) == (-3, -2)


def test_meshes_are_looked_for_next_to_the_recorded_robots_file_where_that_is_here():
    files = []
    for robot in ('planar_3r', '/on/another/machine.urdf'):
        known = {'/simulator': {'robot': robot, 'floor': False, 'tool_frame': 'link_2'}}
        recording = RecordedRun(Path('x.mcap'), parameters=known, urdf=URDF)
        model, surroundings = render.recorded_arm(recording)
        assert (model.tip_frame, surroundings.floor) == ('link_2', False)
        files.append(model.file)
    assert files == [str(find_urdf('planar_3r')), '']


def test_the_controller_of_an_arm_with_a_model_error_has_its_own_model():
    wrong = URDF.replace('effort="', 'effort="1')
    known = {
        '/simulator': {'robot': '/on/another/machine.urdf'},
        '/pd_controller': {'robot': 'planar_3r'},
    }
    recording = RecordedRun(Path('x.mcap'), parameters=known, urdf=wrong)
    assert recording.parameters_of('pd_controller')['robot'] == 'planar_3r'
    assert Path(recording.parameters_of('simulator')['robot']).read_text() == wrong


def test_a_long_title_is_cut_and_stays_within_the_picture():
    short, long = (Caption(320, 240, title, None) for title in ('an arm', 'x' * 500))
    grey = np.full((240, 320, 3), 120, dtype=np.uint8)
    changed = [(each.on(grey, 0.0, np.nan)[:30] != 120).any(axis=(0, 2)) for each in (short, long)]
    assert changed[0].sum() < changed[1].sum() < 320
    assert not changed[1][-1]


def test_an_error_on_a_picture_has_no_exponent_where_it_is_large():
    assert [error_text(error) for error in (1e-13, 0.0123, 1.84, 99.6, 183.7, 1250.0)] == [
        '< 1e-12',
        '0.012',
        '1.8',
        '100',
        '184',
        '1250',
    ]


def test_a_motion_knows_no_error_where_no_controller_reported_one():
    q = np.zeros((3, 3))
    empty = np.empty((0, 3))
    motion = RecordedMotion.of(ARM, np.arange(3.0), q, np.array([]), empty, empty)
    assert np.isnan(motion.error_at(np.array([0.5]))).all()
    assert len(motion.between(1.0, 2.0).t) == 2


def test_exaggerated_errors_are_farther_from_the_reference_by_the_factor():
    t, rng = np.arange(4.0), np.random.default_rng(0)
    reference = rng.uniform(-1.0, 1.0, (4, 3))
    q = reference + 1e-4 * rng.normal(size=(4, 3))
    true = RecordedMotion.of(ARM, t, q, t, reference, q)
    drawn = RecordedMotion.of(ARM, t, q, t, reference, q, 7.0)
    np.testing.assert_allclose(drawn.q - reference, 7.0 * (q - reference), rtol=1e-9)
    off = [each.tip - each.reference_tip for each in (true, drawn)]
    np.testing.assert_allclose(off[1], 7.0 * off[0], atol=1e-5)  # of second order in the error
    np.testing.assert_array_equal(drawn.error, true.error)
    empty = np.empty((0, 3))
    with pytest.raises(ArmError, match='no controller published a reference'):
        RecordedMotion.of(ARM, t, q, np.array([]), empty, empty, 2.0)


def pictures(count, size=(64, 48)):
    for k in range(count):
        picture = np.full((size[1], size[0], 3), 200, dtype=np.uint8)
        picture[:, : 4 * k + 4] = (10, 200, 30)
        yield picture


def test_a_gif_keeps_the_colours_of_the_scale(tmp_path):
    path = tmp_path / 'x.gif'
    write_gif(path, pictures(5), list(pictures(2)), ErrorScale.palette)
    gif = Image.open(path)
    assert gif.n_frames == 5
    assert gif.info['loop'] == 0
    gif.seek(4)
    last = np.asarray(gif.convert('RGB'), dtype=int)
    assert np.abs(last - list(pictures(5))[-1]).max() < 8
    own = np.round(255 * ErrorScale.palette[:, :3]).astype(np.uint8)
    picture = np.tile(own, (30, 1, 1))
    write_gif(path, iter([picture]), list(pictures(2)), ErrorScale.palette)
    np.testing.assert_array_equal(np.asarray(Image.open(path).convert('RGB')), picture)


def test_an_mp4_is_what_players_ask_for(tmp_path):
    optional('imageio_ffmpeg', 'imageio-ffmpeg')
    path = tmp_path / 'x.mp4'
    check_file(path, 10)
    write_mp4(path, pictures(10), (64, 48))
    printed = subprocess.run(
        [film_files.ffmpeg(), '-i', path], capture_output=True, text=True
    ).stderr
    assert 'Video: h264' in printed
    assert 'yuv420p' in printed
    assert '64x48' in printed
    assert 'Duration: 00:00:00.40' in printed
    with pytest.raises(ArmError, match='cannot be written: ffmpeg: .+'):
        write_mp4(path, pictures(10, (64, 32)), (63, 48))
    assert path.stat().st_size > 500  # the one before is whole


def test_without_ffmpeg_an_mp4_is_refused_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, 'imageio_ffmpeg', None)
    monkeypatch.setenv('PATH', str(tmp_path))
    with pytest.raises(ArmError, match='x.mp4\' needs ffmpeg: .*pip install imageio-ffmpeg"'):
        check_file(tmp_path / 'x.mp4', 1)
