"""An arm's URDF with other inertias and joint friction, and what a parameter file says of it."""

from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array
from arm_dynamics.identification.regressor import JointRegressor
from arm_dynamics.model import RobotModel


def identified_urdf(regressor: JointRegressor, pi: Array) -> str:
    """Return the URDF's text with parameters pi (13 n,).

    A link that a joint moves has all that moves with it; links fixed to it lose their inertials.
    """
    model, n = regressor.model, regressor.model.nv
    tree = ElementTree.fromstring(model.urdf)
    frames = model.pin_model.frames
    owner = dict(zip(regressor.link_names, pi[regressor.links].reshape(n, 10), strict=True))
    for link in tree.iterfind('link'):
        name = link.get('name', '')
        if frames[model.frame_id(name)].parentJoint == 0:
            continue  # it stands
        for inertial in link.findall('inertial'):
            link.remove(inertial)
        if name in owner:
            link.insert(0, _inertial(owner[name]))
    damping, friction = pi[11 * n : 12 * n], pi[12 * n :]
    for joint in tree.iterfind('joint'):
        if joint.get('name') in model.joint_names:
            i = model.joint_names.index(joint.get('name', ''))
            dynamics = joint.find('dynamics')
            dynamics = SubElement(joint, 'dynamics') if dynamics is None else dynamics
            dynamics.set('damping', repr(float(damping[i])))
            dynamics.set('friction', repr(float(friction[i])))
    return ElementTree.tostring(tree, encoding='unicode') + '\n'


def joint_parameters(model: RobotModel, pi: Array) -> dict[str, Any]:
    """Return the parameters of joints (and the model's gravity) for a parameter file."""
    n = model.nv
    rotors, damping, friction = (pi[k * n : (k + 1) * n].tolist() for k in (10, 11, 12))
    told = {'armature': rotors, 'damping': damping, 'friction': friction}
    return {'gravity': model.gravity.tolist(), **told}


def with_parameters(regressor: JointRegressor, pi: Array) -> RobotModel:
    """Return the model of an arm with parameters pi (13 n,)."""
    model = regressor.model
    told = joint_parameters(model, pi)
    return RobotModel(identified_urdf(regressor, pi), model.tip_frame, **told)


def _inertial(pi: Array) -> Element:
    body = pin.Inertia.FromDynamicParameters(np.asarray(pi))
    inertial = Element('inertial')
    place = ' '.join(repr(float(x)) for x in body.lever)
    SubElement(inertial, 'origin', xyz=place, rpy='0 0 0')
    SubElement(inertial, 'mass', value=repr(float(body.mass)))
    moments = {
        f'i{"xyz"[i]}{"xyz"[j]}': repr(float(body.inertia[i, j]))
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    }
    SubElement(inertial, 'inertia', moments)
    return inertial
