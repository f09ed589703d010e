"""Refuses a URDF of which no physical arm can be; each line has the probable mistake."""

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.urdf_elements import MOMENTS, vector
from arm_dynamics.urdf_rules import UrdfRule

# Of a link [kg], between two joints [m], and of an angle [rad]: beyond, the unit is another.
_HEAVIEST, _FARTHEST, _MOST_TURNED = 2e4, 50.0, 40.0
_LIGHT = 0.01  # a lighter link may stand for a rotor [kg]


class UnitsRule(UrdfRule):
    """Numbers and tensors are those of a physical arm in units of the SI."""

    order = 10.0

    def read(self, tree: Element) -> bool:
        """Raise ArmError for numbers of which only another unit makes an arm."""
        check_units(tree)
        return False

    def check(self, tree: Element, model: Any) -> None:
        """Raise ArmError for a tensor with which no arm can be."""
        rng, rotors = np.random.default_rng(0), np.diag(model.armature)
        places = (model.random_configuration(rng) for _ in range(20))
        matrices = (model.mass_matrix(q) - rotors for q in places)
        check_tensors(tree, model.impossible_inertias, matrices)


def check_units(tree: Element) -> None:
    """Raise ArmError for numbers of which only another unit makes an arm."""
    masses = [
        (float(mass.get('value', '0')), link.get('name'))
        for link in tree.iterfind('link')
        for mass in link.iterfind('inertial/mass')
    ]
    for mass, name in masses:
        if mass > _HEAVIEST:
            raise ArmError(f'link {name!r}: its mass is {mass:g} kg; is it written in grams?')
    for link in tree.iterfind('link'):
        for inertial in link.iterfind('inertial'):
            _check_size(inertial, f'link {link.get("name")!r}')
    turns = []
    for joint in tree.iterfind('joint'):
        where, origin = f'joint {joint.get("name")!r}', joint.find('origin')
        far = float(np.linalg.norm(vector(origin, 'xyz')))
        if far > _FARTHEST:
            raise ArmError(
                f'{where} is {far:g} m from the joint before it; are lengths written in '
                'millimetres?'
            )
        turn = float(abs(vector(origin, 'rpy')).max())
        if turn > _MOST_TURNED:
            raise ArmError(f'{where}: <origin> turns by {turn:g} rad; is it written in degrees?')
        limit = joint.find('limit')
        if limit is not None and joint.get('type') == 'revolute':
            bounds = [abs(float(limit.get(key, '0'))) for key in ('lower', 'upper')]
            turns.append((max(bounds), where))
    if turns and all(_MOST_TURNED < turn <= 720.0 for turn, _ in turns):
        turn, where = turns[0]
        raise ArmError(f'{where}: its <limit> is {turn:g} rad; is it written in degrees?')


def _check_size(inertial: Element, where: str) -> None:
    """Raise ArmError for a centre of mass, or moments for a mass, as far away as no link is."""
    far = float(np.linalg.norm(vector(inertial.find('origin'), 'xyz')))
    if far > _FARTHEST:
        raise ArmError(f'{where}: its centre of mass is {far:g} m away; is it in millimetres?')
    mass, inertia = inertial.find('mass'), inertial.find('inertia')
    if mass is not None and inertia is not None:
        heavy = float(mass.get('value', '0'))
        most = max(abs(float(inertia.get(name, '0'))) for name in MOMENTS)
        if heavy > _LIGHT and most > heavy * _FARTHEST**2:
            raise ArmError(
                f'{where}: {most:g} kg m^2 is that of {heavy:g} kg at a radius of '
                f'{np.sqrt(most / heavy):.3g} m; is it in g mm^2 or kg mm^2, or a mesh in '
                'millimetres?'
            )


def check_tensors(
    tree: Element, impossible: Mapping[str, tuple[Array, Array]], matrices: Iterable[Array]
) -> None:
    """Raise ArmError for a tensor with which no arm can be.

    Args:
        tree: the URDF.
        impossible: as `impossible_inertias` returns them; where there are none, all is well.
        matrices: mass matrices (n, n) in the joint range.
    """
    least = min(map(_least, matrices)) if impossible else 0.0
    for link, ((a, b, c), _) in sorted(impossible.items(), key=lambda item: item[1][0][0]):
        rows = any(
            _is_row_by_row(inertia)
            for each in tree.iterfind('link')
            for inertia in each.iterfind('inertial/inertia')
            if each.get('name') == link
        )
        if rows or least < 0.0:
            why = '; are its rows written in place of ixx ixy ixz iyy iyz izz?' * rows
            matrix = f'; the mass matrix has the eigenvalue {least:.3g}' * (least < 0.0)
            raise ArmError(
                f'link {link!r}: no body has the principal moments {a:.4g}, {b:.4g}, {c:.4g} '
                f'kg m^2{matrix}{why or ": correct its <inertia>"}'
            )


def _least(matrix: Array) -> float:
    """Return the least eigenvalue of a mass matrix (n, n), 0 for one that rounding explains."""
    values = np.linalg.eigvalsh(matrix)
    return float(values[0]) if values[0] < -1e-9 * values[-1] else 0.0


def _is_row_by_row(inertia: Element) -> bool:
    """Return whether a tensor was written row by row: xx xy xz yx yy yz, in these attributes."""
    xx, xy, xz, yx, yy, yz = (float(inertia.get(name, '0')) for name in MOMENTS)  # as meant
    off = max(abs(xy), abs(xz), abs(yx), abs(yz))
    return xx > 0.0 and yy > 0.0 and xy == yx and off < 0.5 * min(xx, yy)
