"""The simulator's /tf and /tf_static: the poses of the arm's links and of free objects."""

from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from arm_controllers.ros.frame_messages import FrameMessages, TFMessage
from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.qos import LATCHED_QOS
from arm_controllers.ros.running import now_and_then
from arm_sim.simulation.simulation import Simulation

_QOS = QoSProfile(depth=100)  # as tf2 has
_LOOK = 0.2  # period of the search for subscribers [s]
_OTHER = 'robot_state_publisher'


class FramesOutput:
    """Publishes the frames of a simulated arm at a rate, while /tf has a subscriber.

    Without a subscriber the control loop does not pay for a message. While a
    robot_state_publisher of the same namespace publishes /tf, this node does not. In a namespace,
    frame names begin with it: `left/tool0`.

    Attributes:
        active: whether messages are published now.
        every: number of states per message; 0: no messages.
    """

    def __init__(self, node: Node, simulation: Simulation, rate: float):
        """`rate`: messages per second of simulated time [Hz]; 0: none."""
        self._node, self._simulation, self._log = node, simulation, Log(node)
        self._publisher: Any = None
        self._subscribers = 0
        self.active = self._has_other = False
        self.set_rate(rate)

    def set_rate(self, rate: float) -> None:
        """Publish at a rate [Hz of simulated time], at most once per state; 0: never."""
        if rate and TFMessage is None:
            self._log.warning('tf2_msgs is not installed: nothing is published on /tf')
        self._on = rate > 0.0 and TFMessage is not None
        self.active = self.active and self._on
        self.every = max(1, round(1e9 / (rate * self._simulation.period_ns))) if rate else 0
        if self._on and self._publisher is None:
            self._begin()

    def _begin(self) -> None:
        node = self._node
        self.follow()
        self._publisher = node.create_publisher(TFMessage, '/tf', _QOS)
        # Kept, because a latched message lasts only as long as its publisher.
        self._static = node.create_publisher(TFMessage, '/tf_static', LATCHED_QOS)
        self._static.publish(self._frames.standing)
        now_and_then(node, _LOOK, self._look)

    def follow(self) -> None:
        """Publish the objects of the simulation's present plant from now on."""
        simulation = self._simulation
        if TFMessage is not None:
            plant, prefix = simulation.plant, prefix_of(self._node)
            names = (*plant.scene.objects, *plant.scene.loose_links)
            self._frames = FrameMessages(simulation.model, prefix, names)

    def show(self) -> None:
        """Publish the frames of the present state, if a message is due and has a subscriber."""
        if self.active and self._simulation.steps % self.every == 0:
            self._publish()

    def _publish(self) -> None:
        plant, time_ns = self._simulation.plant, self._simulation.time_ns
        around = (*plant.scene.object_poses(), *plant.scene.link_poses())
        self._publisher.publish(self._frames.at(plant.q, time_ns, around))

    def _look(self) -> None:
        """Count subscribers; publish at once for a new one, because time may be paused."""
        before, self._subscribers = self._subscribers, self._publisher.get_subscription_count()
        self.active = self._on and self._subscribers > 0
        if not self.active:
            return
        own, had_other = self._node.get_namespace(), self._has_other
        self._has_other = any(
            _OTHER in other.node_name and other.node_namespace == own
            for other in self._node.get_publishers_info_by_topic('/tf')
        )
        if self._has_other and not had_other:
            self._log.info(f'a {_OTHER} publishes the arm on /tf, so this node does not')
        self.active = not self._has_other
        if self.active and self._subscribers > before:
            self._publish()
