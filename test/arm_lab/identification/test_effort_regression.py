"""What a regression leaves of efforts is what NumPy's least squares leave."""

import numpy as np
import pytest

from arm_dynamics.model import STANDSTILL
from arm_lab.identification.effort_regression import LEAST_LEFT, States, regression, shares_left

JOINTS, ROWS = 4, 60


def change_nothing(v, model, tau):
    pass


def do_not_move(v, model, tau):
    v[:, 1] = 0.0


def no_torque(v, model, tau):
    model[:, 2] = 0.0


def torque_as_of_friction(v, model, tau):
    model[:, 2] = 3.0 * v[:, 2] + 1.0


def effort_is_constant(v, model, tau):
    tau[:, 0] = 5.0


def effort_is_the_model(v, model, tau):
    tau[:] = 2.0 * model - 0.3 * v + 1.0


@pytest.mark.parametrize(
    'change',
    [change_nothing, do_not_move, no_torque, torque_as_of_friction, effort_is_constant,
     effort_is_the_model],
)  # fmt: skip
def test_shares_are_those_of_least_squares(change):
    q, v, a, model, tau = np.random.default_rng(0).normal(size=(5, ROWS, JOINTS))
    change(v, model, tau)
    states = States(q, v, a, tau, np.arange(JOINTS))
    shares = []
    for j in range(JOINTS):
        dry = np.clip(v[:, j] / STANDSTILL, -1.0, 1.0)
        columns = np.column_stack([model[:, j], v[:, j], dry, np.ones(ROWS)])
        rest = tau[:, j] - columns @ np.linalg.lstsq(columns, tau[:, j], rcond=None)[0]
        variance = np.var(tau[:, j])
        shares.append(max(np.mean(rest**2) / variance, LEAST_LEFT) if variance else 1.0)
    np.testing.assert_allclose(shares_left(model, states), shares, rtol=1e-9)
    fit = regression(model, states)
    np.testing.assert_allclose(fit.left, shares, rtol=1e-9)
    assert fit.score == pytest.approx(np.log(shares).sum())
