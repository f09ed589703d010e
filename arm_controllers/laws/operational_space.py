"""Operational-space control: the law controls the tip, and the posture in its null space."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.laws import (
    Array,
    Law,
    LawEvaluation,
    Measurement,
    Reference,
    RobotModel,
    State,
)
from arm_controllers.second_order_gains import acceleration_gains
from arm_controllers.task_space import AxesParameters, PoseParameters, TaskSpace, pose_error
from arm_dynamics.parameters import parameter


@dataclass(frozen=True)
class OperationalSpaceParameters(PoseParameters, AxesParameters):
    """Error dynamics of the tip and of the posture."""

    tip_frame: str = parameter('', "name of the controlled frame; empty: the model's tool frame")
    threshold: float = parameter(
        0.01, 'mobility [1/kg] below which a task direction is given up smoothly', above=0
    )


class OperationalSpace(Law):
    """tau = M (Jbar (x'' - Jdot v) + N a_0) + C v + g + friction(v) + effort_r.

    x'' = x_r'' + kd (x_r' - x') + kp (x_r - x) for the tip, whose reference is the joint
    reference's; a_0 = a_r + posture_kd (v_r - v) + posture_kp (q_r - q) for the joints;
    Jbar = M^-1 J^T (J M^-1 J^T)^-1 is the dynamically consistent inverse, N = I - Jbar J, so the
    posture does not disturb the tip (Khatib, IEEE J. Robotics and Automation 3(1), 1987). The
    orientation error is the rotation vector in base axes.

    At a singularity J M^-1 J^T loses rank. Its small eigenvalues are then inverted with damping
    (Nakamura), which gives the direction up without a jump; the posture holds it.
    """

    evaluation = LawEvaluation(model_use=50, tuned=('kp', 'kd', 'posture_kp', 'posture_kd'))
    Parameters = OperationalSpaceParameters
    designed = acceleration_gains  # kp = wn^2 and kd = 2 zeta wn of the tip

    def __init__(self, model: RobotModel, parameters: OperationalSpaceParameters):
        super().__init__(model, parameters)
        self._space = TaskSpace(model, self.parameters.tip_frame)
        self._axes = np.flatnonzero(self.parameters.axes)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N]."""
        space, p, axes = self._space, self.parameters, self._axes
        target, tip = space.target(reference), space.motion(measured)
        tip_a = target.acceleration - tip.acceleration  # the tip's is Jdot v
        tip_a += p.kd * (target.velocity - tip.velocity)
        tip_a += p.kp * pose_error(target, tip)
        jacobian = space.jacobian(measured)
        if len(axes) < 6:
            jacobian, tip_a = jacobian[..., axes, :], tip_a[..., axes]
        tau = space.torque(p, measured, reference, jacobian, tip_a, p.threshold)
        tau += reference.effort
        return tau, state
