"""Identified parameters as a URDF, as entries of a parameter file, and as a model."""

from xml.etree import ElementTree
from xml.etree.ElementTree import SubElement

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import ParameterValues
from arm_dynamics.urdf_elements import set_inertial
from arm_lab.identification.regressor import JointRegressor


def identified_urdf(regressor: JointRegressor, pi: Array) -> str:
    """Return the URDF's text with the identified parameters pi (14 n,).

    A link that a joint moves gets the inertia of the links that are fixed to it; these have none.
    """
    model, n = regressor.model, regressor.model.nv
    tree = ElementTree.fromstring(model.urdf)
    frames = model.pin_model.frames
    owner = dict(zip(regressor.link_names, pi[regressor.links].reshape(n, 10), strict=True))
    for link in tree.iterfind('link'):
        name = link.get('name', '')
        if frames[model.frame_id(name)].parentJoint == 0:
            continue  # no joint moves the link
        if name in owner:
            body = pin.Inertia.FromDynamicParameters(owner[name])
            set_inertial(link, body.mass, body.lever, body.inertia)
        else:
            for inertial in link.findall('inertial'):
                link.remove(inertial)
    damping, friction = pi[11 * n : 12 * n], pi[12 * n : 13 * n]
    for joint in tree.iterfind('joint'):
        if joint.get('name') in model.joint_names:
            i = model.joint_names.index(joint.get('name', ''))
            dynamics = joint.find('dynamics')
            dynamics = SubElement(joint, 'dynamics') if dynamics is None else dynamics
            dynamics.set('damping', repr(float(damping[i])))
            dynamics.set('friction', repr(float(friction[i])))
    return ElementTree.tostring(tree, encoding='unicode') + '\n'


def joint_parameters(model: RobotModel, pi: Array) -> ParameterValues:
    """Return gravity and the joints' identified parameters, as a parameter file has them."""
    n = model.nv
    rotors, damping, friction = (pi[k * n : (k + 1) * n].tolist() for k in (10, 11, 12))
    gravity = model.gravity.tolist()
    return {'gravity': gravity, 'armature': rotors, 'damping': damping, 'friction': friction}


def with_parameters(regressor: JointRegressor, pi: Array) -> RobotModel:
    """Return the model with the identified parameters pi (14 n,)."""
    model = regressor.model
    urdf = identified_urdf(regressor, pi)
    return RobotModel(urdf, model.tip_frame, **joint_parameters(model, pi))


def weightless(model: RobotModel) -> RobotModel:
    """Return the model without gravity, for efforts that lack the weight of the links."""
    joints = {'armature': model.armature, 'damping': model.damping, 'friction': model.friction}
    values = {name: np.asarray(x).tolist() for name, x in joints.items()}
    return RobotModel(model.urdf, model.tip_frame, gravity=[0.0, 0.0, 0.0], **values)
