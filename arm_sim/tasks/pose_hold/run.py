"""Holding a pose without ROS: what a controller does to a plant, and how well."""

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl

mpl.use('Agg')
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_controllers.laws import Law
from arm_controllers.reference import Reference
from arm_sim.plants.plant import Plant
from arm_sim.tasks.pose_hold.objective import CONTROLLED
from arm_sim.tasks.pose_hold.rollout import BLOW_UP_COST, BLOW_UP_ERROR

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PoseHoldRun:
    """A held pose.

    Attributes:
        target: (n,) pose to hold [rad].
        time: (k,) [s] of every state, the start first.
        q: (k, n) positions [rad].
        cost: J, the summed absolute error of the counted joints over all states but the start
            [rad]; 9999999 where it blew up.
    """

    target: Array
    time: Array
    q: Array
    cost: float

    @classmethod
    def of(cls, target: ArrayLike, period: float, q: ArrayLike) -> 'PoseHoldRun':
        """Judge positions q (k, n), one every `period` [s]."""
        target, q = np.array(target, dtype=np.float64), np.array(q, dtype=np.float64)
        errors = np.abs(target - q[1:])[:, CONTROLLED]
        # Joint by joint and step by step, as the objective sums: the same number to the last bit.
        steps = np.zeros(len(errors))
        for column in errors.T:
            steps += column
        # Written so that an error that is not a number has blown up as well.
        blown_up = not (steps <= BLOW_UP_ERROR).all()
        cost = BLOW_UP_COST if blown_up else float(np.add.accumulate(steps)[-1])
        time = np.asarray(period * np.arange(len(q)), dtype=np.float64)
        return cls(target, time, q, cost)

    @property
    def worst_error(self) -> Array:
        """Largest error (n,) of each joint [rad]."""
        return np.abs(self.q - self.target).max(axis=0)

    @property
    def final_error(self) -> Array:
        """Error (n,) of each joint at the end [rad]."""
        return np.abs(self.q[-1] - self.target)


def hold(
    plant: Plant, law: Law, target: ArrayLike, duration: float, start: ArrayLike | None = None
) -> PoseHoldRun:
    """Start `plant` at rest at `start`, the target by default, and let `law` hold `target` (n,).

    Ends after `duration` [s], or early where the arm blows up.
    """
    period = plant.parameters.period_ns * 1e-9
    plant.reset(target if start is None else start)
    law.reset(plant.q, plant.v)
    reference = Reference(len(plant.joint_names))
    reference.q[:] = target
    rows = [plant.q.copy()]
    for _ in range(round(duration / period)):
        plant.step(law(plant.q, plant.v, reference, period))
        rows.append(plant.q.copy())
        if not np.abs(rows[-1] - reference.q).max() <= BLOW_UP_ERROR:
            break
    return PoseHoldRun.of(target, period, rows)


def draw(path: str | Path, runs: dict[str, PoseHoldRun], title: str) -> None:
    """Write a picture of the counted joints' errors over time, one curve a run."""
    figure, axes = plt.subplots(len(CONTROLLED), sharex=True, figsize=(8, 7))
    for axis, joint in zip(axes, CONTROLLED, strict=True):
        for name, run in runs.items():
            error = np.abs(run.q[:, joint] - run.target[joint])
            axis.semilogy(run.time, np.maximum(error, 1e-12), label=name, linewidth=1)
        axis.set_ylabel(f'|error| of r{joint + 1} [rad]')
        axis.grid(alpha=0.3)
    axes[0].set_title(title)
    axes[0].legend(loc='upper right')
    axes[-1].set_xlabel('time [s]')
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
