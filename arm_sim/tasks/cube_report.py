"""The report on a drawn cube: a short table, a picture, a file for machines."""

import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use('Agg')

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm
from mpl_toolkits.mplot3d.art3d import Line3DCollection
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from arm_sim.tasks.cube import Cube
from arm_sim.tasks.tracking import Tracking, rms


def summarize(tracking: Tracking, cube: Cube, joint_names: tuple[str, ...]) -> dict[str, Any]:
    """Return the numbers of the report that come from the measured run."""

    def error(values: np.ndarray) -> dict[str, float]:
        worst = int(values.argmax())
        return {
            'rms': float(rms(values)) * 1e3,
            'max': float(values[worst]) * 1e3,
            'max_at_s': float(tracking.t[worst]),
            'max_on_stroke': int(cube.strokes_at(tracking.t[worst])) + 1,
        }

    magnitude = np.abs(tracking.effort)
    sample, joint = np.unravel_index(magnitude.argmax(), magnitude.shape)
    size = np.abs(tracking.joint_error)
    return {
        'duration_s': cube.duration,
        'steps': len(tracking.t),
        'path_error_mm': error(tracking.path_error),
        'tracking_error_mm': error(tracking.tracking_error),
        'joint_names': list(joint_names),
        'joint_error_rad': {
            'rms': rms(tracking.joint_error).tolist(),
            'max': size.max(axis=0).tolist(),
            'max_at_s': tracking.t[size.argmax(axis=0)].tolist(),
        },
        'peak_torque_nm': float(magnitude.max()),
        'peak_torque_joint': joint_names[joint],
        'peak_torque_at_s': float(tracking.t[sample]),
        'peak_torque_share': float(tracking.effort_share.max()),
        'joint_peak_torque_nm': magnitude.max(axis=0).tolist(),
        'saturated_samples': int((tracking.effort_share >= 1.0).any(axis=1).sum()),
    }


def write_json(report: dict[str, Any], path: Path) -> None:
    """Write the report for machines."""
    path.write_text(json.dumps(report, indent=2) + '\n')


def print_table(report: dict[str, Any], checks: list[dict[str, Any]]) -> None:
    """Print the report for people: what was run, the two errors, torque, IK, rate, verdict."""
    console = Console(width=92, highlight=False)
    law = report['controller']
    if report['feedforward']:
        law += f' ({report["feedforward"]})'
    console.print(
        f'\n[bold]{report["robot"]}[/] drew the cube: {law}, engine {report["engine"]}, '
        f'{report["mode"]}, path {report["path"]}, {report["duration_s"]:g} s'
    )
    table = Table(box=SIMPLE, show_edge=False, pad_edge=False, header_style='bold')
    for column, justify in (('', 'left'), ('RMS', 'right'), ('max', 'right'), ('where', 'left')):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    for name, key in (('path error', 'path_error_mm'), ('tracking error', 'tracking_error_mm')):
        e = report[key]
        where = f'stroke {e["max_on_stroke"]}, t = {e["max_at_s"]:.3f} s'
        table.add_row(f'{name} \\[mm]', f'{e["rms"]:.3g}', f'{e["max"]:.3g}', where)
    joints = report['joint_error_rad']
    worst = int(np.argmax(joints['max']))
    table.add_row(
        'joint error \\[rad]',
        f'{max(joints["rms"]):.3g}',
        f'{max(joints["max"]):.3g}',
        f'{report["joint_names"][worst]}, t = {joints["max_at_s"][worst]:.3f} s',
    )
    table.add_row(
        'torque \\[N.m]',
        '',
        f'{report["peak_torque_nm"]:.4g}',
        f'{report["peak_torque_joint"]}, t = {report["peak_torque_at_s"]:.3f} s; '
        f'{report["peak_torque_share"]:.0%} of limit',
    )
    table.add_row(
        'saturated samples',
        '',
        str(report['saturated_samples']),
        '',
    )
    ik = report['ik']
    table.add_row(
        'IK residual \\[mm]',
        '',
        f'{ik["max_position_error_mm"]:.2g}',
        f'{ik["calls"]} call{"s" if ik["calls"] != 1 else ""}, '
        f'largest joint step {ik["max_joint_step_rad"]:.3g} rad',
    )
    console.print(table)
    rate = f'{report["steps"]} cycles at {report["cycles_per_second"]:.0f} a second'
    if report['mode'] == 'realtime':
        rate += f', {report["late_ticks"]} late ticks, {report["skipped_periods"]} skipped periods'
    console.print(rate)
    console.print(f'SHA-256 of the joint data: {report["checksum"][:16]}...')
    for check in checks:
        mark = '[green]held[/]  ' if check['held'] else '[red]BROKEN[/]'
        console.print(
            f'{mark} {check["name"]}: {check["value"]:.4g} {check["unit"]}, '
            f'limit {check["limit"]:g} {check["unit"]}'
        )


def draw(tracking: Tracking, cube: Cube, report: dict[str, Any], path: Path) -> None:
    """Draw the cube in 3D, both errors over time, and the torques as shares of their limits."""
    plt.rcParams.update({'font.size': 9, 'axes.spines.top': False, 'axes.spines.right': False})
    figure = plt.figure(figsize=(13, 7.2), layout='constrained')
    parts: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.25))
    left, right = parts
    _draw_cube(left.add_subplot(projection='3d'), tracking, cube)
    errors, torques = right.subplots(2, 1, sharex=True, height_ratios=(1.2, 1.0))
    _draw_errors(errors, tracking, cube)
    _draw_torques(torques, tracking, report['joint_names'])
    law = report['controller'] + (f' ({report["feedforward"]})' if report['feedforward'] else '')
    figure.suptitle(
        f'{report["robot"]}, {law}, engine {report["engine"]}, {report["mode"]}:  '
        f'tracking {report["tracking_error_mm"]["rms"]:.3g} mm RMS, '
        f'path {report["path_error_mm"]["rms"]:.3g} mm RMS',
        fontsize=12,
        fontweight='bold',
        y=1.03,
    )
    figure.savefig(path, dpi=110, bbox_inches='tight', pad_inches=0.15)
    plt.close(figure)


