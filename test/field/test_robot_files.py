"""Robot files: what other readers drop, refuse, or take for something else."""

import numpy as np
import pytest
from field import joint, limits, link, model_of

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_sim.robot import Robot

G = 9.81


def test_zero_limits_leave_a_robot_that_cannot_move():
    """Chestnut-Robotics/aero-hand-open#53. Write the limits; zeros count as none."""
    zero = limits(-1.0, 1.0, 0, 0)
    model = model_of(link('base', 0.0), link('a'), joint('turn', 'base', 'a', zero))
    assert np.isinf(model.effort_limit).all()
    assert np.isinf(model.velocity_limit).all()
    assert any('turn' in note and 'effort' in note for note in model.notes)


def test_some_joints_have_zero_limits_and_others_real_ones():
    """dexsuite/dex-urdf#29. The real ones count, the others are named."""
    model = model_of(
        link('base', 0.0), link('a'), link('b'),
        joint('one', 'base', 'a', limits(-1.0, 1.0, 0, 0)),
        joint('two', 'a', 'b', limits(-1.0, 1.0, 100, 1), xyz='0.3 0 0'),
    )  # fmt: skip
    np.testing.assert_array_equal(model.effort_limit, [np.inf, 100.0])
    np.testing.assert_array_equal(model.velocity_limit, [np.inf, 1.0])
    assert all('one' in note and 'two' not in note for note in model.notes)
    assert model.notes


@pytest.mark.parametrize(('ratio', 'offset'), [(-1.0, 0.02), (0.5, 0.0), (2.0, -0.01)])
def test_a_mimic_joint_is_free_or_stands_still(ratio, offset):
    """google-deepmind/mujoco#3527. q_follower = multiplier * q + offset.

    Two slides along x: the second link is at (1 + multiplier) q + offset.
    """
    model = model_of(
        link('base', 0.0), link('a'), link('b'),
        joint('lead', 'base', 'a', limits(-0.5, 0.5), 'prismatic', axis='1 0 0'),
        joint('follow', 'a', 'b', limits(-2.0, 2.0), 'prismatic', axis='1 0 0',
              more=f'<mimic joint="lead" multiplier="{ratio}" offset="{offset}"/>'),
    )  # fmt: skip
    assert model.joint_names == ('lead',)
    tip = model.forward_kinematics(np.array([0.1])).translation[0]
    np.testing.assert_allclose(tip, 0.1 * (1.0 + ratio) + offset, atol=1e-12)
    # Kinetic energy of 1 kg at v and 1 kg at (1 + multiplier) v.
    inertia = model.mass_matrix(np.zeros(1))[0, 0]
    np.testing.assert_allclose(inertia, 1.0 + (1.0 + ratio) ** 2, atol=1e-12)


def test_an_inertia_without_an_origin_is_discarded():
    """Genesis-Embodied-AI/genesis-world#3183. The origin is zero, the tensor counts."""
    model = model_of(
        link('base', 0.0), link('wheel', 2.0, 0.37), joint('turn', 'base', 'wheel', limits())
    )
    np.testing.assert_allclose(model.mass_matrix(np.zeros(1)), [[0.37]], atol=1e-12)


def test_a_link_without_mass_loses_its_frame():
    """gazebosim/sdformat#199. Frames of links without mass stay.

    A tool frame 0.3 m along x of a turning link: at 90 degrees it is at y = 0.3 m.
    """
    model = model_of(
        link('base', 0.0), link('a'), link('tool', 0.0),
        joint('turn', 'base', 'a', limits(-2.0, 2.0)),
        joint('mount', 'a', 'tool', kind='fixed', xyz='0.3 0 0'),
    )  # fmt: skip
    tip = model.forward_kinematics(np.array([np.pi / 2])).translation
    np.testing.assert_allclose(tip, [0.0, 0.3, 0.0], atol=1e-12)


def test_a_base_without_inertia_crashes_the_simulator():
    """gazebosim/gazebo-classic#4. A base needs no mass."""
    model = model_of(
        link('world', 0.0), link('base', 0.0), link('a'),
        joint('foot', 'world', 'base', kind='fixed', xyz='0 0 0.5'),
        joint('turn', 'base', 'a', limits()),
    )  # fmt: skip
    np.testing.assert_allclose(model.forward_kinematics(np.zeros(1)).translation, [0.0, 0.0, 0.5])


