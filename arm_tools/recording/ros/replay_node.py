"""The replay: publishes the messages of a recording, at any speed, from any time on."""

import time
from bisect import bisect_left
from dataclasses import dataclass
from operator import itemgetter

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.publisher import Publisher

from arm_controllers.ros.log import Log
from arm_controllers.ros.nodes import Node
from arm_controllers.ros.parameters import declare_parameters, on_change_of
from arm_controllers.ros.qos import LATCHED_QOS, STATE_QOS
from arm_controllers.ros.running import end_node
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, parameter
from arm_tools.readers.recorded_messages import messages_of, reading
from arm_tools.recording.ros.schemas import message_class

_TICK = 0.005  # [s]
_DISCOVERY = 1.0  # time in which publishers on this machine are discovered [s]
_OF_AN_ARM = ('/joint_states', '/joint_commands', '/robot_description')
# Published at the beginning, wherever the replay begins, and for late subscribers.
_LATCHED = ('/robot_description', '/tf_static')
_GLOBAL = ('/tf', '/tf_static', '/diagnostics', '/parameter_events', '/clock')


@dataclass(frozen=True)
class ReplayParameters(Parameters):
    """Parameters of the replay; `speed` and `seek` may be set while it runs."""

    file: str = parameter('', 'path of an MCAP file, or of a folder with one')
    speed: float = parameter(
        1.0, 'speed relative to the recording [1]; 0: paused', min=0.0, max=1e6
    )
    seek: float = parameter(0.0, 'recorded time at which to continue [s]', min=0.0, max=1e9)


class ReplayNode(Node):
    """Publishes a recording in the node's namespace; ends with the last message."""

    def __init__(self) -> None:
        """Read the recording. Raises ArmError for a bad file, or next to a live arm."""
        super().__init__('replay')
        p = declare_parameters(self, ReplayParameters, live=('speed', 'seek'))
        with reading(p.file) as path:
            messages = sorted(messages_of(path), key=lambda message: message.time_ns)
            if not messages:
                raise ArmError('it has no messages')
        kinds = {each.topic: each.kind for each in messages}
        self._refuse_a_live_arm(
            [self._played(name) for name in kinds if name.endswith(_OF_AN_ARM)]
        )
        publishers = {name: self._publisher(name, kind) for name, kind in kinds.items()}
        self._due: list[tuple[int, Publisher, bytes]] = []  # time [ns], publisher, message
        for topic, _, time_ns, data in messages:
            publisher = publishers[topic]
            if publisher is None:
                continue
            if topic.endswith(_LATCHED):
                publisher.publish(data)
            else:
                self._due.append((time_ns, publisher, data))
        self._now = p
        self._continue_from(p)
        on_change_of(self, (ReplayParameters,), lambda wanted: wanted, self._change)
        self.create_timer(_TICK, self._tick)
        end = messages[-1].time_ns * 1e-9
        Log(self).info(f'{p.file}: {len(messages)} messages, {end:.3f} s, speed {p.speed:g}')

    def _played(self, topic: str) -> str:
        """Return the topic on which the messages of a recorded topic are published."""
        own = '' if topic in _GLOBAL else self.get_namespace().rstrip('/')
        return f'{own}{topic}'

    def _refuse_a_live_arm(self, topics: list[str]) -> None:
        end = time.monotonic() + _DISCOVERY
        while time.monotonic() < end:
            rclpy.spin_once(self, timeout_sec=0.05)
        for topic in topics:
            for other in self.get_publishers_info_by_topic(topic):
                raise ArmError(
                    f'{topic} is published by {other.node_name!r}: end that arm first, or replay '
                    'in another namespace with namespace:=NAME'
                )

    def _publisher(self, topic: str, kind: str) -> Publisher | None:
        """Return a publisher for a recorded topic; None if there can be none, which is logged."""
        qos = LATCHED_QOS if topic.endswith(_LATCHED) else STATE_QOS
        try:
            return self.create_publisher(message_class(kind), self._played(topic), qos)
        except (ArmError, NameValidationException) as error:
            Log(self).warning(f'{topic!r} is not played: {error}')
            return None

    def _change(self, wanted: ReplayParameters) -> None:
        """Continue at another speed, or from another time if `seek` was set."""
        if wanted.seek != self._now.seek:
            self._continue_from(wanted)
        self._now = wanted

    def _continue_from(self, p: ReplayParameters) -> None:
        self._now, self._now_ns = p, round(p.seek * 1e9)
        self._next = bisect_left(self._due, self._now_ns, key=itemgetter(0))
        self._wall = time.monotonic()

    def _tick(self) -> None:
        """Publish the messages that are due; end after the last message."""
        wall = time.monotonic()
        self._now_ns += round((wall - self._wall) * 1e9 * self._now.speed)
        self._wall = wall
        while self._next < len(self._due):
            time_ns, publisher, data = self._due[self._next]
            if time_ns > self._now_ns or not self._now.speed:
                return
            self._next += 1
            publisher.publish(data)
        end_node()
