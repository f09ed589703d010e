"""Where links are, as a page in the browser takes it."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel


class LinkPoses:
    """Poses of some links of an arm, by one pass of forward kinematics.

    Attributes:
        links: their names.
    """

    def __init__(self, model: RobotModel, links: Sequence[str]):
        """Look the links up; refuses a name that the arm does not have."""
        self.links = tuple(links)
        self._model, self._ids = model, [model.frame_id(link) for link in links]
        self._data = model.pin_model.createData()

    def at(self, q: Array) -> Array:
        """Return (k, 7) of the links at q (n,) in the base frame.

        A row is the position x, y, z [m] and the unit quaternion w, x, y, z.
        """
        model, data = self._model.pin_model, self._data
        pin.forwardKinematics(model, data, self._model.to_pin(q))
        poses = [pin.updateFramePlacement(model, data, each) for each in self._ids]
        rows = np.array([pin.SE3ToXYZQUAT(pose) for pose in poses]).reshape(-1, 7)
        return rows[:, [0, 1, 2, 6, 3, 4, 5]]