def test_a_base_with_inertia_gives_a_wrong_model():
    """RethinkRobotics/baxter_common#2. A fixed base has no effect."""
    parts = link('a', 2.0, 0.2), joint('turn', 'base', 'a', limits())
    with_mass, without = (model_of(link('base', mass), *parts) for mass in (50.0, 0.0))
    np.testing.assert_array_equal(
        with_mass.mass_matrix(np.zeros(1)), without.mass_matrix(np.zeros(1))
    )


def test_a_link_without_inertia_weighs_a_kilogram():
    """bulletphysics/bullet3#3110. What is missing is zero.

    2 kg at 0.5 m about a horizontal axis: 2 * 9.81 * 0.5 N.m, with or without an empty link.
    """
    axis = {'axis': '0 1 0', 'xyz': '0 0 0'}
    origin = '<origin xyz="0.5 0 0"/>'
    parts = (
        link('base', 0.0),
        link('a', 2.0, 0.1, origin),
        joint('turn', 'base', 'a', limits(), **axis),
    )
    empty = link('cover', 0.0), joint('on', 'a', 'cover', kind='fixed', xyz='1 0 0')
    for more in ((), empty):
        torque = model_of(*parts, *more).gravity_torque(np.zeros(1))
        np.testing.assert_allclose(np.abs(torque), 2.0 * G * 0.5, atol=1e-12)


def test_effort_limits_of_the_file_are_not_read():
    """RobotLocomotion/drake#12859. The file's limits count."""
    model = model_of(
        link('base', 0.0), link('a'), joint('turn', 'base', 'a', limits(-1, 1, 1.5, 6.2))
    )
    assert (model.effort_limit[0], model.velocity_limit[0]) == (1.5, 6.2)


def axis_of(axis, kind='prismatic'):
    """Return an arm of one joint with an <axis> as the XML says, '' for none."""
    text = f'<axis xyz="{axis}"/>' if axis else ''
    return RobotModel(
        f'<robot name="field">{link("base", 0.0)}{link("a")}<joint name="turn" type="{kind}">'
        f'<parent link="base"/><child link="a"/>{text}{limits(-2.0, 2.0)}</joint></robot>'
    )


@pytest.mark.parametrize('axis', ['0 0 2', '0 0 0.5'])
def test_an_axis_of_another_length_scales_the_motion(axis):
    """compas-dev/compas#864. Axes become unit vectors."""
    tip = axis_of(axis).forward_kinematics(np.array([0.1])).translation
    np.testing.assert_allclose(tip, [0.0, 0.0, 0.1], atol=1e-12)


def test_a_skew_axis_adds_joints():
    """petercorke/robotics-toolbox-python#253. Any axis is allowed.

    Rodrigues' formula about (1, 1, 1) / sqrt(3) by 120 degrees permutes x, y and z.
    """
    model = axis_of('1 1 1', 'revolute')
    turned = model.forward_kinematics(np.radians([100.0])).rotation @ np.ones(3)
    np.testing.assert_allclose(turned, np.ones(3), atol=1e-12)
    third = model.forward_kinematics(np.array([2.0 * np.pi / 3.0 - 0.1])).rotation
    np.testing.assert_allclose(np.trace(third), 1.0 + 2.0 * np.cos(2.0 * np.pi / 3.0 - 0.1))


def test_an_axis_of_zeros_is_read_silently():
    """gbionics/idyntree#195. Write the axis."""
    with pytest.raises(ArmError, match=r"'turn'.*axis"):
        axis_of('0 0 0', 'revolute')


def test_a_joint_without_an_axis_is_an_error():
    """petrikvladimir/pyphysx#24. The axis is x, as the format says."""
    tip = axis_of('').forward_kinematics(np.array([0.1])).translation
    np.testing.assert_allclose(tip, [0.1, 0.0, 0.0], atol=1e-12)


