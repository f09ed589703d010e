"""Which parameters each node has, so that a file with a typo is refused before anything starts.

A node's class says so: by `Parameters`, its dataclass, or by `fields_of(name, joint_names)`, which
yields the fields of all parameters that the node of this law or task may have.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import get_args

from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_file import SHARED, read_parameter_file
from arm_controllers.parameter_values import (
    ParameterField,
    from_ros_value,
    is_family,
    parameter_fields,
)
from arm_controllers.ros.controller_parameters import without_meaning
from arm_dynamics.checks import ArmError, unknown
from arm_sim.registered import OF_MANY, node_class, node_of, nodes
from arm_sim.tasks import task_classes

# Declared by every node of rclpy.
_EVERY_NODE = ('use_sim_time', 'start_type_description_service')


def known_nodes() -> list[str]:
    """Return the names of all nodes that parameter files may have."""
    of_one = [
        name
        for name in nodes()
        if name not in OF_MANY and {'Parameters', 'fields_of'} & {*dir(node_class(name))}
    ]
    laws = [f'{name}_controller' for name in law_names()]
    return [*of_one, *laws, *(f'{name}_task' for name in task_classes()), 'comparison_task']


def known_parameters(node: str, joint_names: Sequence[str]) -> dict[str, ParameterField]:
    """Return the parameters of a node by name; a name of many parameters ends in `.*`."""
    kind = node_class(node_of(node))
    if hasattr(kind, 'fields_of'):
        of = node.removesuffix(f'_{node_of(node)}')
        fields = [*kind.fields_of(of, joint_names)]
    else:
        fields = [*parameter_fields(kind.Parameters)]
    return {name: field for field in reversed(fields) for name in field.names or [field.name]}


def _of_laws(nodes: Sequence[str]) -> list[type]:
    """Return the classes of parameters of the laws of these controllers."""
    classes: list[type] = []
    for law in {node.removesuffix('_controller') for node in nodes} & {*law_names()}:
        with suppress(ArmError):  # a plugin that cannot be imported
            classes.append(law_class(law).Parameters)
    return classes


def check_parameter_file(file: Path, joint_names: Sequence[str]) -> None:
    """Refuse a file with a node or a parameter that there is not, or a value of the wrong type."""
    nodes = known_nodes()
    for section, values in read_parameter_file(file).items():
        if section == 'controller_manager':
            launch = 'ros2 launch arm_sim ros2_control.launch.py controllers:='
            raise ArmError(f'{file} is a file of ros2_control: {launch}{file}')
        if section != SHARED and section not in nodes:
            raise unknown(f'node in {file}:', section, nodes)
        known: dict[str, ParameterField] = {}
        for node in nodes if section == SHARED else [section]:
            known |= known_parameters(node, joint_names)
        of_laws = _of_laws(nodes if section == SHARED else [section])
        for name, value in values.items():
            field = known.get(name) or known.get(f'{name.partition(".")[0]}.*')
            if field is not None:
                kind = get_args(field.kind)[1] if is_family(field.kind) else field.kind
                try:
                    from_ros_value(name, value, kind)
                except ArmError as error:
                    raise ArmError(f'{file}: {section}: {error}') from None
            elif name not in _EVERY_NODE and not without_meaning(name, *of_laws):
                raise unknown(f'parameter of {section} in {file}:', name, known)
