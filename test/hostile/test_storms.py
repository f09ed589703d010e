"""Storms of lifecycle transitions, goals and cancels from many clients, most out of turn."""

import random
import time
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from action_msgs.msg import GoalStatus
from arm_system import HOME, ArmSystem, goal
from control_msgs.action import FollowJointTrajectory
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from long_wait import LONG_WAIT, ask
from oracle import assert_all_is_well, memory
from rclpy.action import ActionClient
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from trajectory_msgs.msg import JointTrajectory

from arm_controllers.ros.qos import SERVICE_QOS

CONTROLLER = 'computed_torque_controller'
CLIENTS = 8
TRANSITIONS = 100  # in the suite
KEPT = 9.0  # for nearly so long a result can be asked for after the end of its goal [s]
# Legal ones that no node comes back from.
FINAL = {
    Transition.TRANSITION_UNCONFIGURED_SHUTDOWN,
    Transition.TRANSITION_INACTIVE_SHUTDOWN,
    Transition.TRANSITION_ACTIVE_SHUTDOWN,
}
DOWN = [Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP]
UP = [Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE]
COMMON = 4 * UP + DOWN
ANY = sorted(set(range(256)) - FINAL)
ENDED = {GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED}


class Client:
    """Asks for one thing after the other, without waiting for goals; remembers what was promised.

    Attributes:
        asked, granted: number of transitions asked for, and of those that were made.
        accepted: handles of action goals that have no result yet.
        ended: how many action goals ended with each status.
    """

    def __init__(self, arm, executor, number, rng):
        self.rng = rng
        self.node = rclpy.create_node(f'client_{number}', context=arm.context)
        executor.add_node(self.node)
        self.change = self.node.create_client(ChangeState, f'/{CONTROLLER}/change_state')
        # Every client's reader gets the answers to all of them: ROS's depth of 10 loses some.
        services = ('goal_service', 'result_service', 'cancel_service')
        self.action = ActionClient(
            self.node,
            FollowJointTrajectory,
            f'/{CONTROLLER}/follow_joint_trajectory',
            **{f'{name}_qos_profile': SERVICE_QOS for name in services},
            status_sub_qos_profile=QoSProfile(depth=1),  # each one has all goals of ten seconds
        )
        self.topic = self.node.create_publisher(
            JointTrajectory, f'/{CONTROLLER}/joint_trajectory', 10
        )
        self.transition = self.cancel = None
        self.asked = self.granted = self.unanswered = self.late = 0
        self.accepted = {}
        self.ended = dict.fromkeys(ENDED, 0)

    def become_known(self, wait):
        """Ask for what is refused until it is: ROS can lose the first answer to a new client."""
        ask(wait, self.change, ChangeState.Request(transition=Transition(id=255)))
        goals = SimpleNamespace(
            service_is_ready=self.action.server_is_ready, call_async=self.action.send_goal_async
        )
        ask(wait, goals, goal([0.3], [HOME + 99.0]))

    def step(self):
        kind = self.rng.random()
        if kind < 0.2:
            self.ask_for_transition()
        elif kind < 0.25 and len(self.accepted) + self.unanswered < 5:
            self.unanswered += 1
            begin = time.monotonic()
            sent = self.action.send_goal_async(self.some_goal())
            sent.add_done_callback(lambda answer: self.on_answer(answer.result(), begin))
        elif kind < 0.3 and self.accepted and (self.cancel is None or self.cancel.done()):
            # One at a time: on a slow machine thousands would wait before the transitions.
            self.cancel = list(self.accepted.values())[-1].cancel_goal_async()
        elif kind < 0.32:
            self.topic.publish(self.some_goal().trajectory)

    def ask_for_transition(self):
        if self.transition is not None and not self.transition.done():
            return
        wanted = self.rng.choice(COMMON if self.rng.random() < 0.8 else ANY)
        request = ChangeState.Request(transition=Transition(id=wanted))
        if self.rng.random() < 0.05:
            request.transition.label = self.rng.choice(('activate', 'deactivate', 'nonsense', ''))
        self.asked += 1
        self.transition = self.change.call_async(request)
        self.transition.add_done_callback(self.on_transition)

    def on_transition(self, future):
        self.granted += future.result().success

    def some_goal(self):
        """Return a goal near home, or one that is refused."""
        if self.rng.random() < 0.3:
            return goal([0.3], [HOME + 99.0])
        times = np.cumsum([self.rng.uniform(0.1, 1.0) for _ in range(self.rng.randint(1, 4))])
        return goal(times, [HOME + self.rng.uniform(-0.03, 0.03) for _ in times])

    def on_answer(self, handle, begin):
        late = time.monotonic() - begin > KEPT
        assert handle.accepted
        identifier = bytes(handle.goal_id.uuid)
        self.unanswered -= 1
        self.accepted[identifier] = handle
        if self.rng.random() < 0.3:
            handle.cancel_goal_async()
        handle.get_result_async().add_done_callback(
            lambda result: self.on_result(identifier, result.result(), late)
        )

    def on_result(self, identifier, answer, late):
        del self.accepted[identifier]
        if late and answer.status == GoalStatus.STATUS_UNKNOWN:
            self.late += 1  # this client was too slow: the result was there
        else:
            self.ended[answer.status] += 1

    @property
    def idle(self):
        return not self.unanswered and not self.accepted and self.transition.done()


@pytest.mark.parametrize('mode', ['lockstep', 'realtime'])
def test_storm_of_transitions_goals_and_cancels_ends_no_node_and_loses_no_result(mode, hostile):
    rng, total = random.Random(10), TRANSITIONS * hostile
    with ArmSystem(mode) as arm:
        arm.simulator()
        arm.controller('computed_torque', 'time_jump_limit:=5.0')
        arm.wait_for_motion_control(CONTROLLER)
        executor = EventsExecutor(context=arm.context)  # whom no flood of states holds up
        clients = [Client(arm, executor, k, rng) for k in range(CLIENTS)]
        held = []

        def spin(seconds):
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                executor.spin_once(timeout_sec=0.001)
                arm.executor.spin_once(timeout_sec=0.0)

        def wait(condition):
            end = time.monotonic() + LONG_WAIT
            while not condition():
                assert time.monotonic() < end
                spin(0.01)

        for client in clients:
            client.become_known(wait)
        while (asked := sum(client.asked for client in clients)) < total:
            for client in clients:
                client.step()
            spin(0.005)
            if asked * 10 >= total * len(held):
                held.append([memory(process) for process in arm.processes.values()])
        end = time.monotonic() + LONG_WAIT
        while not all(client.idle for client in clients) and time.monotonic() < end:
            spin(0.1)
        assert [client for client in clients if not client.idle] == [], 'results are lost'
        held.append([memory(process) for process in arm.processes.values()])
        ended = {status: sum(client.ended[status] for client in clients) for status in ENDED}
        granted = sum(client.granted for client in clients)
        late = sum(client.late for client in clients)
        print(f'{mode}: {asked} transitions, {granted} granted; goals {ended}, asked late {late}')
        print(f'memory of simulator and controller [MB]: {np.round(held, 1).tolist()}')
        for transition in DOWN + UP:
            arm.change(CONTROLLER, transition)
        arm.diagnostics.clear()
        arm.wait_for_motion_control(CONTROLLER)
        assert_all_is_well(arm, CONTROLLER)
        assert min(granted, sum(ended.values())) > total / 20
