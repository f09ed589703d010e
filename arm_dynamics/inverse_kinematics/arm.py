"""Inverse kinematics of one frame of an arm: solvers, starts, limits, checks, reasons."""

import math
from contextlib import suppress
from typing import NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, finite
from arm_dynamics.inverse_kinematics.solver import SOLVERS, Solver, solver_names
from arm_dynamics.inverse_kinematics.solvers.analytic import Analytic
from arm_dynamics.inverse_kinematics.task import IkTask
from arm_dynamics.inverse_kinematics.verification import best_of
from arm_dynamics.kinematics.chain import chain_to
from arm_dynamics.model import RobotModel

DEFAULT_RESTARTS = 60
_ITERATIVE = 'levenberg_marquardt'
_JUMP = 0.1  # of a joint from the seed, from which a nearer solution may be missing [rad]


class IkResult(NamedTuple):
    """Result of inverse kinematics for one pose.

    Attributes:
        success: q meets the tolerances and the joint limits.
        q: (nq,) solution; without success the nearest configuration found, within limits.
        position_error: [m] distance from the target beyond `axis_tolerances`.
        orientation_error: [rad] rotation from the target beyond `axis_tolerances`.
        iterations: sum over all starts; 0 for a closed-form solution.
        restarts: number of starts used after the first.
        solver: name of the solver that found q.
        condition_number: of the Jacobian at q; infinite at a singularity.
        reason: empty on success, else why there is no solution, and the distance from one.
    """

    success: bool
    q: Array
    position_error: float
    orientation_error: float
    iterations: int
    restarts: int
    solver: str
    condition_number: float
    reason: str


