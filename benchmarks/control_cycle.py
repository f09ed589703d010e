"""Cost of a control cycle in the controller node: serialised state in, serialised command out.

Computed torque on the UR5e's six joints while it follows 1500 points, without the transport of the
messages; beside it `pin.rnea`, measured in the same run. Run it with

    ./ws python benchmarks/control_cycle.py
"""

import sys
import timeit

import numpy as np
import pinocchio as pin
import rclpy
from conditions import own_domain, print_conditions

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.controller_node import ControllerNode
from arm_controllers.ros.serialized_messages import FIELDS, JointStateWriter
from arm_sim.parameter_files import as_arguments, files_of

# A cycle may take so many microseconds or, on a slower machine, as long as so many pin.rnea.
LIMIT_US = 25.0
LIMIT_RNEA = 25.0
_PERIOD_NS = 2_000_000
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


def _measure(node: ControllerNode) -> tuple[float, float]:
    controller = node.cycle
    assert controller is not None
    controller._command_publisher.publish = lambda message: None  # no transport
    controller._state_publisher.publish = lambda message: None
    model, follower = controller.model, controller.follower
    q = np.array([-1.57, -1.57, 1.57, -1.57, -1.57, 0.0])
    state = JointStateWriter(model.joint_names, FIELDS)
    state.position[:] = q
    controller.on_state(state.serialized(0))

    times = _SPACING * np.arange(1, _POINTS + 1)
    phase = 2 * np.pi * times / times[-1]
    swing, rate = 0.2, 2 * np.pi / times[-1]
    ones = np.ones((1, 6))
    positions = q + swing * (1 - np.cos(phase))[:, np.newaxis] * ones
    velocities = swing * rate * np.sin(phase)[:, np.newaxis] * ones
    accelerations = swing * rate**2 * np.cos(phase)[:, np.newaxis] * ones
    velocities[-1] = accelerations[-1] = 0.0
    goal = Goal(model.joint_names, times, positions, velocities, accelerations)
    follower.set_goal(goal, 0)

    states = iter([state.serialized(k * _PERIOD_NS) for k in range(1, _CYCLES * _REPEATS + 1)])

    def cycle() -> None:
        controller.on_state(next(states))

    cycle_us = min(timeit.repeat(cycle, number=_CYCLES, repeat=_REPEATS)) / _CYCLES * 1e6
    assert follower.active_goal is goal, 'the goal must be running all the time'
    v = np.zeros(6)

    def rnea() -> None:
        pin.rnea(model.pin_model, model.pin_data, q, v, v)

    rnea_us = min(timeit.repeat(rnea, number=_CYCLES, repeat=_REPEATS)) / _CYCLES * 1e6
    return cycle_us, rnea_us


def main() -> int:
    """Print both costs; exit with 1 where a cycle costs too much."""
    own_domain()
    print_conditions()
    cycle_us, rnea_us = measure()
    print('control cycle, computed torque, six joints, following a goal of 1500 points')
    print(f'  state in to command out   {cycle_us:6.1f} us   (at most {LIMIT_US:g} us)')
    print(f'  pin.rnea in the same run  {rnea_us:6.2f} us')
    print(f'  ratio                     {cycle_us / rnea_us:6.1f}')
    return int(cycle_us > LIMIT_US and cycle_us > LIMIT_RNEA * rnea_us)


if __name__ == '__main__':
    sys.exit(main())
