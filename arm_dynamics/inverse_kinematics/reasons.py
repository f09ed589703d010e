"""Why there is no solution, and by how much."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.kinematics.chain import Chain


def why_not(chain: Chain, target: Array, away: str, exact: Array | None, starts: int) -> str:
    """Return why a target (4, 4) has no solution within limits, in one sentence.

    Args:
        chain: the joints that move the frame.
        target: pose of the frame.
        away: how far the nearest pose is, in words.
        exact: (m, n) all solutions without limits, where a closed form gives them.
        starts: how many there were.
    """
    if exact is not None and len(exact):
        return f'{beyond_limits(chain, exact)}; within limits {away}'
    distance = float(np.linalg.norm(target[:3, 3] - chain.fixed[0, :3, 3]))
    if distance > chain.reach:
        return (
            f'out of reach: the target is {distance:.6g} m from the first joint and the arm '
            f'is at most {chain.reach:.6g} m long; {away}'
        )
    if exact is not None:
        return f'out of reach: no configuration gives this pose (closed form); {away}'
    return f'no solution found from {starts} starts; {away}'


def beyond_limits(chain: Chain, solutions: Array) -> str:
    """Return which joint limit excludes the solution (m, n) that breaks limits least."""
    turned = solutions[:, :, None] + 2 * np.pi * np.arange(-2, 3)
    beyond = np.maximum(chain.lower[:, None] - turned, turned - chain.upper[:, None]).clip(0.0)
    least = beyond.min(axis=2)
    row = int(least.max(axis=1).argmin())
    joint = int(least[row].argmax())
    error = chain.limit_error(joint, turned[row, joint, beyond[row, joint].argmin()])
    return f'all {len(solutions)} solutions are beyond joint limits, the closest: {error}'
