"""A record is made by the efforts that it has."""

from dataclasses import replace

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError
from arm_lab.experiments.experiment import Experiment
from arm_lab.judging.physics import check_physics


@pytest.mark.parametrize('law', ['computed_torque', 'servo', 'pd'])
def test_efforts_of_a_run_made_its_motion_also_of_an_arm_that_the_law_does_not_know(law):
    loaded = Experiment('planar_3r', 'sinusoid', law, error=ModelError(payload=3.0)).load()
    check_physics(loaded, loaded.run())


@pytest.mark.parametrize('change', [lambda x: 0.0 * x, lambda x: -x, lambda x: x[::-1]])
def test_a_motion_without_its_efforts_is_refused(change):
    loaded = Experiment('planar_3r', 'sinusoid', 'computed_torque').load()
    record = loaded.run()
    other = replace(record, effort=np.ascontiguousarray(change(record.effort)))
    with pytest.raises(ArmError, match='the efforts did not make this motion: it needs .* N.m'):
        check_physics(loaded, other)
