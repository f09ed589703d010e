"""A recording as a run of one arm: states, commands, goals, wrenches, parameters of the nodes."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import ParameterEvent
from rclpy.parameter import parameter_value_to_python
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.parameter_values import read_fields
from arm_controllers.ros import object_messages
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import ParameterValues
from arm_dynamics.robots import ArmParameters, RobotArgument, robot_names
from arm_dynamics.temporary_folder import temporary_folder
from arm_lab.identification.signals import MotionSamples
from arm_sim.loop.record import JointStates
from arm_sim.ros import contact_messages
from arm_sim.ros.goal_run import joint_states
from arm_sim.ros.simulator_setup import SCENE_OBJECTS
from arm_tools.inspection.wrong_numbers import model_of, wrong_numbers
from arm_tools.readers.findings import Doubt
from arm_tools.readers.joint_streams import STATES, measured_states
from arm_tools.readers.read_options import ReadRun
from arm_tools.readers.recorded_messages import Recorded, messages_of, reading, stale_index

_GOAL = 'control_msgs/action/FollowJointTrajectory_Goal'
_REPORT = 'control_msgs/msg/JointTrajectoryControllerState'


@dataclass
class RecordedRun:
    """The contents of a recording; of several arms in it, the first one.

    Attributes:
        path: of the recording.
        facts: metadata by name.
        namespace: of the arm: '', or such as '/left'.
        parameters: of each node, by its full name; as they were at the end, but `scene` and
            `objects` of the simulator as at the start.
        object_changes: later changes of `scene` and `objects`, in order.
        states, commands: serialised, in order.
        goals: time [ns] and serialised action goal of each accepted goal.
        wrenches: time [ns] and message of each.
        actuators: time [ns] and message of each command to actuators of an MJCF.
        reports: messages of ~/controller_state, serialised, in order.
        objects: time [ns] and serialised MarkerArray of each state of the objects.
        contacts: serialised contact facts of each state, in order.
        urdf: text of the arm's last description; '': none was recorded.
        findings: what the recording is, where `load` looked for that.
    """

    path: Path
    facts: dict[str, dict[str, str]] = field(default_factory=dict)
    namespace: str = ''
    parameters: dict[str, ParameterValues] = field(default_factory=dict)
    object_changes: list[dict[str, str]] = field(default_factory=list)
    states: list[bytes] = field(default_factory=list)
    commands: list[bytes] = field(default_factory=list)
    goals: list[tuple[int, bytes]] = field(default_factory=list)
    wrenches: list[tuple[int, WrenchStamped]] = field(default_factory=list)
    actuators: list[tuple[int, JointState]] = field(default_factory=list)
    reports: list[bytes] = field(default_factory=list)
    objects: list[tuple[int, bytes]] = field(default_factory=list)
    contacts: list[bytes] = field(default_factory=list)
    urdf: str = ''
    findings: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path | str, how: ReadRun | None = None) -> 'RecordedRun':
        """Read an MCAP file, also one that is cut off, or a folder of rosbag2.

        `how` the measured states are read, with findings; None: those of the first arm, as
        they are.

        Raises:
            ArmError: names the file and what is wrong.
        """
        with reading(path) as file:
            run = cls(file)
            messages = list(messages_of(file, run.facts))
            topics = [each.topic for each in messages if each.topic.endswith(STATES)]
            run.namespace = next(iter(topics), '').removesuffix(STATES)
            if how is not None and (topics or how.topic):
                messages, run.namespace, run.findings = measured_states(messages, how)
            for message in messages:
                run._take(message)
        if not run.states:
            raise run.lacks('joint_states')
        if how is not None:
            run.findings += [*map(Doubt, stale_index(run.path)), *run._wrong_numbers()]
        return run

    def _wrong_numbers(self) -> list[str]:
        """Return what the states are not, if the recording has the arm and nothing touches it.

        The numbers of a simulator whose parameters are recorded are what these say.
        """
        simulated = f'{self.namespace}/simulator' in self.parameters
        if simulated or self.wrenches or self.objects or self.contacts:
            return []
        model = model_of(self.urdf)
        joints = deserialize_message(self.states[0], JointState).name
        if model is None or not set(model.joint_names) <= set(joints):
            return []
        states = self.joint_states(model.joint_names)
        times = np.asarray(1e-9 * states.time_ns)
        return wrong_numbers(model, MotionSamples(times, states.q, states.effort))

    def lacks(self, what: str) -> ArmError:
        """Return the refusal of a recording without something."""
        return ArmError(f'recording {str(self.path)!r} has no {what}')

    def _take(self, message: Recorded) -> None:
        topic, kind, time_ns, data = message
        if topic == '/parameter_events':
            event = deserialize_message(data, ParameterEvent)
            known = self.parameters.setdefault(event.node, {})
            for each in event.new_parameters:
                known[each.name] = parameter_value_to_python(each.value)
            values = {x.name: parameter_value_to_python(x.value) for x in event.changed_parameters}
            if event.node == f'{self.namespace}/simulator':
                names = [name for name in ('scene', 'objects') if name in values]
                changes = {name: values.pop(name) for name in names}
                self.object_changes += [changes] if changes else []
            known |= values
            return
        if not topic.startswith(f'{self.namespace}/'):
            return
        name = topic.removeprefix(self.namespace)
        if name == STATES:
            self.states.append(data)
        elif name == '/joint_commands':
            self.commands.append(data)
        elif name == '/robot_description':
            self.urdf = deserialize_message(data, String).data
        elif name == f'/{object_messages.TOPIC}' and kind == object_messages.KIND:
            self.objects.append((time_ns, data))
        elif name == f'/{contact_messages.TOPIC}' and kind == contact_messages.KIND:
            self.contacts.append(data)
        elif name == '/external_wrench':
            wrench = deserialize_message(data, WrenchStamped)
            prefix = f'{self.namespace}/'[1:]
            wrench.header.frame_id = wrench.header.frame_id.removeprefix(prefix)
            self.wrenches.append((time_ns, wrench))
        elif name == '/actuator_commands':
            self.actuators.append((time_ns, deserialize_message(data, JointState)))
        elif name.count('/') == 2 and kind == _GOAL:  # /controller/goals, not another arm's
            self.goals.append((time_ns, data))
        elif name.count('/') == 2 and kind == _REPORT:
            self.reports.append(data)

    def parameters_of(self, name: str) -> ParameterValues:
        """Return the parameters of one of the arm's nodes; robot and scene are the recorded ones.

        Raises:
            ArmError: they were not recorded.
        """
        node = f'{self.namespace}/{name.rpartition("/")[2]}'
        if node not in self.parameters:
            raise self.lacks(f'parameters of {node}')
        values = self.parameters[node]
        if values.get('scene') and SCENE_OBJECTS in values:
            scene = self._folder / 'scene.yaml'
            scene.write_text(values[SCENE_OBJECTS])
            values = values | {'scene': str(scene)}
        if not self.urdf or 'robot' not in values or values.get('described'):
            return values
        robot = values['robot']
        if robot in robot_names():  # no other name is followed: a recording may be anyone's
            simulated = self.parameters.get(f'{self.namespace}/simulator', {})
            if robot != simulated.get('robot', robot):
                return values  # the description is that of an arm with a model error
            model = read_fields(ArmParameters, values).model()
            if self.urdf in (model.urdf, model.description):
                return values
        file = self._folder / f'{RobotArgument.of(robot).label}.urdf'
        file.write_text(self.urdf)
        return values | {'robot': str(file)}

    @cached_property
    def _folder(self) -> Path:
        return temporary_folder()

    def joint_states(self, joints: tuple[str, ...]) -> JointStates:
        """Return the states in the order of these joints."""
        return joint_states(self.states, JointStateReader(joints, FIELDS), self.contacts)

    def of_task(self) -> ParameterValues:
        """Return what a task says of its run. Raises ArmError where it is no task's recording."""
        facts = self.facts.get('task')
        if facts is None:
            raise self.lacks(
                'task: only a task that came to its end is reported on; render draws any '
                'recording, replay.launch.py plays it'
            )
        return {name: json.loads(text) for name, text in facts.items()}
