"""Gains and tolerances that are set while a controller runs: all or none, with reasons."""

import re

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from following import HOME  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.in_process import InProcessTransport  # noqa: E402
from arm_controllers.ros.messages import set_stamp  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402

ELBOW = 'elbow_joint'


def make(*overrides, law='computed_torque'):
    arguments = ['--ros-args', *as_arguments(files_of('ur5e'))]
    for override in ('autostart:=true', *overrides):
        arguments += ['-p', f'{law}_controller:{override}']
    rclpy.init(args=arguments, domain_id=int(fresh_domain()))
    return ControllerNode(law)


@pytest.fixture
def node():
    made = make()
    yield made
    made.destroy_node()
    rclpy.try_shutdown()


def set_all(node, **values):
    parameters = [Parameter(name.replace('__', '.'), value=x) for name, x in values.items()]
    return node.set_parameters_atomically(parameters)


def test_gains_are_used_from_the_next_cycle_on(node):
    answer = set_all(node, kp=[100.0], kd=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert answer.successful, answer.reason
    np.testing.assert_array_equal(node.cycle.law.parameters.kp, np.full(6, 100.0))
    np.testing.assert_array_equal(node.cycle.law.parameters.kd, np.arange(1.0, 7.0))


def test_natural_frequency_and_damping_ratio_set_the_gains_and_follow_them(node):
    assert set_all(node, natural_frequency=[30.0], damping_ratio=[0.5]).successful
    np.testing.assert_allclose(node.cycle.law.parameters.kp, 900.0)
    np.testing.assert_allclose(node.cycle.law.parameters.kd, 30.0)
    assert set_all(node, natural_frequency=20.0).successful
    np.testing.assert_allclose(node.cycle.law.parameters.kp, 400.0)
    np.testing.assert_allclose(node.cycle.law.parameters.kd, 20.0)
    assert set_all(node, kd=[80.0]).successful
    np.testing.assert_allclose(node.get_parameter('damping_ratio').value, 2.0)
    np.testing.assert_allclose(node.get_parameter('natural_frequency').value, 20.0)


def test_natural_frequency_counts_at_the_start_too():
    node = make('natural_frequency:=[50.0]', 'damping_ratio:=[0.7]')
    try:
        np.testing.assert_allclose(node.cycle.law.parameters.kp, 2500.0)
        np.testing.assert_allclose(node.cycle.law.parameters.kd, 70.0)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


@pytest.mark.parametrize('law', ['pd', 'pd_feedforward', 'momentum_observer'])
def test_laws_with_gains_per_joint_take_frequency_and_ratio_from_the_start_and_while_running(law):
    node = make('natural_frequency:=[50.0]', 'damping_ratio:=[0.7]', law=law)
    try:
        inertia = 1.0
        if law.startswith('pd'):
            model = node.cycle.model
            inertia = model.mass_matrix(model.neutral()).diagonal()
            np.testing.assert_array_equal(model.armature, np.full(6, 0.1))  # of the file
        np.testing.assert_allclose(node.cycle.law.parameters.kp, 2500.0 * inertia)
        np.testing.assert_allclose(node.cycle.law.parameters.kd, 70.0 * inertia)
        answer = set_all(node, natural_frequency=[10.0], damping_ratio=[1.0])
        assert answer.successful, answer.reason
        np.testing.assert_allclose(node.cycle.law.parameters.kp, 100.0 * inertia)
        np.testing.assert_allclose(node.cycle.law.parameters.kd, 20.0 * inertia)
        answer = set_all(node, damping_ratio=[-1.0])
        assert not answer.successful
        assert 'damping_ratio' in answer.reason
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def test_frequency_follows_the_rotor_inertia_where_gains_are_torques():
    node = make(law='pd')
    try:
        before = np.array(node.get_parameter('natural_frequency').value)
        kp = node.cycle.law.parameters.kp
        assert set_all(node, armature=[2.0]).successful
        after = np.array(node.get_parameter('natural_frequency').value)
        model = node.cycle.model
        links = model.mass_matrix(model.neutral()).diagonal() - 2.0
        np.testing.assert_allclose(after / before, np.sqrt((links + 0.1) / (links + 2.0)))
        np.testing.assert_array_equal(node.cycle.law.parameters.kp, kp)
        assert node.cycle.law.model is node.cycle.follower.model is model
        assert set_all(node, damping=[0.3], friction=[0.2]).successful
        np.testing.assert_array_equal(
            node.cycle.law.model.friction_torque(np.ones(6)), np.full(6, 0.5)
        )
        np.testing.assert_array_equal(node.cycle.model.armature, np.full(6, 2.0))
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def test_adaptive_law_takes_a_frequency_with_two_real_poles_only():
    node = make(law='adaptive_computed_torque')
    try:
        assert set_all(node, natural_frequency=[12.0], damping_ratio=[1.25]).successful
        np.testing.assert_allclose(node.cycle.law.parameters.slope, 6.0)
        assert node.cycle.law.parameters.damping_rate == 24.0
        for bad, expected in (({'damping_ratio': [0.5]}, '>= 1'), ({'slope': [-1.0]}, 'slope')):
            answer = set_all(node, **bad)
            assert not answer.successful
            assert expected in answer.reason
        np.testing.assert_allclose(node.cycle.law.parameters.slope, 6.0)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def test_independent_joints_take_their_own_frequency_and_ratio_while_running():
    node = make(law='independent_joint')
    try:
        assert set_all(node, natural_frequency=[15.0], damping_ratio=[0.8]).successful
        np.testing.assert_allclose(node.cycle.law.kp, 225.0)
        np.testing.assert_allclose(node.cycle.law.kd, 24.0)
        answer = set_all(node, natural_frequency=[0.0])
        assert not answer.successful
        assert 'natural_frequency' in answer.reason
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


@pytest.mark.slow
def test_tolerances_have_the_names_of_joint_trajectory_controller(node):
    answer = set_all(
        node,
        **{
            f'constraints__{ELBOW}__trajectory': 0.1,
            f'constraints__{ELBOW}__goal': 0.02,
            'constraints__goal_time': 0.5,
            'constraints__stopped_velocity_tolerance': 0.03,
            'allow_partial_joints_goal': True,
        },
    )
    assert answer.successful, answer.reason
    used = node.cycle.follower.parameters
    k = node.cycle.model.joint_names.index(ELBOW)
    assert used.trajectory_tolerance[k] == 0.1
    assert sum(used.trajectory_tolerance) == 0.1
    assert used.goal_tolerance[k] == 0.02
    assert (used.goal_time, used.stopped_velocity_tolerance) == (0.5, 0.03)
    assert used.allow_partial_joints_goal


@pytest.mark.quick(5)
@pytest.mark.parametrize(
    ('bad', 'expected'),
    [
        ({'kp': [-1.0]}, 'kp'),
        ({'kp': [float('nan')]}, 'nan'),
        ({'kp': [1.0, 2.0]}, '2 values; allowed: 1 or one per joint (6)'),
        ({'kd': 'stiff'}, "'stiff'"),
        ({'natural_frequency': [-3.0]}, 'natural_frequency'),
        ({'damping_ratio': float('inf')}, 'damping_ratio'),
        ({f'constraints__{ELBOW}__goal': -0.1}, ELBOW),
        ({f'constraints__{ELBOW}__goal': float('nan')}, ELBOW),
        ({'goal_time_limit': 0.0}, 'goal_time_limit is 0'),
        ({'armature': [-0.1]}, "armature of joint 'shoulder_pan_joint' is -0.1"),
        ({'timestep': 0.004}, 'cannot change while the node runs'),
        ({'robot': 'ur5e_menagerie'}, 'cannot change while the node runs'),
    ],
)
def test_refused_value_says_why_and_nothing_of_the_set_is_taken(node, bad, expected):
    law, parameters = node.cycle.law, node.cycle.follower.parameters
    kp = list(node.get_parameter('kp').value)
    answer = set_all(node, constraints__goal_time=0.7, **bad)
    assert not answer.successful
    assert expected in answer.reason
    assert '\n' not in answer.reason
    assert node.cycle.law is law
    assert node.cycle.follower.parameters is parameters
    assert node.get_parameter('constraints.goal_time').value == 0.0
    assert list(node.get_parameter('kp').value) == kp


@pytest.mark.parametrize(
    ('bad', 'expected'),
    [
        ('kp:=[.nan]', "kp of joint 'shoulder_pan_joint' is nan"),
        ('kd:=[.inf]', "kd of joint 'shoulder_pan_joint' is inf"),
        ('armature:=[-1.0]', "armature of joint 'shoulder_pan_joint' is -1"),
        ('natural_frequency:=[.nan]', "natural_frequency of joint 'shoulder_pan_joint' is nan"),
        ('goal_time_limit:=.inf', 'goal_time_limit is inf'),
        ('state_timeout:=0.0', 'state_timeout is 0'),
    ],
)
def test_bad_value_at_the_start_ends_the_node_with_its_name(bad, expected):
    try:
        with pytest.raises(ArmError, match=re.escape(expected)):
            make(bad)
    finally:
        rclpy.try_shutdown()


def test_a_stiffness_set_while_the_tool_is_off_its_target_changes_the_torque_smoothly():
    rclpy.init(args=['--ros-args', *as_arguments(files_of('ur5e'))], domain_id=int(fresh_domain()))
    transport, answers = InProcessTransport(), []
    node = ControllerNode('cartesian_impedance', transport)
    try:
        node.trigger_configure()
        node.trigger_activate()
        transport.serve_commands('/joint_commands', lambda raw, count: answers.append(raw))
        (take,) = transport.state_subscribers('/joint_states')
        law = node.cycle.law
        for period, off in enumerate([0.0, 0.003, 0.003]):
            state = JointState(name=list(node.cycle.model.joint_names))
            state.position, state.velocity = (HOME + off).tolist(), [0.0] * 6
            set_stamp(state.header.stamp, period * 2_000_000)
            if period == 2:
                assert set_all(node, stiffness=[4000.0] * 3 + [400.0] * 3).successful
            take(bytes(serialize_message(state)))
        assert node.cycle.law is not law
        at_target, soft, next_one = (
            np.array(deserialize_message(raw, JointState).effort) for raw in answers
        )
        spring = np.abs(soft - at_target).max()
        assert spring > 1.0
        assert 0.005 * spring < np.abs(next_one - soft).max() < 0.02 * spring
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
