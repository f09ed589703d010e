"""`python -m arm_sim run`: one experiment in the loop, without ROS."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from arm_controllers.latency import FORMS
from arm_controllers.laws import law_names
from arm_controllers.parameter_file import mapping, yaml_value
from arm_controllers.parameter_values import read_fields
from arm_dynamics.parameters import Parameters, facts, like, parameter
from arm_dynamics.plugins import extension
from arm_dynamics.surroundings import Surroundings
from arm_lab.command_line import Folder, Name, RobotOptions
from arm_lab.commands.call import call, program
from arm_lab.experiments.compared_laws import compared_laws
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.over_topics import experiment_of
from arm_lab.experiments.report import Listing, Report, data_frame
from arm_lab.experiments.robot_files import load_robot
from arm_lab.experiments.suited import suited
from arm_lab.options import ParametersT
from arm_sim.devices import SensorParameters
from arm_sim.devices.drive_trains import JointParameters
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.differences import errors_of
from arm_sim.loop.outcome import outcome, print_outcome, write_outcome
from arm_sim.loop.report import title_of
from arm_sim.robot import model_error_of
from arm_sim.simulation.plant import engine_names
from arm_sim.tasks import Run as TaskRun
from arm_sim.tasks import task_names
from arm_sim.tasks._fitting import check
from arm_sim.tasks._laws import suitable_law

_PARTS = {'drives': DriveParameters, 'joints': JointParameters, 'sensors': SensorParameters}


@dataclass(frozen=True)
class Options(RobotOptions):
    """Run one task under one law in the loop, without ROS, and measure it.

    The arguments are those of task.launch.py. The exit code is 0 if the limits of the task hold.
    """

    task: Name = parameter('sinusoid', f'task, one of {", ".join(task_names())}')
    law: Name = parameter(
        '', 'control law, as compare_controllers names it; empty: one that suits the task'
    )
    engine: Name = parameter('mujoco', f'physics engine, one of {", ".join(engine_names())}')
    integrator: str = like(Experiment, 'integrator')
    natural_frequency: float | None = parameter(
        None, "design frequency of the law's errors [rad/s]; 0: gains of the robot's files; none: "
        '20, or 0 for a law that has no design', min=0, max=1e4,
    )  # fmt: skip
    timestep: float = like(Experiment, 'timestep')
    frequency: float = like(Experiment, 'frequency')
    reference_motion: str = like(Experiment, 'reference_motion')
    friction_velocity: str = like(Experiment, 'friction_velocity')
    latency: str = parameter(
        '', f"time that a policy's inference takes [s]: {FORMS}; empty: that of the robot's files"
    )
    latency_seed: int = like(Experiment, 'latency_seed')
    parameters: str = parameter('{}', 'parameters of the task, such as {cycles: 3}')
    plant_error: str = parameter('{}', 'error of the arm, such as {payload: 2.0}')
    model_error: str = parameter('{}', "error of the law's model, such as {mass_scale: [1.05]}")
    drives: str = parameter('{}', 'parameters of the drives, such as {command_delay: 2}')
    joints: str = parameter('{}', 'parameters of the joints, such as {joint_stiffness: [1e4]}')
    sensors: str = parameter('{}', 'parameters of the sensors, such as {position_noise: 1e-5}')
    faults: str = parameter('', 'faults of drives and sensors while the arm runs')
    scene: str = parameter('', 'objects around the arm: a shipped scene, a YAML file or an MJCF')
    output_dir: Folder = parameter('run', 'folder for report, picture and record')


class RunReport(Report):
    """A run in the loop.

    Attributes:
        record: times, states, references and torques, an array each with a row per period.
        tracking: errors of the tip and of the joints over time.
        measures: the numbers of the run by name, each also an attribute.
        loaded: what was run, with its robot and task.
        checks: the limits of the task.
    """

    def __init__(self, loaded: LoadedExperiment, options: Options):
        """Run the experiment with the model error of the options."""
        self.loaded, task = loaded, loaded.task
        check(task)
        error = model_error_of(options.model_error, 'model_error', loaded.robot.model)
        self.record = loaded.run(error)
        self.tracking = loaded.track(self.record)
        self.measures = task.report.measure(self.record, self.tracking)
        self._errors = errors_of(vars(options))
        run = TaskRun(self.record, self.tracking, self._facts())
        self._report, self.checks = outcome(task, run)
        columns, rows = task.report.columns, task.report.rows(self._report)
        texts = [x for x in columns if x == 'where']
        listing = Listing(self._title(), columns, rows, texts=texts)
        draw = partial(task.report.draw, run, self._report)
        super().__init__(loaded.experiment.task, [listing], [dict(self.measures)], draw, found=run)
        self.code = int(not self.held)

    def _facts(self) -> dict[str, str]:
        e = self.loaded.experiment
        design = f'{e.law}, designed for {e.natural_frequency:g} rad/s'
        if not e.natural_frequency or self.loaded.law_class.evaluation.of_file:
            design = ''  # the gains are of files
        return {
            'robot': e.robot_label, 'engine': e.engine, 'mode': 'lockstep',
            'feedforward': design or e.feedforward, 'task': e.task, 'controller': e.law,
            'integrator': self.loaded.plant_parameters().integrator, 'errors': self._errors,
        }  # fmt: skip

    def _title(self) -> str:
        facts = self._report
        return f'{facts["task"]}: {title_of(facts)}, {facts["duration_s"]:g} s'

    @property
    def held(self) -> bool:
        """Whether the run is complete and all limits of the task hold."""
        return self.record.completed and all(each.held is not False for each in self.checks)

    def table(self) -> None:
        """Print the numbers of the run, and whether the limits of the task hold."""
        for note in self.loaded.task.notes:
            print(f'{self.loaded.experiment.task}: {note}')
        print_outcome(self.loaded.task, self._report, self.checks)
        if not self.record.completed:
            last, end = self.record.t[-1], self.loaded.task.duration
            print(
                f'unstable: the run stopped after t = {last:g} s of {end:g} s, where a command of '
                'the law or a state was no finite number'
            )

    def plot_joints(self, file: Path | str = '') -> None:
        """Show position on reference, and reference minus position, for every joint."""
        from arm_sim.loop.picture import joints_figure
        from arm_sim.pictures import show

        task = self.loaded.task
        model, given = self.loaded.robot.model, (self.record, self.tracking, self._report)
        events = {each for each in (task.event, task.drop_at) if each is not None}
        show(joints_figure(*given, model, sorted(events)), file or f'{self.name}_joints.png')

    def film(
        self, file: Path | str = '', size: tuple[int, int] = (480, 360), speed: float = 0.0
    ) -> None:
        """Film the run: in a notebook shown below the cell, else in a file, `name`.gif.

        Args:
            file: ends in .gif or .mp4 (needs ffmpeg), or in .png: the last picture.
            size: width and height [pixels].
            speed: seconds of the run per second of the film; 0: the film lasts at most 4 s.

        Raises:
            ArmError: no OpenGL on this machine, or a file that cannot be written.
        """
        path, task = Path(file or f'{self.name}.gif'), self.loaded.task
        own = task.parameters if isinstance(task.parameters, Surroundings) else Surroundings()
        title = f'{self.name}: {self._facts()["robot"]}, {self.loaded.experiment.law}'
        plant, _ = self.loaded.plants()
        film_record = extension('arm_sim.films', 'film_record')
        film_record(self.loaded.robot.model, plant, self.record, path, title, own, size, speed)

    def frame(self) -> Any:
        """Return the run as a pandas DataFrame, one row per control period.

        Columns: `t` [s]; `q`, `v`, `q_reference`, `v_reference`, `effort` of each joint, as in
        `q elbow_joint` [rad | m, rad/s | m/s, N.m | N]; `error` of the tip [m].

        Raises:
            ArmError: pandas is not installed.
        """
        names, record = self.loaded.robot.model.joint_names, self.record
        columns = {'t': record.t}
        for kind in ('q', 'v', 'q_reference', 'v_reference', 'effort'):
            values = getattr(record, kind)
            columns |= {f'{kind} {name}': values[:, k] for k, name in enumerate(names)}
        return data_frame(columns | {'error': self.tracking.error})

    def write(self, folder: Path, command: str) -> Sequence[str]:
        """Write report, record and picture; `command` is what makes them."""
        from arm_sim.pictures import save

        self._report['command'] = command
        names = write_outcome(folder, self.loaded.task, self.found, self._report)
        save(self.figure, folder / self.loaded.task.report.picture_name)
        return names


def loaded_experiment(options: Options) -> LoadedExperiment:
    """Return the experiment that options describe. Raises ArmError: a value not allowed."""
    robot = load_robot(options.robot, options.config, plain=options.timestep > 0.0)
    of_task = mapping('parameters', yaml_value('parameters', options.parameters))
    frequency = options.natural_frequency
    given = replace(options, natural_frequency=frequency or 0.0)
    arguments = {each.name: str(getattr(given, each.name)) for each in fields(given)}
    loaded = experiment_of(arguments, robot, of_task)
    law = options.law or suitable_law(loaded.task)
    if frequency is None:
        designed = law in compared_laws() or law not in law_names()
        frequency = Experiment.natural_frequency if designed else 0.0
    parts: dict[str, Parameters] = {
        name: _part(name, getattr(options, name), kind) for name, kind in _PARTS.items()
    }
    return suited(loaded.changed(law=law, natural_frequency=frequency, **parts))


def _part(name: str, text: str, kind: type[ParametersT]) -> ParametersT:
    """Return parameters of drives, joints or sensors by the names of their fields."""
    known = {each.name: facts(each).name or each.name for each in fields(kind)}
    given = mapping(name, yaml_value(name, text), known)
    return read_fields(kind, {known[each]: value for each, value in given.items()})


def made(options: Options) -> RunReport:
    """Return the run of the options."""
    return RunReport(loaded_experiment(options), options)


run = call(
    Options, made, 'Run one task under one law in the loop, and measure it.',
    robot='ur5e', task='sinusoid', law='',
)  # fmt: skip


main = program(Options, made)
