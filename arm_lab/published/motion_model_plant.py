"""The arm together with its position controller as a motion model: the engine of low fidelity.

Equation:
    computed_torque    (M + A) dv/dt + C v + g = tau + J^T w,  tau = (M + A) a_q + C v + g
    pd                 the same arm,  tau = -kp (q - q_r) - kd (v - v_r) + g
    independent_joint  dv/dt = a_q, every joint for itself
    task_space         the same arm,  tau = J^T (kp e + kd de) - joint_damping v + g

    a_q = a_r - wn^2 (q - q_r) - 2 zeta wn (v - v_r)

q_r, v_r, a_r is what the goal asks for now; e is the error of the tip's pose. Runge-Kutta's
classical method integrates, in as many substeps as the gains ask for.

Source: MathWorks, "Joint-Space Motion Model" and "Task-Space Motion Model", whose page gives wn in
Hz and uses it as rad/s.

When to use it: to try paths, timings and programs of goals, with nothing to tune and no
controller: the simulator takes trajectory goals itself. `settling_time` and `overshoot` say how a
joint answers.

When not: to judge a control law, with sampling, delay, limits or a wrong model: the law is part of
this model. It has no limits of effort and no contacts; it is not one of the engines that are
compared with each other.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, one_of
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import PerJoint, parameter
from arm_lab.published.motion_models import (
    MOTION_TYPES,
    JointSpaceMotionModel,
    TaskSpaceMotionModel,
)
from arm_sim.devices.faults import read_faults
from arm_sim.simulation.plant import Plant, PlantParameters

TASK_SPACE = 'task_space'
# Stiffness and damping of the tip: forces [N/m], [N.s/m], then moments [N.m/rad], [N.m.s/rad].
_TASK_KP = (500.0, 500.0, 500.0, 50.0, 50.0, 50.0)
_TASK_KD = (100.0, 100.0, 100.0, 10.0, 10.0, 10.0)


@dataclass(frozen=True)
class MotionModelParameters(PlantParameters):
    """Parameters of this engine, in addition to every plant's; its actuator is a servo."""

    follows_positions = True
    motion_type: str = parameter(
        'computed_torque', 'type of motion model', one_of=(*MOTION_TYPES, TASK_SPACE)
    )
    natural_frequency: PerJoint = parameter(
        (20.0,), 'natural frequency of the error [rad/s]', above=0
    )
    damping_ratio: PerJoint = parameter((1.0,), 'damping ratio of the error [1]', above=0)
    settling_time: PerJoint = parameter(
        (0.0,), 'settling time in place of natural_frequency [s]; 0: not used', min=0
    )
    overshoot: PerJoint = parameter(
        (0.0,), 'overshoot of a step, in place of damping_ratio if settling_time > 0 [1]'
    )
    kp: PerJoint = parameter(
        (),
        "stiffness of 'pd' [N.m/rad] and 'task_space' [N/m, N.m/rad]: one number, one per joint "
        "or axis, or a matrix row by row; empty with 'pd': by natural_frequency and the inertia",
    )
    kd: PerJoint = parameter((), "damping of 'pd' [N.m.s/rad] and 'task_space' [N.s/m, N.m.s/rad]")
    joint_damping: PerJoint = parameter(
        (1.0,), "damping of 'task_space' in the null space [N.m.s/rad]", min=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for each in (self.actuator,) if isinstance(self.actuator, str) else self.actuator:
            one_of('actuator (engine motion_model)', each, ('servo',))
        for name in self.drives():
            raise ArmError(f'{name}: a motion model has no drives')
        if not self.exact:
            raise ArmError('sensors: a motion model has exact joint sensors and no others')
        if bool(self.kp) != bool(self.kd):
            raise ArmError('kp and kd (engine motion_model) belong together: give both or none')
        if self.kp and self.motion_type not in ('pd', TASK_SPACE):
            raise ArmError(
                f'kp and kd have no effect with motion_type {self.motion_type!r}; '
                "they belong to 'pd' and 'task_space'"
            )


# How far the classical Runge-Kutta method may go for a real negative eigenvalue: 2.78 is stable.
_RK4_REACH = 1.4
_MOST_SUBSTEPS = 200


class MotionLaw:
    """The law of the motion model on its arm, at every instant: see the module's equations.

    Attributes:
        motion: law and arm in joint space.
    """

    def __init__(self, model: RobotModel, parameters: MotionModelParameters):
        """Take type and gains of these parameters."""
        p = self._parameters = parameters
        self._model = model
        self.motion = JointSpaceMotionModel(
            model,
            'computed_torque' if p.motion_type == TASK_SPACE else p.motion_type,
            p.natural_frequency,
            p.damping_ratio,
        )
        if any(p.settling_time):
            self.motion.update_error_dynamics_from_step(p.settling_time, p.overshoot)
        if p.motion_type == 'pd' and p.kp:
            self.motion.set_gains(*self._gains(model.nv))
        elif p.motion_type == 'pd':
            self.motion.set_gains_by_inertia()
        self._task_space: TaskSpaceMotionModel | None = None
        if p.motion_type == TASK_SPACE:
            kp, kd = self._gains(6) if p.kp else (_TASK_KP, _TASK_KD)
            self._task_space = TaskSpaceMotionModel(model, kp, kd, p.joint_damping)

    def _gains(self, size: int) -> list[Array]:
        """Return kp and kd as numbers, diagonals or (size, size) matrices."""
        given = [np.array(gain) for gain in (self._parameters.kp, self._parameters.kd)]
        return [gain.reshape(size, size) if gain.size == size**2 else gain for gain in given]

    def derivative(self, state: Array, reference: Array, wrenches: dict[str, Array]) -> Array:
        """Return v and dv/dt (2n,) at q and v (2n,), a reference (3n,) and wrenches on frames."""
        if self._task_space is None:
            return self.motion.derivative(state, reference, wrenches)
        q, v, _ = reference.reshape(3, -1)
        pose, twist = self._model.forward_kinematics(q), self._model.jacobian(q) @ v
        return self._task_space.derivative(state, pose, twist, wrenches)

    def fastest(self) -> float:
        """Return the rate of the fastest mode at the neutral configuration [1/s]."""
        model, q = self._model, self._model.neutral()
        if self._task_space is not None:
            jacobian = model.jacobian(q)
            damping = jacobian.T @ self._task_space.kd @ jacobian
            damping += np.diag(self._task_space.joint_damping)
        elif self._parameters.motion_type == 'pd':
            damping = self.motion.kd
        else:
            damping = model.mass_matrix(q) * 2.0 * self.motion.natural_frequency.max()
        return np.abs(np.linalg.eigvals(np.linalg.solve(model.mass_matrix(q), damping))).max()


class MotionModelPlant(Plant):
    """Integrates the motion of an arm under its law.

    A command is the reference of the law over one control period: a position (n,), to which the
    reference moves evenly from the one before (one that jumps, faster than a joint can move, is a
    step of the position at zero velocity); or its position, velocity and acceleration at the
    period's start and end (2, 3, n), between which it is the quintic that has them.

    Runge-Kutta's classical method integrates, in as many substeps as the gains ask for.

    Attributes:
        law: the law on its arm.
        substeps: number of integration steps in a control period.
    """

    Parameters = MotionModelParameters
    takes_goals = True
    actuator_kinds = frozenset(['servo'])

    def __init__(self, model: RobotModel, parameters: PlantParameters):
        if read_faults(parameters.faults):
            raise ArmError('faults: a motion model has none')
        super().__init__(model, parameters)
        p, n = self.parameters, model.nv
        self.period = p.period_ns * 1e-9
        self.law = MotionLaw(model, p)
        self.substeps = p.control_decimation * self._substeps_per_step()
        self._weights = _quintic_weights(self.period, 2 * self.substeps + 1)
        self._state, self._command = np.zeros(2 * n), np.zeros(n)
        self._reference = np.zeros(3 * n)
        self.q, self.v = self._state[:n], self._state[n:]
        self.effort = np.zeros(n)
        self.reset(model.neutral())

    def _notes_on_mjcf(self, model: RobotModel) -> tuple[str, ...]:
        """Return no notes: the model is all that this engine has."""
        return ()

    def _substeps_per_step(self) -> int:
        """Return how many substeps per time step the gains ask for; refuse too many."""
        step, kind = self.parameters.timestep, self.parameters.motion_type
        count = int(np.ceil(max(1.0, step * self.law.fastest() / _RK4_REACH)))
        if count > _MOST_SUBSTEPS:
            raise ArmError(
                f'timestep is {step:g} s; with this kd motion type {kind!r} needs {count} '
                f'substeps, at most {_MOST_SUBSTEPS} are made: a smaller timestep or kd'
            )
        return count

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to state q, v, where a reference has come that moves with v."""
        super().reset(q, v)
        self._command[:] = self.q - self.period * self.v
        self._reference[:] = np.concatenate([self.q, self.v, np.zeros_like(self.q)])

    def act(self, command: Array) -> None:
        """Follow `command`, (n,) or (2, 3, n), over one control period."""
        rows = command if command.ndim == 3 else self._evenly_to(command)
        points = self._weights @ rows.reshape(6, -1)
        points = points.reshape(len(points), -1)
        h, n, wrenches = self.period / self.substeps, len(self.q), self.wrenches
        derivative = self.law.derivative
        for early, middle, late in zip(points[:-1:2], points[1::2], points[2::2], strict=True):
            k1 = derivative(self._state, early, wrenches)
            k2 = derivative(self._state + 0.5 * h * k1, middle, wrenches)
            k3 = derivative(self._state + 0.5 * h * k2, middle, wrenches)
            k4 = derivative(self._state + h * k3, late, wrenches)
            self.effort[:] = self._model.inverse_dynamics(self.q, self.v, k1[n:], wrenches)
            self._state += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        self._command[:], self._reference[:] = rows[1, 0], points[-1]

    def acceleration(self) -> Array:
        """Return the acceleration (n,) at the present state and reference."""
        return self.law.derivative(self._state, self._reference, self.wrenches)[len(self.q) :]

    def _evenly_to(self, command: Array) -> Array:
        rate = self._model.difference(self._command, command) / self.period
        rate[np.abs(rate) > self._model.velocity_limit] = 0.0
        rows = np.zeros((2, 3, len(rate)))
        rows[0, 0], rows[1, 0], rows[:, 1] = command - rate * self.period, command, rate
        return rows

    def apply_wrench(self, frame: str, wrench: ArrayLike) -> None:
        """Push on a frame; refused with independent joints, which have no dynamics."""
        if self.law.motion.motion_type == 'independent_joint':
            raise ArmError('independent joints have no dynamics that a wrench could act on')
        super().apply_wrench(frame, wrench)


def _quintic_weights(period: float, count: int) -> Array:
    """Return (count, 3, 6): what gives position, velocity, acceleration at `count` even times.

    They multiply position, velocity, acceleration at the period's start, then at its end.
    """
    from scipy.interpolate import BPoly  # slow to import; few plants need it

    t = np.linspace(0.0, period, count)
    ends = np.eye(6).reshape(6, 2, 3)
    curves = [BPoly.from_derivatives([0.0, period], each) for each in ends]
    return np.array([[curve(t, order) for order in range(3)] for curve in curves]).transpose(
        2, 1, 0
    )
