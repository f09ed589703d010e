"""A simulated arm in lock-step, in a ROS domain of its own, whose time a test controls."""

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from ament_index_python.packages import get_packages_with_prefixes
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from trajectory_msgs.msg import JointTrajectory

from arm_controllers.parameter_file import mapping_text
from arm_controllers.ros.messages import set_stamp, to_ns, wrench_message
from arm_controllers.ros.qos import ACTION_SERVICES
from arm_dynamics.checks import ArmError, JointLimitError, finite
from arm_lab.experiments.processes import Group
from arm_lab.judging.trials import controller_command
from arm_lab.testing.ros.goals import (
    SETTLING,
    Positions,
    goal_to,
    meant,
    not_found,
    not_there,
    raise_reason,
    takers,
)
from arm_lab.testing.ros.lockstep_client import STILL, LockstepClient, said
from arm_sim.output_folder import writable_folder

BROADCASTER, JTC = 'joint_state_broadcaster', 'joint_trajectory_controller'
LAUNCH, CONTROLLER = 'launch', 'controller'  # the processes whose end is an error
_SOON = 10  # control periods until a goal begins
_SLICE = 0.1  # simulated time between looks whether a goal has ended [s]
_UNKNOWN = 3.0  # wait for a controller that nothing can bring any more [s]
_LATE = 10.0  # simulated time after which a goal that has not ended never does [s]


