"""`ros2 run arm_sim learn`: repetitive learning, each pass of a task corrects the next one."""

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

from tyro.conf import UseAppendAction

from arm_dynamics.parameters import parameter
from arm_dynamics.robots import RobotArgument
from arm_lab.command_line import STOPPED, CommandOptions, Folder, Name, Names
from arm_lab.commands.call import call, program
from arm_lab.experiments.executors import Jobs
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.report import Listing, Report
from arm_lab.experiments.suited import suited
from arm_sim.devices import SensorParameters
from arm_sim.loop.learning import repeated
from arm_sim.loop.measures import error_facts
from arm_sim.loop.picture import passes_figure
from arm_sim.robot import Robot, model_error_of
from arm_sim.tasks import task_names

_ERRORS = (
    '{mass_scale: [1.05]}',
    '{mass_scale: [1.2]}',
    '{mass_scale: [1.2], payload: 0.5, friction: [0.5]}',
)
_SHOWN = (1, 2, 3, 5, 10)  # passes in the table


@dataclass(frozen=True)
class Options(CommandOptions):
    """Repeat a task, and correct each pass by the tracking error of the pass before.

    Each law runs on each arm with model error. The table has the tracking error of the passes.
    """

    robot: Name = parameter('ur5e', 'name of a robot, or path of its URDF or MJCF file')
    task: Name = parameter('cube', f'task to repeat, one of {", ".join(task_names())}')
    laws: Names = parameter(
        ('computed_torque', 'servo:inverse_dynamics'),
        "control laws with the gains of the robot's file, separated by commas; servo:LEVEL is a "
        'servo with that feedforward',
    )
    error: UseAppendAction[Annotated[tuple[str, ...], 'YAML']] = parameter(
        (), "model error of the arm in YAML, as '{mass_scale: [1.05]}'; may be repeated"
    )
    passes: int = parameter(10, 'number of passes of the task', min=1, max=1000)
    cutoff: float = parameter(
        0.0, 'cut-off frequency of the low-pass filter of corrections [Hz]; 0: no filter', min=0
    )
    position_noise: float = parameter(
        0.0, 'standard deviation of measured positions [rad | m]', min=0
    )
    velocity_noise: float = parameter(
        0.0, 'standard deviation of measured velocities [rad/s | m/s]', min=0
    )
    output_dir: Folder = parameter('learning', 'folder for JSON and picture')
    jobs: Jobs = field(default_factory=Jobs)


def errors_of(experiment: Experiment, passes: int, cutoff: float) -> list[dict[str, float]]:
    """Return RMS and maximum of the tip's error [mm] of each pass; `cutoff`: see Learner [Hz]."""
    loaded = experiment.load()
    plant, _ = loaded.plants()
    records = repeated(loaded.task, loaded.law(), plant, passes, 0, cutoff)
    found = ((record.t, loaded.track(record).error) for record in records)
    return [error_facts(t, error, 1e3) for t, error in found]


def passes(options: Options) -> Report:
    """Return the report of the passes; `found`: RMS and maximum [mm] of each, by law and arm."""
    noise = SensorParameters(
        position_noise=options.position_noise, velocity_noise=options.velocity_noise
    )
    model, experiments = Robot.load(options.robot).model, dict[str, Experiment]()
    for text in options.error or _ERRORS:
        error = model_error_of(text, '--error', model)
        for law in options.laws:
            name, _, level = law.partition(':')
            one = Experiment.of_files(
                options.robot, options.task, name, feedforward=level, error=error, sensors=noise
            )
            label = text.strip('{} ') or 'exact'
            experiments[f'{law}, {label}'] = suited(one.load()).experiment
    job = partial(errors_of, passes=options.passes, cutoff=options.cutoff)
    found, names = options.jobs.done('courses', job, list(experiments.values())), [*experiments]
    curves = {names[number]: errors for number, errors in found.items()}
    rows = [{'law, error': name, 'passes_mm': errors} for name, errors in curves.items()]
    what = f'{RobotArgument.of(options.robot).label}, {options.task}'
    draw = partial(passes_figure, what, curves)
    listing = _listing(what, curves, options.passes)
    code = STOPPED if len(curves) < len(names) else 0
    return Report('learning', [listing], rows, draw, found=curves, code=code)


learn = call(
    Options, passes, 'Repeat a task, and correct each pass by the error of the one before.'
)


main = program(Options, passes)


def _listing(what: str, curves: dict[str, list[dict[str, float]]], count: int) -> Listing:
    """Return the table of RMS errors by pass."""
    shown = [number for number in _SHOWN if number < count] + [count]
    rows = [
        [name, *(f'{errors[number - 1]["rms"]:.2g}' for number in shown)]
        for name, errors in curves.items()
    ]
    headings = ['law, error', *(f'pass {number}' for number in shown)]
    return Listing(f'{what}: tracking error of the tip [mm RMS]', headings, rows)
