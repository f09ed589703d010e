"""The same task on many drawn arms, which differ from the arm that the laws know."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial

import numpy as np

from arm_dynamics.checks import Array, in_range
from arm_lab.experiments.drawn_arms import measure_batch
from arm_lab.experiments.executors import SERIAL, Work
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.ranges import Draw
from arm_lab.experiments.spreads import Spread
from arm_sim.tasks import task_class

CHUNK = 500  # samples per job at most, each under every law


def run_monte_carlo(
    experiment: Experiment,
    laws: Sequence[str],
    samples: int,
    workers: int = 1,
    progress: Callable[[int], None] = lambda done: None,
    work: Work = SERIAL,
    keep: Callable[[range, Array], None] | None = None,
) -> list[Spread]:
    """Run `samples` random arms under every law; each law meets the same arms.

    Args:
        experiment: its law is replaced; the arms are drawn from its ranges and seed, see
            `Experiment.drawn`.
        laws: by name.
        samples: number of arms; each takes 8 bytes per law here.
        workers: number of processes of `work`, which does not change the results.
        progress: called with the number of runs done.
        work: where the arms run.
        keep: called with the arms of each chunk and their answers (laws, 3, arms).
    """
    in_range('samples', samples, 1, 100_000_000)
    size = min(CHUNK, -(-samples // workers))
    chunks = [range(k, min(k + size, samples)) for k in range(0, samples, size)]
    run = partial(run_together, experiment, tuple(laws))
    identity = {
        'monte_carlo': asdict(replace(experiment, law='')), 'laws': list(laws),
        'samples': samples, 'chunk': size,
    }  # fmt: skip
    errors, done = np.empty((len(laws), samples)), 0
    for number, answer in work.results(run, chunks, identity):
        arms = chunks[number]
        errors[:, arms.start : arms.stop] = answer[:, 2]
        if keep is not None:
            keep(arms, answer)
        done += len(arms)
        progress(done * len(laws))
    ranked_by = task_class(experiment.task).evaluation.ranked_by
    return [Spread(law, row, ranked_by) for law, row in zip(laws, errors, strict=True)]


def run_together(experiment: Experiment, names: tuple[str, ...], samples: Sequence[int]) -> Array:
    """Return tracking RMS [mm], joint RMS, what ranks laws of each law and sample (laws, 3, k).

    All samples run as a batch; those that a batch cannot do run alone.
    """
    loaded, seed = experiment.load(), experiment.seed
    draws = [experiment.ranges.draw(loaded.robot.model, seed, sample) for sample in samples]
    answers = np.empty((len(names), 3, len(samples)))
    for i, found in enumerate(measure_batch(loaded, names, draws)):
        answers[i] = found
        for k in np.flatnonzero(np.isnan(found[0])):
            answers[i, :, k] = _run_alone(loaded.changed(law=names[i]), draws[k])
    return np.nan_to_num(answers, nan=np.inf, posinf=np.inf)


def _run_alone(loaded: LoadedExperiment, draw: Draw) -> tuple[float, float, float]:
    """Return what `run_together` has of one arm; inf: the loop was unstable."""
    record = loaded.on(draw).run()
    found = loaded.task.report.measure(record, loaded.track(record))
    failed = np.inf if not found.completed else 0.0
    ranked = found[loaded.task.evaluation.ranked_by] + failed
    return found.tracking_rms_mm + failed, found.joint_rms_rad + failed, ranked
