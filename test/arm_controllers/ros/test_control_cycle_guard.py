"""A controller node with a guard: its goals end, others are refused until the guard is reset."""

from contextlib import suppress

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from long_wait import spin_until  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from arm_controllers.follower.goal import Goal  # noqa: E402
from arm_controllers.guard_parameters import GuardParameters  # noqa: E402
from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.in_process import InProcessTransport  # noqa: E402
from arm_controllers.ros.messages import set_stamp, trajectory_message  # noqa: E402
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402
from arm_lab.experiments.experiment import Experiment  # noqa: E402
from arm_sim.engines.mujoco import MujocoPlant  # noqa: E402
from arm_sim.loop.events import Push  # noqa: E402
from arm_sim.loop.goals import goal_reference  # noqa: E402
from arm_sim.loop.loop import Loop  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402
from arm_sim.simulation.plant import PlantParameters  # noqa: E402

PERIOD_NS = 2_000_000
PUSH = Push('tool0', (0.0, 40.0, 0.0, 0.0, 0.0, 0.0), 0.4, 0.6)
GUARD = ('guard.reaction:=retract', 'guard.threshold:=[5.0]', 'guard.retract_distance:=0.02')


class Setup:
    """A controller in this process and a simulated UR5e, which take turns."""

    def __init__(self, *given):
        given = [each for parameter in given for each in ('-p', parameter)]
        rclpy.init(
            args=['--ros-args', *as_arguments(files_of('ur5e')), *given],
            domain_id=int(fresh_domain()),
        )
        transport = InProcessTransport()
        self.node = ControllerNode('computed_torque', transport)
        self.node.trigger_configure()
        self.node.trigger_activate()
        model = self.model = self.node.cycle.model
        (self.take,) = transport.state_subscribers('/joint_states')
        transport.serve_commands('/joint_commands', self.on_command)
        self.reader = JointStateReader(model.joint_names, FIELDS)
        self.plant = MujocoPlant(model, PlantParameters(actuator='torque'))
        self.plant.reset(Experiment('ur5e', 'push', 'pd').load().robot.start)
        self.period = 0

    def on_command(self, raw, count):
        with suppress(ArmError):  # the release message, with which the node ends
            self.reader.open(raw)
            self.command = self.reader.values('effort').copy()

    def run(self, periods):
        """Let time run; return the positions (periods, n)."""
        q = []
        for _ in range(periods):
            message = JointState(name=list(self.model.joint_names))
            message.position, message.velocity = self.plant.q.tolist(), self.plant.v.tolist()
            set_stamp(message.header.stamp, self.period * PERIOD_NS)
            q.append(self.plant.q.copy())
            self.take(bytes(serialize_message(message)))
            for event in {round(PUSH.start / 2e-3): 0, round(PUSH.end / 2e-3): 1}.items():
                if event[0] == self.period:
                    PUSH.events()[event[1]][1](self.plant)
            self.plant.step(self.command)
            self.period += 1
        return np.array(q)

    def goal(self):
        """Return a goal that turns the base within a second."""
        q = self.plant.q + np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
        still = np.zeros((1, 6))
        return Goal(self.model.joint_names, np.array([1.0]), q[np.newaxis], still, still)

    def send(self, goal):
        self.node.cycle.goals.take(bytes(serialize_message(trajectory_message(goal))))

    def reset(self):
        """Call the service of the node, and return its answer."""
        executor = SingleThreadedExecutor()
        executor.add_node(self.node)
        client = self.node.create_client(Trigger, '~/reset_guard')
        spin_until(executor, client.service_is_ready)
        answer = client.call_async(Trigger.Request())
        spin_until(executor, answer.done)
        executor.remove_node(self.node)
        return answer.result()


@pytest.fixture
def start():
    made = []

    def make(*given):
        made.append(Setup(*given))
        return made[-1]

    yield make
    for each in made:
        each.node.destroy_node()
    rclpy.try_shutdown()


