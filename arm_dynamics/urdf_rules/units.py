"""Refuses a URDF of which no physical arm can be; each line has the probable mistake."""

from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.urdf_elements import MOMENTS, vector
from arm_dynamics.urdf_rules import UrdfRule
from arm_dynamics.urdf_tree import length, mass_of, number

# Beyond these numbers the unit is another.
_HEAVIEST = 2e4  # link [kg]
_FARTHEST = 50.0  # from joint to joint, and of a centre of mass [m]
_MOST_TURNED = 40.0  # angle [rad]
_LIGHT = 0.01  # a lighter link may stand for a rotor [kg]


class UnitsRule(UrdfRule):
    """Numbers and tensors are those of a physical arm in units of the SI."""

    order = 10.0

    def read(self, tree: Element) -> bool:
        """Raise ArmError for numbers of which only another unit makes an arm."""
        for link in tree.iterfind('link'):
            _check_inertial(link, f'link {link.get("name")!r}')
        bounds = []
        for joint in tree.iterfind('joint'):
            where, far = f'joint {joint.get("name")!r}', length(joint)
            if far > _FARTHEST:
                raise ArmError(
                    f'{where} is {far:g} m from the joint before it; are lengths written in '
                    'millimetres?'
                )
            turn = float(abs(vector(joint.find('origin'), 'rpy')).max())
            if turn > _MOST_TURNED:
                raise ArmError(
                    f'{where}: <origin> turns by {turn:g} rad; is it written in degrees?'
                )
            if joint.find('limit') is not None and joint.get('type') == 'revolute':
                both = (abs(number(joint, 'limit', key)) for key in ('lower', 'upper'))
                bounds.append((max(both), where))
        if bounds and all(_MOST_TURNED < bound <= 720.0 for bound, _ in bounds):
            bound, where = bounds[0]
            raise ArmError(f'{where}: its <limit> is {bound:g} rad; is it written in degrees?')
        return False

    def check(self, tree: Element, model: RobotModel) -> None:
        """Raise ArmError for a tensor with which no arm can be."""
        if not model.impossible_inertias:
            return
        rng, rotors = np.random.default_rng(0), np.diag(model.armature)
        places = (model.random_configuration(rng) for _ in range(20))
        least = min(_least(model.mass_matrix(q) - rotors) for q in places)
        tensors = {
            link.get('name', ''): inertia
            for link in tree.iterfind('link')
            for inertia in link.iterfind('inertial/inertia')
        }
        by_least_moment = sorted(model.impossible_inertias.items(), key=lambda x: x[1][0][0])
        for link, ((a, b, c), _) in by_least_moment:
            rows = _is_row_by_row(tensors[link])
            if rows or least < 0.0:
                why = '; are its rows written in place of ixx ixy ixz iyy iyz izz?' * rows
                matrix = f'; the mass matrix has the eigenvalue {least:.3g}' * (least < 0.0)
                raise ArmError(
                    f'link {link!r}: no body has the principal moments {a:.4g}, {b:.4g}, {c:.4g} '
                    f'kg m^2{matrix}{why or ": correct its <inertia>"}'
                )


def _check_inertial(link: Element, where: str) -> None:
    """Raise ArmError for a mass, a centre of mass or moments as no link has them."""
    mass, far = mass_of(link), length(link, 'inertial/origin')
    if mass > _HEAVIEST:
        raise ArmError(f'{where}: its mass is {mass:g} kg; is it written in grams?')
    if far > _FARTHEST:
        raise ArmError(f'{where}: its centre of mass is {far:g} m away; is it in millimetres?')
    most = max(abs(number(link, 'inertial/inertia', name)) for name in MOMENTS)
    if mass > _LIGHT and most > mass * _FARTHEST**2:
        raise ArmError(
            f'{where}: {most:g} kg m^2 is that of {mass:g} kg at a radius of '
            f'{np.sqrt(most / mass):.3g} m; is it in g mm^2 or kg mm^2, or a mesh in '
            'millimetres?'
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
