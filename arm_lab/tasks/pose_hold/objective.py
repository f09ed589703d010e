"""How well gains hold the five-joint arm's pose, as published: the objective of the tuning."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, in_range
from arm_lab.published.five_joint_arm import JOINTS, FiveJointArm
from arm_lab.tasks.pose_hold import CONTROLLED, rollout

# Gains are listed as all P, then all I, then all D, each for the controlled joints R2, R3, R5.
TERMS = ('p', 'pi', 'pid')

TARGET = (0.0, -1.1, 0.3, 0.0, 0.0)  # [rad]
TIME_STEP = 1e-4  # [s]
DURATION = 3.0  # [s]

PUBLISHED_P = (1688.61035631972, 5529.51939064412, 5578.2466209947)
PUBLISHED_I = (11.7143467458887, 4.57248153380727, 0.451883276796821)

# The gains' relative errors against which a robust choice is tested.
OFF_BY = 0.1


class PoseHoldObjective:
    """J of any gains, compiled; many at once on all cores.

    The arm is at `target` (5,) [rad] with its motors off, and has to hold it for `duration`
    [s] under gravity: J = sum over steps and R2, R3, R5 of |target - q| [rad]; 9999999 where the
    arm blows up.
    """

    def __init__(
        self,
        target: ArrayLike = TARGET,
        duration: float = DURATION,
        time_step: float = TIME_STEP,
    ):
        """Load the arm. Raises ArmError for a time step [s] that is not stable."""
        self.target = np.asarray(target, dtype=float)
        if self.target.shape != (JOINTS,) or not np.isfinite(self.target).all():
            raise ArmError(f'target is {target!r}; it must be {JOINTS} finite angles [rad]')
        in_range('duration', duration, time_step, 3600.0)
        self.duration, self.time_step = duration, time_step
        self.steps = round(duration / time_step)
        self.arm = FiveJointArm(Path(rollout.__file__).read_text())
        self.arm.forward_model.check_step(time_step)
        self.workers = os.cpu_count() or 1
        self.cost(np.zeros(3), steps=1)

    def cost(self, gains: ArrayLike, steps: int = 0) -> float:
        """Return J of `gains` [V/rad]: 3 (P), 6 (P, I) or 9 (P, I, D), each for R2, R3, R5.

        `steps`: of the rollout; 0: all.

        Raises:
            ArmError: another count of gains, or one that is not finite.
        """
        forward, target = self.arm.forward_model, self.target
        state = forward.initial_state(target).reshape(-1, JOINTS)
        return forward.compiled.module.pose_hold_rollout(
            *state, np.zeros(JOINTS), self.time_step, steps or self.steps, forward.table,
            forward.new_scratch(), gain_matrix(gains), target, CONTROLLED, np.zeros((2, JOINTS)),
        )  # fmt: skip

    def costs(self, batch: ArrayLike) -> Array:
        """Return J of every row of gains (count, 3 | 6 | 9), on all cores."""
        with ThreadPoolExecutor(self.workers) as pool:
            return np.array(list(pool.map(self.cost, np.asarray(batch, dtype=float))))


def perturbed(gains: ArrayLike) -> Array:
    """Return gains off by +-OFF_BY: all of them, all P, I or D of them, and each alone (rows)."""
    gains = np.asarray(gains, dtype=float)
    groups = [np.ones(gains.size)]
    if gains.size > 3:
        groups += list(np.repeat(np.eye(gains.size // 3), 3, axis=1))
    groups += list(np.eye(gains.size))
    factors = (1.0 + sign * OFF_BY * group for group in groups for sign in (1, -1))
    return np.array([gains * factor for factor in factors])


def gain_matrix(gains: ArrayLike) -> Array:
    """Return gains (3 | 6 | 9,) as a matrix (3, 5): rows P, I, D, columns the joints.

    Raises:
        ArmError: another count, or a gain that is not finite.
    """
    gains = np.asarray(gains, dtype=float)
    if gains.shape not in ((3,), (6,), (9,)):
        raise ArmError(
            f'{gains.size} gains given; allowed: 3 (P of R2, R3, R5), 6 (and I) or 9 (and D)'
        )
    bad = np.flatnonzero(~np.isfinite(gains))
    if bad.size:
        raise ArmError(f'gain {bad[0] + 1} is {gains[bad[0]]}; it must be finite')
    matrix = np.zeros((3, JOINTS))
    matrix[: gains.size // 3, CONTROLLED] = gains.reshape(-1, 3)
    return matrix
