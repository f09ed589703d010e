"""Bound of the time derivatives of joint torques: recursive Newton-Euler with norms.

Each quantity of the recursion is replaced by bounds of the norms of its time derivatives, orders
0 to 5 (a jet). Products of jets follow Leibniz' rule, (x y)^(k) = sum_l binom(k, l) x^(l) y^(k-l),
with every sign positive. The bounds hold for all directions of the axes and so for all
configurations: they need no sines, and no rounding to the outside beyond that of the caller.
"""

from math import comb

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiling import unlocked_njit
from arm_dynamics.model import RobotModel

ORDER = 5  # of the torque's derivative that is bounded
_RATES = ORDER + 2  # derivatives of the angular velocity are needed to this order
_BINOMIALS = np.array([[float(comb(k, j)) for j in range(_RATES + 1)] for k in range(_RATES + 1)])


class TorqueBound:
    """Bounds |d^5 tau / dt^5| of the rigid bodies of an arm whose links have at most some inertia.

    Rotor inertia and friction are left out: their torques are polynomials of time where q is one.
    """

    def __init__(self, model: RobotModel, links: Array):
        """Take an arm's geometry, and the links' parameters that may be added up.

        Args:
            model: of the arm.
            links: (k, 10 m) inertial parameters of k bodies, each at its largest share; see
                `RobotModel.inertial_parameters`.
        """
        pin_model, self._mimic = model.pin_model, model.mimic
        bodies = range(1, pin_model.njoints)
        subspaces = [np.ravel(pin_model.joints[i].createData().S) for i in bodies]
        self._prismatic = np.array([bool(each[:3].any()) for each in subspaces])
        self._parents = np.array([pin_model.parents[i] - 1 for i in bodies])
        places = [pin_model.jointPlacements[i] for i in bodies]
        self._offsets = np.array([np.linalg.norm(each.translation) for each in places])
        gravity = np.array(model.gravity)
        axes = [
            place.rotation @ (each[:3] if slides else each[3:])
            for place, each, slides in zip(places, subspaces, self._prismatic, strict=True)
        ]
        self._gravity = float(np.linalg.norm(gravity))
        self._turning = np.array([float(np.linalg.norm(np.cross(axis, gravity))) for axis in axes])
        self._inertia = sum(map(_norms, links)) + np.zeros((len(self._parents), 3))

    def __call__(self, rates: Array) -> Array:
        """Return the bound (k, n) [N.m/s^5 | N/s^5] on intervals of time.

        Args:
            rates: (k, 8, n) bounds of |d^j q / dt^j|, j = 0 to 7, on each interval.
        """
        if self._mimic is not None:
            rates = rates @ np.abs(self._mimic.matrix).T
            rates[:, 0] += np.abs(self._mimic.offset)
        result = np.zeros((len(rates), len(self._parents)))
        write_bounds(
            np.ascontiguousarray(rates), self._parents, self._prismatic, self._offsets,
            self._inertia, self._gravity, self._turning, _BINOMIALS, result,
        )  # fmt: skip
        return result if self._mimic is None else result @ np.abs(self._mimic.matrix)


def _norms(parameters: Array) -> Array:
    """Return mass, first moment and largest moment of inertia of each link (m, 3)."""
    rows = parameters.reshape(-1, 10)
    found = np.zeros((len(rows), 3))
    for row, each in zip(found, rows, strict=True):
        xx, xy, yy, xz, yz, zz = each[4:]
        moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        row[:] = abs(each[0]), np.linalg.norm(each[1:4]), np.abs(moments).max()
    return found


@unlocked_njit
def jet_product(x, y, orders, binomials, result):
    """Write the jet of a product."""
    for k in range(orders):
        total = 0.0
        for j in range(k + 1):
            total += binomials[k, j] * x[j] * y[k - j]
        result[k] = total


@unlocked_njit
def write_bounds(rates, parents, prismatic, offsets, inertia, gravity, turning, binomials, result):
    """Write the bounds of all intervals; see TorqueBound."""
    count, most = len(parents), binomials.shape[0] - 1
    orders = most - 1
    turn = np.zeros((count, most + 1))  # of each link's rotation in its parent
    spin = np.zeros((count, most + 1))  # angular velocity, in the link
    lift = np.zeros((count, orders))  # acceleration of the link's origin minus gravity
    reach = np.zeros((count, orders))  # of the link's origin in its parent
    force = np.zeros((count, orders))
    moment = np.zeros((count, orders))
    square, product, other = np.zeros(most + 1), np.zeros(most + 1), np.zeros(most + 1)
    still = np.zeros(most + 1)
    for m in range(rates.shape[0]):
        for i in range(count):
            slides, parent = prismatic[i], parents[i]
            turn[i] = 0.0
            turn[i, 0] = 1.0
            if not slides:
                for k in range(most):
                    for j in range(k + 1):
                        turn[i, k + 1] += binomials[k, j] * rates[m, j + 1, i] * turn[i, k - j]
            reach[i] = 0.0
            reach[i, 0] = offsets[i]
            if slides:
                for k in range(orders):
                    reach[i, k] += rates[m, k, i]
            if parent < 0:
                spin[i] = 0.0
                for k in range(orders):  # only gravity's part across the axis turns
                    lift[i, k] = turning[i] * turn[i, k]
                lift[i, 0] = gravity
            else:
                jet_product(turn[i], spin[parent], most, binomials, spin[i])
                # a + alpha x p + omega x (omega x p), in the parent, then turned
                jet_product(spin[parent], spin[parent], orders, binomials, square)
                for k in range(orders):
                    square[k] += spin[parent, k + 1]
                jet_product(square, reach[i], orders, binomials, product)
                for k in range(orders):
                    product[k] += lift[parent, k]
                if slides:  # 2 omega x z v
                    for k in range(orders):
                        still[k] = rates[m, k + 1, i]
                    jet_product(spin[parent], still, orders, binomials, other)
                    for k in range(orders):
                        product[k] += 2.0 * other[k]
                jet_product(turn[i], product, orders, binomials, lift[i])
            if slides:
                for k in range(orders):
                    lift[i, k] += rates[m, k + 2, i]
            else:
                for k in range(most):
                    spin[i, k] += rates[m, k + 1, i]
            # f = m a + alpha x h + omega x (omega x h), n = I alpha + omega x I omega + h x a
            jet_product(spin[i], spin[i], orders, binomials, square)
            for k in range(orders):
                square[k] += spin[i, k + 1]
                force[i, k] = inertia[i, 0] * lift[i, k] + inertia[i, 1] * square[k]
                moment[i, k] = inertia[i, 2] * square[k] + inertia[i, 1] * lift[i, k]
        for i in range(count - 1, -1, -1):
            result[m, i] = force[i, orders - 1] if prismatic[i] else moment[i, orders - 1]
            parent = parents[i]
            if parent >= 0:
                jet_product(turn[i], force[i], orders, binomials, product)
                jet_product(reach[i], product, orders, binomials, square)
                jet_product(turn[i], moment[i], orders, binomials, other)
                for k in range(orders):
                    force[parent, k] += product[k]
                    moment[parent, k] += other[k] + square[k]
