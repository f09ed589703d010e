"""`ros2 run arm_sim compare_controllers`: the same tasks under every law and engine."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Annotated, ClassVar

from arm_controllers.adapted_law import LawAdaptation
from arm_controllers.laws import law_names
from arm_dynamics.checks import ArmError, one_of
from arm_dynamics.parameters import like, parameter
from arm_lab.command_line import CommandOptions, File, Folder, Names
from arm_lab.commands.call import call, program
from arm_lab.experiments.compared_laws import (
    any_class,
    compared_class,
    compared_laws,
    follows,
    laws_with,
    rigid_body_engines,
)
from arm_lab.experiments.executors import Jobs, Work, executor
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.figures import law_figure
from arm_lab.experiments.monte_carlo import run_monte_carlo
from arm_lab.experiments.over_topics import run_over_topics
from arm_lab.experiments.parquet import parquet_writer
from arm_lab.experiments.ranges import Ranges
from arm_lab.experiments.report import Report, comparison_report, monte_carlo_report, sweep_report
from arm_lab.experiments.runs import observe_all, record_of
from arm_lab.experiments.suited import kind_of, suited
from arm_lab.experiments.sweeps import OF_EFFORT, SWEEPS, case_at, run_sweep, swept_values
from arm_lab.progress import progress
from arm_sim.pictures import save
from arm_sim.simulation.plant import RIGID_BODY_ENGINES
from arm_sim.tasks import compared_tasks, task_names
from arm_sim.tasks._laws import suits

RUNNERS = {'loop': record_of, 'topics': run_over_topics}
_ALL = 'separated by commas, or all'


@dataclass(frozen=True)
class Options(CommandOptions):
    """Run the same tasks in lock-step under every control law and write a table and a picture.

    The table is printed and written as Markdown and JSON. With --samples the arms are drawn at
    random (a Monte Carlo), with --sweep one number varies.
    """

    stopped: ClassVar[str] = 'it has no result yet'

    robots: Names = parameter(
        ('ur5e',), 'names of robots or paths of their files, separated by commas'
    )
    tasks: Names = parameter(('sinusoid',), f'names of tasks, {_ALL}: {", ".join(task_names())}')
    laws: Names = parameter(
        ('all',),
        f'control laws, {_ALL}: {", ".join(compared_laws())}; '
        'policy:FILE.onnx is a policy, FILE.py a law of yours',
    )
    engines: Names = parameter(
        ('mujoco',), f'physics engines, {_ALL}: {", ".join(RIGID_BODY_ENGINES)}'
    )
    config: File = parameter(
        '',
        "path of a parameter file, whose values for arm and tasks replace those of each robot's "
        'files; the gains of laws are designed',
    )
    scene: str = parameter(
        '', 'objects around the arm: name of a shipped scene, or path of a YAML file or MJCF'
    )
    integrator: str = like(Experiment, 'integrator')
    timestep: float = like(Experiment, 'timestep')
    natural_frequency: float = like(Experiment, 'natural_frequency')
    law_pictures: bool = parameter(False, "draw each law's error over time as well")
    samples: int = parameter(0, 'number of random arms per law; 0: no Monte Carlo')
    errors: Names = parameter(
        ('exact',),
        'model errors, each a table of its own, separated by commas: exact, mass_scale=0.8, ...',
    )
    seed: int = parameter(0, 'seed of the random numbers by which arms are drawn')
    sweep: str = parameter(
        '',
        'model error, drive parameter or frequency that varies from run to run; empty: no sweep',
        one_of=sorted(SWEEPS),
    )
    values: Annotated[str, 'VALUE,VALUE'] = parameter(
        '',
        'values of the sweep, separated by commas; for errors: exact, mass_scale=1.05, ...; '
        'empty: default values',
    )
    over: str = parameter(
        'loop',
        'loop: lock-step without ROS; topics: nodes of ROS, with one launch per run',
        one_of=tuple(RUNNERS),
    )
    parquet: bool = parameter(False, 'write every random arm to OUTPUT_DIR/arms/*.parquet as well')
    resume: bool = parameter(False, 'continue an interrupted run with the same options')
    output_dir: Folder = parameter('comparison', 'folder for tables, pictures and JSON')
    ranges: Ranges = field(default_factory=Ranges)
    adaptation: LawAdaptation = field(default_factory=LawAdaptation)
    jobs: Jobs = field(default_factory=Jobs)


def compared(options: Options) -> Report:
    """Check the options, run, and return the report; raise ArmError before anything runs."""
    over_topics = options.over == 'topics'
    adapted, friction = options.adaptation, options.adaptation.friction_velocity
    of_effort = options.sweep in OF_EFFORT or friction != 'measured'
    designed = options.natural_frequency > 0.0
    if designed and not options.timestep:
        raise ArmError('timestep is 0; gains that are designed need one of at least 1e-05 s')
    able = adapted.reference_motion, of_effort
    possible = laws_with(*able) if designed else law_names()
    robots, laws = _names('--robots', options.robots), _names('--laws', options.laws, possible)
    engines = _names('--engines', options.engines, rigid_body_engines(), rigid_body_engines())
    tasks = _names('--tasks', options.tasks, compared_tasks(), task_names())
    for law in laws:
        name = law.partition(':')[0]
        found = (compared_class if designed else any_class)(name)
        if name.endswith('.py') and over_topics:
            raise ArmError(f"law {name!r} is a file, which runs over 'loop' only")
        why = f'sweep {options.sweep}, ' if options.sweep else ''
        why += f'friction_velocity {friction}, ' if friction != 'measured' else ''
        if not found.evaluation.of_file and not (name.endswith('.py') and follows(found, *able)):
            one_of(f'law ({why}reference_motion {adapted.reference_motion})', name, possible)
    workers = 1 if over_topics else options.jobs.workers
    if over_topics and options.jobs.scheduler:
        raise ArmError("--scheduler is for runs over 'loop' only")
    common = options.timestep, options.natural_frequency, 0.0, options.config
    others = {'integrator': options.integrator, 'scene': options.scene, **vars(adapted)}
    cases = [
        Experiment(robot, task, law, engine, *common, **others)
        for robot, task, engine, law in product(robots, tasks, engines, laws)
    ]
    kind = 'sweep' if options.sweep else 'monte_carlo' if options.samples else 'comparison'
    if options.folder is None and (options.parquet or options.law_pictures or options.resume):
        raise ArmError('parquet, law_pictures and resume need output_dir')
    if options.parquet and kind != 'monte_carlo':
        raise ArmError('--parquet needs --samples')
    if options.ranges != Ranges() and kind != 'monte_carlo':
        raise ArmError('--mass, --payload and other ranges of drawn arms need --samples')
    if options.samples and over_topics:
        raise ArmError("--samples is for runs over 'loop' only")
    if kind != 'comparison':
        if options.errors != ('exact',):
            raise ArmError('--errors is for comparisons; a sweep takes --sweep errors')
        if len(robots) * len(tasks) * len(engines) > 1:
            raise ArmError('a sweep or a Monte Carlo takes one robot, one task and one engine')
        if options.sweep == 'frequency' and tasks != ('sinusoid',):
            raise ArmError(f"--tasks is {tasks[0]}; --sweep frequency is of task 'sinusoid'")
    cases = _runnable(cases, options)
    laws = [law for law in laws if law in {case.law for case in cases}]
    with executor(workers, options.jobs.scheduler) as processes:
        partial = options.folder / f'{kind}.partial' if options.folder else None
        work = Work(processes, partial, options.resume)
        try:
            if kind == 'comparison':
                report = _compare(cases, options, work)
            elif kind == 'sweep':
                report = _sweep(options, cases[0], laws, work)
            else:
                report = _monte_carlo(options, cases[0], laws, work)
        except KeyboardInterrupt:
            if partial and partial.exists():
                vars(options)['stopped'] = '--resume continues the run'
            raise
    return report


main = program(Options, compared)
compare = call(Options, compared, 'Run the same tasks under several laws.')
sweep = call(
    Options, compared, 'Vary one number: the error of each law at each value.', sweep='mass_scale'
)
monte_carlo = call(
    Options, compared, 'Run one task under several laws on arms drawn at random.', samples=100
)


def _compare(cases: list[Experiment], options: Options, work: Work) -> Report:
    run = RUNNERS[options.over]
    errors = [error for error in options.errors for _ in cases]
    cases = [case_at('errors', error, case) for error in options.errors for case in cases]
    with progress('runs', len(cases)) as advance:
        answers = observe_all(cases, progress=advance, record=run, work=work)
    measures, courses = zip(*answers, strict=True)
    if options.law_pictures and options.folder:
        for law in dict.fromkeys(case.law for case in cases):
            save(law_figure(law, cases, courses), options.folder / f'law_{Path(law).stem}.png')
        print(f'wrote law_<law>.png to {options.folder}')
    return comparison_report(cases, measures, errors)


def _sweep(options: Options, case: Experiment, laws: Sequence[str], work: Work) -> Report:
    values = swept_values(options.sweep, options.values)
    run = RUNNERS[options.over]
    with progress('runs', len(laws) * len(values or SWEEPS[options.sweep][0])) as advance:
        sweep = run_sweep(options.sweep, case, laws, values, advance, run, work)
    return sweep_report(sweep, case)


def _monte_carlo(
    options: Options,
    case: Experiment,
    laws: Sequence[str],
    work: Work,
) -> Report:
    case, keep = replace(case, seed=options.seed, ranges=options.ranges), None
    if options.parquet and options.folder:
        keep = parquet_writer(options.folder / 'arms', case, laws, options.resume)
    with progress('arms', options.samples * len(laws)) as advance:
        given = options.samples, options.jobs.workers, advance, work, keep
        return monte_carlo_report(run_monte_carlo(case, laws, *given), case)


def _runnable(cases: Sequence[Experiment], options: Options) -> list[Experiment]:
    """Return the cases; `all` leaves out a cube that a robot cannot draw, and unsuitable laws.

    Raises:
        ArmError: a robot cannot do a task, or a task means nothing under a law.
    """
    kept, left_out, robots = [], dict[str, list[str]](), dict[tuple[str, str], LoadedExperiment]()
    for case in cases:
        try:
            if (case.robot, case.task) not in robots:
                robots[case.robot, case.task] = case.load()
            loaded = robots[case.robot, case.task].changed(law=case.law)
        except ArmError:
            if options.tasks != ('all',) or case.task != 'cube':
                raise
            continue
        if suits(loaded.task, kind_of(loaded)):
            kept.append(case)
        elif options.laws == ('all',):
            left_out.setdefault(case.task, []).append(case.law)
        else:
            suited(loaded)
    for task, laws in left_out.items():
        print(f'task {task} without {", ".join(dict.fromkeys(laws))}, which follow no forces')
    return kept


def _names(
    option: str, names: Sequence[str], every: Sequence[str] = (), allowed: Sequence[str] = ()
) -> Sequence[str]:
    """Return the names of an option; `every` one for all."""
    if not names:
        raise ArmError(f'{option} has no name')
    if every and tuple(names) == ('all',):
        return every
    for name in names if allowed else ():
        one_of(option, name, allowed)
    return names
