"""Phases and memory of the supervisor; whether readings that do not change are frozen."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_tools.driving.supervisor_limits import SupervisorLimits

WAITING, DRIVING, STOPPED = range(3)  # phases
_RATE_PERIODS = 50.0  # time constant of the mean period of the states [control periods]
# Readings flicker where more than this share of the last ones turned round; their number [1].
_FLICKERS, _TURNS = 0.5, 20.0
_STICKS = 0.2  # of the tracking error, within which friction may hold a joint [1]


class SupervisorState(NamedTuple):
    """Memory of the supervisor.

    Attributes:
        phase: (..., 1) WAITING, DRIVING or STOPPED.
        since: (..., 1) time in this phase; while WAITING, time at rest [s].
        q, v: (..., n) the newest reading [rad | m], [rad/s | m/s].
        sent: (..., n) the newest command.
        aim: (..., n) position that the law followed, behind the ramp [rad | m].
        rate: (..., n) speed at which commands lead the arm, by effort that of `aim` [rad/s | m/s].
        way: (..., n) how far they have led each joint since a reading changed [rad | m].
        left: (..., n) mean speed of each joint between its two newest readings that differ
            [rad/s | m/s].
        stop_q, stop_v: (..., n) where and how fast the stop began; before, where the arm is held.
        blind: (..., 1) whether the readings cannot be used any more.
        still: (..., n) time since each joint's reading changed [s].
        frozen: (..., 1) time in which no reading has changed although one should [s].
        turns: (..., 1) share of the periods in which a position turned round [1].
        flickers: (..., 1) whether readings turn round at rest, too, as those with noise do.
        period: (..., 1) mean period of the states [s].
        seen: (..., 2, k, n) values and limits of the checks in the newest period of DRIVING.
    """

    phase: NDArray[np.int_]
    since: Array
    q: Array
    v: Array
    sent: Array
    aim: Array
    rate: Array
    way: Array
    left: Array
    stop_q: Array
    stop_v: Array
    blind: NDArray[np.bool_]
    still: Array
    frozen: Array
    turns: Array
    flickers: NDArray[np.bool_]
    period: Array
    seen: Array


def waited(
    kept: SupervisorLimits, state: SupervisorState, q: Array, v: Array, dt: float, gap: Array
) -> SupervisorState:
    """Return the memory after another period: mean period, time in the phase, frozen joints.

    Only a position shows motion: the velocity of a robot that sends none is computed from
    positions. At rest a velocity that flickers shows that the readings live.
    """
    rests = np.maximum(np.abs(v), np.abs(state.v)) <= kept.parameters.rest_speed
    moved = q != state.q
    changed = moved | ((v != state.v) & rests)
    since = state.still + gap
    alive = changed.any(axis=-1, keepdims=True)
    turns = ((q - state.q) * state.left < 0.0).any(axis=-1, keepdims=True)
    share = state.turns + (turns - state.turns) / _TURNS
    waits = state.phase == WAITING
    state = state._replace(
        period=state.period + (np.minimum(gap, 1.0) - state.period) / _RATE_PERIODS,
        since=state.since + dt,
        left=np.where(moved, (q - state.q) / since, state.left),
        turns=share,
        way=np.where(alive, 0.0, state.way),
        still=np.where(changed, 0.0, since),
        flickers=np.where(waits, share > _FLICKERS, state.flickers),
    )
    frozen = _should_move(kept, state, v, dt) & ~alive & ~waits
    return state._replace(frozen=np.where(frozen, state.frozen + gap, 0.0))


def _should_move(
    kept: SupervisorLimits, state: SupervisorState, v: Array, dt: float
) -> NDArray[np.bool_]:
    """Return whether a reading should have changed (..., 1).

    One should where readings flicker at rest; where a speed is read; where the newest change of a
    reading was faster than a stop at `deceleration` ends within a period; and where commands have
    led a joint, before the latency, farther than friction may hold it. By effort the law's
    reference leads.
    """
    p = kept.parameters
    led = state.way - np.abs(state.rate) * (p.latency + dt)
    should = np.abs(v) > p.rest_speed
    should |= np.abs(state.left) > 2.0 * (p.rest_speed + p.deceleration * dt)
    should |= led > _STICKS * p.tracking_error
    moves: NDArray[np.bool_] = state.flickers | should.any(axis=-1, keepdims=True)
    return moves
