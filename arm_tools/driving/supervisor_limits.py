"""Limits that the supervisor keeps, of joints, commands and tool."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import with_arrays
from arm_tools.driving.supervisor_parameters import SupervisorParameters


class SupervisorLimits:
    """The limits of a robot under a supervisor, as arrays.

    Attributes:
        model, parameters: the robot's model, the limits as arrays.
        interface: 'position', 'velocity' or 'effort': what the robot takes.
        torque_limit, speed_limit, lower, upper: (n,) limits that are kept.
        box: (2, 3) corners of the workspace less its margin [m]; None: none.
    """

    box: Array | None = None

    def __init__(self, model: RobotModel, parameters: SupervisorParameters, interface: str):
        """Take the model of one arm, or a BatchModel."""
        self.model, self.interface = model, interface
        p = self.parameters = with_arrays(parameters, model.joint_names)
        self.torque_limit: Array = p.torque_share * model.effort_limit
        self.speed_limit: Array = p.speed_share * model.velocity_limit
        self.lower: Array = model.position_lower + p.position_margin
        self.upper: Array = model.position_upper - p.position_margin
        if len(p.workspace):
            low, high = np.reshape(p.workspace, (2, 3))
            self.box = np.array([low + p.workspace_margin, high - p.workspace_margin])

    def limited(self, command: Array, before: Array, dt: float) -> Array:
        """Return an effort command (..., n) within torque and torque rate; others unchanged.

        Where one joint's torque would change too fast, those of all joints change by the same
        share: joints that are limited one by one would shake each other.
        """
        if self.interface != 'effort':
            return command
        limit, step = self.torque_limit, self.parameters.torque_rate * dt
        change = np.minimum(np.maximum(command, -limit), limit) - before
        most = np.max(np.abs(change) / step, axis=-1, keepdims=True)
        sent: Array = before + change / np.maximum(most, 1.0)
        return sent

    def tool_at(self, q: Array) -> Array:
        """Return the place of the tool (..., 3) [m]."""
        q = np.ascontiguousarray(q)
        still = np.zeros_like(q)
        place: Array = self.model.frame_motion(q, still, still).position
        return place
