"""Inverse kinematics of any arm: one call, several solvers, always an answer with its reason."""

from typing import Literal, NamedTuple, get_args
from weakref import WeakKeyDictionary

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from arm_dynamics.errors import ArmError, limit_error
from arm_dynamics.inverse_kinematics import numeric as ik_numeric
from arm_dynamics.inverse_kinematics.analytic import analytic_solver
from arm_dynamics.kinematics.chain import chain_to
from arm_dynamics.model import RobotModel

Array = NDArray[np.float64]
Solver = Literal[
    'auto', 'analytic', 'levenberg_marquardt', 'damped_least_squares', 'pseudo_inverse'
]
Preference = Literal['nearest', 'manipulability', 'limits']

DEFAULT_RESTARTS = 60
# Fixed transforms, prismatic, lower and upper limits, as `chain.Chain` has them.
ChainArrays = tuple[Array, NDArray[np.bool_], Array, Array]
_METHODS = {
    'levenberg_marquardt': (ik_numeric.LEVENBERG_MARQUARDT, 40),
    'damped_least_squares': (ik_numeric.DAMPED_LEAST_SQUARES, 200),
    'pseudo_inverse': (ik_numeric.PSEUDO_INVERSE, 200),
}


class IkResult(NamedTuple):
    """Answer to one inverse kinematics problem.

    Attributes:
        success: q meets the tolerances and the joint limits.
        q: (nq,) solution; without success the nearest configuration found, within limits.
        position_error: [m] distance from the target, beyond what `axis_tolerances` allows.
        orientation_error: [rad] rotation from the target, likewise.
        iterations: iterations of all starts together; 0 for a closed-form solution.
        restarts: starts used after the first.
        solver: the solver that found q.
        condition_number: of the Jacobian at q; infinite at a singularity.
        reason: empty on success, else why not and by how much.
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


class IkTask(NamedTuple):
    """What a solution has to meet; make it with `ik_task`.

    Attributes:
        dead_zone: (6,) error [m, m, m, rad, rad, rad] in the target's axes that does not count.
        tolerances: (2,) allowed position [m] and orientation [rad] error beyond it.
        full_pose: every component counts: dead_zone is zero.
    """

    dead_zone: Array
    tolerances: Array
    full_pose: bool


def ik_task(
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    position_only: bool = False,
    axis_tolerances: ArrayLike | None = None,
) -> IkTask:
    """Return the task of a set of tolerances; arguments as for `solve_ik`."""
    tolerances = np.array([position_tolerance, orientation_tolerance], dtype=float)
    if not (tolerances > 0.0).all():
        raise ArmError(
            'IK tolerances must be positive, not '
            f'{position_tolerance} m and {orientation_tolerance} rad'
        )
    dead_zone = np.zeros(6)
    if axis_tolerances is not None:
        box = np.asarray(axis_tolerances, dtype=float)
        if box.shape != (6,) or not (box > 0.0).all():
            raise ArmError(
                'axis_tolerances must be six positive numbers [m, m, m, rad, rad, rad] '
                f'(inf for a free axis), not {axis_tolerances}'
            )
        tolerances = np.minimum(tolerances, (box[:3].min(), box[3:].min()))
        dead_zone = np.maximum(box - np.repeat(tolerances, 3), 0.0)
    if position_only:
        dead_zone[3:] = np.inf
    return IkTask(dead_zone, tolerances, not dead_zone.any())


_FULL_POSE = ik_task()


class InverseKinematics:
    """Solvers for one frame of one model; `solve_ik` makes and keeps one a frame.

    Attributes:
        chain: the joints that move the frame.
        analytic: its closed-form solver, or None.
    """

    def __init__(self, model: RobotModel, frame: str | None = None):
        """Prepare the chain; find a closed-form solver and check it with forward kinematics."""
        self.chain = chain_to(model, frame)
        self.analytic = analytic_solver(model, self.chain)
        self.nq = model.nq
        limited = np.isfinite(model.position_upper)
        self.middle = model.neutral()
        self.middle[limited] = (model.position_lower[limited] + model.position_upper[limited]) / 2
        self.model_name = model.name
        self.joint_names = [model.joint_names[index] for index in self.chain.joints]
        self.whole = self.chain.n == model.nq
        chain = self.chain
        self.arrays: ChainArrays = (chain.fixed, chain.prismatic, chain.lower, chain.upper)
        self.unlimited: ChainArrays = (
            chain.fixed,
            chain.prismatic,
            np.where(chain.prismatic, chain.lower, -np.inf),
            np.where(chain.prismatic, chain.upper, np.inf),
        )
        self._starts: dict[tuple[int, int], Array] = {}

    def starts(self, first: Array, restarts: int, random_seed: int) -> Array:
        """Return (1 + restarts, n) starts: `first`, then random ones within limits.

        The random ones depend on random_seed alone; infinite ranges count as +-pi (+-1 m).
        """
        key = (restarts, random_seed)
        if key not in self._starts:
            chain = self.chain
            wide = np.where(chain.prismatic, 1.0, np.pi)
            # Where a range holds a full turn, one turn about its middle reaches every pose.
            lower, upper = np.maximum(chain.lower, -wide), np.minimum(chain.upper, wide)
            empty = lower >= upper
            lower, upper = np.where(empty, chain.lower, lower), np.where(empty, chain.upper, upper)
            rng = np.random.default_rng(random_seed)
            table = np.empty((1 + restarts, chain.n))
            table[1:] = rng.uniform(lower, upper, (restarts, chain.n))
            self._starts[key] = table
        starts = self._starts[key]
        starts[0] = first
        return starts

    def solve(
        self,
        target: Array,
        seed: Array,
        task: IkTask,
        solver: Solver,
        restarts: int,
        random_seed: int,
    ) -> IkResult:
        """Solve for a checked target (4, 4) and seed (nq,); see `solve_ik`."""
        first = seed if self.whole else seed[self.chain.joints]
        candidates = None
        if solver in ('auto', 'analytic') and self.analytic is not None and task.full_pose:
            candidates = self.analytic.candidates(target)
            q = np.empty(6)
            found, position, orientation, condition = ik_numeric.nearest_verified(
                *self.arrays, target, task.dead_zone, task.tolerances, candidates, first, q
            )
            if found:
                q = self._all_joints(q, seed)
                return IkResult(True, q, position, orientation, 0, 0, 'analytic', condition, '')
        name = 'levenberg_marquardt' if solver in ('auto', 'analytic') else solver
        method, iterations = _METHODS[name]
        starts = self.starts(first, restarts, random_seed)
        if candidates is not None:
            # No closed-form solution: what is left is a singular target, or the nearest pose.
            starts = np.vstack([candidates, starts[: max(12, 1 + restarts // 4)]])
        flat = ik_numeric.flatten(target)
        q = np.empty(self.chain.n)
        found, total, used, position, orientation = ik_numeric.search(
            method, *self.arrays, flat, task.dead_zone, task.tolerances, starts, iterations, q
        )
        if found and self._is_redundant(task):
            position, orientation = ik_numeric.improve_posture(
                *self.arrays, flat, task.dead_zone, task.tolerances, first, q, 20
            )
        condition = ik_numeric.condition_at(self.chain.fixed, self.chain.prismatic, q)
        reason = ''
        if not found:
            reason = self._why_not(target, task, candidates, used, position, orientation)
        q = self._all_joints(q, seed)
        return IkResult(found, q, position, orientation, total, used, name, condition, reason)

    def all_solutions(self, target: Array, task: IkTask, limits: bool = True) -> Array:
        """Return every closed-form solution (m, n) of a target (4, 4), verified, one turn each."""
        if self.analytic is None:
            raise ArmError(self._no_analytic())
        arrays = self.arrays if limits else self.unlimited
        middle = np.clip(np.zeros(6), self.chain.lower, self.chain.upper)
        solutions = []
        for candidate in self.analytic.candidates(target):
            q, one = np.empty(6), candidate[None, :].copy()
            verified = ik_numeric.nearest_verified(
                *arrays, target, task.dead_zone, task.tolerances, one, middle, q
            )
            if verified[0]:
                solutions.append(q)
        return np.array(solutions).reshape(-1, 6)

    def _all_joints(self, q: Array, seed: Array) -> Array:
        if self.whole:
            return q
        full = seed.copy()
        full[self.chain.joints] = q
        return full

    def _is_redundant(self, task: IkTask) -> bool:
        return self.chain.n > 6 - int((task.dead_zone > 0.0).sum())

    def _no_analytic(self) -> str:
        return (
            f'no closed-form solver for {self.chain.frame!r} of {self.model_name!r}: it needs six '
            'revolute joints of a geometry that EAIK knows, EAIK installed (pip install EAIK), '
            'and a full pose'
        )

    def _why_not(
        self,
        target: Array,
        task: IkTask,
        candidates: Array | None,
        restarts: int,
        position: float,
        orientation: float,
    ) -> str:
        """Return why there is no solution, and by how much, in one sentence."""
        away = f'the nearest pose is {1e3 * position:.6g} mm and {orientation:.6g} rad away'
        chain = self.chain
        if candidates is not None:
            exact = self.all_solutions(target, task, limits=False)
            if len(exact):
                return self._beyond_limits(exact) + f'; within limits {away}'
        distance = float(np.linalg.norm(target[:3, 3] - chain.fixed[0, 9:]))
        if distance > chain.reach:
            return (
                f'out of reach: the target is {distance:.6g} m from the first joint and the arm '
                f'is at most {chain.reach:.6g} m long; {away}'
            )
        if candidates is not None:
            return f'out of reach: no configuration gives this pose (closed form); {away}'
        return f'no solution found from {restarts + 1} starts; {away}'

    def _beyond_limits(self, solutions: Array) -> str:
        """Return which joint limit excludes the solution (m, n) that breaks limits least."""
        chain = self.chain
        turns = np.ceil((solutions - chain.upper) / (2 * np.pi))
        below = np.where(np.isfinite(chain.upper), solutions - 2 * np.pi * turns, solutions)
        above = np.where(np.isfinite(chain.lower), below + 2 * np.pi, below)
        under, over = chain.lower - below, above - chain.upper
        inside = (under <= 0.0) | (over <= 0.0)
        excess = np.where(inside, 0.0, np.minimum(under, over))
        row = int(excess.max(axis=1).argmin())
        joint = int(excess[row].argmax())
        value = below[row, joint] if under[row, joint] < over[row, joint] else above[row, joint]
        error = limit_error(
            self.joint_names[joint],
            'position',
            value,
            chain.lower[joint],
            chain.upper[joint],
            'rad',
        )
        return f'all {len(solutions)} solutions are beyond joint limits, the closest: {error}'


_SOLVERS: WeakKeyDictionary[RobotModel, dict[str | None, InverseKinematics]] = WeakKeyDictionary()


def inverse_kinematics(model: RobotModel, frame: str | None = None) -> InverseKinematics:
    """Return the solvers of a frame (None: the tool frame), made once a model and frame."""
    frames = _SOLVERS.setdefault(model, {})
    if frame not in frames:
        frames[frame] = InverseKinematics(model, frame)
    return frames[frame]


def solve_ik(
    model: RobotModel,
    target: pin.SE3 | ArrayLike,
    seed: ArrayLike | None = None,
    *,
    frame: str | None = None,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    position_only: bool = False,
    axis_tolerances: ArrayLike | None = None,
    solver: Solver = 'auto',
    prefer: Preference = 'nearest',
    restarts: int = DEFAULT_RESTARTS,
    random_seed: int = 0,
) -> IkResult:
    """Find q within the joint limits that brings a frame to a target pose.

    Args:
        model: the arm.
        target: pose of the frame in the base frame, pin.SE3 or (4, 4).
        seed: (nq,) where to start, and what to stay near; None: the middle of the limits.
        frame: name of the frame; None: the tool frame. Joints that do not move it keep `seed`.
        position_tolerance: [m] allowed distance from the target.
        orientation_tolerance: [rad] allowed rotation from the target.
        position_only: the orientation is free.
        axis_tolerances: (6,) allowed error a component of (translation [m], rotation vector
            [rad]) in the target's axes; inf: free. (1e-6, 1e-6, 1e-6, 1e-6, 1e-6, inf) is a
            position and the approach direction z.
        solver: 'analytic' (closed form), 'levenberg_marquardt', 'damped_least_squares' (the
            damping halved or doubled as the error falls or rises), 'pseudo_inverse', or 'auto':
            analytic where there is one and the whole pose counts, else Levenberg-Marquardt.
            Without a solution, 'analytic' uses Levenberg-Marquardt for the nearest pose.
        prefer: of several closed-form solutions the 'nearest' to the seed, the one of the highest
            'manipulability', or the one furthest from its joint 'limits'.
        restarts: random starts after the seed, for the iterative solvers.
        random_seed: of those starts: equal calls give equal answers.

    Returns:
        The solution, checked by forward kinematics, or the nearest pose (least squares of metres
        and radians) and the reason.

    Raises:
        ArmError: a malformed argument, or solver 'analytic' where there is no closed form.
    """
    try:
        ik = _SOLVERS[model][frame]
    except KeyError:
        ik = inverse_kinematics(model, frame)
    matrix = target.homogeneous if isinstance(target, pin.SE3) else checked_pose(target)
    start = ik.middle if seed is None else np.array(seed, dtype=float)
    if start.shape != ik.middle.shape or not ik_numeric.all_finite(matrix, start):
        checked_seed(ik, start)
        raise ArmError('the target pose is not finite')
    if (
        position_only
        or axis_tolerances is not None
        or (position_tolerance != 1e-6 or orientation_tolerance != 1e-6)
    ):
        task = ik_task(position_tolerance, orientation_tolerance, position_only, axis_tolerances)
    else:
        task = _FULL_POSE
    if solver != 'auto' and solver not in get_args(Solver):
        raise ArmError(f'no IK solver {solver!r}; there are: {", ".join(get_args(Solver))}')
    if solver == 'analytic' and (ik.analytic is None or not task.full_pose):
        raise ArmError(ik._no_analytic())
    if not isinstance(restarts, int) or not 0 <= restarts <= 10_000:
        raise ArmError(f'restarts must be an integer from 0 to 10000, not {restarts!r}')
    if prefer != 'nearest':
        start = _preferred(ik, matrix, task, start, prefer)
    return ik.solve(matrix, start, task, solver, restarts, random_seed)


def checked_pose(pose: ArrayLike) -> Array:
    """Return a pose (4, 4) as an array; refuse what is not a rigid transform."""
    matrix = np.array(pose, dtype=float)
    if matrix.shape != (4, 4):
        raise ArmError(f'a pose is a pin.SE3 or an array (4, 4), not of shape {matrix.shape}')
    if not np.isfinite(matrix).all():
        raise ArmError('the target pose is not finite')
    rotation = matrix[:3, :3]
    wrong = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
    if wrong > 1e-6 or np.linalg.det(rotation) < 0.0:
        raise ArmError(f'the pose has no rotation matrix: R R^T differs from 1 by {wrong:.1e}')
    return matrix


def checked_seed(ik: InverseKinematics, seed: ArrayLike) -> Array:
    """Return a seed (nq,) as a new array; refuse wrong lengths and what is not finite."""
    start = np.array(seed, dtype=float)
    if start.shape != (ik.nq,):
        raise ArmError(
            f'seed has shape {start.shape}, {ik.model_name!r} needs ({ik.nq},): one a joint'
        )
    if not np.isfinite(start).all():
        raise ArmError(f'seed is not finite: {start}')
    return start


def _preferred(
    ik: InverseKinematics, target: Array, task: IkTask, seed: Array, prefer: Preference
) -> Array:
    """Return the seed with the chain's joints at the best closed-form solution, if any."""
    if prefer not in get_args(Preference):
        raise ArmError(f'no preference {prefer!r}; there are: {", ".join(get_args(Preference))}')
    if ik.analytic is None or not task.full_pose:
        return seed
    solutions = ik.all_solutions(target, task)
    if not len(solutions):
        return seed
    chain = ik.chain
    if prefer == 'limits':
        scores = np.minimum(solutions - chain.lower, chain.upper - solutions).min(axis=1)
    else:
        scores = np.array(
            [ik_numeric.manipulability_at(chain.fixed, chain.prismatic, q) for q in solutions]
        )
    return ik._all_joints(solutions[int(scores.argmax())], seed)
