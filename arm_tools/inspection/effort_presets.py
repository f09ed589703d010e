"""What the efforts of some makers' drivers are, with the source of each statement."""

from collections.abc import Sequence
from typing import NamedTuple


class Preset(NamedTuple):
    """Values of `--efforts` and `--gravity`, and what the numbers are."""

    efforts: str
    gravity: str
    what: str


PRESETS = {
    'ur': Preset(
        'current', 'auto',
        'motor currents in A (actual_current of the RTDE guide of Universal Robots; '
        'ur_robot_driver with use_currents_as_efforts, or below PolyScope 5.23 and 10.11)',
    ),
    'ur_torque': Preset(
        'torque', 'auto',
        'torques in N.m from motor currents (actual_current_as_torque of RTDE from PolyScope 5.23 '
        'and 10.11 on, the default of newer ur_robot_driver)',
    ),
    'franka': Preset(
        'torque', 'included',
        'tau_J of libfranka, N.m of the link-side sensors with gravity (RobotState; franka_ros2)',
    ),
    'franka_external': Preset(
        '', '',
        'tau_ext_hat_filtered of libfranka, which lacks what the maker\'s model explains, gravity '
        'and inertia (RobotState): nothing of the arm can be identified; record tau_J',
    ),
}  # fmt: skip


def preset_for(joints: Sequence[str]) -> str:
    """Return the preset of the maker whose arm has such joints, with currents; '' if none."""
    own = 'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_3_joint'
    return 'ur' if all(any(x.endswith(name) for x in joints) for name in own) else ''
