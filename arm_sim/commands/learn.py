"""`ros2 run arm_sim learn`: repetitive learning, each pass of a task corrects the next one."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from tyro.conf import UseAppendAction

from arm_dynamics.checks import one_of
from arm_dynamics.parameters import parameter
from arm_sim.command_line import CommandOptions, command
from arm_sim.commands.jobs import Jobs
from arm_sim.experiments.executors import ordered
from arm_sim.experiments.experiment import Experiment
from arm_sim.loop.learning import repeated
from arm_sim.loop.measures import error_facts, track
from arm_sim.loop.picture import PASSES, passes_figure
from arm_sim.loop.report import write_json
from arm_sim.options import Folder, Name, Names
from arm_sim.output_folder import writable_folder
from arm_sim.pictures import save
from arm_sim.progress import new_console
from arm_sim.robot import model_error_of
from arm_sim.simulation.sensors import SensorParameters
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
    task: Name = parameter('cube', f'one of {", ".join(task_names())}')
    laws: Names = parameter(
        ('computed_torque', 'servo:inverse_dynamics'),
        "laws with the gains of the robot's file; servo:LEVEL is a servo with that feedforward",
    )
    error: UseAppendAction[Annotated[tuple[str, ...], 'YAML']] = parameter(
        (), "model error of the arm in YAML, as '{mass_scale: [1.05]}'; may be repeated"
    )
    passes: int = parameter(10, 'number of passes', min=1, max=1000)
    cutoff: float = parameter(0.0, 'cutoff of the low-pass filter of corrections [Hz]; 0: none')
    position_noise: float = parameter(0.0, 'standard deviation of measured positions [rad | m]')
    velocity_noise: float = parameter(
        0.0, 'standard deviation of measured velocities [rad/s | m/s]'
    )
    output_dir: Folder = parameter('learning', 'folder of the files that are written')
    jobs: Jobs = field(default_factory=Jobs)


@dataclass(frozen=True)
class Course:
    """Passes of one law on one arm.

    Attributes:
        robot, task: by name.
        law: by name, a servo's with its feedforward: servo:inverse_dynamics.
        error: how the arm differs from what the law knows, in YAML.
        passes: their number.
        cutoff: of what is learnt [Hz].
        sensors: of the arm.
    """

    robot: str
    task: str
    law: str
    error: str
    passes: int
    cutoff: float
    sensors: SensorParameters

    @property
    def name(self) -> str:
        """What distinguishes it."""
        return f'{self.law}, {self.error.strip("{}")}'

    def errors(self) -> list[dict[str, float]]:
        """Return RMS and maximum of the tip's error [mm] of each pass."""
        name, _, level = self.law.partition(':')
        exact = Experiment.of_files(
            self.robot, self.task, name, feedforward=level, sensors=self.sensors
        )
        model = exact.load().robot.model
        error = model_error_of(self.error, '--error', model)
        own = replace(exact, error=error).load()
        plant, _ = own.plants()
        records = repeated(own.task, own.law(), plant, self.passes, 0, self.cutoff)
        found = ((record.t, track(model, record).error) for record in records)
        return [error_facts(t, error, 1e3) for t, error in found]


@command(Options)
def main(options: Options) -> None:
    """Run the command."""
    one_of('--task', options.task, task_names())
    folder = writable_folder(options.output_dir)
    noise = SensorParameters(
        position_noise=options.position_noise, velocity_noise=options.velocity_noise
    )
    courses = [
        Course(options.robot, options.task, law, error, options.passes, options.cutoff, noise)
        for error in options.error or _ERRORS
        for law in options.laws
    ]
    console = new_console()

    def tell(done: int) -> None:
        console.print(f'{done} of {len(courses)} courses')

    with options.jobs.executor() as processes:
        found = ordered(processes, Course.errors, courses, tell)
    curves = {course.name: errors for course, errors in zip(courses, found, strict=True)}
    console.print(_table(curves), markup=False)
    write_json(folder / 'learning.json', {'task': options.task, 'passes_mm': curves})
    save(passes_figure(curves), folder / PASSES)
    console.print(f'learning.json and {PASSES} are in {folder}')


def _table(curves: dict[str, list[dict[str, Any]]]) -> str:
    """Return RMS errors by pass in Markdown."""
    count = len(next(iter(curves.values())))
    told = [number for number in _SHOWN if number < count] + [count]
    lines = ['| law, error | ' + ' | '.join(f'pass {number}' for number in told) + ' |']
    lines.append('| --- |' + ' ---: |' * len(told))
    for name, errors in curves.items():
        cells = [f'{errors[number - 1]["rms"]:.2g}' for number in told]
        lines.append(f'| {name} | ' + ' | '.join(cells) + ' |')
    return 'tracking error of the tip [mm RMS]\n\n' + '\n'.join(lines)
