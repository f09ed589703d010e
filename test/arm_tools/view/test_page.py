"""The page in the browser without ROS: what it shows of an arm, what it says, what it asks for."""

import errno
import re
import time
import warnings
from io import BytesIO

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from chromium import program, tab
from long_wait import LONG_WAIT
from optional import optional
from PIL import Image
from repository import ROOT

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.robots import find_urdf, robot_names
from arm_dynamics.surroundings import Surroundings
from arm_tools.view import page, past_film, server, trail
from arm_tools.view.arm_shapes import arm_shapes, triangles
from arm_tools.view.event_log import EventLog
from arm_tools.view.monitor import ArmMonitor, History
from arm_tools.view.panel import head
from arm_tools.view.plots import colour_of, known_values, legend, prefix_of
from arm_tools.view.scene import Scene
from arm_tools.view.slider_moves import move_time, slider_ranges
from arm_tools.view.trail import Trail

UR5E = RobotModel.from_urdf(find_urdf('ur5e'))
FIVE = RobotModel.from_urdf(find_urdf('five_joint_arm'))


def volume(solid):
    """Return the volume inside a closed surface: of the pyramids from the origin to its faces."""
    a, b, c = (solid.points[solid.faces[:, k]] for k in range(3))
    return np.einsum('ij,ij->', a, np.cross(b, c)) / 6.0


def one_shape(kind, *size):
    """Return a MuJoCo model with one shape of this kind and these sizes."""
    text = f'<geom type="{kind}" size="{" ".join(map(str, size))}"/>'
    return mujoco.MjModel.from_xml_string(f'<mujoco><worldbody>{text}</worldbody></mujoco>')


@pytest.mark.parametrize(
    ('model', 'wanted', 'low'),
    [
        (one_shape('box', 0.1, 0.2, 0.3), 8 * 0.1 * 0.2 * 0.3, 1.0),
        (one_shape('cylinder', 0.1, 0.3), np.pi * 0.1**2 * 0.6, 0.99),  # of 40 corners
        (one_shape('ellipsoid', 0.1, 0.2, 0.3), 4 / 3 * np.pi * 0.1 * 0.2 * 0.3, 0.97),
        (one_shape('sphere', 0.1), 4 / 3 * np.pi * 0.1**3, 0.97),
        (one_shape('capsule', 0.1, 0.3), np.pi * 0.1**2 * (0.6 + 0.4 / 3), 0.97),
    ],
    ids=['box', 'cylinder', 'ellipsoid', 'sphere', 'capsule'],
)
def test_solids_are_closed_and_have_the_volume_and_size_of_mujocos(model, wanted, low):
    solid = triangles(model, 0)
    assert low - 1e-12 <= solid.volume / wanted <= 1.0 + 1e-12
    half = model.geom_aabb[0, 3:]
    np.testing.assert_allclose(solid.bounds, [-half, half], atol=3e-4)  # 40 corners of a circle


@pytest.mark.parametrize('robot', robot_names())
def test_shapes_are_where_mujoco_has_them_at_any_q(robot):
    model = RobotModel.from_urdf(find_urdf(robot))
    scene = Scene(model, Surroundings(table=(0.6, 0.0, 0.1, 0.2, 0.2, 0.2)))
    m, data, shapes = scene.mj_model, scene.mj_data, arm_shapes(scene)
    scene.show(model.random_configuration(np.random.default_rng(4)))
    for body in {shape.body for shape in shapes}:
        rotation = data.xmat[body].reshape(3, 3)
        own = [each.points for each in shapes if each.body == body]
        found = np.concatenate(own) @ rotation.T + data.xpos[body]
        wanted = np.concatenate([  # in another order
            triangles(m, k).vertices @ data.geom_xmat[k].reshape(3, 3).T + data.geom_xpos[k]
            for k in scene.visible_geoms()
            if m.geom_bodyid[k] == body
        ])  # fmt: skip
        np.testing.assert_allclose(found.mean(axis=0), wanted.mean(axis=0), atol=1e-9)
        np.testing.assert_allclose(np.cov(found.T), np.cov(wanted.T), atol=1e-9)


