"""The page in the browser without ROS: what it shows of an arm, what it says, what it asks for."""

import errno
import re
import time

import numpy as np
import pinocchio as pin
import pytest
from optional import optional
from patience import PATIENCE
from repository import ROOT

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.clearance import Surroundings
from arm_dynamics.robots import find_urdf, robot_names
from arm_sim.view import needs, page, trail
from arm_sim.view.history import History
from arm_sim.view.link_poses import LinkPoses
from arm_sim.view.link_shapes import _solids, link_shapes
from arm_sim.view.moves import move_time, slider_ends
from arm_sim.view.notices import Notices
from arm_sim.view.panel import _head
from arm_sim.view.plots import known, legend, prefix_of
from arm_sim.view.solids import Triangles, box, cylinder, rounded
from arm_sim.view.trail import Trail
from arm_sim.view.watched import Watched
from arm_sim.viewer.scene import Scene

UR5E = RobotModel.from_urdf(find_urdf('ur5e'))
FIVE = RobotModel.from_urdf(find_urdf('five_joint_arm'))


def volume(solid):
    """Return the volume inside a closed surface: of the pyramids from the origin to its faces."""
    a, b, c = (solid.points[solid.faces[:, k]] for k in range(3))
    return np.einsum('ij,ij->', a, np.cross(b, c)) / 6.0


@pytest.mark.parametrize(
    ('solid', 'wanted', 'low', 'high'),
    [
        (box(0.1, 0.2, 0.3), 8 * 0.1 * 0.2 * 0.3, 1.0, 1.0),
        (cylinder(0.1, 0.3), np.pi * 0.1**2 * 0.6, 0.99, 1.0),  # its circle has 40 corners
        (rounded((0.1, 0.2, 0.3)), 4 / 3 * np.pi * 0.1 * 0.2 * 0.3, 0.97, 1.0),
        (rounded((0.1, 0.1, 0.1), 0.3), np.pi * 0.1**2 * (0.6 + 0.4 / 3), 0.97, 1.0),
    ],
    ids=['box', 'cylinder', 'ellipsoid', 'capsule'],
)
def test_solids_are_closed_seen_from_outside_and_as_large_as_they_should_be(
    solid, wanted, low, high
):
    assert low - 1e-12 <= volume(solid) / wanted <= high + 1e-12
    twice = Triangles.together([solid, solid])
    assert volume(twice) == pytest.approx(2 * volume(solid), rel=1e-12)
    half = np.abs(solid.points).max(axis=0)
    np.testing.assert_allclose(-solid.points.min(axis=0), half, atol=1e-12)


@pytest.mark.parametrize('robot', robot_names())
def test_shapes_stand_where_mujoco_has_them_at_any_q(robot):
    model = RobotModel.from_urdf(find_urdf(robot))
    around = Surroundings(table=(0.6, 0.0, 0.1, 0.2, 0.2, 0.2))
    scene, shapes = Scene(model, around), link_shapes(model, around)
    links = sorted({shape.link for shape in shapes})
    poses, rng, m = LinkPoses(model, links), np.random.default_rng(4), scene.mj_model
    for _ in range(5):
        q = model.random_configuration(rng)
        scene.show(q)
        for link, (x, y, z, w, *turn) in zip(links, poses.at(q), strict=True):
            place = pin.XYZQUATToSE3(np.array([x, y, z, *turn, w]))
            own = [each.points for each in shapes if each.link == link]
            found = np.concatenate(own) @ place.rotation.T + place.translation
            theirs = [
                solid.points @ scene.mj_data.geom_xmat[k].reshape(3, 3).T
                + scene.mj_data.geom_xpos[k]
                for k, solid in _solids(m)
                if (m.body(m.geom_bodyid[k]).name if m.geom_bodyid[k] else model.base_frame)
                == link
            ]
            wanted = np.concatenate(theirs)  # in another order
            np.testing.assert_allclose(found.mean(axis=0), wanted.mean(axis=0), atol=1e-9)
            np.testing.assert_allclose(np.cov(found.T), np.cov(wanted.T), atol=1e-9)


