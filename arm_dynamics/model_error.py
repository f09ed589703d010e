"""Model error: the difference between an arm and the model that its controller uses."""

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import ClassVar
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, per_joint
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_dynamics.urdf_elements import number_text, set_inertial, vector

# Of links, of joints.
_IN_PARTS = ('mass_scale', 'inertia_scale', 'length_scale', 'armature', 'damping', 'friction')


@dataclass(frozen=True)
class ModelError(Parameters):
    """Model error of an arm; the default is none.

    A scale is one number for all moving links, or one per link from base to tip; that of lengths
    is one number for all joints, or one per joint.
    """

    prefix: ClassVar[str] = 'model_error.'

    mass_scale: PerJoint = parameter(
        (1.0,), 'factor on the mass and inertia of each link [1]', above=0, max=100
    )
    inertia_scale: PerJoint = parameter(
        (1.0,), 'additional factor on the rotational inertia of each link [1]', above=0, max=100
    )
    com_shift: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), "shift of each link's centre of mass, in its frame [m]", length=3
    )
    payload: float = parameter(0.0, 'point mass at the tool frame [kg]', min=0, max=1000)
    gravity: tuple[float, ...] = parameter(
        (), "gravity in the base frame [m/s^2]; empty: the model's", length=3
    )
    friction: PerJoint = parameter((), "Coulomb friction [N.m | N]; empty: the model's", min=0)
    damping: PerJoint = parameter(
        (), "viscous friction [N.m.s/rad | N.s/m]; empty: the model's", min=0
    )
    armature: PerJoint = parameter((0.0,), 'additional rotor inertia [kg m^2 | kg]', min=0)
    effort_scale: float = parameter(1.0, 'factor on all effort limits [1]', above=0, max=100)
    length_scale: PerJoint = parameter(
        (1.0,), 'factor on the distance of each joint from the one before [1]', above=0, max=100
    )

    @property
    def of_geometry(self) -> bool:
        """Whether the tip is elsewhere than the model's at the same joint positions."""
        return any(each != 1.0 for each in self.length_scale)

    def __post_init__(self) -> None:
        super().__post_init__()
        for each in fields(self):
            for value in getattr(self, each.name) if each.name in _IN_PARTS else ():
                self.check(each, value)


def with_error(model: RobotModel, error: ModelError) -> RobotModel:
    """Return a new model with the error; the same model if there is no error.

    Changes of the links are written into the URDF, so that every engine loads them.
    """
    if error == ModelError():
        return model
    tree = ElementTree.fromstring(model.urdf)
    inertials = list(_inertials(model, tree).values())
    masses = _per_link('mass_scale', error.mass_scale, len(inertials))
    inertias = _per_link('inertia_scale', error.inertia_scale, len(inertials))
    for inertial, mass_scale, inertia_scale in zip(inertials, masses, inertias, strict=True):
        for element in inertial.iterfind('mass'):
            _scale(element, mass_scale, 'value')
        for element in inertial.iterfind('inertia'):  # about the centre of mass
            _scale(element, mass_scale * inertia_scale, *element.keys())
        if any(error.com_shift):
            origin = inertial.find('origin')
            origin = SubElement(inertial, 'origin') if origin is None else origin
            origin.set('xyz', number_text(vector(origin, 'xyz') + error.com_shift))
    if error.of_geometry:
        scales = per_joint('model_error.length_scale', error.length_scale, model.joint_names)
        for name, scale in zip(model.joint_names, scales, strict=True):
            origin = tree.find(f"joint[@name='{name}']/origin")
            if origin is not None:
                origin.set('xyz', number_text(vector(origin, 'xyz') * scale))
    for limit in tree.iterfind('joint/limit'):
        _scale(limit, error.effort_scale, 'effort')
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
        model.notes,
    )


@lru_cache(maxsize=16)
def links_with_mass(model: RobotModel) -> tuple[str, ...]:
    """Return the names of the moving links with a mass, in the order of `mass_scale`."""
    return tuple(_inertials(model, ElementTree.fromstring(model.urdf)))


def _inertials(model: RobotModel, tree: Element) -> dict[str, Element]:
    frames = model.pin_model.frames
    return {
        link.get('name', ''): inertial
        for link in tree.findall('link')
        if frames[model.frame_id(link.get('name', ''))].parentJoint > 0  # some joint moves it
        and (inertial := link.find('inertial')) is not None
    }


def _per_link(name: str, values: tuple[float, ...], count: int) -> tuple[float, ...]:
    if len(values) not in (1, count):
        raise ArmError(
            f'model_error.{name} has {len(values)} values; allowed: 1 or {count} (links with mass)'
        )
    return values * count if len(values) == 1 else values


def _scale(element: Element, factor: float, *names: str) -> None:
    for name in names:
        element.set(name, repr(float(element.get(name, '0')) * float(factor)))


def _add_payload(tree: Element, tip_frame: str, mass: float) -> None:
    """Add a steel ball as a link, and the joint that fixes it to the tool frame."""
    radius = (mass / 7850.0 * 3.0 / (4.0 * np.pi)) ** (1.0 / 3.0)
    # One may be there, of another error.
    name = 'payload' if tree.find("link[@name='payload']") is None else f'payload_{len(tree)}'
    ball = SubElement(tree, 'link', name=name)
    set_inertial(ball, mass, np.zeros(3), 0.4 * mass * radius**2 * np.eye(3))
    joint = SubElement(tree, 'joint', name=f'{name}_joint', type='fixed')
    SubElement(joint, 'parent', link=tip_frame)
    SubElement(joint, 'child', link=name)
