"""Standard errors of a least-squares fit whose residuals are correlated in time.

The sandwich H^-1 B H^-1, where B is the covariance of the objective's gradient. B comes from the
auto- and cross-covariances of the joints' residuals over one second, under Bartlett's window
(Newey and West, Econometrica 55, 1987); the residuals of a joint count as equally large in the
whole recording. Sums over its seconds need no such assumption, but with fewer seconds than
parameters they make the errors too small.
"""

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_lab.identification.signals import Rows

_ROUNDING = 1e-12  # relative; of the singular values of a matrix of rows
_WINDOW = 1.0  # within which residuals may be correlated [s]


def gradient_root(rows: Rows, noise: Array, x: Array) -> Array:
    """Return G (p, p) with G^T G the covariance of the gradient of the fit at parameters x (p,).

    `noise` (n,) are the standard deviations by which the fit weights the joints' torques.
    """
    left = np.where(rows.moving, rows.tau - rows.y @ x, 0.0)
    steps = np.diff(rows.times)
    period = float(np.median(steps))
    window = max(round(_WINDOW / period), 1)
    apart = (steps < 0.0) | (steps > _WINDOW)
    gaps = np.where(apart, window, np.rint(np.clip(steps, period, _WINDOW) / period))
    place = np.concatenate([[0], np.cumsum(gaps)]).astype(int)
    size = place[-1] + 1 + window

    def on_grid(values: Array) -> NDArray[np.complex128]:
        even = np.zeros((size, *values.shape[1:]))
        even[place] = values
        return np.fft.rfft(even, axis=0)

    residual, present = on_grid(left), on_grid(rows.moving.astype(float))

    def correlated(values: NDArray[np.complex128]) -> Array:
        pairs = values.conj()[:, :, np.newaxis] * values[:, np.newaxis]
        return np.fft.irfft(pairs, size, axis=0)

    covariance = correlated(residual) / np.maximum(correlated(present), 1.0)
    lags = np.minimum(np.arange(size), size - np.arange(size))
    covariance *= np.maximum(1.0 - lags / window, 0.0)[:, np.newaxis, np.newaxis]
    values, vectors = np.linalg.eigh(np.fft.rfft(covariance, axis=0).conj())
    root = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors
    weighted = on_grid(rows.y * (rows.moving / noise**2)[..., np.newaxis])
    parts = (root.conj().transpose(0, 2, 1) @ weighted).reshape(-1, rows.y.shape[-1])
    # The real spectrum has each frequency twice, but for the first and, if any, the last.
    twice = np.full(len(residual), 2.0)
    twice[0] = 1.0
    if size % 2 == 0:
        twice[-1] = 1.0
    parts *= np.sqrt(np.repeat(twice, left.shape[1]) / size)[:, np.newaxis]
    return np.linalg.qr(np.vstack([parts.real, parts.imag]), mode='r')


def standard_errors(root: Array, gradient: Array) -> Array:
    """Return standard errors (p,) by H = root^T root and B = gradient^T gradient."""
    scale = np.linalg.norm(root, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    _, values, vectors = np.linalg.svd(root / scale, full_matrices=False)
    values = np.maximum(values, _ROUNDING * values[0])
    spread = vectors.T @ ((vectors @ (gradient / scale).T) / values[:, np.newaxis] ** 2)
    return np.asarray(np.linalg.norm(spread, axis=1) / scale)
