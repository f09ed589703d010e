"""An arm that shares nothing with the package's plants: SciPy's DOP853 over Pinocchio."""

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]


class ForeignArm:
    """A continuous arm, read by Pinocchio from a URDF.

    Attributes:
        q, v: (n,) position [rad | m] and velocity.
    """

    def __init__(
        self,
        urdf: str,
        rotors: Array,
        torque: Callable[[Array, Array, Array], Array],
        accuracy: float = 1e-10,
    ):
        """Read an arm.

        Args:
            urdf: text.
            rotors: (n,) inertia of the rotors [kg m^2 | kg].
            torque: of a command, q and v (n,) each [N.m | N]: actuators and friction.
            accuracy: relative one of the integration.
        """
        self.model = pin.buildModelFromXML(urdf)
        self._data, self._rotors, self._torque = self.model.createData(), np.diag(rotors), torque
        self._tolerance = accuracy
        self.q, self.v = pin.neutral(self.model), np.zeros(self.model.nv)

    def acceleration(self, command: Array, q: Array, v: Array) -> Array:
        """Return dv/dt (n,) [rad/s^2 | m/s^2]."""
        upper = np.triu(pin.crba(self.model, self._data, q))
        mass = upper + np.triu(upper, 1).T + self._rotors
        bias = pin.nonLinearEffects(self.model, self._data, q, v)
        return np.linalg.solve(mass, self._torque(command, q, v) - bias)

    def move(self, command: Array, seconds: float, at: Array | None = None) -> Array:
        """Move under a held command; return positions (m, n) at times from now on (m,) [s]."""
        n, times = len(self.q), np.append([] if at is None else at, seconds)

        def rate(_: float, state: Array) -> Array:
            q, v = state[:n], state[n:]
            return np.concatenate([v, self.acceleration(command, q, v)])

        state = np.concatenate([self.q, self.v])
        tolerances = {'rtol': self._tolerance, 'atol': 0.01 * self._tolerance}
        found = solve_ivp(rate, (0.0, seconds), state, 'DOP853', times, **tolerances).y
        self.q, self.v = found[:n, -1].copy(), found[n:, -1].copy()
        return found[:n, :-1].T

    def tip(self, q: Array, frame: str) -> Array:
        """Return the position of a frame (3,) [m]."""
        pin.framesForwardKinematics(self.model, self._data, q)
        return self._data.oMf[self.model.getFrameId(frame)].translation.copy()
