"""Records the messages of an arm's nodes while they run."""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.utilities import get_rmw_implementation_identifier

from arm_controllers.ros import object_messages
from arm_controllers.ros.cdr import stamp_ns
from arm_controllers.ros.frame_messages import TFMessage
from arm_controllers.ros.inputs.wrench import TOPIC as WRENCH
from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import prefix_of, stamp_at
from arm_controllers.ros.qos import CONTROL_QOS, LATCHED_QOS, RECORD_QOS
from arm_dynamics.checks import ArmError
from arm_sim.ros import contact_messages, loop_messages
from arm_tools.readers.recorded_messages import REST_PERIOD
from arm_tools.recording.ros.parameter_snapshot import ParameterSnapshot
from arm_tools.recording.ros.recorded_states import RestFilter, StateSender
from arm_tools.recording.ros.recorded_topics import BatchedLater, RecordedTopics, Take
from arm_tools.recording.ros.recordings import RecordedFrames, Recordings, file_time_ns
from arm_tools.versions import versions

_JOINTS = 'sensor_msgs/msg/JointState'
_WRENCH = 'geometry_msgs/msg/WrenchStamped'
_TEXT = 'std_msgs/msg/String'
_EVENT = 'rcl_interfaces/msg/ParameterEvent'
_PICTURES = 'sensor_msgs/msg/Image', 'sensor_msgs/msg/CameraInfo'
_RENDERED = 'simulator/rendered_until'
_REPORT = 'control_msgs/msg/JointTrajectoryControllerState'
# Topics of a controller; messages of these types are recorded whatever the topic's name.
_OF_CONTROLLERS = {
    'controller_state': _REPORT,
    'goals': 'control_msgs/action/FollowJointTrajectory_Goal',
    'results': 'control_msgs/action/FollowJointTrajectory_Result',
}
_DRAIN, _LOOK = 0.01, 0.5  # period of fetching messages, and of looking for new topics [s]
_SELDOM = 0.05  # period of fetching where the owner passes the loop's messages [s]
_LATE = 4.0  # longest wait at the end for commands that were lost [s]


def _lacks(topics: RecordedTopics, parameters: ParameterSnapshot) -> bool:
    """Return whether a node may still answer, or no camera is known that time waits for."""
    camera = (topics.resolved('simulator'), 'wait_for_camera') in parameters.true
    return parameters.waits or (camera and not topics.kinds.intersection(_PICTURES))


