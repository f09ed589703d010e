"""The arm as compiled analytical dynamics: an engine that is independent of MuJoCo.

Equation:
    (M(q) + A) dv/dt = tau - C(q, v) v - g(q) - D v - f(v) + J(q)^T w + springs beyond limits

    tau = servo_kp (u - q) - servo_kd v            actuator: servo
    tau = servo_kd (u - v)                         actuator: velocity
    tau = u                                        actuator: torque
    tau = Kt (u - drop(u) - Ke v) / Ra             actuator: voltage

A: rotor inertias, D: viscous friction, f: Coulomb friction, rigid: the torque within its bounds
that stops the joint by the end of the step, where that is possible. Beyond a position limit a
spring and a damper act: limit_stiffness (limit - q) - limit_damping v.

Source: Newton-Euler and composite rigid bodies (Featherstone, "Rigid Body Dynamics Algorithms",
2008) with minimal inertial parameters (Khalil and Dombre, "Modeling, Identification and Control of
Robots", 2002, section 9.4), written out as one straight-line module for each arm and compiled.

When to use it: DC motors; dry friction that holds; a known order of integration (rk4 for a true
motion with which others are compared); a second opinion on MuJoCo's, to 1e-12 with the same
step; thousands of arms at once, or an optimiser that steps a million times.

When not: contacts, which it has not. The first run of a new arm compiles for some seconds, and
keeps the result. A time step that is not stable is refused.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import Array
from arm_dynamics.compiled import ForwardModel, ForwardModelParameters
from arm_dynamics.model import RobotModel
from arm_dynamics.motors import DCMotors
from arm_dynamics.parameters import PerJoint, like
from arm_sim.devices import link_side
from arm_sim.simulation.integration import INSTANT, integration_of, mean_effort
from arm_sim.simulation.plant import Plant, PlantParameters


@dataclass(frozen=True)
class AnalyticalParameters(PlantParameters, DCMotors):
    """Parameters of this engine, in addition to every plant's.

    `integrator` is explicit_euler, semi_implicit_euler, velocity_verlet, rk4, implicitfast (as
    MuJoCo's) or lagged_euler (the published five-joint arm's; actuator voltage only).
    """

    limit_stiffness: PerJoint = like(ForwardModelParameters, 'limit_stiffness', (1000.0,))
    limit_damping: PerJoint = like(ForwardModelParameters, 'limit_damping', (10.0,))


class AnalyticalPlant(Plant):
    """Stepping is compiled from the URDF, or loaded as it was compiled before; no contacts.

    A time step that is not stable is refused.

    Attributes:
        forward_model: the function that it applies to its state.
        state: the present state, as `forward_model` takes it; a view.
    """

    Parameters = AnalyticalParameters

    def __init__(self, model: RobotModel, parameters: PlantParameters):
        super().__init__(model, parameters)
        self._mean_effort = mean_effort([model], [self.parameters])
        model.check_inertia()
        model, p = link_side(model, self.parameters)
        integrator, count = integration_of([model], [p])
        self._step, self._steps = p.timestep / count, p.control_decimation * count
        names = [each.name for each in fields(ForwardModelParameters) if each.name != 'motors']
        self._smooth, self._rough = integrator == 'rk4', bool(model.friction.any())
        shared = {name: getattr(p, name) for name in names} | {'integrator': integrator}
        self.forward_model = ForwardModel(model, ForwardModelParameters(motors=p, **shared))
        self.forward_model.check_step(self._step)
        self.forward_model.compile()
        self.state = np.zeros(self.forward_model.state_size)
        self.effort = self.forward_model.effort
        self.q, self.v = self.state[: model.nv], self.state[model.nv : 2 * model.nv]
        self.reset(model.neutral())

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to state q, v; the motors' part of the state as it is there without current."""
        super().reset(q, v)
        self.state[:] = self.forward_model.initial_state(q, v)

    def act(self, command: Array) -> None:
        """Hold `command` (n,) over one control period."""
        self._command = command
        count = self._steps if self._before is None or self._smooth else 1
        for _ in range(self._steps // count):
            if self._before is not None:
                self._before[:] = self.v
            self.forward_model.advance(self.state, command, self._step, count)

    def _acceleration(self, before: Array) -> Array:
        """Return dv/dt (n,) at the end of a period."""
        if not self._smooth:
            return super()._acceleration(before)
        effort = self.effort.copy()
        # Dry friction is that which stops a joint by the end of a step.
        h, method = (self._step, 'explicit_euler') if self._rough else (INSTANT, None)
        after = self.state.copy()
        self.forward_model.advance(after, self._command, h, 1, method)
        self.effort[:] = effort
        return (after[self.v.size :] - self.v) / h

    @property
    def integration_step(self) -> float:
        """The integration step [s]."""
        return self._step

    def set_damping(self, damping: Array) -> None:
        """Damp the joints by `damping` (n,) from now on."""
        self.forward_model.damping[:] = damping

    def _set_wrenches(self, wrenches: dict[str, Array]) -> None:
        self.forward_model.set_wrenches(wrenches)  # refused with 'lagged_euler'
        super()._set_wrenches(wrenches)

    def mass_matrix(self) -> Array:
        """Return M(q) + armature (n x n), compiled."""
        return self.forward_model.compiled.mass_matrix(self.q)

    def joint_friction(self) -> tuple[Array, Array]:
        """Return damping and Coulomb friction (n,) of the joint table."""
        return self.forward_model.damping, self.forward_model.friction

    def bias_torque(self) -> Array:
        """Return C(q, v) v + g(q) (n,), compiled."""
        return self.forward_model.compiled.bias_torque(self.q, self.v)
