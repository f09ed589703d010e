"""A simulator and controllers as processes that tests may kill, and a node that watches them."""

import math
import os
import signal
import subprocess
import sys
import time
from collections import deque
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import numpy as np
import rclpy
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray
from domains import fresh_domain
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from long_wait import AGAIN, LONG_WAIT, ask
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.action import ActionClient
from rclpy.experimental import EventsExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.qos import RECORD_QOS
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.parameter_files import as_arguments, files_of
from arm_sim.parent_process import LAUNCH

# The state in which a transition ends.
ENDS_IN = {
    Transition.TRANSITION_CONFIGURE: State.PRIMARY_STATE_INACTIVE,
    Transition.TRANSITION_CLEANUP: State.PRIMARY_STATE_UNCONFIGURED,
    Transition.TRANSITION_ACTIVATE: State.PRIMARY_STATE_ACTIVE,
    Transition.TRANSITION_DEACTIVATE: State.PRIMARY_STATE_INACTIVE,
    Transition.TRANSITION_ACTIVE_SHUTDOWN: State.PRIMARY_STATE_FINALIZED,
}
_LOST = 60.0  # [s] without an answer to a goal, which is lost then: a second one would end it
LONGEST_LINE = 500  # characters a node may print in a line
HOME = np.array([-np.pi / 2, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0])
MODEL = RobotModel.from_urdf(find_urdf('ur5e'))
NAMES = list(MODEL.joint_names)


