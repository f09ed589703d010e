"""What `identify` writes for the launch files: an arm's URDF and parameter file."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.compiled import FRICTIONLESS, ForwardModelParameters
from arm_dynamics.parameters import ParameterValues, Stepping
from arm_lab.identification.estimation import Identified
from arm_lab.identification.identified_arm import identified_urdf, joint_parameters
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.servo_fit import ServoFit, servo_pi
from arm_sim.output_folder import whole_file
from arm_sim.parameter_files import SHARED
from arm_sim.robot import Robot
from arm_sim.tasks import make_task

_SURE = 3.0  # standard errors from which on friction is some


class Written(NamedTuple):
    """The files of an arm, what is to be known of them, and a launch that takes them."""

    urdf: Path
    config: Path
    notes: list[str]
    launch: str


def write_arm(
    folder: Path,
    robot: Robot,
    found: Identified,
    motors: dict[str, list[float]],
    friction: ParameterValues,
) -> Written:
    """Write what was found of an arm.

    `motors` are the parameters of its motors, `friction` those beyond viscous and Coulomb, if any.

    Raises:
        ArmError: the folder cannot be written.
    """
    pi, other, notes = found.pi, '', []
    integrator = robot.parameters('simulator').get('integrator')
    if integrator in FRICTIONLESS:
        pi, other = _without_friction(found)
        name = f'{robot.name}_identified.yaml'
        what = f'the arm has, so that {name} has {other!r}' if other else 'none was found'
        notes.append(f'integrator {integrator!r} has no friction: {what}')
    own = {'integrator': other, **friction}
    return _written(folder, robot, found.regressor, pi, motors, own, notes)


def write_servos(folder: Path, robot: Robot, found: ServoFit) -> Written:
    """Write an arm with position servos.

    Raises:
        ArmError: the folder cannot be written.
    """
    kp, kd, _, _ = (each.tolist() for each in found.of_joints())
    period = 1e-9 * read_fields(Stepping, robot.parameters('simulator')).period_ns
    delay = {'command_delay': round(found.delay / period)}
    pi = servo_pi(robot.model, found)
    servos = {'servo_kp': kp, 'servo_kd': kd}
    return _written(folder, robot, JointRegressor(robot.model), pi, servos, delay, [])


def _written(
    folder: Path,
    robot: Robot,
    regressor: JointRegressor,
    pi: Array,
    shared: ParameterValues,
    simulator: ParameterValues,
    notes: list[str],
) -> Written:
    """Write URDF and parameter file; `simulator`: of the simulator alone, where not empty or 0."""
    stem = f'{robot.name}_identified'
    urdf, config = folder / f'{stem}.urdf', folder / f'{stem}.yaml'
    parameters = joint_parameters(robot.model, pi) | shared
    for path, text in (
        (urdf, identified_urdf(regressor, pi)),
        (config, _config(robot, parameters, {k: x for k, x in simulator.items() if x})),
    ):
        with whole_file(path) as file:
            file.write(text.encode())
    return Written(urdf, config, notes, f'{_launch(robot)} robot:={urdf} config:={config}')


def _without_friction(found: Identified) -> tuple[Array, str]:
    """Return parameters (14 n,) for an integrator without friction, and another one if need be."""
    joint = np.arange(len(found.pi)) // found.regressor.model.nv
    of_friction = (joint == 11) | (joint == 12)
    if (found.pi > _SURE * found.errors)[of_friction].any():
        return found.pi, ForwardModelParameters.integrator
    return np.where(of_friction, 0.0, found.pi), ''


def _config(robot: Robot, found: ParameterValues, simulator: ParameterValues) -> str:
    """Return a parameter file: what the robot's files say, and what was found in its place."""
    sections = {node: dict(values) for node, values in robot.sections.items() if values}
    shared = sections.setdefault(SHARED, {}) | found
    shared.pop('robot', None)
    sections[SHARED] = shared
    if simulator:
        sections['simulator'] = sections.get('simulator', {}) | simulator
    tree = {node: {'ros__parameters': values} for node, values in sections.items()}
    return yaml.safe_dump(tree, default_flow_style=None, sort_keys=False, width=10**6)


def _launch(robot: Robot) -> str:
    """Return the launch of a task that the arm can do: the cube, or else a sinusoid."""
    law = ''
    if robot.parameters('simulator').get('actuator') == 'voltage':
        law = ' controller:=motor_computed_torque'
    try:
        make_task('cube', robot)
    except ArmError:
        return f'ros2 launch arm_sim task.launch.py task:=sinusoid{law}'
    return f'ros2 launch arm_sim cube.launch.py{law}'
