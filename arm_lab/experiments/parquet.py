"""Every arm of a Monte Carlo in Parquet files: its drawn parameters, and each law's errors."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from arm_dynamics.checks import Array, typed
from arm_dynamics.model_error import links_with_mass
from arm_dynamics.optional import optional_module
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.ranges import Ranges
from arm_sim.output_folder import whole_file
from arm_sim.robot import Robot


def pyarrow(what: str) -> tuple[ModuleType, ModuleType]:
    """Return pyarrow and its module for Parquet; raise ArmError where it is not installed."""
    install = typed("pip install 'pyarrow>=17'")
    lacking = f'{what} needs pyarrow: {install}'
    return optional_module('pyarrow', lacking), optional_module('pyarrow.parquet', lacking)


def parquet_writer(
    folder: Path, case: Experiment, laws: Sequence[str], resume: bool
) -> Callable[[range, Array], None]:
    """Return the `keep` of run_monte_carlo that writes a Parquet file for each chunk of arms.

    All files together are one table with a row per arm and law, see `columns_of`.

    Args:
        folder: of the files.
        case: the experiment; each file names it in its metadata.
        laws: by name, in the order of the answers.
        resume: whether the files of an interrupted run stay; otherwise they are removed.

    Raises:
        ArmError: pyarrow is not installed.
    """
    arrow, parquet = pyarrow('--parquet')
    folder.mkdir(exist_ok=True)
    if not resume:
        for old in folder.glob('arms-*.parquet'):
            old.unlink()
    robot, ranges, seed = case.load().robot, case.ranges, case.seed
    names = ('robot', 'task', 'engine', 'integrator', 'timestep', 'natural_frequency')
    metadata = {name: str(getattr(case, name)) for name in names}

    def keep(arms: range, answer: Array) -> None:
        path = folder / f'arms-{arms.start:09d}.parquet'
        if not path.exists():
            columns = columns_of(robot, ranges, seed, arms, laws, answer)
            with whole_file(path) as file:
                parquet.write_table(arrow.table(columns).replace_schema_metadata(metadata), file)

    return keep


def columns_of(
    robot: Robot, ranges: Ranges, seed: int, arms: range, laws: Sequence[str], answer: Array
) -> dict[str, object]:
    """Return the columns of a chunk of arms, law after law.

    Columns are seed and sample, from which `Ranges.draw` draws the arm again; law; tracking RMS
    [mm] and joint RMS [rad | m], inf where the loop was unstable; then all drawn parameters, those
    per joint in a column for each joint.

    Args:
        robot, ranges, seed, arms: from which the arms were drawn.
        laws: by name.
        answer: (laws, 3, arms) of run_monte_carlo.
    """
    drawn: dict[str, list[float]] = {}
    for arm in arms:
        error, delay, sensors, stiffness, grip = ranges.draw(robot.model, seed, arm)
        row: dict[str, float] = {'effort_scale': error.effort_scale, 'payload': error.payload}
        row |= {'stiffness': stiffness, 'grip': grip}
        for name in ('mass_scale', 'friction'):
            numbers, names = getattr(error, name), robot.model.joint_names
            if len(numbers) != len(names):  # a gripper has links of its own
                names = links_with_mass(robot.model)
            values = zip(names, numbers, strict=True)
            row |= {f'{name}_{joint}': value for joint, value in values}
        noise = {name: getattr(sensors, name) for name in ('position_noise', 'velocity_noise')}
        row |= {'delay': delay, **noise, 'noise_seed': sensors.sensor_seed}
        for name, value in row.items():
            drawn.setdefault(name, []).append(value)
    count = len(arms)
    columns: dict[str, object] = {
        'seed': np.full(count * len(laws), seed),
        'sample': np.tile(np.arange(arms.start, arms.stop), len(laws)),
        'law': [law for law in laws for _ in range(count)],
        'tracking_rms_mm': answer[:, 0].ravel(),
        'joint_rms_rad': answer[:, 1].ravel(),
        'stable': np.isfinite(answer[:, 0].ravel()),
    }
    return columns | {name: np.tile(values, len(laws)) for name, values in drawn.items()}