def test_damping_and_friction_are_dropped():
    """isaac-sim/IsaacSim#841. `<dynamics>` counts.

    At 1 rad/s: 0.6 N.m of damping and 0.25 N.m of friction more than without.
    """
    more = '<dynamics damping="0.6" friction="0.25"/>'
    parts = link('base', 0.0), link('a')
    rough, smooth = (
        model_of(*parts, joint('turn', 'base', 'a', limits(), more=each)) for each in (more, '')
    )
    at = np.zeros(1), np.ones(1), np.zeros(1)
    np.testing.assert_allclose(
        rough.inverse_dynamics(*at) - smooth.inverse_dynamics(*at), [0.85], atol=1e-12
    )


def test_coulomb_friction_is_ignored():
    """dartsim/dart#890. Both count."""
    more = '<dynamics friction="0.25"/>'
    model = model_of(link('base', 0.0), link('a'), joint('turn', 'base', 'a', limits(), more=more))
    assert (model.friction[0], model.damping[0]) == (0.25, 0.0)


def test_two_root_links_are_not_named():
    """gbionics/idyntree#199. Join them by a joint."""
    with pytest.raises(ArmError, match=r'one.*other|other.*one'):
        model_of(link('one'), link('other'), link('a'), joint('turn', 'one', 'a', limits()))


def test_a_loop_of_links_is_read_for_ever():
    """ros/urdfdom#154. Remove a joint."""
    with pytest.raises(ArmError) as error:
        model_of(
            link('base'), link('a'), joint('one', 'base', 'a', limits()),
            joint('two', 'a', 'a', limits()),
        )  # fmt: skip
    assert "'a'" in str(error.value)


def test_a_link_with_two_parents_is_not_named():
    """RobotLocomotion/drake#19034. Remove a joint."""
    with pytest.raises(ArmError, match="'b'"):
        model_of(
            link('base'), link('a'), link('b'), joint('one', 'base', 'a', limits()),
            joint('two', 'a', 'b', limits()), joint('three', 'base', 'b', limits()),
        )  # fmt: skip


def test_joints_before_their_links_are_not_read():
    """PR2/pr2_mechanism#82. The order in the file has no meaning."""
    parts = [
        joint('two', 'a', 'b', limits(), xyz='1 0 0'), link('b'),
        joint('one', 'base', 'a', limits()), link('a'), link('base', 0.0),
    ]  # fmt: skip
    found, sorted_parts = model_of(*parts), model_of(*reversed(parts))
    assert found.joint_names == sorted_parts.joint_names == ('one', 'two')
    q = np.array([0.3, -0.4])
    np.testing.assert_allclose(found.mass_matrix(q), sorted_parts.mass_matrix(q), atol=1e-12)


def test_a_joint_with_the_name_of_a_link_takes_its_place():
    """iory/scikit-robot#868. Names of links and joints are apart."""
    model = model_of(link('base', 0.0), link('a'), joint('base', 'base', 'a', limits()))
    assert model.joint_names == ('base',)


@pytest.mark.parametrize(
    'tensor',
    [
        'ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.3"',  # 0.1 + 0.1 < 0.3
        'ixx="-0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"',
    ],
)
def test_an_impossible_inertia_is_integrated(tensor):
    """RobotLocomotion/drake#11109. Correct the tensor."""
    inertial = f'<inertial><mass value="1"/><inertia {tensor}/></inertial>'
    part = f'<link name="a">{inertial}</link>'
    model = model_of(link('base', 0.0), part, joint('turn', 'base', 'a', limits()))
    assert 'a' in model.impossible_inertias


def test_an_inertia_in_rows_is_not_positive_definite():
    """fiveages-sim/robot_descriptions#29. Write ixx ixy ixz iyy iyz izz.

    The rows of diag(0.2, 0.3, 0.4) in the six places: 0.2 0 0 0 0.3 0.
    """
    tensor = 'ixx="0.2" ixy="0" ixz="0" iyy="0" iyz="0.3" izz="0"'
    part = f'<link name="a"><inertial><mass value="1"/><inertia {tensor}/></inertial></link>'
    with pytest.raises(ArmError, match="link 'a'.* are its rows written in place of ixx ixy ixz"):
        model_of(link('base', 0.0), part, joint('turn', 'base', 'a', limits()))


