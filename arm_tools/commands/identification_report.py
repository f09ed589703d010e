"""Results of `identify`: tables, lines, numbers, a picture."""

from itertools import compress

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from arm_lab.experiments.report import Listing
from arm_lab.identification.estimation import IdentificationParameters, Identified, payload_of
from arm_lab.identification.regressor import OF_JOINT
from arm_sim.pictures import BLUE, ORANGE, QUIET, legend, new_figure, panels, style

_NOTHING = 0.1  # of the standard error: a parameter below it is at its bound
_ROUNDING = 1e-9  # relative, of a share
_UNKNOWN = 0.5  # of what was believed: a parameter whose spread is still larger is not shown


def joint_table(found: Identified) -> Listing:
    """Return what was found of each joint, and the torque that is left over."""
    title = 'joints; torque error: RMS over the held-back part, as a share of the torque'
    rows, headings = [], ('joint', *OF_JOINT, 'error as given', 'identified')
    model, n = found.regressor.model, found.regressor.model.nv
    values, errors = (x[10 * n :].reshape(4, n) for x in (found.pi, found.errors))
    given = found.validation_as_given()
    for i, name in enumerate(model.joint_names):
        cells = [f'{x:.4g} ± {e:.1g}' for x, e in zip(values[:, i], errors[:, i], strict=True)]
        after = _percent(found.validation[i])
        if found.kept[i]:
            cells, after = ['-'] * len(cells), 'kept as given'
        rows.append([name, *cells, _percent(given[i]), after])
    return Listing(title, headings, rows)


def link_table(found: Identified) -> Listing:
    """Return mass and centre of each link."""
    place = 'centre of mass x, y, z [m], in its joint frame'
    rows, headings = [], ('link', 'mass as given', 'mass [kg]', place)
    before = found.regressor.parameters()
    for i, name in enumerate(found.regressor.link_names):
        part = slice(10 * i, 10 * i + 4)
        (mass, *first), star = found.pi[part], np.where(found.share_left[part] > _UNKNOWN, '*', '')
        place = ', '.join(f'{x / mass:.4f}{s}' for x, s in zip(first, star[1:], strict=True))
        cell = f'{mass:.4g} ± {found.errors[10 * i]:.1g}{star[0]}'
        rows.append([name, f'{before[10 * i]:.4g}', cell, place])
    return Listing('links; a * marks what this motion hardly shows', headings, rows)


def notes(found: Identified, parameters: IdentificationParameters, later: float) -> list[str]:
    """Return lines on what the motion shows, how it was read, payload and lag.

    `later`: how much later the efforts were read [s].
    """
    lag = 1e3 * (found.lag + later)
    place = 'before' if lag >= 0.0 else 'after'
    hidden = int((found.share_left > _UNKNOWN).sum())
    rows = found.rows
    return [
        f'{len(found.base.columns)} combinations of {len(found.pi)} parameters make the torques; '
        f'{hidden} of these, each alone, are hardly shown by this motion: near the model as given',
        'velocities and accelerations: quintic spline of positions after a zero-phase Butterworth '
        f'filter of {4.0 * parameters.cutoff:g} Hz; both sides of tau = Y pi filtered at '
        f'{parameters.cutoff:g} Hz, zero phase; {len(rows.times)} rows of each joint from '
        f'{rows.times[0]:.1f} to {rows.times[-1]:.1f} s, from {rows.used:.0%} of the states',
        *_at_bound(found),
        *_verdict(found),
        *([_payload(found)] if parameters.payload else []),
        f'torques act {abs(lag):.3g} ± {found.lag_error * 1e3:.1g} ms {place} their stamps',
    ]


def improved(found: Identified) -> NDArray[np.bool_]:
    """Return whether each joint's held-back torque is explained better than as given (n,).

    Without a held-back part, nothing denies it.
    """
    if not (~found.train).any():
        return ~found.kept
    return np.asarray(found.validation < (1.0 - _ROUNDING) * found.validation_as_given())


