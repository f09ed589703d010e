"""Links' inertias as MuJoCo reads them, and those that it is given after it has read."""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import pinocchio as pin

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.urdf import bare
from arm_dynamics.urdf_elements import MOMENTS, link_of
from arm_dynamics.urdf_numbers import principal_moments

_ROD = 1e-9  # share of a link's largest moment below which the least one is none
_POINT = 1e-18  # largest moment of a link that has none [kg m^2]
_LEAST = '1e-14'  # mass and moments that MuJoCo asks of every link behind a joint [kg, kg m^2]


def refused_inertias(model: RobotModel) -> dict[str, tuple[Array, Array]]:
    """Return inertias that MuJoCo does not read, by link, as `principal_moments` gives them.

    Those that no body has, those of rods, and of points behind a joint that have a mass; that of a
    link that does not move does not matter.
    """
    tree = _links(model)
    moved, behind = _moved_links(model), _behind_joints(tree)
    heavy = {link.get('name', '') for link in tree.iterfind('link') if _mass(link)}
    refused = {}
    for link, (moments, axes) in principal_moments(tree).items():
        is_point = abs(moments).max() <= _POINT
        is_rod = moments[0] <= _ROD * moments[2]
        asked = link in behind and link in heavy if is_point else link in moved
        if asked and (is_rod or link in model.impossible_inertias):
            refused[link] = moments, axes
    return refused


def make_readable(tree: Element, model: RobotModel) -> None:
    """Change the inertias of a model's URDF to such as MuJoCo reads.

    A temporary inertia replaces those that it refuses; links that do not move have none; those
    between two joints that have no mass of their own get the least that there is.
    """
    refused, moved = refused_inertias(model), _moved_links(model)
    moments = principal_moments(_links(model))
    points = {link for link, (values, _) in moments.items() if abs(values).max() <= _POINT}
    for link in tree.iterfind('link'):
        name = link.get('name', '')
        if name in refused or name in points:
            one = '1' if name in refused else '0'
            for inertia in link.iterfind('inertial/inertia'):
                inertia.attrib.update(dict.fromkeys(MOMENTS, '0'), ixx=one, iyy=one, izz=one)
        if name not in moved:
            for inertial in link.findall('inertial'):
                link.remove(inertial)
    _fill_massless(tree)


def _links(model: RobotModel) -> Element:
    return bare(ElementTree.fromstring(model.urdf))


def _moved_links(model: RobotModel) -> set[str]:
    frames, body = model.pin_model.frames, pin.FrameType.BODY
    return {frame.name for frame in frames if frame.type == body and frame.parentJoint}


def _behind_joints(tree: Element) -> set[str]:
    """Return the links that a joint moves against the link before it."""
    joints = tree.iterfind('joint')
    return {link_of(joint, 'child') for joint in joints if joint.get('type') != 'fixed'}


def _mass(link: Element) -> float:
    return sum(float(mass.get('value', '0')) for mass in link.iterfind('inertial/mass'))


def _fill_massless(tree: Element) -> None:
    behind = _behind_joints(tree)
    least = dict.fromkeys(MOMENTS, '0') | dict.fromkeys(('ixx', 'iyy', 'izz'), _LEAST)
    for link in tree.iterfind('link'):
        if link.get('name') in behind and not _mass(link):
            inertia = link.find('inertial/inertia')
            if inertia is not None and any(float(inertia.get(name, '0')) for name in MOMENTS):
                for mass in link.iterfind('inertial/mass'):  # moments without mass are kept
                    mass.set('value', _LEAST)
                continue
            for inertial in link.findall('inertial'):
                link.remove(inertial)
            inertial = SubElement(link, 'inertial')
            SubElement(inertial, 'mass', value=_LEAST)
            SubElement(inertial, 'inertia', least)