@pytest.mark.parametrize('robot', robot_names())
def test_poses_of_links_are_pinocchios(robot):
    model = RobotModel.from_urdf(find_urdf(robot))
    poses, rng = LinkPoses(model, model.frame_names), np.random.default_rng(5)
    for _ in range(10):
        q = model.random_configuration(rng)
        data = model.pin_model.createData()
        pin.framesForwardKinematics(model.pin_model, data, model.to_pin(q))
        for name, (x, y, z, w, *turn) in zip(poses.links, poses.at(q), strict=True):
            found = pin.XYZQUATToSE3(np.array([x, y, z, *turn, w]))
            wanted = data.oMf[model.frame_id(name)]
            np.testing.assert_allclose(found.homogeneous, wanted.homogeneous, atol=1e-12)


def test_a_mesh_is_shown_in_its_own_triangles_and_colour(tmp_path):
    lines = [f'v {corner}' for corner in ('0 0 0', '0.1 0 0', '0 0.2 0', '0 0 0.3')]
    lines += [f'f {face}' for face in ('1 3 2', '1 2 4', '1 4 3', '2 3 4')]
    (tmp_path / 'wedge.obj').write_text('\n'.join(lines))
    shape = (
        f'<visual><geometry><mesh filename="file://{tmp_path}/wedge.obj"/></geometry>'
        '<material name="red"><color rgba="1 0 0 0.5"/></material></visual></link>'
    )
    bare = re.sub(r'<visual>.*?</visual>', '', FIVE.urdf, flags=re.DOTALL)
    (first, *others) = link_shapes(RobotModel(bare.replace('</link>', shape)), Surroundings())
    assert first.colour == (1.0, 0.0, 0.0, 0.5)
    assert first.flat
    assert len({each.link for each in others} | {first.link}) == bare.count('</link>')
    assert volume(first) == pytest.approx(0.1 * 0.2 * 0.3 / 6, rel=1e-5)  # a float32 each


def test_the_drawn_path_has_the_colour_of_its_error_and_no_jump():
    drawn = Trail()
    assert len(drawn.news().points) == 0
    drawn.add(np.zeros(3), 1e-6)
    drawn.add(np.array([0.0004, 0.0, 0.0]), 1e-6)  # too near: waits
    drawn.add(np.array([0.01, 0.0, 0.0]), 1e-6)
    drawn.add(np.array([0.02, 0.0, 0.0]), 1e-3)
    drawn.add(np.array([1.0, 0.0, 0.0]), 1e-3)  # the arm was reset
    drawn.add(np.array([1.0, 0.0, 0.01]), float('nan'))
    pieces = drawn.news()
    np.testing.assert_allclose(
        pieces.points[:, :, 0], [[0.0, 0.01], [0.01, 0.02], [1.0, 1.0]], atol=1e-7
    )
    small, large, unknown = pieces.colours[:, 0].astype(int)
    palette = np.round(255 * drawn.scale.palette[:, :3])
    assert (drawn.scale.low, drawn.scale.high) == (-2, 1)  # decades of millimetres
    np.testing.assert_array_equal(small, palette[0])
    np.testing.assert_array_equal(large, palette[round(2 / 3 * (len(palette) - 1))])
    np.testing.assert_array_equal(unknown, np.round(255 * np.array(trail._PLAIN)))
    assert drawn.news() is None
    drawn.clear()
    assert len(drawn.news().points) == 0


def test_of_a_long_path_the_newest_pieces_stay():
    drawn = Trail()
    for k in range(trail.MOST + 10):
        drawn.add(np.array([0.002 * k, 0.0, 0.0]), 1e-5)
    points = drawn.news().points
    assert len(points) == trail.MOST
    assert points[:, 1, 0].max() == pytest.approx(0.002 * (trail.MOST + 9))
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
    assert prefix_of(np.array([0.0])) == prefix_of(np.full(2, np.nan)) == (1e-12, 'p')


