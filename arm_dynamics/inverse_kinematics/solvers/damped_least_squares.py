"""Damped least squares: dq = J^T (J J^T + lambda^2 I)^-1 r, lambda adapted by a fixed rule."""

import math

from arm_dynamics.compiling import cached_njit, inlined_njit
from arm_dynamics.inverse_kinematics.iteration import from_starts, iterate
from arm_dynamics.inverse_kinematics.solver import CompiledSolver
from arm_dynamics.kinematics.compiled_matrices import damped_step


@inlined_njit
def rule(state, factor, fallen, step):
    """Halve lambda where |r| has fallen, double it where it has risen, within [1e-4, 1]."""
    if math.isnan(factor):
        factor = 0.1
    else:
        factor = min(max(factor * 0.5 if fallen else factor * 2.0, 1e-4), 1.0)
    damped_step(state.jacobian, state.residual, factor * factor, step)
    return factor


@cached_njit
def search(chain, task, target, starts, q):
    """See `CompiledSolver.search`."""
    return from_starts(iterate, rule, chain, task, target, starts, q)


class DampedLeastSquares(CompiledSolver):
    """Damped steps whose damping follows the residual."""

    search = staticmethod(search)
