"""Robot files: what other readers drop, refuse, or take for something else."""

import numpy as np
import pytest
from field import joint, limits, link, model_of

G = 9.81


def test_zero_effort_and_velocity_limits_leave_a_robot_that_cannot_move():
    """Chestnut-Robotics/aero-hand-open#53. Write the limits; zeros count as none, with a note."""
    zero = limits(-1.0, 1.0, 0, 0)
    model = model_of(link('base', 0.0), link('a'), joint('turn', 'base', 'a', zero))
    assert np.isinf(model.effort_limit).all()
    assert np.isinf(model.velocity_limit).all()
    assert any('turn' in note and 'effort' in note for note in model.notes)


def test_some_joints_of_one_file_have_zero_limits_and_others_have_real_ones():
    """dexsuite/dex-urdf#29. Nothing: the real ones count, the others are named."""
    model = model_of(
        link('base', 0.0), link('a'), link('b'),
        joint('one', 'base', 'a', limits(-1.0, 1.0, 0, 0)),
        joint('two', 'a', 'b', limits(-1.0, 1.0, 100, 1)),
    )  # fmt: skip
    np.testing.assert_array_equal(model.effort_limit, [np.inf, 100.0])
    np.testing.assert_array_equal(model.velocity_limit, [np.inf, 1.0])
    assert all('one' in note and 'two' not in note for note in model.notes)
    assert model.notes


@pytest.mark.parametrize(('ratio', 'offset'), [(-1.0, 0.02), (0.5, 0.0), (2.0, -0.01)])
def test_a_mimic_joint_is_free_or_stands_still(ratio, offset):
    """google-deepmind/mujoco#3527. Nothing: q_follower = multiplier * q + offset.

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
    """Genesis-Embodied-AI/genesis-world#3183. Nothing: the origin is zero, the tensor counts."""
    model = model_of(
        link('base', 0.0), link('wheel', 2.0, 0.37), joint('turn', 'base', 'wheel', limits())
    )
    np.testing.assert_allclose(model.mass_matrix(np.zeros(1)), [[0.37]], atol=1e-12)


def test_a_link_without_mass_is_dropped_and_so_is_its_frame():
    """gazebosim/sdformat#199. Nothing: frames of links without mass stay.

    A tool frame 0.3 m along x of a turning link: at 90 degrees it is at y = 0.3 m.
    """
    model = model_of(
        link('base', 0.0), link('a'), link('tool', 0.0),
        joint('turn', 'base', 'a', limits(-2.0, 2.0)),
        joint('mount', 'a', 'tool', kind='fixed', xyz='0.3 0 0'),
    )  # fmt: skip
    tip = model.forward_kinematics(np.array([np.pi / 2])).translation
    np.testing.assert_allclose(tip, [0.0, 0.3, 0.0], atol=1e-12)


def test_a_first_link_without_inertia_crashes_the_simulator():
    """gazebosim/gazebo-classic#4. Nothing: a base needs no mass."""
    model = model_of(
        link('world', 0.0), link('base', 0.0), link('a'),
        joint('foot', 'world', 'base', kind='fixed', xyz='0 0 0.5'),
        joint('turn', 'base', 'a', limits()),
    )  # fmt: skip
    np.testing.assert_allclose(model.forward_kinematics(np.zeros(1)).translation, [0.0, 0.0, 0.5])


def test_a_base_with_an_inertia_is_a_warning_and_a_wrong_model():
    """RethinkRobotics/baxter_common#2. Nothing: a base that does not move has no effect."""
    parts = link('a', 2.0, 0.2), joint('turn', 'base', 'a', limits())
    with_mass, without = (model_of(link('base', mass), *parts) for mass in (50.0, 0.0))
    np.testing.assert_array_equal(
        with_mass.mass_matrix(np.zeros(1)), without.mass_matrix(np.zeros(1))
    )


def test_a_link_without_inertia_weighs_a_kilogram():
    """bulletphysics/bullet3#3110. Nothing: what the file does not say is zero.

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
    """RobotLocomotion/drake#12859. Nothing: limits of effort and velocity are the file's."""
    model = model_of(
        link('base', 0.0), link('a'), joint('turn', 'base', 'a', limits(-1, 1, 1.5, 6.2))
    )
    assert (model.effort_limit[0], model.velocity_limit[0]) == (1.5, 6.2)
