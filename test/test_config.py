"""The parameter files: every parameter of every node stands there, with the type it needs."""

import dataclasses
import typing

import pytest
import yaml

from arm_controllers.follower.parameter_names import parameter_names
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_values import from_ros_value
from arm_controllers.ros.controller_node import ControllerParameters
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError
from arm_dynamics.robots import find_urdf, share_folder
from arm_sim.plants.plant import PlantParameters
from arm_sim.ros.cube_plan import CubePlanParameters
from arm_sim.ros.cube_task_node import CubeTaskParameters
from arm_sim.ros.inverse_kinematics_node import InverseKinematicsParameters
from arm_sim.ros.simulator_setup import SimulatorParameters
from arm_sim.tasks.cube import Cube
from arm_sim.tasks.sinusoid_run import SinusoidTaskParameters

# What the launch files' arguments decide.
LAUNCHED = {
    'engine', 'mode', 'actuator', 'start_paused', 'viewer', 'record_inputs', 'autostart',
    'feedforward', 'controller', 'path', 'center', 'side', 'edge_time', 'output_dir',
    'start', 'cycles', 'limit',
}  # fmt: skip
NODES = {
    'simulator': (SimulatorParameters, PlantParameters),
    **{
        f'{law}_controller': (ControllerParameters, law_class(law).Parameters)
        for law in law_names()
        if law_class(law).command_interface != 'voltage'
    },
    'inverse_kinematics': (InverseKinematicsParameters,),
    'cube_task': (CubeTaskParameters, Cube, CubePlanParameters),
    'sinusoid_task': (SinusoidTaskParameters,),
}


def flat(tree: dict, prefix: str = '') -> dict:
    values = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            values |= flat(value, f'{prefix}{name}.')
        else:
            values[prefix + name] = value
    return values


def unlisted(value):
    return list(value) if isinstance(value, tuple) else value


def parameters_of(robot: str, node: str) -> dict:
    file = yaml.safe_load((share_folder() / 'config' / f'{robot}.yaml').read_text())
    sections = (file['/**'], file.get(node, {'ros__parameters': {}}))
    return {name: v for s in sections for name, v in flat(s['ros__parameters']).items()}


@pytest.mark.parametrize('robot', ['ur5e', 'ur5e_menagerie'])
@pytest.mark.parametrize('node', NODES)
def test_every_parameter_of_every_node_stands_in_the_robots_file(robot, node):
    found = parameters_of(robot, node)
    for kind in NODES[node]:
        hints = typing.get_type_hints(kind)
        for field in dataclasses.fields(kind):
            if field.name not in LAUNCHED and field.default != ():
                from_ros_value(field.name, found[field.name], hints[field.name])
    if node.endswith('_controller'):
        for field in dataclasses.fields(ModelError):
            if field.default != ():  # a parameter file cannot hold an empty list
                assert found[f'model_error.{field.name}'] == unlisted(field.default)
        names = RobotModel.from_urdf(find_urdf(robot)).joint_names
        assert parameter_names(names).keys() <= found.keys()


@pytest.mark.parametrize('robot', ['ur5e', 'ur5e_menagerie'])
def test_the_files_follower_parameters_are_the_defaults(robot):
    found = parameters_of(robot, 'servo_controller')
    names = RobotModel.from_urdf(find_urdf(robot)).joint_names
    drives = {'armature', 'damping', 'friction'}  # the arm's own
    for name, (field, joint) in parameter_names(names).items():
        if field in drives:
            continue
        default = getattr(FollowerParameters(), field)
        assert found[name] == (default if joint is None else default[0]), name
