"""Results of margins, and of limits in contact: a table, numbers, a picture."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from arm_lab.experiments.report import Listing
from arm_lab.tuning.agreement import Agreement
from arm_lab.tuning.contact import Limit
from arm_lab.tuning.margins import FACTORS, Margins
from arm_sim import pictures

_CURVES = 4  # delays that are shown along the task


def listing(margins: Margins) -> Listing:
    """Return the table."""
    e, sensors, (least, when) = margins.experiment, margins.sensors, margins.worst
    ms = 1e3 * margins.period
    rows = [['margin from end to end, 1/s', f'{margins.margin:.4g}']]
    rows.append(['least on the way, 1/s', f'{least:.4g} at {when:.3g} s'])
    more = margins.more_delay
    if more is None:
        delay = f'more than {margins.along.shape[1] - 1 - margins.delay}'
    else:
        delay = 'none: it is unstable' if more < 0 else f'{more} ({more * ms:.3g} ms)'
    rows.append(['more delay, in periods', delay])
    low, high = margins.factors
    lowest = f'{low:.3g} or less' if low == FACTORS[0] else f'{low:.3g}'
    highest = f'{high:.3g} or more' if high == FACTORS[-1] else f'{high:.3g}'
    masses = f'{lowest} to {highest}' if margins.margin >= 0 else '-'
    rows.append(['stable with masses times', masses])
    if margins.margin >= 0 and (sensors.position_noise or sensors.velocity_noise):
        rows.append(['tip, RMS of what noise makes, mm', f'{margins.tip_mm:.3g}'])
        rows.append(['chatter of what noise makes, N.m', f'{margins.chatter_nm:.3g}'])
    title = f'{e.law} on {e.robot_label}, {e.task}: commands delayed by {_periods(margins.delay)}'
    return Listing(title, ['quantity', 'value'], rows)


def facts(margins: Margins, agreement: Agreement | None) -> dict:
    """Return the same as numbers."""
    found = {
        'loop': asdict(margins.experiment) | {'delay': margins.delay},
        'period_s': margins.period,
        'margin_per_s': margins.margin,
        'least_per_s': margins.worst[0],
        'least_at_s': margins.worst[1],
        'more_delay': margins.more_delay,
        'mass_factors': margins.factors,
        'tip_of_noise_mm': margins.tip_mm,
        'chatter_of_noise_nm': margins.chatter_nm,
        'times_s': margins.times.tolist(),
        'along_per_s': margins.along.tolist(),
        'factors': FACTORS.tolist(),
        'over_per_s': margins.over.tolist(),
    }
    if agreement is not None:
        found['arms'] = {
            'number': len(agreement.margins),
            'unstable': int(agreement.unstable.sum()),
            'predicted_unstable': int((agreement.margins < 0.0).sum()),
            'agreement': agreement.share,
        }
    return found


def margins_figure(margins: Margins, agreement: Agreement | None) -> Figure:
    """Return the picture: along the task, over masses and delay, and drawn arms if there are."""
    e = margins.experiment
    title = f'{e.robot_label}, {e.task}: {e.law}, commands delayed by {_periods(margins.delay)}'
    figure = pictures.new_figure(9.5 if agreement is None else 14.0, 4.2, title)
    axes = pictures.panels(figure, 2 if agreement is None else 3)
    _along(axes[0], margins)
    shade = _over(axes[1], margins)
    figure.colorbar(shade, ax=axes[1], label='margin [1/s]')
    if agreement is not None:
        _drawn(axes[2], agreement)
    return figure


def _periods(number: int) -> str:
    return '1 period' if number == 1 else f'{number} periods'


def _along(axis: Axes, margins: Margins) -> None:
    first = margins.delay
    for more in range(_CURVES):
        curve = margins.along[:, first + more]
        label = f'{_periods(first + more)} late'
        color = pictures.BLUE if more == 0 else '0.45'
        axis.plot(margins.times, curve, 'o-', ms=3, lw=2.0 - 0.4 * more, color=color, label=label)
    axis.axhline(0.0, color=pictures.ORANGE, lw=1.2)
    pictures.style(
        axis,
        'along the task; orange: the edge',
        'time [s]',
        'margin [1/s]: errors die as exp(-margin t)',
    )
    pictures.name_ends(axis)


def _over(axis: Axes, margins: Margins) -> QuadMesh:
    delays = np.arange(margins.over.shape[1])
    most = np.abs(margins.over).max()
    shade = axis.pcolormesh(
        FACTORS, delays, margins.over.T, cmap='RdBu', vmin=-most, vmax=most, shading='nearest'
    )
    if (margins.over < 0).any() and (margins.over > 0).any():
        axis.contour(FACTORS, delays, margins.over.T, [0.0], colors=[pictures.ORANGE])
    axis.plot(1.0, margins.delay, 'o', color='black', ms=6)
    axis.set_xscale('log')
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.minorticks_off()
    axis.set_xticks([0.25, 0.5, 1.0, 2.0, 4.0], ['1/4', '1/2', '1', '2', '4'])
    text = 'what the arm may be; orange: the edge; dot: this loop'
    pictures.style(axis, text, 'masses, times those believed', 'delay [periods]', grid='')
    return shade


def _drawn(axis: Axes, agreement: Agreement) -> None:
    for which, color, label in (
        (~agreement.unstable, pictures.BLUE, 'stable in the run'),
        (agreement.unstable, pictures.ORANGE, 'unstable in the run'),
    ):
        rms = np.where(np.isfinite(agreement.rms_mm), agreement.rms_mm, np.nan)
        axis.plot(
            agreement.margins[which], rms[which], '.', color=color, ms=4, alpha=0.6, mew=0,
            label=label,
        )  # fmt: skip
    axis.axvline(0.0, color='0.4', lw=1.0)
    axis.set_xscale('symlog', linthresh=1.0)
    axis.set_yscale('log')
    title = f'{len(agreement.margins)} drawn arms: {agreement.share:.1%} as predicted'
    pictures.style(axis, title, 'margin [1/s]', "an arm's tracking error, RMS [mm]")
    pictures.legend(axis, loc='upper right', markerscale=3)


def limits_listing(limits: Sequence[Limit], low: float, high: float) -> Listing:
    """Return the table, with a column for what was found if there is any."""
    simulated = any(each.found for each in limits)
    headings = ['law', 'delay [periods]', 'predicted [N/m]'] + ['found [N/m]'] * simulated
    rows = []
    for each in limits:
        row = [each.law, str(each.delay), _stiffness(each.predicted, low, high)]
        rows.append(row + [f'{each.found:.3g}' if each.found else '-'] * simulated)
    return Listing('stiffest surface on which the loop is stable', headings, rows)


def _stiffness(limit: float, low: float, high: float) -> str:
    if not limit:
        return f'below {low:.3g}'
    return f'above {high:.3g}' if np.isinf(limit) else f'{limit:.3g}'


def limits_figure(limits: Sequence[Limit], low: float, high: float) -> Figure:
    """Return the picture: the limit over the delay, a line per law and points where found."""
    figure = pictures.new_figure(7.0, 4.2, 'Stable in contact below the line')
    (axis,) = pictures.panels(figure, 1)
    for law in dict.fromkeys(each.law for each in limits):
        own = [each for each in limits if each.law == law]
        delays = [each.delay for each in own]
        predicted = np.clip([each.predicted for each in own], low, high)
        (line,) = axis.plot(delays, predicted, '-', label=law)
        found = [(each.delay, each.found) for each in own if each.found]
        if found:
            axis.plot(*zip(*found, strict=True), 'o', ms=5, color=line.get_color())
    axis.set_yscale('log')
    axis.set_ylim(low / 1.2, high * 1.2)
    text = 'lines: predicted; points: found by simulation'
    pictures.style(axis, text, 'delay [control periods]', 'stiffness of the surface [N/m]')
    pictures.legend(axis)
    return figure
