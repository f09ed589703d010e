"""Pseudo-inverse: dq = J^+ r, by a singular value decomposition."""

from arm_dynamics.compiling import cached_njit, inlined_njit
from arm_dynamics.inverse_kinematics.iteration import from_starts, iterate
from arm_dynamics.inverse_kinematics.solver import CompiledSolver
from arm_dynamics.kinematics.compiled_matrices import pseudo_inverse_step


@inlined_njit
def rule(state, factor, fallen, step):
    """Write dq = J^+ r; singular values below 1e-12 of the largest count as zero."""
    pseudo_inverse_step(state.jacobian, state.residual, 1e-12, step)
    return factor


@cached_njit
def search(chain, task, target, starts, q):
    """See `CompiledSolver.search`."""
    return from_starts(iterate, rule, chain, task, target, starts, q)


class PseudoInverse(CompiledSolver):
    """Steps of the pseudo-inverse; they may overshoot near a singularity."""

    search = staticmethod(search)
