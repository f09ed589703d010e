"""The picture of a drawn cube: the tip in space, both errors over time, the torques."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_sim.loop.measures import Tracking
from arm_sim.loop.picture import ALL_ROUNDING_MM, ROUNDING_MM, draw_errors, draw_torques, envelope
from arm_sim.loop.record import Record
from arm_sim.loop.report import ReportTree, title_of
from arm_sim.pictures import BLUE, ORANGE, SMALL, TEXT, new_figure, style
from arm_sim.tasks.cube.walk import CubeWalk


def cube_figure(
    record: Record,
    tracking: Tracking,
    path_error: Array,
    cube: CubeWalk,
    report: ReportTree,
    model: RobotModel,
) -> Figure:
    """Return the cube in 3D, both errors over time, and the torques as shares of their limits."""
    figure = new_figure(
        13.0,
        7.2,
        f'cube: {title_of(report)}:  tracking {report["tracking_error_mm"]["rms"]:.3g} mm RMS, '
        f'path {report["path_error_mm"]["rms"]:.3g} mm RMS',
        fixed=True,
    )
    tip = figure.add_axes((0.0, 0.12, 0.43, 0.82), projection='3d')
    _draw_cube(tip, figure.add_axes((0.09, 0.09, 0.25, 0.022)), record.t, tracking, cube)
    errors = figure.add_axes((0.5, 0.53, 0.44, 0.36))
    torques = figure.add_axes((0.5, 0.07, 0.44, 0.38), sharex=errors)
    errors.tick_params(labelbottom=False)
    _shade_strokes(errors, cube)
    both = (
        (path_error, 'path error (reference from the straight edge)', ORANGE),
        (tracking.error, 'tracking error (arm from the reference)', BLUE),
    )
    draw_errors(errors, record.t, both)
    style(errors, '', '', 'error [mm]')
    errors.set_xlim(0, cube.duration)
    errors.set_title('error along the strokes (corner to corner)', pad=16, fontsize=TEXT + 1)
    draw_torques(torques, record, tracking.effort_share, model)
    return figure


def exaggeration(largest: float, side: float) -> float:
    """Return 1, 2 or 5 times a power of ten, by which errors up to `largest` are seen.

    The largest is then a fifth of a cube's side at most. Larger errors, and those that are
    rounding, stay as they are. Both are in mm.
    """
    if largest < ALL_ROUNDING_MM:
        return 1.0
    room = 0.2 * side / largest
    power = 10.0 ** np.floor(np.log10(room))
    return max(1.0, float(max(each for each in (1.0, 2.0, 5.0) if each * power <= room) * power))


def _draw_cube(axes: Axes3D, scale: Axes, t: Array, tracking: Tracking, cube: CubeWalk) -> None:
    at, error = envelope(t, tracking.error * 1e3)
    largest = max(ROUNDING_MM, error.max())
    factor = exaggeration(largest, cube.side * 1e3)
    exact = tracking.reference_tip
    drawn = exact + factor * (tracking.tip - exact)
    tip = drawn[:: max(1, len(t) // len(at))][: len(at)] * 1e3
    error = np.maximum(error, error.min(where=error > ROUNDING_MM, initial=largest))
    corners, middle = cube.corners * 1e3, np.array(cube.center) * 1e3
    for a in range(8):
        for b in range(a + 1, 8):
            if np.isclose(np.linalg.norm(corners[a] - corners[b]), cube.side * 1e3):
                axes.plot(*np.stack([corners[a], corners[b]]).T, color='0.8', lw=5, zorder=0)
    lowest, highest = np.log10([error.min(), error.max()])
    decades = LogNorm(10 ** np.floor(lowest), 10 ** np.floor(highest + 1))
    segments = np.stack([tip[:-1], tip[1:]], axis=1)
    title = f'the tip, its errors {factor:g} times as large (grey: the ideal edges)'
    if largest < ALL_ROUNDING_MM:
        title = 'the tip on the ideal edges: every error is rounding'
        axes.add_collection3d(Line3DCollection(segments, colors=BLUE, lw=2.2))
        scale.set_axis_off()
    else:
        lines = Line3DCollection(segments, cmap='viridis', norm=decades, lw=2.2)
        lines.set_array(error[:-1])
        axes.add_collection3d(lines)
        bar = axes.figure.colorbar(lines, cax=scale, orientation='horizontal')
        bar.set_label('tracking error [mm]', fontsize=TEXT)
        bar.ax.tick_params(labelsize=SMALL)
    for number, corner in enumerate(corners):
        axes.text(*(corner + 6 * np.sign(corner - middle)), str(number), fontsize=TEXT)
    for axis, center in zip('xyz', middle, strict=True):
        half = 0.62 * cube.side * 1e3
        axes.set(**{f'{axis}lim': (center - half, center + half), f'{axis}label': f'{axis} [mm]'})
    axes.tick_params(labelsize=SMALL)
    axes.set_title(title, y=0.98, fontsize=TEXT + 1)
    axes.set_box_aspect((1, 1, 1), zoom=0.95)
    axes.view_init(elev=22, azim=-58)


def _shade_strokes(axis: Axes, cube: CubeWalk) -> None:
    for stroke in range(cube.strokes):
        start, end = stroke * cube.edge_time, (stroke + 1) * cube.edge_time
        if stroke % 2:
            axis.axvspan(start, end, color='0.955', zorder=0, lw=0)
        name = f'{cube.walk[stroke]}-{cube.walk[stroke + 1]}'
        axis.text(
            (start + end) / 2, 1.01, name, ha='center', fontsize=SMALL - 0.5, color='0.35',
            transform=axis.get_xaxis_transform(),
        )  # fmt: skip
