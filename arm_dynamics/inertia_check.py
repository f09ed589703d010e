"""Check that every joint of an arm moves an inertia."""

import numpy as np

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel


def check_inertia(model: RobotModel) -> None:
    """Raise ArmError where a joint moves no inertia except its rotor's."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        m = model.mass_matrix(model.random_configuration(rng)) - np.diag(model.armature)
        roots = np.sqrt(np.diagonal(m).clip(0.0))
        joint, smallest = int(roots.argmin()), 0.0
        if roots[joint] > 1e-7:
            values, vectors = np.linalg.eigh(m / np.outer(roots, roots))
            joint, smallest = int(np.abs(vectors[:, 0]).argmax()), values[0]
        if not smallest > 1e-12:
            raise ArmError(
                f'joint {model.joint_names[joint]!r} of {model.file or model.name!r} moves no '
                'inertia: use inertia:=estimate, or give the link behind it an '
                '<inertial> with mass'
            )
