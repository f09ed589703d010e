"""A model that is wrong on purpose: what a controller believes, or a payload it does not know."""

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.arrays import Array
from arm_dynamics.checks import in_range, per_joint
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel

_OF_LINKS = ('mass_scale', 'inertia_scale')
_OF_JOINTS = ('armature', 'damping', 'friction')


@dataclass(frozen=True)
class ModelError:
    """How an arm differs from its model. The default is no difference.

    A scale is one number for all moving links or one per link, base to tip.

    Attributes:
        mass_scale: factor on a link's mass; its inertia goes with it.
        inertia_scale: factor on a link's rotational inertia, on top of mass_scale.
        com_shift: (3) shift of every link's centre of mass, in the link's frame [m].
        payload: point mass at the tool frame's origin [kg].
        gravity: (3) in the base frame [m/s^2]; empty: the model's.
        friction: Coulomb friction [N.m | N], one number or one per joint; empty: the model's.
        damping: viscous friction [N.m.s/rad | N.s/m]; likewise.
        armature: rotor inertia on top of the model's [kg m^2 | kg], one number or one per joint.
        effort_scale: factor on all effort limits.
    """

    mass_scale: tuple[float, ...] = (1.0,)
    inertia_scale: tuple[float, ...] = (1.0,)
    com_shift: tuple[float, ...] = (0.0, 0.0, 0.0)
    payload: float = 0.0
    gravity: tuple[float, ...] = ()
    friction: tuple[float, ...] = ()
    damping: tuple[float, ...] = ()
    armature: tuple[float, ...] = (0.0,)
    effort_scale: float = 1.0

    def __post_init__(self):
        for name in _OF_LINKS:
            for value in getattr(self, name):
                in_range(f'model_error.{name}', value, 0.0, 100.0, exclusive=True)
        for name in _OF_JOINTS:
            for value in getattr(self, name):
                in_range(f'model_error.{name}', value, 0.0)
        in_range('model_error.payload', self.payload, 0.0, 1000.0)
        in_range('model_error.effort_scale', self.effort_scale, 0.0, 100.0, exclusive=True)
        for name, sizes in (('com_shift', (3,)), ('gravity', (0, 3))):
            values = getattr(self, name)
            if len(values) not in sizes or not np.isfinite(values).all():
                raise ArmError(f'model_error.{name} is {values}; it must be three finite numbers')

    @property
    def is_none(self) -> bool:
        """Whether nothing is different."""
        return self == ModelError()


def with_error(model: RobotModel, error: ModelError) -> RobotModel:
    """Return the model with the error in it: a new one, unless there is no error.

    Changes of the links are written into the URDF's text, so every engine that loads it has them.

    Raises:
        ArmError: a count of numbers that fits neither 1 nor the links or joints.
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
