"""Which parameters each node has, so that a file with a typo is refused before anything starts."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import get_args

from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_file import SHARED, read_parameter_file
from arm_controllers.parameter_values import (
    ParameterField,
    from_ros_value,
    is_family,
    parameter_fields,
)
from arm_controllers.ros.controller_parameters import ControllerParameters, without_meaning
from arm_controllers.ros.gripper_controller_node import GripperNodeParameters
from arm_controllers.ros.live_parameters import FREQUENCY_AND_RATIO
from arm_dynamics.checks import ArmError, unknown
from arm_dynamics.model_error import ModelError
from arm_sim.cartesian.linear_move import LinearMoveParameters
from arm_sim.driving.supervisor_parameters import SupervisorNodeParameters
from arm_sim.ros.inverse_kinematics_node import InverseKinematicsParameters
from arm_sim.ros.plan_motion_node import PlanMotionParameters
from arm_sim.ros.simulator_setup import SimulatorParameters
from arm_sim.ros.task_node import AnyTaskParameters, TaskNodeParameters
from arm_sim.ros.tip_servo_node import TipServoNodeParameters
from arm_sim.simulation.plant import engine_classes, engine_names
from arm_sim.tasks import task_class, task_classes
from arm_sim.view.ros.described_arm import ShownArmParameters
from arm_sim.view.ros.plot_node import PlotParameters
from arm_sim.view.ros.view_node import ViewParameters

# Declared by every node of rclpy.
_EVERY_NODE = ('use_sim_time', 'start_type_description_service')

_NODES: dict[str, tuple[type, ...]] = {
    'simulator': (
        SimulatorParameters,
        *(engine.Parameters for engine in engine_classes(engine_names()).values()),
    ),
    'gripper_controller': (GripperNodeParameters,),
    'viewer': (ShownArmParameters,),
    'view': (ViewParameters,),
    'plot': (PlotParameters,),
    'inverse_kinematics': (InverseKinematicsParameters,),
    'tip_servo': (TipServoNodeParameters,),
    'linear_move': (LinearMoveParameters,),
    'plan_motion': (PlanMotionParameters,),
    'supervisor': (SupervisorNodeParameters,),
}


def known_nodes() -> list[str]:
    """Return the names of all nodes of this package."""
    laws = [f'{name}_controller' for name in law_names()]
    return [*_NODES, *laws, *(f'{name}_task' for name in task_classes()), 'comparison_task']


def known_parameters(node: str, joint_names: Sequence[str]) -> dict[str, ParameterField]:
    """Return the parameters of a node by name; a name of many parameters ends in `.*`."""
    fields = [field for kind in _parameters(node) for field in parameter_fields(kind)]
    of_law = node.endswith('_controller') and node not in _NODES
    if of_law:
        fields += parameter_fields(ModelError, 'model_error.')
        fields += parameter_fields(GuardParameters, GuardParameters.prefix)
        with suppress(ArmError):  # a plugin that cannot be imported is refused where it is to run
            law = law_class(node.removesuffix('_controller'))
            fields += parameter_fields(law.Parameters)
            fields += FREQUENCY_AND_RATIO if law.gains else ()
    if of_law or node == 'simulator':
        fields += parameter_fields(FollowerParameters, joint_names=joint_names)
    return {name: field for field in reversed(fields) for name in field.names or [field.name]}


def _parameters(node: str) -> tuple[type, ...]:
    if node in _NODES:
        return _NODES[node]
    name, _, end = node.rpartition('_')
    if end == 'controller':
        return (ControllerParameters,)
    if name == 'comparison':
        own = (task.Parameters for task in task_classes().values())
        return AnyTaskParameters, TaskNodeParameters, *own
    return TaskNodeParameters, task_class(name).Parameters


def _without_meaning(nodes: Sequence[str]) -> list[str]:
    """Return the names that the laws of these controllers accept without an effect."""
    found: list[str] = []
    for law in {node.removesuffix('_controller') for node in nodes} & {*law_names()}:
        with suppress(ArmError):  # a plugin that cannot be imported
            found += law_class(law).without_meaning
    return found


def check_parameter_file(file: Path, joint_names: Sequence[str]) -> None:
    """Refuse a file with a node or a parameter that there is not, or a value of the wrong type."""
    nodes = known_nodes()
    for section, values in read_parameter_file(file).items():
        if section != SHARED and section not in nodes:
            raise unknown(f'node in {file}:', section, nodes)
        known: dict[str, ParameterField] = {}
        for node in nodes if section == SHARED else [section]:
            known |= known_parameters(node, joint_names)
        unused = _without_meaning(nodes if section == SHARED else [section])
        for name, value in values.items():
            field = known.get(name) or known.get(f'{name.partition(".")[0]}.*')
            if field is not None:
                kind = get_args(field.kind)[1] if is_family(field.kind) else field.kind
                try:
                    from_ros_value(name, value, kind)
                except ArmError as error:
                    raise ArmError(f'{file}: {section}: {error}') from None
            elif name not in _EVERY_NODE and not without_meaning(name, unused):
                raise unknown(f'parameter of {section} in {file}:', name, known)
