"""Panels and pictures of a run: errors of the tip and of the joints over time, torques."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from arm_dynamics.model import Array, RobotModel
from arm_sim.pictures import BLUE, COLORS, legend, name_ends, new_figure, style
from arm_sim.runs.measures import Tracking, rms
from arm_sim.runs.record import Record
from arm_sim.runs.report import title_of

# Errors below this are rounding; the axes end there [mm].
ROUNDING_MM = 1e-14
_BINS = 1500  # more than these a plot cannot show


def envelope(t: Array, values: Array) -> tuple[Array, Array]:
    """Return times and the largest value in each of many stretches: what a plot can show."""
    width = max(1, len(t) // _BINS)
    count = len(t) // width
    return t[: count * width : width], values[: count * width].reshape(count, width).max(axis=1)


def draw_errors(axis: Axes, t: Array, errors: Sequence[tuple[Array, str, str]]) -> None:
    """Draw errors (k,) [m] on a log axis in mm, each with its name and colour."""
    for values, name, color in errors:
        label = f'{name}: {rms(values) * 1e3:.2g} mm RMS'
        at, largest = envelope(t, values * 1e3)
        axis.semilogy(at, np.maximum(largest, ROUNDING_MM), lw=1.1, color=color, label=label)
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
    """Return the picture of a run: the tip's error over time, and the torques.

    Args:
        record, tracking, report: of the run.
        event: what the arm is to recover from [s].
    """
    title = f'{report["task"]}: {title_of(report)}'
    figure = new_figure(10.0, 6.5, title)
    errors, torques = figure.subplots(2, 1, sharex=True)
    draw_errors(errors, record.t, [(tracking.error, 'tracking error of the tip', BLUE)])
    if event is not None:
        errors.axvline(event, color='0.5', lw=0.8, ls='--')
    style(errors, '', '', 'error [mm]')
    draw_torques(torques, record, tracking.effort_share, report['joint_names'])
    name_ends(torques)
    return figure


def joints_figure(
    record: Record, tracking: Tracking, report: Mapping[str, Any], model: RobotModel
) -> Figure:
    """Return the picture of joints: positions on their reference, and errors below."""
    figure = new_figure(10.0, 6.5, f'{report["task"]}: {title_of(report)}')
    top, bottom = figure.subplots(2, 1, sharex=True)
    scale = np.where(model.prismatic, 1e3, np.degrees(1.0))
    for joint, name in enumerate(model.joint_names):
        line = {'color': COLORS[joint % len(COLORS)], 'label': name.removesuffix('_joint')}
        top.plot(record.t, record.q_reference[:, joint], color='0.8', lw=4, label='_reference')
        top.plot(record.t, record.q[:, joint], lw=1.3, **line)
        bottom.plot(record.t, tracking.joint_error[:, joint] * scale[joint], lw=1.1, **line)
    style(top, 'positions (grey: their reference)', '', 'position [rad | m]')
    style(bottom, 'error, reference minus position', 'time [s]', 'error [deg | mm]')
    name_ends(bottom)
    return figure