def _verdict(found: Identified) -> list[str]:
    """Return lines on joints that keep their given parameters."""
    names = np.array(found.regressor.model.joint_names)
    lines = []
    worse = found.kept & ~np.isin(np.arange(len(names)), list(found.lacking))
    if worse.any():
        lines.append(
            f'{", ".join(names[worse])}: the held-back torque does not show that an estimate is '
            'better than the given model; these joints keep their given parameters'
        )
    for i, why in found.lacking.items():
        lines.append(f'{why}; {names[i]} keeps its given parameters, and its torque is not used')
    if not (~found.train).any():
        lines.append('nothing was held back, so that nothing shows whether this model is better')
    elif not improved(found).any():
        lines.append('no joint is explained better than by the given model: no arm is written')
    return lines


def _at_bound(found: Identified) -> list[str]:
    """Return a line on the parameters that would be negative if they were free."""
    first = 10 * found.regressor.model.nv
    last = first + 3 * found.regressor.model.nv
    small = found.pi[first:last] < _NOTHING * found.errors[first:last]
    names = [*compress(found.regressor.names[first:last], small)]
    if not names:
        return []
    return [f'at their lower bound 0, the recording shows none: {", ".join(names)}']


def _payload(found: Identified) -> str:
    carried = payload_of(found)
    places = zip(carried.center, carried.center_error, strict=True)
    shown = ', '.join(f'{1e3 * x:.1f} ± {1e3 * e:.1g}' for x, e in places)
    return f'payload: {carried.mass:.4g} ± {carried.mass_error:.1g} kg at ({shown}) mm of the tool'


def facts(
    found: Identified, parameters: IdentificationParameters, robot: str, later: float
) -> dict[str, object]:
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
        'filters': notes(found, parameters, later)[1],
        'torque_lag_s': found.lag + later,
        'torque_lag_error_s': found.lag_error,
        'joint_names': list(model.joint_names),
        'kept_as_given': [n for n, x in zip(model.joint_names, found.kept, strict=True) if x],
        'torque_noise': found.noise.tolist(),
        'torque_error_share_fit': found.fit.tolist(),
        'torque_error_share_held_back': found.validation.tolist(),
        'torque_error_share_held_back_as_given': found.validation_as_given().tolist(),
        'parameters': [
            dict(zip(keys, (name, *map(float, numbers)), strict=True)) for name, *numbers in rows
        ],
        'base_parameters': [
            {'combination': name, 'found': float(x), 'standard_error': float(e)}
            for name, x, e in each
        ],
    }


def picture(found: Identified, robot: str) -> Figure:
    """Draw the torques of the held-back part: measured, as identified and as given."""
    model, rows = found.regressor.model, found.rows
    keep = ~found.train if (~found.train).any() else found.train
    curves = found.as_given(), found.predicted()  # slow motion counts nowhere
    before, after = (np.where(rows.moving, each, np.nan)[keep] for each in curves)
    t, what = rows.times[keep], 'torque on the held-back part; models where the joint moves'
    figure = new_figure(11.0, 2.6 * -(-model.nv // 3) + 0.8, f'{robot}: {what}')
    for i, axis in enumerate(panels(figure, model.nv)):
        axis.plot(t, rows.tau[keep, i], color=QUIET, lw=3.5, label='measured')
        axis.plot(t, before[:, i], color=ORANGE, lw=1.0, label='as given')
        axis.plot(t, after[:, i], color=BLUE, lw=1.0, label='as identified')
        title = f'{model.joint_names[i]}: {_percent(found.validation[i])} left'
        style(axis, title, 'time [s]', 'torque [N]' if model.prismatic[i] else 'torque [N.m]')
    legend(figure, handles=figure.axes[0].get_lines(), loc='outside lower center', ncols=3)
    return figure


def _percent(share: float) -> str:
    return f'{share:.2%}' if np.isfinite(share) else '-'
