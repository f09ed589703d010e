"""A recording as a run: states, commands, goals, wrenches, parameters of the nodes."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import ParameterEvent
from rclpy.parameter import parameter_value_to_python
from rclpy.serialization import deserialize_message
from std_msgs.msg import String

from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader
from arm_dynamics.checks import ArmError
from arm_sim.ros.goal_run import joint_states
from arm_sim.runs.record import JointStates
from arm_sim.runs.recorded_messages import Recorded, messages_of, reading

_GOAL = 'control_msgs/action/FollowJointTrajectory_Goal'
_REPORT = 'control_msgs/msg/JointTrajectoryControllerState'


@dataclass
class RecordedRun:
    """What a recording holds.

    Attributes:
        path: of the recording.
        facts: metadata by name.
        parameters: of each node, by its full name; as they were at the end.
        states, commands: serialised, in order.
        goals: time [ns] and serialised action goal of each that was accepted.
        wrenches: time [ns] and message of each.
        reports: of controllers, serialised, in order.
        urdf: text of the arm's last description; '': none was recorded.
    """

    path: Path
    facts: dict[str, dict[str, str]] = field(default_factory=dict)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    states: list[bytes] = field(default_factory=list)
    commands: list[bytes] = field(default_factory=list)
    goals: list[tuple[int, bytes]] = field(default_factory=list)
    wrenches: list[tuple[int, WrenchStamped]] = field(default_factory=list)
    reports: list[bytes] = field(default_factory=list)
    urdf: str = ''

    @classmethod
    def load(cls, path: Path | str) -> 'RecordedRun':
        """Read an MCAP file, also one that is cut off, or a folder with one.

        Raises:
            ArmError: names the file and what is wrong.
        """
        with reading(path) as file:
            run = cls(file)
            for message in messages_of(file, run.facts):
                run._take(message)
        if not run.states:
            raise run.lacks('joint_states')
        return run

    def lacks(self, what: str) -> ArmError:
        """Return the refusal of a recording without something."""
        return ArmError(f'recording {str(self.path)!r} has no {what}')

    def _take(self, message: Recorded) -> None:
        topic, kind, time_ns, data = message
        if topic.endswith('/joint_states'):
            self.states.append(data)
        elif topic.endswith('/joint_commands'):
            self.commands.append(data)
        elif kind == _GOAL:
            self.goals.append((time_ns, data))
        elif kind == _REPORT:
            self.reports.append(data)
        elif topic.endswith('/robot_description'):
            self.urdf = deserialize_message(data, String).data
        elif topic.endswith('/external_wrench'):
            self.wrenches.append((time_ns, deserialize_message(data, WrenchStamped)))
        elif topic == '/parameter_events':
            event = deserialize_message(data, ParameterEvent)
            known = self.parameters.setdefault(event.node, {})
            for each in (*event.new_parameters, *event.changed_parameters):
                known[each.name] = parameter_value_to_python(each.value)

    def parameters_of(self, name: str) -> dict[str, Any]:
        """Return the parameters of a node, in whatever namespace.

        Raises ArmError where it was not recorded, or several were.
        """
        ending = f'/{name.strip("/")}'
        found = [each for each in self.parameters if each.endswith(ending)]
        if len(found) != 1:
            raise self.lacks(f'parameters of one {ending}, but of {len(found)}')
        return self.parameters[found[0]]

    def joint_states(self, joints: tuple[str, ...]) -> JointStates:
        """Return the states in the order of these joints."""
        return joint_states(self.states, JointStateReader(joints, FIELDS))

    def of_task(self) -> dict[str, Any]:
        """Return what a task says of its run. Raises ArmError where it is no task's recording."""
        told = self.facts.get('task')
        if told is None:
            raise self.lacks(
                'task: only a task that came to its end is reported on; render draws any '
                'recording, replay.launch.py plays it'
            )
        return {name: json.loads(text) for name, text in told.items()}
