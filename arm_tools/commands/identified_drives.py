"""What `identify` finds between command and joint: torque scales, constants of motors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from arm_dynamics.checks import ArmError, in_range, one_of
from arm_dynamics.parameters import Parameters, parameter
from arm_lab.experiments.report import Listing
from arm_lab.identification.estimation import IdentificationParameters
from arm_lab.identification.motor_constants import FittedMotors, motor_constants
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.signals import MotionSamples
from arm_lab.identification.torque_scale import Carrying, TorqueScales, torque_scales
from arm_sim.robot import Robot
from arm_tools.inspection.inspected import Inspected
from arm_tools.readers.read_options import AS_FOUND, ReadAs
from arm_tools.readers.recorded_samples import read_voltages

_LINKS = 'links'


@dataclass(frozen=True)
class TorqueScaleOptions(Parameters):
    """What a recording is compared with to find the scale of its torques."""

    loaded: Annotated[str, 'RECORDING'] = parameter(
        '', 'recording of the same arm with a known payload, from which torque scales follow'
    )
    loaded_mass: float = parameter(0.0, 'mass of the payload of --loaded, at the tool [kg]')
    torque_reference: Annotated[str, 'JOINT'] = parameter(
        '', f"joint whose torque is right, or '{_LINKS}' where the links' masses are right"
    )


def scales_of(
    options: TorqueScaleOptions,
    regressor: JointRegressor,
    recording: Inspected,
    known: IdentificationParameters,
    read: Callable[[str], MotionSamples],
) -> TorqueScales | None:
    """Return the scales of torques; None where nothing separates them from the load.

    `read` returns the samples of a recording, read as `recording` was. Where the links are known,
    a joint has no scale that moves them with a small share of its torque: errors of the links'
    masses would be errors of its scale. Unless an option says that the links are known, the tool
    may carry anything.

    Raises:
        ArmError: options that do not go together, no such joint, a recording that is none.
    """
    reference, names = options.torque_reference, regressor.model.joint_names
    if recording.currents and not (options.loaded or reference):
        reference = _LINKS
    if bool(options.loaded) != (options.loaded_mass != 0.0):
        raise ArmError('--loaded and --loaded-mass go together: a recording, and its payload [kg]')
    if not (options.loaded or reference):
        return None
    if known.payload:
        raise ArmError('--payload looks for a payload; torque scales need one that is known')
    if reference:
        one_of('--torque-reference', reference, (*names, _LINKS))
    recordings = [Carrying(recording.samples)]
    if options.loaded:
        in_range('--loaded-mass', options.loaded_mass, 0.0, 1e4, exclusive=True)
        recordings.append(Carrying(read(options.loaded), options.loaded_mass))
    right = names.index(reference) if reference in names else None
    of_links, bare = reference == _LINKS, options.torque_reference == _LINKS
    unused = list(recording.unused)
    found = torque_scales(regressor, recordings, known, right, of_links, bare, unused)
    if reference != _LINKS or options.loaded:
        return found
    return replace(found, shown=found.shown & recording.shown)


def without_scale(samples: MotionSamples, scales: TorqueScales | None) -> MotionSamples:
    """Return samples with true torques; those of a joint whose scale is not shown are 0."""
    if scales is None:
        return samples
    return replace(samples, effort=np.where(scales.shown, samples.effort / scales.values, 0.0))


def hidden_scales(scales: TorqueScales | None, names: Sequence[str]) -> dict[int, str]:
    """Return why a joint's torque is not used, by its index, where its scale is not shown."""
    if scales is None:
        return {}
    return {
        i: f'joint {names[i]!r}: the recordings do not show the scale of its torque'
        for i in np.flatnonzero(~scales.shown).tolist()
    }


def motors_of(
    path: str,
    robot: Robot,
    samples: MotionSamples,
    known: IdentificationParameters,
    how: ReadAs = AS_FOUND,
) -> tuple[FittedMotors | None, str]:
    """Return the constants of the motors, and why there are none where the arm has motors."""
    if robot.parameters('simulator').get('actuator') != 'voltage':
        return None, ''
    names = robot.model.joint_names
    try:
        piece = samples.pieces(known.cutoff)[0]
        voltage = read_voltages(path, names, samples.times, how)[piece]
        return motor_constants(samples.part(piece), voltage, known.cutoff, names), ''
    except ArmError as error:
        return None, f'motors not identified: {error}'


def scale_note(scales: TorqueScales | None, names: tuple[str, ...]) -> str:
    """Return a line on the scales."""
    if scales is None:
        return (
            'torque scale: not to be known from this motion, since torques twice as large are '
            'those of an arm twice as heavy; taken as 1 (--loaded or --torque-reference '
            'determines the scale)'
        )
    rows = zip(names, scales.values, scales.errors, scales.shown, strict=True)
    parts = [
        f'{n} {s:.4f} ± {s * e:.1g}' if shown else f'{n} not shown' for n, s, e, shown in rows
    ]
    line = f'torque scale, recorded over true: {", ".join(parts)}'
    if scales.center is None or scales.center_errors is None:
        return line
    places = zip(scales.center, scales.center_errors, strict=True)
    shown = ', '.join(f'{1e3 * x:.0f} ± {1e3 * e:.1g}' for x, e in places)
    return f'{line}; centre of the known load at ({shown}) mm of the tool'


def motor_table(motors: FittedMotors, names: tuple[str, ...]) -> Listing:
    """Return a table of the motors."""
    title = 'motors; Kt = Ke in SI units; torque left: RMS, as a share of the torque'
    rows, headings = [], ('joint', 'Kt/Ra', 'Ke', 'Ra', 'brush drop [V]', 'torque left')
    for i, name in enumerate(names):
        pairs = (
            (motors.conductance[i], motors.conductance_error[i]),
            (motors.back_emf[i], motors.back_emf_error[i]),
        )
        cells = [f'{x:.5g} ± {e:.1g}' for x, e in pairs]
        drop = f'{motors.brush_drop[i]:.4g} ± {motors.brush_drop_error[i]:.1g}'
        cells += [f'{motors.resistance[i]:.5g}', drop if motors.brush_drop[i] else '0']
        rows.append([name, *cells, f'{motors.left[i]:.2%}'])
    return Listing(title, headings, rows)


def drive_facts(scales: TorqueScales | None, motors: FittedMotors | None) -> dict[str, object]:
    """Return the numbers."""
    known: dict[str, object] = {'torque_scale': None, 'motors': None}
    if scales is not None:
        names = 'values', 'errors', 'shown'
        known['torque_scale'] = {name: getattr(scales, name).tolist() for name in names}
        if scales.center is not None:
            known['load_center_m'] = scales.center.tolist()
    if motors is not None:
        known['motors'] = {k: np.asarray(x).tolist() for k, x in vars(motors).items()}
    return known
