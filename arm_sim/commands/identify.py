"""`ros2 run arm_sim identify RECORDING`: find an arm's inertias, rotors and friction.

RECORDING holds joint states with positions and torques: .mcap, a rosbag2 folder, .npz, .csv.
A URDF and a parameter file are written that the launch files take.
"""

import argparse
import sys
from dataclasses import fields
from typing import Any

import numpy as np
import yaml
from matplotlib.figure import Figure
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from arm_controllers.parameter_file import SHARED
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.identification import (
    IdentificationParameters,
    Identified,
    JointRegressor,
    beside_urdf,
    identified_urdf,
    identify,
    payload_of,
)
from arm_dynamics.parameters import facts
from arm_sim.commands.identify_drives import (
    add_options,
    drive_facts,
    motor_table,
    motors_of,
    scale_note,
    scales_of,
    without_scale,
)
from arm_sim.output_folder import whole_file, writable_folder
from arm_sim.pictures import BLUE, ORANGE, QUIET, legend, new_figure, panels, save, style
from arm_sim.runs.recordings import read_samples
from arm_sim.runs.report import write_json
from arm_sim.runs.robot import Robot

_UNKNOWN = 0.5  # of what was believed: a parameter whose spread is still larger is not shown


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    try:
        run(options, console)
    except ArmError as error:
        print(f'identify: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def run(options: argparse.Namespace, console: Console) -> None:
    """Identify, tell and write. Raises ArmError for what cannot be done."""
    robot = Robot.load(options.robot, options.config)
    known = {
        field.name: getattr(options, field.name) for field in fields(IdentificationParameters)
    }
    parameters = IdentificationParameters(**known)
    folder = writable_folder(options.output_dir)
    with console.status('reading the recording') as status:
        samples = read_samples(options.recording, robot.model.joint_names)
        status.update(f'identifying from {len(samples.times)} states')
        scales = scales_of(options, robot, samples, parameters)
        motors, lacking = motors_of(options.recording, robot, samples, parameters)
        true = without_scale(samples, scales)
        found = identify(JointRegressor(robot.model), true, parameters)
    given = _given(found)
    console.print(_joint_table(found, given))
    console.print(_link_table(found))
    if motors is not None:
        console.print(motor_table(motors, robot.model.joint_names))
    report = _report(found, given, parameters, robot.name) | drive_facts(scales, motors)
    own = scale_note(scales, robot.model.joint_names), *([lacking] if lacking else [])
    for line in (*_notes(found, parameters), *own):
        console.print(line, soft_wrap=True)
    constants = {} if motors is None else motors.parameters()
    stem = f'{robot.name}_identified'
    urdf, config = folder / f'{stem}.urdf', folder / f'{stem}.yaml'
    for path, text in (
        (urdf, identified_urdf(found.regressor, found.pi)),
        (config, _config(robot, beside_urdf(robot.model, found.pi) | constants)),
    ):
        with whole_file(path) as file:
            file.write(text.encode())
    write_json(folder / 'identified.json', report)
    save(_picture(found, robot.name), folder / 'identified.png')
    console.print(
        f'wrote {urdf.name}, {config.name}, identified.json and identified.png to {folder}'
    )
    console.print(
        f'ros2 launch arm_sim cube.launch.py robot:={urdf} config:={config}', soft_wrap=True
    )


def _given(found: Identified) -> Array:
    """Return the share of the held-back torque (n,) that the model as given leaves."""
    rows, keep = found.rows, found.rows.moving & ~found.train[:, np.newaxis]
    left = rows.tau - rows.y @ np.append(found.regressor.parameters(), found.lag)
    squares = [(np.where(keep, x, 0.0) ** 2).sum(axis=0) for x in (left, rows.tau)]
    return np.sqrt(squares[0] / np.maximum(squares[1], 1e-300))


def _joint_table(found: Identified, given: Array) -> Table:
    title = 'joints; torque error: RMS over the held-back part, as a share of the torque'
    table = Table('joint', box=SIMPLE, title=title)
    names = 'rotor inertia', 'viscous friction', 'Coulomb friction', 'error as given', 'identified'
    for name in names:
        table.add_column(name, justify='right')
    model, n = found.regressor.model, found.regressor.model.nv
    values, errors = (x[10 * n :].reshape(3, n) for x in (found.pi, found.errors))
    for i, name in enumerate(model.joint_names):
        cells = [f'{x:.4g} ± {e:.1g}' for x, e in zip(values[:, i], errors[:, i], strict=True)]
        table.add_row(name, *cells, f'{given[i]:.2%}', f'{found.validation[i]:.2%}')
    return table


def _link_table(found: Identified) -> Table:
    table = Table('link', box=SIMPLE, title='links; a * marks what this motion hardly shows')
    for name in ('mass as given', 'mass [kg]', 'centre of mass x, y, z [m], in its joint frame'):
        table.add_column(escape(name), justify='right')
    before = found.regressor.parameters()
    for i, name in enumerate(found.regressor.link_names):
        part = slice(10 * i, 10 * i + 4)
        (mass, *first), star = found.pi[part], np.where(found.share_left[part] > _UNKNOWN, '*', '')
        place = ', '.join(f'{x / mass:.4f}{s}' for x, s in zip(first, star[1:], strict=True))
        told = f'{mass:.4g} ± {found.errors[10 * i]:.1g}{star[0]}'
        table.add_row(name, f'{before[10 * i]:.4g}', told, place)
    return table


def _notes(found: Identified, parameters: IdentificationParameters) -> list[str]:
    hidden = int((found.share_left > _UNKNOWN).sum())
    rows = found.rows
    return [
        f'{len(found.base.columns)} combinations of {len(found.pi)} parameters make the torques; '
        f'{hidden} of these, each alone, are hardly shown by this motion: near the model as given',
        'velocities and accelerations: quintic spline of positions after a zero-phase Butterworth '
        f'filter of {4.0 * parameters.cutoff:g} Hz; both sides of tau = Y pi filtered at '
        f'{parameters.cutoff:g} Hz, zero phase; {len(rows.times)} rows of each joint from '
        f'{rows.times[0]:.1f} to {rows.times[-1]:.1f} s',
        *([_payload(found)] if parameters.payload else []),
        f'torques act {found.lag * 1e3:.3g} ± {found.lag_error * 1e3:.1g} ms before their stamps',
    ]


def _payload(found: Identified) -> str:
    carried = payload_of(found)
    places = zip(carried.center, carried.center_error, strict=True)
    told = ', '.join(f'{1e3 * x:.1f} ± {1e3 * e:.1g}' for x, e in places)
    return f'payload: {carried.mass:.4g} ± {carried.mass_error:.1g} kg at ({told}) mm of the tool'


def _report(
    found: Identified, given: Array, parameters: IdentificationParameters, robot: str
) -> dict[str, Any]:
    """Return all numbers."""
    model, base = found.regressor.model, found.base
    before = found.regressor.parameters()
    each = zip(base.formulas(), found.base_values, found.base_errors, strict=True)
    rows = zip(
        found.regressor.names, before, found.pi, found.errors, found.share_left, strict=True
    )
    keys = 'name', 'given', 'found', 'standard_error', 'spread_left'
    carried = payload_of(found) if parameters.payload else None
    payload = {k: np.asarray(x).tolist() for k, x in vars(carried).items()} if carried else None
    return {
        'robot': robot,
        'found_payload': payload,
        **vars(parameters),
        'filters': _notes(found, parameters)[1],
        'torque_lag_s': found.lag,
        'torque_lag_error_s': found.lag_error,
        'joint_names': list(model.joint_names),
        'torque_noise': found.noise.tolist(),
        'torque_error_share_fit': found.fit.tolist(),
        'torque_error_share_held_back': found.validation.tolist(),
        'torque_error_share_held_back_as_given': given.tolist(),
        'parameters': [
            dict(zip(keys, (name, *map(float, numbers)), strict=True)) for name, *numbers in rows
        ],
        'base_parameters': [
            {'combination': name, 'found': float(x), 'standard_error': float(e)}
            for name, x, e in each
        ],
    }


def _config(robot: Robot, found: dict[str, Any]) -> str:
    """Return a parameter file: what the robot's files say, and what was found in its place."""
    sections = {node: dict(values) for node, values in robot.sections.items() if values}
    shared = sections.setdefault(SHARED, {}) | found
    shared.pop('robot', None)
    sections[SHARED] = shared
    tree = {node: {'ros__parameters': values} for node, values in sections.items()}
    return yaml.safe_dump(tree, default_flow_style=None, sort_keys=False, width=10**6)


def _picture(found: Identified, robot: str) -> Figure:
    """Draw the torques of the held-back part: measured, as identified and as given."""
    model, rows = found.regressor.model, found.rows
    keep = ~found.train if (~found.train).any() else found.train
    lag = found.lag
    before = rows.y[keep] @ np.append(found.regressor.parameters(), lag)
    after, t = found.predicted()[keep], rows.times[keep]
    figure = new_figure(
        11.0, 2.6 * -(-model.nv // 3) + 0.8, f'{robot}: torque on the held-back part'
    )
    for i, axis in enumerate(panels(figure, model.nv)):
        axis.plot(t, rows.tau[keep, i], color=QUIET, lw=3.5, label='measured')
        axis.plot(t, before[:, i], color=ORANGE, lw=1.0, label='as given')
        axis.plot(t, after[:, i], color=BLUE, lw=1.0, label='as identified')
        title = f'{model.joint_names[i]}: {found.validation[i]:.2%} left'
        style(axis, title, 'time [s]', 'torque [N]' if model.prismatic[i] else 'torque [N.m]')
    legend(figure, handles=figure.axes[0].get_lines(), loc='outside lower center', ncols=3)
    return figure


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser('identify', description=__doc__)
    add = parser.add_argument
    add('recording', help='.mcap, rosbag2 folder, .npz or .csv')
    add('--robot', default='ur5e', help='name of a robot, or path of its file (ur5e)')
    add('--config', default='', metavar='FILE', help="parameter file over the robot's own")
    add('--output-dir', default='identified', help='where the files go (identified)')
    for field in fields(IdentificationParameters):
        told = f'{facts(field).description} ({field.default})'
        option = f'--{field.name.replace("_", "-")}'
        if field.default is False:
            add(option, action='store_true', help=facts(field).description)
        else:
            add(option, type=float, default=field.default, help=told)
    add_options(parser)
    return parser
