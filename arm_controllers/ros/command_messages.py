"""Commands as JointStates: each joint's command is in the field of its command interface."""

from collections.abc import Sequence

import numpy as np

from arm_controllers.ros.serialized_messages import FIELDS, LARGEST, JointStateReader
from arm_dynamics.checks import Array

# The field of a JointState by command interface.
FIELD = {'position': 'position', 'velocity': 'velocity', 'effort': 'effort', 'voltage': 'effort'}


class CommandReader(JointStateReader):
    """Reads commands in the order of our joints, whatever the sender's.

    A field holds a number per joint of the message, of which those of joints with its interface
    are read; or, as topic_based_ros2_control writes it, numbers of these joints alone.
    """

    def __init__(self, joint_names: Sequence[str], interfaces: Sequence[str]):
        """`interfaces`: of each joint."""
        fields = [FIELD[interface] for interface in interfaces]
        self._used = tuple(dict.fromkeys(fields))
        super().__init__(joint_names, self._used)
        self._own = [(name, np.array(fields) == name) for name in self._used]
        self._field_of = dict(zip(joint_names, fields, strict=True))
        self._command = np.zeros(len(joint_names))

    def command(self) -> Array:
        """Return the opened message's command (n,), until the next one is opened.

        Raises ArmError as `JointReader.read` does.
        """
        if len(self._used) == 1:
            return self.values(self._used[0])
        shape, command = self._opened, self._command
        if shape is self._expected and shape.order is None:
            for name, own in self._own:
                command[own] = shape.values[name][own]
            if command.dot(command) < LARGEST**2:
                return command
        return self._ordered.read(shape.names, self._in_their_order(), 'command')

    @property
    def strange_fields(self) -> list[str]:
        """The fields of the opened message, if none of them is that of any joint's commands."""
        given = [name for name in FIELDS if len(self._opened.values[name])]
        return given if set(given).isdisjoint(self._used) else []

    def is_nan(self) -> bool:
        """Whether the opened message has a command, and none of its numbers is one."""
        shape = self._opened
        if shape is self._expected and len(self._used) == 1:
            values = shape.values[self._used[0]]
            return bool(np.isnan(values if shape.order is None else values[shape.order]).all())
        given = any(len(shape.values[name]) for name in self._used)
        ours = any(name in self._field_of for name in shape.names)
        return given and ours and bool(np.isnan(self._in_their_order()).all())

    def _in_their_order(self) -> Array:
        """Return the commands in the opened message's order; NaN for joints that are not ours."""
        shape = self._opened
        fields = [self._field_of.get(name, '') for name in shape.names]
        command = np.full(len(fields), np.nan)
        for name in self._used:
            values = shape.values[name]
            own = [k for k, field in enumerate(fields) if field == name]
            if len(values) == len(fields):
                command[own] = values[own]
            elif len(values) == len(own):
                command[own] = values
            elif own:
                self._ordered.read(shape.names, values, name)  # refuses the count
        return command
