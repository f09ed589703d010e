"""Rigid-body algorithms of an arm on symbolic scalars, from which straight-line code is made.

Featherstone, Rigid Body Dynamics Algorithms (2008): recursive Newton-Euler (table 5.1),
composite rigid bodies (table 6.2), articulated bodies (table 7.1), each in link coordinates, with
forces and motions split into their angular and linear 3-vectors.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from arm_dynamics.compiled.codegen.expressions import Scalar
from arm_dynamics.compiled.codegen.links import Link
from arm_dynamics.compiled.codegen.spatial import Matrix, SpatialInertia, Transform, Vector

Values = Sequence[Scalar]


class PlacedArm(NamedTuple):
    """An arm at one configuration.

    Attributes:
        links: base to tip.
        transforms: where each link is in its parent.
        gravity: (3,) in the base frame [m/s^2].
    """

    links: list[Link]
    transforms: list[Transform]
    gravity: np.ndarray

    @classmethod
    def of(cls, links: list[Link], gravity: np.ndarray, *placing: Values) -> Self:
        """Return the arm at joint positions q, with their sines and cosines."""
        return cls(
            links, [Transform(*each) for each in zip(links, *placing, strict=True)], gravity
        )


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
    links, transforms, gravity = arm
    count = len(links)
    drift_angular, drift_linear, moments, forces = _velocity_terms(links, transforms, v)
    inertias = [SpatialInertia.of(link) for link in links]
    columns: dict[int, tuple[Vector, Vector]] = {}
    inverse: list[Scalar] = [0.0] * count
    effort: list[Scalar] = [0.0] * count
    for i in reversed(range(count)):
        link = links[i]
        columns[i] = inertias[i].column(link.prismatic)
        diagonal = columns[i][1 if link.prismatic else 0][2]
        inverse[i] = 1.0 / diagonal
        effort[i] = tau[i] - (forces[i] if link.prismatic else moments[i])[2]
        if link.parent < 0:
            continue
        reduced = inertias[i].without(columns[i], inverse[i])
        change_angular, change_linear = reduced.times(drift_angular[i], drift_linear[i])
        share = inverse[i] * effort[i]
        moment = moments[i] + change_angular + columns[i][0] * share
        force = forces[i] + change_linear + columns[i][1] * share
        moment, force = transforms[i].force_to_parent(moment, force)
        moments[link.parent] = moments[link.parent] + moment
        forces[link.parent] = forces[link.parent] + force
        moved = transforms[i].inertia_to_parent(reduced)
        inertias[link.parent] = inertias[link.parent].plus(moved)

    acceleration: list[Scalar] = [0.0] * count
    base = _base_acceleration(gravity)
    spatial: list[tuple[Vector, Vector]] = []
    for i, link in enumerate(links):
        before = spatial[link.parent] if link.parent >= 0 else base
        moving = transforms[i].motion_to_child(*before)
        angular_i = moving[0] + drift_angular[i]
        linear_i = moving[1] + drift_linear[i]
        resisting = columns[i][0] @ angular_i + columns[i][1] @ linear_i
        acceleration[i] = free[i] * (inverse[i] * (effort[i] - resisting))
        along = linear_i if link.prismatic else angular_i
        along[2] = along[2] + acceleration[i]
        spatial.append((angular_i, linear_i))
    return [acceleration, effort]


def inverse_dynamics(arm: PlacedArm, v: Values, a: Values) -> list[Values]:
    """Return tau = M(q) a + C(q, v) v + g(q): recursive Newton-Euler."""
    links, transforms, gravity = arm
    drift_angular, drift_linear, moments, forces = _velocity_terms(links, transforms, v)
    base = _base_acceleration(gravity)
    spatial: list[tuple[Vector, Vector]] = []
    for i, link in enumerate(links):
        before = spatial[link.parent] if link.parent >= 0 else base
        angular, linear = transforms[i].motion_to_child(*before)
        angular, linear = angular + drift_angular[i], linear + drift_linear[i]
        along = linear if link.prismatic else angular
        along[2] = along[2] + a[i]
        spatial.append((angular, linear))
        rate_angular, rate_linear = _momentum(link, angular, linear)
        moments[i] = rate_angular + moments[i]
        forces[i] = rate_linear + forces[i]
    tau: list[Scalar] = [0.0] * len(links)
    for i in reversed(range(len(links))):
        link = links[i]
        tau[i] = (forces[i] if link.prismatic else moments[i])[2]
        if link.parent >= 0:
            moment, force = transforms[i].force_to_parent(moments[i], forces[i])
            moments[link.parent] = moments[link.parent] + moment
            forces[link.parent] = forces[link.parent] + force
    return [tau]


def mass_matrix(arm: PlacedArm) -> list[list[list[Scalar]]]:
    """Return M(q), rows of scalars: composite rigid bodies."""
    links, transforms, _ = arm
    count = len(links)
    inertias = [SpatialInertia.of(link) for link in links]
    matrix: list[list[Scalar]] = [[0.0] * count for _ in range(count)]
    for i in reversed(range(count)):
        moment, force = inertias[i].column(links[i].prismatic)
        j = i
        while True:
            matrix[i][j] = matrix[j][i] = (force if links[j].prismatic else moment)[2]
            if links[j].parent < 0:
                break
            moment, force = transforms[j].force_to_parent(moment, force)
            j = links[j].parent
        if links[i].parent >= 0:
            moved = transforms[i].inertia_to_parent(inertias[i])
            inertias[links[i].parent] = inertias[links[i].parent].plus(moved)
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


def placements(arm: PlacedArm) -> list[tuple]:
    """Return rotations and translations of the links' frames in the base frame."""
    links, transforms, _ = arm
    poses: list[tuple[Matrix, Vector]] = []
    for i, link in enumerate(links):
        rotation, translation = transforms[i].rotation, transforms[i].translation
        if link.parent >= 0:
            base_rotation, base_translation = poses[link.parent]
            rotation = base_rotation @ rotation
            translation = base_translation + base_rotation @ translation
        poses.append((rotation, translation))
    return list(zip(*poses, strict=True))


