"""Contact properties of bodies: stiffness, damping or restitution, friction."""

from dataclasses import dataclass, fields
from functools import cache, lru_cache
from math import sqrt

from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, parameter

_FINEST = 0.02  # time step [1 / rate], below which a restitution does not change any more


@dataclass(frozen=True, kw_only=True)
class Material(Parameters):
    """Contact properties of two bodies."""

    stiffness: float = parameter(1e4, 'stiffness of a contact point [N/m]', above=0, max=1e9)
    damping: float = parameter(0.0, 'damping of a contact point [N.s/m]', min=0, max=1e7)
    restitution: float = parameter(
        -1.0, 'speed after an impact of one point over speed before [1], in place of damping; '
        '-1: damping is given',
        min=-1, max=1,
    )  # fmt: skip
    friction: float = parameter(0.7, 'Coulomb friction coefficient [1]', min=0, max=10)

    def __post_init__(self) -> None:
        super().__post_init__()
        if -1.0 < self.restitution < 0.0:
            raise ArmError(f'restitution is {self.restitution:g}; it must be within [0, 1]')
        if self.restitution >= 0.0 and self.damping:
            raise ArmError('a contact has either damping or restitution, not both')


NUMBERS = tuple(each.name for each in fields(Material))


def numbers_of(material: Material) -> tuple[float, ...]:
    """Return the NUMBERS of a material, which a shape in MuJoCo has as its user data."""
    return tuple(getattr(material, name) for name in NUMBERS)


@lru_cache
def softer(one: Material, other: Material) -> Material:
    """Return the material of a contact: that of the softer body, with the smaller friction."""
    soft = one if one.stiffness <= other.stiffness else other
    return Material(
        stiffness=soft.stiffness,
        damping=soft.damping,
        restitution=soft.restitution,
        friction=min(one.friction, other.friction),
    )


def restitution_of(damping_ratio: float, step: float) -> float:
    """Return the restitution [1] of a mass on a spring-damper that pushes and never pulls.

    Args:
        damping_ratio: c / (2 sqrt(k m)).
        step: time step of semi-implicit Euler's method, times sqrt(k / m). As it goes to zero,
            the result goes to the closed form of Schwager and Poeschel, "Coefficient of
            restitution and linear-dashpot model revisited", Granular Matter 9, 2007, for z < 1:
            exp(-z / w (pi - atan2(2 z w, 1 - 2 z^2))) with w = sqrt(1 - z^2).

    The mean over ten moments of the impact between two steps.
    """
    total = 0.0
    for part in range(10):
        x, v = step * (part + 0.5) / 10.0, -1.0
        while x <= 0.0 or v < 0.0:
            v += step * max(0.0, -x - 2.0 * damping_ratio * v) if x <= 0.0 else 0.0
            x += step * v
        total += v / 10.0
    return total


def damping_of(restitution: float, stiffness: float, mass: float, step: float) -> float:
    """Return the damping [N.s/m] that gives a restitution [1] to a mass [kg] on a spring [N/m].

    `step` is the time step [s].

    Raises:
        ArmError: a restitution that this time step cannot have.
    """
    rate = sqrt(stiffness / mass)
    return 2.0 * _ratio_of(restitution, max(step * rate, _FINEST)) * rate * mass


@cache
def _ratio_of(restitution: float, step: float) -> float:
    """Return the damping ratio for a restitution; see `restitution_of`."""
    least, most = (restitution_of(z, step) for z in (2.0, 0.0))
    if not least <= restitution <= 1.0:
        raise ArmError(f'restitution is {restitution:g}; it must be within [{least:.3f}, 1]')
    if restitution >= most:
        return 0.0
    from scipy.optimize import brentq  # takes 0.3 s, and only a restitution needs it

    ratio: float = brentq(lambda z: restitution_of(z, step) - restitution, 0.0, 2.0, xtol=1e-9)
    return ratio
