"""The dynamics as a linear function of the links' inertial parameters."""

import numpy as np
import pinocchio as pin

from arm_dynamics.arrays import Array

_PAYLOAD_RADIUS = 0.05  # [m]


class InertialParameters:
    """Y pi = M dw + C w + g, with pi (10 n,) the inertial parameters of the n moving links.

    A link has ten: m, m c, and the inertia about the joint frame's origin (Ixx, Ixy, Iyy, Ixz,
    Iyz, Izz), as Pinocchio has them. Rotors and friction are no part of it.
    """

    def __init__(self, pin_model: pin.Model):
        """Take Pinocchio's model of the arm."""
        self._models = pin_model, pin_model.copy()
        self._models[1].gravity.linear = np.zeros(3)
        self._data = [model.createData() for model in self._models]
        self._at_rest = np.zeros(pin_model.nv)

    def of_links(self, frame_id: int, payload: float) -> Array:
        """Return pi (10 n,) with a ball of this mass [kg] on the frame with this index."""
        links = list(self._models[0].inertias[1:])
        frame = self._models[0].frames[frame_id]
        ball = pin.Inertia.FromSphere(payload, _PAYLOAD_RADIUS)
        links[frame.parentJoint - 1] += frame.placement.act(ball)
        return np.concatenate([link.toDynamicParameters() for link in links])

    def regressor(self, pin_q: Array, v: Array, w: Array, dw: Array) -> Array:
        """Return Y (n x 10 n) with Y pi = M(q) dw + C(q, v) w + g(q).

        C(q, x) y is bilinear and symmetric in x and y, so that
        C(q, v) w = C(q, m) m - C(q, d) d with m = (v + w)/2, d = (v - w)/2.
        """
        (model, weightless), (data, other_data) = self._models, self._data
        whole = pin.computeJointTorqueRegressor(model, data, pin_q, 0.5 * (v + w), dw).copy()
        whole -= pin.computeJointTorqueRegressor(
            weightless, other_data, pin_q, 0.5 * (v - w), self._at_rest
        )
        return whole
