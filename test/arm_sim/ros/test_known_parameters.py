"""Parameters of every node: known, described, fixed, dumped and loaded again; names refused."""

import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy')

from nodes_in_process import Started, names_of, robot_of, started
from rclpy.parameter import Parameter
from ros2param.api import get_value
from ros2param.verb.dump import DumpVerb

from arm_controllers.parameter_file import read_parameter_file
from arm_controllers.ros.parameters import refuse_unknown_parameters
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.ros.known_parameters import known_nodes, known_parameters


def dumped(node):
    """Return what `ros2 param dump` prints."""
    parameters = {}
    for name in sorted(names_of(node)):
        value = get_value(parameter_value=node.get_parameter_or(name).get_parameter_value())
        DumpVerb().insert_dict(parameters, name, value)
    tree = {f'/{node.get_name()}': {'ros__parameters': parameters}}
    return yaml.dump(tree, default_flow_style=False)


@pytest.fixture(scope='module', params=known_nodes())
def shown(request, tmp_path_factory):
    """Return a node's name, what its dump prints, and how it describes its parameters."""
    with started(request.param, tmp_path_factory.mktemp('node')) as node:
        return request.param, dumped(node), node.describe_parameters(names_of(node))


@pytest.mark.quick(2)
def test_dump_of_a_node_loads_again_as_it_is_and_gives_the_same_values(shown, tmp_path):
    name, first, _ = shown
    file = tmp_path / 'dump.yaml'
    file.write_text(first)
    read_parameter_file(file)
    arguments = ['--params-file', str(file)]
    with Started(name, *arguments) as node:
        refuse_unknown_parameters(node, arguments)
        assert dumped(node) == first


@pytest.mark.quick(24)
def test_every_parameter_of_a_node_is_known_beforehand_and_described(shown):
    name, _, described = shown
    joints = RobotModel.from_urdf(find_urdf(robot_of(name))).joint_names
    known = known_parameters(name, joints)
    if name == 'comparison_task':  # two tasks may have the same name; this one runs here
        known |= known_parameters('sinusoid_task', joints)
    for parameter in described:
        if parameter.name in ('use_sim_time', 'start_type_description_service'):
            continue
        field = known.get(parameter.name) or known[f'{parameter.name.rpartition(".")[0]}.*']
        assert parameter.description == field.description != ''
        assert field.allowed in parameter.additional_constraints


def test_dump_while_gains_are_set_by_frequency_loads_again_to_the_last_bit(tmp_path):
    name = 'pd_controller'
    with started(name, tmp_path, '-p', 'natural_frequency:=[17.3]') as node:
        first = dumped(node)
        kp = node.get_parameter('kp').value
    (tmp_path / 'dump.yaml').write_text(first)
    with Started(name, '--params-file', str(tmp_path / 'dump.yaml')) as node:
        assert dumped(node) == first
        np.testing.assert_array_equal(node.get_parameter('kp').value, kp)


# What cannot change while a node runs

FIXED = {
    'simulator': ('timestep', 0.004),
    'inverse_kinematics': ('tip_frame', 'forearm_link'),
    'sinusoid_task': ('amplitude', [0.7]),
    'pd_controller': ('gravity', [0.0, 0.0, -1.62]),
}


@pytest.mark.parametrize('name', FIXED)
def test_what_cannot_change_is_refused_unless_the_value_stays_the_same(name, tmp_path):
    with started(name, tmp_path) as node:
        parameter, value = FIXED[name]
        before = node.get_parameter(parameter)
        (answer,) = node.set_parameters([Parameter(parameter, value=value)])
        assert not answer.successful
        assert answer.reason.startswith(f'{parameter} cannot change while the node runs')
        assert node.get_parameter(parameter).value == before.value
        (answer,) = node.set_parameters([before])
        assert answer.successful, answer.reason


def test_all_values_of_a_dump_may_be_set_on_the_running_node(tmp_path):
    for name in ('simulator', 'pd_controller', 'servo_controller'):
        with started(name, tmp_path) as node:
            own = ('use_sim_time', 'start_type_description_service')
            values = [node.get_parameter(each) for each in names_of(node) if each not in own]
            answer = node.set_parameters_atomically(values)
            assert answer.successful, answer.reason


def test_gains_are_set_before_a_controller_is_configured(tmp_path):
    with started('pd_controller', tmp_path) as node:
        (answer,) = node.set_parameters([Parameter('kp', value=[123.0])])
        assert answer.successful, answer.reason
        node.trigger_configure()
        np.testing.assert_array_equal(node.cycle.law.parameters.kp, np.full(6, 123.0))


# Unknown names


@pytest.mark.parametrize(
    ('name', 'given', 'says'),
    [
        ('simulator', 'tmestep:=0.001', "unknown parameter 'tmestep'; nearest known: 'timestep'"),
        ('simulator', 'simulator:kp:=[1.0]', "unknown parameter 'kp'; nearest known: 'servo_kp'"),
        ('pd_controller', 'kpp:=[1.0]', "unknown parameter 'kpp'; nearest known: 'kp'"),
        (
            'pd_controller',
            'constraints.elbow_jiont.goal:=0.1',
            "nearest known: 'constraints.elbow_joint.goal'",
        ),
        ('inverse_kinematics', 'restart:=3', "'restart'; nearest known: 'restarts'"),
        ('cube_task', 'center.a:=1', "'center.a'; nearest known: 'center'"),
    ],
)
def test_unknown_name_is_refused_with_the_nearest_known_one(name, given, says, tmp_path):
    start = started(name, tmp_path, '-p', given)
    with start as node, pytest.raises(ArmError, match=says):
        refuse_unknown_parameters(node, start.arguments)


@pytest.mark.slow
def test_name_in_a_nodes_own_section_must_be_its_own_but_in_the_shared_one_may_be_anothers(
    tmp_path,
):
    for section, refused in (('/**', False), ('pd_controller', True), ('/pd_controller', True)):
        file = tmp_path / 'file.yaml'
        file.write_text(f'{section}: {{ros__parameters: {{stiffness: [1.0]}}}}')
        start = started('pd_controller', tmp_path, '--params-file', str(file))
        with start as node:
            if refused:
                with pytest.raises(ArmError, match="unknown parameter 'stiffness'"):
                    refuse_unknown_parameters(node, start.arguments)
            else:
                refuse_unknown_parameters(node, start.arguments)
