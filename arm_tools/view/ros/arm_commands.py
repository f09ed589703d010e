"""The page's commands over ROS: services, goals, parameters and wrenches."""

from collections.abc import Callable, Mapping
from functools import partial
from statistics import median

import numpy as np
import pinocchio as pin
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.action import ActionClient
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.log import shortened
from arm_controllers.ros.messages import prefix_of, trajectory_message, wrench_message
from arm_controllers.ros.pose_messages import pose_to_message
from arm_controllers.ros.qos import ACTION_SERVICES
from arm_controllers.ros.ros_types import Request, Response
from arm_controllers.ros.serialized_messages import JointReader
from arm_dynamics.checks import ArmError, Array, in_range
from arm_interfaces.srv import ComputeIK
from arm_tools.view.monitor import ArmMonitor
from arm_tools.view.slider_moves import move_time

_LONGEST_PUSH = 3600.0  # [s]
_GAINS = ['natural_frequency', 'damping_ratio']


class ArmCommands:
    """Commands simulator, controller and inverse kinematics of an arm.

    The arm's event log shows what became of each command.

    Attributes:
        clients: of services, by the name of the command.
        wrenches: publisher of pushes.
    """

    def __init__(
        self,
        node: Node,
        arm: ArmMonitor,
        show_gains: Callable[[tuple[float, float] | None, str], None],
    ):
        """Create the endpoints on a node in the arm's namespace.

        `show_gains` is called with a controller's natural frequency [rad/s] and damping ratio
        (None: it has none), and its name.
        """
        self._node, self._arm, self._show_gains = node, arm, show_gains
        self._controller = ''
        # They stay: EventsExecutor may crash where one is destroyed while an answer is on its way.
        self._goal_clients: dict[str, ActionClient] = {}
        self.clients: dict[str, Client] = {
            'pause': node.create_client(SetBool, 'simulator/pause'),
            'step': node.create_client(Trigger, 'simulator/step'),
            'reset': node.create_client(Trigger, 'simulator/reset'),
            'speed': node.create_client(
                SetParametersAtomically, 'simulator/set_parameters_atomically'
            ),
            'tip': node.create_client(ComputeIK, 'compute_ik'),
        }
        self.wrenches = node.create_publisher(WrenchStamped, 'external_wrench', 10)

    def time(self, what: str) -> None:
        """Do what a button says with simulated time: Pause, Run, Step or Reset."""
        if what in ('Pause', 'Run'):
            service, request = 'pause', SetBool.Request(data=what == 'Pause')
        else:
            service, request = {'Step': 'step', 'Reset': 'reset'}[what], Trigger.Request()
        self._call(service, request, partial(self._on_done, what.lower()))

    def _on_done(self, what: str, answer: Response) -> None:
        if answer.success:
            self._add_event(f'{what}: {answer.message}')
        else:
            self._refuse(what, answer.message)

    def set_speed(self, factor: float) -> None:
        """Let simulated time pass at a factor of the wall clock's; lock-step refuses."""
        values = {'real_time_factor': factor}
        self._set('speed', values, f'speed: {factor:g} simulated seconds per second')

    # Motion

    def move(self, q: Array) -> None:
        """Send the arm to joint positions (n,) [rad | m]."""
        goals = self._goal_clients.get(self._controller)
        if goals is None or not goals.server_is_ready():
            self._refuse('move', f'{self._controller or "no controller"} takes goals here')
            return
        model = self._arm.model
        seconds, still = move_time(model, self._arm.q, q), np.zeros((1, model.nv))
        goal = Goal(model.joint_names, np.array([seconds]), q[np.newaxis], still, still)
        request = FollowJointTrajectory.Goal(trajectory=trajectory_message(goal))
        sent = goals.send_goal_async(request)
        sent.add_done_callback(self._on_sent)
        self._add_event(f'goal sent: {seconds:.1f} s')

    def _on_sent(self, future: Future) -> None:
        handle = future.result()
        if handle.accepted:
            handle.get_result_async().add_done_callback(self._on_result)
        else:
            self._refuse('goal', f'{self._controller} rejected it')

    def _on_result(self, future: Future) -> None:
        if self._node.count_publishers(f'{self._controller}/results'):
            return  # the results of all goals come on this topic
        answer = future.result()
        good = answer.status == GoalStatus.STATUS_SUCCEEDED
        self._arm.on_result(good, answer.result.error_string)

    def reach(self, pose: pin.SE3) -> None:
        """Send the tip to a pose in the base frame."""
        model, prefix = self._arm.model, prefix_of(self._node)
        request = ComputeIK.Request(
            tip_frame=prefix + model.tip_frame,
            seed=self._arm.q.tolist(),
            target=pose_to_message(pose, prefix + model.base_frame),
        )

        def on_answer(answer: Response) -> None:
            if answer.success:
                reader = JointReader(model.joint_names)
                self.move(reader.read(list(answer.joint_names), answer.position, 'position'))
            else:
                self._refuse('tip', answer.reason)

        self._call('tip', request, on_answer)

    def push(self, link: str, force: Array, seconds: float) -> None:
        """Push on a link's origin with a force (3,) [N] in base axes, for a simulated time [s]."""
        if not self.wrenches.get_subscription_count():
            self._refuse('push', f'no node subscribes to {self.wrenches.topic_name}')
            return
        in_range('time of a push [s]', seconds, 0.0, _LONGEST_PUSH)
        arm, frame = self._arm, prefix_of(self._node) + link
        rotation = arm.model.forward_kinematics(arm.q, link).rotation
        for at, vector in ((0.0, rotation.T @ force), (arm.time + seconds, np.zeros(3))):
            wrench = np.append(vector, np.zeros(3))
            self.wrenches.publish(wrench_message(frame, wrench, round(at * 1e9)))
        self._add_event(f'pushed {link}: {np.linalg.norm(force):g} N for {seconds:g} s')

    # The controller

    def use(self, controller: str) -> None:
        """Send goals and gains to this controller from now on; '': to none."""
        self._controller, node = controller, self._node
        for name in ('read gains', 'gains'):
            if name in self.clients:
                node.destroy_client(self.clients.pop(name))
        self._show_gains(None, controller)
        if not controller:
            return
        if controller not in self._goal_clients:
            action = f'{controller}/follow_joint_trajectory'
            self._goal_clients[controller] = ActionClient(
                node, FollowJointTrajectory, action, **ACTION_SERVICES
            )
        for name, kind, service in (
            ('read gains', GetParameters, 'get_parameters'),
            ('gains', SetParametersAtomically, 'set_parameters_atomically'),
        ):
            self.clients[name] = node.create_client(kind, f'{controller}/{service}')
        self._unread = True

    def read_gains(self) -> None:
        """Request the controller's gains where they are not known and its service is there."""
        client = self.clients.get('read gains')
        if client is not None and self._unread and client.service_is_ready():
            self._unread = False
            self._call('read gains', GetParameters.Request(names=_GAINS), self._on_gains)

    def _on_gains(self, answer: Response) -> None:
        values = [list(each.double_array_value) for each in answer.values]
        known = len(values) == 2 and all(values)
        gains = (median(values[0]), median(values[1])) if known else None
        self._show_gains(gains, self._controller)

    def set_gains(self, frequency: float, ratio: float) -> None:
        """Give the controller gains by natural frequency [rad/s] and damping ratio."""
        values = dict(zip(_GAINS, ([frequency], [ratio]), strict=True))
        self._set('gains', values, f'gains: {frequency:g} rad/s, damping {ratio:g}')

    # Used by all

    def _set(self, what: str, values: Mapping[str, object], done: str) -> None:
        """Set parameters of the node of a client; `done`: the event where it accepts them."""
        parameters = [
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()
        ]

        def on_answer(answer: Response) -> None:
            if answer.result.successful:
                self._add_event(done)
            else:
                self._refuse(what, answer.result.reason)
            self._unread = True

        self._call(what, SetParametersAtomically.Request(parameters=parameters), on_answer)

    def _call(self, what: str, request: Request, then: Callable[[Response], None]) -> None:
        """Call a service; refuse where it is missing or `then` raises ArmError at its answer."""
        client = self.clients.get(what)
        if client is None or not client.service_is_ready():
            name = client.srv_name if client is not None else 'a controller'
            self._refuse(what, f'{name} is not there')
            return

        def on_answer(future: Future) -> None:
            try:
                then(future.result())
            except ArmError as error:
                self._refuse(what, shortened(str(error)))

        client.call_async(request).add_done_callback(on_answer)

    def _add_event(self, text: str) -> None:
        self._arm.events.add(text, self._arm.time)

    def _refuse(self, what: str, reason: str) -> None:
        self._arm.events.refuse(what, reason, self._arm.time)

    def close(self) -> None:
        """Destroy the endpoints."""
        self.use('')
        for client in self.clients.values():
            self._node.destroy_client(client)
        self._node.destroy_publisher(self.wrenches)
