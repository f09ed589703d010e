"""Poses of links from the frames of /tf."""

import numpy as np
import pinocchio as pin

from arm_dynamics.kinematics.link_tree import LinkTree


def in_base(tree: LinkTree, base: str, q: np.ndarray) -> dict[str, pin.SE3]:
    """Return the pose of every link in the base, as a listener of /tf puts them together."""
    steps = dict(zip(tree.moving, tree.moving_poses(q), strict=True))
    steps |= dict(zip(tree.fixed, tree.fixed_poses(), strict=True))
    found = {base: pin.SE3.Identity()}
    while len(found) <= len(steps):
        for (carrier, link), row in steps.items():
            if carrier in found:
                found[link] = found[carrier] * pin.XYZQUATToSE3(row)
    return found
