"""A record is made by the velocities and efforts that it has."""

from dataclasses import replace

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError
from arm_lab.experiments.experiment import Experiment
from arm_lab.judging.physics import check_physics

FRICTION = ModelError(payload=3.0, friction=(1.0,), damping=(2.0,))

FALLS = """
import numpy as np
from dataclasses import dataclass
from arm_controllers.laws import Law
class Falls(Law):
    @dataclass(frozen=True)
    class Parameters:
        pass
    def __call__(self, state, measured, reference, dt):
        return np.zeros(self.model.nv), state
"""


def ran(robot='planar_3r', law='computed_torque', **others):
    loaded = Experiment(robot, 'sinusoid', law, **others).load()
    return loaded, loaded.run()


@pytest.mark.quick(2)
@pytest.mark.parametrize('law', ['computed_torque', 'servo', 'pd'])
@pytest.mark.parametrize('error', [ModelError(payload=3.0), FRICTION])
def test_efforts_of_a_run_made_its_motion_also_of_an_arm_that_the_law_does_not_know(law, error):
    loaded, record = ran(law=law, error=error)
    check_physics(loaded, record)


def test_efforts_of_stiff_servos_with_long_periods_made_their_motion():
    check_physics(*ran('ur5e', 'servo', timestep=0.008))


def test_an_arm_that_falls_onto_its_stops_is_no_invention(tmp_path):
    """The stops push, and are in no effort."""
    file = tmp_path / 'falls.py'
    file.write_text(FALLS)
    loaded, record = ran('ur5e', str(file), natural_frequency=0.0)
    assert (record.q > loaded.arm.stops[1]).any()
    check_physics(loaded, record)


def test_a_servos_motion_with_smaller_efforts_of_a_joint_is_refused():
    loaded, record = ran('ur5e', 'servo', timestep=0.008)
    effort = record.effort.copy()
    effort[:, 0] *= 0.6  # differs by less than what a servo changes in a period
    with pytest.raises(ArmError, match='the efforts did not make this motion'):
        check_physics(loaded, replace(record, effort=effort))


@pytest.mark.parametrize('change', [lambda x: 0.0 * x, lambda x: -x, lambda x: x[::-1]])
def test_a_motion_without_its_efforts_is_refused(change):
    loaded, record = ran()
    other = replace(record, effort=np.ascontiguousarray(change(record.effort)))
    with pytest.raises(ArmError, match='the efforts did not make this motion: it needs .* N.m'):
        check_physics(loaded, other)


def test_efforts_that_only_carry_the_arms_weight_did_not_move_it():
    loaded, record = ran('ur5e')
    weight = np.array([loaded.arm.gravity_torque(q) for q in record.q])
    with pytest.raises(ArmError, match='the efforts did not make this motion'):
        check_physics(loaded, replace(record, effort=weight))


def test_one_joint_that_moves_without_effort_is_refused():
    loaded, record = ran('ur5e')
    effort, weight = record.effort.copy(), loaded.arm.gravity_torque
    effort[:, 2] = [weight(q)[2] for q in record.q]
    with pytest.raises(ArmError, match='the efforts did not make this motion'):
        check_physics(loaded, replace(record, effort=effort))


def test_positions_that_change_without_velocity_are_refused():
    loaded, record = ran('ur5e')
    weight = np.array([loaded.arm.gravity_torque(q) for q in record.q])
    still = replace(record, v=0.0 * record.v, effort=weight)
    with pytest.raises(ArmError, match='the velocities did not make this motion'):
        check_physics(loaded, still)
