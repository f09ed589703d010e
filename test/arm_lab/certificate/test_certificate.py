"""Certificates of goals: closed forms, dense samples, and counterexamples."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from random_trees import random_tree_urdf

from arm_controllers.follower.goal import Goal, GoalError
from arm_dynamics.clearance import Clearance
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf
from arm_dynamics.surroundings import Surroundings
from arm_lab.certificate.arms import UncertainArm
from arm_lab.certificate.certificate import Certifier
from arm_lab.experiments.ranges import Ranges

EXACT = Ranges(mass=0.0, friction=0.0, effort=1.0)
PENDULUM = """<robot name="pendulum"><link name="base"/>
  <joint name="swing" type="revolute"><parent link="base"/><child link="rod"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="{}" velocity="9"/></joint>
  <link name="rod"><inertial><origin xyz="0 0 -0.4"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>
  </inertial></link></robot>"""
SWING = Goal(('swing',), np.array([0.0, 1.2]), np.array([[-2.5], [0.5]]), np.zeros((2, 1)))


def pendulum_torque(t):
    """Return m l^2 a + I a + m g l sin q of SWING, a cubic."""
    s = t / 1.2
    q = -2.5 + 3.0 * (3.0 * s**2 - 2.0 * s**3)
    a = 3.0 * (6.0 - 12.0 * s) / 1.2**2
    return (2.0 * 0.4**2 + 0.02) * a + 2.0 * 9.81 * 0.4 * np.sin(q)


T = np.linspace(0.0, 1.2, 100_001)
PEAK = np.abs(pendulum_torque(T)).max()


@pytest.mark.parametrize('mass', [0.0, 0.3])
def test_a_pendulum_is_safe_exactly_up_to_the_peak_of_its_closed_form(mass):
    ranges, peak = replace(EXACT, mass=mass), (1.0 + mass) * PEAK
    certificate = Certifier(RobotModel(PENDULUM.format(1.0001 * peak)), ranges)(SWING)
    assert certificate.safe
    low = Certifier(RobotModel(PENDULUM.format(0.9999 * peak)), ranges)(SWING).finding
    assert low.proven
    assert low.quantity == 'torque'
    value = (1.0 + mass) * abs(pendulum_torque(low.time))
    np.testing.assert_allclose(low.value, value, rtol=1e-12)
    assert low.value > low.limit
    near = Certifier(RobotModel(PENDULUM.format(peak)), ranges)(SWING).finding
    assert not near.proven


def test_the_rest_after_the_end_counts_too():
    # At the end the arm rests under more weight than it needs on the way: the goal is slow.
    slow = replace(SWING, times=np.array([0.0, 60.0]), positions=np.array([[0.0], [1.5]]))
    weight = 2.0 * 9.81 * 0.4 * np.sin(1.5)
    finding = Certifier(RobotModel(PENDULUM.format(0.99 * weight)), EXACT)(slow).finding
    np.testing.assert_allclose(finding.limit, 0.99 * weight)
    pushed = replace(slow, effort=np.array([[0.0], [1.0]]))  # and its effort stays
    assert not Certifier(RobotModel(PENDULUM.format(weight + 0.9)), EXACT)(pushed).safe
    assert Certifier(RobotModel(PENDULUM.format(weight + 1.1)), EXACT)(pushed).safe


def drawn(model, rng, quintic):
    q = rng.uniform(-1.0, 1.0, (4, model.nv))
    times = np.append(0.0, np.cumsum(rng.uniform(0.3, 1.2, 3)))
    v = np.vstack([np.zeros(model.nv), rng.normal(size=(2, model.nv)), np.zeros(model.nv)])
    return Goal(model.joint_names, times, q, v, 0.0 * q if quintic else None)


def coulomb_torques(arm, q, v, a):
    """Return the largest |torque| (k, n) with friction that does not fade, by Pinocchio.

    At standstill friction acts in either direction.
    """
    data = arm.pin_model.createData()  # whose torques include the rotors'
    links = [pin.rnea(arm.pin_model, data, *x) for x in zip(q, v, a, strict=True)]
    smooth = np.array(links) + arm.damping * v
    low = smooth - arm.friction * (v <= 1e-9)
    high = smooth + arm.friction * (v >= -1e-9)
    return np.maximum(np.abs(low), np.abs(high))


@pytest.mark.slow
def test_drawn_goals_agree_with_the_worst_arms_at_dense_samples():
    rng = np.random.default_rng(0)
    ranges = Ranges(mass=0.3, friction=0.02, effort=0.7, payload=2.0)
    whole = RobotModel(random_tree_urdf(0, 2), armature=0.1, damping=0.5)
    # Limits that about half of the goals exceed.
    tau = whole.inverse_dynamics(*rng.normal(size=(3, whole.nv)))
    text = random_tree_urdf(0, 2).replace(
        'effort="100"', f'effort="{6.0 * np.abs(tau).max():.3f}"'
    )
    model = RobotModel(text, armature=0.1, damping=0.5)
    certifier = Certifier(model, ranges)
    arms = [with_error(model, ranges.draw(model, 0, k).error) for k in range(5)]
    answers = []
    for k in range(25):
        trajectory = certifier.trajectory(drawn(model, rng, k % 2))
        certificate = certifier.of_trajectory(trajectory)
        finding = certificate.finding
        answers.append(certificate.safe)
        if finding is None:
            at = np.linspace(0.0, trajectory.end, 200)
            i = np.clip(np.searchsorted(trajectory.times, at, 'right') - 1, 0, 2)
            states = trajectory.states_in(i, at - trajectory.times[i])
            for arm in arms:
                torques = coulomb_torques(arm, *states)
                assert (torques <= arm.effort_limit + 1e-6).all()
        elif finding.quantity == 'torque' and finding.proven:
            arm = with_error(model, finding.error)
            joint = model.joint_names.index(finding.name)
            sides = [
                np.searchsorted(trajectory.times[1:-1], finding.time, x) for x in ('left', 'right')
            ]
            i = np.array(sides)
            states = trajectory.states_in(i, finding.time - trajectory.times[i])
            torques = coulomb_torques(arm, *states)[:, joint]
            assert torques.max() > arm.effort_limit[joint]
            assert np.isclose(torques, finding.value, rtol=1e-3).any()
    assert 3 < sum(answers) < 22


def test_a_counterexample_has_both_parts_of_the_payload_or_none():
    arm = UncertainArm(
        RobotModel(find_urdf('ur5e')), Ranges(mass=0.0, friction=0.0, effort=1.0, payload=1.0)
    )
    bodies = np.array([2.0, 1.0, -0.25])  # the arm, the payload as a point, and as a ball
    needed = arm.needed(1, float(bodies @ arm.centre), bodies, 0.5)
    assert needed == pytest.approx(2.0 + 1.0 - 0.25)
    needed = arm.needed(1, float(-bodies @ arm.centre), -bodies, 0.5)
    assert needed == pytest.approx(2.0 + 1.0 - 0.25)


def test_a_polynomial_that_overshoots_between_points_is_refuted_at_its_extreme():
    model = RobotModel(find_urdf('planar_3r'))
    upper = model.position_upper[0]
    zero = np.zeros((2, 3))
    q, v = zero.copy(), zero.copy()
    q[:, 0], v[0, 0] = upper - 0.1, 2.0  # returns to where it is: s (1 - s)^2 v T
    goal = Goal(model.joint_names, np.array([0.0, 1.0]), q, v)
    found = Certifier(model, EXACT)(goal).finding
    assert (found.quantity, found.name) == ('position', model.joint_names[0])
    np.testing.assert_allclose([found.value, found.time], [upper - 0.1 + 8.0 / 27.0, 1.0 / 3.0])


def test_steps_of_velocity_and_under_a_jerk_limit_of_acceleration_are_refused():
    model = RobotModel(find_urdf('planar_3r'))
    q = 0.1 * np.arange(9.0).reshape(3, 3)
    times, zero = np.array([0.0, 1.0, 2.0]), np.zeros((3, 3))
    linear = Goal(model.joint_names, times, q)
    found = Certifier(model, EXACT)(linear).finding
    assert (found.quantity, abs(found.value)) == ('acceleration', np.inf)
    cubic = replace(linear, velocities=zero)
    assert Certifier(model, EXACT)(cubic).safe
    found = Certifier(model, EXACT, max_jerk=100.0)(cubic).finding
    assert (found.quantity, abs(found.value), found.time) == ('jerk', np.inf, 1.0)
    quintic = replace(cubic, accelerations=zero)
    # The largest jerk of a quintic from rest to rest is 60 d / T^3, at its ends.
    assert Certifier(model, EXACT, max_jerk=60.0 * 0.3 + 0.01)(quintic).safe
    found = Certifier(model, EXACT, max_jerk=60.0 * 0.3 - 0.01)(quintic).finding
    np.testing.assert_allclose(abs(found.value), 60.0 * 0.3, rtol=1e-6)


def test_clearance_holds_between_samples_and_a_counterexample_is_there():
    model = RobotModel(find_urdf('ur5e'))
    clearance = Clearance(model, Surroundings())
    certifier = Certifier(model, EXACT, clearance=clearance, least=0.01)
    q = np.array([[0.0, -1.2, 0.8, 0.0, 0.0, 0.0], [0.5, -1.0, 1.0, 0.2, 0.0, 0.0]])
    times, zero = np.array([0.0, 2.0]), np.zeros((2, 6))
    trajectory = certifier.trajectory(Goal(model.joint_names, times, q, zero, zero))
    assert certifier.of_trajectory(trajectory).safe
    at = np.linspace(0.0, 2.0, 200)
    motion = trajectory.states_in(np.zeros(200, dtype=int), at)[0]
    assert all(clearance.are_clear(motion, 0.01))
    q[1, 1] = 0.3  # into the floor
    found = certifier(Goal(model.joint_names, times, q, zero, zero)).finding
    assert (found.quantity, found.other, found.proven) == ('clearance', 'the floor', True)
    assert found.value < 0.01
    trajectory = certifier.trajectory(Goal(model.joint_names, times, q, zero, zero))
    there = trajectory.states_in(np.array([0]), np.array([found.time]))[0][0]
    pairs = zip(clearance.distances(there), clearance.pairs, strict=True)
    distances = [x for x, pair in pairs if pair == (found.name, 'the floor')]
    assert np.isclose(distances, found.value, atol=1e-9).any()
    # The distance of the whole motion is found to a tenth of a millimetre.
    nearest = min(clearance.distances(x).min() for x in motion)
    for least, safe in ((nearest - 1e-3, True), (nearest + 1e-3, False)):
        edge = Certifier(model, EXACT, clearance=clearance, least=float(least))
        start = Goal(model.joint_names, times, motion[[0, -1]], zero, zero)
        assert edge(start).safe is safe


def test_the_arm_of_a_counterexample_has_friction_where_that_needs_torque():
    certifier = Certifier(
        RobotModel(PENDULUM.format(11.5)), Ranges(mass=0.1, friction=0.04, effort=0.5)
    )
    back = replace(SWING, positions=SWING.positions[::-1])  # the weight now brakes
    for goal, friction, value in ((SWING, 0.0, 1.1 * PEAK), (back, 0.46, 1.1 * PEAK + 0.46)):
        finding = certifier(goal).finding
        expected = ModelError(mass_scale=(1.1,), friction=(friction,), effort_scale=0.5)
        assert finding.error == expected
        assert finding.value == pytest.approx(value, rel=0.05)


def test_a_goal_that_no_controller_takes_is_an_error():
    model = RobotModel(PENDULUM.format(10.0))
    with pytest.raises(GoalError, match='times must increase'):
        Certifier(model, EXACT)(replace(SWING, times=np.array([0.0, 0.0])))


@pytest.mark.parametrize(
    ('attribute', 'peak'), [('acceleration', 6.0 * 3.0 / 1.2**2), ('jerk', 12.0 * 3.0 / 1.2**3)]
)
def test_limits_of_the_urdf_are_part_of_a_certificate(attribute, peak):
    rest = Goal(
        SWING.joint_names, np.array([0.0, 1.2]), SWING.positions, np.zeros((2, 1)),
        np.zeros((2, 1)),
    )  # fmt: skip
    quintic = {'acceleration': 10.0 / np.sqrt(3.0) * 3.0 / 1.2**2, 'jerk': 60.0 * 3.0 / 1.2**3}
    urdf = PENDULUM.format(1e3).replace('velocity', f'{attribute}="{{}}" velocity')
    for goal, most in ((SWING, peak), (rest, quintic[attribute])):
        found = Certifier(RobotModel(urdf.format(0.999 * most)), EXACT)(goal).finding
        assert found.quantity == attribute
        safe = Certifier(RobotModel(urdf.format(1.001 * most)), EXACT)(goal).safe
        # A cubic from rest begins with a step of the acceleration.
        assert safe == (goal is rest or attribute == 'acceleration')
