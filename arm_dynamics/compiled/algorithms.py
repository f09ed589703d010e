"""Rigid-body algorithms on symbolic scalars, from which straight-line code is generated.

Featherstone, Rigid Body Dynamics Algorithms (2008): recursive Newton-Euler (table 5.1),
composite rigid bodies (table 6.2), articulated bodies (table 7.1), each in link coordinates.
Quantities per link have the base at index -1.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from arm_dynamics.compiled.expressions import Scalar
from arm_dynamics.compiled.links import Link, joint_count
from arm_dynamics.compiled.spatial import Spatial, Transform, force_cross, motion_cross, symmetric

Values = Sequence[Scalar]
PerLink = dict[int, Spatial]


class PlacedArm(NamedTuple):
    """An arm at one configuration.

    Attributes:
        links: base to tip.
        transforms: pose of each link in its parent.
        base_acceleration: (6,) upwards, equivalent to gravity.
    """

    links: list[Link]
    transforms: list[Transform]
    base_acceleration: Spatial

    @classmethod
    def of(cls, links: list[Link], gravity: np.ndarray, *placing: Values) -> Self:
        """Return the arm at joint positions q, with the links' sines and cosines by `angle`."""
        q, sine, cosine = placing
        transforms = [
            Transform(
                link,
                q[link.coordinate] * link.multiplier + link.offset,
                sine[link.angle],
                cosine[link.angle],
            )
            for link in links
        ]
        return cls(links, transforms, np.array([*-gravity.astype(object), 0.0, 0.0, 0.0]))

    def of_links(self, rates: Values) -> list[Scalar]:
        """Return the rates of all links' joints from those of the commanded joints."""
        return [rates[link.coordinate] * link.multiplier for link in self.links]

    def of_joints(self, torques: Iterable[Any]) -> list[Any]:
        """Return the torques at the commanded joints from those at all links' joints."""
        found: list[Any] = [0.0] * joint_count(self.links)
        for link, torque in zip(self.links, torques, strict=True):
            found[link.coordinate] = found[link.coordinate] + torque * link.multiplier
        return found

    def inertias(self) -> PerLink:
        """Return the inertia (6, 6) of each link; zero for the base."""
        inertias = {i: link.inertia.astype(object) for i, link in enumerate(self.links)}
        return {-1: np.zeros((6, 6), dtype=object), **inertias}

    def chain(self, link: int) -> list[int]:
        """Return the links from the base to this one, included; none for the base (-1)."""
        links = []
        while link >= 0:
            links.append(link)
            link = self.links[link].parent
        return links[::-1]

    def pose(self, link: int) -> Spatial:
        """Return the pose (4, 4) of a link's frame in the base frame."""
        pose = np.eye(4, dtype=object)
        for i in self.chain(link):
            pose = pose @ self.transforms[i].placement
        return pose


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
    free[i] = 0, the last pass holds joint i at a = 0, as DynaMechs does for stuck motors: the
    inward pass treats the joint as free.
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
    inertias, motions, a = arm.inertias(), {-1: base}, arm.of_links(a)
    for i, link in enumerate(links):
        motions[i] = transforms[i].motion_to_child(motions[link.parent]) + drift[i]
        motions[i][link.axis] = motions[i][link.axis] + a[i]
        forces[i] = inertias[i] @ motions[i] + forces[i]
    for i, link in reversed([*enumerate(links)]):
        forces[link.parent] = forces[link.parent] + transforms[i].force_to_parent(forces[i])
    return [arm.of_joints(forces[i][link.axis] for i, link in enumerate(links))]


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
    rows = arm.of_joints(np.array(matrix, dtype=object))
    return [[*map(list, zip(*arm.of_joints(np.array(rows).T), strict=True))]]


def coriolis_matrix(arm: PlacedArm, v: Values) -> list[Spatial]:
    """Return C(q, v) (n, n), whose Mdot - 2 C is skew-symmetric.

    Echeandia and Wensing, Numerical methods to compute the Coriolis matrix and Christoffel symbols
    for rigid-body systems, J. Computational and Nonlinear Dynamics 16 (2021), algorithm 1.
    """
    links, transforms, _ = arm
    inertias, rates = arm.inertias(), {-1: np.zeros((6, 6), dtype=object)}
    velocities, v = {-1: np.zeros(6, dtype=object)}, arm.of_links(v)
    axes, turned = np.eye(6, dtype=object), {}
    for i, link in enumerate(links):
        velocities[i] = transforms[i].motion_to_child(velocities[link.parent])
        turned[i] = motion_cross(velocities[i], axes[link.axis])
        velocities[i][link.axis] = velocities[i][link.axis] + v[i]
        rates[i] = _coriolis_of_body(inertias[i], velocities[i])
    matrix = np.zeros((len(links), len(links)), dtype=object)
    for j, link in reversed([*enumerate(links)]):
        axis = axes[link.axis]
        first = inertias[j] @ turned[j] + rates[j] @ axis
        second, third = inertias[j] @ axis, rates[j].T @ axis
        i = j
        while i >= 0:
            matrix[i, j] = first[links[i].axis]
            matrix[j, i] = turned[i] @ second + third[links[i].axis]
            first, second, third = map(transforms[i].force_to_parent, (first, second, third))
            i = links[i].parent
        for composite in (inertias, rates):
            moved = transforms[j].matrix_to_parent(composite[j])
            composite[link.parent] = composite[link.parent] + moved
    rows = np.array(arm.of_joints(matrix))
    return [np.array(arm.of_joints(rows.T)).T]


