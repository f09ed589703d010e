"""Rules for URDFs besides the equations of motion: what is refused, mended, or named to the user.

A file `my_house.py` of this folder with a class `MyHouseRule(UrdfRule)` is one, and so is an entry
point of the group `arm_dynamics.urdf_rules`.
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
