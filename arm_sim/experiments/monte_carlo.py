"""The same task on many arms that are not quite the one the laws know."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np

from arm_controllers.reference import Reference, ReferenceFunction
from arm_dynamics.checks import Array, in_range
from arm_dynamics.model_error import ModelError
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.experiments.batches import measure_batch
from arm_sim.experiments.cases import Case, law_of, make_plants, task_of
from arm_sim.experiments.spreads import Spread
from arm_sim.experiments.work import Work, own_work
from arm_sim.loop.closed_loop import Imperfections
from arm_sim.loop.measures import measure, tips, track
from arm_sim.robot import Robot
from arm_sim.simulation.plant import Plant

_CHUNK = 500  # samples per job at most, each under every law


@dataclass(frozen=True)
class Ranges(Parameters):
    """What is drawn, evenly, for every sample."""

    mass: float = parameter(0.2, 'largest relative error of link inertias [1]', min=0, max=0.99)
    friction: float = parameter(
        0.005, "largest Coulomb friction over the joint's effort limit [1]", min=0, max=1
    )
    delay: int = parameter(2, 'largest delay [control periods]', min=0, max=100)
    position_noise: float = parameter(
        1e-5, 'largest standard deviation of positions [rad | m]', min=0
    )
    velocity_noise: float = parameter(
        1e-3, 'largest standard deviation of velocities [rad/s | m/s]', min=0
    )
    effort: float = parameter(0.6, 'smallest factor on the effort limits [1]', above=0, max=1)

    def draw(self, robot: Robot, seed: int, index: int) -> tuple[ModelError, Imperfections]:
        """Return sample `index`; it depends on nothing but these arguments."""
        rng = np.random.default_rng([seed, index])
        n = robot.model.nv
        limit = np.where(np.isfinite(robot.model.effort_limit), robot.model.effort_limit, 0.0)
        error = ModelError(
            mass_scale=tuple(rng.uniform(1 - self.mass, 1 + self.mass, n)),
            friction=tuple(rng.uniform(0.0, self.friction, n) * limit),
            effort_scale=float(rng.uniform(self.effort, 1.0)),
        )
        imperfections = Imperfections(
            delay=int(rng.integers(0, self.delay + 1)),
            position_noise=float(rng.uniform(0.0, self.position_noise)),
            velocity_noise=float(rng.uniform(0.0, self.velocity_noise)),
            seed=int(rng.integers(2**31)),
        )
        return error, imperfections


def run_monte_carlo(
    case: Case,
    laws: Sequence[str],
    samples: int,
    seed: int = 0,
    ranges: Ranges | None = None,
    workers: int = 1,
    progress: Callable[[int], None] = lambda done: None,
    work: Work | None = None,
    keep: Callable[[range, Array], None] | None = None,
) -> list[Spread]:
    """Run `samples` random arms under every law; each law meets the same arms.

    Args:
        case: robot, task, engine and step; its law, error and imperfections are replaced.
        laws: by name.
        samples: number of arms; each takes 8 bytes per law here.
        seed: of the draws; the results do not depend on the number of `workers` (processes).
        ranges: what is drawn.
        progress: told how many runs are done.
        work: where it runs, in place of `workers`.
        keep: called with the arms of each chunk and their answers (laws, 2, arms).
    """
    in_range('samples', samples, 1, 100_000_000)
    in_range('seed', seed, 0)
    size = min(_CHUNK, -(-samples // workers))
    chunks = [range(k, min(k + size, samples)) for k in range(0, samples, size)]
    chosen = ranges or Ranges()
    run = partial(_run_together, case, tuple(laws), chosen, seed)
    identity = {
        'monte_carlo': asdict(replace(case, law='')), 'laws': list(laws), 'samples': samples,
        'seed': seed, 'ranges': asdict(chosen), 'chunk': size,
    }  # fmt: skip
    rms_mm, done = np.empty((len(laws), samples)), 0
    with own_work(work, workers) as own:
        for number, answer in own.results(run, chunks, identity):
            arms = chunks[number]
            rms_mm[:, arms.start : arms.stop] = answer[:, 0]
            if keep is not None:
                keep(arms, answer)
            done += len(arms)
            progress(done * len(laws))
    return [Spread(law, row) for law, row in zip(laws, rms_mm, strict=True)]


def tabulated(reference_function: ReferenceFunction) -> ReferenceFunction:
    """Return a reference that is computed once at every time."""
    rows: dict[float, Array] = {}

    def tabulated_reference(t: float, reference: Reference) -> None:
        if t not in rows:
            reference_function(t, reference)
            rows[t] = reference.row.copy()
        reference.row[:] = rows[t]

    return tabulated_reference


def _run_together(
    case: Case, names: tuple[str, ...], ranges: Ranges, seed: int, samples: range
) -> Array:
    """Return what `_run_samples` does: as a batch, and one by one what that cannot do."""
    robot = case.load()
    draws = [ranges.draw(robot, seed, sample) for sample in samples]
    answers = np.empty((len(names), 2, len(samples)))
    for i, found in enumerate(measure_batch(case, names, draws)):
        answers[i] = found
        rest = np.flatnonzero(np.isnan(found[0]))
        if rest.size:
            alone = [samples[k] for k in rest]
            answers[i][:, rest] = _run_samples(case, names[i : i + 1], ranges, seed, alone)[0]
    return answers


def _run_samples(
    case: Case, names: tuple[str, ...], ranges: Ranges, seed: int, samples: Sequence[int]
) -> Array:
    """Return tracking RMS [mm] and joint RMS of each law and sample (laws, 2, k)."""
    robot = case.load()
    task = task_of(case, robot)
    follow = tabulated(task.reference)
    laws = [law_of(replace(case, law=name), robot) for name in names]
    answers = np.empty((len(laws), 2, len(samples)))
    reference_tips = None
    for k, sample in enumerate(samples):
        error, imperfections = ranges.draw(robot, seed, sample)
        drawn = replace(case, error=error, imperfections=imperfections)
        plants: dict[str, tuple[Plant, Plant | None]] = {}  # one arm serves many laws
        for i, (name, law) in enumerate(zip(names, laws, strict=True)):
            if law.command_interface not in plants:
                plants[law.command_interface] = make_plants(robot, task, replace(drawn, law=name))
            record = task.run(law, *plants[law.command_interface], imperfections, follow)
            if reference_tips is None and record.completed:
                reference_tips = tips(robot.model, record.q_reference)  # the same for all
            found = measure(record, track(robot.model, record, reference_tips))
            failed = np.inf if not found.completed else 0.0
            answers[i, :, k] = found.tracking_rms_mm + failed, found.joint_rms_rad + failed
    return np.nan_to_num(answers, nan=np.inf, posinf=np.inf)
