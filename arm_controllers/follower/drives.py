"""The torque that a motion asks of the drives, which move their own rotors as well."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_dynamics.checks import per_joint
from arm_dynamics.model import RobotModel

Array = NDArray[np.float64]


class Drives:
    """tau = M(q) a + C(q, v) v + g(q) + armature a + damping v.

    Attributes:
        armature: (n,) rotor inertia seen at the joint [kg m^2 | kg].
        damping: (n,) viscous friction [N.m.s/rad | N.s/m].
        limit: (n,) largest torque [N.m | N].
    """

    def __init__(self, model: RobotModel, armature: ArrayLike, damping: ArrayLike = ()):
        """Take one number for all joints or one a joint; an empty `damping` is the URDF's.

        Raises:
            ArmError: a number that is negative or not finite, or a wrong count.
        """
        names = model.joint_names
        self._model = model
        self.armature = per_joint('armature', armature, names, minimum=0.0)
        damping = damping if np.size(damping) else model.damping
        self.damping = per_joint('damping', damping, names, minimum=0.0)
        self.limit = model.effort_limit

    def torque(self, q: Array, v: Array, a: Array) -> Array:
        """Return the torque (n,) [N.m | N] for one state and acceleration."""
        return self._model.inverse_dynamics(q, v, a) + self.armature * a + self.damping * v

    def torques(self, q: Array, v: Array, a: Array) -> Array:
        """Return the torques (k, n) for k states and accelerations, each (k, n)."""
        links = [self._model.inverse_dynamics(*row) for row in zip(q, v, a, strict=True)]
        return np.array(links) + self.armature * a + self.damping * v
