"""Errors of this project: one root, one clear line each."""


class ArmError(ValueError):
    """Bad input or an impossible request: says what, its value, what is allowed, and where."""


class JointLimitError(ArmError):
    """A joint quantity outside its limits.

    Attributes:
        joint: name of the joint.
        value: offending value, in the unit of the quantity.
        lower, upper: allowed interval (either may be infinite).
    """

    def __init__(self, message: str, *, joint: str, value: float, lower: float, upper: float):
        super().__init__(message)
        self.joint = joint
        self.value = value
        self.lower = lower
        self.upper = upper


def limit_error(
    joint: str, quantity: str, value: float, lower: float, upper: float, unit: str, where: str = ''
) -> JointLimitError:
    """Return the error for `value` outside [lower, upper], in the wording used everywhere.

    Example: joint 'elbow_joint': position 3.31 rad is above its upper limit 3.14 rad (point 4).
    """
    side, bound = ('above its upper', upper) if value > upper else ('below its lower', lower)
    place = f' ({where})' if where else ''
    return JointLimitError(
        f'joint {joint!r}: {quantity} {value:.6g} {unit} is {side} limit'
        f' {bound:.6g} {unit}{place}',
        joint=joint,
        value=value,
        lower=lower,
        upper=upper,
    )
