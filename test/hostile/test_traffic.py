"""Hostile traffic to every topic, service, action and to the page: no death, no motion."""

import http.client
import os
import random
import socket
import time
from contextlib import suppress

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from arm_system import HOME, NAMES, ArmSystem, goal
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import SpeedScalingFactor
from geometry_msgs.msg import WrenchStamped
from optional import optional
from oracle import memory
from raw_requests import RawRequests
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from rosidl_runtime_py.utilities import get_action, get_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

from arm_tools.standards.ros.controller_manager_node import srv as manager_srv
from arm_tools.standards.ros.simulation_services import srv as simulation_srv

RCLError = rclpy_implementation.RCLError
CONTROLLER = 'computed_torque_controller'
SECONDS = 30.0  # in the suite
RATE = 100.0  # of hostile actions [Hz]
HELD = 0.02  # [rad], most by which the arm may leave its place without a goal
OF_ARM = 'joint_commands', 'external_wrench'  # topics that the arm's nodes read
OF_CONTROLLER = 'joint_trajectory', 'speed_scaling_input'
OTHERS = {'/rosout', '/parameter_events', '/clock'}  # that no node of the arm reads
MAY_GROW = 8.0  # [MB] after the first half


def no_messages(good, rng):
    """Return one of many byte strings that are not the message `good`."""
    return rng.choice(
        (
            good[: rng.randrange(len(good))],
            b'\0',
            b'\x99\x99\0\0' + good[4:],
            good[:4] + b'\xff' * 200,
            good[:4] + b'\xff\xff\xff\x7f' * 50,
            good[:4] + rng.randbytes(3) + b'\x7f' + rng.randbytes(200),
        )
    )


def message_class(name):
    """Return the class of a message, also of an action's goal or result."""
    action, _, part = name.rpartition('_')
    return getattr(get_action(action), part) if '/action/' in name else get_message(name)


