"""Definitions of message types as text, for recordings."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path

from ament_index_python import get_resource
from ament_index_python.packages import get_package_share_directory

from arm_controllers.ros.ros_types import Kind
from arm_dynamics.checks import ArmError

_KIND = r'([a-z]\w*)/(msg|action)/([A-Z]\w*)'
_PARTS = {'_Goal': 0, '_Result': 1, '_Feedback': 2}  # of an .action file


def message_class(kind: str) -> Kind:
    """Return the class of a type such as 'sensor_msgs/msg/JointState' or 'x/action/Y_Goal'.

    Raises:
        ArmError: no such type is installed.
    """
    try:
        found = re.fullmatch(_KIND, kind)
        if found is None:
            raise LookupError(kind)
        package, group, name = found.groups()
        get_resource('rosidl_interfaces', package)  # nothing but interfaces is imported
        if group == 'action':
            action, _, part = name.rpartition('_')
            return getattr(getattr(import_module(f'{package}.action'), action), part)
        return getattr(import_module(f'{package}.msg'), name)
    except (ImportError, AttributeError, LookupError, ValueError):
        raise ArmError(f'no message type {kind!r} is installed') from None


@cache
def schema_text(kind: str) -> str:
    """Return a message's definition followed by those that it uses, in MCAP's ros2msg format."""
    kinds, texts = [kind], []
    for each in kinds:  # which grow on the way
        package, group, name = each.split('/')
        head = each if group == 'action' else f'{package}/{name}'
        texts.append(f'MSG: {head}\n{_definition(package, group, name)}')
        fields = message_class(each).get_fields_and_field_types()
        used = [x.replace('/', '/msg/') for x in re.findall(r'\w+/\w+', ' '.join(fields.values()))]
        kinds += [other for other in dict.fromkeys(used) if other not in kinds]
    return ('\n' + '=' * 80 + '\n').join(texts).partition('\n')[2]


def _definition(package: str, group: str, name: str) -> str:
    folder = Path(get_package_share_directory(package)) / group
    if group != 'action':
        return (folder / f'{name}.msg').read_text()
    for ending, part in _PARTS.items():
        if name.endswith(ending):
            text = (folder / f'{name.removesuffix(ending)}.action').read_text()
            part_text = re.split(r'(?m)^---\s*$', text)[part].strip() + '\n'
            # Readers look for a type without a package among the actions.
            return re.sub(r'(?m)^([A-Z]\w*)(?=[\s\[])', rf'{package}/\1', part_text)
    raise KeyError(name)
