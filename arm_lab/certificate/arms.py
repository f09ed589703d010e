"""The arms for which a goal is certified: those of `Ranges`, as a set instead of draws."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, links_with_mass, with_error
from arm_dynamics.torque_bound import TorqueBound
from arm_lab.experiments.ranges import Ranges

_ZERO = 1e-9  # speeds up to this may be standstill, rounded [rad/s | m/s]


class UncertainArm:
    """All arms whose masses, friction, effort limits and payload are within ranges.

    Torque is linear in the inertial parameters. With s_e in -1..1 for each of E bodies, the links
    and the payload, the parameters of an arm are

        pi = sum_e (centre_e + spread_e s_e) pi_e,

    so that the torque of the worst arm is centre . tau + spread . |tau|, with tau_e = Y pi_e:
    exact, because the bodies' errors are independent. Only the payload's inertia about its own
    centre, which grows with mass^(5/3), is a body of its own here: larger than the exact set by
    this small part.

    Attributes:
        model: of the controller.
        parameters: (E, 10 m) pi_e.
        centre, spread: (E,).
        friction: (n,) largest Coulomb friction; the smallest is 0 [N.m | N].
        effort_limit: (n,) of the weakest arm [N.m | N].
        bound: of the torque's derivatives, for all arms.
    """

    def __init__(self, model: RobotModel, ranges: Ranges):
        """Take a controller's model and what may differ from it."""
        self.model, self.ranges = model, ranges
        whole = model.inertial_parameters()
        self._links = len(links_with_mass(model)) if ranges.mass else 0
        bodies = [
            _of(model, ModelError(mass_scale=tuple(1.0 + np.eye(self._links)[k]))) - whole
            for k in range(self._links)
        ] or [whole]
        centre, spread = np.ones(len(bodies)), np.full(len(bodies), ranges.mass)
        if ranges.payload:
            ball = _of(model, ModelError(payload=ranges.payload)) - whole
            turning = np.zeros_like(ball)
            joint = model.pin_model.frames[model.frame_id(model.tip_frame)].parentJoint - 1
            mass, *moment = ball[10 * joint : 10 * joint + 4]
            inertia = ball[10 * joint + 4 : 10 * joint + 10]
            own = (inertia[[0, 2, 5]].sum() - 2.0 * np.square(moment).sum() / mass) / 3.0
            turning[10 * joint + np.array([4, 6, 9])] = own
            bodies += [ball - turning, turning]
            centre, spread = (np.append(each, [0.5, 0.5]) for each in (centre, spread))
        self.parameters, self.centre, self.spread = np.array(bodies), centre, spread
        limit = model.effort_limit
        given = np.where(np.isfinite(limit), ranges.friction * limit, 0.0)
        self.friction = given if ranges.friction else model.friction
        self.effort_limit = ranges.effort * limit
        most = (self.centre + self.spread)[:, np.newaxis] * self.parameters
        self.bound = TorqueBound(model, most)
        self._batch = BatchModel(model)

    def torques(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Return torques without Coulomb friction at states, each (k, n).

        They are the torque at the centre of the inertias (k, n), and tau_e (k, n, E).
        """
        # State by state: one large product would wake the threads of BLAS.
        bodies = self._batch.regressor(q, v, v, a) @ self.parameters.T
        return bodies @ self.centre + self.model.armature * a + self.model.damping * v, bodies

    def torque_range(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Return the least and the largest torque (k, n) of any arm at states, each (k, n)."""
        torque, bodies = self.torques(q, v, a)
        spread, (low, high) = np.abs(bodies) @ self.spread, self.friction_torques(v)
        return torque - spread + low, torque + spread + high

    def friction_torques(self, v: Array) -> tuple[Array, Array]:
        """Return the least and the largest torque of Coulomb friction at v (..., n).

        It does not fade at low speeds; at standstill it acts in either direction.
        """
        return -self.friction * (v <= _ZERO), self.friction * (v >= -_ZERO)

    def needed(self, joint: int, torque: float, bodies: Array, v: float) -> float:
        """Return the largest |torque| of a joint of any arm whose payload is 0 or the largest.

        Arguments as `torques` returns them, of one joint; `v`: its velocity [rad/s | m/s].
        """
        low, high = (
            float(each[joint]) for each in self.friction_torques(np.full(self.model.nv, v))
        )
        sums, links = [0.0], len(bodies)
        if self.ranges.payload:  # both of its bodies are there, or none
            links -= 2
            half = float(self.spread[links:] @ bodies[links:])
            sums = [-half, half]
        spread = float(np.abs(bodies[:links]) @ self.spread[:links])
        return max(max(torque + x + high, -torque - x - low) for x in sums) + spread

    def error(self, torques: Array, sign: float, v: float) -> ModelError:
        """Return the error of the arm with the largest torque of a sign.

        Args:
            torques: (E,) tau_e of the joint.
            sign: a number with the sign of the torque.
            v: velocity of the joint [rad/s | m/s]: friction that helps is left out.
        """
        share = np.where(torques * sign >= 0.0, 1.0, -1.0)
        scales = (self.centre + self.spread * share)[: self._links]
        payload = 0.0
        if self.ranges.payload and share[-2] > 0.0:
            payload = self.ranges.payload
        friction = self.friction if v * sign >= -_ZERO else np.zeros_like(self.friction)
        return ModelError(
            mass_scale=tuple(scales.tolist()) or (1.0,),
            payload=payload,
            friction=tuple(friction.tolist()) if self.friction.any() else (),
            effort_scale=self.ranges.effort,
        )


def _of(model: RobotModel, error: ModelError) -> Array:
    return with_error(model, error).inertial_parameters()
