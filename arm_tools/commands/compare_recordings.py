"""`ros2 run arm_sim compare_recordings`: how far a real motion is from its simulation, and why."""

from dataclasses import MISSING, dataclass, field, replace
from functools import partial
from typing import Annotated

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from tyro.conf import Positional

from arm_dynamics.checks import ArmError, units
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, parameter
from arm_lab.command_line import Folder, RobotOptions
from arm_lab.commands.call import program
from arm_lab.experiments.report import Listing, Report
from arm_lab.experiments.robot_files import load_robot
from arm_lab.identification.difference import LATEST, Difference, difference
from arm_lab.identification.estimation import IdentificationParameters
from arm_lab.identification.identified_arm import weightless
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.signals import MotionSamples
from arm_lab.progress import status
from arm_sim.loop.measures import rms
from arm_sim.palette import COLORS
from arm_sim.pictures import BLUE, ORANGE, QUIET, legend, new_figure, panels, style
from arm_tools.commands.identified_drives import (
    TorqueScaleOptions,
    scale_note,
    scales_of,
    without_scale,
)
from arm_tools.inspection.inspected import Inspected, decided, inspected
from arm_tools.inspection.known_efforts import EffortsAre
from arm_tools.inspection.position_units import in_radians, unwrapped
from arm_tools.inspection.wrong_numbers import wrong_numbers
from arm_tools.readers.findings import Doubt
from arm_tools.readers.read_options import ReadAs
from arm_tools.readers.recorded_samples import inspected_samples

PARTS = 'delay', 'motion', 'payload', 'friction', 'model', 'rest'
_OF_MOTION = 'RMS', 'max', 'delay [ms]', 'RMS without delay', 'max without delay'
_OF_TORQUE = 'RMS', 'max', *PARTS, 'Coulomb', 'viscous'


@dataclass(frozen=True)
class SimulatedAs(Parameters):
    """How the recording of the simulated arm is read."""

    sim_topic: str = parameter(
        '', 'topic of the joint states of the simulated arm; empty: the one with efforts'
    )
    sim_clock: str = parameter(
        'auto', 'clock of the recording of the simulated arm',
        one_of=('auto', 'header', 'receive'),
    )  # fmt: skip
    sim_units: str = parameter(
        'auto', 'unit of the positions of the simulated arm', one_of=('auto', 'rad', 'deg')
    )
    sim_time_unit: str = parameter(
        'auto', 'unit of the times of the simulated arm in a table',
        one_of=('auto', 's', 'ms', 'us', 'ns'),
    )  # fmt: skip
    sim_columns: str = parameter('', 'names of the columns of that table, as of --columns')


@dataclass(frozen=True, kw_only=True)
class Options(RobotOptions):
    """Compare the recording of a real motion with the recording of the same motion in simulation.

    The command aligns the recordings in time, and reports for each joint how far they differ and
    how much of the torque difference delay, other motion, payload, friction and other links
    explain.
    """

    real: Positional[Annotated[str, 'REAL']] = parameter(
        MISSING, 'path of the recording of the real arm: .mcap, rosbag2 folder or a table'
    )
    simulated: Positional[Annotated[str, 'SIM']] = parameter(
        MISSING, 'path of the recording of the simulated arm, in any of these formats'
    )
    reading: ReadAs = field(default_factory=ReadAs)
    efforts: EffortsAre = field(default_factory=EffortsAre)
    simulated_reading: SimulatedAs = field(default_factory=SimulatedAs)
    cutoff: float = parameter(
        10.0, 'cut-off frequency of the zero-phase filters [Hz]', min=0.1, max=1000
    )
    output_dir: Folder = parameter('compared', 'folder for table, JSON and picture')


