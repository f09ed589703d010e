"""What an arm and its controller publish, looked at whenever a picture is made.

Nothing in this process is woken by a message: the middleware keeps the newest ones.
"""

from typing import Any

import rclpy
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from arm_controllers.follower.goal import ResultCode
from arm_controllers.ros.messages import deserialized, goal_from_action, to_ns
from arm_controllers.ros.serialized_messages import JointReader, JointStateReader
from arm_dynamics.checks import ArmError, Array
from arm_sim.view.watched import Watched

_NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# At 50 per simulated second and the pace of lock-step, what comes between two pictures.
_REPORTS = QoSProfile(depth=60, reliability=ReliabilityPolicy.BEST_EFFORT)
_GOALS = QoSProfile(depth=10)


class ArmInput:
    """Reads `joint_states`, and of one controller its state, its goals and how they ended.

    Attributes:
        controller: the name of that one; '' for none.
    """

    def __init__(self, node: Node, watched: Watched):
        """Listen beside a node, in whose namespace the arm is."""
        self._node, self._watched, self.controller = node, watched, ''
        model = watched.model
        # Spun by nobody: the subscriptions' messages wait until they are taken.
        self._quiet = rclpy.create_node(
            f'{node.get_name()}_input', context=node.context, namespace=node.get_namespace(),
            use_global_arguments=False, start_parameter_services=False,
        )  # fmt: skip
        self._reader = JointStateReader(model.joint_names, ('position',))
        self._ordered = {part: JointReader(model.joint_names) for part in ('state', 'reference')}
        self._states = self._listen(JointState, node.resolve_topic_name('joint_states'), _NEWEST)
        self._of_controller: list[Any] = []

    def _listen(self, kind: Any, topic: str, qos: QoSProfile) -> Any:
        return self._quiet.create_subscription(kind, topic, lambda raw: None, qos, raw=True)

    def look_at(self, controller: str) -> None:
        """Listen to this controller from now on."""
        for each in self._of_controller:
            self._quiet.destroy_subscription(each)
        self._of_controller, self.controller = [], controller
        if controller:
            of = self._node.resolve_topic_name(controller)
            self._of_controller = [
                self._listen(JointTrajectoryControllerState, f'{of}/controller_state', _REPORTS),
                self._listen(FollowJointTrajectory.Goal, f'{of}/goals', _GOALS),
                self._listen(FollowJointTrajectory.Result, f'{of}/results', _GOALS),
            ]

    def read(self) -> None:
        """Hand over what has come since the last time. Raises ArmError for what is no message."""
        if self._of_controller:
            reports, goals, results = self._of_controller
            while (raw := _taken(goals)) is not None:
                times = goal_from_action(raw, None).times
                self._watched.start(float(times[-1]) if len(times) else 0.0)
            while (raw := _taken(reports)) is not None:
                self._report(deserialized(raw, JointTrajectoryControllerState))
            while (raw := _taken(results)) is not None:
                self._result(raw)
        raw = _taken(self._states)
        if raw is not None:
            self._state(raw)

    def _state(self, raw: bytes) -> None:
        reader = self._reader
        reader.open(raw)
        try:
            told = reader.values('effort').copy()
            effort: Array | None = told if len(told) else None
        except ArmError:  # somebody else's arm may not tell
            effort = None
        self._watched.state(reader.time_ns * 1e-9, reader.values('position'), effort)

    def _report(self, report: Any) -> None:
        names, t = list(report.joint_names), to_ns(report.header.stamp) * 1e-9
        q, reference = (
            self._ordered[part].read(names, point.positions, 'position')
            for part, point in (('state', report.feedback), ('reference', report.reference))
        )
        self._watched.report(t, q, reference, to_ns(report.reference.time_from_start) * 1e-9)

    def _result(self, raw: bytes) -> None:
        result = deserialized(raw, FollowJointTrajectory.Result)
        self._watched.end(result.error_code == ResultCode.SUCCESSFUL, result.error_string)

    def close(self) -> None:
        """Listen no more."""
        self._quiet.destroy_node()


def _taken(subscription: Any) -> Any:
    """Return the next message of a subscription, or None."""
    with subscription.handle:
        taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
    return taken[0] if taken else None
