"""Panels and pictures of a run: errors of the tip and of the joints over time, torques."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.ndimage import maximum_filter1d

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_sim.pictures import (
    BLUE,
    COLORS,
    ORANGE,
    QUIET,
    SMALL,
    TEXT,
    legend,
    name_ends,
    new_figure,
    style,
)
from arm_sim.runs.measures import RECOVERED, Tracking, rms
from arm_sim.runs.record import Record
from arm_sim.runs.report import title_of

# Errors below this are rounding and not drawn [mm].
ROUNDING_MM = 1e-14
PASSES = 'learning.png'  # the file of `passes_figure`
_POINTS = 1500  # more than these a plot cannot show


def envelope(t: Array, values: Array) -> tuple[Array, Array]:
    """Return times and the largest value near each of them: what a plot can show."""
    every = max(1, len(t) // _POINTS)
    return t[::every], maximum_filter1d(values, 3 * every)[::every]


def draw_errors(axis: Axes, t: Array, errors: Sequence[tuple[Array, str, str]]) -> None:
    """Draw errors (k,) [m] on a log axis in mm, each with its name and colour."""
    for values, name, color in errors:
        label = f'{name}: {rms(values) * 1e3:.2g} mm RMS'
        at, largest = envelope(t, values * 1e3)
        shown = np.where(largest > ROUNDING_MM, largest, np.nan)
        axis.semilogy(at, shown, lw=1.1, color=color, label=label)
    if axis.get_ylim()[1] < 1e-9:
        axis.set_ylim(ROUNDING_MM, 1e-9)
    legend(axis, loc='best', frameon=True, framealpha=0.9, edgecolor='none')


def draw_torques(axis: Axes, record: Record, share: Array, names: Sequence[str]) -> None:
    """Draw torques as shares (k, n) of their limits, the names beside the curves."""
    signed = np.sign(record.effort) * share * 100
    for joint, name in enumerate(names):
        peak = np.abs(record.effort[:, joint]).max()
        label = f'{name.removesuffix("_joint")} (peak {peak:.3g})'
        color = COLORS[joint % len(COLORS)]
        axis.plot(record.t, signed[:, joint], lw=1.0, color=color, label=label)
    largest = min(110.0, max(12.0, float(np.abs(signed).max()) * 1.15))
    axis.set_ylim(-largest, largest)
    if largest >= 100:
        axis.axhline(100, color='red', lw=0.8, label='_limit')
        axis.axhline(-100, color='red', lw=0.8, label='_limit')
    style(axis, 'torque as a share of its limit (peak in N.m)', 'time [s]', 'torque [% of limit]')


def tracking_figure(
    record: Record, tracking: Tracking, report: Mapping[str, Any], event: float | None = None
) -> Figure:
    """Return the picture of a run: the tip's error over time, its event [s], and the torques."""
    figure = new_figure(10.0, 6.5, f'{report["task"]}: {title_of(report)}')
    errors, torques = figure.subplots(2, 1, sharex=True)
    error = tracking.error * 1e3
    errors.plot(record.t, error, lw=1.4, color=BLUE)
    title = f'tracking error of the tip: {rms(error):.3g} mm RMS, at most {error.max():.3g} mm'
    recovery = report['recovery_s']
    if event is not None:
        errors.axvspan(event, event + recovery if recovery > 0.0 else event, color='0.93', lw=0)
        errors.axvline(event, color='0.5', lw=0.8, ls='--')
    if recovery > 0.0:
        title += f'; below {RECOVERED:g} mm after {recovery:.3g} s (shaded)'
    style(errors, title, '', 'error [mm]')
    draw_torques(torques, record, tracking.effort_share, report['joint_names'])
    name_ends(torques)
    return figure


def joints_figure(
    record: Record, tracking: Tracking, report: Mapping[str, Any], model: RobotModel
) -> Figure:
    """Return the picture of joints: a row per joint, position and error, each on its own scale."""
    n, t = model.nv, record.t
    figure = new_figure(11.0, 1.2 + 1.15 * n, f'{report["task"]}: {title_of(report)}')
    axes = figure.subplots(n, 2, sharex=True, squeeze=False)
    for joint, (left, right) in enumerate(axes):
        unit, scale = ('mm', 1e3) if model.prismatic[joint] else ('deg', float(np.degrees(1.0)))
        left.plot(t, record.q_reference[:, joint], color=QUIET, lw=4.5)
        left.plot(t, record.q[:, joint], color=BLUE, lw=1.3)
        error = tracking.joint_error[:, joint] * scale
        right.axhline(0.0, color='0.6', lw=0.8)
        right.plot(t, error, color=ORANGE, lw=1.2)
        right.margins(y=0.15)
        style(left)
        style(right)
        name = model.joint_names[joint].removesuffix('_joint')
        left.set_ylabel(name, rotation=0, ha='right', va='center', fontsize=TEXT)
        note = f'{rms(error):.3g} {unit}\nRMS'
        right.text(
            1.01, 0.5, note, va='center', fontsize=SMALL, color=ORANGE, transform=right.transAxes
        )
    titles = 'position [rad | m], on its reference (grey)', 'error [deg | mm]'
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(title, fontsize=TEXT + 1)
    for axis in axes[-1]:
        axis.set_xlabel('time [s]', fontsize=TEXT)
    return figure


def passes_figure(curves: Mapping[str, Sequence[Mapping[str, float]]]) -> Figure:
    """Return the picture of repeated passes: by name, each one's `rms` and `max` error [mm]."""
    figure = new_figure(9.0, 5.5, 'learning by repetition: the same motion again')
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
