"""Laws on an arm that SciPy moves over Pinocchio: the errors are those of the default plant."""

import numpy as np
import pytest
from foreign_plant import TASKS, error, error_on_foreign, experiment

SHORT = {'cycles': 0.5}
LAWS = [
    'servo:discrete', 'servo:observed', 'servo:inverse_dynamics', 'computed_torque',
    'momentum_observer', 'adaptive_computed_torque', 'mpc',
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize('law', LAWS)
def test_a_law_has_the_error_of_the_default_plant_on_a_foreign_one(law, monkeypatch):
    monkeypatch.setitem(TASKS, 'sinusoid', SHORT)
    ours = error(law, 'sinusoid', 'continuous')
    np.testing.assert_allclose(error_on_foreign(experiment(law, 'sinusoid')), ours, rtol=0.01)
    one_step = error(law, 'sinusoid', 'one step')  # says nothing about either
    assert one_step > 1.5 * ours or one_step < ours / 1.5
