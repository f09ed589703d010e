"""`identify --from positions`: the fit of servos, its tables, lines, numbers and files."""

import numpy as np
from matplotlib.figure import Figure

from arm_dynamics.checks import ArmError, Array
from arm_lab.experiments.report import Listing
from arm_lab.identification.estimation import IdentificationParameters
from arm_lab.identification.positions import PositionParameters, identify_positions
from arm_lab.identification.rollouts import Followed
from arm_lab.identification.servo_fit import OF_SERVO, ServoFit
from arm_lab.progress import status
from arm_sim.pictures import BLUE, new_figure, style
from arm_sim.robot import Robot
from arm_tools.inspection.position_units import in_radians
from arm_tools.readers.read_options import ReadAs
from arm_tools.readers.recorded_samples import read_followed


def fitted(
    path: str,
    robot: Robot,
    options: PositionParameters,
    known: IdentificationParameters,
    reading: ReadAs,
) -> tuple[ServoFit, list[str]]:
    """Return the servos of a recording, and lines on it; the console shows each iteration.

    Raises:
        ArmError: what `read_followed` and `identify_positions` refuse.
    """
    if known.payload:
        raise ArmError('--payload needs torques; --from positions does not know the load')
    slides = robot.model.prismatic.tolist()
    followed, lines = read_followed(path, robot.model.joint_names, reading, slides)
    q, command = (
        in_radians(each, robot.model.joint_names, robot.model.prismatic, reading.units)
        for each in (followed.q, followed.command)
    )
    followed = Followed(followed.times, q, command)
    with status(f'identifying from {len(followed.times)} positions') as now:
        found = identify_positions(
            robot.model, followed, options, known.cutoff, known.held_back, progress=now
        )
    return found, lines


def servo_table(found: ServoFit, robot: Robot) -> Listing:
    """Return the servos, and the error of the simulated positions."""
    title = 'servos; position error: RMS of the simulated arm over the held-back part'
    rows, headings = [], ('joint', *OF_SERVO, 'position error', 'of a motion of')
    n = robot.model.nv
    errors, shown = found.errors[: 4 * n].reshape(4, n), _shown(found)
    for i, joint in enumerate(robot.model.joint_names):
        pairs = zip(found.of_joints()[:, i], errors[:, i], strict=True)
        cells = [f'{x:.4g} ± {_percent(e)}' for x, e in pairs]
        rows.append([joint, *cells, f'{1e3 * shown[i]:.3g}e-3', f'{found.motion[i]:.3g}'])
    return Listing(title, headings, rows)


def servo_figure(found: ServoFit, robot: Robot) -> Figure:
    """Draw the error of the simulated positions as a share of the motion."""
    names = robot.model.joint_names
    figure = new_figure(7.0, 1.4 + 0.3 * len(names), f'{robot.name}: simulated with these servos')
    axis = figure.subplots()
    axis.barh(names, 100.0 * _shown(found) / found.motion, color=BLUE)
    axis.invert_yaxis()
    style(axis, '', 'position error, RMS [% of the motion]', grid='x')
    return figure


def _shown(found: ServoFit) -> Array:
    """Return the position error of the held-back part, or of all where none was held back."""
    return found.validation if np.isfinite(found.validation).all() else found.fit


def _percent(share: float) -> str:
    """Return a share in percent with one digit that counts, without an exponent below 1e5."""
    return f'{float(f"{100 * share:.1g}"):.5g} %'


def servo_notes(found: ServoFit) -> list[str]:
    """Return lines on delay, masses, and what positions do not show."""
    n = len(found.motion)
    errors = found.errors[4 * n : 5 * n]
    masses = [
        f'{name.removesuffix(" mass")} {x:.3g} ± {_percent(e)}'
        for name, x, e in zip(found.names[4 * n : 5 * n], found.mass_scales, errors, strict=True)
    ]
    return [
        f'commands act {1e3 * found.delay:.3g} ± {1e3 * found.errors[-1]:.1g} ms after their '
        'stamps',
        f'masses over those of the model: {", ".join(masses)}',
        'servo_kd contains viscous friction beyond that of the model; gains, friction, inertias '
        'and masses have a common factor, which only the masses of the model decide; backlash is '
        'not estimated',
        *(f'not shown by these positions: {line}' for line in found.unknown),
    ]


def servo_facts(found: ServoFit, robot: Robot) -> dict[str, object]:
    """Return all numbers."""
    n = robot.model.nv
    rows = zip(found.names, found.values, found.errors, found.share_left, strict=True)
    keys = 'name', 'found', 'error', 'spread_left'
    return {
        'robot': robot.name,
        'joint_names': list(robot.model.joint_names),
        'delay_s': found.delay,
        'delay_error_s': float(found.errors[5 * n]),
        'position_error_fit': found.fit.tolist(),
        'position_error_held_back': found.validation.tolist(),
        'motion': found.motion.tolist(),
        'rollouts': found.rollouts,
        'unknown': found.unknown,
        'parameters': [
            dict(zip(keys, (name, *map(float, numbers)), strict=True)) for name, *numbers in rows
        ],
    }