def compared(options: Options) -> Report:
    """Return the report of the options."""
    robot = load_robot(options.robot, options.config)
    model = robot.model
    with status('reading the recordings'):
        read = decided(
            inspected(options.real, model, options.reading, options.efforts, options.cutoff)
        )
        simulated, lines = _simulated(options, model)
        real, hidden, scales = _in_torques(options, model, read)
        hidden |= np.ptp(simulated.effort, axis=0) == 0.0
    if hidden.all():
        raise ArmError('no joint has a known torque in both recordings; ' + '; '.join(scales))
    if read.weightless:  # of both, then
        weight = [model.gravity_torque(q) for q in simulated.q]
        simulated = replace(simulated, effort=simulated.effort - np.array(weight))
        model = weightless(model)
    found = difference(model, real, simulated, options.cutoff, hidden)
    first = [*read.lines, *scales, *lines]
    given = {'real': options.real, 'simulated': options.simulated, 'cutoff': options.cutoff}
    numbers = {'robot': robot.name, **given, **facts(found, model)}
    draw, said = partial(picture, found, model, robot.name), notes(found, model, options.cutoff)
    return Report(
        'comparison', listings(found, model), [], draw, found=found, notes=[*first, *said],
        numbers=numbers, first=first,
    )  # fmt: skip


def _in_torques(
    options: Options, model: RobotModel, read: Inspected
) -> tuple[MotionSamples, NDArray[np.bool_], list[str]]:
    """Return the real recording in torques, joints without one (n,), and a line on scales."""
    samples, said = read.samples, list[str]()
    if read.currents:
        known = IdentificationParameters(cutoff=options.cutoff)
        regressor = JointRegressor(weightless(model) if read.weightless else model)
        scales = scales_of(TorqueScaleOptions(), regressor, read, known, lambda _: samples)
        samples = without_scale(samples, scales)
        said = [f'{scale_note(scales, model.joint_names)}; from the weights of the links']
    return samples, np.ptp(samples.effort, axis=0) == 0.0, said


def _simulated(options: Options, model: RobotModel) -> tuple[MotionSamples, list[str]]:
    """Return the recording of the simulated arm, and findings that can make its torques wrong."""
    how = options.simulated_reading
    names, path = model.joint_names, options.simulated
    try:
        reading = ReadAs(
            how.sim_topic, how.sim_clock, how.sim_time_unit, how.sim_columns, how.sim_units
        )
        samples, lines = inspected_samples(path, names, reading, model.prismatic.tolist())
        q = in_radians(samples.q, names, model.prismatic, how.sim_units)
        q, _ = unwrapped(q, names, model.prismatic)
    except ArmError as error:
        raise ArmError(str(error).replace(' --', ' --sim-')) from None
    samples = replace(samples, q=q)
    doubtful = [x.replace('--', '--sim-') for x in lines if isinstance(x, Doubt)]
    doubtful += wrong_numbers(model, samples)
    return samples, [f'{path}: {line}' for line in doubtful]


main = program(Options, compared)


def listings(found: Difference, model: RobotModel) -> list[Listing]:
    """Return the tables of the positions and of the torques."""
    motion, torque = [], []
    for j, name in enumerate(model.joint_names):
        recorded, aligned = (
            [f'{1e3 * x:.4g}' for x in _sizes(d[:, j])] for d in (found.q, found.q_aligned)
        )
        lag = found.joint_lags[j]
        motion.append([name, *recorded, f'{1e3 * lag:.2f}' if np.isfinite(lag) else '-', *aligned])
        shares = [f'{x + 0.0:.1%}' if np.isfinite(x) else '-' for x in found.shares[:, j].round(3)]
        friction = f'{found.coulomb[j]:.4g}', f'{found.viscous[j]:.4g}'
        row = [*(f'{x:.4g}' for x in _sizes(found.tau[:, j])), *shares, *friction]
        torque.append([name, *(['-'] * len(row) if found.hidden[j] else row)])
    of_q, of_tau = (units(each, model.prismatic) for each in ('mrad | mm', 'N.m | N'))
    return [
        Listing(f'position, real minus simulated [{of_q}]', ('joint', *_OF_MOTION), motion),
        Listing(
            f'torque, real minus simulated [{of_tau}]; shares of its mean square; added friction',
            ('joint', *_OF_TORQUE), torque,
        ),
    ]  # fmt: skip


