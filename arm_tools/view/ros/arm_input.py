"""The messages of an arm and its controller, taken from the middleware before each picture.

No message wakes this process: the middleware keeps the newest ones until they are taken.
"""

from contextlib import suppress

import numpy as np
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from arm_controllers.follower.goal import ResultCode
from arm_controllers.ros import object_messages
from arm_controllers.ros.messages import deserialized, goal_from_action, to_ns
from arm_controllers.ros.nodes import quiet_node, taken
from arm_controllers.ros.ros_types import AnyMessage, Kind
from arm_controllers.ros.serialized_messages import JointReader, JointStateReader
from arm_dynamics.checks import ArmError
from arm_tools.view.monitor import ArmMonitor

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# In lock-step, the reports of 50 per simulated second that come between two pictures.
REPORTS = QoSProfile(depth=60, reliability=ReliabilityPolicy.BEST_EFFORT)
_GOALS = QoSProfile(depth=10)


class ArmInput:
    """Reads `joint_states`, and the state, the goals and the results of one controller.

    Attributes:
        controller: its name; '' for none.
        others: names of controllers that report no joints of this arm, or not all, as a gripper's.
        subscriptions: those of states, of objects, and of the controller.
    """

    def __init__(self, node: Node, arm: ArmMonitor):
        """Subscribe in the namespace of a node."""
        self._node, self._arm, self.controller = node, arm, ''
        self.others: set[str] = set()
        model = arm.model
        self._quiet = quiet_node(node, f'{node.get_name()}_input')
        self._reader = JointStateReader(model.joint_names, ('position',))
        self._ordered = JointReader(model.joint_names)
        topic = node.resolve_topic_name('joint_states')
        objects = node.resolve_topic_name(object_messages.TOPIC)
        self.subscriptions = [
            self._subscribe(JointState, topic, NEWEST),
            self._subscribe(object_messages.MarkerArray, objects, NEWEST),
        ]

    def _subscribe(self, kind: Kind, topic: str, qos: QoSProfile) -> Subscription:
        return self._quiet.create_subscription(kind, topic, lambda raw: None, qos, raw=True)

    def use(self, controller: str) -> None:
        """Read the topics of this controller from now on."""
        while len(self.subscriptions) > 2:
            self._quiet.destroy_subscription(self.subscriptions.pop())
        self.controller = controller
        if controller:
            name = self._node.resolve_topic_name(controller)
            self.subscriptions += [
                self._subscribe(kind, f'{name}/{topic}', qos)
                for kind, topic, qos in (
                    (JointTrajectoryControllerState, 'controller_state', REPORTS),
                    (FollowJointTrajectory.Goal, 'goals', _GOALS),
                    (FollowJointTrajectory.Result, 'results', _GOALS),
                )
            ]

    def read(self) -> None:
        """Take the messages since the last call. Raises ArmError for an invalid one."""
        states, objects, *others = self.subscriptions
        if others:
            reports, goals, results = others
            while (raw := taken(goals)) is not None:
                times = goal_from_action(raw, None).times
                self._arm.on_goal(float(times[-1]) if len(times) else 0.0)
            while (raw := taken(reports)) is not None:
                self._on_report(deserialized(raw, JointTrajectoryControllerState))
            while (raw := taken(results)) is not None:
                result = deserialized(raw, FollowJointTrajectory.Result)
                good = result.error_code == ResultCode.SUCCESSFUL
                self._arm.on_result(good, result.error_string)
        if (raw := taken(objects)) is not None:
            self._arm.objects = object_messages.shapes_of(raw)
        raw = taken(states)
        if raw is not None:
            self._on_state(raw)

    def _on_state(self, raw: bytes) -> None:
        reader = self._reader
        reader.open(raw)
        effort = np.empty(0)
        with suppress(ArmError):  # the arm of another package may publish no effort
            effort = reader.values('effort').copy()
        self._arm.on_state(
            reader.time_ns * 1e-9, reader.values('position'), effort if len(effort) else None
        )

    def _on_report(self, report: AnyMessage) -> None:
        names, t = list(report.joint_names), to_ns(report.header.stamp) * 1e-9
        if names and not set(self._arm.model.joint_names) <= set(names):
            self.others.add(self.controller)
            return
        q, reference = (
            self._ordered.read(names, point.positions, 'position')
            for point in (report.feedback, report.reference)
        )
        self._arm.on_report(t, q, reference, to_ns(report.reference.time_from_start) * 1e-9)

    def close(self) -> None:
        """Destroy the subscriptions."""
        self._quiet.destroy_node()
