"""`ros2 run arm_sim margins`: stability margins of a law on an arm along a task, without a run."""

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

from arm_controllers.adapted_law import LawAdaptation
from arm_controllers.laws import law_names
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import like, parameter
from arm_lab.command_line import Folder, Name
from arm_lab.commands.call import call, program
from arm_lab.commands.experiment_options import ExperimentOptions
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.report import Report
from arm_lab.experiments.suited import suited
from arm_lab.progress import status
from arm_lab.tuning.agreement import agreement_of
from arm_lab.tuning.contact import contact_limits
from arm_lab.tuning.margins import margins_of
from arm_lab.tuning.margins_report import (
    facts,
    limits_figure,
    limits_listing,
    listing,
    margins_figure,
)
from arm_sim.devices import SensorParameters
from arm_sim.devices.drives import DriveParameters


@dataclass(frozen=True)
class Options(ExperimentOptions):
    """Linearise the closed loop along a task, period by period, with its delay.

    It reports how fast errors decay, how much more delay and model error the loop tolerates, and
    the effect of sensor noise. The exit code is 0 where the loop is stable. With --contact it
    reports the stiffest surface on which the loop is stable, for each delay up to --delay.
    """

    law: Name = parameter(
        '',
        f'control law, one of {", ".join(law_names())}; servo:LEVEL is a servo with that '
        'feedforward, policy:FILE.onnx a policy; with --contact several, separated by commas; '
        'empty: one that suits the task',
    )
    delay: int = parameter(0, 'delay of commands [control periods]', min=0, max=50)
    noise: Annotated[tuple[float, ...], 'RAD,RAD/S'] = parameter(
        (0.0, 0.0),
        'standard deviations of measured positions and velocities [rad, rad/s | m, m/s]',
        length=2,
    )
    timestep: float = like(Experiment, 'timestep', 0.0)
    natural_frequency: float = like(Experiment, 'natural_frequency', 0.0)
    contact: Annotated[tuple[float, ...], 'N/M,N/M'] = parameter(
        (0.0, 0.0),
        'least and largest stiffness of a surface on which the tool presses [N/m]; 0: no surface',
        length=2,
        min=0,
    )
    simulate: bool = parameter(False, 'if true, --contact also finds the limits by simulation')
    samples: int = parameter(
        0,
        'number of random arms, delayed by up to --delay, on which the prediction is tested',
        min=0,
        max=100_000,
    )
    output_dir: Folder = parameter('margins', 'folder for table, JSON and picture')
    adaptation: LawAdaptation = field(default_factory=LawAdaptation)


def linearised(options: Options) -> Report:
    """Return the margins of a law, or the stiffest surfaces that it tolerates."""
    position, velocity = options.noise
    if options.contact[1]:
        return _in_contact(options)
    drives = DriveParameters(command_delay=options.delay)
    sensors = SensorParameters(position_noise=position, velocity_noise=velocity)
    adapted = vars(options.adaptation)
    whole = options.experiment(drives=drives, sensors=sensors, **adapted)
    experiment = suited(whole.load()).experiment
    with status(f'margins of {experiment.law} over masses and delay') as now:
        found = margins_of(experiment)
        now(f'margins and runs of {options.samples} drawn arms')
        agreement = agreement_of(experiment, options.samples) if options.samples else None
    numbers = facts(found, agreement)
    row = {name: value for name, value in numbers.items() if not isinstance(value, list | dict)}
    draw = partial(margins_figure, found, agreement)
    report = Report('margins', [listing(found)], [row], draw, found=found)
    report.numbers, report.code = numbers, int(found.margin < 0.0)
    if agreement is not None:
        unstable, predicted = (
            int(each.sum()) for each in (agreement.unstable, agreement.margins < 0)
        )
        report.notes = [
            f'{options.samples} drawn arms, up to {found.delay} periods of delay: {unstable} '
            f'unstable, {predicted} predicted; {agreement.share:.1%} as predicted'
        ]
    return report


margins = call(
    Options, linearised, 'Linearise the loop along a task: how much delay and error it tolerates.',
    law='',
)  # fmt: skip


main = program(Options, linearised)


def _in_contact(options: Options) -> Report:
    """Return up to which stiffness each law is stable in contact."""
    low, high = options.contact
    if not 0.0 < low < high:
        raise ArmError(f'--contact is {low:g},{high:g}; it must be two increasing stiffnesses')
    limits = []
    for law in (options.law or 'computed_torque').split(','):
        delays = range(options.delay + 1)
        experiment = options.experiment(law=law, **vars(options.adaptation))
        with status(f'stiffest surfaces of {law}'):
            limits += contact_limits(experiment, low, high, delays, options.simulate)
    numbers = [each._asdict() | {'predicted': min(each.predicted, high)} for each in limits]
    draw, tables = partial(limits_figure, limits, low, high), [limits_listing(limits, low, high)]
    report = Report('contact', tables, numbers, draw, found=limits)
    report.numbers = {'contact': options.contact, 'limits': numbers}
    return report
