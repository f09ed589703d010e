"""Laws of force in the controller node and in the loop: the same bits, in contact too."""

from contextlib import suppress

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.in_process import InProcessTransport  # noqa: E402
from arm_controllers.ros.messages import (  # noqa: E402
    set_numbers,
    set_stamp,
    trajectory_message,
)
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402
from arm_lab.experiments.experiment import Experiment, LoadedExperiment  # noqa: E402
from arm_sim.loop.events import Push  # noqa: E402
from arm_sim.loop.goals import goal_reference  # noqa: E402
from arm_sim.loop.loop import Loop  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402
from arm_sim.robot import Robot  # noqa: E402

PERIODS = 400
PULL = Push('probe', (4.0, -3.0, 6.0, 0.1, 0.2, 0.0), 0.1, 0.5)
NEAR = {'distance': 0.002}  # the tool arrives within these periods


class Messages:
    """A controller that gets states and wrenches as messages, and a plant that gets its answers.

    `states` and `efforts` are what they were, (periods, 2 n) and (periods, n).
    """

    def __init__(self, rig, law, task, plant, events):
        model, transport = task.robot.model, InProcessTransport()
        self.node = ControllerNode(law, transport)
        self.node.trigger_configure()
        self.node.trigger_activate()
        (take,) = transport.state_subscribers('/joint_states')
        feel = transport.state_subscribers('/force_torque_sensor_broadcaster/wrench')
        transport.serve_commands('/joint_commands', self.on_command)
        self.reader = JointStateReader(model.joint_names, FIELDS)
        self.states, self.efforts, goal = [], [], task.goal()
        for period in range(PERIODS):
            time_ns = period * plant.parameters.period_ns
            for event in events.get(period, ()):
                event(plant)
            state, felt = JointState(name=list(model.joint_names)), WrenchStamped()
            set_numbers(state, position=plant.q, velocity=plant.v)
            numbers = iter(plant.measured.wrench.tolist())
            for part in (felt.wrench.force, felt.wrench.torque):
                part.x, part.y, part.z = (next(numbers) for _ in range(3))
            for message in (state, felt):
                set_stamp(message.header.stamp, time_ns)
            self.states.append(np.concatenate([plant.q, plant.v]))
            for each in tuple(feel):
                each(bytes(serialize_message(felt)))
            take(bytes(serialize_message(state)))
            self.efforts.append(self.command)
            plant.step(self.command)
            cycle = self.node.cycle
            if not period and goal is not None:
                cycle.goals.take(bytes(serialize_message(trajectory_message(goal))))
            if not period and task.wrench is not None:
                cycle.follower.set_wrench(task.wrench, task.wrench_start_ns)

    def on_command(self, raw, count):
        with suppress(ArmError):  # the release message, with which the node ends
            self.reader.open(raw)
            self.command = self.reader.values('effort').copy()


@pytest.mark.parametrize(
    ('task', 'law', 'given', 'pull'),
    [
        ('press', 'cartesian_impedance', NEAR, ()),
        ('press', 'parallel_force_position', NEAR, ()),
        ('press', 'admittance_effort', NEAR, ()),
        ('hand_over', 'hand_guiding', {}, PULL.events()),
        ('peg_in_hole', 'cartesian_impedance', NEAR, ()),
    ],
)
def test_a_law_of_force_gives_in_the_node_what_it_gives_in_the_loop(task, law, given, pull):
    rig = f'ur5e gripper:={"peg" if task == "peg_in_hole" else "probe"}'
    case = Experiment.of_files(rig, task, law)
    loaded = LoadedExperiment(case, Robot.load(rig), given)
    made, plant = loaded.task, loaded.plants()[0]
    period, model = plant.parameters.period, loaded.robot.model
    events = {round(time / period): (act,) for time, act in pull}
    plant.reset(made.start.q)
    words = [*as_arguments(files_of(rig)), '-p', f'robot:={rig}']
    rclpy.init(args=['--ros-args', *words], domain_id=int(fresh_domain()))
    try:
        over = Messages(rig, law, made, plant, events)
        over.node.destroy_node()
    finally:
        rclpy.try_shutdown()

    of_goal = goal_reference(made.goal(), model, made.start.q, np.zeros(model.nv))

    def reference(t, reference):
        of_goal(t, reference)
        made.add_wrench(t, reference)

    loop = Loop(loaded.plants()[0], loaded.law(), reference, pull)
    loop.reset(made.start.q)
    steps = [loop.step() for _ in range(PERIODS)]
    np.testing.assert_array_equal(over.states, [np.concatenate(step[2:4]) for step in steps])
    np.testing.assert_array_equal(over.efforts, [step.command for step in steps])
    felt = np.linalg.norm([step.measured.wrench[:3] for step in steps], axis=1)
    assert felt.max() > 3.0  # N: there was a contact, or a pull
