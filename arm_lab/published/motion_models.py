"""An arm together with its controller as one ordinary differential equation."""

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, one_of, per_joint
from arm_dynamics.model import RobotModel
from arm_lab.published.second_order import design_from_step

MOTION_TYPES = ('computed_torque', 'pd', 'independent_joint')

Wrenches = Mapping[str, ArrayLike]


class JointSpaceMotionModel:
    """Closed-loop joint-space motion, x = (q, v), in one of three fidelities.

    With e = q - q_r:

        computed_torque    tau = M(q) a_q + C(q, v) v + g(q),  a_q = a_r - wn^2 e - 2 zeta wn de
        pd                 tau = -kp e - kd de + g(q)
        independent_joint  dv/dt = a_q, every joint for itself; no dynamics, no external forces

    The first two move the arm's rigid-body dynamics. Without external forces the first and the
    third are the same motion. MathWorks, Joint-Space Motion Model (whose page names the unit of
    wn Hz and uses it in the equations as rad/s, as here).

    Attributes:
        natural_frequency: (n,) wn [rad/s].
        damping_ratio: (n,) zeta.
        kp: (n, n) [N.m/rad | N/m].
        kd: (n, n) [N.m.s/rad | N.s/m].
    """

    def __init__(
        self,
        model: RobotModel,
        motion_type: str = 'computed_torque',
        natural_frequency: ArrayLike = 10.0,
        damping_ratio: ArrayLike = 1.0,
        kp: ArrayLike = 100.0,
        kd: ArrayLike = 10.0,
        gravity_compensation: bool = True,
    ):
        """Take numbers for all joints or one per joint; kp and kd may be full matrices.

        Raises:
            ArmError: an unknown type, a frequency or damping ratio that is not positive, a gain
                matrix that is not symmetric and positive semidefinite.
        """
        one_of('motion_type', motion_type, MOTION_TYPES)
        self.model = model
        self.motion_type = motion_type
        names = model.joint_names
        self.natural_frequency = per_joint(
            'natural_frequency', natural_frequency, names, 0.0, exclusive=True
        )
        self.damping_ratio = per_joint('damping_ratio', damping_ratio, names, 0.0, exclusive=True)
        self.set_gains(kp, kd)
        self.gravity_compensation = gravity_compensation

    def set_gains(self, kp: ArrayLike, kd: ArrayLike) -> None:
        """Take other gains for 'pd': numbers, diagonals or matrices. Raises ArmError."""
        self.kp = gain_matrix('kp', kp, self.model.nv)
        self.kd = gain_matrix('kd', kd, self.model.nv)

    def set_gains_by_inertia(self, q: ArrayLike | None = None) -> None:
        """Choose the gains of 'pd' that move the arm at q (n,) as wn and zeta say.

        With all wn alike, kp = wn^2 M(q), kd = 2 zeta wn M(q); q is the neutral pose by default.
        """
        mass = self.model.mass_matrix(self.model.neutral() if q is None else q)
        wn = self.natural_frequency
        root = np.sqrt(2.0 * self.damping_ratio * wn)
        self.kp, self.kd = np.outer(wn, wn) * mass, np.outer(root, root) * mass

    def update_error_dynamics_from_step(
        self, settling_time: ArrayLike, overshoot: ArrayLike
    ) -> None:
        """Choose wn and zeta by the wanted response to a step of the reference.

        Args:
            settling_time: time to stay within 2 % [s], one for all joints or one per joint.
            overshoot: peak above the step as a share of it, 0 <= overshoot < 1, likewise.

        Raises:
            ArmError: not positive, or not a share; nothing is changed then.
        """
        names = self.model.joint_names
        times = per_joint('settling_time', settling_time, names, 0.0, exclusive=True)
        shares = per_joint('overshoot', overshoot, names, 0.0)
        design = np.vectorize(design_from_step)
        self.natural_frequency, self.damping_ratio = design(times, shares)

    def derivative(
        self, state: ArrayLike, reference: ArrayLike, external_forces: Wrenches | None = None
    ) -> Array:
        """Return dx/dt = (v, a), (2n,), for any ODE solver.

        Args:
            state: (2n,) q and v.
            reference: (2n,) q_r and v_r, or (3n,) with a_r behind them (zero if left out; the
                'pd' type does not use it).
            external_forces: wrench by frame name, as in `RobotModel.forward_dynamics`.

        Raises:
            ArmError: wrong shapes, or external forces on independent joints.
        """
        n = self.model.nv
        state, reference = np.asarray(state, dtype=float), np.asarray(reference, dtype=float)
        if state.shape != (2 * n,) or reference.shape not in ((2 * n,), (3 * n,)):
            raise ArmError(
                f'state has shape {state.shape}, reference {reference.shape}; '
                f'allowed: ({2 * n},), and ({2 * n},) or ({3 * n},)'
            )
        q, v = state[:n], state[n:]
        error = self.model.difference(reference[:n], q)
        error_rate = v - reference[n : 2 * n]
        if self.motion_type == 'pd':
            tau = -self.kp @ error - self.kd @ error_rate
            if self.gravity_compensation:
                tau += self.model.gravity_torque(q)
            return np.concatenate([v, self.model.forward_dynamics(q, v, tau, external_forces)])
        wn, zeta = self.natural_frequency, self.damping_ratio
        a = -(wn**2) * error - 2.0 * zeta * wn * error_rate
        if reference.size == 3 * n:
            a += reference[2 * n :]
        if self.motion_type == 'computed_torque':
            tau = self.model.inverse_dynamics(q, v, a)
            a = self.model.forward_dynamics(q, v, tau, external_forces)
        elif external_forces:
            raise ArmError('independent joints have no dynamics that external forces could act on')
        return np.concatenate([v, a])


