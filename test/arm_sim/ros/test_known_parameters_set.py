"""Parameters that are set on running nodes: each takes effect, or is refused and stays."""

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from nodes_in_process import names_of, robot_of, started  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402

from arm_sim.robot import Robot  # noqa: E402
from arm_sim.ros.known_parameters import known_nodes, known_parameters  # noqa: E402

OF_ROS = ('use_sim_time', 'start_type_description_service')
SIMULATOR = {
    'clock_rate', 'lockstep_timeout', 'payload', 'servo_kd', 'servo_kp', 'speed_limit_factor',
    'tf_rate', 'waiting_wrenches_limit', 'wrench_force_limit', 'wrench_torque_limit',
}  # fmt: skip
WHOLE = ('pd_controller', 'servo_controller')  # try also what every controller has
SOLVING = {'orientation_tolerance', 'position_tolerance', 'random_seed', 'restarts', 'solver'}


def set_one(node, name, value):
    (answer,) = node.set_parameters([Parameter(name, value=value)])
    return answer


def others(value):
    """Return values that are not this one, of its kind."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return ['jacobian_transpose', 'levenberg_marquardt', 'x' + value]
    if isinstance(value, int | float):
        return [type(value)(1.5 * value + 2), 0.5 * value, 0.0]
    return [[1.5 * x + 0.01 for x in value] if value and not isinstance(value[0], str) else [0.1]]


def plain(value):
    """Return a parameter's value with arrays as lists, and an empty one where there is none."""
    if value is None:
        return []
    return value if isinstance(value, bool | int | float | str) else list(value)


def physics(node):
    """Return what counts in a node, in words."""
    if node.get_name() == 'simulator':
        simulation, clock, output = node.simulation, node.arm_clock, node.output
        plant, watched = simulation.plant, ('timeout', 'timeout_ns', 'factor')
        seen = [getattr(clock, name, None) for name in watched]
        seen += [plant.parameters, plant.mass_matrix(), simulation.limits]
        seen += [output.clock_every, output.displays.every]
    elif node.get_name() in (
        'inverse_kinematics',
        'viewer',
        'view',
        'plot',
        'tip_servo',
        'linear_move',
        'plan_motion',
        'gripper_controller',
        'supervisor',
    ):
        seen = [node.parameters]
    elif hasattr(node, 'cycle'):
        cycle = node.cycle
        seen = [cycle.law.parameters, cycle.follower.parameters, cycle.model.arm_parameters()]
        seen += [node.live.guard]
    else:
        seen = [node.parameters, node.task_parameters]
    with np.printoptions(precision=10, threshold=10_000):
        return repr(seen)


def accepted(node, tried_elsewhere=frozenset()):
    """Set every parameter of a node to its own value and others; return what was accepted."""
    found = set()
    for name in sorted(set(names_of(node)) - {*OF_ROS} - tried_elsewhere):
        own, before = plain(node.get_parameter(name).value), physics(node)
        answer = set_one(node, name, own)
        assert answer.successful, (name, answer.reason)
        assert physics(node) == before, name
        for value in (each for each in others(own) if each != own):
            answer = set_one(node, name, value)
            now = plain(node.get_parameter(name).value)
            if not answer.successful:
                assert now == own, name
                assert physics(node) == before, name
                assert '\n' not in answer.reason
                arguments = (name.partition('.')[0], str(value), 'model')
                assert any(each in answer.reason for each in arguments)
                continue
            assert physics(node) != before, f'{name} was set to {value} without effect'
            assert now == pytest.approx(value)
            assert set_one(node, name, own).successful
            found.add(name)
            break
    return found


def tried_by_others(name):
    """Return the parameters of a controller that are the same, and tried, in those of WHOLE."""
    if not name.endswith('_controller') or name in (*WHOLE, 'gripper_controller'):
        return set()
    joints = Robot.load(robot_of(name)).model.joint_names
    of_all = set.intersection(*(set(known_parameters(each, joints)) for each in WHOLE))
    return of_all - {'armature', 'goal_time_limit', 'natural_frequency', 'damping_ratio'}


# Quick tests try a law first.
@pytest.mark.quick(6)
@pytest.mark.parametrize('name', sorted(known_nodes(), key=lambda name: name != 'pd_controller'))
def test_every_parameter_of_every_node_takes_effect_when_set_or_is_refused(name, tmp_path):
    with started(name, tmp_path) as node:
        if name.endswith('_controller'):
            node.trigger_configure()
        found = accepted(node, tried_by_others(name))
    if name == 'simulator':
        assert found == SIMULATOR
    elif name == 'inverse_kinematics':
        assert found == SOLVING
    elif name.endswith('_task') or name in (
        'viewer', 'view', 'plot', 'tip_servo', 'linear_move', 'plan_motion', 'gripper_controller',
        'supervisor',
    ):  # fmt: skip
        assert not found
    else:
        assert 'armature' in found
        assert 'goal_time_limit' in found


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ('arguments', 'gains', 'others'),
    [
        (
            ['mode:=realtime'],
            True,
            {'real_time_factor', 'command_timeout', 'command_wait', 'payload'},
        ),
        (['actuator:=torque'], False, {'lockstep_timeout', 'payload'}),
        (['engine:=motion_model'], False, {'lockstep_timeout', 'payload'}),
        (['payload:=1.0', 'payload_end:=1.0'], False, {'lockstep_timeout'}),
    ],
)
def test_what_may_change_depends_on_what_has_an_effect(arguments, gains, others, tmp_path):
    words = [word for each in arguments for word in ('-p', each)]
    with started('simulator', tmp_path, *words) as node:
        found = accepted(node)
    always = SIMULATOR - {'servo_kp', 'servo_kd', 'payload', 'lockstep_timeout'}
    assert found == always | others | ({'servo_kp', 'servo_kd'} if gains else set())


def test_a_payload_that_is_set_is_carried_from_then_on_and_after_a_reset(tmp_path):
    with started('simulator', tmp_path) as node:
        simulation = node.simulation
        hold = simulation.plant.q.copy()
        for payload in (3.0, 1.0):
            before = simulation.plant.q.copy()
            assert set_one(node, 'payload', payload).successful
            np.testing.assert_array_equal(simulation.plant.q, before)
            for _ in range(3000):
                simulation.advance(hold)
            weight = simulation.plant.bias_torque() - simulation.model.gravity_torque(
                simulation.plant.q
            )
            tool = simulation.model.jacobian(simulation.plant.q)[2]
            np.testing.assert_allclose(weight, tool * payload * 9.81, atol=1e-6)
            node.arm_clock.reset()
            np.testing.assert_array_equal(simulation.plant.q, hold)
        assert not set_one(node, 'payload', -1.0).successful
