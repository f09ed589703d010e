"""Where the links of an arm are: chains, Jacobians, singularities, Denavit-Hartenberg rows."""

from arm_dynamics.kinematics.jacobians import (
    Ellipsoid,
    condition_number,
    force_ellipsoid,
    geometric_jacobian,
    manipulability,
    numerical_jacobian,
    smallest_singular_value,
    velocity_ellipsoid,
)

__all__ = [
    'Ellipsoid',
    'condition_number',
    'force_ellipsoid',
    'geometric_jacobian',
    'manipulability',
    'numerical_jacobian',
    'smallest_singular_value',
    'velocity_ellipsoid',
]