def test_plots_leave_out_what_is_not_known():
    t, nan = np.arange(4.0), float('nan')
    found = known(t, np.array([[nan, 1.0, 2.0, 3.0], [nan, nan, nan, nan]]))
    np.testing.assert_array_equal(found, [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(known(t, np.full((1, 4), nan)), [[0.0, 1.0], [0.0, 0.0]])


def test_a_refusal_is_on_the_page_with_its_reason_as_text_once():
    notices = Notices()
    assert 'nothing yet' in notices.news()
    notices.say('goal sent: 1.0 s', 0.5)
    for _ in range(3):
        notices.refuse('goal', "joint 'elbow': <b>3.3</b> rad is above\nits limit", 1.25)
    told = notices.news()
    assert told.index('&lt;b&gt;3.3&lt;/b&gt; rad is above its limit (3 times)') > 0
    assert '1.25 s' in told
    assert '<b>' not in told
    assert told.index('elbow') < told.index('goal sent')  # newest first
    assert notices.news() is None
    assert [each.text[:5] for each in notices.fresh] == ['goal:'] * 2
    notices.refuse('tip', '', 2.0)
    assert 'tip: no reason was given' in notices.news()
    notices.refuse('x', 'long ' * 1000, 2.0)
    assert len(notices.news()) < 3000


def test_names_in_a_description_are_text_on_the_page_whoever_published_it():
    assert '>&lt;img src=x&gt;</span>' in legend(('<img src=x>',))
    assert '<b>&lt;script&gt;</b>' in _head('<script>', 'c', Watched(UR5E))


def quintic_speed(start, end, seconds):
    s = np.linspace(0.0, 1.0, 1001)
    return np.abs(end - start) * (30 * s**2 - 60 * s**3 + 30 * s**4).max() / seconds


def test_a_move_from_the_page_is_calm_and_its_sliders_stay_within_the_limits():
    rng = np.random.default_rng(6)
    for _ in range(20):
        start, end = UR5E.random_configuration(rng), UR5E.random_configuration(rng)
        seconds = move_time(UR5E, start, end)
        assert (quintic_speed(start, end, seconds) <= 0.4 * UR5E.velocity_limit + 1e-9).all()
    assert move_time(UR5E, start, start) == 1.0
    lower, upper = slider_ends(UR5E)
    UR5E.check_configuration(lower)
    UR5E.check_configuration(upper)
    endless = RobotModel(FIVE.urdf.replace('type="revolute"', 'type="continuous"'), FIVE.tip_frame)
    lower, upper = slider_ends(endless)
    np.testing.assert_allclose(upper[endless.continuous], np.pi)
    np.testing.assert_allclose(lower[endless.continuous], -np.pi)


def test_what_is_watched_follows_states_and_reports_and_forgets_where_time_goes_back():
    watched = Watched(UR5E)
    q = UR5E.neutral() + 0.1
    watched.state(0.0, q, np.full(6, 15.0))
    np.testing.assert_allclose(watched.torque, 15.0 / UR5E.effort_limit)
    assert watched.reference is None
    for k in range(1, 101):
        watched.report(0.02 * k, q + 1e-3 * k, q + 1e-3 * k + 1e-4, 0.02 * k)
    watched.state(1.99, q, None)  # older than the report
    np.testing.assert_array_equal(watched.q, q + 0.1)
    np.testing.assert_allclose(watched.error, 1e-4, rtol=1e-9)
    tips = [UR5E.forward_kinematics(q + 0.1 + d).translation for d in (0.0, 1e-4)]
    assert watched.tip_error == pytest.approx(np.linalg.norm(tips[1] - tips[0]), rel=1e-9)
    assert len(watched.history.last(10.0, 1000).t) == 101
    assert len(watched.trail.news().points) > 20
    watched.state(3.5, q, None)  # nobody reports any more
    assert watched.reference is None
    assert np.isnan(watched.tip_error)
    watched.state(0.0, q, None)
    assert len(watched.trail.news().points) == 0
    assert watched.time == 0.0


def test_progress_is_the_goals_time_and_a_refusal_ends_in_words():
    watched = Watched(UR5E)
    q = UR5E.neutral()
    watched.start(4.0)
    watched.report(1.0, q, q, 1.0)
    assert watched.goal.share == 0.25
    watched.end(True, '')
    assert (watched.goal.share, watched.goal.end, watched.goal.bad) == (1.0, 'done', False)
    watched.end(False, "joint 'elbow_joint': too fast")
    assert "goal: joint 'elbow_joint': too fast" in watched.notices.news().replace('&#39;', "'")
    assert watched.goal.end == 'done'  # the refused one was another


def test_without_viser_the_page_says_what_to_install(monkeypatch):
    monkeypatch.setattr(needs, 'find_spec', lambda name: None)
    monkeypatch.setattr(page, 'has_viser', needs.has_viser)
    with pytest.raises(ArmError, match='pip install viser'):
        page.Page('127.0.0.1', 8080, lambda do: None)


@pytest.mark.parametrize(
    ('host', 'says'),
    [
        ('', 'there must be one; 0.0.0.0 stands for all'),
        ('a..b', 'label'),
        ('203.0.113.1', 'assign'),  # nobody's: RFC 5737
    ],
)
def test_an_address_that_is_not_this_machines_is_refused_not_waited_for(host, says):
    with pytest.raises(ArmError, match=says) as told:
        needs.free_port(host, 8080)
    assert str(told.value).startswith(f'view_host {host!r}, view_port 8080: ')


def test_after_the_last_port_there_is_none(monkeypatch):
    def taken(host, port):
        raise OSError(errno.EADDRINUSE, 'Address already in use')

    monkeypatch.setattr(needs, '_bind', taken)
    with pytest.raises(ArmError, match='the ports 65530 to 65535 are all taken'):
        needs.free_port('127.0.0.1', 65530)


class Taken:
    """Takes orders, and takes note."""

    def __init__(self):
        self.orders = []

    def __getattr__(self, name):
        return lambda *given: self.orders.append((name, *given))


@pytest.fixture
def served():
    """Give a page with an arm, its orders, and a client of it that sends as a browser does."""
    optional('viser', 'viser>=1.1')
    import msgspec
    import viser
    from websockets.sync.client import connect

    asked, taken = [], Taken()
    shown = page.Page('127.0.0.1', 8080, asked.append)
    shown.set_arm(UR5E, Surroundings(), taken)
    port = shown.url.rpartition(':')[2]
    protocols = [f'viser-v{viser.__version__}']
    patient = {'open_timeout': PATIENCE, 'ping_interval': None, 'max_size': None}
    with connect(f'ws://127.0.0.1:{port}', subprotocols=protocols, **patient) as socket:

        def send(kind, **fields):
            socket.send(msgspec.msgpack.encode({'type': kind, **fields}))

        def do(condition):
            end = time.monotonic() + PATIENCE
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
        do(lambda: shown.is_watched)
        yield shown, taken, send, do
    shown.close()


def element(shown, label):
    """Return the page's element of this label."""
    found = shown._server.gui._gui_input_handle_from_uuid.values()
    return next(each for each in found if getattr(each, 'label', '') == label)


def test_a_browser_that_moves_a_slider_and_clicks_moves_the_arm(served):
    shown, taken, send, do = served
    watched = Watched(UR5E)
    q = np.array([0.3, -1.2, 1.1, -1.5, -1.4, 0.2])
    watched.state(0.0, q, None)
    shown.show(watched, 'servo_controller')
    assert element(shown, 'elbow_joint').value == pytest.approx(1.1)  # sliders follow the arm
    assert element(shown, 'elbow_joint').hint == 'elbow_joint [rad]'
    uuid = element(shown, 'elbow_joint')._impl.uuid
    send('GuiUpdateMessage', uuid=uuid, updates={'value': 0.5})
    do(lambda: shown._panel.wanted is not None)
    shown.show(watched, 'servo_controller')
    assert shown._stage._wanted._root.visible  # where the sliders point
    send('GuiUpdateMessage', uuid=element(shown, 'Move')._impl.uuid, updates={'value': True})
    do(lambda: taken.orders)
    ((order, wanted),) = taken.orders
    assert order == 'move'
    np.testing.assert_allclose(wanted, [0.3, -1.2, 0.5, -1.5, -1.4, 0.2], atol=1e-3)


def test_a_browser_pauses_steps_resets_pushes_and_sets_gains(served):
    shown, taken, send, do = served
    shown.set_gains((20.0, 1.0), 'computed_torque_controller')

    def click(label, value=True):
        count = len(taken.orders)
        send('GuiUpdateMessage', uuid=element(shown, label)._impl.uuid, updates={'value': value})
        do(lambda: len(taken.orders) > count)
        return taken.orders[-1]

    assert click('Time', 'Step') == ('step',)
    assert click('Time', 'Reset') == ('reset',)
    assert click('Time', 'Run') == ('pause', False)
    assert click('Time', 'Pause') == ('pause', True)
    assert click('Set gains') == ('set_gains', 20.0, 1.0)
    order, link, force, seconds = click('Push')
    assert (order, link, seconds) == ('push', UR5E.tip_frame, 0.5)
    np.testing.assert_array_equal(force, [0.0, 0.0, -20.0])


def test_what_no_browser_sends_is_an_order_that_fails_and_none_that_ends_the_page(served):
    shown, taken, send, do = served
    for label, value, button in (('along', 'up', 'Push'), ('Last', 'year', 'Push')):
        send('GuiUpdateMessage', uuid=element(shown, label)._impl.uuid, updates={'value': value})
        send('GuiUpdateMessage', uuid=element(shown, button)._impl.uuid, updates={'value': True})
        with pytest.raises(KeyError, match='up'):
            do(lambda: False)
    watched = Watched(UR5E)
    watched.state(0.0, UR5E.neutral(), None)
    shown._pictures = page._SLOW - 1  # the next one has plots
    with pytest.raises(KeyError, match='year'):
        shown.show(watched, '')
    shown.set_arm(UR5E, Surroundings(), taken)  # as the node does then
    for _ in range(page._SLOW):
        shown.show(watched, '')
    assert element(shown, 'along').value == '-z'


def test_the_tips_arrows_follow_the_tip_and_ask_where_they_are_let_go(served):
    shown, taken, send, do = served
    watched = Watched(UR5E)
    watched.state(0.0, UR5E.neutral() + 0.1, None)
    shown.show(watched, '')
    tip = UR5E.forward_kinematics(UR5E.neutral() + 0.1)
    np.testing.assert_allclose(shown._gizmo.position, tip.translation, atol=1e-5)
    send('TransformControlsDragStartMessage', name='/tip')
    place = (0.4, 0.1, 0.5)
    turn = pin.Quaternion(tip.rotation)
    do(lambda: shown._dragged)
    send(
        'TransformControlsUpdateMessage', name='/tip', position=place,
        wxyz=(turn.w, turn.x, turn.y, turn.z),
    )  # fmt: skip
    do(lambda: np.allclose(shown._gizmo.position, place))
    shown.show(watched, '')
    np.testing.assert_allclose(shown._gizmo.position, place)  # while it is held
    send('TransformControlsDragEndMessage', name='/tip')
    do(lambda: taken.orders)
    ((order, pose),) = taken.orders
    assert order == 'reach'
    np.testing.assert_allclose(pose.translation, place)
    np.testing.assert_allclose(pose.rotation, tip.rotation, atol=1e-5)
    assert not shown._dragged


def test_a_page_beside_another_takes_the_next_port(served):
    shown = served[0]
    port = int(shown.url.rpartition(':')[2])
    other = page.Page('127.0.0.1', port, lambda do: None)
    assert int(other.url.rpartition(':')[2]) > port
    other.close()


def test_the_launch_files_have_the_page_and_say_so_where_viser_is_missing(monkeypatch):
    from arm_sim.launching import beside
    from arm_sim.launching.arguments import VIEW, argument, description, usual_values

    given = usual_values()
    assert beside.view(given) == []
    monkeypatch.setattr(beside, 'has_viser', lambda: False)
    (line,) = beside.view(given | {'view': 'true'})
    assert 'pip install viser' in line.msg[0].text
    monkeypatch.setattr(beside, 'has_viser', lambda: True)
    (node,) = beside.view(given | {'view': 'true', 'namespace': 'left'})
    assert node.node_executable == 'view'
    found = description([argument('view', 'true', 'here it is on')], lambda given: [])()
    names = [each.name for each in found.entities if hasattr(each, 'name')]
    assert sorted(names) == sorted(VIEW)
    for file in (ROOT / 'launch').glob('*.launch.py'):
        assert 'description(' in file.read_text(), file  # what adds the arguments
