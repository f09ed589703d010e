"""Press: the tool approaches a surface whose place it does not know, and presses on it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arm_controllers.follower.goal import Goal
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.tasks._contact import ContactTask, SurfaceParameters

_SIZE, _THICKNESS = 0.6, 0.04  # of the surface [m]


@dataclass(frozen=True, kw_only=True)
class TiltedParameters(SurfaceParameters):
    """A tilted surface, and the force on it."""

    surface_tilt: float = parameter(
        0.0, 'tilt of the surface about the y axis of the base, unknown to the controller [deg]',
        min=-45, max=45,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PressParameters(TiltedParameters):
    """The surface, the force on it, and the duration."""

    duration: float = parameter(
        6.0, 'duration of the task [s]; its last second counts as rest', min=3, max=3600
    )


class Press(ContactTask):
    """The tool presses on a surface below it, and the force comes to rest."""

    Parameters: ClassVar[type[Parameters]] = PressParameters

    def prepare(self) -> None:
        """Put the surface below the tool, and set the times."""
        press_down(self)
        self.duration = self.parameters.duration
        self.measured = self.duration - 1.0, self.duration

    def goal(self) -> Goal | None:
        """Return no trajectory: the arm holds its place but for the force."""
        return None


def press_down(task: ContactTask) -> None:
    """Put a tilted surface below the tool of a task with TiltedParameters; the force is down."""
    p, model = task.parameters, task.robot.model
    deep = p.force / p.surface_stiffness
    if deep > 0.5 * _THICKNESS:  # beyond, the contact pushes the tool out at the other side
        raise ArmError(
            f'force {p.force:g} N presses {1e3 * deep:.3g} mm into a surface_stiffness of '
            f'{p.surface_stiffness:g} N/m; the surface allows {500 * _THICKNESS:g} mm'
        )
    from scipy.spatial.transform import Rotation  # slow to import; few tasks need it

    tilt = Rotation.from_euler('y', p.surface_tilt, degrees=True)
    task.normal = normal = tilt.apply((0.0, 0.0, 1.0))
    tip = model.forward_kinematics(task.robot.start).translation
    middle = tip - (p.distance + 0.5 * _THICKNESS) * normal
    surface = p.surface(
        name='surface', size=(_SIZE, _SIZE, _THICKNESS), position=tuple(middle.tolist()),
        rotation=tuple(tilt.as_euler('xyz').tolist()),
    )  # fmt: skip
    task.touch([surface])
    task.wrench = np.array([0.0, 0.0, -p.force, 0.0, 0.0, 0.0])
