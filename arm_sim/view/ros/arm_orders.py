"""What the page asks for, done over ROS: services, goals, parameters, wrenches."""

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pinocchio as pin
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.messages import prefix_of, set_stamp
from arm_controllers.ros.serialized_messages import JointReader
from arm_dynamics.checks import ArmError, Array, in_range
from arm_interfaces.srv import ComputeIK
from arm_sim.view.moves import move_time
from arm_sim.view.watched import Watched

_LONGEST_PUSH = 3600.0  # [s]
_PAIR = ['natural_frequency', 'damping_ratio']


class ArmOrders:
    """Sends orders to simulator, controller and inverse kinematics of an arm; see `Orders`."""

    def __init__(
        self,
        node: Node,
        watched: Watched,
        show_gains: Callable[[tuple[float, float] | None, str], None],
    ):
        """Open what is needed on a node in the arm's namespace.

        `show_gains` is told a controller's natural frequency [rad/s] and damping ratio; None: it
        has none.
        """
        self._node, self._watched, self._show_gains = node, watched, show_gains
        self._controller, self._goals = '', None
        self._clients = {
            'pause': node.create_client(SetBool, 'simulator/pause'),
            'step': node.create_client(Trigger, 'simulator/step'),
            'reset': node.create_client(Trigger, 'simulator/reset'),
            'tip': node.create_client(ComputeIK, 'compute_ik'),
        }
        self._wrenches = node.create_publisher(WrenchStamped, 'external_wrench', 10)

    # Simulated time

    def pause(self, on: bool) -> None:
        """Stop simulated time, or let it go on."""
        self._ask('pause', SetBool.Request(data=on), self._answered('pause' if on else 'run'))

    def step(self) -> None:
        """Go on by one control period."""
        self._ask('step', Trigger.Request(), self._answered('step'))

    def reset(self) -> None:
        """Go back to the initial state."""
        self._ask('reset', Trigger.Request(), self._answered('reset'))

    def _answered(self, what: str) -> Callable[[Any], None]:
        def say(answer: Any) -> None:
            if answer.success:
                self._say(f'{what}: {answer.message}')
            else:
                self._refuse(what, answer.message)

        return say

    # Motion

    def move(self, q: Array) -> None:
        """Send the arm to joint positions (n,) [rad | m]."""
        if self._goals is None or not self._goals.server_is_ready():
            who = self._controller or 'no controller'
            self._refuse('move', f'{who} takes goals here')
            return
        model, watched = self._watched.model, self._watched
        seconds = move_time(model, watched.q, q)
        still = np.zeros(model.nv).tolist()
        point = JointTrajectoryPoint(
            positions=q.tolist(), velocities=still, accelerations=still, time_from_start=Duration()
        )
        set_stamp(point.time_from_start, round(seconds * 1e9))
        path = JointTrajectory(joint_names=list(model.joint_names), points=[point])
        sent = self._goals.send_goal_async(FollowJointTrajectory.Goal(trajectory=path))
        sent.add_done_callback(self._on_sent)
        self._say(f'goal sent: {seconds:.1f} s')

    def _on_sent(self, future: Future) -> None:
        handle = future.result()
        if handle.accepted:
            handle.get_result_async().add_done_callback(self._on_result)
        else:
            self._refuse('goal', f'{self._controller} did not take it')

    def _on_result(self, future: Future) -> None:
        answer = future.result()
        if self._node.count_publishers(f'{self._controller}/results'):
            return  # it is told there, as every goal's
        good = answer.status == GoalStatus.STATUS_SUCCEEDED
        self._watched.end(good, answer.result.error_string)

    def reach(self, pose: pin.SE3) -> None:
        """Send the tip to a pose in the base frame."""
        model, prefix = self._watched.model, prefix_of(self._node)
        request = ComputeIK.Request(
            tip_frame=prefix + model.tip_frame, seed=self._watched.q.tolist()
        )
        request.target.header.frame_id = prefix + model.base_frame
        p, o = request.target.pose.position, request.target.pose.orientation
        p.x, p.y, p.z, o.x, o.y, o.z, o.w = pin.SE3ToXYZQUAT(pose).tolist()

        def answered(answer: Any) -> None:
            if answer.success:
                reader = JointReader(model.joint_names)
                self.move(reader.read(list(answer.joint_names), answer.position, 'position'))
            else:
                self._refuse('tip', answer.reason)

        self._ask('tip', request, answered)

    def push(self, link: str, force: Array, seconds: float) -> None:
        """Push on a link's origin with a force (3,) [N] in base axes, for a simulated time [s]."""
        if not self._wrenches.get_subscription_count():
            self._refuse('push', f'nobody takes {self._wrenches.topic_name}')
            return
        in_range('time of a push [s]', seconds, 0.0, _LONGEST_PUSH)
        watched = self._watched
        turn = watched.model.forward_kinematics(watched.q, link).rotation
        for at, vector in ((0.0, turn.T @ force), (watched.time + seconds, np.zeros(3))):
            message = WrenchStamped()
            message.header.frame_id = prefix_of(self._node) + link
            set_stamp(message.header.stamp, round(at * 1e9))
            own = message.wrench.force
            own.x, own.y, own.z = vector.tolist()
            self._wrenches.publish(message)
        self._say(f'pushed {link}: {np.linalg.norm(force):g} N for {seconds:g} s')

    # The controller

    def use(self, controller: str) -> None:
        """Send goals and gains to this controller from now on; '': to none."""
        if self._goals is not None:
            self._goals.destroy()
        self._controller, self._goals, node = controller, None, self._node
        for name in ('read gains', 'gains'):
            if name in self._clients:
                node.destroy_client(self._clients.pop(name))
        self._show_gains(None, controller)
        if not controller:
            return
        self._goals = ActionClient(
            node, FollowJointTrajectory, f'{controller}/follow_joint_trajectory'
        )
        self._clients['read gains'] = node.create_client(
            GetParameters, f'{controller}/get_parameters'
        )
        self._clients['gains'] = node.create_client(
            SetParametersAtomically, f'{controller}/set_parameters_atomically'
        )
        self._unread = True

    def look(self) -> None:
        """Ask for the controller's gains, once it can be asked."""
        client = self._clients.get('read gains')
        if client is not None and self._unread and client.service_is_ready():
            self._unread = False
            self._ask('read gains', GetParameters.Request(names=_PAIR), self._on_gains)

    def _on_gains(self, answer: Any) -> None:
        values = [list(each.double_array_value) for each in answer.values]
        pair = None
        if len(values) == 2 and all(values):
            pair = median(values[0]), median(values[1])
        self._show_gains(pair, self._controller)

    def set_gains(self, frequency: float, ratio: float) -> None:
        """Give the controller gains by natural frequency [rad/s] and damping ratio."""
        pair = zip(_PAIR, (frequency, ratio), strict=True)
        told = [Parameter(name, value=[value]).to_parameter_msg() for name, value in pair]

        def answered(answer: Any) -> None:
            if answer.result.successful:
                self._say(f'gains: {frequency:g} rad/s, damping {ratio:g}')
            else:
                self._refuse('gains', answer.result.reason)
            self._unread = True

        self._ask('gains', SetParametersAtomically.Request(parameters=told), answered)

    # What all share

    def _ask(self, what: str, request: Any, then: Callable[[Any], None]) -> None:
        """Ask a service, and hand its answer on; refuse where it is not there, or answers ill."""
        client = self._clients.get(what)
        if client is None or not client.service_is_ready():
            name = client.srv_name if client is not None else 'a controller'
            self._refuse(what, f'{name} is not there')
            return

        def answered(future: Future) -> None:
            try:
                then(future.result())
            except ArmError as error:
                self._refuse(what, str(error))

        client.call_async(request).add_done_callback(answered)

    def _say(self, text: str) -> None:
        self._watched.notices.say(text, self._watched.time)

    def _refuse(self, what: str, reason: str) -> None:
        self._watched.notices.refuse(what, reason, self._watched.time)

    def close(self) -> None:
        """Give all back."""
        self.use('')
        for client in self._clients.values():
            self._node.destroy_client(client)
        self._node.destroy_publisher(self._wrenches)
