"""The same goal under every law, over the real nodes: one launch of sinusoid.launch.py a law."""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from arm_dynamics.checks import one_of
from arm_dynamics.errors import ArmError
from arm_sim.comparison_report import markdown_table, write_json
from arm_sim.sweeps import SWEEPS

# Laws whose nodes take a robot's joint trajectory and command a torque motor or a servo.
NODE_LAWS = (
    'independent_joint',
    'pd',
    'joint_impedance',
    'servo',
    'pd_feedforward',
    'operational_space',
    'computed_torque',
    'computed_torque_pid',
    'momentum_observer',
    'adaptive_computed_torque',
)
# Mismatches that a URDF can hold, so that the simulator's node can be given them.
NODE_SWEEPS = ('mass_scale', 'inertia_scale', 'payload', 'friction', 'damping')
TIMEOUT = 180.0  # [s] a launch


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser('compare_nodes', description=__doc__)
    add = parser.add_argument
    add('--robot', default='planar_3r')
    add('--engine', default='mujoco')
    add('--laws', default='all')
    add('--frequency', default='0.5', help='of the sinusoid [Hz]')
    add('--sweep', default='', help=f'one of {", ".join(NODE_SWEEPS)}')
    add('--values', default='', help='of the sweep, separated by commas')
    add('--output-dir', default='comparison')
    options = parser.parse_args(arguments)
    try:
        run(options, Console(width=None if sys.stdout.isatty() else 120))
    except ArmError as error:
        print(f'compare_nodes: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def run(options: argparse.Namespace, console: Console) -> None:
    """Launch law after law, value after value; write table and picture."""
    laws = NODE_LAWS if options.laws == 'all' else tuple(options.laws.split(','))
    for law in laws:
        one_of('law', law, NODE_LAWS)
    errors: list[tuple[str, str]] = [('', '{}')]
    if options.sweep:
        one_of('sweep', options.sweep, NODE_SWEEPS)
        errors = [
            (f'{value:g}', plant_error(options.sweep, value))
            for value in _numbers(options.values) or SWEEPS[options.sweep][0]
        ]
    folder = Path(options.output_dir).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArmError(f'output_dir {str(folder)!r}: {error.strerror}') from None

    rows = []
    for law in laws:
        for label, error_text in errors:
            report = launch_one(options, law, error_text)
            degrees = max(report['joint_rms_deg'].values())
            console.print(f'{law} {label}: {degrees:.4g} deg RMS', highlight=False)
            rows.append(
                {
                    'law': law,
                    options.sweep or 'case': label or 'exact model',
                    'joint_rms_deg': degrees,
                    'joint_max_deg': max(report['joint_max_deg'].values()),
                    'peak_torque_nm': report['peak_torque_nm'],
                    'checksum': report['checksum'],
                }
            )
    _write(rows, options, folder, console)


def plant_error(sweep: str, value: float) -> str:
    """Return the launch argument plant_error for one value of a sweep."""
    return f'{{{sweep}: {value}}}' if sweep == 'payload' else f'{{{sweep}: [{value}]}}'


def launch_one(options: argparse.Namespace, law: str, error_text: str) -> dict:
    """Run sinusoid.launch.py once; return its report.

    Raises:
        ArmError: the launch failed; holds the last line it said.
    """
    with tempfile.TemporaryDirectory() as output:
        command = [
            *('ros2', 'launch', 'arm_sim', 'sinusoid.launch.py'),
            f'robot:={options.robot}',
            f'engine:={options.engine}',
            f'controller:={law}',
            f'frequency:={options.frequency}',
            f'plant_error:={error_text}',
            f'output_dir:={output}',
        ]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise ArmError(f'{law}: the launch did not end within {TIMEOUT:g} s') from None
        report = Path(output) / 'report.json'
        if not report.is_file():
            words = [line for line in (answer.stdout + answer.stderr).splitlines() if line.strip()]
            reasons = [line for line in words if 'sinusoid' in line or 'rror' in line]
            reason = (reasons or words or ['it said nothing'])[-1]
            raise ArmError(f'{law}: the launch failed: {reason}')
        return json.loads(report.read_text())


def _write(rows: list[dict], options: argparse.Namespace, folder: Path, console: Console) -> None:
    varied = options.sweep or 'case'
    headings = ['law', varied, 'RMS [deg]', 'max [deg]', 'peak [N.m]']
    cells = [
        [
            row['law'],
            str(row[varied]),
            f'{row["joint_rms_deg"]:.4g}',
            f'{row["joint_max_deg"]:.4g}',
            f'{row["peak_torque_nm"]:.4g}',
        ]
        for row in rows
    ]
    table = Table(title=f'{options.robot}, sinusoid over topics, {options.engine}')
    for i, heading in enumerate(headings):
        table.add_column(escape(heading), justify='right' if i > 1 else 'left')
    for line in cells:
        table.add_row(*line)
    console.print(table)
    command = f'compare_nodes --robot {options.robot} --sweep {options.sweep or "none"}'
    (folder / 'nodes.md').write_text(markdown_table(headings, cells))
    write_json(folder / 'nodes.json', command, rows)
    figure(rows, varied, options).savefig(folder / 'nodes.png', dpi=130)
    console.print(f'wrote nodes.md, nodes.json, nodes.png to {folder}')


def figure(rows: list[dict], varied: str, options: argparse.Namespace) -> Figure:
    """Return the picture: a bar a law, or a curve a law over what was swept."""
    result = Figure(figsize=(7.5, 4.5), layout='constrained')
    axis = result.subplots()
    laws = list(dict.fromkeys(row['law'] for row in rows))
    if options.sweep:
        for i, law in enumerate(laws):
            own = [row for row in rows if row['law'] == law]
            x = [float(row[varied]) for row in own]
            y = [row['joint_rms_deg'] for row in own]
            axis.plot(x, y, marker='os^vDPX*<>'[i % 10], label=law)
        axis.set_yscale('log')
        axis.set_xlabel(SWEEPS[options.sweep][1])
        axis.set_ylabel('largest joint error, RMS [deg]')
        result.legend(loc='outside right center', fontsize=8, frameon=False)
    else:
        axis.barh(laws, [row['joint_rms_deg'] for row in rows])
        axis.invert_yaxis()
        axis.set_xscale('log')
        axis.set_xlabel('largest joint error, RMS [deg]')
    axis.set_title(f'{options.robot}: sinusoid over topics', fontsize=10)
    axis.grid(alpha=0.3)
    axis.spines[['top', 'right']].set_visible(False)
    return result


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(',') if part)
    except ValueError:
        raise ArmError(f'values is {text!r}; it must be numbers and commas') from None


if __name__ == '__main__':
    sys.exit(main())