def inverse_dynamics_derivatives(arm: PlacedArm, v: Values, a: Values) -> list[Spatial]:
    """Return tau (n,) of `inverse_dynamics`, and dtau/dq, dtau/dv, dtau/da = M(q), (n, n) each.

    Singh, Russell and Wensing, Efficient analytical derivatives of rigid-body dynamics using
    spatial vector algebra, IEEE Robotics and Automation Letters 7 (2022), algorithm 1, with joints
    of one degree of freedom: S rotates at `turned`, and its rate of rotation is `turning`.
    """
    links, transforms, base = arm
    inertias, rates, forces = arm.inertias(), {-1: np.zeros((6, 6), dtype=object)}, {}
    velocities, motions = {-1: np.zeros(6, dtype=object)}, {-1: base}
    v, a, axes = arm.of_links(v), arm.of_links(a), np.eye(6, dtype=object)
    turned, turning = {}, {}
    for i, link in enumerate(links):
        velocity = transforms[i].motion_to_child(velocities[link.parent])
        motion = transforms[i].motion_to_child(motions[link.parent])
        turned[i] = motion_cross(velocity, axes[link.axis])
        turning[i] = motion_cross(motion, axes[link.axis]) + motion_cross(velocity, turned[i])
        motions[i] = motion + turned[i] * v[i] + axes[link.axis] * a[i]
        velocities[i] = velocity + axes[link.axis] * v[i]
        rates[i] = _coriolis_of_body(inertias[i], velocities[i]) * 2.0
        own = inertias[i] @ velocities[i]
        forces[i] = inertias[i] @ motions[i] + force_cross(velocities[i], own)
    torque: list[Scalar] = [0.0] * len(links)
    by_q, by_v, mass = np.zeros((3, len(links), len(links)), dtype=object)
    for i, link in reversed([*enumerate(links)]):
        axis = axes[link.axis]
        torque[i] = forces[i][link.axis]
        inertial, carried = inertias[i] @ axis, rates[i].T @ axis
        of_q = rates[i] @ turned[i] + inertias[i] @ turning[i] + force_cross(axis, forces[i])
        of_v = rates[i] @ axis + inertias[i] @ turned[i] * 2.0
        j = i
        while j >= 0:
            at = links[j].axis
            by_q[j, i], by_v[j, i], mass[i, j] = of_q[at], of_v[at], inertial[at]
            mass[j, i] = mass[i, j]
            by_q[i, j] = carried @ turned[j] + inertial @ turning[j]
            by_v[i, j] = carried[at] + inertial @ turned[j] * 2.0
            inertial, carried, of_q, of_v = map(
                transforms[j].force_to_parent, (inertial, carried, of_q, of_v)
            )
            j = links[j].parent
        if link.parent >= 0:
            up, parent = transforms[i], link.parent
            forces[parent] = forces[parent] + up.force_to_parent(forces[i])
            inertias[parent] = inertias[parent] + up.inertia_to_parent(inertias[i])
            rates[parent] = rates[parent] + up.matrix_to_parent(rates[i])
    by_joints = [
        np.array(arm.of_joints(np.array(arm.of_joints(x)).T)).T for x in (by_q, by_v, mass)
    ]
    return [np.array(arm.of_joints(torque)), *by_joints]


def _coriolis_of_body(inertia: Spatial, velocity: Spatial) -> Spatial:
    """Return B (6, 6) = (V x* I - I V x + (I V) bar x*) / 2, with B V = V x* I V."""
    unit = np.eye(6, dtype=object)
    momentum = inertia @ velocity
    around = np.column_stack([force_cross(velocity, column) for column in inertia.T])
    carried = np.column_stack([inertia @ motion_cross(velocity, each) for each in unit])
    swapped = np.column_stack([force_cross(each, momentum) for each in unit])
    return (around - carried + swapped) * 0.5


def regressor(arm: PlacedArm, mean: Values, half: Values, dw: Values) -> list[Spatial]:
    """Return Y (n, 10 n) with Y pi = M(q) dw + C(q, mean) mean - C(q, half) half + g(q).

    `pi` has per link m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz in Pinocchio's frame of the joint.
    """
    links, transforms, base = arm
    drifts, spins = zip(*(_motions(arm, each) for each in (mean, half)), strict=True)
    motions, dw = {-1: base}, arm.of_links(dw)
    result = np.zeros((len(links), 10 * len(links)), dtype=object)
    for k, link in enumerate(links):
        motions[k] = transforms[k].motion_to_child(motions[link.parent])
        motions[k] = motions[k] + (drifts[0][k] - drifts[1][k])
        motions[k][link.axis] = motions[k][link.axis] + dw[k]
        for column, unit in enumerate(link.unit_inertias()):
            force = unit @ motions[k]
            force = force + force_cross(spins[0][k], unit @ spins[0][k])
            force = force - force_cross(spins[1][k], unit @ spins[1][k])
            i = k
            while i >= 0:
                result[i, 10 * k + column] = force[links[i].axis]
                force = transforms[i].force_to_parent(force)
                i = links[i].parent
    return [np.array(arm.of_joints(result))]


def _motions(arm: PlacedArm, v: Values) -> tuple[PerLink, PerLink]:
    """Return the links' velocity-product accelerations, and their velocities."""
    velocities, v = {-1: np.zeros(6, dtype=object)}, arm.of_links(v)
    drift = {}
    for i, link in enumerate(arm.links):
        joint = np.zeros(6, dtype=object)
        joint[link.axis] = v[i]
        velocities[i] = arm.transforms[i].motion_to_child(velocities[link.parent]) + joint
        drift[i] = motion_cross(velocities[i], joint)
    return drift, velocities


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
    """Return the links' velocity-product accelerations and forces."""
    drift, velocities = _motions(arm, v)
    forces = {-1: np.zeros(6, dtype=object)}
    inertias = arm.inertias()
    for i in range(len(arm.links)):
        forces[i] = force_cross(velocities[i], inertias[i] @ velocities[i])
    return drift, forces