def turned(own, more=()):
    """Return the inertia about x of an arm whose first link turns about x."""
    parts = link('base', 0.0), own, joint('turn', 'base', 'a', limits(), axis='1 0 0'), *more
    return model_of(*parts).mass_matrix(np.zeros(1))


def long_link(name, mass, origin):
    """Return a link with moments of inertia 0.1, 0.2 and 0.25 kg m^2."""
    tensor = '<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/>'
    own = f'<inertial><origin {origin}/><mass value="{mass}"/>{tensor}</inertial>'
    return f'<link name="{name}">{own}</link>'


def test_the_rotation_of_an_inertia_is_lost():
    """google-deepmind/mujoco#3559. It counts.

    Turned by 90 degrees about z, the moment about x is that about y.
    """
    own = long_link('a', 1.0, 'rpy="0 0 1.5707963267948966"')
    np.testing.assert_allclose(turned(own), [[0.2]], atol=1e-12)


def test_inertias_of_fixed_links_are_added_wrongly():
    """gazebosim/sdformat#22. Centre, distance and rotation count.

    2 kg at (0.1, 0, 0) of a link at (0, 0, 0.5), turned by 90 degrees about z, are at
    (0, 0.1, 0.5) of the arm: 0.1 + 0.2 + 2 (0.1^2 + 0.5^2).
    """
    own = long_link('b', 2.0, 'xyz="0.1 0 0"')
    fixed = '<joint name="on" type="fixed"><parent link="a"/><child link="b"/>'
    fixed += '<origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/></joint>'
    found = turned(link('a', 1.0, 0.1), (own, fixed))
    np.testing.assert_allclose(found, [[0.1 + 0.2 + 2.0 * 0.26]], atol=1e-12)


@pytest.mark.parametrize('kinds', [('continuous', 'continuous'), ('revolute', 'continuous')])
def test_a_continuous_joint_cannot_follow_another(kinds):
    """stack-of-tasks/pinocchio#2753. It follows: two turns against each other cancel."""
    lead, follow = (
        limits() if kind == 'revolute' else '<limit effort="5" velocity="2"/>' for kind in kinds
    )
    more = '<mimic joint="lead" multiplier="-1"/>'
    model = model_of(
        link('base', 0.0), link('a'), link('b'), joint('lead', 'base', 'a', lead, kinds[0]),
        joint('follow', 'a', 'b', follow, kinds[1], more),
    )  # fmt: skip
    assert model.joint_names == ('lead',)
    tip = model.forward_kinematics(np.array([0.5]))
    np.testing.assert_allclose(tip.rotation, np.eye(3), atol=1e-12)


def test_one_bound_of_a_joint_is_missing():
    """neka-nat/xurdf#5. It is 0, as the format says, and named."""
    for text, bounds in (('upper="1.5"', (0.0, 1.5)), ('lower="-1.5"', (-1.5, 0.0))):
        one = f'<limit {text} effort="5" velocity="1"/>'
        model = model_of(link('base', 0.0), link('a'), joint('turn', 'base', 'a', one))
        assert (model.position_lower[0], model.position_upper[0]) == bounds
        assert any('the other one counts as 0' in note for note in model.notes)


@pytest.mark.parametrize('active', [True, False])
@pytest.mark.parametrize('words', ['', ' mjcf:=converted'])
def test_an_inactive_equality_switches_its_joint_off(tmp_path, active, words):
    """newton-physics/mujoco-usd-converter#119. Both joints move; of an active one the leader."""
    part = '<body name="{0}" pos="0.3 0 0"><joint name="{0}" axis="0 1 0" range="-57 57"/>'
    part += '<geom size="0.05" mass="1"/>'
    drives = ''.join(f'<position joint="{x}" kp="100" dampratio="1"/>' for x in 'ab')
    coupled = f'joint1="b" joint2="a" polycoef="0.1 -0.5 0 0 0" active="{str(active).lower()}"'
    file = tmp_path / 'arm.xml'
    file.write_text(
        f'<mujoco><worldbody>{part.format("a")}{part.format("b")}</body></body></worldbody>'
        f'<actuator>{drives}</actuator><equality><joint name="e" {coupled}/></equality></mujoco>'
    )
    assert Robot.load(f'{file}{words}').model.joint_names == (('a',) if active else ('a', 'b'))
