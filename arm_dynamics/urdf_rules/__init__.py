"""Rules for URDFs besides the equations of motion: what is refused, mended, or named to the user.

A file `my_house.py` of this folder with a class `MyHouseRule(UrdfRule)` is one, and so is an entry
point of the group `arm_dynamics.urdf_rules`. A rule looks at the tree alone, as every node that
loads an arm calls it: doubts that need meshes are in `arm_tools.robot_doubts`.

    structure, units, shapes   refuse: links and joints, another unit, what cannot be read
    elements, names, srdf, other_programs   name what has no effect, or is not there
    magnitudes      name numbers that are too large or small on their own
    joint_numbers   ... limits, friction and rotors with which a joint moves otherwise than meant
    joint_slips     ... limits, angles and names of joints that are probably slips of the pen
    sizes           ... masses and moments of inertia that do not fit the arm's size
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

from arm_dynamics.plugins import PluginRegistry


class UrdfRule:
    """A rule; each method does nothing here.

    Attributes:
        order: rules are called in rising order.
    """

    order: ClassVar[float] = 50.0

    def read(self, tree: Element) -> bool:
        """Refuse a URDF by an ArmError, or mend it; return whether the tree has changed."""
        return False

    def notes(self, tree: Element, model: Any, tip_frame: str | None) -> Iterator[str]:
        """Yield what a user should know about a URDF and its `RobotModel`, one line each.

        `tip_frame`: the tool frame that was requested, None if none was.
        """
        yield from ()

    def check(self, tree: Element, model: Any) -> None:
        """Raise ArmError for a complete `RobotModel` that no arm is."""


RULES = PluginRegistry('rule for URDFs', __name__, __name__, base=UrdfRule, suffix='Rule')


@cache
def rules() -> tuple[UrdfRule, ...]:
    """Return all rules."""
    each = RULES.load_all(lambda rule: rule()).values()
    return tuple(sorted(each, key=lambda rule: rule.order))
