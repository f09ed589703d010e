"""The functions of RobotModel for many arms together."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import Array
from arm_dynamics.compiled.compiled_model import load_module
from arm_dynamics.compiled.lane_blocks import in_blocks
from arm_dynamics.compiled.lanes import (
    derivatives_source,
    dynamics_source,
    frame_source,
    inertia_values,
    regressor_source,
)
from arm_dynamics.compiled.links import links_of
from arm_dynamics.frames import FrameMotion
from arm_dynamics.model import RobotModel


class BatchModel(RobotModel):
    """A RobotModel whose dynamics take arrays (..., n), as laws for many arms need.

    An arm's result depends neither on the other arms nor on their number, to the last bit. The
    code is generated for a geometry and compiled once; inertial parameters are arguments. Unlike
    RobotModel's, these functions are thread-safe.
    """

    def __init__(self, model: RobotModel):
        """Copy the attributes of `model`; its code is generated or loaded at the first call."""
        vars(self).update(vars(model))
        self._links = links_of(model)
        self._inertia = in_blocks(inertia_values(self._links)[np.newaxis])
        self._modules: dict[str, ModuleType] = {}

    @property
    def dynamics(self) -> ModuleType:
        """The generated module; see lanes.py."""
        return self._module('', lambda: dynamics_source(self._links, self.gravity))

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M(q) + A (..., n, n)."""
        m = self._call(self.dynamics.mass_matrix_of_many, (self.nv, self.nv), q, self._inertia)
        m.reshape(-1, self.nv**2)[:, :: self.nv + 1] += self.armature
        return m

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return C(q, v) (..., n, n) with Mdot - 2 C skew-symmetric."""
        shape = (self.nv, self.nv)
        return self._call(self.dynamics.coriolis_matrix_of_many, shape, q, v, self._inertia)

    def gravity_torque(self, q: ArrayLike) -> Array:
        """Return g(q) (..., n)."""
        return self._rigid_bodies(q, 0.0, 0.0)

    def bias_torque(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return C(q, v) v + g(q) (..., n)."""
        return self._rigid_bodies(q, v, 0.0)

    def inverse_dynamics(  # type: ignore[override]  # no external forces
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike
    ) -> Array:
        """Return tau = (M(q) + A) a + C(q, v) v + g(q) + friction_torque(v) (..., n)."""
        tau = self._rigid_bodies(q, v, a)
        if self.armature.any():
            tau += self.armature * np.asarray(a, dtype=float)
        if self.has_friction:
            tau += self.friction_torque(v)
        return tau

    def torque_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike
    ) -> tuple[Array, Array, Array, Array]:
        """Return tau (..., n) of the rigid bodies, and dtau/dq, dtau/dv, M(q) (..., n, n).

        tau = M(q) a + C(q, v) v + g(q), without A and friction. The accelerations of
        `forward_dynamics` have da/dq = -(M + A)^-1 dtau/dq, and so for v.
        """
        module = self._module('d', lambda: derivatives_source(self._links, self.gravity))
        n = self.nv
        row = self._call(module.derivatives_of_many, (n + 3 * n * n,), q, v, a, self._inertia)
        parts = row[..., n:].reshape(*row.shape[:-1], 3, n, n)
        return row[..., :n], parts[..., 0, :, :], parts[..., 1, :, :], parts[..., 2, :, :]

    def regressor(self, q: Array, v: Array, w: Array, dw: Array) -> Array:
        """Return Y (..., n, 10 m) with Y pi = M(q) dw + C(q, v) w + g(q), without A."""
        module = self._module('Y', lambda: regressor_source(self._links, self.gravity))
        mean, half = 0.5 * (v + w), 0.5 * (v - w)
        shape = (self.nv, 10 * len(self._links))
        return self._call(module.regressor_of_many, shape, q, mean, half, dw)

    def poses(self, q: ArrayLike, frame: str | None = None) -> tuple[Array, Array]:
        """Return rotations (..., 3, 3) and origins (..., 3) [m] of a frame in the base frame."""
        row = self._call(self._frame(frame).pose_of_many, (12,), q)
        return row[..., :9].reshape(*row.shape[:-1], 3, 3), row[..., 9:]

    def jacobian(self, q: ArrayLike, frame: str | None = None) -> Array:
        """Return J (..., 6, n), as RobotModel's."""
        return self._call(self._frame(frame).jacobian_of_many, (6, self.nv), q)

    def frame_motion(self, q: Array, v: Array, a: Array, frame: str | None = None) -> FrameMotion:
        """Return pose, velocity and acceleration of a frame (None: the tool frame)."""
        row = self._call(self._frame(frame).motion_of_many, (24,), q, v, a)
        rotation, position, velocity, acceleration = np.split(row, (9, 12, 18), axis=-1)
        turn = rotation.reshape(*row.shape[:-1], 3, 3)
        return FrameMotion(turn, position, velocity, acceleration)

    def wrench_torque(self, q: ArrayLike, wrench: Array, frame: str | None = None) -> Array:
        """Return J^T w (..., n) of wrenches (..., 6) at a frame's origin, base-aligned axes."""
        function = self._frame(frame).wrench_torque_of_many
        q = np.asarray(q, dtype=float)
        wrench = np.ascontiguousarray(np.broadcast_to(wrench, (*q.shape[:-1], 6)))
        result = np.empty(q.shape)
        rows = (np.ascontiguousarray(each).reshape(-1, each.shape[-1]) for each in (q, wrench))
        function(*rows, result.reshape(-1, self.nv))
        return result

    def _rigid_bodies(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        function = self.dynamics.inverse_dynamics_of_many
        return self._call(function, (self.nv,), q, v, a, self._inertia)

    def _call(
        self, function: Callable[..., object], shape: tuple[int, ...], *arguments: object
    ) -> Array:
        """Return (..., *shape) of a generated function; the inertia, if any, comes last."""
        others = arguments[-1:] if arguments[-1] is self._inertia else ()
        arrays = [np.asarray(x, dtype=float) for x in arguments[: len(arguments) - len(others)]]
        whole = arrays[0].shape
        if any(each.shape != whole for each in arrays):
            whole = np.broadcast_shapes(*(each.shape for each in arrays))
            arrays = [np.broadcast_to(each, whole) for each in arrays]
        rows = [np.ascontiguousarray(each).reshape(-1, whole[-1]) for each in arrays]
        result = np.empty((*whole[:-1], *shape))
        function(*rows, *others, result.reshape(len(rows[0]), -1))
        return result

    def _frame(self, frame: str | None) -> ModuleType:
        key = f'frame {self.frame_id(frame)}'
        if key in self._modules:
            return self._modules[key]
        pin_frame = self.pin_model.frames[self.frame_id(frame)]
        link = pin_frame.parentJoint - 1
        turn = self._links[link].turn if link >= 0 else np.eye(3)
        rotation = turn.T @ pin_frame.placement.rotation
        point = turn.T @ pin_frame.placement.translation
        return self._module(key, lambda: frame_source(self._links, link, rotation, point))

    def _module(self, key: str, source: Callable[[], str]) -> ModuleType:
        if key not in self._modules:
            self._modules[key] = load_module(source(), self.name)
        return self._modules[key]
