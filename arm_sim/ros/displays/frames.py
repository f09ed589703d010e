"""The simulator's /tf and /tf_static: the poses of the arm's links and of free objects."""

from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from arm_controllers.ros.frame_messages import FrameMessages, TFMessage
from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.qos import LATCHED_QOS
from arm_controllers.ros.running import now_and_then
from arm_sim.ros.display import Display
from arm_sim.ros.loop_messages import LoopMessages
from arm_sim.simulation.simulation import Simulation

_QOS = QoSProfile(depth=100)  # as tf2 has
_LOOK = 0.2  # period of the search for subscribers [s]
_OTHER = 'robot_state_publisher'


class FramesDisplay(Display):
    """Publishes the frames of a simulated arm while /tf has a subscriber.

    Without a subscriber the control loop does not pay for a message. While a
    robot_state_publisher of the same namespace publishes /tf, this node does not. In a namespace,
    frame names begin with it: `left/tool0`.

    Attributes:
        active: whether messages are published now.
    """

    def __init__(self, node: Node, simulation: Simulation, loop: LoopMessages):
        super().__init__(node, simulation, loop)
        self._log = Log(node)
        self._publisher: Any = None
        self._subscribers = 0
        self.active = self._has_other = False

    def set_every(self, every: int) -> None:
        """Publish one of `every` states; 0: none."""
        if every and TFMessage is None:
            self._log.warning('tf2_msgs is not installed: nothing is published on /tf')
        self._on = every > 0 and TFMessage is not None
        self.active = self.active and self._on
        if self._on and self._publisher is None:
            self._begin()

    def _begin(self) -> None:
        node = self.node
        self.follow()
        self._publisher = node.create_publisher(TFMessage, '/tf', _QOS)
        # Kept, because a latched message lasts only as long as its publisher.
        self._static = node.create_publisher(TFMessage, '/tf_static', LATCHED_QOS)
        self._static.publish(self._frames.standing)
        now_and_then(node, _LOOK, self._look)

    def follow(self) -> None:
        """Publish the objects of the simulation's present plant from now on."""
        simulation = self.simulation
        if TFMessage is not None:
            plant, prefix = simulation.plant, prefix_of(self.node)
            names = (*plant.scene.objects, *plant.scene.loose_links)
            self._frames = FrameMessages(simulation.model, prefix, names)

    def show(self) -> None:
        """Publish the frames of the present state, if they have a subscriber."""
        if self.active:
            self._publish()

    def _publish(self) -> None:
        plant, time_ns = self.simulation.plant, self.simulation.time_ns
        around = (*plant.scene.object_poses(), *plant.scene.link_poses())
        self._publisher.publish(self._frames.at(plant.q, time_ns, around))

    def _look(self) -> None:
        """Count subscribers; publish at once for a new one, because time may be paused."""
        before, self._subscribers = self._subscribers, self._publisher.get_subscription_count()
        self.active = self._on and self._subscribers > 0
        if not self.active:
            return
        own, had_other = self.node.get_namespace(), self._has_other
        self._has_other = any(
            _OTHER in other.node_name and other.node_namespace == own
            for other in self.node.get_publishers_info_by_topic('/tf')
        )
        if self._has_other and not had_other:
            self._log.info(f'a {_OTHER} publishes the arm on /tf, so this node does not')
        self.active = not self._has_other
        if self.active and self._subscribers > before:
            self._publish()