class ArmSystem:
    """Processes in a ROS domain of their own, and a client node of the test.

    Attributes:
        node: the client.
        heard: the subscription to joint states.
        states: (time [s], q, v) of every joint state seen.
        references: (time [s], q, v) of every controller state seen.
        diagnostics: the newest (level, words) by node name.
        values: the newest key-value pairs by node name.
        log: everything that a process printed, by its name.
    """

    def __init__(self, mode='lockstep', actuator='torque', namespace=''):
        """`namespace`: of all nodes, '' or '/left'."""
        self.mode, self.actuator, self.namespace = mode, actuator, namespace
        self._clients, self._action_clients = {}, {}
        self.processes: dict[str, subprocess.Popen] = {}
        self.logs: dict[str, str] = {}

    def __enter__(self):
        # No other test's nodes: a domain of its own, on this machine only.
        self.domain = fresh_domain()
        self.environment = os.environ | {
            'ROS_DOMAIN_ID': self.domain,
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
            LAUNCH: str(os.getpid()),  # nodes end with the tests, however these end
        }
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=int(self.domain))
        self.node = rclpy.create_node(
            'test_client', context=self.context, namespace=self.namespace
        )
        self.executor = EventsExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.states: deque = deque(maxlen=200_000)
        self.references: deque = deque(maxlen=200_000)
        self.diagnostics: dict[str, tuple[int, str]] = {}
        self.values: dict[str, dict[str, str]] = {}
        self.feedback: list = []
        self.heard = self.node.create_subscription(
            JointState, 'joint_states', self._on_state, RECORD_QOS
        )
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 100)
        return self

    def __exit__(self, *_):
        for name in list(self.processes):
            self.stop(name)
        # Whatever is left would stay in the graph of the domain, which another test may use.
        self.executor.shutdown()
        for client in self._action_clients.values():
            client.destroy()
        self.node.destroy_node()
        self.context.try_shutdown()

    # Processes

    def start(self, executable, *overrides, name=None, remap=None, label=None):
        """Start an executable of the package; `overrides` are 'parameter:=value'.

        `label`: what the process is called here, by default the node's name.
        """
        name = name or executable
        label = label or name
        arguments = ['--ros-args', '-r', f'__node:={name}', '-r', f'__ns:={self.namespace or "/"}']
        arguments += ['--log-level', f'{name}:=debug']  # warnings that are left out as well
        arguments += as_arguments(files_of('ur5e'))
        if remap is not None:
            arguments += ['-r', f'{remap[0]}:={remap[1]}']
        arguments += self._overrides(name, overrides)
        self._run(executable, label, arguments)

    def composed(self, *laws, parameters=()):
        """Start simulator and controllers in one process; that of the first law commands.

        `parameters`: more 'node:parameter:=value'.
        """
        controllers = [f'{law}_controller' for law in laws]
        words = ['simulator', *controllers, '--ros-args', *as_arguments(files_of('ur5e'))]
        parameters = [
            *parameters,
            *(f'{name}:mode:={self.mode}' for name in ('simulator', *controllers)),
        ]
        parameters += [f'simulator:actuator:={self.actuator}', f'{controllers[0]}:autostart:=true']
        self._run(
            'composed', 'composed', words + [word for each in parameters for word in ('-p', each)]
        )
        self.logs |= dict.fromkeys(('simulator', *controllers), self.logs['composed'])

    def _run(self, executable, label, arguments):
        code = f'import sys; from arm_sim.executables import {executable} as run; sys.exit(run())'
        path = f'/tmp/arm_system_{self.domain}_{label}.log'
        with open(path, 'w') as log:
            self.processes[label] = subprocess.Popen(
                [sys.executable, '-c', code, *arguments],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.environment,
            )
        self.logs[label] = path

    def _overrides(self, name, overrides):
        """Return the arguments that set parameters of a node: stronger than what its file says."""
        if not self.namespace:
            return [word for each in overrides for word in ('-p', f'{name}:{each}')]
        path = f'/tmp/arm_system_{self.domain}_{name}.yaml'  # a rule after -p takes no namespace
        with open(path, 'w') as file:
            file.write(f'{self.namespace}/{name}:\n  ros__parameters:\n')
            values = dict(each.split(':=', 1) for each in overrides)  # the last one counts
            file.writelines(f'    {key}: {value}\n' for key, value in values.items())
        return ['--params-file', path] if overrides else []

    def simulator(self, *overrides):
        self.start('simulator', f'mode:={self.mode}', f'actuator:={self.actuator}', *overrides)

    def controller(self, law='computed_torque', *overrides, name=None, autostart=True, remap=None):
        """Start a controller and watch what it reports."""
        name = name or f'{law}_controller'
        own = [f'autostart:={str(autostart).lower()}', f'mode:={self.mode}']
        self.start(f'{law}_controller', *own, *overrides, name=name, remap=remap)
        self.node.create_subscription(
            JointTrajectoryControllerState, f'{name}/controller_state', self._on_reference, 1000
        )

    def kill(self, name, number=signal.SIGKILL):
        process = self.processes.pop(name)
        process.send_signal(number)
        process.wait(LONG_WAIT)

    def stop(self, name):
        """End a process as Ctrl-C does; return its exit code."""
        process = self.processes.pop(name)
        process.send_signal(signal.SIGINT)
        try:
            return process.wait(LONG_WAIT)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait(LONG_WAIT)

    def alive(self, name):
        return self.processes[name].poll() is None

    def log(self, name):
        with open(self.logs[name]) as log:
            return log.read()

    # Waiting

    def spin(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)

    def wait(self, condition, what, timeout=LONG_WAIT):
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                logs = '\n'.join(f'--- {name}\n{self.log(name)}' for name in self.logs)
                raise AssertionError(f'no {what} within {timeout} s\n{self.diagnostics}\n{logs}')
            self.executor.spin_once(timeout_sec=0.02)

    def result(self, future, what, timeout=LONG_WAIT):
        self.wait(future.done, what, timeout)
        return future.result()

    def call(self, kind, name, request):
        """Ask a service, again if need be."""
        client = self._client(kind, name)
        return ask(lambda condition: self.wait(condition, f'answer of {name}'), client, request)

    def _client(self, kind, name):
        """Return the client of a service that is there."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        self.wait(self._clients[name].service_is_ready, f'service {name}')
        return self._clients[name]

    def assert_alive(self):
        """No node has ended, raised an uncaught error, or printed a line that is too long."""
        for name in self.processes:
            log = self.log(name)
            assert self.alive(name), f'{name} has ended:\n{log[-5000:]}'
            assert 'Traceback' not in log, f'{name}:\n{log[-5000:]}'
            longest = max(log.splitlines(), key=len, default='')
            assert len(longest) <= LONGEST_LINE + 100, f'{name}: {longest}'  # time, level, node

    def wait_for_motion_control(self, controller):
        """Wait until a controller holds the arm and its goals can be sent."""
        self.wait(
            lambda: (
                len(self.states) > 0
                and self.diagnostics.get(controller, (0, ''))[1].startswith('holding')
                and 'simulator' in self.diagnostics
            ),
            f'{controller} that holds',
        )

    def words(self, name, expected, timeout=LONG_WAIT):
        """Wait for words on /diagnostics; return them."""
        self.wait(
            lambda: expected in self.diagnostics.get(name, (0, ''))[1],
            f'{expected!r} from {name} on /diagnostics',
            timeout,
        )
        return self.diagnostics[name][1]

    # Inputs

    def publisher(self, controller):
        publisher = self.node.create_publisher(
            JointTrajectory, f'{controller}/joint_trajectory', 10
        )
        self.wait(lambda: publisher.get_subscription_count() > 0, f'{controller} listening')
        return publisher

    def publish_until(self, publisher, message, condition, what):
        """Publish until a condition holds: the reader may not know of a new publisher yet."""
        sent_at = -math.inf

        def holds():
            nonlocal sent_at
            if time.monotonic() - sent_at > AGAIN:
                sent_at = time.monotonic()
                publisher.publish(message)
            return condition()

        self.wait(holds, what)

    def send(self, controller, goal):
        """Send an action goal; return (goal handle, future of its result)."""
        client = self._action_clients.get(controller)
        if client is None:
            name = f'{controller}/follow_joint_trajectory'
            client = ActionClient(self.node, FollowJointTrajectory, name)
            self._action_clients[controller] = client
        service = SimpleNamespace(
            service_is_ready=client.server_is_ready,
            call_async=partial(client.send_goal_async, feedback_callback=self.feedback.append),
        )
        handle = ask(lambda here: self.wait(here, 'answer to the goal'), service, goal, _LOST)
        assert handle.accepted
        return handle, handle.get_result_async()

    def follow(self, controller, goal, timeout=LONG_WAIT):
        """Send an action goal and return (status, result)."""
        _, future = self.send(controller, goal)
        answer = self.result(future, 'end of the goal', timeout)
        return answer.status, answer.result

    def change(self, controller, transition):
        """Ask for a transition; return whether it was made.

        Where ROS loses the answer, the controller's state is one, and it may be asked again: the
        state is reported after the transition, which was made then, or refused and may be again.
        """
        client = self._client(ChangeState, f'{controller}/change_state')
        request = ChangeState.Request(transition=Transition(id=transition))
        ends_in = ENDS_IN.get(transition)
        leads_on = self.lifecycle(controller) != ends_in
        asked, asked_at = [], 0.0

        def answers():
            return [each.result().success for each in asked if each.done()]

        def is_known():
            nonlocal asked_at
            if asked and time.monotonic() - asked_at < AGAIN:
                return bool(answers())
            if asked and leads_on and self.lifecycle(controller) == ends_in:
                return True
            if not answers():
                asked.append(client.call_async(request))
                asked_at = time.monotonic()
            return bool(answers())

        self.wait(is_known, f'answer to transition {transition}')
        return answers()[0] if answers() else True

    def lifecycle(self, controller):
        request, name = GetState.Request(), f'{controller}/get_state'
        return self.call(GetState, name, request).current_state.id

    def set_parameters(self, node, **values):
        parameters = [Parameter(k.replace('__', '.'), value=v) for k, v in values.items()]
        request = SetParametersAtomically.Request(
            parameters=[parameter.to_parameter_msg() for parameter in parameters]
        )
        return self.call(
            SetParametersAtomically, f'{node}/set_parameters_atomically', request
        ).result

    def reset(self):
        return self.call(Trigger, 'simulator/reset', Trigger.Request()).success

    def pause(self, on=True):
        return self.call(SetBool, 'simulator/pause', SetBool.Request(data=on)).success

    # What was seen

    @property
    def now(self):
        return self.states[-1][0]

    @property
    def q(self):
        return self.states[-1][1]

    @property
    def v(self):
        return self.states[-1][2]

    def _on_state(self, message):
        self.states.append(
            (seconds(message.header.stamp), np.array(message.position), np.array(message.velocity))
        )

    def _on_reference(self, message):
        reference = message.reference
        self.references.append(
            (
                seconds(message.header.stamp),
                np.array(reference.positions),
                np.array(reference.velocities),
            )
        )

    def _on_diagnostics(self, message):
        for status in message.status:
            self.diagnostics[status.name] = (status.level, status.message)
            self.values[status.name] = {pair.key: pair.value for pair in status.values}


@contextmanager
def lockstep_arm(*waiting, composed=False):
    """Give a torque-driven UR5e in lock-step that computed torque holds; nothing may have died.

    `waiting`: laws whose controllers are configured, and wait for their turn.
    `composed`: whether all run in one process.
    """
    with ArmSystem('lockstep') as system:
        if composed:
            system.composed('computed_torque', *waiting)
        else:
            system.simulator()
            system.controller('computed_torque')
        system.wait_for_motion_control('computed_torque_controller')
        for law in waiting:
            if not composed:
                system.controller(law, autostart=False)
            assert system.change(f'{law}_controller', Transition.TRANSITION_CONFIGURE)
        yield system
        system.assert_alive()


ACTIVE, INACTIVE = State.PRIMARY_STATE_ACTIVE, State.PRIMARY_STATE_INACTIVE


def seconds(stamp):
    return stamp.sec + stamp.nanosec * 1e-9


def duration(value):
    sec = int(np.floor(value))
    return Duration(sec=sec, nanosec=round((value - sec) * 1e9) % 1_000_000_000)


def trajectory(times, positions, velocities=None, names=None, start=0.0):
    message = JointTrajectory(joint_names=list(NAMES if names is None else names))
    message.header.stamp = Time(sec=int(start), nanosec=round((start % 1) * 1e9) % 1_000_000_000)
    for k, (t, q) in enumerate(zip(times, positions, strict=True)):
        point = JointTrajectoryPoint(positions=[float(x) for x in q], time_from_start=duration(t))
        if velocities is not None:
            point.velocities = [float(x) for x in velocities[k]]
        message.points.append(point)
    return message


def goal(*args, **kwargs):
    return FollowJointTrajectory.Goal(trajectory=trajectory(*args, **kwargs))
