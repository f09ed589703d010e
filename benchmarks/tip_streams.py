"""Random streams of twists, half of them through singularities, and what a tip made of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_tools.cartesian.tip_servo import FARTHEST, TipServo

_LENGTH = 2.0  # [s]
_NEAR = 2e-3  # [rad | m] so near to its limit a joint counts as at it
_BACK = 0.5  # [s] after which a tip that was pushed off its line is on it again
_ALIGNED = 0.02  # [rad] a line begins where the tip goes along it
_FEASIBLE = 0.1  # so large a share of a twist must be possible, to count as a direction
_STANDS = 0.01  # slower than this share of what is possible
_LOST = 0.01  # a direction is lost where a larger share of a twist is not possible


class Stream(NamedTuple):
    """A start and what is asked from there.

    Attributes:
        q: (n,) start, at rest.
        twists: (k, 6) [m/s, rad/s] in axes of the base, one per step; zero where it has ended.
        changes: steps at which another twist begins.
    """

    q: Array
    twists: Array
    changes: list[int]


class Judgement(NamedTuple):
    """What a tip made of a stream.

    Attributes:
        excess: largest excess over a limit, as a share of it; negative: room to it.
        standstill: [s] longest rest while a feasible direction was asked for.
        deviation: [m] largest distance from the asked line where no direction is lost.
        stopping: [s] from the stream's last step to rest.
        least: smallest singular value on the way [m per rad].
    """

    excess: float
    standstill: float
    deviation: float
    stopping: float
    least: float


def random_stream(servo: TipServo, rng: np.random.Generator, singular: bool) -> Stream:
    """Draw a stream: two or three straight motions, the first through a singularity if asked."""
    model, dt = servo.model, servo.dt
    steps = round(_LENGTH / dt)
    lower, upper = _middle(model)
    if singular:
        at = _singular(servo, rng, lower, upper)
        joints = rng.normal(size=model.nv)
        joints *= rng.uniform(0.1, 0.5) / np.abs(joints).max()
        first = model.jacobian(at) @ joints
        if rng.random() < 0.5:  # not as the arm would go through it by itself
            first += _twist(rng)
        q = at - joints * rng.uniform(0.1, 0.5)
    else:
        q = rng.uniform(lower, upper)
        while servo.singular_values(q)[-1] < 2.0 * servo.margin:
            q = rng.uniform(lower, upper)
        first = _twist(rng)
    changes = sorted(rng.choice(np.arange(steps // 4, 3 * steps // 4), rng.integers(1, 3), False))
    twists = np.tile(first, (steps, 1))
    for change in changes:
        twists[change:] = _twist(rng)
    ended = np.zeros((round(0.2 / dt), 6))
    return Stream(np.clip(q, lower, upper), np.vstack([twists, ended]), [0, *map(int, changes)])


def _middle(model: RobotModel) -> tuple[Array, Array]:
    """Return positions between which streams start: no joint begins at a limit."""
    lower, upper = (
        np.maximum(model.position_lower, -np.pi),
        np.minimum(model.position_upper, np.pi),
    )
    return lower + 0.05 * (upper - lower), upper - 0.05 * (upper - lower)


def _twist(rng: np.random.Generator) -> Array:
    """Draw a twist: a line, every other time with a turn."""
    line, turn = rng.normal(size=(2, 3))
    line *= rng.uniform(0.02, 0.25) / np.linalg.norm(line)
    turn *= rng.uniform(0.0, 0.5) / np.linalg.norm(turn) * rng.integers(0, 2)
    return np.concatenate([line, turn])


def _singular(servo: TipServo, rng: np.random.Generator, lower: Array, upper: Array) -> Array:
    """Draw a configuration with a lost direction: downhill in the least singular value."""
    while True:
        q = rng.uniform(lower, upper)
        for _ in range(200):
            here = servo.singular_values(q)[-1]
            if here < 0.02 * servo.margin:
                return q
            other = np.clip(q + rng.normal(size=len(q)) * min(0.3, 3.0 * here), lower, upper)
            if servo.singular_values(other)[-1] < here:
                q = other


def judge(servo: TipServo, stream: Stream) -> Judgement:
    """Move a tip by a stream, and measure what became of it."""
    model, dt, k = servo.model, servo.dt, len(stream.twists)
    servo.start(stream.q)
    q, v = np.empty((2, k + 1, model.nv))
    q[0], v[0] = servo.q, servo.v
    for i, twist in enumerate(stream.twists):
        q[i + 1], v[i + 1] = servo.move(twist)
    tips = [model.forward_kinematics(each) for each in q]
    least = np.array([servo.singular_values(each)[-1] for each in q])
    twists = np.array([model.jacobian(each) @ w for each, w in zip(q, v, strict=True)])
    places = np.array([tip.translation for tip in tips])
    asked = np.vstack([stream.twists[:1], stream.twists])
    at_limit = _at_limit(model, q, np.zeros_like(q))
    possible = np.array([_feasible(servo, *row) for row in zip(q, asked, at_limit, strict=True)])
    still = _still(servo, possible, asked, twists)
    size = np.linalg.norm(asked * servo.weights, axis=1)
    impossible = np.linalg.norm(asked * servo.weights - possible, axis=1) > _LOST * size
    lost = (
        impossible
        | (least < servo.margin)
        | _at_limit(model, q, _way_to_stop(servo, v)).any(axis=1)
    )
    end = k - round(0.2 / dt)
    moving = np.flatnonzero(np.abs(v[end:]).max(axis=1) > 1e-12)
    return Judgement(
        _excess(servo, q, v),
        _longest(still[: end + 1]) * dt,
        _deviation(stream, dt, end, places, twists, lost),
        (moving[-1] + 1 if len(moving) else 0) * dt,
        float(least.min()),
    )


def _at_limit(model: RobotModel, q: Array, way: Array) -> NDArray[np.bool_]:
    """Return which joints (k + 1, n) are at a limit of position after this much more of a way."""
    return (q + way > model.position_upper - _NEAR) | (q + way < model.position_lower + _NEAR)


def _way_to_stop(servo: TipServo, v: Array) -> Array:
    """Return how far (k + 1, n) joints go that begin to brake in the next step."""
    return v * (servo.dt + np.abs(v) / (2.0 * servo.a_max))


def _excess(servo: TipServo, q: Array, v: Array) -> float:
    """Return the largest excess over a limit, as a share of it; between steps as well."""
    model, dt = servo.model, servo.dt
    a = np.diff(v, axis=0) / dt
    with np.errstate(divide='ignore', invalid='ignore'):
        turning = np.where(v[:-1] * v[1:] < 0, -v[:-1] / a, 0.0)  # where v passes zero
    between = q[:-1] + v[:-1] * turning + a * turning**2 / 2
    every = np.vstack([q, between])
    span = np.minimum(model.position_upper - model.position_lower, 2 * np.pi)
    place = np.maximum(every - model.position_upper, model.position_lower - every) / span
    return float(
        max(
            place.max(),
            (np.abs(v) / model.velocity_limit).max() - 1.0,
            (np.abs(a) / servo.a_max).max() - 1.0,
        )
    )


def _still(servo: TipServo, possible: Array, asked: Array, twists: Array) -> NDArray[np.bool_]:
    """Return where (k + 1,) the tip stands though a direction that is asked for is feasible."""
    size = np.linalg.norm(possible, axis=1)
    speed = np.linalg.norm(twists * servo.weights, axis=1)
    feasible = size > _FEASIBLE * np.linalg.norm(asked * servo.weights, axis=1)
    return feasible & (speed < _STANDS * size)


def _feasible(servo: TipServo, q: Array, twist: Array, held: NDArray[np.bool_]) -> Array:
    """Return the part (6,) [m/s] of a twist, weighted, in directions that are not lost.

    `held` (n,): joints that cannot go on.
    """
    jacobian = np.where(held, 0.0, servo.model.jacobian(q))
    u, sigma, _ = np.linalg.svd(servo.weights[:, None] * jacobian, full_matrices=False)
    u = u[:, sigma > servo.margin]
    return u @ (u.T @ (twist * servo.weights))


def _longest(flags: NDArray[np.bool_]) -> int:
    """Return the length of the longest run."""
    best = now = 0
    for flag in flags:
        now = now + 1 if flag else 0
        best = max(best, now)
    return best


def _deviation(
    stream: Stream,
    dt: float,
    end: int,
    places: Array,
    twists: Array,
    lost: NDArray[np.bool_],
) -> float:
    """Return the largest distance [m] from the lines that the twists draw.

    A line begins where the tip first goes along it. Where a direction is lost, be it by a joint
    that brakes before its limit, and for a short while after that, nothing is measured.
    """
    worst = 0.0
    spans = zip(stream.changes, [*stream.changes[1:], end], strict=True)
    for first, last in spans:
        line = stream.twists[first, :3]
        size = np.linalg.norm(line)
        begin, quiet = None, 0
        for i in range(first + 1, last + 1):
            if begin is None:
                speed = twists[i, :3]
                cosine = speed @ line / max(np.linalg.norm(speed) * size, 1e-12)
                begin = places[i] if cosine > np.cos(_ALIGNED) and not lost[i] else None
                continue
            way = places[i] - begin
            off = float(np.linalg.norm(way - (way @ line) / size**2 * line))
            if lost[i] and off > 0.5 * FARTHEST:
                begin = None
            quiet = round(_BACK / dt) if lost[i] else quiet - 1
            worst = max(worst, off if quiet <= 0 else 0.0)
    return worst
