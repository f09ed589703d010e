"""All inverse kinematics solutions of a six-axis arm in closed form, by the EAIK library.

EAIK (Ostermeier, Kuelz, Althoff 2025, "Automatic Geometric Decomposition for Analytical Inverse
Kinematics") knows arms whose wrist is spherical or which have three parallel or suitably
intersecting axes. Here it is given joint axes and offsets read off Pinocchio's model, so the
solutions belong to exactly the URDF in use.
"""

import importlib.util

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from arm_dynamics.kinematics.chain import Chain
from arm_dynamics.model import RobotModel

Array = NDArray[np.float64]


class AnalyticSolver:
    """Closed-form solutions of one chain; make it with `analytic_solver`."""

    def __init__(self, model: RobotModel, chain: Chain):
        """Hand the chain's axes (base frame, q = 0) and the offsets between them to EAIK."""
        from eaik.pybindings import EAIK

        origins, axes, last = [], [], np.zeros(3)
        zero = np.zeros(model.nq)
        home = model.forward_kinematics(zero, chain.frame)
        tip, rotation = home.translation.copy(), home.rotation.copy()
        columns = pin.computeJointJacobians(model.pin_model, model.pin_data, model.to_pin(zero))
        for index in chain.joints:  # one coordinate a joint; joint 0 is Pinocchio's universe
            axes.append(columns[3:, index])
            origin = model.pin_data.oMi[int(index) + 1].translation.copy()
            origins.append(origin - last)
            last = origin
        origins.append(tip - last)
        self._robot = EAIK.Robot(np.array(axes).T, np.array(origins).T, rotation, [], True)

    @property
    def known(self) -> bool:
        """Whether EAIK has a decomposition for this geometry."""
        return bool(self._robot.has_known_decomposition())

    @property
    def family(self) -> str:
        """EAIK's name of the geometry."""
        return str(self._robot.get_kinematic_family())

    def candidates(self, target: Array) -> Array:
        """Return candidate solutions (m, n) [rad], m from 0 to 8, for a target pose (4, 4).

        Least-squares ones (the target is out of reach for that branch) are among them: check each
        with forward kinematics. Angles are within one turn; limits are not looked at.
        """
        solutions = self._robot.calculate_IK(target).Q
        return np.ascontiguousarray(solutions) if len(solutions) else np.empty((0, 6))


def analytic_solver(model: RobotModel, chain: Chain) -> AnalyticSolver | None:
    """Return the closed-form solver of a chain, or None where there is none.

    There is one for six revolute joints whose geometry EAIK knows, if EAIK is installed and if,
    at random configurations, the configuration itself is among its solutions.
    """
    if chain.n != 6 or chain.prismatic.any() or importlib.util.find_spec('eaik') is None:
        return None
    solver = AnalyticSolver(model, chain)
    if not solver.known:
        return None
    rng = np.random.default_rng(0)
    for _ in range(10):
        q = model.random_configuration(rng)
        candidates = solver.candidates(model.forward_kinematics(q, chain.frame).homogeneous)
        apart = np.remainder(candidates - q[chain.joints] + np.pi, 2 * np.pi) - np.pi
        if not (np.abs(apart).max(axis=1, initial=0.0) < 1e-6).any():
            return None
    return solver