class SimulatedArm(LockstepClient):
    """Simulator and controllers as processes, and a client.

    Simulated time stands still, except in `reach`, `run`, `wait`, and `wait` of a goal. So what a
    test does happens at the same simulated time in every run, on a busy machine too.

    Attributes in addition to those of LockstepClient:
        environment: of processes in the arm's ROS domain.
    """

    def __init__(
        self,
        folder: Path | str,
        command: str | Sequence[str] = '',
        *,
        controllers: Path | str = '',
        spawn: str = JTC,
        **arguments: str,
    ):
        """Start an arm and wait until its controllers command it.

        Args:
            folder: of recording and logs.
            command: starts the controller, as text or words: a program, or a launch file alone or
                in a package; empty: a controller of this package, by the argument `law`.
            controllers: parameter file of a controller_manager of ros2_control, which then
                commands the arm.
            spawn: of its controllers, separated by commas, those that are to be active besides
                joint_state_broadcaster.
            arguments: of `arm.launch.py`, or, with `controllers`, of `ros2_control.launch.py`,
                such as robot='ur5e', actuator='torque', law='pd'.

        Raises:
            ArmError: a process has ended, with its last words; controller_manager is missing.
        """
        self._folder, self.environment = writable_folder(str(folder)), dict(os.environ)
        self._groups = ExitStack()
        self._processes: dict[str, Group] = {}
        self._started = False
        try:
            expected = self._launch(command, controllers, spawn, arguments)
            domain = int(self.environment.get('ROS_DOMAIN_ID') or 0)
            super().__init__(domain, self._processes, self._folder / 'recording.mcap')
            self._groups.callback(self._ends.close)
            (self.await_managed if controllers else self.await_controllers)(expected)
            last = expected[-1] if expected else next(iter(self._claims.claims))
            self.begin(last, bool(controllers))
        except BaseException:
            self._groups.close()
            raise

    def __exit__(self, *error: object) -> None:
        """End the recording and all processes."""
        self._groups.close()

    def _launch(
        self,
        command: str | Sequence[str],
        controllers: Path | str,
        spawn: str,
        given: Mapping[str, str],
    ) -> list[str]:
        """Start the processes; return the names of the controllers that will command the arm."""
        file, values = 'arm.launch.py', {'mode': 'lockstep', **given}
        expected = [f'{given.get("law", given.get("controller", "servo"))}_controller']
        if command and controllers:
            raise ArmError('command and controllers are given; leave one of them out')
        if command:
            values, expected = {'controller': 'external', **values}, []
        if controllers:
            if 'controller_manager' not in get_packages_with_prefixes():
                raise ArmError(
                    'controllers is given, and controller_manager is not installed: source a '
                    'ROS 2 with ros2_control and ros2_controllers, which ./ws then uses; '
                    'without controllers the joint trajectory controller is that of arm_sim'
                )
            file, path = 'ros2_control.launch.py', str(Path(controllers).absolute())
            values |= {'controllers': path, 'spawn': spawn}
            expected = [BROADCASTER, *spawn.split(',')]
        words = [f'{name}:={value}' for name, value in values.items()]
        own = {LAUNCH: ['ros2', 'launch', 'arm_sim', file, *words]}
        if command:
            words = [command] if isinstance(command, str) else list(command)
            own[CONTROLLER] = controller_command(words)
        for name, each in own.items():
            self._processes[name] = self._group(name, each)
        return expected

    def _group(self, name: str, command: Sequence[str]) -> Group:
        log = self._folder / f'{name}.log'
        return self._groups.enter_context(Group(command, log, self.environment))

    def start(self, *command: str, name: str) -> Group:
        """Start a process in the arm's ROS domain, which ends with the arm.

        Args:
            command: program and arguments as words, one text, or a launch file.
            name: of its log.

        Returns:
            The process: `code` is its exit code, None while it runs; `lines()` is what it printed.
        """
        self._started = True
        return self._group(name, controller_command(command))

    # Goals

    def reach(
        self,
        controller: str,
        positions: Positions,
        seconds: float = 2.0,
        tolerance: float = 0.01,
    ) -> None:
        """Send a goal and let time run until its end, and until the arm is there, at most 1 s.

        Args:
            controller: its name.
            positions: by joint, or in the order of the controller's joints [rad | m].
            seconds: time of the motion [s].
            tolerance: largest distance of a joint from its position then [rad | m].

        Raises:
            ArmError: the goal was refused or did not succeed, with the reason; a joint is not
                there.
        """
        self.send(controller, positions, seconds).wait()
        if not isinstance(positions, Mapping):
            positions = dict(zip(self._joints_of(controller), positions, strict=True))
        places = [self.names.index(name) for name in positions]
        targets, end_ns = np.array(list(positions.values())), self.time_ns + SETTLING * 1e9
        while np.abs(self.motion.q[-1][places] - targets).max() > tolerance:
            if self.time_ns >= end_ns:
                q = self.motion.q[-1][places]
                k = np.abs(q - targets).argmax()
                name = self.names[places[k]]
                raise not_there(controller, name, q[k], targets[k], tolerance, self.time_ns)
            self.run(_SLICE)

    def send(
        self,
        controller: str,
        goal: Positions | JointTrajectory | FollowJointTrajectory.Goal,
        seconds: float = 2.0,
    ) -> 'SentGoal':
        """Send a goal by the controller's action or, where it has none, its topic.

        Args:
            controller: its name.
            goal: positions, reached `seconds` after the start, or a message. A goal begins at its
                stamp, and with stamp 0 ten control periods from now.
            seconds: [s].

        Raises:
            ArmError: the goal was rejected; there is no such controller.
        """
        if isinstance(goal, JointTrajectory):
            goal = FollowJointTrajectory.Goal(trajectory=goal)
        elif not isinstance(goal, FollowJointTrajectory.Goal):
            goal = goal_to(goal, self._joints_of(controller), seconds)
        trajectory = goal.trajectory
        if not to_ns(trajectory.header.stamp):
            set_stamp(trajectory.header.stamp, self.time_ns + _SOON * self.period_ns)
        client, handle = self._action_of(controller), None
        if client is None:
            self.publish(f'{controller}/joint_trajectory', trajectory)
        else:
            sent = client.send_goal_async(goal)
            self.until(sent.done, f'answer of {controller} to the goal')
            handle = sent.result()
            if not handle.accepted:
                raise ArmError(f'{controller} rejected the goal; {self.said(controller)}')
        self.settle(controller)
        length_ns = to_ns(trajectory.points[-1].time_from_start) if trajectory.points else 0
        return SentGoal(self, controller, to_ns(trajectory.header.stamp) + length_ns, handle)

    def _joints_of(self, controller: str) -> list[str]:
        return self._claims.claims.get(controller, self.names)

    def _action_of(self, controller: str) -> ActionClient | None:
        """Return the client of a controller's action; None where it has only the topic.

        Raises:
            ArmError: it has neither.
        """
        action, topic = f'{controller}/follow_joint_trajectory', f'{controller}/joint_trajectory'
        service = self.node.resolve_service_name(f'{action}/_action/send_goal')
        try:
            self.until(
                lambda: self.node.count_services(service) or self.node.count_subscribers(topic),
                f'action {action} and no subscription to {topic}',
                STILL if self._may_come(controller) else _UNKNOWN,
            )
        except ArmError as error:
            raise not_found(controller, takers(self.node), error) from None
        if not self.node.count_services(service):
            return None
        if action not in self._clients:
            client = ActionClient(self.node, FollowJointTrajectory, action, **ACTION_SERVICES)
            self._clients[action] = client
            self.until(client.server_is_ready, f'action {action}')
            self.settle(controller)  # else ROS can lose the answer to a new client
        return self._clients[action]

    def _may_come(self, controller: str) -> bool:
        """Whether a controller has a node or a claim, or can have one soon.

        Those of the arm's launch file are there before the test begins; a test may start others.
        """
        there = (name for name, _ in self.node.get_service_names_and_types())
        prefix = self.node.resolve_service_name(controller) + '/'
        known = controller in self._claims.claims or any(x.startswith(prefix) for x in there)
        is_alone = not self._started and CONTROLLER not in self._processes
        return known or not (is_alone and meant(controller, takers(self.node)))

    def said(self, controller: str) -> str:
        """Return what a controller logged last, if possible as a warning or an error."""
        return said(self._processes.get(CONTROLLER, self._processes[LAUNCH]), controller)

    # What happens to the arm

    def push(
        self,
        force: Sequence[float],
        seconds: float,
        torque: Sequence[float] = (0.0, 0.0, 0.0),
        frame: str = '',
    ) -> None:
        """Let a push begin now; `run`, `reach` or a goal's `wait` let it act.

        Args:
            force: (3,) in base axes [N].
            seconds: duration [s].
            torque: (3,) in base axes [N.m].
            frame: link at whose origin the force acts; empty: the tip.
        """
        frame = frame or self.model.tip_frame
        wrench = np.array([finite('force', force, (3,)), finite('torque', torque, (3,))])
        rotation = self.model.forward_kinematics(self.motion.q[-1], frame).rotation
        end_ns = self.time_ns + self.whole(seconds)
        for share, time_ns in ((1.0, self.time_ns), (0.0, end_ns)):
            own = share * (wrench @ rotation).ravel()
            self.publish('external_wrench', wrench_message(frame, own, time_ns))
        self.settle('simulator')

    def fault(self, kind: str = '', **fields: object) -> None:
        """Let a fault of drives or sensors begin now, in place of earlier ones.

        Args:
            kind: such as 'dropped_commands'; empty: no fault any more.
            fields: of `arm_sim.devices.faults.Fault`: duration [s], joint, axis, value.

        Raises:
            ArmError: no such fault or joint.
        """
        now = 1e-9 * self.time_ns  # without it the text of a fault that comes again is no change
        text = f'[{mapping_text({"kind": kind, "time": now, **fields})}]' if kind else ''
        self.set_parameters(faults=text)

    def check_limits(self, velocity: float = 1.0, effort: float = 1.0) -> None:
        """Check that no state so far is outside the limits of the URDF.

        Args:
            velocity, effort: share of these limits that is allowed.

        Raises:
            ArmError: names joint, value, limit and time.
        """
        model, found = self.model, self.motion
        most_v, most_effort = velocity * model.velocity_limit, effort * model.effort_limit
        for what, values, lower, upper in (
            ('position', found.q, model.position_lower, model.position_upper),
            ('velocity', found.v, -most_v, most_v),
            ('torque', found.effort, -most_effort, most_effort),
        ):
            for k, j in np.argwhere((values < lower - 1e-9) | (values > upper + 1e-9)):
                where = f't = {1e-9 * found.time_ns[k]:g} s'
                bounds = values[k, j], lower[j], upper[j]
                raise JointLimitError(self.names[j], what, *bounds, model.prismatic[j], where)


