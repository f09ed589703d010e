"""A model that is wrong on purpose: what a controller believes, or a payload it does not know."""

from dataclasses import dataclass, fields
from typing import ClassVar
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, per_joint
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, PerJoint, parameter

# Of links, of joints.
_IN_PARTS = ('mass_scale', 'inertia_scale', 'armature', 'damping', 'friction')


@dataclass(frozen=True)
class ModelError(Parameters):
    """How an arm differs from its model. The default is no difference.

    A scale is one number for all moving links or one per link, base to tip.
    """

    prefix: ClassVar[str] = 'model_error.'

    mass_scale: PerJoint = parameter(
        (1.0,), "factor on a link's mass; its inertia goes with it", above=0, max=100
    )
    inertia_scale: PerJoint = parameter(
        (1.0,),
        "factor on a link's rotational inertia, on top of mass_scale",
        above=0,
        max=100,
    )
    com_shift: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), "shift of every link's centre of mass, in the link's frame [m]", length=3
    )
    payload: float = parameter(0.0, "point mass at the tool frame's origin [kg]", min=0, max=1000)
    gravity: tuple[float, ...] = parameter((), "base frame [m/s^2]; empty: the model's", length=3)
    friction: PerJoint = parameter((), "Coulomb friction [N.m | N]; empty: the model's", min=0)
    damping: PerJoint = parameter(
        (), "viscous friction [N.m.s/rad | N.s/m]; empty: the model's", min=0
    )
    armature: PerJoint = parameter((0.0,), "rotor inertia beside the model's [kg m^2 | kg]", min=0)
    effort_scale: float = parameter(1.0, 'factor on all effort limits', above=0, max=100)

    def __post_init__(self) -> None:
        super().__post_init__()
        for each in fields(self):
            for value in getattr(self, each.name) if each.name in _IN_PARTS else ():
                self.check(each, value)

    @property
    def is_none(self) -> bool:
        """Whether nothing is different."""
        return self == ModelError()


def with_error(model: RobotModel, error: ModelError) -> RobotModel:
    """Return the model with the error in it: a new one, unless there is no error.

    Changes of the links are written into the URDF's text, so every engine that loads it has them.
    """
    if error.is_none:
        return model
    tree = ElementTree.fromstring(model.urdf)
    frames = model.pin_model.frames
    links = [
        link
        for link in tree.findall('link')
        if frames[model.frame_id(link.get('name'))].parentJoint > 0  # some joint moves it
        and link.find('inertial') is not None
    ]
    masses = _per_link('mass_scale', error.mass_scale, len(links))
    inertias = _per_link('inertia_scale', error.inertia_scale, len(links))
    for link, mass_scale, inertia_scale in zip(links, masses, inertias, strict=True):
        _change_inertial(link, mass_scale, inertia_scale, np.array(error.com_shift))
    for limit in tree.iterfind('joint/limit'):
        limit.set('effort', repr(float(limit.get('effort', '0')) * error.effort_scale))
    if error.payload > 0.0:
        _add_payload(tree, model.tip_frame, error.payload)

    def of_joints(name: str, otherwise: ArrayLike) -> Array:
        values = getattr(error, name) or otherwise
        return per_joint(f'model_error.{name}', values, model.joint_names)

    return RobotModel(
        ElementTree.tostring(tree, encoding='unicode'),
        model.tip_frame,
        error.gravity or model.gravity,
        model.armature + of_joints('armature', 0.0),
        of_joints('damping', model.damping),
        of_joints('friction', model.friction),
    )


def _per_link(name: str, values: tuple[float, ...], count: int) -> tuple[float, ...]:
    if len(values) not in (1, count):
        raise ArmError(
            f'model_error.{name} has {len(values)} values; allowed: 1 or {count} (links with mass)'
        )
    return values * count if len(values) == 1 else values


def _change_inertial(
    link: ElementTree.Element, mass_scale: float, inertia_scale: float, shift: np.ndarray
) -> None:
    """Scale mass and inertia about the centre of mass, then shift that centre."""
    inertial = link.find('inertial')
    mass, inertia, origin = (inertial.find(tag) for tag in ('mass', 'inertia', 'origin'))  # type: ignore[union-attr]
    if mass is not None:
        mass.set('value', repr(float(mass.get('value', '0')) * float(mass_scale)))
    if inertia is not None:
        for key, value in inertia.attrib.items():
            inertia.set(key, repr(float(value) * float(mass_scale * inertia_scale)))
    if shift.any():
        if origin is None:
            origin = ElementTree.SubElement(inertial, 'origin')  # type: ignore[arg-type]
        centre = np.array([float(x) for x in origin.get('xyz', '0 0 0').split()]) + shift
        origin.set('xyz', ' '.join(repr(float(x)) for x in centre))


def _add_payload(tree: ElementTree.Element, tip_frame: str, mass: float) -> None:
    """Hang a small steel ball of this mass on the tool frame."""
    radius = (mass / 7850.0 * 3.0 / (4.0 * np.pi)) ** (1.0 / 3.0)
    moment = float(0.4 * mass * radius**2)
    link = ElementTree.SubElement(tree, 'link', name='payload')
    inertial = ElementTree.SubElement(link, 'inertial')
    ElementTree.SubElement(inertial, 'mass', value=repr(float(mass)))
    values = dict.fromkeys(('ixx', 'iyy', 'izz'), repr(moment))
    ElementTree.SubElement(inertial, 'inertia', values, ixy='0', ixz='0', iyz='0')
    joint = ElementTree.SubElement(tree, 'joint', name='payload_joint', type='fixed')
    ElementTree.SubElement(joint, 'parent', link=tip_frame)
    ElementTree.SubElement(joint, 'child', link='payload')
