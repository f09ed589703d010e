"""Exciting motions: periodic motions that show an arm's parameters best, within its limits."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, parameter
from arm_dynamics.scene_clearance import scene_clearance
from arm_dynamics.surroundings import Surroundings
from arm_lab.identification.fourier import FourierSeries, at_rest_at_start
from arm_lab.identification.regressor import BaseParameters, JointRegressor

_SAMPLES, _FINE = 80, 1000  # per period: of the search, and of its last check
_SPARE = 0.01  # clearance that the search adds, for motion between samples [m]
_PEAK = 1.004  # largest ratio of a peak to the largest of 40 samples per harmonic's period
_WORST = 30.0  # decades: cost of a motion that excites nothing


@dataclass(frozen=True, kw_only=True)
class ExcitationSearch(Parameters):
    """Limits of an exciting motion, and effort of the search."""

    period: float = parameter(10.0, 'period of the motion [s]', min=0.5, max=1000)
    harmonics: int = parameter(5, 'number of harmonics of the Fourier series', min=3, max=50)
    max_velocity: float = parameter(
        2.0, 'default velocity limit of a joint [rad/s | m/s]', above=0, max=1e3
    )
    max_acceleration: float = parameter(
        10.0, 'acceleration limit of all joints [rad/s^2 | m/s^2]', above=0, max=1e4
    )
    share: float = parameter(
        0.8, 'used share of velocity, torque and position limits [1]', above=0, max=1
    )
    clearance: float = parameter(0.005, 'least distance between links, floor and table [m]', min=0)
    evaluations: int = parameter(
        2000, 'number of motions that the search evaluates', min=1, max=10**7
    )
    seed: int = parameter(0, 'random seed of the search', min=0)


@dataclass(frozen=True, kw_only=True)
class ExcitationParameters(ExcitationSearch, Surroundings):
    """Limits of an exciting motion, effort of the search, and what is around the arm."""


@dataclass(frozen=True)
class Excitation:
    """An exciting motion.

    Attributes:
        motion: one period.
        condition: condition number of the base regressor along the motion, each row divided by
            its joint's torque limit.
        torque_share: (n,) largest share of the torque limit; 0 for a joint without one.
        evaluations: number of motions that were tried.
        note: what a user should know about the shapes; may be empty.
    """

    motion: FourierSeries
    condition: float
    torque_share: Array
    evaluations: int
    note: str


def plan(
    model: RobotModel,
    parameters: ExcitationParameters,
    progress: Callable[[int, float], None] = lambda evaluations, condition: None,
) -> Excitation:
    """Return the motion with the least condition number that CMA-ES finds.

    Args:
        model: the arm.
        parameters: limits and effort.
        progress: called with the number of motions tried and the best condition number so far.

    Raises:
        ArmError: no motion that was tried is within the limits of torque and clearance.
    """
    import cma  # takes a second, which only a search needs

    search = _Search(model, parameters)
    rng = np.random.default_rng(parameters.seed)
    options = {
        'seed': parameters.seed + 1, 'maxfevals': parameters.evaluations, 'verbose': -9,
        'tolfun': 1e-6, 'tolstagnation': 10**9,
    }  # fmt: skip
    size = (2 * parameters.harmonics + 1) * model.nv
    strategy = cma.CMAEvolutionStrategy(rng.standard_normal(size), 0.5, options)
    while not strategy.stop():
        population = strategy.ask()
        strategy.tell(population, [search.cost(genes) for genes in population])
        progress(strategy.countevals, 10.0 ** min(strategy.best.f, _WORST))
    motion = search.shrunk(search.motion(strategy.best.x))
    shares, condition = search.torque_share(motion), search.condition(motion)
    return Excitation(motion, condition, shares, strategy.countevals, search.clearance.note)


class _Search:
    """Motions by their genes (2 harmonics + 1, n): offset in the range, cosines, sines."""

    def __init__(self, model: RobotModel, parameters: ExcitationParameters):
        self.model, self.parameters = model, p = model, parameters
        self.regressor = JointRegressor(model)
        self._pi = self.regressor.parameters()
        arm = slice(0, 13 * model.nv)  # any motion shows the offsets of the sensors
        rows, names = self.regressor.random_rows(), self.regressor.names
        self._base = BaseParameters.of(rows[:, arm], names[arm])
        self.clearance = scene_clearance(model, surroundings=p, own=np.inf)
        self.clearance.leave_out_always_near(p.clearance + _SPARE)
        lower, upper = model.position_lower.clip(-np.pi), model.position_upper.clip(max=np.pi)
        middle, half = 0.5 * (lower + upper), 0.5 * p.share * (upper - lower)
        self._lower, self._upper = middle - half, middle + half
        limit = p.share * model.velocity_limit
        self._fastest = np.where(np.isfinite(limit), limit, p.max_velocity)
        effort = model.effort_limit
        self._effort = np.where(np.isfinite(effort), effort, 0.0)
        # A joint without a torque limit is scaled by its torques at random states.
        usual = np.sqrt(((rows @ self._pi).reshape(-1, model.nv) ** 2).mean(axis=0))
        self._scale = np.where(np.isfinite(effort), effort, usual)

    def times(self, count: int) -> Array:
        return np.linspace(0.0, self.parameters.period, count, endpoint=False)

    def motion(self, genes: Array) -> FourierSeries:
        """Return a motion within the limits of position, velocity and acceleration."""
        p, n = self.parameters, self.model.nv
        offset, coefficients = np.split(np.reshape(genes, (-1, n)), [1])
        cosine, sine = at_rest_at_start(*np.split(coefficients, 2))
        motion = FourierSeries(np.zeros(n), cosine, sine, p.period)
        q, v, a = motion.states(self.times(40 * p.harmonics))
        span = self._upper - self._lower
        allowed = span, self._fastest / _PEAK, np.full(n, p.max_acceleration / _PEAK)
        used = np.ptp(q, axis=0), np.abs(v).max(axis=0), np.abs(a).max(axis=0)
        factors = [limit / np.maximum(f, 1e-12) for limit, f in zip(allowed, used, strict=True)]
        factor = np.minimum(1.0, np.min(factors, axis=0))
        motion, q = motion.scaled(factor), q * factor
        left = span - np.ptp(q, axis=0)
        start = self._lower - q.min(axis=0) + left / (1.0 + np.exp(-offset[0]))
        return FourierSeries(start, motion.cosine, motion.sine, p.period)

    def rows(self, motion: FourierSeries, count: int) -> Array:
        """Return the regressor (count, n, p), each row divided by its joint's torque limit."""
        return self.regressor(*motion.states(self.times(count))) / self._scale[:, np.newaxis]

    def condition(self, motion: FourierSeries) -> float:
        """Return the condition number of the base regressor."""
        rows = self.rows(motion, _FINE)[..., self._base.columns]
        return float(np.linalg.cond(rows.reshape(-1, rows.shape[-1])))

    def torque_share(self, motion: FourierSeries) -> Array:
        """Return the largest share of each joint's torque limit (n,); 0 where it has none."""
        return self._shares(self.rows(motion, _FINE))

    def _shares(self, rows: Array) -> Array:
        return np.where(self._effort > 0.0, np.abs(rows @ self._pi).max(axis=0), 0.0)

    def share_too_near(self, motion: FourierSeries, count: int, least: float) -> float:
        """Return the share of a period in which a pair of shapes is nearer than `least` [m]."""
        q = motion.states(self.times(count))[0]
        return 1.0 - sum(self.clearance.are_clear(q, least)) / count

    def cost(self, genes: Array) -> float:
        """Return the decades of the condition number, plus penalties for exceeded limits."""
        motion = self.motion(genes)
        rows = self.rows(motion, _SAMPLES)
        over = np.maximum(self._shares(rows) - self.parameters.share, 0.0).sum()
        near = self.share_too_near(motion, _SAMPLES, self.parameters.clearance + _SPARE)
        base = rows[..., self._base.columns].reshape(-1, len(self._base.columns))
        values = np.linalg.eigvalsh(base.T @ base)
        decades = _WORST if values[0] <= 0.0 else 0.5 * np.log10(values[-1] / values[0])
        return float(decades + 10.0 * over + 5.0 * near + (near > 0.0))

    def shrunk(self, motion: FourierSeries) -> FourierSeries:
        """Return the motion, scaled down until every sample is within all limits."""
        for _ in range(60):
            over = float((self.torque_share(motion) - self.parameters.share).max())
            if over <= 0.0 and not self.share_too_near(motion, _FINE, self.parameters.clearance):
                return motion
            motion = motion.scaled(0.97)
        if over > 0.0:
            joint = int(self.torque_share(motion).argmax())
            raise ArmError(
                f'no exciting motion was found: joint {self.model.joint_names[joint]!r} needs '
                f'{over + self.parameters.share:.0%} of its torque limit, '
                f'{self.parameters.share:.0%} is allowed; another seed or more evaluations helps'
            )
        raise ArmError(
            f'no exciting motion was found that keeps {self.parameters.clearance * 1e3:g} mm off; '
            'another seed, more evaluations or a smaller clearance may help'
        )
