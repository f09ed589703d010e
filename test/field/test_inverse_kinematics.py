"""Inverse kinematics: within limits, near the seed, in the turn of the seed."""

import numpy as np
import pytest
from field import FULL, TURNTABLE, joint, limits, link, model_of
from following import MODEL

from arm_dynamics.inverse_kinematics.solve import solve_ik

SEED = np.array([0.3, -1.2, 1.5, -0.9, 1.1, 0.4])


def solved(model, q, seed):
    """Return the solution for the pose of q from a seed; it must be a solution within limits."""
    result = solve_ik(model, model.forward_kinematics(np.array(q)), np.array(seed))
    assert result.success, result.reason
    assert (result.q >= model.position_lower).all()
    assert (result.q <= model.position_upper).all()
    away = model.forward_kinematics(result.q).actInv(model.forward_kinematics(np.array(q)))
    assert np.linalg.norm(away.translation) < 2e-6
    return result.q


def one_joint(lower, upper):
    return model_of(
        link('base', 0.0), link('tip'), joint('turn', 'base', 'tip', limits(lower, upper))
    )


@pytest.mark.parametrize('turn', [-FULL, FULL])
def test_solutions_beyond_half_a_turn_are_never_found(turn):
    """moveit/moveit#571. The nearest to the seed is returned.

    A UR5e with its last joint at 0.4 rad and a turn, limits 2 pi: the seed is the solution.
    """
    q = SEED.copy()
    q[5] += turn * 0.9
    np.testing.assert_allclose(solved(MODEL, q, q), q, atol=1e-5)


def test_the_first_solution_is_not_the_nearest():
    """tesseract-robotics/tesseract#579. The nearest one is returned.

    The pose of the seed, moved by 1 mrad in each joint.
    """
    np.testing.assert_allclose(solved(MODEL, SEED + 1e-3, SEED), SEED + 1e-3, atol=1e-4)


def test_a_solution_allowed_a_turn_away_is_discarded():
    """tesseract-robotics/tesseract#833. A joint is turned into its limits.

    Limits from -200 to 70 degrees, the pose at -190 degrees, which is 170 degrees as well.
    """
    model = one_joint(np.radians(-200.0), np.radians(70.0))
    np.testing.assert_allclose(
        solved(model, [np.radians(-190.0)], [0.0]), np.radians(-190.0), atol=1e-5
    )


def test_limits_without_zero_have_no_solution():
    """dartsim/dart#1449. A joint is turned into its limits.

    Limits from pi / 8 to 2 pi; the pose at pi is that at -pi.
    """
    model = one_joint(np.pi / 8, FULL)
    np.testing.assert_allclose(solved(model, [np.pi], [1.0]), np.pi, atol=1e-5)


def test_solutions_are_beyond_the_limits():
    """bulletphysics/bullet3#2908. Every solution is within them."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        solved(MODEL, MODEL.random_configuration(rng), MODEL.random_configuration(rng))


@pytest.mark.parametrize('turns', [-10, 0, 1, 10])
def test_the_solution_is_in_another_turn(turns):
    """ros-industrial/universal_robot#155. A continuous joint stays in the seed's turn.

    At ten turns and 0.2 rad, the pose at 0.5 rad is 0.3 rad away.
    """
    seed = turns * FULL + 0.2
    np.testing.assert_allclose(solved(TURNTABLE, [0.5], [seed]), seed + 0.3, atol=1e-5)


def test_a_base_turned_by_half_a_turn_changes_signs():
    """google-deepmind/mujoco_menagerie#75. Poses are in the root link's axes.

    The same arm, whose base is turned by pi about z on its root: x and y of the tip change sign,
    and the solution for that pose is the same.
    """
    foot = joint('foot', 'root', 'base', kind='fixed')
    half = foot.replace('<origin xyz="0 0 0"/>', f'<origin xyz="0 0 0" rpy="0 0 {np.pi!r}"/>')
    assert half != foot
    arm = (
        link('root', 0.0), link('base', 0.0), link('a'), link('tip'),
        joint('turn', 'base', 'a', limits(-2.0, 2.0)),
        joint('slide', 'a', 'tip', limits(0.1, 1.0), 'prismatic', axis='1 0 0'),
    )  # fmt: skip
    q = np.array([0.4, 0.5])
    straight, turned = (model_of(*arm, each) for each in (foot, half))
    one, other = (model.forward_kinematics(q) for model in (straight, turned))
    np.testing.assert_allclose(other.translation, one.translation * [-1.0, -1.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(solved(turned, q, [0.0, 0.3]), q, atol=1e-5)


def chain(kinds, axes, xyz):
    """Return an arm with a joint of each kind about each axis."""
    names = ['base', *(f'link_{k}' for k in range(len(kinds)))]
    limit = {'revolute': limits(-2.9, 2.9), 'continuous': '<limit effort="50" velocity="2"/>'}
    joints = (
        joint(f'joint_{k}', names[k], names[k + 1], limit[kind], kind, xyz=xyz[k], axis=axes[k])
        for k, kind in enumerate(kinds)
    )
    return model_of(link('base', 0.0), *map(link, names[1:]), *joints)


def redundant():
    """Return an arm of seven joints, roll and pitch in turn."""
    rolls = [k % 2 == 0 for k in range(7)]
    axes = ['0 0 1' if roll else '0 1 0' for roll in rolls]
    return chain(['revolute'] * 7, axes, ['0 0 0.3' if roll else '0 0 0' for roll in rolls])


def test_continuous_joints_have_no_reliable_solution():
    """PickNikRobotics/pick_ik#57. Found near the seed, in its turn.

    Six continuous joints anywhere within five turns, seeds within 0.3 rad of a solution.
    """
    axes = '0 0 1', '0 1 0', '0 1 0', '1 0 0', '0 1 0', '1 0 0'
    model = chain(['continuous'] * 6, axes, ['0 0 0.2', '0 0.1 0.2'] * 3)
    rng = np.random.default_rng(3)
    for _ in range(20):
        q = rng.uniform(-30.0, 30.0, 6)
        seed = q + rng.uniform(-0.3, 0.3, 6)
        assert np.abs(solved(model, q, seed) - seed).max() < 1.0


def test_solutions_differ_from_call_to_call():
    """moveit/moveit_task_constructor#530. Equal requests have equal solutions, in every bit."""
    model = redundant()
    target = model.forward_kinematics(np.linspace(-2.5, 2.5, 7))
    first, second = (solve_ik(model, target, None) for _ in range(2))
    assert first.success
    assert first.q.tobytes() == second.q.tobytes()