# Errors below this are rounding; the axes end there [mm].
_ROUNDING_MM = 1e-14


def _envelope(
    t: np.ndarray, values: np.ndarray, bins: int = 1500
) -> tuple[np.ndarray, np.ndarray]:
    """Return times and the largest value in each of `bins` stretches: what a plot can show."""
    width = max(1, len(t) // bins)
    count = len(t) // width
    return t[: count * width : width], values[: count * width].reshape(count, width).max(axis=1)


def _draw_cube(axes: Any, tracking: Tracking, cube: Cube) -> None:
    t, error = _envelope(tracking.t, tracking.tracking_error * 1e3)
    tip = tracking.tip[:: max(1, len(tracking.t) // 1500)][: len(t)] * 1e3
    error = np.maximum(error, _ROUNDING_MM)
    segments = np.stack([tip[:-1], tip[1:]], axis=1)
    corners = cube.corners * 1e3
    for a in range(8):
        for b in range(a + 1, 8):
            if np.isclose(np.linalg.norm(corners[a] - corners[b]), cube.side * 1e3):
                axes.plot(*np.stack([corners[a], corners[b]]).T, color='0.8', lw=5, zorder=0)
    lowest, highest = np.log10([error.min(), error.max()])
    decades = LogNorm(10 ** np.floor(lowest), 10 ** np.floor(highest + 1))
    lines = Line3DCollection(segments, cmap='viridis', norm=decades, lw=2.2)
    lines.set_array(error[:-1])
    axes.add_collection3d(lines)
    for number, corner in enumerate(corners):
        axes.text(*(corner + 6 * np.sign(corner - np.array(cube.center) * 1e3)), str(number))
    middle, half = np.array(cube.center) * 1e3, 0.62 * cube.side * 1e3
    axes.set(
        xlim=(middle[0] - half, middle[0] + half),
        ylim=(middle[1] - half, middle[1] + half),
        zlim=(middle[2] - half, middle[2] + half),
        xlabel='x [mm]',
        ylabel='y [mm]',
        zlabel='z [mm]',
    )
    axes.set_title('the tip as drawn (grey: the ideal edges)', y=0.98)
    axes.set_box_aspect((1, 1, 1), zoom=0.95)
    axes.view_init(elev=22, azim=-58)
    bar = axes.figure.colorbar(lines, ax=axes, shrink=0.55, pad=0.1, location='bottom')
    bar.set_label('tracking error [mm]')


def _shade_strokes(axes: Any, cube: Cube, label: bool) -> None:
    for stroke in range(cube.strokes):
        start, end = stroke * cube.edge_time, (stroke + 1) * cube.edge_time
        if stroke % 2:
            axes.axvspan(start, end, color='0.955', zorder=0, lw=0)
        if label:
            name = f'{cube.walk[stroke]}-{cube.walk[stroke + 1]}'
            axes.text(
                (start + end) / 2, 1.01, name, ha='center', fontsize=7.5, color='0.35',
                transform=axes.get_xaxis_transform(),
            )  # fmt: skip


def _draw_errors(axes: Any, tracking: Tracking, cube: Cube) -> None:
    _shade_strokes(axes, cube, label=True)
    for values, name, color in (
        (tracking.path_error, 'path error (reference from the straight edge)', '#d95f02'),
        (tracking.tracking_error, 'tracking error (arm from the reference)', '#1b6ca8'),
    ):
        label = f'{name}: {rms(values) * 1e3:.2g} mm RMS'
        t, largest = _envelope(tracking.t, values * 1e3)
        axes.semilogy(t, np.maximum(largest, _ROUNDING_MM), lw=1.1, color=color, label=label)
    axes.set(ylabel='error [mm]', xlim=(0, cube.duration))
    if axes.get_ylim()[1] < 1e-9:
        axes.set_ylim(_ROUNDING_MM, 1e-9)
    axes.grid(axis='y', color='0.9')
    axes.legend(loc='best', framealpha=0.9, fontsize=8.5)
    axes.set_title('error along the strokes (corner to corner)', pad=16)


def _draw_torques(axes: Any, tracking: Tracking, joint_names: list[str]) -> None:
    signed = np.sign(tracking.effort) * tracking.effort_share * 100
    colors = plt.get_cmap('Dark2')
    for joint, name in enumerate(joint_names):
        peak = np.abs(tracking.effort[:, joint]).max()
        axes.plot(
            tracking.t,
            signed[:, joint],
            lw=1.0,
            color=colors(joint % 8),
            label=f'{name.removesuffix("_joint")} (peak {peak:.3g})',
        )
    largest = max(12.0, float(np.abs(signed).max()) * 1.15)
    axes.set(
        ylabel='torque [% of limit]',
        xlabel='time [s]',
        ylim=(-min(largest, 110), min(largest, 110)),
    )
    if largest >= 100:
        axes.axhline(100, color='red', lw=0.8)
        axes.axhline(-100, color='red', lw=0.8)
    axes.grid(axis='y', color='0.9')
    axes.set_title('torque as a share of its limit (peak in N.m)')
    axes.legend(ncols=3, loc='upper center', bbox_to_anchor=(0.5, -0.2), frameon=False)
