"""Trajectory goals of the simulator itself, for engines that move by themselves."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.ros.goal_server import GoalServer
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.state_report import StateReport
from arm_dynamics.checks import Array
from arm_sim.simulation.simulation import Simulation

# Lock-step: duration of a slice of simulated time, and the period of the slices [s].
_SLICE, _EVERY = 5e-3, 1e-3
# Of the action and of ~/controller_state, the defaults of a controller [Hz of simulated time].
_FEEDBACK_RATE, _REPORT_RATE = 20.0, 50.0


class OwnGoals:
    """Goals at ~/follow_joint_trajectory and ~/joint_trajectory of the simulator.

    Attributes:
        in_charge: whether the arm follows these goals; not while a controller commands it.
    """

    def __init__(self, node: Node, simulation: Simulation, realtime: bool):
        """Open the endpoints. Raises ArmError for a follower's parameter out of range."""
        self.in_charge, self._node = True, node
        self._simulation, model = simulation, simulation.model
        self._period_ns, names = simulation.period_ns, model.joint_names
        rules = declare_parameters(node, FollowerParameters, joint_names=names)
        self._follower = TrajectoryFollower(model, rules)
        self._goals = GoalServer(node, self._follower, self._period_ns, _FEEDBACK_RATE, realtime)
        publisher = node.create_publisher(
            JointTrajectoryControllerState, '~/controller_state', STATE_QOS
        )
        self._report = StateReport(publisher, names, _REPORT_RATE)
        self._command = np.zeros((2, 3, len(names)))
        self._fresh = True

    def command(self, time_ns: int, q: Array, v: Array) -> Array:
        """Return the reference over the period that begins at a state; valid until the next call.

        It is (2, 3, n): position, velocity and acceleration at the period's start and end.
        """
        if self._fresh:
            self._follower.activate(time_ns, q, v)
            self._goals.activate(time_ns)
            self._report.begin(time_ns)
            self._fresh = False
        reference = self._follower.update(time_ns, q, v)
        self._command[0] = reference.q, reference.v, reference.a
        after = self._follower.peek(time_ns + self._period_ns)
        self._command[1] = after.q, after.v, after.a
        self._goals.after_cycle(time_ns, q, v)
        if self._report.is_due(time_ns):
            plant: Any = self._simulation.plant  # of an engine that takes goals
            feedback = {'accelerations': plant.acceleration(), 'effort': plant.effort}
            output = {'positions': reference.q}
            self._report.publish(time_ns, self._follower, q, v, output, **feedback)
        return self._command

    def begin(self, go_on: Callable[[], bool]) -> None:
        """Let time go on by `go_on` while the arm follows these goals."""
        let_time_go_on(self._node, lambda: self.in_charge and go_on())

    def give_up(self, source: str) -> None:
        """End all goals: the controller `source` commands the arm."""
        self.in_charge = False
        self._goals.deactivate(f'{source!r} commands the arm')

    def take_over(self) -> None:
        """Follow goals again, holding where the arm is at the next state."""
        self.in_charge = self._fresh = True


def let_time_go_on(node: Node, step: Callable[[], bool]) -> None:
    """Call `step` over and over, as long as it returns True, between a node's other callbacks."""
    rest = 0.0

    def slice_of_time() -> None:
        nonlocal rest
        # Where this timer is overdue when it is reset, on a busy machine, the executor calls it
        # once for being overdue and once for the reset: each call would make two, without end.
        if time.monotonic() < rest:
            return
        end = time.monotonic() + _SLICE
        while step() and time.monotonic() < end:
            pass
        rest = time.monotonic() + _EVERY
        timer.reset()  # a timer that is always overdue would leave the executor no time to end

    timer = node.create_timer(_EVERY, slice_of_time)