def test_a_mesh_is_shown_in_its_own_triangles_and_colour(tmp_path):
    lines = [f'v {corner}' for corner in ('0 0 0', '0.1 0 0', '0 0.2 0', '0 0 0.3')]
    lines += [f'f {face}' for face in ('1 3 2', '1 2 4', '1 4 3', '2 3 4')]
    (tmp_path / 'wedge.obj').write_text('\n'.join(lines))
    shape = (
        f'<visual><geometry><mesh filename="file://{tmp_path}/wedge.obj"/></geometry>'
        '<material name="red"><color rgba="1 0 0 0.5"/></material></visual></link>'
    )
    bare = re.sub(r'<visual>.*?</visual>', '', FIVE.urdf, flags=re.DOTALL)
    scene = Scene(RobotModel(bare.replace('</link>', shape)), Surroundings())
    (first, *others) = arm_shapes(scene)
    assert first.colour == (1.0, 0.0, 0.0, 0.5)
    assert first.flat
    assert len({each.body for each in others} | {first.body}) == bare.count('</link>')
    assert volume(first) == pytest.approx(0.1 * 0.2 * 0.3 / 6, rel=1e-5)  # a float32 each


def test_the_drawn_path_has_the_colour_of_its_error_and_no_jump():
    drawn = Trail()
    assert len(drawn.changes().points) == 0
    drawn.add(np.zeros(3), 1e-6)
    drawn.add(np.array([0.0004, 0.0, 0.0]), 1e-6)  # too near: waits
    drawn.add(np.array([0.01, 0.0, 0.0]), 1e-6)
    drawn.add(np.array([0.02, 0.0, 0.0]), 1e-3)
    drawn.add(np.array([1.0, 0.0, 0.0]), 1e-3)  # the arm was reset
    drawn.add(np.array([1.0, 0.0, 0.01]), float('nan'))
    pieces = drawn.changes()
    np.testing.assert_allclose(
        pieces.points[:, :, 0], [[0.0, 0.01], [0.01, 0.02], [1.0, 1.0]], atol=1e-7
    )
    small, large, unknown = pieces.colours[:, 0].astype(int)
    palette = np.round(255 * drawn.scale.palette[:, :3])
    assert (drawn.scale.low, drawn.scale.high) == (-2, 1)  # decades of millimetres
    np.testing.assert_array_equal(small, palette[0])
    np.testing.assert_array_equal(large, palette[round(2 / 3 * (len(palette) - 1))])
    np.testing.assert_array_equal(unknown, np.round(255 * np.array(trail.PLAIN)))
    assert drawn.changes() is None
    drawn.clear()
    assert len(drawn.changes().points) == 0


def test_of_a_long_path_the_newest_pieces_stay():
    drawn = Trail()
    for k in range(trail.CAPACITY + 10):
        drawn.add(np.array([0.002 * k, 0.0, 0.0]), 1e-5)
    points = drawn.changes().points
    assert len(points) == trail.CAPACITY
    assert points[:, 1, 0].max() == pytest.approx(0.002 * (trail.CAPACITY + 9))
    assert points[:, 0, 0].min() == pytest.approx(0.002 * 9)


def test_plots_get_the_last_seconds_in_as_few_points_as_they_have_room_for():
    past = History(2)
    empty = past.last(5.0, 100)
    assert empty.t.tolist() == [0.0, 1.0]
    assert np.isnan(empty.tip).all()
    for k in range(20_000):
        past.add(0.02 * k, np.array([k, -k]), np.array([0.1, 0.2]), 1e-3 * k)
    found = past.last(5.0, 100)
    assert len(found.t) == 100
    assert found.t[-1] == pytest.approx(0.02 * 19_999)
    assert found.t[0] == pytest.approx(found.t[-1] - 5.0, abs=0.03)
    np.testing.assert_allclose(found.error, np.outer([1, -1], found.t / 0.02), rtol=1e-12)
    np.testing.assert_allclose(found.tip, 1e-3 * found.t / 0.02, rtol=1e-12)
    np.testing.assert_array_equal(found.torque, np.tile([[0.1], [0.2]], 100))
    assert len(past.last(1e9, 10**6).t) == 15_000  # rows that are kept


