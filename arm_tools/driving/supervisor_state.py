"""Phases and memory of the supervisor; whether readings that do not change are frozen."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_tools.driving.supervisor_limits import SupervisorLimits

WAITING, DRIVING, STOPPED = range(3)  # phases
_RATE_PERIODS = 50.0  # time constant of the mean period of the states [control periods]
# Readings flicker where more than this share of the last ones turned round; their number [1].
_FLICKERS, _TURNS = 0.3, 20.0
_EQUAL = 0.01  # steps that differ less, as a share, are those of a coarse encoder [1]
# Of the tracking error, within which friction may hold the arm, and one joint under effort [1].
_STICKS, _STICKS_ALONE = 0.2, 0.5
_MOVES = 0.1  # of the way that commands have led it, from which on a joint follows [1]
_REMEMBERED = 0.2  # time constant of what positions and velocities have moved [s]


class SupervisorState(NamedTuple):
    """Memory of the supervisor.

    Attributes:
        phase: (..., 1) WAITING, DRIVING or STOPPED.
        since: (..., 1) time in this phase; while WAITING, time at rest [s].
        q, v: (..., n) the newest reading [rad | m], [rad/s | m/s].
        sent: (..., n) the newest command.
        aim: (..., n) position that the law followed, behind the ramp [rad | m].
        rate: (..., n) speed at which commands lead the arm, by effort that of `aim` [rad/s | m/s].
        way: (..., n) how far they have led each joint since it was seen to follow [rad | m].
        anchor: (..., n) where each joint was then [rad | m].
        left: (..., n) mean speed of each joint between its two newest readings that differ
            [rad/s | m/s].
        turned: (..., n) change of each joint's position when it last changed [rad | m].
        apart: (..., n) by how much more its position has moved lately than its velocity has
            [rad | m].
        travel: (..., n) how far its velocity has moved lately, to and fro [rad | m].
        stop_q, stop_v: (..., n) where and how fast the stop began; before, where the arm is held.
        blind: (..., 1) whether the readings cannot be used any more.
        still: (..., n) time since each joint's reading changed [s].
        frozen: (..., n) time in which its reading has not moved although it should [s].
        turns: (..., n) share of the periods in which its position turned round [1].
        flickers: (..., n) whether it turns round at rest, too, as a reading with noise does.
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
    anchor: Array
    left: Array
    turned: Array
    apart: Array
    travel: Array
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
    step = q - state.q
    moved = step != 0.0
    changed = moved | ((v != state.v) & rests)
    # A joint under effort may be slow to follow.
    least = np.where(kept.interface == 'effort', 0.0, _MOVES * state.way)
    follows = changed & (np.abs(q - state.anchor) >= least)
    since = state.still + gap
    size, before = np.abs(step), np.abs(state.turned)
    turns = (step * state.turned < 0.0) & (np.abs(size - before) > _EQUAL * before)
    share = state.turns + (turns - state.turns) / _TURNS
    waits = state.phase == WAITING
    own, forgets = 0.5 * (v + state.v) * gap, np.exp(-gap / _REMEMBERED)
    apart = np.where(np.abs(step - own) > kept.parameters.jump, 0.0, step - own)  # else a jump
    state = state._replace(
        period=state.period + (np.minimum(gap, 1.0) - state.period) / _RATE_PERIODS,
        since=state.since + dt,
        left=np.where(moved, step / since, state.left),
        turned=np.where(moved, step, state.turned),
        apart=forgets * state.apart + apart,
        travel=forgets * state.travel + np.abs(own),
        turns=share,
        way=np.where(follows, 0.0, state.way),
        anchor=np.where(follows, q, state.anchor),
        still=np.where(changed, 0.0, since),
        flickers=state.flickers | (waits & (share > _FLICKERS)),
    )
    alive = changed.any(axis=-1, keepdims=True)
    led, moves = _should_move(kept, state, v, dt)
    frozen = (led & ~follows) | (state.flickers & ~changed) | (moves & ~alive)
    frozen &= ~waits
    return state._replace(frozen=np.where(frozen, state.frozen + gap, 0.0))


def _should_move(
    kept: SupervisorLimits, state: SupervisorState, v: Array, dt: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which joints should have moved (..., n), and whether one of all should (..., 1).

    A joint should that commands have led, before the latency, farther than friction may hold it;
    by effort the law's reference leads. One of all should as well where a speed is read, and where
    the newest change of a reading was faster than a stop at `deceleration` ends within a period.
    """
    p = kept.parameters
    led = state.way - np.abs(state.rate) * (p.latency + dt)
    should = np.abs(v) > p.rest_speed
    should |= np.abs(state.left) > 2.0 * (p.rest_speed + p.deceleration * dt)
    should |= led > _STICKS * p.tracking_error
    alone = _STICKS if kept.interface != 'effort' else _STICKS_ALONE
    far: NDArray[np.bool_] = led > alone * p.tracking_error
    return far, should.any(axis=-1, keepdims=True)
