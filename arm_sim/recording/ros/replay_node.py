"""The replay: plays a recording on its topics, at any speed, from any time on."""

import time
from dataclasses import dataclass
from typing import Any

from rclpy.exceptions import NameValidationException
from rclpy.node import Node

from arm_controllers.ros.log import Log
from arm_controllers.ros.parameters import declare_parameters, on_change
from arm_controllers.ros.qos import LATCHED_QOS, STATE_QOS
from arm_controllers.ros.running import end_node, run_node
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.loop.recorded_messages import Recorded, messages_of, reading
from arm_sim.recording.ros.schemas import message_class

_TICK = 0.005  # [s]
# What those want to know who come later, or where a replay does not begin at the beginning.
_LATCHED = ('/robot_description', '/tf_static')


@dataclass(frozen=True)
class ReplayParameters(Parameters):
    """Parameters of the replay; `speed` and `seek` may be set while it runs."""

    file: str = parameter('', 'path of an MCAP file, or of a folder with one')
    speed: float = parameter(
        1.0, 'speed relative to the recording [1]; 0: paused', min=0.0, max=1e6
    )
    seek: float = parameter(0.0, 'recorded time at which to continue [s]', min=0.0, max=1e9)


class ReplayNode(Node):
    """Publishes what was recorded; it ends with the recording."""

    def __init__(self):
        """Read the recording. Raises ArmError where it cannot be."""
        super().__init__('replay')
        p = declare_parameters(self, ReplayParameters, live=('speed', 'seek'))
        self._messages = _read(p.file)
        self._publishers_of: dict[str, Any] = {}
        for topic, kind in {each.topic: each.kind for each in self._messages}.items():
            qos = LATCHED_QOS if topic in _LATCHED else STATE_QOS
            try:
                publisher = self.create_publisher(message_class(kind), topic, qos)
            except (ArmError, NameValidationException) as error:
                Log(self).warning(f'{topic!r} is not played: {error}')
            else:
                self._publishers_of[topic] = publisher
        self._go_on_from(p)
        for message in self._messages:
            if message.topic in _LATCHED:
                self._publish(message)
        on_change(self, (ReplayParameters,), self._check, self._change)
        self.create_timer(_TICK, self._tick)
        end = self._messages[-1].time_ns * 1e-9
        Log(self).info(f'{p.file}: {len(self._messages)} messages, {end:.3f} s, speed {p.speed:g}')

    def _check(self, wanted: ReplayParameters) -> ReplayParameters:
        return wanted

    def _change(self, wanted: ReplayParameters) -> None:
        """Go on at another speed, or from another time where `seek` was set."""
        if wanted.seek != self._parameters_now.seek:
            self._go_on_from(wanted)
        self._parameters_now = wanted

    def _go_on_from(self, p: ReplayParameters) -> None:
        self._parameters_now, self._now_ns = p, round(p.seek * 1e9)
        self._next = sum(message.time_ns < self._now_ns for message in self._messages)
        self._wall = time.monotonic()

    def _tick(self) -> None:
        """Publish what is due; end after the last message."""
        wall = time.monotonic()
        self._now_ns += round((wall - self._wall) * 1e9 * self._parameters_now.speed)
        self._wall = wall
        if not self._parameters_now.speed:
            return
        while self._next < len(self._messages):
            message = self._messages[self._next]
            if message.time_ns > self._now_ns:
                return
            self._next += 1
            if message.topic not in _LATCHED:
                self._publish(message)
        end_node()

    def _publish(self, message: Recorded) -> None:
        publisher = self._publishers_of.get(message.topic)
        if publisher is not None:
            publisher.publish(message.data)


def _read(file: str) -> list[Recorded]:
    """Return the messages in the order of their times."""
    with reading(file) as path:
        messages = sorted(messages_of(path), key=lambda message: message.time_ns)
        if not messages:
            raise ArmError('it has no messages')
    return messages


def main() -> int:
    """Run the node."""
    return run_node('replay', ReplayNode)