class Traffic:
    """Hostile senders to one arm; `send` sends one thing, and `sent` counts the kinds."""

    def __init__(self, arm, seed=0):
        self.arm, self.node, self.rng = arm, arm.node, random.Random(seed)
        self.sent = {}
        self.goals = ActionClient(
            arm.node, FollowJointTrajectory, f'/{CONTROLLER}/follow_joint_trajectory'
        )
        self.publishers = {}
        self.services, self.pending = [], []
        self.look()
        self.kinds = [self.bytes_to_topic, self.bytes_to_service, self.command, self.wrench]
        self.kinds += [self.text, self.goal, self.parameter]
        for kinds in (manager_srv and self.manager, simulation_srv and self.simulation):
            self.kinds += [kinds] if kinds else []
        port, _, token = arm.log('view').partition('http://localhost:')[2].partition('/?token=')
        self.port, self.token = int(port), token.split()[0]
        self.kinds.append(self.page)

    def look(self):
        """Find the topics that the arm's nodes read, and their services."""
        node = self.node
        for topic, (kind, *_) in node.get_topic_names_and_types():
            readers = {each.node_name for each in node.get_subscriptions_info_by_topic(topic)}
            if topic not in OTHERS and '/_action/' not in topic and readers - {node.get_name()}:
                self.publishers[topic] = node.create_publisher(message_class(kind), topic, 10)
        for name, (kind, *_) in node.get_service_names_and_types():
            own = name.startswith(f'/{node.get_name()}/')
            if not own and '_SendGoal' not in kind and '_GetResult' not in kind:
                self.services.append((RawRequests(node, name, kind), name))

    def send(self):
        kind = self.rng.choice(self.kinds)
        kind()
        self.sent[kind.__name__] = self.sent.get(kind.__name__, 0) + 1
        self.pending = [each for each in self.pending[-50:] if not each[1].done()]

    def call(self, kind, name, request):
        for client in self.node.clients:
            if client.srv_name == name:
                break
        else:
            client = self.node.create_client(kind, name)
        for old, future in self.pending[:-49]:
            old.remove_pending_request(future)
        if client.service_is_ready():
            self.pending.append((client, client.call_async(request)))

    def bytes_to_topic(self):
        publisher = self.publishers[self.rng.choice(sorted(self.publishers))]
        good = bytes(serialize_message(publisher.msg_type()))
        with suppress(RCLError):  # more bytes than a type of fixed size can have
            publisher.publish(no_messages(good, self.rng))

    def bytes_to_service(self):
        sender, _ = self.rng.choice(self.services)
        sender.send(no_messages(bytes(serialize_message(sender.request())), self.rng))

    def command(self):
        """Command joints of the active controller under names of others."""
        rng = self.rng
        effort = [rng.choice((5.0, -5.0, 1e9, np.nan, np.inf)) for _ in NAMES]
        message = JointState(name=rng.choice((NAMES, NAMES[:2], ['x'] * 6)), effort=effort)
        message.header.frame_id = rng.choice(('intruder', 'pd_controller', '', 'x' * 1000))
        message.header.stamp.sec = int(self.arm.now)
        if rng.random() < 0.5:
            message.header.stamp = self.newest
        self.publishers['/joint_commands'].publish(message)

    @property
    def newest(self):
        stamp = JointState().header.stamp
        stamp.sec, rest = divmod(round(self.arm.now * 1e9), 10**9)
        stamp.nanosec = rest
        return stamp

    def wrench(self):
        message = WrenchStamped()
        message.header.frame_id = self.rng.choice(('nowhere', 'tool0'))
        message.wrench.force.x = self.rng.choice((np.nan, np.inf, 1e9))
        self.publishers['/external_wrench'].publish(message)

    def text(self):
        rng = self.rng
        words = ('', '{}', '[' * 10_000, '{"claims": 3}', '<robot/>', 'x' * 10_000, '\0', '{"a')
        topic = rng.choice(('/robot_description', '/active_controllers'))
        if topic in self.publishers:
            self.publishers[topic].publish(String(data=rng.choice(words)))

    def goal(self):
        """Send a goal that no controller may accept."""
        rng = self.rng
        bad = [
            goal([1.0], [HOME + 99.0]),
            goal([1e-4], [HOME + 0.5]),
            goal([-1.0], [HOME]),
            goal([1.0], [HOME * np.nan]),
            goal([2.0, 1.0], [HOME, HOME]),
            goal([1.0], [HOME[:3]]),
        ]
        if self.goals.server_is_ready():
            wrong = rng.choice(bad)
            self.goals.send_goal_async(wrong)
            self.publishers[f'/{CONTROLLER}/joint_trajectory'].publish(wrong.trajectory)

    def parameter(self):
        rng = self.rng
        name = rng.choice(('kp', 'robot', 'mode', 'timestep', 'x' * 1000, 'constraints', 'engine'))
        value = rng.choice((np.nan, -1.0, [], 'x' * 1000, True, [np.inf] * 6))
        request = SetParameters.Request(
            parameters=[Parameter(name, value=value).to_parameter_msg()]
        )
        node = rng.choice(('simulator', CONTROLLER, 'inverse_kinematics', 'controller_manager'))
        self.call(SetParameters, f'/{node}/set_parameters', request)

    def manager(self):
        rng, srv = self.rng, manager_srv
        name = rng.choice(('nobody', '../../bin/sh', '', 'x' * 1000, '-r', 'pd_controller; ls'))
        verb = rng.choice(('load', 'configure', 'cleanup', 'unload', 'switch', 'list'))
        if verb == 'list':
            self.call(srv.ListControllers, '/controller_manager/list_controllers',
                      srv.ListControllers.Request())  # fmt: skip
        elif verb == 'switch':
            request = srv.SwitchController.Request(
                activate_controllers=[name], strictness=rng.choice((-1, 0, 1, 2, 9))
            )
            request.timeout.sec = rng.choice((-(2**31), 0, 2**31 - 1))
            self.call(srv.SwitchController, '/controller_manager/switch_controller', request)
        else:
            kind = getattr(srv, f'{verb.title()}Controller')
            self.call(kind, f'/controller_manager/{verb}_controller', kind.Request(name=name))

    def simulation(self):
        rng, srv = self.rng, simulation_srv
        name = rng.choice(('', 'nobody', 'x' * 1000, '(a+)+b', '['))
        requests = {
            'get_entities': srv.GetEntities.Request(),
            'get_entity_info': srv.GetEntityInfo.Request(entity=name),
            'get_entity_state': srv.GetEntityState.Request(entity=name),
            'get_entities_states': srv.GetEntitiesStates.Request(),
            'get_simulation_state': srv.GetSimulationState.Request(),
            'reset_simulation': srv.ResetSimulation.Request(scope=rng.choice((1, 2, 255))),
            'set_simulation_state': srv.SetSimulationState.Request(),
            'step_simulation': srv.StepSimulation.Request(steps=2**32 - 1),
        }
        for service in ('get_entities', 'get_entities_states'):
            requests[service].filters.filter = name
        requests['set_simulation_state'].state.state = rng.choice((99, 255))
        service = rng.choice(sorted(requests))
        kind = getattr(srv, ''.join(word.title() for word in service.split('_')))
        self.call(kind, f'/simulator/{service}', requests[service])

    def page(self):
        """Open the page without its token, from a foreign origin, and with frames of junk."""
        rng = self.rng
        try:
            if rng.random() < 0.5:
                connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=1.0)
                path = rng.choice(('/', '/?token=wrong', '/../../etc/passwd', '/' + 'x' * 5000))
                host = rng.choice(('localhost', 'evil.example'))
                connection.request('GET', path, headers={'Host': f'{host}:{self.port}'})
                assert connection.getresponse().status in (403, 414, 431)
                connection.close()
                return
            with socket.create_connection(('127.0.0.1', self.port), timeout=1.0) as raw:
                token = rng.choice(('wrong', self.token))
                raw.sendall(
                    f'GET /?token={token} HTTP/1.1\r\nHost: localhost:{self.port}\r\n'
                    'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
                    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'.encode()
                )
                raw.recv(100)
                raw.sendall(b'\x82\xfe\x01\x00' + rng.randbytes(260))
        except (ConnectionError, TimeoutError, http.client.HTTPException):
            self.sent['page: refused'] = self.sent.get('page: refused', 0) + 1


