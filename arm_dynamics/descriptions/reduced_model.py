"""The model of some joints of an arm, for a controller that commands these joints only."""

from collections.abc import Collection
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import unknown
from arm_dynamics.descriptions.held_joints import hold_others
from arm_dynamics.model import RobotModel


def reduced_model(
    model: RobotModel, joint_names: Collection[str], q: ArrayLike | None = None
) -> RobotModel:
    """Return the model of these joints of an arm; its other joints are fixed.

    Args:
        model: of the whole arm.
        joint_names: of the joints that remain, in any order.
        q: (n,) positions of all joints, at which the others are fixed; None: neutral.

    Raises:
        ArmError: no such joint, or a q that the arm cannot have.
    """
    for name in joint_names:
        if name not in model.joint_names:
            raise unknown('joint', name, model.joint_names)
    own = np.array([name in joint_names for name in model.joint_names])
    if own.all():
        return model
    tree = ElementTree.fromstring(model.urdf)
    q = model.neutral() if q is None else model.check_configuration(q, 'q')
    places = dict(zip(model.joint_names, q.tolist(), strict=True))
    hold_others(tree, [*joint_names], places=places)
    numbers = (model.armature[own], model.damping[own], model.friction[own])
    text = ElementTree.tostring(tree, encoding='unicode')
    return RobotModel(text, model.tip_frame, model.gravity, *numbers)
