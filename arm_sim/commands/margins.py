"""margins: how far a law on an arm is from instability, before anything runs."""

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console

from arm_controllers.discrete_motion import MOTIONS
from arm_controllers.known_friction import FRICTION_VELOCITIES
from arm_controllers.laws import law_names
from arm_dynamics.checks import ArmError, in_range, one_of
from arm_sim.experiments.experiment import Experiment
from arm_sim.loop.report import write_json
from arm_sim.output_folder import writable_folder
from arm_sim.pictures import save
from arm_sim.refusals import exit_code
from arm_sim.simulation.drives import DriveParameters
from arm_sim.simulation.plant import RIGID_BODY_ENGINES
from arm_sim.simulation.sensors import SensorParameters
from arm_sim.tasks import task_names
from arm_sim.tuning.agreement import agreement_of
from arm_sim.tuning.margins import margins_of
from arm_sim.tuning.margins_report import facts, listing, margins_figure


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(
        'margins',
        description='Linearise the closed loop along a task, period by period, with its delay: '
        'how fast errors die, how much more delay and how wrong masses it stands, what noise '
        'makes of it. Exit code 0 where it is stable.',
    )
    add = result.add_argument
    add('--robot', default='ur5e', help='name of a shipped robot or URDF file (ur5e)')
    laws = f'one of {", ".join(law_names())}; servo:LEVEL is a servo with this feedforward'
    add('--law', default='computed_torque', help=laws)
    add('--task', default='sinusoid', help=f'one of {", ".join(task_names())} (sinusoid)')
    add('--delay', type=int, default=0, help='control periods by which commands are late (0)')
    noise = 'standard deviations of positions and velocities, as 1e-5,1e-3 (0,0)'
    add('--noise', default='0,0', metavar='RAD,RAD/S', help=noise)
    frequency = "that the law is designed for [rad/s]; 0: the files' gains (0)"
    add('--natural-frequency', type=float, default=0.0, help=frequency)
    add('--reference-motion', choices=MOTIONS, default='continuous', help='(continuous)')
    friction = 'that answers Coulomb friction (measured)'
    add('--friction-velocity', choices=FRICTION_VELOCITIES, default='measured', help=friction)
    add('--engine', default='mujoco', help=f'{" or ".join(RIGID_BODY_ENGINES)} (mujoco)')
    add('--config', default='', metavar='FILE', help="parameter file over the robot's own")
    samples = 'also draw and run so many arms, up to --delay late, and see whether it is so (0)'
    add('--samples', type=int, default=0, help=samples)
    add('--seed', type=int, default=0, help='of the draws (0)')
    add('--output-dir', default='margins', help='where numbers and picture go (margins)')
    return result


@exit_code
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    one_of('--engine', options.engine, RIGID_BODY_ENGINES)
    one_of('--task', options.task, task_names())
    in_range('--samples', options.samples, 0, 100_000)
    folder = writable_folder(options.output_dir)
    position, velocity = _noise(options.noise)
    law, _, level = options.law.partition(':')
    experiment = Experiment.of_files(
        options.robot, options.task, law, engine=options.engine, config=options.config,
        seed=options.seed, feedforward=level, natural_frequency=options.natural_frequency,
        reference_motion=options.reference_motion, friction_velocity=options.friction_velocity,
        drives=DriveParameters(command_delay=options.delay),
        sensors=SensorParameters(position_noise=position, velocity_noise=velocity),
    )  # fmt: skip
    margins = margins_of(experiment)
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    console.print(listing(margins).terminal())
    agreement = agreement_of(experiment, options.samples) if options.samples else None
    if agreement is not None:
        console.print(
            f'{options.samples} drawn arms, delays up to {margins.delay} periods: '
            f'{int(agreement.unstable.sum())} unstable, '
            f'{int((agreement.margins < 0).sum())} predicted; '
            f'{agreement.share:.1%} are as predicted'
        )
    write_json(folder / 'margins.json', facts(margins, agreement))
    save(margins_figure(margins, agreement), folder / 'margins.png')
    console.print(f'margins.json and margins.png are in {folder}')
    return 0 if margins.margin >= 0.0 else 1


def _noise(text: str) -> tuple[float, float]:
    """Return what `--noise` says."""
    try:
        position, velocity = (float(each) for each in text.split(','))
    except ValueError:
        raise ArmError(f'--noise is {text!r}; it must be two numbers, as 1e-5,1e-3') from None
    return position, velocity