class SentGoal:
    """A goal that a controller has accepted.

    Attributes:
        end_ns: stamp of its last point [ns].
    """

    def __init__(
        self, arm: SimulatedArm, controller: str, end_ns: int, handle: ClientGoalHandle | None
    ):
        """`handle`: of the action; None for a goal on a topic."""
        self._arm, self._controller, self.end_ns, self._handle = arm, controller, end_ns, handle
        self._end = None if handle is None else handle.get_result_async()

    def cancel(self) -> None:
        """Cancel the goal; raise ArmError where the controller has no action."""
        if self._handle is None:
            raise ArmError(f'{self._controller} has no action, only a topic: nothing to cancel')
        canceled = self._handle.cancel_goal_async()
        self._arm.until(canceled.done, f'answer of {self._controller} to the cancel')
        self._arm.settle(self._controller)

    def wait(self) -> None:
        """Let time run to the last point, and on until the goal has ended.

        A goal on a topic ends a tenth of a second after its last point.

        Raises:
            ArmError: it did not succeed: says why; it has not ended 10 s after its last point.
        """
        arm, controller = self._arm, self._controller
        arm.run_to(self.end_ns)
        if self._end is None:
            arm.run(_SLICE)
            return
        while not self._end.done():
            arm.settle(controller, self._end.done)
            if self._end.done():
                break
            if arm.time_ns > self.end_ns + _LATE * 1e9:
                raise ArmError(
                    f'{controller}: the goal has not ended {_LATE:g} s after its last point; '
                    f'{arm.said(controller)}'
                )
            arm.run(_SLICE)
        raise_reason(controller, self._end.result(), lambda: arm.said(controller))