class InverseKinematics:
    """Solvers for one frame of one model, made by `inverse_kinematics`.

    Attributes:
        chain: the joints that move the frame.
        analytic: its closed-form solver, or None.
        middle: (nq,) the middle of the joints' ranges, zero where they are infinite.
    """

    def __init__(self, model: RobotModel, frame: str | None = None):
        """Prepare the chain, and a closed-form solver that forward kinematics confirms."""
        self.chain = chain_to(model, frame)
        self.middle = model.neutral()
        limited = np.isfinite(model.position_upper)
        self.middle[limited] = (model.position_lower[limited] + model.position_upper[limited]) / 2
        self._model = ref(model)  # which holds this, see _ARMS
        self._whole = self.chain.n == model.nq
        self._solvers: dict[str, Solver] = {}
        self._random_starts: dict[tuple[int, int], Array] = {}
        self.analytic: Analytic | None = None
        with suppress(ArmError):
            self.analytic = self._solvers['analytic'] = Analytic(model, self.chain)

    def solver(self, name: str) -> Solver:
        """Return a solver, prepared for this chain.

        Raises:
            ArmError: no such solver, or it cannot be used for this arm.
        """
        if name not in self._solvers:
            if name not in solver_names():
                raise ArmError(f'no IK solver {name!r}; there are: {", ".join(solver_names())}')
            solver = SOLVERS.load(name)
            try:
                self._solvers[name] = solver(self._model(), self.chain)
            except Exception as error:
                raise _refusal(name, error) from error
        return self._solvers[name]

    def checked_seed(self, seed: ArrayLike | None) -> Array:
        """Return a seed (nq,) as a new array, `middle` for None."""
        if seed is None:
            return self.middle.copy()
        return finite('seed', seed, self.middle.shape)

    def starts(self, first: Array, restarts: int, random_seed: int) -> Array:
        """Return (1 + restarts, n) starts: `first`, then random ones within limits.

        The random ones depend on random_seed alone; infinite ranges count as +-pi (+-1 m).
        """
        key = (restarts, random_seed)
        if key not in self._random_starts:
            chain = self.chain
            wide = np.where(chain.prismatic, 1.0, np.pi)
            # Where a range holds a full turn, one turn about its middle reaches every pose.
            lower, upper = np.maximum(chain.lower, -wide), np.minimum(chain.upper, wide)
            empty = lower >= upper
            lower, upper = np.where(empty, chain.lower, lower), np.where(empty, chain.upper, upper)
            drawn = np.random.default_rng(random_seed).uniform(lower, upper, (restarts, chain.n))
            self._random_starts[key] = np.vstack([first, drawn])
        starts = self._random_starts[key].copy()
        starts[0] = first
        return starts

    def solve(
        self,
        target: Array,
        seed: Array,
        task: IkTask,
        solver: str = 'auto',
        restarts: int = DEFAULT_RESTARTS,
        random_seed: int = 0,
    ) -> IkResult:
        """Solve for a checked target (4, 4) and seed (nq,); see `solve_ik`."""
        first = seed if self._whole else seed[self.chain.joints]
        closed_form = self.analytic is not None and task.full_pose
        if solver == 'analytic' or (solver == 'auto' and closed_form):
            result = self._solve_from('analytic', target, task, first[None], first)
            result = self._nearer(target, task, first, result)
            if not result.success:
                # The target is singular or cannot be reached: find the nearest pose.
                starts = self.starts(first, restarts, random_seed)[: max(12, 1 + restarts // 4)]
                starts = np.vstack([self.solver('analytic').solve(target, task, starts).q, starts])
                result = self._solve_from(_ITERATIVE, target, task, starts, first)
        else:
            closed_form = False
            name = _ITERATIVE if solver == 'auto' else solver
            starts = self.starts(first, restarts, random_seed)
            result = self._solve_from(name, target, task, starts, first)
        if not result.success:
            exact = self.all_solutions(target, task, limits=False) if closed_form else None
            result = result._replace(reason=self._why_not(target, result, exact))
        if self._whole:
            return result
        return result._replace(q=self.all_joints(result.q, seed))

    def _nearer(self, target: Array, task: IkTask, first: Array, result: IkResult) -> IkResult:
        """Return the solution at `first` (n,) where that nearly meets the task, else `result`.

        At a singular pose the closed form lacks the solutions of which a joint is free.
        """
        if result.success and np.abs(result.q - first).max() < _JUMP:
            return result
        q, one, arrays = np.empty(len(first)), first[None].copy(), tuple(self.chain.arrays)
        met, position, orientation, condition = best_of(
            arrays, tuple(task), target, one, True, first, q
        )
        farther = np.linalg.norm(q - first) > np.linalg.norm(result.q - first)
        if not met or (result.success and farther):
            return result
        return IkResult(True, q, position, orientation, 0, 0, result.solver, condition, '')

    def _why_not(self, target: Array, nearest: IkResult, exact: Array | None) -> str:
        """Return why a target (4, 4) has no solution within limits, in one sentence.

        `exact` (m, n): all solutions without limits, where a closed form gives them. The sentence
        names the joint limit that excludes the solution with the least violation.
        """
        chain = self.chain
        away = (
            f'the nearest pose is {1e3 * nearest.position_error:.6g} mm and '
            f'{nearest.orientation_error:.6g} rad away'
        )
        if exact is not None and len(exact):
            turned = exact[:, :, None] + 2 * np.pi * np.arange(-2, 3)
            beyond = np.maximum(chain.lower[:, None] - turned, turned - chain.upper[:, None])
            beyond = beyond.clip(0.0)
            least = beyond.min(axis=2)
            row = int(least.max(axis=1).argmin())
            joint = int(least[row].argmax())
            error = chain.limit_error(joint, turned[row, joint, beyond[row, joint].argmin()])
            return (
                f'all {len(exact)} solutions are beyond joint limits, the closest: {error}; '
                f'within limits {away}'
            )
        distance = math.hypot(*(target[:3, 3] - chain.fixed[0, :3, 3]))
        if distance > chain.reach:
            return (
                f'out of reach: the target is {distance:.6g} m from the first joint and the arm '
                f'is at most {chain.reach:.6g} m long; {away}'
            )
        if exact is not None:
            return f'out of reach: no configuration gives this pose (closed form); {away}'
        return f'no solution found from {nearest.restarts + 1} starts; {away}'

    def _solve_from(
        self, name: str, target: Array, task: IkTask, starts: Array, first: Array
    ) -> IkResult:
        """Run a solver from starts (k, n) until a proposal meets the task; return the best one.

        Of several proposals that meet the task, the nearest to `first` (n,) is the best.
        """
        solver, results, iterations = self.solver(name), [], 0
        arrays, at_once = tuple(self.chain.arrays), solver.starts_at_once or len(starts)
        for start in range(0, len(starts), at_once):
            try:
                solutions = solver.solve(target, task, starts[start : start + at_once])
                proposals = np.array(solutions.q, dtype=float, order='C', ndmin=2)
            except Exception as error:
                raise _refusal(name, error) from error
            if proposals.shape[1] != self.chain.n:
                raise ArmError(
                    f'IK solver {name!r} proposed an array of shape {proposals.shape}; '
                    f'it must be (m, {self.chain.n})'
                )
            iterations += int(solutions.iterations)
            restarts = start + int(solutions.restarts)
            q = np.empty(self.chain.n)
            met, position, orientation, condition = best_of(
                arrays, tuple(task), target, proposals, solver.polish, first, q
            )
            result = IkResult(
                met, q, position, orientation, iterations, restarts, name, condition, ''
            )
            if met:
                return result
            results.append(result)
        best = min(results, key=lambda r: r.position_error**2 + r.orientation_error**2)
        return best._replace(iterations=iterations, restarts=restarts)

    def all_solutions(self, target: Array, task: IkTask, limits: bool = True) -> Array:
        """Return every closed-form solution (m, n) of a target (4, 4), verified, one turn each."""
        chain = tuple(self.chain.arrays if limits else self.chain.unlimited)
        middle = np.clip(np.zeros(6), self.chain.lower, self.chain.upper)
        solutions = []
        for candidate in self.solver('analytic').solve(target, task, middle[None]).q:
            q, one = np.empty(6), candidate[None].copy()
            if best_of(chain, tuple(task), target, one, True, middle, q)[0]:
                solutions.append(q)
        return np.array(solutions).reshape(-1, 6)

    def all_joints(self, q: Array, others: Array) -> Array:
        """Return (nq,): the chain's joints at q (n,), the other joints as in `others`."""
        full = others.copy()
        full[self.chain.joints] = q
        return full


def _refusal(name: str, error: Exception) -> ArmError:
    """Return a solver's own ArmError, or one for another exception of a user's solver."""
    if isinstance(error, ArmError):
        return error
    return ArmError(f'IK solver {name!r} failed: {type(error).__name__}: {error}')


_ARMS: WeakKeyDictionary[RobotModel, dict[str | None, InverseKinematics]] = WeakKeyDictionary()


def inverse_kinematics(model: RobotModel, frame: str | None = None) -> InverseKinematics:
    """Return the solvers of a frame (None: the tool frame), cached by model and frame."""
    try:
        return _ARMS[model][frame]
    except KeyError:
        made = _ARMS.setdefault(model, {})[frame] = InverseKinematics(model, frame)
        return made
