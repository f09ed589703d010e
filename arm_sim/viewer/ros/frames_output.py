"""What the simulator shows on /tf and /tf_static: where every link of the arm is."""

from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile

from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import prefix_of, set_stamp
from arm_controllers.ros.qos import LATCHED_QOS
from arm_controllers.ros.running import now_and_then
from arm_dynamics.checks import Array
from arm_dynamics.kinematics.link_tree import LinkTree
from arm_dynamics.model import RobotModel
from arm_sim.plants.simulation import Simulation

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

_QOS = QoSProfile(depth=100)  # tf2's own
_LOOK = 0.2  # how often listeners are looked for [s]
_OTHER = 'robot_state_publisher'


class FramesOutput:
    """Publishes the frames of a simulated arm, at a rate, while somebody listens.

    A message is made for listeners only, so that the control loop pays for no others. While a
    robot_state_publisher is on the graph, it has the word. In a namespace, frames have it before
    their names: `left/tool0`.
    """

    def __init__(self, node: Node, simulation: Simulation, rate: float):
        """`rate`: of messages [Hz of simulated time]; 0: none."""
        self._node, self._simulation, self._log = node, simulation, Log(node)
        self._publisher: Any = None
        self._listeners = 0
        self._wanted = self._is_other = False
        self.set_rate(rate)

    def set_rate(self, rate: float) -> None:
        """Publish so often [Hz of simulated time], and no more often than states; 0: never."""
        if rate and TFMessage is None:
            self._log.warning('tf2_msgs is not installed: the arm is not shown on /tf')
        self._on = rate > 0.0 and TFMessage is not None
        self._wanted = self._wanted and self._on
        self._every = max(1, round(1e9 / (rate * self._simulation.period_ns))) if rate else 0
        if self._on and self._publisher is None:
            self._begin()

    def _begin(self) -> None:
        node = self._node
        self._frames = FrameMessages(self._simulation.model, prefix_of(node))
        self._publisher = node.create_publisher(TFMessage, '/tf', _QOS)
        # Kept: a publisher that is gone has no last message.
        self._static = node.create_publisher(TFMessage, '/tf_static', LATCHED_QOS)
        self._static.publish(self._frames.standing)
        now_and_then(node, _LOOK, self._look)

    def show(self) -> None:
        """Publish where the arm is now, if it is time to and somebody listens."""
        if self._wanted and self._simulation.steps % self._every == 0:
            self._publish()

    def _publish(self) -> None:
        simulation = self._simulation
        self._publisher.publish(self._frames.at(simulation.plant.q, simulation.time_ns))

    def _look(self) -> None:
        """Look for listeners, and show a new one the arm even where time stands still."""
        before, self._listeners = self._listeners, self._publisher.get_subscription_count()
        self._wanted = self._on and self._listeners > 0
        if not self._wanted:
            return
        was_other, others = self._is_other, self._node.get_publishers_info_by_topic('/tf')
        own = self._node.get_namespace()
        self._is_other = any(
            _OTHER in other.node_name and other.node_namespace == own for other in others
        )
        if self._is_other and not was_other:
            self._log.info(f'a {_OTHER} shows the arm on /tf, so this node does not')
        self._wanted = not self._is_other
        if self._wanted and self._listeners > before:
            self._publish()


class FrameMessages:
    """The messages of /tf and /tf_static for an arm.

    Attributes:
        standing: of the links that no joint moves.
    """

    def __init__(self, model: RobotModel, prefix: str):
        """Lay out the messages; `prefix`: of the links' names, as 'left/'."""
        self._tree = LinkTree(model)
        self._moving = _transforms(self._tree.moving, prefix)
        self.standing = _transforms(self._tree.standing, prefix)
        _fill(self.standing, self._tree.standing_poses())

    def at(self, q: Array, time_ns: int) -> Any:
        """Return the message of the other links, at q (n,) and a stamp [ns], until the next."""
        _fill(self._moving, self._tree.moving_poses(q))
        for each in self._moving.transforms:
            set_stamp(each.header.stamp, time_ns)
        return self._moving


def _transforms(links: list[tuple[str, str]], prefix: str) -> Any:
    """Return a message for links on their carriers; `prefix`: of their names."""
    message = TFMessage()
    for carrier, link in links:
        each = TransformStamped(child_frame_id=prefix + link)
        each.header.frame_id = prefix + carrier
        message.transforms.append(each)
    return message


def _fill(message: Any, poses: Array) -> None:
    """Write poses (n, 7), as LinkTree has them, into a message."""
    for each, pose in zip(message.transforms, poses.tolist(), strict=True):
        place, turn = each.transform.translation, each.transform.rotation
        place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w = pose
