"""Friction beyond viscous and Coulomb: terms that the torque of a joint shows.

    Stribeck    s exp(-(v / u)^2) sgn v           u: of a grid, that which fits best
    load        k |tau_links| sgn v               tau_links: torque of links and rotor
    drift       d (t - t0) f(v) / T               f: the friction found, t0 and T: of the recording

The part that is used is split: with each term all parameters are fitted again from its first three
quarters, by least squares about the given model, and its last quarter chooses the term that
lessens its squares most, if that is beyond noise; then the next one is looked for. The held-back
part chooses nothing: its errors with and without a term are those of a fit to the whole used part.

With R the residuals with a term and e what the term changes, the squares lessen by
D = sum(e^2 + 2 R e), and a term that explains nothing has the variance 4 sum_b (sum_i R_i e_i)^2,
of blocks b that are longer than the residuals are correlated: over the root of that D has
Student's t distribution with a degree of freedom less than there are blocks.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from arm_dynamics.checks import Array
from arm_dynamics.model import STANDSTILL
from arm_lab.identification.estimation import Identified
from arm_lab.identification.signals import MotionSamples, Piece, pieces_of
from arm_lab.identification.solution import Prior

KINDS = 'Stribeck', 'load', 'drift'
_SPEEDS = np.geomspace(0.05, 1.5, 24)  # of the Stribeck term, over the joint's RMS velocity
_BLOCK = 0.5  # [s]
_FALSE = 0.02  # chance of a false term in a recording, shared by all joints and kinds
_GAIN = 0.03  # least share of the squares
_FITTED = 0.75  # first share of the used part, of which the rest chooses


class FrictionTerm(NamedTuple):
    """A term of a joint's friction.

    Attributes:
        joint: index.
        kind: one of `KINDS`.
        size: s [N.m | N], k [1], or d [1], the change of the friction over the recording.
        speed: u [rad/s | m/s]; 0 of other kinds.
        before, after: residual's RMS over the held-back torque's without the term and with it.
        alone: whether the term without those of other joints and kinds lessens the squares.
    """

    joint: int
    kind: str
    size: float
    speed: float
    before: float
    after: float
    alone: bool = True


@dataclass
class _Fit:
    """Normal equations of all parameters from a part (k,) of the rows."""

    found: Identified
    train: NDArray[np.bool_]
    gram: Array
    wanted: Array

    @classmethod
    def of(cls, found: Identified, train: NDArray[np.bool_], relative: float) -> '_Fit':
        """Return the equations of these rows about the given model."""
        rows, joints = found.rows, list(range(found.regressor.model.nv))
        prior = Prior(found.regressor, rows.part(train), joints, relative)
        root = prior.root.T @ prior.root
        weight = rows.moving & train[:, np.newaxis]
        y = np.where(weight[..., np.newaxis], rows.y, 0.0) / found.noise[:, np.newaxis]
        gram = np.einsum('kjp,kjq->pq', y, y, optimize=True) + root
        wanted = np.einsum('kjp,kj->p', y, rows.tau / found.noise) + root @ prior.center
        return cls(found, train, gram, wanted)

    def with_columns(self, columns: list[tuple[int, Array]]) -> tuple[Array, Array]:
        """Return residuals (k, n), and parameters with the coefficients of columns of joints."""
        rows, train, p = self.found.rows, self.train, len(self.gram)
        count = len(columns)
        gram, wanted = np.zeros((p + count, p + count)), np.zeros(p + count)
        gram[:p, :p], wanted[:p] = self.gram, self.wanted
        for c, (j, column) in enumerate(columns, p):
            weight = (rows.moving[:, j] & train) / self.found.noise[j] ** 2
            gram[:p, c] = gram[c, :p] = rows.y[:, j].T @ (weight * column)
            wanted[c] = (weight * column) @ rows.tau[:, j]
            for d, (i, other) in enumerate(columns, p):
                gram[c, d] = (weight * column) @ other if i == j else 0.0
        scale = 1.0 / np.sqrt(np.maximum(np.diagonal(gram), 1e-300))
        even = gram * scale * scale[:, np.newaxis] + 1e-12 * np.eye(p + count)
        x = scale * np.linalg.solve(even, scale * wanted)
        left = rows.tau - rows.y @ x[:p]
        for size, (j, column) in zip(x[p:], columns, strict=True):
            left[:, j] -= size * column
        return left, x


def friction_terms(
    found: Identified, samples: MotionSamples, cutoff: float, relative: float
) -> list[FrictionTerm]:
    """Return the terms that the last quarter of the used part shows, the most important first.

    Args:
        found: of these samples, at this cutoff, with viscous and Coulomb friction.
        samples: of the recording.
        cutoff: of the filters [Hz].
        relative: standard deviation of each link about the given model.
    """
    n = found.regressor.model.nv
    if not (~found.train).any():
        return []
    used = np.flatnonzero(found.train)
    first = found.train & (np.arange(len(found.train)) <= used[round(_FITTED * (len(used) - 1))])
    fit, whole = (_Fit.of(found, part, relative) for part in (first, found.train))
    kept, columns = list[FrictionTerm](), list[tuple[int, Array]]()
    _, x = fit.with_columns([])
    pieces = pieces_of(samples, cutoff)
    candidates = np.concatenate([_columns(found, x, each, samples) for each in pieces])
    open_terms = [(j, kind) for j in range(n) if j not in found.lacking for kind in KINDS]
    while open_terms:
        before, _ = fit.with_columns(columns)
        tried = [_tried(fit, columns, before, candidates, *each) for each in open_terms]
        gains = [gain for gain, _, _ in tried]
        best = int(np.argmax(gains))
        if gains[best] <= 0.0:
            break
        _, term, column = tried[best]
        kept.append(term)
        columns.append((term.joint, column))
        open_terms.remove((term.joint, term.kind))
    return [_judged(each, k, columns, fit, whole) for k, each in enumerate(kept)]


def _judged(
    term: FrictionTerm, k: int, columns: list[tuple[int, Array]], fit: _Fit, whole: _Fit
) -> FrictionTerm:
    """Return the k-th term with its size and errors from the whole used part."""
    found, j = fit.found, term.joint
    plain, alone = (fit.with_columns(each)[0] for each in ([], [columns[k]]))
    choosing = found.train & ~fit.train & found.rows.moving[:, j]
    better = float((alone[choosing, j] ** 2).sum()) <= float((plain[choosing, j] ** 2).sum())
    (old, _), (new, x) = (whole.with_columns(columns[:m]) for m in (k, k + 1))
    held = ~found.train & found.rows.moving[:, j]
    usual = max(float(np.sqrt((found.rows.tau[held, j] ** 2).sum())), 1e-300)
    before, after = (float(np.sqrt((r[held, j] ** 2).sum())) / usual for r in (old, new))
    return term._replace(size=float(x[-1]), before=before, after=after, alone=better)


def _columns(found: Identified, x: Array, piece: Piece, samples: MotionSamples) -> Array:
    """Return filtered columns (k, n, 26) of all terms for parameters x, with coefficient 1."""
    n, (q, v, a) = found.regressor.model.nv, piece.states
    dry = np.clip(v / STANDSTILL, -1.0, 1.0)
    speeds = _SPEEDS * _usual(found)[:, np.newaxis]
    stribeck = dry[..., np.newaxis] * np.exp(-((v[..., np.newaxis] / speeds) ** 2))
    links = found.regressor(q, v, a)[:, :, : 11 * n] @ x[: 11 * n]
    viscous, coulomb = x[11 * n : 12 * n], x[12 * n : 13 * n]
    begin, end = samples.times.min(), samples.times.max()
    since = ((piece.times - begin) / (end - begin))[:, np.newaxis]
    both = np.abs(links) * dry, since * (viscous * v + coulomb * dry)
    return piece.filtered(np.concatenate([stribeck, np.stack(both, axis=2)], axis=2))


def _usual(found: Identified) -> Array:
    """Return the RMS velocities (n,)."""
    n = found.regressor.model.nv
    v = found.rows.y[:, np.arange(n), 11 * n + np.arange(n)]
    return np.sqrt((v**2).mean(axis=0))


def _tried(
    fit: _Fit,
    columns: list[tuple[int, Array]],
    before: Array,
    candidates: Array,
    j: int,
    kind: str,
) -> tuple[float, FrictionTerm, Array]:
    """Return the share of the choosing part's squares by which a term lessens them, and the term.

    The share is 0 where this is not beyond noise.
    """
    found, grid = fit.found, len(_SPEEDS)
    which = range(grid) if kind == 'Stribeck' else [grid + KINDS.index(kind) - 1]
    used = fit.train & found.rows.moving[:, j]
    best: tuple[float, int, Array, float] = (np.inf, which[0], before, 0.0)
    for k in which:
        left, sizes = fit.with_columns([*columns, (j, candidates[:, j, k])])
        squares = float((left[used, j] ** 2).sum())
        if squares < best[0]:
            best = squares, k, left, float(sizes[-1])
    _, k, left, size = best
    choosing = found.train & ~fit.train & found.rows.moving[:, j]
    old, new = before[choosing, j], left[choosing, j]
    chance = _FALSE / (len(KINDS) * candidates.shape[1])
    gain = _beyond_noise(old, new, found.rows.times[choosing], chance)
    if kind != 'drift' and size <= 0.0:
        gain = 0.0
    speed = float(_SPEEDS[k] * _usual(found)[j]) if kind == 'Stribeck' else 0.0
    return gain, FrictionTerm(j, kind, size, speed, np.nan, np.nan), candidates[:, j, k]


def _beyond_noise(old: Array, new: Array, times: Array, chance: float) -> float:
    """Return the share by which the squares lessen from old to new residuals.

    It is 0 where noise lessens them as much with more than this chance.
    """
    change = float((old**2 - new**2).sum())
    # Times may go back, or jump by years: the blocks are numbered as they occur.
    block = np.unique(np.floor(times / _BLOCK), return_inverse=True)[1]
    parts = np.bincount(block, weights=new * (old - new))
    if len(parts) < 2:
        return 0.0
    noise = 2.0 * float(np.sqrt((parts**2).sum()))
    share = change / max(float((old**2).sum()), 1e-300)
    sure = noise * float(student.isf(chance, len(parts) - 1))
    return share if change > sure and share > _GAIN else 0.0


def stribeck_torque(samples: MotionSamples, cutoff: float, terms: list[FrictionTerm]) -> Array:
    """Return the torques (m, n) of the Stribeck terms at samples; 0 outside the pieces used."""
    torque = np.zeros_like(samples.effort)
    for piece in pieces_of(samples, cutoff):
        v = piece.velocity(samples.times[piece.indices])
        for term in terms:
            own = v[:, term.joint]
            fading = term.size * np.exp(-((own / term.speed) ** 2))
            torque[piece.indices, term.joint] += fading * np.clip(own / STANDSTILL, -1.0, 1.0)
    return torque
