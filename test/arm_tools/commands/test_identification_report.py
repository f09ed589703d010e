"""Tables, lines and the picture of `identify`: models only where their errors count."""

from dataclasses import replace

import numpy as np
from identification_samples import exact_samples, some_motion

from arm_lab.identification.estimation import IdentificationParameters, identify
from arm_lab.identification.regressor import JointRegressor
from arm_sim.robot import Robot
from arm_tools.commands.identification_report import joint_table, notes, picture


def test_the_picture_has_models_where_a_joint_moves_fast_enough_to_count():
    model = Robot.load('planar_3r').model
    samples = exact_samples(model, some_motion(model, 3), seconds=12.0, noise=0.01)
    found = identify(JointRegressor(model), samples, IdentificationParameters())
    moving = found.rows.moving[~found.train]
    assert 0 < moving.sum() < moving.size
    axes = picture(found, 'planar_3r').axes
    for axis, counts in zip(axes[: model.nv], moving.T, strict=True):
        drawn = {line.get_label(): np.isfinite(line.get_ydata()) for line in axis.get_lines()}
        assert drawn['measured'].all()
        np.testing.assert_array_equal(drawn['as given'], counts)
        np.testing.assert_array_equal(drawn['as identified'], counts)


def test_what_is_kept_has_no_estimate_and_a_lag_has_no_sign():
    model = Robot.load('planar_3r').model
    parameters = IdentificationParameters()
    samples = exact_samples(model, some_motion(model, 3), seconds=12.0, noise=0.01)
    found = identify(JointRegressor(model), samples, parameters)
    found = replace(found, kept=np.array([True, False, False]), lag=-0.004)
    first, second, _ = joint_table(found).rows
    assert first[1:5] == ['-'] * 4
    assert first[-1] == 'kept as given'
    assert all('±' in cell for cell in second[1:5])
    assert notes(found, parameters, 0.0)[-1].startswith('torques act 4 ± ')
    assert notes(found, parameters, 0.0)[-1].endswith('ms after their stamps')
    assert notes(found, parameters, 0.008)[-1].endswith('ms before their stamps')
