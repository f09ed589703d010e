"""Where the links of an arm are: chains, Jacobians, singularities, Denavit-Hartenberg rows."""

from arm_dynamics.found import on_demand

__getattr__ = on_demand(
    __name__,
    Ellipsoid='jacobians',
    condition_number='jacobians',
    force_ellipsoid='jacobians',
    geometric_jacobian='jacobians',
    manipulability='jacobians',
    numerical_jacobian='jacobians',
    smallest_singular_value='jacobians',
    velocity_ellipsoid='jacobians',
)