class Recorder:
    """A recording next to a node. An error ends the recording with one log line, not the node.

    The states' stamps are its time. The recorder computes /tf itself, so that the control loop
    need not.

    In lock-step a recorder that receives the loop's messages itself publishes on
    `simulator/recorded_until` how far it has come: the simulator runs no further ahead than
    publishers keep messages.
    """

    def __init__(
        self,
        node: Node,
        path: Callable[[int], Path],
        bag: bool = False,
        own_states: bool = True,
        server: str = '',
        rest_period: float = 0.0,
    ):
        """Subscribe.

        Args:
            node: its executor runs the recorder's timers.
            path: returns the path of a recording by its number from 0; the first state begins one,
                and so does each reset.
            bag: whether recordings are folders of rosbag2.
            own_states: whether the recorder receives states and commands itself; otherwise its
                owner passes them to `take`.
            server: the node whose goals are recorded from the beginning, where it is known.
            rest_period: time between recorded states of an arm at rest [s]; 0: every state.
        """
        self._node, self._log = node, Log(node)
        self._rest = RestFilter(round(rest_period * 1e9))
        facts = versions() | {'rmw': get_rmw_implementation_identifier()}
        facts |= {REST_PERIOD: f'{rest_period:g}'} if rest_period else {}
        self._files = Recordings(path, bag, facts, self._stop)
        self._last_state = self._last_command = b''
        self._sender = StateSender()
        self._frames: RecordedFrames | None = None
        self._described = False
        self._reported_ns = self._before_ns = -1
        self._goals = 0
        self._rendered = b''  # how far the cameras are
        self._early: list[tuple[str, str, bytes]] = []  # pictures from before the first state
        self._topics = RecordedTopics(node)
        write, resolved = self._files.write, self._topics.resolved
        self._states, self._commands = map(resolved, ('joint_states', 'joint_commands'))
        stamps = (object_messages, object_messages.first_stamp_ns), (contact_messages, stamp_ns)
        objects, contacts = (
            partial(self._files.write_about_state, resolved(each.TOPIC), each.KIND, stamp_of)
            for each, stamp_of in stamps
        )
        self._wrenches = BatchedLater(self._topics, WRENCH, _WRENCH, write)
        taken = self._wrenches.take_batched
        self._takes = self.take_state, self.take_command, objects, contacts, taken
        self._loop = loop_messages.Takeover()
        self._progress: Publisher | None = None
        if own_states:
            self._listen_to_loop()
            self._listen(loop_messages.TOPIC, loop_messages.KIND, self._on_batch)
            self._progress = node.create_publisher(Time, 'simulator/recorded_until', CONTROL_QOS)
        self._listen('external_wrench', _WRENCH)
        self._listen(_RENDERED, 'builtin_interfaces/msg/Time', partial(setattr, self, '_rendered'))
        self._listen('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray')
        keep = partial(self._files.keep, '/parameter_events', _EVENT)
        self._listen('/parameter_events', _EVENT, keep)
        self._listen('robot_description', _TEXT, self._on_description, LATCHED_QOS)
        if server:
            goals = resolved(f'{server}/goals')
            self._listen(goals, _OF_CONTROLLERS['goals'], partial(self._take_goal, goals))
            for name, kind in _OF_CONTROLLERS.items():
                self._listen(f'{server}/{name}', kind)
        self._parameters = ParameterSnapshot(node, keep)
        self._look()
        # The loop only waits for a recorder that receives the loop's messages itself.
        every = ((_DRAIN if own_states else _SELDOM, self.drain), (_LOOK, self._look))
        self._timers = [node.create_timer(*each) for each in every]

    @property
    def name(self) -> str:
        """The last recording's file or folder; '' if there is none."""
        return self._files.name

    @property
    def failed(self) -> bool:
        """Whether something could not be written: then it has ended."""
        return self._files.failed

    @property
    def ready(self) -> bool:
        """Whether description, parameters and awaited cameras have come, or it has failed."""
        if not self.failed:
            self._look()
        return self.failed or (self._described and not _lacks(self._topics, self._parameters))

    def close(self, facts: Mapping[str, Mapping[str, str]] | None = None) -> None:
        """Write the messages that have arrived, add facts by name, and end the recording.

        Middleware sends a lost command again, up to 3 s later: the recorder waits for that.
        """
        end, answered_ns = time.monotonic() + _LATE, self._before_ns
        while not self.failed:
            self.drain()
            complete = not self._last_command or stamp_ns(self._last_command) >= answered_ns
            hears = self._loop.done or self._topics.publishers(self._commands) > 0
            if ((complete or not hears) and self._has_pictures) or time.monotonic() > end:
                break
            time.sleep(_DRAIN)
        if not self.failed:
            self._write_rest()
            self._files.end(facts)
        if not self.failed:
            self._stop()

    @property
    def _has_pictures(self) -> bool:
        """Whether the cameras, which publish how far they are behind their pictures, are done."""
        if not self._rendered or not self._topics.publishers(_RENDERED):
            return True
        until = deserialize_message(self._rendered, Time)
        return until.sec * 10**9 + until.nanosec >= self._files.now_ns

    def _stop(self, why: str = '') -> None:
        if why:
            self._log.error(why)
        for timer in self._timers:
            self._node.destroy_timer(timer)
        self._timers = []
        self._parameters.close()
        self._topics.close()
        if self._progress is not None:
            self._node.destroy_publisher(self._progress)

    # Received messages

    def _listen(
        self, topic: str, kind: str, take: Take | None = None, qos: QoSProfile = RECORD_QOS
    ) -> None:
        name = self._topics.resolved(topic)
        if kind == _REPORT:
            take = partial(self._write_at_its_stamp, name, kind)
        self._topics.listen(name, kind, take or partial(self._files.write, name, kind), qos)

    def _listen_to_loop(self) -> None:
        self._listen(self._states, _JOINTS, self.take_state)
        self._listen(self._commands, _JOINTS, self.take_command)

    def _look(self) -> None:
        """Look for new topics of this namespace, and for new nodes."""
        for topic, kinds in self._node.get_topic_names_and_types():
            if not topic.startswith('/' + prefix_of(self._node)):  # another arm's
                continue
            # There is no other topic of this one's type.
            if topic == self._topics.resolved('actuator_commands'):
                self._listen(topic, _JOINTS)
            for kind in set(_OF_CONTROLLERS.values()).intersection(kinds):
                self._listen(topic, kind)
            for kind in set(_PICTURES).intersection(kinds):
                take = partial(self._take_picture, topic, kind)
                self._listen(topic, kind, take, self._topics.profile_of(topic))
        self._parameters.look()
        if self._loop.done and not self._topics.publishers(loop_messages.TOPIC):
            # The simulator has ended.
            self._loop = loop_messages.Takeover()
            self._listen_to_loop()
            self._wrenches.listen()

    def _take_goal(self, topic: str, data: bytes) -> None:
        """Write a goal, and count it."""
        self._files.write(topic, _OF_CONTROLLERS['goals'], data)
        self._goals += 1

    def has_new_goal(self) -> bool:
        """Write the messages that have arrived; return whether they include a goal of the server.

        Goals since the last call count. A recording that has failed waits for none.
        """
        self.drain()
        found, self._goals = self._goals > 0, 0
        return found or self.failed

    def drain(self) -> None:
        """Write the messages that have arrived since the last call, and publish how far."""
        for take, data in self._topics.arrived():
            with suppress(ArmError):  # it is cut off
                take(data)
            if self.failed:
                return
        progress, now_ns = self._progress, self._files.now_ns
        if progress is not None and self._files.begun and self._reported_ns != now_ns:
            self._reported_ns = now_ns
            progress.publish(stamp_at(now_ns))

    def take(self, messages: Iterable[tuple[int, bytes]]) -> None:
        """Write the loop's messages, what and bytes; leave invalid ones out."""
        self._wrenches.begin_batch()
        for what, data in messages:
            with suppress(ArmError):  # cut off, or from before time 0
                self._takes[what](data)

    def take_state(self, data: bytes) -> None:
        """Write a serialised state, unless it repeats the last one.

        Raises ArmError where the state is cut off, or from before time 0.
        """
        if self.failed or data == self._last_state:
            return
        self._last_state, time_ns = data, file_time_ns(data)
        files = self._files
        if time_ns < files.now_ns or not files.begun:
            self._write_rest()
            files.begin(time_ns)
            self._wrenches.begin_recording()
            early, self._early = self._early, []
            for each in early:
                self._write_at_its_stamp(*each)
            self._last_command = b''  # the answer to the first state may be that before the reset
        self._before_ns, files.now_ns = files.now_ns, time_ns
        self._write(loop_messages.STATE, data)

    def take_command(self, data: bytes) -> None:
        """Write a serialised command, unless it repeats the last one; raises ArmError likewise."""
        if data != self._last_command:
            self._write(loop_messages.COMMAND, data)
            self._last_command = data

    def _take_picture(self, topic: str, kind: str, data: bytes) -> None:
        """Write a picture, or its camera's numbers."""
        if self._files.begun:
            self._write_at_its_stamp(topic, kind, data)
        else:
            self._early.append((topic, kind, data))

    def _write(self, what: int, data: bytes) -> None:
        """Write a state or a command, unless the arm is at rest."""
        for each in self._rest.take(what, data):
            self._write_now(*each)

    def _write_rest(self) -> None:
        """Write the last state at rest, before the recording ends."""
        for each in self._rest.end():
            self._write_now(*each)

    def _write_now(self, what: int, data: bytes) -> None:
        time_ns, files = file_time_ns(data), self._files
        if what == loop_messages.COMMAND:
            files.write(self._commands, _JOINTS, data, time_ns)
            return
        files.write(self._states, _JOINTS, self._sender.shortened(data), time_ns)
        if not files.failed and self._frames is not None:
            self._frames.follow(data, time_ns)

    def _on_batch(self, data: bytes) -> None:
        """Write a batch of the simulator; once batches are enough, receive nothing else."""
        commanded_ns = stamp_ns(self._last_command) if self._last_command else -1
        self.take(self._loop.take(data, self._files.now_ns, commanded_ns))
        if self._loop.done:
            for topic in (self._states, self._commands):
                self._topics.leave(topic)

    def _write_at_its_stamp(self, topic: str, kind: str, data: bytes) -> None:
        self._files.write(topic, kind, data, file_time_ns(data))

    def _on_description(self, data: bytes) -> None:
        """Keep the arm's description, and compute its frames from now on."""
        self._files.keep(self._topics.resolved('robot_description'), _TEXT, data)
        begin, self._described = not self._described, True
        try:
            if TFMessage is not None:
                self._frames = RecordedFrames(data, prefix_of(self._node), self._files)
                if begin and self._last_state:  # on a busy machine the description comes later
                    self._frames.follow(self._last_state, file_time_ns(self._last_state))
        except ArmError as error:
            self._log.warning(f'the recording has no /tf: robot_description: {error}')