def _velocities(
    links: list[Link], transforms: list[Transform], v: Values
) -> list[tuple[Vector, Vector]]:
    """Return the angular and linear velocity of each link, in its own frame."""
    found: list[tuple[Vector, Vector]] = []
    for i, link in enumerate(links):
        before = found[link.parent] if link.parent >= 0 else (_vector(0, 0, 0), _vector(0, 0, 0))
        w, u = transforms[i].motion_to_child(*before)
        along = u if link.prismatic else w
        along[2] = along[2] + v[i]
        found.append((w, u))
    return found


def _velocity_terms(
    links: list[Link], transforms: list[Transform], v: Values
) -> tuple[list[Vector], list[Vector], list[Vector], list[Vector]]:
    """Return what velocities alone make: accelerations (angular, linear), moments and forces."""
    accelerations, moments, forces = [], [], []
    for i, (w, u) in enumerate(_velocities(links, transforms, v)):
        turning = _vector(w[1] * v[i], -(w[0] * v[i]), 0.0)
        if links[i].prismatic:
            accelerations.append((_vector(0, 0, 0), turning))
        else:
            accelerations.append((turning, _vector(u[1] * v[i], -(u[0] * v[i]), 0.0)))
        momentum_angular, momentum_linear = _momentum(links[i], w, u)
        moments.append(np.cross(w, momentum_angular) + np.cross(u, momentum_linear))
        forces.append(np.cross(w, momentum_linear))
    angular, linear = map(list, zip(*accelerations, strict=True))
    return angular, linear, moments, forces


def _momentum(link: Link, w: Vector, u: Vector) -> tuple[Vector, Vector]:
    """Return the link's inertia times a motion (w, u): moment about its origin, and force."""
    h = link.first_moment.astype(object)
    moment = link.inertia.astype(object) @ w + np.cross(h, u)
    return moment, u * link.mass + np.cross(w, h)


def _base_acceleration(gravity: np.ndarray) -> tuple[Vector, Vector]:
    """Return the base's motion that stands for gravity: upwards, as in a lift."""
    return _vector(0, 0, 0), _vector(*(-float(g) for g in gravity))


def _vector(x: Scalar, y: Scalar, z: Scalar) -> Vector:
    return np.array([x, y, z], dtype=object)
