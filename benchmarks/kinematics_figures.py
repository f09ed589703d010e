"""Draw the pictures of docs/kinematics.md.

python benchmarks/kinematics_figures.py ik.json     (the JSON of benchmarks/inverse_kinematics.py)
"""

import json
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
mpl.use('Agg')


import matplotlib.pyplot as plt

from arm_dynamics.kinematics.jacobians import smallest_singular_value
from arm_dynamics.kinematics.singularities import ur_singularities
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.cartesian_path import polyline
from arm_dynamics.paths.time_scaling import time_motion
from arm_dynamics.robots import find_urdf

IMAGES = Path(__file__).parents[1] / 'docs' / 'images'
HALF = np.pi / 2
READY = np.array([-HALF, -HALF, HALF, -HALF, -HALF, 0.0])
PLAIN = np.array([0.3, -1.1, 1.2, -0.4, 0.9, 0.2])


def draw_benchmark(report: dict) -> None:
    """Time against success of every solver on reachable targets, one panel an arm."""
    figure, axes = plt.subplots(1, len(report['arms']), figsize=(13, 4.6), sharex=True)
    names = list(next(iter(report['arms'].values())))
    for panel, (arm, rows) in zip(np.atleast_1d(axes), report['arms'].items(), strict=True):
        present = [n for n in names if 'reachable' in rows.get(n, {})]
        for place, name in enumerate(present[::-1]):
            row = rows[name]['reachable']
            color = 'tab:blue' if name.startswith('this') else '0.55'
            panel.plot([row['median_us'], row['p99_us']], [place, place], color=color, lw=2)
            panel.plot(row['median_us'], place, 'o', color=color)
            panel.plot(row['p99_us'], place, '|', color=color, ms=12, mew=2)
            wrong = f', {row["wrong"]} wrong' if row['wrong'] else ''
            wrong = f' of {row["targets"]}{wrong}' if row['targets'] < 1000 else wrong
            panel.text(
                1.02,
                place,
                f'{row["success_percent"]:.0f} %{wrong}',
                va='center',
                fontsize=8,
                transform=panel.get_yaxis_transform(),
            )
        panel.set_yticks(range(len(present)), present[::-1], fontsize=8)
        panel.set_xscale('log')
        panel.set_title(arm)
        panel.set_xlabel(
            'time of one call [us]: median (dot) to 99th percentile (bar)', fontsize=8
        )
        panel.grid(alpha=0.3)
    figure.suptitle('Reachable targets (1000, slow solvers fewer): time and solved share')
    figure.tight_layout(w_pad=5)
    figure.savefig(IMAGES / 'ik_benchmark.png', dpi=110)


def draw_singularities(model: RobotModel) -> None:
    """Smallest singular value over two pairs of joints, and where the named distances are 0."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.8))
    grid = np.linspace(-np.pi, np.pi, 121)
    for panel, (x, y) in zip(axes, ((2, 4), (1, 2)), strict=True):
        values = np.empty((len(grid), len(grid)))
        shoulder = np.empty_like(values)
        for row, b in enumerate(grid):
            for column, a in enumerate(grid):
                q = PLAIN.copy()
                q[x], q[y] = a, b
                values[row, column] = smallest_singular_value(model.jacobian(q))
                shoulder[row, column] = ur_singularities(model, q).shoulder_distance
        picture = panel.pcolormesh(
            grid,
            grid,
            np.log10(np.maximum(values, 1e-5)),
            vmin=-4,
            cmap='viridis',
            rasterized=True,
        )
        panel.contour(grid, grid, shoulder, levels=[0.02], colors='white', linestyles='--')
        names = model.joint_names
        panel.set_xlabel(f'{names[x]} [rad]')
        panel.set_ylabel(f'{names[y]} [rad]')
        figure.colorbar(picture, ax=panel, label='log10 of the smallest singular value')
    axes[0].set_title(
        'elbow: vertical lines; wrist: horizontal; shoulder: within dashes', fontsize=10
    )
    axes[1].set_title('elbow: horizontal line; shoulder: within dashes', fontsize=10)
    figure.tight_layout()
    figure.savefig(IMAGES / 'singularities.png', dpi=110)


def draw_timing(model: RobotModel) -> None:
    """One square of the cube, timed three ways within the same limits."""
    corners = np.array([0.3, 0.2, 0.5]) + 0.05 * np.array(
        [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (-1, -1, 0)]
    )
    square = polyline(corners, model.forward_kinematics(READY).rotation, 1.0)
    figure, axes = plt.subplots(3, 1, figsize=(9, 7), sharex=True)
    for timing, color in (('given', '0.6'), ('quintic', 'tab:blue'), ('toppra', 'tab:red')):
        timed = time_motion(
            model, square, READY, timing=timing, acceleration_limit=8.0, sample_period=0.002
        )
        label = f'{timing}: {timed.times[-1]:.2f} s, off the path {1e3 * timed.path_error:.1g} mm'
        shares = (
            np.abs(timed.v) / model.velocity_limit,
            np.abs(timed.a) / 8.0,
            np.abs(timed.effort) / model.effort_limit,
        )
        for panel, share in zip(axes, shares, strict=True):
            panel.plot(timed.times, share.max(axis=1), color=color, label=label)
    for panel, what in zip(axes, ('velocity', 'acceleration', 'torque'), strict=True):
        panel.axhline(1.0, color='k', lw=0.8, ls='--')
        panel.set_ylabel(f'{what}, share of limit')
        panel.grid(alpha=0.3)
    axes[0].legend(fontsize=8)
    axes[-1].set_xlabel('time [s]')
    axes[0].set_title('A 0.1 m square: the same straight edges, timed three ways (8 rad/s^2)')
    figure.tight_layout()
    figure.savefig(IMAGES / 'time_scaling.png', dpi=110)


def main() -> int:
    """Draw all pictures; without a JSON, all but the benchmark's."""
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    draw_singularities(model)
    draw_timing(model)
    if len(sys.argv) > 1:
        draw_benchmark(json.loads(Path(sys.argv[1]).read_text()))
    return 0


if __name__ == '__main__':
    sys.exit(main())
