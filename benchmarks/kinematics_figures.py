"""Draw the pictures of docs/kinematics.md.

    ./ws python benchmarks/kinematics_figures.py

The benchmark's numbers are those of the page, which benchmarks/inverse_kinematics.py prints.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.lines import Line2D

sys.path.insert(0, str(Path(__file__).parents[1]))

from arm_dynamics.kinematics.jacobians import smallest_singular_value
from arm_dynamics.kinematics.singularities import ur_singularities
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.cartesian_path import polyline
from arm_dynamics.paths.time_scaling import time_motion
from arm_dynamics.robots import find_urdf
from arm_sim import pictures

IMAGES = Path(__file__).parents[1] / 'docs' / 'images'
HALF = np.pi / 2
READY = np.array([-HALF, -HALF, HALF, -HALF, -HALF, 0.0])
PLAIN = np.array([0.3, -1.1, 1.2, -0.4, 0.9, 0.2])


class Reachable(NamedTuple):
    """What a solver does on reachable targets: its share in words, times of a call [us]."""

    solved: str
    median: float
    p99: float


def reachable(page: str) -> dict[str, dict[str, Reachable]]:
    """Return what the tables of the page say of reachable targets, by arm and solver."""
    arms: dict[str, dict[str, Reachable]] = {}
    for title, table in re.findall(r'^\*\*(.+)\*\*\n\n((?:\|.*\n)+)', page, re.MULTILINE):
        rows = arms.setdefault(title, {})
        for row in table.splitlines()[2:]:
            name, (solved, *more) = row.split(' | ')[0][2:], row.split(' | ')[1].split(', ')
            *wrong, median, p99 = more
            rows[name] = Reachable(', '.join([solved, *wrong]), float(median), float(p99))
    return arms


def draw_benchmark(page: str) -> None:
    """Time and success of every solver on reachable targets, one panel per arm."""
    figure = pictures.new_figure(13, 4.8, 'Inverse kinematics: time of a call, and share solved')
    arms = reachable(page).items()
    names = list(next(iter(dict(arms).values())))[::-1]
    groups = {
        'this package': pictures.BLUE,
        'plain methods': pictures.ORANGE,
        'other packages': pictures.COLORS[2],
    }
    plain = ('DLS', 'pseudo-inverse')
    for panel, (arm, rows) in zip(
        pictures.panels(figure, len(arms), sharex=True, sharey=True), arms, strict=True
    ):
        for name, row in rows.items():
            group = 'this package' if name.startswith('this') else 'other packages'
            color = groups['plain methods' if name.startswith(plain) else group]
            place = names.index(name)
            panel.plot([row.median, row.p99], [place, place], color=color, lw=2)
            panel.plot(row.median, place, 'o', color=color, ms=7)
            panel.plot(row.p99, place, '|', color=color, ms=10, mew=2)
            share = float(row.solved.split()[0])
            panel.text(
                1.01, place, row.solved, va='center', fontsize=pictures.SMALL, color='0.2',
                fontweight='normal' if share > 99.5 else 'bold',
                transform=panel.get_yaxis_transform(),
            )  # fmt: skip
        panel.set_yticks(range(len(names)), names)
        panel.set_xscale('log')
        panel.text(
            1.01, 1.0, 'solved', fontsize=pictures.SMALL, va='bottom', transform=panel.transAxes
        )
        pictures.style(panel, arm, 'time of a call [us]', grid='x')
    lines = [Line2D([], [], color=color, lw=2, label=x) for x, color in groups.items()]
    lines += [
        Line2D([], [], color='0.4', marker='o', ls='', ms=7, label='median'),
        Line2D([], [], color='0.4', marker='|', ls='', ms=10, mew=2, label='99th percentile'),
        Line2D([], [], ls='', label='bold: not all targets solved'),
    ]
    pictures.legend(figure, handles=lines, ncols=6, loc='outside lower center')
    pictures.save(figure, IMAGES / 'ik_benchmark.png')


def draw_singularities(model: RobotModel) -> None:
    """Smallest singular value over two pairs of joints, and where the named distances are 0."""
    figure = pictures.new_figure(12, 4.9, 'Smallest singular value of the UR5e: dark is singular')
    grid = np.linspace(-np.pi, np.pi, 121)
    names = {
        (2, 4): [('elbow', 0.0, 2.2, 90), ('wrist', 1.6, 0.0, 0), ('shoulder', -1.1, -2.2, 90)],
        (1, 2): [('elbow', -2.3, 0.0, 0), ('shoulder', -0.93, -1.5, -66)],
    }
    axes = pictures.panels(figure, 2)
    for panel, ((x, y), lines) in zip(axes, names.items(), strict=True):
        values = np.empty((len(grid), len(grid)))
        shoulder = np.empty_like(values)
        for row, b in enumerate(grid):
            for column, a in enumerate(grid):
                q = PLAIN.copy()
                q[x], q[y] = a, b
                values[row, column] = smallest_singular_value(model.jacobian(q))
                shoulder[row, column] = ur_singularities(model, q).shoulder_distance
        heights = np.log10(np.maximum(values, 1e-5))
        picture = panel.pcolormesh(grid, grid, heights, vmin=-4, cmap='viridis', rasterized=True)
        panel.contour(grid, grid, shoulder, levels=[0.02], colors='white', linestyles='--')
        for name, a, b, angle in lines:
            box = {'facecolor': '0.1', 'edgecolor': 'none', 'alpha': 0.75, 'pad': 2}
            panel.text(
                a, b, name, color='white', ha='center', va='center', rotation=angle, bbox=box,
                fontsize=pictures.TEXT,
            )  # fmt: skip
        joints = [f'{model.joint_names[joint]} [rad]' for joint in (x, y)]
        pictures.style(panel, x=joints[0], y=joints[1], grid='')
    bar = figure.colorbar(picture, ax=axes, pad=0.02)
    bar.set_label('log10 of the smallest singular value', fontsize=pictures.TEXT)
    pictures.save(figure, IMAGES / 'singularities.png')


def draw_timing(model: RobotModel) -> None:
    """One square of the cube, timed three ways within the same limits."""
    corners = np.array([0.3, 0.2, 0.5]) + 0.05 * np.array(
        [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (-1, -1, 0)]
    )
    square = polyline(corners, model.forward_kinematics(READY).rotation, 1.0)
    figure = pictures.new_figure(
        9, 6.5, 'A square of 0.1 m, timed three ways within 8 rad/s$^2$: the same straight edges'
    )
    axes = pictures.panels(figure, 3, 1, sharex=True)
    for timing, color in (
        ('given', '0.55'), ('quintic', pictures.BLUE), ('toppra', pictures.ORANGE)
    ):  # fmt: skip
        timed = time_motion(
            model, square, READY, timing=timing, acceleration_limit=8.0, sample_period=0.002
        )
        shares = (
            np.abs(timed.v) / model.velocity_limit,
            np.abs(timed.a) / 8.0,
            np.abs(timed.effort) / model.effort_limit,
        )
        for panel, share in zip(axes, shares, strict=True):
            panel.plot(timed.times, 100.0 * share.max(axis=1), color=color, lw=1.6)
        side = 'left' if timing == 'quintic' else 'right'
        place = timed.times[-1] + (0.02 if side == 'left' else -0.02)
        axes[0].axvline(timed.times[-1], color=color, lw=0.8, ls=':')
        axes[0].text(
            place, 82.0, f'{timing}: {timed.times[-1]:.2f} s', color=color, ha=side,
            fontsize=pictures.TEXT,
        )  # fmt: skip
    for panel, what in zip(axes, ('velocity', 'acceleration', 'torque'), strict=True):
        panel.axhspan(100.0, 115.0, color=pictures.ORANGE, alpha=0.12, lw=0)
        panel.set_ylim(0.0, 115.0)
        pictures.style(panel, y=f'{what}\n[% of limit]')
    axes[-1].set_xlabel('time [s]', fontsize=pictures.TEXT)
    pictures.save(figure, IMAGES / 'time_scaling.png')


def main() -> int:
    """Draw all pictures."""
    draw_benchmark((IMAGES.parent / 'kinematics.md').read_text())
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    draw_singularities(model)
    draw_timing(model)
    return 0


if __name__ == '__main__':
    sys.exit(main())
