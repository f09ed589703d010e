"""Errors of this project: one root, one clear line each."""


class ArmError(ValueError):
    """Bad input or an impossible request: says what, its value, what is allowed, and where."""


def unit(quantity: str, prismatic: bool) -> str:
    """Return the unit of a joint's position, velocity, acceleration or torque."""
    if quantity.startswith('torque'):
        return 'N' if prismatic else 'N.m'
    per = {'position': '', 'velocity': '/s', 'acceleration': '/s^2'}[quantity]
    return ('m' if prismatic else 'rad') + per


class JointLimitError(ArmError):
    """A joint quantity outside its limits, in the wording used everywhere.

    Example: joint 'elbow_joint': position 3.31 rad is above its upper limit 3.14 rad (point 4).

    Attributes:
        joint: name of the joint.
        value: offending value, in the unit of the quantity.
        lower, upper: allowed interval (either may be infinite).
    """

    def __init__(
        self,
        joint: str,
        quantity: str,
        value: float,
        lower: float,
        upper: float,
        prismatic: bool,
        where: str = '',
    ):
        side, bound = ('above its upper', upper) if value > upper else ('below its lower', lower)
        of = unit(quantity, prismatic)
        digits = 6 if abs(value - bound) > 1e-5 * abs(bound) else 10
        place = f' ({where})' if where else ''
        super().__init__(
            f'joint {joint!r}: {quantity} {value:.{digits}g} {of} is {side} limit'
            f' {bound:.{digits}g} {of}{place}'
        )
        self.joint, self.value, self.lower, self.upper = joint, value, lower, upper