class TaskSpaceMotionModel:
    """Closed-loop task-space motion, x = (q, v): PD on the pose of the tip.

        tau = J(q)^T (kp e + kd (V_r - J(q) v)) - b v + g(q)

    e holds the tip's position error [m] and the rotation vector from its orientation to the
    reference's [rad], both in base axes. The joint damping b brings to rest the motions that do
    not move the tip. MathWorks, taskSpaceMotionModel (there with the angular part on top).

    Attributes:
        kp: (6, 6) stiffness, force part on top [N/m], [N.m/rad].
        kd: (6, 6) damping [N.s/m], [N.m.s/rad].
        joint_damping: (n,) b [N.m.s/rad | N.s/m].
    """

    def __init__(
        self,
        model: RobotModel,
        kp: ArrayLike = 500.0,
        kd: ArrayLike = 100.0,
        joint_damping: ArrayLike = 1.0,
    ):
        """Take one number, six, or a 6 x 6 matrix for kp and kd; one or n for joint_damping.

        Raises:
            ArmError: negative or asymmetric gains, negative damping.
        """
        self.model = model
        self.kp = gain_matrix('kp', kp, 6)
        self.kd = gain_matrix('kd', kd, 6)
        self.joint_damping = per_joint('joint_damping', joint_damping, model.joint_names, 0.0)

    def pose_error(self, q: Array, pose: pin.SE3) -> Array:
        """Return (6,): from the tip at q to `pose`, position and rotation vector in base axes."""
        tip = self.model.forward_kinematics(q)
        rotation = pin.log3(pose.rotation @ tip.rotation.T)
        return np.concatenate([pose.translation - tip.translation, rotation])

    def derivative(
        self,
        state: ArrayLike,
        pose: pin.SE3,
        twist: ArrayLike = (0.0,) * 6,
        external_forces: Wrenches | None = None,
    ) -> Array:
        """Return dx/dt = (v, a), (2n,), for any ODE solver.

        Args:
            state: (2n,) q and v.
            pose: reference of the tip in the base frame.
            twist: (6,) the reference's velocity [m/s] and angular velocity [rad/s], base axes.
            external_forces: wrench by frame name, as in `RobotModel.forward_dynamics`.
        """
        n = self.model.nv
        state = np.asarray(state, dtype=float)
        if state.shape != (2 * n,):
            raise ArmError(f'state has shape {state.shape}; allowed: ({2 * n},)')
        q, v = state[:n], state[n:]
        jacobian = self.model.jacobian(q)
        wrench = self.kp @ self.pose_error(q, pose) + self.kd @ (np.asarray(twist) - jacobian @ v)
        tau = jacobian.T @ wrench - self.joint_damping * v + self.model.gravity_torque(q)
        return np.concatenate([v, self.model.forward_dynamics(q, v, tau, external_forces)])


def gain_matrix(name: str, value: ArrayLike, size: int) -> Array:
    """Return a (size, size) matrix from one number, a diagonal, or the matrix itself.

    Raises:
        ArmError: not symmetric, not positive semidefinite, or another shape.
    """
    array = np.asarray(value, dtype=float)
    if array.ndim < 2:
        names = [str(i + 1) for i in range(size)]
        return np.diag(per_joint(name, array, names, minimum=0.0))
    if array.shape != (size, size) or not np.isfinite(array).all():
        raise ArmError(f'{name} has shape {array.shape}; allowed: 1, {size} or {size} x {size}')
    if not np.array_equal(array, array.T):
        raise ArmError(f'{name} is not symmetric')
    smallest = float(np.linalg.eigvalsh(array).min())
    if smallest < 0.0:
        raise ArmError(f'{name} has the eigenvalue {smallest:g}; none may be negative')
    return array.copy()
