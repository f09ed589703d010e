"""Analytic: all solutions of a six-axis arm in closed form, by the EAIK library.

EAIK (Ostermeier, Kuelz, Althoff 2025, "Automatic Geometric Decomposition for Analytical Inverse
Kinematics") solves arms with a spherical wrist, or with three parallel or suitably intersecting
axes. This module gives EAIK the joint axes and offsets of Pinocchio's model, so that the solutions
belong to the URDF in use.
"""

import importlib.util

import numpy as np

from arm_dynamics.checks import ArmError, Array, typed
from arm_dynamics.inverse_kinematics.solver import Solutions, Solver
from arm_dynamics.inverse_kinematics.task import IkTask
from arm_dynamics.kinematics.chain import Chain
from arm_dynamics.kinematics.compiled_kinematics import chain_pose
from arm_dynamics.model import RobotModel


class Analytic(Solver):
    """Up to eight solutions, including least-squares ones, for full poses of six joints.

    Attributes:
        robot: EAIK's robot.
        family: EAIK's name of the geometry.
    """

    starts_at_once = 0
    polish = True  # near a singularity

    def __init__(self, model: RobotModel, chain: Chain):
        """Give the chain's axes, and the offsets between them at q = 0, to EAIK.

        Raises:
            ArmError: EAIK does not solve the geometry, or misses the configuration itself among
                the solutions at random configurations.
        """
        install = typed('pip install EAIK')
        self._refusal = ArmError(
            f'no closed-form solver for {chain.frame!r} of {model.name!r}: it needs six revolute '
            f'joints of a geometry that EAIK knows, EAIK installed ({install}), and '
            'a full pose'
        )
        if chain.n != 6 or chain.prismatic.any() or importlib.util.find_spec('eaik') is None:
            raise self._refusal
        from eaik.pybindings import EAIK

        tip, axes = np.eye(4), np.empty((6, 6))
        chain_pose(chain.arrays, np.zeros(6), tip, axes)
        offsets = np.diff([np.zeros(3), *axes[:, 3:], tip[:3, 3]], axis=0)
        self.robot = EAIK.Robot(axes[:, :3].T, offsets.T, tip[:3, :3], [], True)
        if not self.robot.has_known_decomposition():
            raise self._refusal
        self.family = str(self.robot.get_kinematic_family())
        rng = np.random.default_rng(0)
        for _ in range(10):
            q = model.random_configuration(rng)
            candidates = self.candidates(model.forward_kinematics(q, chain.frame).homogeneous)
            apart = np.remainder(candidates - q[chain.joints] + np.pi, 2 * np.pi) - np.pi
            if not (np.abs(apart).max(axis=1, initial=0.0) < 1e-6).any():
                raise self._refusal

    def candidates(self, target: Array) -> Array:
        """Return candidate solutions (m, 6) [rad], m from 0 to 8, for a target pose (4, 4).

        Least-squares ones (the target is out of reach for that branch) are among them: check each
        with forward kinematics. Angles are within one turn; limits are not looked at.
        """
        solutions = self.robot.calculate_IK(target).Q
        return solutions if len(solutions) else np.empty((0, 6))

    def solve(self, target: Array, task: IkTask, starts: Array) -> Solutions:
        """Propose all candidates; `starts` has no effect."""
        if not task.full_pose:
            raise self._refusal
        return Solutions(self.candidates(target))