@pytest.mark.slow
def test_hostile_traffic_ends_no_node_moves_no_arm_and_takes_no_memory(hostile):
    seconds, held, moved, seen = SECONDS * hostile, [], 0.0, 0
    with ArmSystem('realtime') as arm:
        arm.simulator()
        arm.controller()
        arm.start('inverse_kinematics')
        for name in ('tip_servo', 'linear_move'):
            arm.start(name, f'controller:={CONTROLLER}')
        if manager_srv:
            arm.start('controller_manager', 'actuator:=torque', 'mode:=realtime')
        viser = optional('viser', 'viser>=1.1')  # where it is not, the page's process needs this
        if viser:
            paths = [viser, arm.environment.get('PYTHONPATH', '')]
            arm.environment['PYTHONPATH'] = os.pathsep.join(filter(None, paths))
        arm.start('view', f'view_port:={9000 + os.getpid() % 900}')
        arm.wait(lambda: '?token=' in arm.log('view'), 'page')
        arm.wait_for_motion_control(CONTROLLER)
        arm.wait(lambda: 'inverse_kinematics' in arm.values, 'inverse kinematics')
        arm.spin(3.0)  # until the graph shows everything
        read = [*OF_ARM, *(f'{CONTROLLER}/{name}' for name in OF_CONTROLLER)]
        arm.wait(lambda: all(map(arm.node.count_subscribers, read)), 'readers on the graph')
        traffic = Traffic(arm)
        arm.spin(1.0)
        begin = last = time.monotonic()
        while (now := time.monotonic()) < begin + seconds:
            traffic.send()
            arm.spin(1.0 / RATE)
            whole = (q for _, q, _ in arm.states if len(q) == len(HOME))  # not those sent here
            moved = max([moved, *(np.abs(q - HOME).max() for q in whole)])
            seen += len(arm.states) - 1
            while len(arm.states) > 1:
                arm.states.popleft()
            if now - last > 2.0:  # a pause and a stop are no motion, and would hide one
                last = now
                traffic.call(SetBool, '/simulator/pause', SetBool.Request(data=False))
            if now - begin >= seconds * len(held) / 20:
                held.append([memory(process) for process in arm.processes.values()])
                arm.assert_alive()
        held.append([memory(process) for process in arm.processes.values()])
        total = sum(traffic.sent.values())
        print(f'{seconds:.0f} s, {seen} states seen, {total} hostile sends: {traffic.sent}')
        print(f'largest distance from the place of the arm: {moved:.2e} rad')
        for k, name in enumerate(arm.processes):
            row = [each[k] for each in held]
            print(
                f'{name}: {row[0]:.1f} MB first, {row[len(row) // 2]:.1f} half, {row[-1]:.1f} last'
            )
        arm.call(SetBool, '/simulator/pause', SetBool.Request(data=False))
        # Hostile bytes can be a valid factor, which any node may send.
        speed = traffic.publishers[f'/{CONTROLLER}/speed_scaling_input']
        speed.publish(SpeedScalingFactor(factor=1.0))
        arm.diagnostics.clear()
        arm.wait_for_motion_control(CONTROLLER)
        status, result = arm.follow(CONTROLLER, goal([1.5], [HOME + 0.05]))
        assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
        arm.assert_alive()
    assert moved < HELD
    growth = np.subtract(held[-1], held[len(held) // 2])
    assert growth.max() < MAY_GROW, dict(zip(arm.logs, growth, strict=False))
