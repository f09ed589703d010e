"""The arms that are tried where none is named: shipped ones, and those of example-robot-data."""

from pathlib import Path
from xml.etree import ElementTree

from arm_dynamics.descriptions.sources.named_models import example_models
from arm_dynamics.robots import robot_names
from arm_dynamics.urdf_elements import link_of, moves

# Arms of robots that have more than one: file of example-robot-data, and the tool.
_ARMS_OF = (
    ('baxter', 'left_gripper'),
    ('pr2', 'r_gripper_tool_frame'),
    ('tiago_no_hand', 'wrist_ft_tool_link'),
    ('tiago_pro', 'arm_left_tool_link'),
    ('talos_reduced', 'gripper_left_base_link'),
    ('romeo_small', 'l_gripper'),
    ('icub_reduced', 'l_gripper'),
    ('g1_29dof_rev_1_0', 'left_rubber_hand'),
    ('alex_nub_hands', 'leftNub'),
    ('anymal-kinova', 'j2s6s200_end_effector'),
    ('b1-z1', 'gripperMover'),
)


def all_arms() -> list[str]:
    """Return every arm that is installed, as `robot:=` takes it.

    Shipped robots; files of example-robot-data whose joints make one chain; arms of others.
    """
    files = example_models()
    serial = [name for name, found in files.items() if len(found) == 1 and is_serial(found[0])]
    parts = [f'{name} tip_frame:={tool} joints:=chain' for name, tool in _ARMS_OF if name in files]
    return [*robot_names(), *sorted(serial), *parts]


def is_serial(urdf: Path) -> bool:
    """Whether a URDF has joints that move, all on one chain; couplings by <mimic> do not count."""
    joints = list(ElementTree.parse(urdf).iterfind('joint'))
    led = {mimic.get('joint') for joint in joints for mimic in joint.iterfind('mimic')}
    above = {link_of(joint, 'child'): link_of(joint, 'parent') for joint in joints}
    moved = {
        link_of(joint, 'child')
        for joint in joints
        if moves(joint) and joint.find('mimic') is None and joint.get('name') not in led
    }
    chains = [_moved_above(link, above, moved) for link in moved]
    return bool(moved) and moved in chains


def _moved_above(link: str, above: dict[str, str], moved: set[str]) -> set[str]:
    """Return which moved links are on the way from a link to the root."""
    seen: set[str] = set()
    while link and link not in seen:
        seen.add(link)
        link = above.get(link, '')
    return seen & moved
