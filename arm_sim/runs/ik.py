"""Inverse kinematics as tasks ask for it: here at once, over topics by the services of a node."""

from typing import NamedTuple, Protocol

import pinocchio as pin

from arm_dynamics.model import Array, RobotModel


class IkAnswer(NamedTuple):
    """Joint positions for one pose or for a path, or why there are none.

    Attributes:
        q: (n,) for a pose, (m, n) for a path [rad | m].
        reason: empty on success.
        position_error: largest [m].
        orientation_error: largest [rad].
    """

    q: Array
    reason: str
    position_error: float
    orientation_error: float


class Ik(Protocol):
    """Who solves."""

    def pose(self, target: pin.SE3, seed: Array, tolerances: tuple[float, float]) -> IkAnswer:
        """Find q near `seed` (n,) for one pose, to tolerances [m], [rad]."""

    def path(self, poses: Array, seed: Array, tolerances: tuple[float, float]) -> IkAnswer:
        """Find one continuous joint path through poses (m, 4, 4), its start near `seed`."""


class DirectIk:
    """Solves in this process."""

    def __init__(self, model: RobotModel):
        """Solve for this arm."""
        self._model = model

    def pose(self, target: pin.SE3, seed: Array, tolerances: tuple[float, float]) -> IkAnswer:
        """See `Ik`."""
        from arm_dynamics.inverse_kinematics.solve import solve_ik

        position, orientation = tolerances
        found = solve_ik(
            self._model,
            target,
            seed,
            position_tolerance=position,
            orientation_tolerance=orientation,
        )
        reason = '' if found.success else found.reason
        return IkAnswer(found.q, reason, found.position_error, found.orientation_error)

    def path(self, poses: Array, seed: Array, tolerances: tuple[float, float]) -> IkAnswer:
        """See `Ik`."""
        from arm_dynamics.inverse_kinematics.path import solve_path_ik

        position, orientation = tolerances
        found = solve_path_ik(
            self._model,
            poses,
            seed,
            position_tolerance=position,
            orientation_tolerance=orientation,
        )
        reason = '' if found.success else found.reason
        return IkAnswer(found.q, reason, found.max_position_error, found.max_orientation_error)
