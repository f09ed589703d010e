"""What a law, an observer or a policy receives of the loop refuses to be written into."""

from dataclasses import dataclass

import numpy as np
import pytest

from arm_controllers.law import Law
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters
from arm_sim.engines.analytical import AnalyticalParameters, AnalyticalPlant
from arm_sim.loop.loop import Loop
from arm_sim.loop.measures import Measure, samples_of, track, values_of
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot

READ_ONLY = 'read-only'


@dataclass(frozen=True)
class NoParameters(Parameters):
    """None."""


class Slip(Law):
    """A law that writes into one of the arrays that it receives, and commands nothing."""

    Parameters = NoParameters
    writes = staticmethod(lambda measured, reference: None)

    def __call__(self, state, measured, reference, dt):
        self.writes(measured, reference)
        return np.zeros(self.model.nv), state


def loop_with(law_class, model, **parameters):
    plant = AnalyticalPlant(model, AnalyticalParameters(actuator='torque', **parameters))

    def follow(t, reference):
        reference.row[:] = 0.0
        reference.q[:] = t

    return Loop(plant, law_class(model, NoParameters()), follow)


@pytest.fixture(scope='module')
def model():
    return Robot.load('planar_3r').model


def put_q(measured, reference):
    measured.q[:] = reference.q


def put_reference(measured, reference):
    reference.q[:] = measured.q


def subtract(measured, reference):
    q = measured.q
    q -= reference.q


def put_row(measured, reference):
    reference.row[:] = 0.0


def put_later(measured, reference):
    reference.ahead(3).q[:] = 0.0


def unlock(measured, reference):
    measured.q.setflags(write=True)


def unlock_reference(measured, reference):
    reference.v.flags.writeable = True


def put_base(measured, reference):
    measured.q.base[0] = 0.0


WRITES = [put_q, put_reference, subtract, put_row, put_later, unlock, unlock_reference, put_base]


@pytest.mark.parametrize('writes', WRITES)
@pytest.mark.parametrize('sensors', [{}, {'position_noise': 1e-4}])
def test_a_law_that_writes_into_what_it_receives_is_refused_by_numpy(model, writes, sensors):
    law = type('Writes', (Slip,), {'writes': staticmethod(writes)})
    loop = loop_with(law, model, **sensors)
    loop.plant.v[:] = 0.1
    before = loop.plant.q.copy()
    with pytest.raises((ValueError, TypeError), match=f'{READ_ONLY}|cannot set WRITEABLE'):
        loop.step()
    np.testing.assert_array_equal(loop.plant.q, before)


def test_a_law_cannot_exchange_the_arrays_of_its_reference(model):
    def exchange(measured, reference):
        reference.q = measured.q

    law = type('Exchanges', (Slip,), {'writes': staticmethod(exchange)})
    with pytest.raises(AttributeError, match=r'reference\.q is read-only'):
        loop_with(law, model).step()


def test_a_step_is_read_only_for_observers(model):
    step = loop_with(Slip, model).step()
    for array in (step.q, step.v, step.measured.q, step.reference.q, step.effort):
        with pytest.raises(ValueError, match=READ_ONLY):
            array[0] = 1.0


def test_a_command_that_is_a_view_of_the_state_is_recorded_as_it_was_sent(model):
    class Echo(Slip):
        def __call__(self, state, measured, reference, dt):
            return measured.v, state

    loop = loop_with(Echo, model)
    loop.plant.v[:] = 0.1
    step = loop.step()
    np.testing.assert_array_equal(step.command, step.v)


def test_a_read_only_reference_shows_later_changes_and_its_copy_can_be_written():
    source = Reference(2)
    shown = source.read_only()
    source.q[:] = 1.0
    source.set_wrench(np.ones(6))
    np.testing.assert_array_equal(shown.q, [1.0, 1.0])
    np.testing.assert_array_equal(shown.wrench, np.ones(6))
    with pytest.raises(ValueError, match=READ_ONLY):
        shown.wrench[0] = 2.0
    copy = shown.copy()
    copy.q[:] = 3.0
    np.testing.assert_array_equal(shown.q, [1.0, 1.0])


@pytest.mark.parametrize(
    'name', ['effort_limit', 'velocity_limit', 'position_upper', 'gravity', 'damping', 'armature']
)
def test_a_law_changes_nothing_of_the_model_that_the_arm_has_too(model, name):
    """Not even a copy of it with other joints, whose other numbers are the same arrays."""
    for each in (model, model.without_coulomb_friction()):
        with pytest.raises(ValueError, match='WRITEABLE'):
            getattr(each, name).setflags(write=True)


def test_a_record_is_read_only_for_the_task_and_the_measures_that_receive_it(model):
    plant = AnalyticalPlant(model, AnalyticalParameters(actuator='torque'))
    record = run_closed_loop(plant, Slip(model, NoParameters()), lambda t, reference: None, 0.01)
    for array in (record.q, record.v, record.q_reference, record.effort, record.q_end):
        with pytest.raises(ValueError, match='WRITEABLE'):
            array.setflags(write=True)


def test_a_measure_of_a_plugin_that_writes_into_its_samples_is_refused_in_one_line(model):
    def flatter(samples):
        samples.error_mm[:] = 0.0
        return samples.error_mm

    plant = AnalyticalPlant(model, AnalyticalParameters(actuator='torque'))
    record = run_closed_loop(plant, Slip(model, NoParameters()), lambda t, reference: None, 0.01)
    samples = samples_of(record, track(model, record))
    with pytest.raises(ArmError, match=f"measure 'flattery' fails: .*{READ_ONLY}"):
        values_of(Measure('flattery', '', '', flatter, 'max'), samples)
