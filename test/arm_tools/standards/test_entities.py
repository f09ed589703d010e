"""Entities of a simulated arm by name, without ROS's graph; the simulator without the standard."""

from types import SimpleNamespace

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.plant import PlantParameters
from arm_tools.standards.entities import BOX, SPHERE, Category, Entities, Volume
from arm_tools.standards.name_filter import name_filter

MODEL = RobotModel(find_urdf('planar_3r'))


def arm_in_motion():
    q, v = np.array([0.3, -0.5, 0.9]), np.array([0.2, 0.1, -0.4])
    return SimpleNamespace(q=q, v=v, scene=SimpleNamespace(objects=(), shapes=()))


def entities(mass=lambda: 0.0, prefix=''):
    return Entities(SimpleNamespace(model=MODEL, plant=arm_in_motion()), mass, prefix)


def test_a_payload_is_there_while_it_hangs_at_the_tip():
    hanging = [0.0]
    found = entities(lambda: hanging[0])
    assert set(found.all()) == {'arm', 'tip', *MODEL.frame_names}
    hanging[0] = 1.5
    payload = found.all()['payload']
    assert payload == (MODEL.tip_frame, Category.DYNAMIC_OBJECT, '1.5 kg at the tool frame')
    pose, velocity = found.motion('payload')
    wanted, speed = found.motion('tip')
    np.testing.assert_array_equal(pose.homogeneous, wanted.homogeneous)
    np.testing.assert_array_equal(velocity, speed)


def test_a_velocity_is_what_the_pose_does_next():
    plant, step = arm_in_motion(), 1e-7
    found = Entities(SimpleNamespace(model=MODEL, plant=plant), lambda: 0.0)
    pose, velocity = found.motion('tip')
    before = pose.translation.copy()
    plant.q = plant.q + plant.v * step
    after, _ = found.motion('tip')
    np.testing.assert_allclose((after.translation - before) / step, velocity[:3], atol=1e-6)


def test_names_of_an_arm_in_a_namespace_have_it_before_them():
    found = entities(prefix='left/')
    assert found.names('^left/t') == [name for name in found.all() if name.startswith('left/t')]
    assert all(name.startswith('left/') for name in found.all())
    assert found.names('', [Category.ROBOT]) == ['left/arm']


@pytest.mark.parametrize('prefix', ['', 'left/'])
def test_entities_within_a_volume_are_those_whose_shapes_overlap_with_it(prefix, tmp_path):
    model = RobotModel(find_urdf('ur5e'))
    text = '[{name: ball, shape: sphere, size: [0.2], position: [2.0, 0.0, 0.5], mass: 1.0}]'
    scene = tmp_path / 'scene.xml'
    scene.write_text(
        '<mujoco><worldbody><body name="arch" pos="5 0 0"><geom pos="0 0 1" size=".1" user="1e4"/>'
        '</body></worldbody></mujoco>'
    )
    plant = MujocoPlant(model, PlantParameters('torque', objects=text, scene=str(scene)))
    plant.reset(q := np.array([0.3, -1.2, 1.0, 0.2, 0.1, 0.0]))
    found = Entities(SimpleNamespace(model=model, plant=plant), lambda: 1.0, prefix)

    def inside(kind, *points):
        names = found.names('', (), Volume(kind, np.array(points)))
        return {name.removeprefix(prefix) for name in names}

    everything = inside(BOX, [9.0, 9.0, 9.0], [-9.0, -9.0, -9.0])
    assert everything == {name.removeprefix(prefix) for name in found.all()}
    assert inside(SPHERE, [5.0, 0.0, 0.0], [0.85, 0.0, 0.0]) == set()
    assert inside(SPHERE, [5.0, 0.0, 0.0], [0.95, 0.0, 0.0]) == {'arch'}
    assert inside(SPHERE, [2.5, 0.0, 0.5], [0.39, 0.0, 0.0]) == set()
    assert inside(SPHERE, [2.5, 0.0, 0.5], [0.41, 0.0, 0.0]) == {'ball'}
    assert inside(BOX, [2.2, 0.2, 1.0], [2.11, -0.2, 0.0]) == set()
    assert inside(BOX, [2.2, 0.2, 1.0], [2.09, -0.2, 0.0]) == {'ball'}
    elbow = model.forward_kinematics(q, 'forearm_link').translation
    near = inside(SPHERE, elbow, [0.02, 0.0, 0.0])
    assert {'arm', 'forearm_link'} <= near <= {'arm', 'forearm_link', 'upper_arm_link'}
    tip = model.forward_kinematics(q).translation
    near = inside(SPHERE, tip, [1e-3, 0.0, 0.0])
    assert {'tip', 'payload', 'tool0'} <= near
    assert 'forearm_link' not in near


@pytest.mark.parametrize(
    ('kind', 'points', 'says'),
    [
        (BOX, [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], 'upper corner minus the lower corner'),
        (SPHERE, [[0.0, 0.0, 0.0], [0.0, 1.0, 1.0]], 'a radius of'),
        (SPHERE, [[0.0, 0.0, np.nan], [1.0, 1.0, 1.0]], 'allowed: 2 points of 3 finite numbers'),
        (BOX, [], 'allowed: 2 points of 3 finite numbers'),
    ],
)
def test_points_that_bound_no_volume_are_refused(kind, points, says):
    with pytest.raises(ArmError, match=says):
        Volume(kind, np.array(points))


@pytest.mark.parametrize(
    ('pattern', 'says'),
    [
        ('[', 'is no regular expression'),
        ('a{99999999999}', 'is no regular expression'),
        ('a' * 201, 'has 201 characters'),
        ('(a+)+b', 'has a quantifier after a group'),
        ('(.|..){9}x', 'has a quantifier after a group'),
        ('(?=.*a)b', r'has a group that begins with \(\?'),
        (r'(a*)\1', 'has a back reference'),
        ('a*a*a*a*b', 'has 4 quantifiers'),
        ('(a)(b)(c)(d)', 'has 4 groups'),
        ('a|b|c|d|e|f|g|h|i', 'has 9 alternatives'),
    ],
)
def test_a_filter_that_is_none_or_may_take_long_is_refused(pattern, says):
    with pytest.raises(ArmError, match=says) as caught:
        entities().names(pattern)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize(
    ('pattern', 'name'),
    [
        ('^(left|right)/(arm|tip)$', 'right/tip'),
        (r'a\(b\)+[(*)|+]', 'a(b)*'),
        ('[]*?)(]+x', ')*x'),
        (r'\w+_\d{1,2}$', 'link_12'),
    ],
)
def test_what_filters_are_for_is_found(pattern, name):
    assert name_filter(pattern).search(name)
    assert not name_filter(pattern).search('else')


def test_the_slowest_filters_that_are_allowed_end():
    for pattern in ('.*.*.*b', '(|||)(|)(|||).*.*.*b', 'a{0,60}a{0,60}a{0,60}b'):
        assert not name_filter(pattern).search('a' * 60)


def test_without_the_package_one_line_states_it_and_no_service_is_there(monkeypatch):
    pytest.importorskip('rclpy')
    from arm_tools.standards.ros import simulation_services

    received = []
    monkeypatch.setattr(simulation_services, 'srv', None)
    monkeypatch.setattr(
        simulation_services, 'Log', lambda node: SimpleNamespace(info=received.append)
    )
    simulation_services.SimulationServices(
        SimpleNamespace(node=None, clock=None)
    )  # asks nothing of the node
    assert received == [
        'simulation_interfaces is not installed, or not yet: its services are not offered'
    ]
