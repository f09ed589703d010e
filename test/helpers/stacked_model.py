"""A model of many arms for tests: RobotModel's functions, arm by arm."""

import numpy as np

from arm_dynamics.frames import FrameMotion
from arm_dynamics.model import RobotModel

OF_EACH_ARM = (
    'mass_matrix', 'coriolis_matrix', 'gravity_torque', 'bias_torque', 'friction_torque',
    'inverse_dynamics', 'jacobian', 'frame_motion', 'poses', 'regressor',
)  # fmt: skip


class StackedModel:
    """The functions of a model for arrays with leading axes; the rest is the model's own."""

    def __init__(self, model: RobotModel):
        vars(self).update(vars(model))
        self._model = model

    def __getattr__(self, name):
        own = getattr(self._model, name)
        return stacked(own) if name in OF_EACH_ARM else own


def stacked(function):
    """Return a function of arrays (..., n) that asks `function` for each row."""

    def answers(*arguments):
        arrays = [a for a in arguments if isinstance(a, np.ndarray)]
        others = arguments[len(arrays) :]
        *arms, _ = np.broadcast_shapes(*(array.shape for array in arrays))
        rows = [np.broadcast_to(a, (*arms, a.shape[-1])).reshape(-1, a.shape[-1]) for a in arrays]
        found = [function(*one, *others) for one in zip(*rows, strict=True)]
        if isinstance(found[0], tuple):
            parts = [together(part, arms) for part in zip(*found, strict=True)]
            return FrameMotion(*parts) if isinstance(found[0], FrameMotion) else tuple(parts)
        return together(found, arms)

    return answers


def together(rows, arms):
    return np.reshape(rows, (*arms, *np.shape(rows[0])))
