"""Whether the torque of a motion stays within the limits of all arms, between samples as well.

On an interval of length h the torque is that of its polynomial of degree 4 through five samples,
with an error of at most |d^5 tau / dt^5| max |(t - t_0) .. (t - t_4)| / 5!, a remainder whose
derivative `TorqueBound` bounds. The polynomial is within its Bernstein coefficients. Where the sum
is not within the limits, the interval is divided.
"""

from math import comb

import numpy as np

from arm_controllers.follower.trajectory import Trajectory
from arm_dynamics.checks import Array
from arm_lab.certificate.arms import UncertainArm
from arm_lab.certificate.finding import Finding
from arm_lab.certificate.pieces import Pieces

RESOLUTION = 1e-5  # a torque this near to its limit, as a share, counts as equal
TOLERANCE = 1e-6  # as of goals: points are often rounded to their printed digits [N.m | N]
NODES = np.arange(5) / 4.0
# Largest (t - t_0) .. (t - t_4) on an interval of length 1, over 5!
REMAINDER = float(np.abs(np.poly1d(NODES, True)(np.linspace(0, 1, 100_001))).max() * 1.001 / 120)
BERNSTEIN = np.linalg.inv(
    [[comb(4, j) * s**j * (1.0 - s) ** (4 - j) for j in range(5)] for s in NODES]
)
_COARSE = 0.1  # share of the limit: no samples are taken where the remainder is larger
_MOST_PARTS = 16
_AT_ONCE = 512


def check_torque(trajectory: Trajectory, arm: UncertainArm) -> Finding | None:
    """Return where the torque of an arm is or may be beyond its limit; None: nowhere.

    Args:
        trajectory: of the goal; its efforts are added to the torque.
        arm: the set of arms.
    """
    limit, near = arm.effort_limit, None
    if not np.isfinite(limit).any():
        return None
    waiting = Pieces.of(trajectory)
    while len(waiting.length):
        pieces, waiting = waiting.some(slice(_AT_ONCE)), waiting.some(slice(_AT_ONCE, None))
        middle = pieces.derivatives(trajectory)
        error = arm.bound(pieces.magnitudes(middle)) * REMAINDER
        error *= pieces.length[:, np.newaxis] ** 5
        share = (error / limit).max(axis=1)
        coarse = share > _COARSE
        again = _divided(pieces.some(coarse), share[coarse] / (0.3 * _COARSE))
        pieces, error = pieces.some(~coarse), error[~coarse]
        if len(pieces.length):
            torques, bodies, v = _at_nodes(trajectory, pieces, arm)
            spread = np.abs(bodies) @ arm.spread
            worst = _largest(torques, spread, arm.friction_torques(v))
            peak = worst.max(axis=1)
            close = (peak > (1.0 - RESOLUTION) * limit).any()
            if (close and near is None) or (peak > limit + TOLERANCE).any():
                at = np.unravel_index(np.argmax(worst / limit), worst.shape)
                piece, node, joint = map(int, at)
                needed = arm.needed(joint, float(torques[at]), bodies[at], float(v[at]))
                proven = needed > limit[joint] + TOLERANCE
                near = Finding(
                    'torque',
                    arm.model.joint_names[joint],
                    needed if proven else float(worst[at]),
                    float(limit[joint]),
                    pieces.time(trajectory, piece, NODES[node]),
                    bool(proven),
                    arm.error(bodies[at], torques[at], v[at]),
                )
                if near.proven:
                    return near
            control, v = (np.einsum('ij,kjn->kin', BERNSTEIN, each) for each in (torques, v))
            spread = np.abs(np.einsum('ij,kjne->kine', BERNSTEIN, bodies)) @ arm.spread
            low, high = arm.friction_torques(v)
            friction = low.min(axis=1, keepdims=True), high.max(axis=1, keepdims=True)
            bound = _largest(control, spread, friction).max(axis=1) + error
            # Where a sample is next to the limit the answer is known.
            open_ = (bound > limit) & (peak <= (1.0 - RESOLUTION) * limit)
            some = open_.any(axis=1)
            slack = np.where(open_, 1.0 - peak / limit, np.inf).min(axis=1)[some]
            again = again.followed_by(_divided(pieces.some(some), share[~coarse][some] / slack))
        waiting = again.followed_by(waiting)
    return near


def _divided(pieces: Pieces, ratio: Array) -> Pieces:
    """Return the pieces in parts whose remainders are smaller by `ratio` (k,), two at least."""
    parts = np.clip(np.ceil(ratio**0.2), 2, _MOST_PARTS).astype(int)
    return pieces.split(parts)


def _largest(torques: Array, spread: Array, friction: tuple[Array, Array]) -> Array:
    """Return the largest magnitudes of torques with a spread and a range of friction."""
    low, high = friction
    return np.maximum(torques + high, -torques - low) + spread


def _at_nodes(
    trajectory: Trajectory, pieces: Pieces, arm: UncertainArm
) -> tuple[Array, Array, Array]:
    """Return what `UncertainArm.torques` does at the nodes of each piece, and the velocities.

    The trajectory's effort is added to the torques. Shapes (k, 5, n), (k, 5, n, E), (k, 5, n).
    """
    count, n = len(pieces.length), trajectory.coefficients.shape[2]
    s = (pieces.start[:, np.newaxis] + pieces.length[:, np.newaxis] * NODES).ravel()
    segment = np.repeat(pieces.segment, 5)
    q, v, a = trajectory.states_in(segment, s)
    torques, bodies = arm.torques(q, v, a)
    share = (s / np.diff(trajectory.times)[segment])[:, np.newaxis]
    start, end = trajectory.efforts[segment], trajectory.efforts[segment + 1]
    torques += start + share * (end - start)
    shape = count, 5, n
    return torques.reshape(shape), bodies.reshape(*shape, -1), v.reshape(shape)
