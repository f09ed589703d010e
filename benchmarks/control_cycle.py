"""Cost of a control cycle in the controller node: serialised state in, serialised command out.

Computed torque on the UR5e's six joints while it follows 1500 points, without the transport of the
messages; beside it `pin.rnea`, measured in the same run. Run it with

    ./ws python benchmarks/control_cycle.py

With --external COMMAND it is a controller of your own that follows the same goal: from the state
going out to its command coming in, so with the transport of both messages.
"""

import argparse
import os
import sys
import time
import timeit
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
import pinocchio as pin
import rclpy
from conditions import own_domain, print_conditions
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.controller_node import ControllerNode
from arm_controllers.ros.messages import trajectory_message
from arm_controllers.ros.qos import CONTROL_QOS, LATCHED_QOS, STATE_QOS
from arm_controllers.ros.running import make_executor
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader, JointStateWriter
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_lab.experiments.processes import Group
from arm_lab.judging.trials import controller_command
from arm_sim.parameter_files import as_arguments, files_of

# A cycle may take so many microseconds or, on a slower machine, as long as so many pin.rnea.
LIMIT_US = 25.0
LIMIT_RNEA = 25.0
HOME = np.array([-1.57, -1.57, 1.57, -1.57, -1.57, 0.0])
_PERIOD_NS = 2_000_000
_LONG_WAIT = 60  # with who does not answer [s]
_POINTS, _SPACING = 1500, 0.02
_CYCLES, _REPEATS = 100, 140


def measure() -> tuple[float, float]:
    """Return the cost of a cycle and of one `pin.rnea` [us], each the best of several runs."""
    config = as_arguments(files_of('ur5e'))
    rclpy.init(args=['--ros-args', *config, '-p', 'autostart:=true'])
    node = ControllerNode('computed_torque')
    try:
        return _measure(node)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def swing(q: np.ndarray, joint_names: Sequence[str]) -> Goal:
    """Return a goal that leads all joints away from q and back."""
    times = _SPACING * np.arange(1, _POINTS + 1)
    phase = 2 * np.pi * times / times[-1]
    amplitude, rate = 0.2, 2 * np.pi / times[-1]
    ones = np.ones((1, len(q)))
    positions = q + amplitude * (1 - np.cos(phase))[:, np.newaxis] * ones
    velocities = amplitude * rate * np.sin(phase)[:, np.newaxis] * ones
    accelerations = amplitude * rate**2 * np.cos(phase)[:, np.newaxis] * ones
    velocities[-1] = accelerations[-1] = 0.0
    return Goal(joint_names, times, positions, velocities, accelerations)


def measure_external(command: str) -> np.ndarray:
    """Return the cost of each cycle of a controller that is a command of the user's [us]."""
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    rclpy.init()
    node = rclpy.create_node('stopwatch')
    arm = node.create_publisher(String, 'robot_description', LATCHED_QOS)
    arm.publish(String(data=model.urdf))
    states = node.create_publisher(JointState, 'joint_states', STATE_QOS)
    goals = node.create_publisher(
        JointTrajectory, 'external_controller/joint_trajectory', CONTROL_QOS
    )
    state, answer = JointStateWriter(model.joint_names, FIELDS), JointStateReader((), ())
    state.position[:] = q = HOME
    answered = -1

    def on_command(raw: bytes) -> None:
        nonlocal answered
        answer.open(raw)
        answered = answer.time_ns

    node.create_subscription(JointState, 'joint_commands', on_command, CONTROL_QOS, raw=True)
    executor = make_executor()
    executor.add_node(node)

    def ask(time_ns: int) -> float:
        begin = time.perf_counter()
        shown, raw = begin, state.serialized(time_ns)
        states.publish(raw)
        while answered != time_ns:
            executor.spin_once(timeout_sec=0.1)
            now = time.perf_counter()
            if now > begin + _LONG_WAIT:
                raise SystemExit(f'no answer on joint_commands within {_LONG_WAIT} s')
            if now > shown + 0.1:  # it, or the answer, may be lost
                states.publish(raw)
                shown = now
        return 1e6 * (time.perf_counter() - begin)

    try:
        with (
            NamedTemporaryFile() as log,
            Group(controller_command([command]), Path(log.name), os.environ),
        ):
            ask(0)
            goals.publish(trajectory_message(swing(q, model.joint_names)))
            goals.wait_for_all_acked()
            return np.array([ask(k * _PERIOD_NS) for k in range(1, _CYCLES * _REPEATS + 1)])
    finally:
        node.destroy_node()
        rclpy.shutdown()


def _measure(node: ControllerNode) -> tuple[float, float]:
    controller = node.cycle
    assert controller is not None
    controller._command.publisher.publish = lambda message: None  # no transport
    controller._state_publisher.publish = lambda message: None
    model, follower = controller.model, controller.follower
    q = HOME
    state = JointStateWriter(model.joint_names, FIELDS)
    state.position[:] = q
    controller.states.take(state.serialized(0))

    goal = swing(q, model.joint_names)
    follower.set_goal(goal, 0)

    states = iter([state.serialized(k * _PERIOD_NS) for k in range(1, _CYCLES * _REPEATS + 1)])

    def cycle() -> None:
        controller.states.take(next(states))

    cycle_us = min(timeit.repeat(cycle, number=_CYCLES, repeat=_REPEATS)) / _CYCLES * 1e6
    assert follower.active_goal is goal, 'the goal must be running all the time'
    v = np.zeros(6)

    def rnea() -> None:
        pin.rnea(model.pin_model, model.pin_data, q, v, v)

    rnea_us = min(timeit.repeat(rnea, number=_CYCLES, repeat=_REPEATS)) / _CYCLES * 1e6
    return cycle_us, rnea_us


def main() -> int:
    """Print both costs; exit with 1 where a cycle costs too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    command = 'a controller of your own in place of ours, as one word: "python3 my.py"'
    parser.add_argument('--external', metavar='COMMAND', help=command)
    options = parser.parse_args()
    own_domain()
    print_conditions()
    if options.external:
        cost = np.sort(measure_external(options.external))
        print(f'{options.external}: {len(cost)} cycles, state out to command in, with transport')
        for name, share in (('fastest', 0.0), ('median', 0.5), ('99 %', 0.99), ('slowest', 1.0)):
            print(f'  {name:8s} {cost[round(share * (len(cost) - 1))]:10.1f} us')
        return 0
    cycle_us, rnea_us = measure()
    print('control cycle, computed torque, six joints, following a goal of 1500 points')
    print(f'  state in to command out   {cycle_us:6.1f} us   (at most {LIMIT_US:g} us)')
    print(f'  pin.rnea in the same run  {rnea_us:6.2f} us')
    print(f'  ratio                     {cycle_us / rnea_us:6.1f}')
    return int(cycle_us > LIMIT_US and cycle_us > LIMIT_RNEA * rnea_us)


if __name__ == '__main__':
    sys.exit(main())
