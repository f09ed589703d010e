"""Rigid-body algorithms of an arm on symbolic scalars, from which straight-line code is made.

Featherstone, Rigid Body Dynamics Algorithms (2008): recursive Newton-Euler (table 5.1),
composite rigid bodies (table 6.2), articulated bodies (table 7.1), each in link coordinates. What
is kept per link has the base at index -1.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from arm_dynamics.compiled.codegen.expressions import Scalar
from arm_dynamics.compiled.codegen.links import Link
from arm_dynamics.compiled.codegen.spatial import (
    Spatial,
    Transform,
    force_cross,
    motion_cross,
    symmetric,
)

Values = Sequence[Scalar]
PerLink = dict[int, Spatial]


class PlacedArm(NamedTuple):
    """An arm at one configuration.

    Attributes:
        links: base to tip.
        transforms: where each link is in its parent.
        base_acceleration: (6,) that stands for gravity: upwards, as in a lift.
    """

    links: list[Link]
    transforms: list[Transform]
    base_acceleration: Spatial

    @classmethod
    def of(cls, links: list[Link], gravity: np.ndarray, *placing: Values) -> Self:
        """Return the arm at joint positions q, with their sines and cosines."""
        transforms = [Transform(*each) for each in zip(links, *placing, strict=True)]
        return cls(links, transforms, np.array([*-gravity.astype(object), 0.0, 0.0, 0.0]))

    def inertias(self) -> PerLink:
        """Return the inertia (6, 6) of each link; of the base zero."""
        found = {i: link.inertia.astype(object) for i, link in enumerate(self.links)}
        return {-1: np.zeros((6, 6), dtype=object), **found}


def factorised_dynamics(arm: PlacedArm, v: Values, tau: Values, armature: Values) -> list[Values]:
    """Return the accelerations of (M + diag(armature)) a = tau - bias."""
    (bias,) = inverse_dynamics(arm, v, [0.0] * len(tau))
    (matrix,) = mass_matrix(arm)
    for i, inertia in enumerate(armature):
        matrix[i][i] = matrix[i][i] + inertia
    return [solve(matrix, [t - b for t, b in zip(tau, bias, strict=True)])]


def articulated_dynamics(arm: PlacedArm, v: Values, tau: Values, free: Values) -> list[Values]:
    """Return accelerations and net joint loads u under tau: articulated bodies.

    With every free[i] = 1 the accelerations are those of M(q) a + C(q, v) v + g(q) = tau. Where
    free[i] = 0, the last pass holds joint i at a = 0 (in the way of DynaMechs' stuck motors: the
    inward pass still takes the joint as free).
    """
    links, transforms, base = arm
    drift, forces = _velocity_terms(arm, v)
    inertias, motions = arm.inertias(), {-1: base}
    columns: PerLink = {}
    inverse: list[Scalar] = [0.0] * len(links)
    effort: list[Scalar] = [0.0] * len(links)
    acceleration: list[Scalar] = [0.0] * len(links)
    for i, link in reversed([*enumerate(links)]):
        columns[i] = column = inertias[i][:, link.axis]
        inverse[i] = 1.0 / column[link.axis]
        effort[i] = tau[i] - forces[i][link.axis]
        reduced = symmetric(inertias[i] - np.outer(column * inverse[i], column))
        force = forces[i] + reduced @ drift[i] + column * (inverse[i] * effort[i])
        forces[link.parent] = forces[link.parent] + transforms[i].force_to_parent(force)
        moved = transforms[i].inertia_to_parent(reduced)
        inertias[link.parent] = inertias[link.parent] + moved
    for i, link in enumerate(links):
        motions[i] = transforms[i].motion_to_child(motions[link.parent]) + drift[i]
        resisting = columns[i] @ motions[i]
        acceleration[i] = free[i] * (inverse[i] * (effort[i] - resisting))
        motions[i][link.axis] = motions[i][link.axis] + acceleration[i]
    return [acceleration, effort]


def inverse_dynamics(arm: PlacedArm, v: Values, a: Values) -> list[Values]:
    """Return tau = M(q) a + C(q, v) v + g(q): recursive Newton-Euler."""
    links, transforms, base = arm
    drift, forces = _velocity_terms(arm, v)
    inertias, motions = arm.inertias(), {-1: base}
    for i, link in enumerate(links):
        motions[i] = transforms[i].motion_to_child(motions[link.parent]) + drift[i]
        motions[i][link.axis] = motions[i][link.axis] + a[i]
        forces[i] = inertias[i] @ motions[i] + forces[i]
    for i, link in reversed([*enumerate(links)]):
        forces[link.parent] = forces[link.parent] + transforms[i].force_to_parent(forces[i])
    return [[forces[i][link.axis] for i, link in enumerate(links)]]


def mass_matrix(arm: PlacedArm) -> list[list[list[Scalar]]]:
    """Return M(q), rows of scalars: composite rigid bodies."""
    links, transforms, _ = arm
    inertias = arm.inertias()
    matrix: list[list[Scalar]] = [[0.0] * len(links) for _ in links]
    for i, link in reversed([*enumerate(links)]):
        force = inertias[i][:, link.axis]
        j = i
        while j >= 0:
            matrix[i][j] = matrix[j][i] = force[links[j].axis]
            force = transforms[j].force_to_parent(force)
            j = links[j].parent
        moved = transforms[i].inertia_to_parent(inertias[i])
        inertias[link.parent] = inertias[link.parent] + moved
    return [matrix]


def solve(matrix: list[list[Scalar]], right: Values) -> list[Scalar]:
    """Return x of matrix x = right, for a symmetric positive definite matrix: L^T D L.

    Eliminating from the tip to the base keeps the zeros of a branched arm's mass matrix.
    """
    count = len(right)
    rest = [[*row] for row in matrix]
    x = [*right]
    inverse: list[Scalar] = [0.0] * count
    lower: list[list[Scalar]] = [[0.0] * count for _ in range(count)]
    for k in reversed(range(count)):
        inverse[k] = 1.0 / rest[k][k]
        lower[k][:k] = [inverse[k] * rest[k][i] for i in range(k)]
        for i in range(k):
            for j in range(i + 1):
                rest[i][j] = rest[j][i] = rest[i][j] - lower[k][i] * rest[k][j]
            x[i] = x[i] - lower[k][i] * x[k]
    for k in range(count):
        x[k] = x[k] * inverse[k]
        for i in range(k):
            x[k] = x[k] - lower[k][i] * x[i]
    return x


def placements(arm: PlacedArm) -> list[list[Spatial]]:
    """Return rotations and translations of the links' frames in the base frame."""
    poses = {-1: np.eye(4, dtype=object)}
    for i, (link, transform) in enumerate(zip(*arm[:2], strict=True)):
        poses[i] = poses[link.parent] @ transform.placement
    del poses[-1]
    return [[pose[:3, :3] for pose in poses.values()], [pose[:3, 3] for pose in poses.values()]]


def _velocity_terms(arm: PlacedArm, v: Values) -> tuple[PerLink, PerLink]:
    """Return the accelerations and the forces that velocities alone make."""
    velocities = {-1: np.zeros(6, dtype=object)}
    drift, forces = {}, {-1: np.zeros(6, dtype=object)}
    inertias = arm.inertias()
    for i, link in enumerate(arm.links):
        joint = np.zeros(6, dtype=object)
        joint[link.axis] = v[i]
        velocities[i] = arm.transforms[i].motion_to_child(velocities[link.parent]) + joint
        drift[i] = motion_cross(velocities[i], joint)
        forces[i] = force_cross(velocities[i], inertias[i] @ velocities[i])
    return drift, forces
