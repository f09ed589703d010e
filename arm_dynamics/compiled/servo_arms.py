"""Arms with position servos that differ in numbers of joints and masses of links."""

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array
from arm_dynamics.compiled.batch_forward_model import BatchForwardModel, SoftFriction
from arm_dynamics.compiled.forward_model import ForwardModelParameters
from arm_dynamics.compiled.joint_torques import (
    ARMATURE,
    DAMPING,
    FRICTION,
    FRICTION_INERTIA,
    SERVO_KD,
    SERVO_KP,
)
from arm_dynamics.compiled.lane_blocks import in_blocks
from arm_dynamics.compiled.lanes import inertia_values
from arm_dynamics.compiled.links import links_of
from arm_dynamics.model import RobotModel


class ServoArms(BatchForwardModel):
    """A batch whose arms are replaced often: `set` makes no model."""

    def __init__(self, model: RobotModel, soft_friction: SoftFriction | None = None):
        """Take the arm; `soft_friction` replaces exact Coulomb friction."""
        n, servo = model.nv, ForwardModelParameters(actuator='servo')
        rough = model.with_joints(model.armature, model.damping, np.ones(n))
        super().__init__([rough], servo, soft_friction)
        self._stiffness = soft_friction.stiffness if soft_friction else 0.0
        self._given = servo.table(model)
        # Inertias of links and mass matrix are linear in the links' masses.
        parts = []
        for i in range(n):
            alone = model.with_joints(0.0 * model.armature, model.damping, model.friction)
            for k in range(n):
                if k != i:
                    alone.pin_model.inertias[k + 1] = pin.Inertia.Zero()
            alone.pin_data = alone.pin_model.createData()
            parts.append((inertia_values(links_of(alone)), alone.mass_matrix(np.zeros(n))))
        self._inertias, self._masses = (np.array(each) for each in zip(*parts, strict=True))

    def set(
        self, kp: Array, kd: Array, friction: Array, rotors: Array, scales: Array, step: float
    ) -> None:
        """Replace the arms by N others; all arguments are (N, n).

        Args:
            kp, kd: gains of the servos [N.m/rad], [N.m.s/rad].
            friction: Coulomb friction, above 0 [N.m].
            rotors: rotor inertias [kg m^2].
            scales: masses and inertias of the links over those of the model.
            step: of the integration [s]; damping acts at the middle of each step.
        """
        self.size = len(kp)
        table = np.tile(self._given, (self.size, 1, 1))
        table[:, SERVO_KP], table[:, SERVO_KD] = kp, kd
        table[:, FRICTION] = friction
        # An implicit step takes damping at its end: as half a step's damping more inertia would.
        table[:, ARMATURE] = rotors - 0.5 * step * (kd + table[:, DAMPING])
        mass = np.tensordot(scales, self._masses, 1) + np.eye(self._n) * rotors[:, np.newaxis]
        table[:, FRICTION_INERTIA] = self._stiffness / np.linalg.inv(mass).diagonal(0, 1, 2)
        self._table, self._inertia = in_blocks(table), in_blocks(scales @ self._inertias)
        self._at_bound = np.zeros((len(self._table), self._table.shape[-1]))
        self.effort = np.zeros((self.size, self._n))
