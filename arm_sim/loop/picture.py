"""Panels and pictures of a run: errors of tip, joints and force over time, torques."""

from collections.abc import Mapping, Sequence
from itertools import cycle, product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.lib.stride_tricks import sliding_window_view

from arm_dynamics.checks import Array, units
from arm_dynamics.model import RobotModel
from arm_sim.loop.measures import RECOVERED, Tracking, rms
from arm_sim.loop.record import Record
from arm_sim.loop.report import ReportTree, title_of
from arm_sim.pictures import BLUE, COLORS, ORANGE, QUIET, SMALL, TEXT, legend, new_figure, style

# Errors below this are rounding and not drawn; below the other all is rounding [mm].
ROUNDING_MM, ALL_ROUNDING_MM = 1e-14, 1e-9
_FULL = 99.9  # [%] of a torque's limit
PASSES = 'learning.png'  # the file of `passes_figure`
_POINTS = 1500  # more than these a plot cannot show


def envelope(t: Array, values: Array, points: int = _POINTS) -> tuple[Array, Array]:
    """Return times and the largest value near each of them: what a plot can show."""
    every = max(1, len(t) // _POINTS)
    width = max(3 * every, len(t) // points)
    before = width // 2
    padded = np.pad(values, (before, width - 1 - before), mode='edge')
    return t[::every], sliding_window_view(padded, width)[::every].max(axis=1)


def draw_errors(axis: Axes, t: Array, errors: Sequence[tuple[Array, str, str]]) -> None:
    """Draw errors (k,) [m] on a log axis in mm, each with its name and colour."""
    for values, name, color in errors:
        label = f'{name}: {rms(values) * 1e3:.2g} mm RMS'
        tiny = values.max() * 1e3 < ALL_ROUNDING_MM  # has many zeros, which a log axis lacks
        at, largest = envelope(t, values * 1e3, 60 if tiny else _POINTS)
        shown = np.where(largest > ROUNDING_MM, largest, np.nan)
        axis.semilogy(at, shown, lw=1.1, color=color, label=label)
    low, high = axis.get_ylim()
    if high < ALL_ROUNDING_MM:
        axis.set_ylim(ROUNDING_MM, high := ALL_ROUNDING_MM)
    if low < ALL_ROUNDING_MM:
        axis.axhspan(
            axis.get_ylim()[0], min(high, ALL_ROUNDING_MM), color='0.965', zorder=-1, lw=0
        )
        axis.text(
            0.01, 0.03, 'grey: rounding of double precision', fontsize=SMALL, color='0.45',
            transform=axis.transAxes,
        )  # fmt: skip
    legend(axis, loc='best', frameon=True, framealpha=0.9, edgecolor='none')


def draw_torques(axis: Axes, record: Record, share: Array, model: RobotModel) -> None:
    """Draw torques, a lane for each joint on its own scale; `share` (k, n): of their limits.

    At the end of a lane are the joint's largest torque and its share, red at the limit.
    """
    names = model.joint_names
    places = np.arange(len(names))[::-1]
    for joint, place in enumerate(places):
        course, color = record.effort[:, joint], COLORS[joint % len(COLORS)]
        peak, most = float(np.abs(course).max()), 100.0 * float(share[:, joint].max())
        share_text = f'{most:.3g} %' if most >= 0.1 else '< 0.1 %'
        lane = place + 0.42 * course / (peak or 1.0)
        axis.axhline(place, color='0.8', lw=0.7, zorder=1)
        axis.fill_between(record.t, place, lane, color=color, alpha=0.18, lw=0)
        axis.plot(record.t, lane, lw=1.2, color=color)
        axis.text(
            1.01, place, f'{peak:.3g}\n{share_text}', va='center', fontsize=SMALL,
            color='red' if most >= _FULL else color, transform=axis.get_yaxis_transform(),
        )  # fmt: skip
    axis.set_yticks(places, [name.removesuffix('_joint') for name in names])
    axis.set_ylim(-0.6, len(names) - 0.4)
    unit = units('N.m | N', model.prismatic)
    title = f'torque, each on its own scale; its peak [{unit}] and share of the limit'
    style(axis, title, 'time [s]', grid='')
    axis.tick_params(axis='y', length=0)


def tracking_figure(record: Record, tracking: Tracking, report: ReportTree, task: Any) -> Figure:
    """Return the picture of a run of a task: the tip's error, its event, and the torques."""
    height = 3.4 + 0.45 * len(report['joint_names'])
    figure = new_figure(10.0, height, f'{report["task"]}: {title_of(report)}')
    errors, torques = figure.subplots(2, 1, sharex=True, height_ratios=(1.0, (height - 3.0) / 3.0))
    error = tracking.error * 1e3
    errors.plot(record.t, error, lw=1.4, color=BLUE)
    title = f'tracking error of the tip: {rms(error):.3g} mm RMS, at most {error.max():.3g} mm'
    recovery, event = report['recovery_s'], task.event
    if event is not None:
        errors.axvspan(event, event + recovery if recovery > 0.0 else event, color='0.93', lw=0)
        errors.axvline(event, color='0.5', lw=0.8, ls='--')
        title += f'; dashed: the event at {event:g} s'
    if recovery > 0.0:
        title += f', below {RECOVERED:g} mm {recovery:.3g} s after it (shaded)'
    elif event is not None and np.isnan(recovery):
        title += f'; at the end still above {RECOVERED:g} mm'
    style(errors, title, '', 'error [mm]')
    draw_torques(torques, record, tracking.effort_share, task.robot.model)
    return figure


def joints_figure(
    record: Record,
    tracking: Tracking,
    report: ReportTree,
    model: RobotModel,
    events: Sequence[float | None] = (),
) -> Figure:
    """Return the picture of joints: a row per joint, position and error, each on its own scale.

    The error is reference minus position; dashed lines are at the times of `events` [s].
    """
    n, t, events = model.nv, record.t, [each for each in events if each is not None]
    figure = new_figure(11.0, 1.2 + 1.15 * n, f'{report["task"]}: {title_of(report)}')
    axes = figure.subplots(n, 2, sharex=True, squeeze=False)
    for joint, (left, right) in enumerate(axes):
        unit = 'mm' if model.prismatic[joint] else 'mrad'
        left.plot(t, record.q_reference[:, joint], color=QUIET, lw=4.5)
        left.plot(t, record.q[:, joint], color=BLUE, lw=1.3)
        error = 1e3 * tracking.joint_error[:, joint]
        right.axhline(0.0, color='0.6', lw=0.8)
        right.plot(t, error, color=ORANGE, lw=1.2)
        right.margins(y=0.15)
        for event, axis in product(events, (left, right)):
            axis.axvline(event, color='0.5', lw=0.8, ls='--')
        style(left)
        style(right)
        name = model.joint_names[joint].removesuffix('_joint')
        left.set_ylabel(name, rotation=0, ha='right', va='center', fontsize=TEXT)
        note = f'{rms(error):.3g} {unit}\nRMS'
        right.text(
            1.01, 0.5, note, va='center', fontsize=SMALL, color=ORANGE, transform=right.transAxes
        )
    at = f'; dashed: event at {", ".join(f"{each:g}" for each in events)} s' if events else ''
    unit, small = (units(each, model.prismatic) for each in ('rad | m', 'mrad | mm'))
    titles = f'position [{unit}], on its reference (grey){at}', f'reference - position [{small}]'
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(title, fontsize=TEXT + 1)
    for axis in axes[-1]:
        axis.set_xlabel('time [s]', fontsize=TEXT)
    return figure


def motion_figure(title: str, t: Array, q: Array, v: Array, model: RobotModel) -> Figure:
    """Return positions and velocities (k, n) over times (k,), a line per joint."""
    figure = new_figure(7.0, 5.0, title)
    of_q, of_v = (units(each, model.prismatic) for each in ('rad | m', 'rad/s | m/s'))
    labels = f'position [{of_q}]', f'velocity [{of_v}]'
    for axis, values, label in zip(
        figure.subplots(2, 1, sharex=True), (q, v), labels, strict=True
    ):
        for column, name, color in zip(values.T, model.joint_names, cycle(COLORS)):
            axis.plot(t, column, label=name, color=color, lw=1.2)
        style(axis, '', '', label)
    axis.set_xlabel('time [s]', fontsize=TEXT)
    legend(figure, handles=axis.get_lines(), loc='outside lower center', ncols=3)
    return figure


def passes_figure(what: str, curves: Mapping[str, Sequence[Mapping[str, float]]]) -> Figure:
    """Return the picture of repeated passes: by name, each one's `rms` and `max` error [mm]."""
    figure = new_figure(9.0, 5.5, f'{what}: learning by repetition')
    axis = figure.subplots()
    for (name, errors), color in zip(curves.items(), cycle(COLORS)):
        numbers = range(1, len(errors) + 1)
        for key, options in (('max', {'lw': 0.8, 'ls': ':'}), ('rms', {'lw': 1.6, 'marker': 'o'})):
            shown = [max(each[key], ROUNDING_MM) for each in errors]
            label = name if key == 'rms' else '_'
            axis.semilogy(numbers, shown, color=color, ms=4, label=label, **options)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    style(axis, '', 'pass', 'tracking error of the tip [mm]: RMS, maximum dotted', 'both')
    legend(figure, loc='outside lower center', ncols=2)
    return figure


def force_figure(
    t: Array, force: Array, report: ReportTree, measured: tuple[float, float] | None
) -> Figure:
    """Return the force (k,) [N] along the normal, and below its error on the scale of `measured`.

    `report` has the goal `force_n` and the error `force_error_rms_n` of the times `measured` [s];
    without a goal the force alone is drawn.
    """
    wanted = report['force_n']
    figure = new_figure(9.0, 6.0 if wanted else 4.0, f'{report["task"]}: {title_of(report)}')
    if wanted is None:
        axes = figure.subplots()
        axes.plot(t, force, color=BLUE, lw=1.2)
        style(axes, 'Force on the tool', 'time [s]', 'force [N]')
        return figure
    above, below = figure.subplots(2, 1, sharex=True)
    error = report['force_error_rms_n']
    above.plot(t, force, color=BLUE, lw=1.2, label='force on the tool')
    above.axhline(wanted, color=ORANGE, lw=1.0, ls='--', label=f'goal, {wanted:g} N')
    style(above, 'Force along the normal', '', 'force [N]')
    legend(above, loc='lower right')
    begin, end = measured or t[[0, -1]]
    below.plot(t, force - wanted, color=BLUE, lw=1.0)
    below.axhline(0.0, color=ORANGE, lw=1.0, ls='--')
    below.axvspan(begin, end, color=QUIET, alpha=0.15, lw=0)
    most = np.abs(force[(t >= begin) & (t <= end)] - wanted).max(initial=0.0)
    below.set_ylim(-1.3 * most, 1.3 * most) if most > 0.0 else None
    text = f'grey: measured, {error:.2g} N RMS'
    style(below, f'Force minus goal ({text})', 'time [s]', 'error [N]')
    return figure