def notes(found: Difference, model: RobotModel, cutoff: float) -> list[str]:
    """Return lines on the time, the payload and the filters."""
    start = (
        f'the real motion begins {found.start:.4f} s later in its recording than the simulated '
        f'one: above {LATEST:g} s this is no delay, and only delays between joints are known'
    )
    lag = f'the real motion is {1e3 * found.lag:.2f} ms later than the simulated one'
    sizes = (found.tau**2).mean(axis=0)
    of_all = np.nansum(found.shares * sizes, axis=1) / max(float(sizes.sum()), 1e-30)
    order = np.argsort(-np.abs(of_all))
    shares = ', '.join(f'{PARTS[k]} {of_all[k]:.1%}' for k in order)
    hidden = ', '.join(np.array(model.joint_names)[found.hidden])
    lacking = f'{hidden}: no torque is known in both recordings, and none is compared'
    return [
        *([lacking] if hidden else []),
        f'the torque difference, all joints together: {shares}',
        f'{start if found.start else lag}; correlation of the velocities {found.correlation:.4f}',
        f'payload, real minus simulated: {found.mass:.4g} kg at {model.tip_frame}',
        f'torques below {cutoff:g} Hz; {np.ptp(found.times):.2f} s in common; longest pieces '
        f'without a gap: {found.used:.0%} of the states',
    ]


def facts(found: Difference, model: RobotModel) -> dict[str, object]:
    """Return all numbers."""
    sizes = {
        f'{name}_{kind}': [float(_sizes(column)[k]) for column in getattr(found, field).T]
        for name, field in (
            ('position', 'q'), ('position_without_delay', 'q_aligned'), ('torque', 'tau'),
            ('torque_without_delay', 'tau_aligned'),
        )
        for k, kind in enumerate(('rms', 'max'))
    }  # fmt: skip
    return {
        'joint_names': list(model.joint_names),
        'start_s': found.start,
        'delay_s': found.lag,
        'joint_delays_s': found.joint_lags.tolist(),
        'velocity_correlation': found.correlation,
        **sizes,
        **{f'share_{part}': x.tolist() for part, x in zip(PARTS, found.shares, strict=True)},
        'mass_kg': found.mass,
        'coulomb_friction': found.coulomb.tolist(),
        'viscous_friction': found.viscous.tolist(),
        'share_of_states': found.used,
        'without_torque': [n for n, x in zip(model.joint_names, found.hidden, strict=True) if x],
    }


def picture(found: Difference, model: RobotModel, robot: str) -> Figure:
    """Draw the torque difference without delay, and what motion, payload and friction explain."""
    figure = new_figure(
        11.0, 2.6 * -(-model.nv // 3) + 0.8, f'{robot}: torque, real minus simulated'
    )
    for j, axis in enumerate(panels(figure, model.nv)):
        parts = found.of_motion, found.of_payload, found.of_friction, found.of_model
        _, payload, friction, model_too = np.cumsum([part[:, j] for part in parts], axis=0)
        axis.plot(found.times, found.tau_aligned[:, j], color=QUIET, lw=3.5, label='difference')
        axis.plot(found.times, payload, color=ORANGE, lw=1.0, label='motion, payload')
        axis.plot(found.times, friction, color=BLUE, lw=1.0, label='motion, payload, friction')
        axis.plot(found.times, model_too, color=COLORS[2], lw=1.0, label='the same and model')
        unit = 'N' if model.prismatic[j] else 'N.m'
        left = rms(found.tau_aligned[:, j] - model_too)
        title = f'{model.joint_names[j]}: {left:.2g} {unit} RMS unexplained'
        style(axis, title, 'time [s]', f'torque [{unit}]')
    legend(figure, handles=figure.axes[0].get_lines(), loc='outside lower center', ncols=4)
    return figure


def _sizes(values: np.ndarray) -> tuple[float, float]:
    return float(rms(values)), float(np.abs(values).max())
