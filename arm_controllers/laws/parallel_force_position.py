"""Parallel force and position control: both act along a desired force, and the force dominates."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.laws import Array, LawEvaluation, Measurement, Reference, State
from arm_controllers.task_space import (
    PoseParameters,
    ToolLaw,
    ToolParameters,
    directions,
    pose_error,
)
from arm_dynamics.parameters import parameter
from arm_dynamics.small_matrices import times

_LEAST_MOBILITY = 0.01  # below this a direction of the task is given up smoothly [1/kg]


@dataclass(frozen=True)
class ParallelForcePositionParameters(PoseParameters, ToolParameters):
    """Error dynamics of the tool, and the loop of the force."""

    force_kp: float = parameter(0.03, 'gain of the force error [1]', min=0)
    force_ki: float = parameter(10.0, 'integral gain of the force error [1/s]', above=0)


class ParallelForcePosition(ToolLaw):
    """tau = M (Jbar x'' + N a_0) + C v + g + friction(v) + J^T S F + effort_r.

        x'' = x_r'' + kd (x_r' - x') + kp (x_r - x) - Jdot v
        F   = F_d + kf (F_d - f) + ki integral of (F_d - f) dt

    f is the force that the tool exerts, F_d the desired one, and S selects its directions. There
    position and force act in parallel: the integral wins at rest, so that f = F_d, and the
    position error is bounded. On a spring k with the mass m of the tool

        m x''' + m kd x'' + (m kp + (1 + kf) k) x' + ki k (x - F_d / k) = m kp x_r',

    stable for ki < kd (1 + kf + m kp / k). Before the contact the tool moves at about
    ki F_d / (m kp).

    Sources: Chiaverini and Sciavicco, IEEE Trans. Robotics and Automation 9(4), 1993; Chiaverini,
    Siciliano and Villani, IEEE Trans. Automatic Control 39(3), 1994.
    """

    evaluation = LawEvaluation(model_use=56)
    needs, wrench_goal = ('wrench',), ('force', 'torque')
    Parameters = ParallelForcePositionParameters

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the integral (..., 6) of the force error, times force_ki [N | N.m], at zero."""
        return (np.zeros((*measured.q.shape[:-1], 6)),)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N], and the memory."""
        space, p, (integral,) = self._space, self.parameters, state
        target, tip = space.target(reference), space.motion(measured)
        tip_a = target.acceleration - tip.acceleration  # the tip's is Jdot v
        tip_a += p.kd * (target.velocity - tip.velocity)
        tip_a += p.kp * pose_error(target, tip)
        selected, force, before = directions(reference), integral, integral
        if selected is None or reference.wrench is None:
            integral = integral * np.exp(-p.force_ki * dt)  # the position takes over smoothly
        else:
            error = reference.wrench + space.wrench(measured, tip)
            force = times(selected, reference.wrench + p.force_kp * error + integral)
            integral = times(selected, integral + dt * p.force_ki * error)
        jacobian = space.jacobian(measured)
        tau = space.torque(p, measured, reference, jacobian, tip_a, _LEAST_MOBILITY, force)
        tau += reference.effort
        return tau, (self.integrated(tau, before, integral),)
