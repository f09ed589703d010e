"""Pushes on many arms, each its own: where, when, how hard."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from arm_dynamics.checks import Array
from arm_sim.loop.events import Push
from arm_sim.loop.many_arms import ManyArms


def pushes_of_each(
    pushes: Sequence[Push | None], period: float
) -> list[tuple[float, Callable[[ManyArms], ManyArms]]]:
    """Return the events for run_batch that push each of N arms as its own Push says.

    Args:
        pushes: (N,) one of each arm; None: it is not pushed.
        period: of the control [s]; starts and ends are at whole periods, as in the one-arm loop.
    """
    changes: dict[int, dict[str, list[tuple[int, tuple[float, ...]]]]] = {}
    for arm, push in enumerate(pushes):
        if push is None:
            continue
        ends = ((push.start, tuple(push.wrench)), (push.end, (0.0,) * 6))
        for time, wrench in ends:
            frames = changes.setdefault(round(time / period), {})
            frames.setdefault(push.frame, []).append((arm, wrench))
    now: dict[str, Array] = {}

    def apply(step: int, plant: ManyArms) -> ManyArms:
        if step == min(changes):  # of a new run
            now.clear()
        for frame, wrenches in changes[step].items():
            rows = now.setdefault(frame, np.zeros((len(pushes), 6)))
            for arm, wrench in wrenches:
                rows[arm] = wrench
            plant.apply_wrench(frame, rows.copy())
        return plant

    return [(step * period, partial(apply, step)) for step in sorted(changes)]