def test_units_of_plots_suit_what_is_in_them():
    assert prefix_of(np.array([0.3, np.nan])) == (1e-3, 'm')
    assert prefix_of(np.array([-2e-6])) == (1e-6, 'µ')
    assert prefix_of(np.array([3.0])) == (1.0, '')
    for idle in (0.0, 1e-12, np.nan):  # at rest: rounding
        assert prefix_of(np.full(2, idle)) == (1e-6, 'µ')


# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
# Deficiency", 2009: severity 1.0, of linear red, green and blue.
DEFICIENCIES = {
    'none': np.eye(3),
    'protanopia': np.array([
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]),
    'deuteranopia': np.array([
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]),
}  # fmt: skip


@pytest.mark.parametrize('vision', DEFICIENCIES)
def test_six_joints_have_colours_that_colour_blind_people_distinguish(vision):
    codes = [[int(colour_of(k)[i : i + 2], 16) for i in (1, 3, 5)] for k in range(6)]
    linear = (np.array(codes) / 255.0) ** 2.2
    seen = (linear @ DEFICIENCIES[vision].T).clip(0.0, 1.0) ** (1 / 2.2)
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2)[np.triu_indices(6, 1)]
    assert apart.min() > 0.15


def test_plots_leave_out_what_is_not_known_values():
    t, nan = np.arange(4.0), float('nan')
    found = known_values(t, np.array([[nan, 1.0, 2.0, 3.0], [nan, nan, nan, nan]]))
    np.testing.assert_array_equal(found, [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(known_values(t, np.full((1, 4), nan)), [[0.0, 1.0], [0.0, 0.0]])


def test_a_refusal_is_on_the_page_with_its_reason_as_text_once():
    events = EventLog()
    assert 'nothing yet' in events.changes()
    events.add('goal sent: 1.0 s', 0.5)
    for _ in range(3):
        events.add('simulator: waiting', 1.0)
        events.refuse('goal', "joint 'elbow': <b>3.3</b> rad is above\nits limit", 1.25)
    message = events.changes()
    assert message.index('&lt;b&gt;3.3&lt;/b&gt; rad is above its limit (3 times)') > 0
    assert (
        message.count('simulator: waiting') == message.count('simulator: waiting (3 times)') == 1
    )
    assert '1.25 s' in message
    assert '<b>' not in message
    assert message.index('elbow') < message.index('goal sent')  # newest first
    assert events.changes() is None
    assert [text[:5] for text in events.refusals] == ['goal:'] * 2
    events.refuse('tip', '', 2.0)
    assert 'tip: no reason was given' in events.changes()
    events.refuse('x', 'long ' * 1000, 2.0)
    assert len(events.changes()) < 3000


def test_names_in_a_description_are_text_on_the_page_from_any_publisher():
    assert '>&lt;img src=x&gt;</span>' in legend(('<img src=x>',))
    assert '<b>&lt;script&gt;</b>' in head('<script>', 'c', ArmMonitor(UR5E))


def quintic_speed(start, end, seconds):
    s = np.linspace(0.0, 1.0, 1001)
    return np.abs(end - start) * (30 * s**2 - 60 * s**3 + 30 * s**4).max() / seconds


def test_a_move_from_the_page_is_slow_and_its_sliders_stay_within_the_limits():
    rng = np.random.default_rng(6)
    for _ in range(20):
        start, end = UR5E.random_configuration(rng), UR5E.random_configuration(rng)
        seconds = move_time(UR5E, start, end)
        assert (quintic_speed(start, end, seconds) <= 0.4 * UR5E.velocity_limit + 1e-9).all()
    assert move_time(UR5E, start, start) == 1.0
    lower, upper = slider_ranges(UR5E)
    UR5E.check_configuration(lower)
    UR5E.check_configuration(upper)
    endless = RobotModel(FIVE.urdf.replace('type="revolute"', 'type="continuous"'), FIVE.tip_frame)
    lower, upper = slider_ranges(endless)
    np.testing.assert_allclose(upper[endless.continuous], 3.141)
    np.testing.assert_allclose(lower[endless.continuous], -3.141)


def test_the_ends_of_sliders_have_three_decimals():
    ends = np.array(slider_ranges(UR5E))
    assert [str(end) for end in ends.ravel()] == [f'{end:.3f}' for end in ends.ravel()]


def test_the_monitor_follows_states_and_reports_and_forgets_where_time_goes_back():
    arm = ArmMonitor(UR5E)
    q = UR5E.neutral() + 0.1
    arm.on_state(0.0, q, np.full(6, 15.0))
    np.testing.assert_allclose(arm.torque, 15.0 / UR5E.effort_limit)
    assert arm.reference is None
    for k in range(1, 101):
        arm.on_report(0.02 * k, q + 1e-3 * k, q + 1e-3 * k + 1e-4, 0.02 * k)
    arm.on_state(1.99, q, None)  # older than the report
    np.testing.assert_array_equal(arm.q, q + 0.1)
    np.testing.assert_allclose(arm.error, 1e-4, rtol=1e-9)
    tips = [UR5E.forward_kinematics(q + 0.1 + d).translation for d in (0.0, 1e-4)]
    assert arm.tip_error == pytest.approx(np.linalg.norm(tips[1] - tips[0]), rel=1e-9)
    assert len(arm.history.last(10.0, 1000).t) == 101
    assert len(arm.trail.changes().points) > 20
    arm.on_state(3.5, q, None)  # no controller reports any more
    assert arm.reference is None
    assert np.isnan(arm.tip_error)
    arm.on_state(0.0, q, None)
    assert len(arm.trail.changes().points) == 0
    assert arm.time == 0.0


@pytest.mark.slow
def test_the_past_is_the_last_minute_at_most_100_times_per_second():
    arm = ArmMonitor(UR5E)
    q = UR5E.neutral()
    ball = [ObjectShape('b', 'sphere', (0.1,) * 3, (1.0,) * 4, '', (0.5, 0, 0, 0, 0, 0, 1))]
    for k in range(14_000):  # 70 s at 200 Hz
        arm.on_state(0.005 * k, q + 1e-5 * k, None)
        if k == 8_000:
            arm.objects = ball
    times = np.array([moment.t for moment in arm.past])
    assert times[-1] == pytest.approx(69.99)
    assert times[0] == pytest.approx(times[-1] - 60.0, abs=0.02)
    np.testing.assert_allclose(np.diff(times), 0.01, atol=1e-9)
    for moment in arm.past:
        np.testing.assert_allclose(moment.q, q + 2e-3 * moment.t, rtol=1e-9)
        assert moment.objects == (ball if moment.t > 40.0 else ())
    arm.on_state(0.0, q, None)
    assert len(arm.past) == 1  # a reset


def test_progress_is_the_goals_time_and_a_refusal_ends_in_words():
    arm = ArmMonitor(UR5E)
    q = UR5E.neutral()
    arm.on_goal(4.0)
    arm.on_report(1.0, q, q, 1.0)
    assert arm.goal.share == 0.25
    arm.on_result(True, '')
    assert (arm.goal.share, arm.goal.end) == (1.0, 'done')
    arm.on_result(False, "joint 'elbow_joint': too fast")
    assert "goal: joint 'elbow_joint': too fast" in arm.events.changes().replace('&#39;', "'")
    assert arm.goal.end == 'done'  # the refused one was another


def test_without_viser_the_page_says_what_to_install(monkeypatch):
    monkeypatch.setattr(server, 'find_spec', lambda name: None)
    with pytest.raises(ArmError, match='pip install viser'):
        page.Page('127.0.0.1', 8080, lambda do: None)


@pytest.mark.parametrize(
    ('host', 'says'),
    [
        ('', 'there must be one; 0.0.0.0 means all'),
        ('a..b', 'label'),
        ('203.0.113.1', 'assign'),  # reserved: RFC 5737
    ],
)
def test_an_address_that_is_not_this_machines_is_refused_not_waited_for(host, says):
    with pytest.raises(ArmError, match=says) as caught:
        server.free_port(host, 8080)
    assert str(caught.value).startswith(f'view_host {host!r}, view_port 8080: ')


def test_after_the_last_port_there_is_none(monkeypatch):
    def taken(host, port):
        raise OSError(errno.EADDRINUSE, 'Address already in use')

    monkeypatch.setattr(server, '_bind', taken)
    with pytest.raises(ArmError, match='the ports 65530 to 65535 are all taken'):
        server.free_port('127.0.0.1', 65530)


class Commands:
    """Records commands."""

    def __init__(self):
        self.given = []

    def __getattr__(self, name):
        return lambda *values: self.given.append((name, *values))


@pytest.fixture
def served():
    """Give a page with an arm, the commands, and a client that sends as a browser does."""
    optional('viser', 'viser>=1.1')
    import msgspec
    import viser
    from websockets.sync.client import connect

    asked, commands = [], Commands()
    shown = page.Page('127.0.0.1', 8080, asked.append)
    shown.set_arm(UR5E, Surroundings(), commands)
    address = shown.url.replace('http', 'ws')
    protocols = [f'viser-v{viser.__version__}']
    patient = {'open_timeout': LONG_WAIT, 'ping_interval': None, 'max_size': None}
    with connect(address, subprotocols=protocols, **patient) as socket:

        def send(kind, **fields):
            socket.send(msgspec.msgpack.encode({'type': kind, **fields}))

        def do(condition):
            end = time.monotonic() + LONG_WAIT
            while not condition():
                assert time.monotonic() < end
                while asked:
                    asked.pop(0)()
                time.sleep(0.005)

        send(
            'ViewerCameraMessage', wxyz=(1, 0, 0, 0), position=(2, 0, 1), fov=1.0, near=0.1,
            far=100.0, image_height=100, image_width=100, look_at=(0, 0, 0),
            up_direction=(0, 0, 1),
        )  # fmt: skip
        do(lambda: shown.has_browser)
        yield shown, commands, send, do
    shown.close()


def element(shown, label):
    """Return the page's element of this label."""
    found = shown.server.gui._gui_input_handle_from_uuid.values()
    return next(each for each in found if getattr(each, 'label', '') == label)


@pytest.mark.slow
def test_a_browser_that_moves_a_slider_and_clicks_moves_the_arm(served):
    shown, commands, send, do = served
    arm = ArmMonitor(UR5E)
    q = np.array([0.3, -1.2, 1.1, -1.5, -1.4, 0.2])
    arm.on_state(0.0, q, None)
    shown.show(arm, 'servo_controller')
    assert element(shown, 'elbow_joint').value == pytest.approx(1.1)  # sliders follow the arm
    assert element(shown, 'elbow_joint').hint == 'elbow_joint [rad]'
    uuid = element(shown, 'elbow_joint')._impl.uuid
    send('GuiUpdateMessage', uuid=uuid, updates={'value': 0.5})
    do(lambda: shown.panel.chosen is not None)
    shown.show(arm, 'servo_controller')
    assert shown.scene.sliders.visible  # where the sliders point
    send('GuiUpdateMessage', uuid=element(shown, 'Move')._impl.uuid, updates={'value': True})
    do(lambda: commands.given)
    ((order, wanted),) = commands.given
    assert order == 'move'
    np.testing.assert_allclose(wanted, [0.3, -1.2, 0.5, -1.5, -1.4, 0.2], atol=1e-3)
    arm.on_state(1.0, q + 0.5, None)
    shown.show(arm, 'servo_controller')
    send('GuiUpdateMessage', uuid=element(shown, 'Home')._impl.uuid, updates={'value': True})
    do(lambda: len(commands.given) > 1)
    assert commands.given[1][0] == 'move'
    np.testing.assert_array_equal(commands.given[1][1], q)  # where the arm was first


def test_a_browser_that_scrubs_sees_the_arm_as_it_was_and_that_it_is_the_past(served):
    shown, _, send, do = served
    arm, q = ArmMonitor(UR5E), UR5E.neutral()

    def go_on(start, end):
        for k in range(start, end):
            arm.on_report(0.1 * k, q + 0.01 * k, q + 0.01 * k + 0.1, 0.0)

    def scrub(seconds):
        slider = element(shown, 'Timeline [s]')
        send('GuiUpdateMessage', uuid=slider._impl.uuid, updates={'value': seconds})
        do(lambda: slider.value == seconds)
        for _ in range(page.PANEL_PERIOD):
            shown.show(arm, 'servo_controller')
        return shown.panel.head.content

    def forearm(figure):
        handles = shown.server.scene._handle_from_node_name
        return np.array(handles[f'/{figure}/3'].position)

    def there(at):
        scene = Scene(UR5E, Surroundings())
        scene.show(at)
        return scene.mj_data.xpos[3]

    go_on(0, 101)
    assert 'past' not in scrub(0.0)
    np.testing.assert_allclose(forearm('arm'), there(q + 1.0), atol=1e-9)
    assert 'the past: t = 7.00 s</b> (now 10.00 s)' in scrub(-3.0)
    go_on(101, 151)
    assert 'the past: t = 7.50 s</b> (now 15.00 s)' in scrub(-2.5)  # from where it was moved
    np.testing.assert_allclose(forearm('arm'), there(q + 0.75), atol=1e-9)
    np.testing.assert_allclose(forearm('reference'), there(q + 0.85), atol=1e-9)
    assert not shown.gizmo.visible  # it would command the arm of today
    assert 'the past: t = 0.00 s' in scrub(-60.0)
    assert 'past' not in scrub(0.0)
    np.testing.assert_allclose(forearm('arm'), there(q + 1.5), atol=1e-9)
    assert shown.gizmo.visible


def test_a_browser_pauses_steps_resets_pushes_and_sets_gains(served):
    shown, commands, send, do = served
    shown.set_gains((20.0, 1.0), 'computed_torque_controller')

    def click(label, value=True):
        count = len(commands.given)
        send('GuiUpdateMessage', uuid=element(shown, label)._impl.uuid, updates={'value': value})
        do(lambda: len(commands.given) > count)
        return commands.given[-1]

    for what in ('Step', 'Reset', 'Run', 'Pause'):
        assert click('Time', what) == ('time', what)
    assert click('Speed', '0.5') == ('set_speed', 0.5)
    assert click('Set gains') == ('set_gains', 20.0, 1.0)
    order, link, force, seconds = click('Push')
    assert (order, link, seconds) == ('push', UR5E.tip_frame, 0.5)
    np.testing.assert_array_equal(force, [0.0, 0.0, -20.0])


def test_a_browser_that_films_learns_where_the_film_is(served, tmp_path, monkeypatch):
    shown, _, send, do = served
    monkeypatch.chdir(tmp_path)

    def film_past(model, surroundings, past, path):
        path.write_text(f'{len(past)} moments of {model.name}')

    monkeypatch.setattr(past_film, 'film_past', film_past)
    arm = ArmMonitor(UR5E)
    for k in range(3):
        arm.on_state(0.1 * k, np.full(6, 0.1 * k), None)
    shown.show(arm, '')
    send(
        'GuiUpdateMessage', uuid=element(shown, 'Film the last minute')._impl.uuid,
        updates={'value': True},
    )  # fmt: skip
    said = []
    do(lambda: said.append(arm.events.changes() or '') or f'{tmp_path}/film_1.' in said[-1])
    (file,) = tmp_path.glob('film_1.*')
    assert file.read_text() == f'3 moments of {UR5E.name}'
    assert ('pip install imageio-ffmpeg' in said[-1]) == (file.suffix == '.gif')


@pytest.mark.slow
def test_what_no_browser_sends_fails_as_a_command_and_does_not_end_the_page(served):
    shown, commands, send, do = served
    for label, value, button in (('along', 'up', 'Push'), ('Last', 'year', 'Push')):
        send('GuiUpdateMessage', uuid=element(shown, label)._impl.uuid, updates={'value': value})
        send('GuiUpdateMessage', uuid=element(shown, button)._impl.uuid, updates={'value': True})
        with pytest.raises(KeyError, match='up'):
            do(lambda: False)
    arm = ArmMonitor(UR5E)
    arm.on_state(0.0, UR5E.neutral(), None)
    for _ in range(page.PANEL_PERIOD - 1):
        shown.show(arm, '')
    with pytest.raises(KeyError, match='year'):  # the first picture with plots
        shown.show(arm, '')
    shown.set_arm(UR5E, Surroundings(), commands)  # as the node does then
    for _ in range(page.PANEL_PERIOD):
        shown.show(arm, '')
    assert element(shown, 'along').value == '-z'


def test_the_tips_arrows_follow_the_tip_and_ask_where_they_are_let_go(served):
    shown, commands, send, do = served
    arm = ArmMonitor(UR5E)
    arm.on_state(0.0, UR5E.neutral() + 0.1, None)
    shown.show(arm, '')
    tip = UR5E.forward_kinematics(UR5E.neutral() + 0.1)
    np.testing.assert_allclose(shown.gizmo.position, tip.translation, atol=1e-5)
    send('TransformControlsDragStartMessage', name='/tip')
    place = (0.4, 0.1, 0.5)
    turn = pin.Quaternion(tip.rotation)
    do(lambda: shown.dragged)
    send(
        'TransformControlsUpdateMessage', name='/tip', position=place,
        wxyz=(turn.w, turn.x, turn.y, turn.z),
    )  # fmt: skip
    do(lambda: np.allclose(shown.gizmo.position, place))
    shown.show(arm, '')
    np.testing.assert_allclose(shown.gizmo.position, place)  # while it is held
    send('TransformControlsDragEndMessage', name='/tip')
    do(lambda: commands.given)
    ((order, pose),) = commands.given
    assert order == 'reach'
    np.testing.assert_allclose(pose.translation, place)
    np.testing.assert_allclose(pose.rotation, tip.rotation, atol=1e-5)
    assert not shown.dragged


def test_a_dragged_link_is_pushed_that_way_where_it_is_let_go(served):
    shown, commands, send, do = served
    arm, link = ArmMonitor(UR5E), 'forearm_link'
    arm.on_state(0.0, UR5E.neutral() + 0.1, None)
    for label, value in (('on', link), ('for [s]', 0.25), ('drag', True)):
        handle = element(shown, label)
        send('GuiUpdateMessage', uuid=handle._impl.uuid, updates={'value': value})
        do(lambda handle=handle, value=value: handle.value == value)
    shown.show(arm, '')
    assert (shown.gizmo.visible, shown.pusher.visible) == (False, True)
    origin = UR5E.forward_kinematics(UR5E.neutral() + 0.1, link).translation.copy()
    np.testing.assert_allclose(shown.pusher.position, origin, atol=1e-5)
    send('TransformControlsDragStartMessage', name='/push')
    do(lambda: shown.dragged)
    place = origin + np.array([0.03, 0.0, -0.02])
    send(
        'TransformControlsUpdateMessage', name='/push', position=tuple(place.tolist()),
        wxyz=(1, 0, 0, 0),
    )  # fmt: skip
    do(lambda: np.allclose(shown.pusher.position, place))
    shown.show(arm, '')  # the arrows stay where they are held
    send('TransformControlsDragEndMessage', name='/push')
    do(lambda: commands.given)
    ((order, pushed, force, seconds),) = commands.given
    assert (order, pushed, seconds) == ('push', link, 0.25)
    np.testing.assert_allclose(force, [30.0, 0.0, -20.0], atol=1e-9)
    shown.show(arm, '')
    np.testing.assert_allclose(shown.pusher.position, origin, atol=1e-5)


@pytest.mark.slow
def test_objects_are_on_the_page_move_and_go(served):
    shown = served[0]
    arm = ArmMonitor(UR5E)

    def handles():
        found = shown.server.scene._handle_from_node_name
        return {name for name in found if name.startswith('/arm/')}

    shown.show(arm, '')
    without = handles()
    for count in (1, 2, 1, 0):
        places = [(0.1 * k, 0.3, 0.4, 0.0, 0.0, 0.0, 1.0) for k in range(count)]
        colour, size = (1.0, 0.0, 0.0, 1.0), (0.1, 0.1, 0.1)
        arm.objects = [
            ObjectShape(f'{k}', 'box', size, colour, '', p) for k, p in enumerate(places)
        ]
        shown.show(arm, '')
        assert len(handles()) == len(without) + 2 * count  # a frame and its mesh
    arm.objects = [ObjectShape('one', 'sphere', size, colour, '', (0.5, 0.3, 0.4, 0, 0, 0, 1))]
    shown.show(arm, '')
    (frame,) = [name for name in handles() - without if name.count('/') == 2]
    here = shown.server.scene._handle_from_node_name[frame]
    np.testing.assert_allclose(here.position, [0.5, 0.3, 0.4])
    arm.objects = [arm.objects[0]._replace(pose=(0.7, 0.3, 0.4, 0, 0, 0, 1))]
    shown.show(arm, '')
    np.testing.assert_allclose(here.position, [0.7, 0.3, 0.4])


# The first thing on the page that the window or the frame of its own cuts, or 'none'.
CUT = """
    ([...document.querySelectorAll('button:not([role=tab]), input, label, p')].find(
        x => x.offsetParent && (x.getBoundingClientRect().right > innerWidth
                                || x.scrollWidth > x.clientWidth + 1)) || {outerHTML: 'none'}
    ).outerHTML
"""


def test_a_browser_draws_the_arm_next_to_the_panel_and_its_pause_button_pauses():
    optional('viser', 'viser>=1.1')
    if program() is None:
        warnings.warn('no page was opened in a browser: Chromium is not installed', stacklevel=1)
        return
    asked, commands, arm = [], Commands(), ArmMonitor(UR5E)
    shown = page.Page('127.0.0.1', 8080, asked.append)
    shown.set_arm(UR5E, Surroundings(), commands)

    def until(condition):
        end = time.monotonic() + LONG_WAIT
        while not (found := condition()):
            assert time.monotonic() < end
            while asked:
                asked.pop(0)()
            shown.show(arm, 'servo_controller')
            time.sleep(0.1)
        return found

    def caps(browser):
        """Return the columns in which the picture has the arm's blue caps."""
        picture = np.asarray(Image.open(BytesIO(browser.picture())).convert('RGB'), dtype=int)
        scene = picture[150:, :310]  # next to the panel, below viser's notice
        return np.flatnonzero((scene[..., 2] - scene[..., 0] > 60).any(axis=0))

    q = np.array([0.3, -1.2, 1.1, -1.5, -1.4, 0.2])
    arm.on_state(0.0, q, None)
    with tab(program()) as browser:
        browser.resize(640, 480)
        browser.call('Page.navigate', url=shown.url)
        text = 'document.body.innerText'
        until(lambda: browser.value(f'{text}.includes("t = 0.00 s")'))
        before = until(lambda: caps(browser).tolist())
        q[0] += 2.0
        arm.on_state(1.0, q, None)
        until(lambda: caps(browser).tolist() not in ([], before))
        button = '[...document.querySelectorAll("button")].find(x => x.innerText == "Pause")'
        browser.value(f'{button}.click()')
        until(lambda: commands.given == [('time', 'Pause')])
        for width, height in ((390, 844), (1280, 720), (1920, 1080)):  # a phone, screens
            browser.resize(width, height)
            assert until(lambda: browser.value(CUT)) == 'none', width
    shown.close()


def test_a_page_next_to_another_takes_the_next_port(served):
    shown = served[0]
    other = page.Page('127.0.0.1', shown.port, lambda do: None)
    assert other.port > shown.port
    assert f':{other.port}/' in other.url
    other.close()


def test_the_launch_files_have_the_page_and_say_so_where_viser_is_missing(monkeypatch):
    from arm_sim.launching.arguments import VIEW, argument, description, usual_values
    from arm_tools.view.ros import view_launch

    given = usual_values()
    assert view_launch.view(given) == []
    monkeypatch.setattr(view_launch, 'has_viser', lambda: False)
    (line,) = view_launch.view(given | {'view': 'true'})
    assert 'pip install viser' in line.msg[0].text
    monkeypatch.setattr(view_launch, 'has_viser', lambda: True)
    (node,) = view_launch.view(given | {'view': 'true', 'namespace': 'left'})
    assert node.node_executable == 'view'
    found = description([argument('view', 'true', 'here it is on')], lambda given: [])()
    names = [each.name for each in found.entities if hasattr(each, 'name')]
    assert sorted(names) == sorted(VIEW)
    for file in (ROOT / 'launch').glob('*.launch.py'):
        assert 'description(' in file.read_text(), file  # what adds the arguments