def test_a_collision_ends_the_goal_and_only_a_reset_allows_another_one(start, capfd):
    setup = start(*GUARD)
    first = setup.run(1)
    goal = setup.goal()
    setup.send(goal)
    q = np.vstack([first, setup.run(900)])
    follower, goals = setup.node.cycle.follower, setup.node.cycle.goals
    assert not follower.goals
    (line,) = [each for each in capfd.readouterr().err.splitlines() if 'collision' in each]
    reason = 'goal ended: collision: the unexpected torque at joint'
    assert reason in line
    assert line.endswith('guard.threshold is 5; reaction: retract')
    np.testing.assert_allclose(follower.reference.v, 0.0)

    setup.send(goal)
    assert goals.refused == 1
    assert '~/reset_guard allows goals again' in goals.problem
    setup.node.set_parameters([rclpy.parameter.Parameter('kp', value=[900.0])])
    still = setup.run(50)
    assert np.abs(still - still[0]).max() < 1e-3  # new gains do not end the reaction
    assert setup.node.cycle.follower.goals == ()

    answer = setup.reset()
    assert answer.success
    assert answer.message.startswith('collision: ')
    assert setup.reset().message == 'there was no collision'
    setup.run(1)
    again = setup.goal()
    setup.send(again)
    setup.run(700)
    assert goals.refused == 1
    np.testing.assert_allclose(setup.plant.q, again.positions[0], atol=2e-3)

    guard = GuardParameters(reaction='retract', threshold=(5.0,), retract_distance=0.02)
    files = Experiment.of_files('ur5e', 'push', 'computed_torque', guard=guard).load()
    plant = MujocoPlant(setup.model, PlantParameters(actuator='torque'))
    reference = goal_reference(goal, setup.model, q[0], np.zeros(6))
    loop = Loop(plant, files.law(), reference, PUSH.events())
    loop.reset(q[0])
    np.testing.assert_array_equal(q, [loop.step().q for _ in q])


def test_without_a_guard_there_is_no_service_and_the_goal_goes_on(start):
    setup = start()
    setup.run(1)
    setup.send(setup.goal())
    setup.run(300)
    assert setup.node.cycle.follower.goals
    names = [service.srv_name for service in setup.node.services]
    assert [name for name in names if 'reset_guard' in name] == []


def test_the_guard_changes_while_the_node_runs_but_not_while_it_reacts(start, capfd):
    setup = start(*GUARD, 'guard.reaction:=none')

    def set_to(**values):
        parameters = [
            rclpy.parameter.Parameter(f'guard.{name}', value=x) for name, x in values.items()
        ]
        return setup.node.set_parameters_atomically(parameters)

    def services():
        return [each for each in setup.node.services if each.srv_name.endswith('reset_guard')]

    setup.run(5)
    for values, reason in (
        (
            {'threshold': [-1.0]},
            "guard.threshold of joint 'shoulder_pan_joint' is -1; it must be >= 0",
        ),
        ({'threshold': [1.0, 2.0]}, 'guard.threshold'),
        ({'reaction': 'stopp'}, "guard.reaction is 'stopp'; allowed: none, stop, retract, float"),
        ({'reaction': 'stop', 'threshold': [0.0]}, 'nothing is watched'),
    ):
        answer = set_to(**values)
        assert not answer.successful
        assert reason in answer.reason
    assert setup.node.cycle.law.guard is None
    assert services() == []

    assert set_to(reaction='stop').successful
    assert len(services()) == 1
    setup.run(5)
    law = setup.node.cycle.law
    assert set_to(threshold=[500.0], step_threshold=[0.0]).successful  # more than the push
    assert setup.node.cycle.law is law  # with its memory
    setup.run(240)
    assert setup.node.cycle.reacts is False
    assert set_to(threshold=[5.0]).successful
    setup.run(2)
    assert setup.node.cycle.reacts
    answer = set_to(reaction='none')
    assert answer.reason == (
        "guard.reaction 'stop' is under way: ~/reset_guard ends it, then the guard may change"
    )
    assert set_to(threshold=[6.0]).successful
    assert setup.reset().success
    assert set_to(reaction='none').successful
    assert services() == []
    setup.run(5)


def test_a_collision_without_a_goal_is_one_line(start, capfd):
    setup = start(*GUARD)
    setup.run(400)
    (line,) = [each for each in capfd.readouterr().err.splitlines() if 'collision' in each]
    assert 'goal' not in line
