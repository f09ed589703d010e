"""An engine of a user: what it makes of its state is taken or refused in one line."""

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_sim.robot import Robot
from arm_sim.simulation.plant import Plant, PlantParameters


class Pushed(Plant):
    """A mass of 1 per joint."""

    def __init__(self, model, parameters):
        super().__init__(model, parameters)
        self.q, self.v, self.effort = self.first(model.nv)
        self.reset(model.neutral())

    def first(self, n):
        return np.zeros((3, n))

    def act(self, command):
        self.effort[:] = command
        self.v += self.effort
        self.q += self.v


def made(attributes, base=Pushed):
    kind = type('Mine', (base,), attributes)
    return kind(Robot.load('planar_3r').model, PlantParameters(actuator='torque'))


def after(name, change):
    """Return an `act` after which an attribute is changed."""

    def act(self, command):
        Pushed.act(self, command)
        setattr(self, name, change(getattr(self, name)))

    return {'act': act}


@pytest.mark.parametrize('name', ['q', 'v', 'effort'])
@pytest.mark.parametrize('change', [np.array, list])
def test_sensors_see_new_arrays_of_an_engine(name, change):
    plant = made(after(name, change))
    start = plant.q.copy()
    for _ in range(2):
        plant.step(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(plant.measured.v, [2.0, 4.0, 6.0])
    np.testing.assert_allclose(plant.measured.q - start, [3.0, 6.0, 9.0])
    np.testing.assert_array_equal(plant.effort, [1.0, 2.0, 3.0])


def test_sensors_see_new_arrays_of_a_reset():
    def reset(self, q, v=None):
        Pushed.reset(self, q, v)
        self.q = np.array(self.q)

    plant = made({'reset': reset})
    plant.step(np.ones(3))
    plant.reset([0.1, 0.2, 0.3])
    plant.step(np.ones(3))
    np.testing.assert_allclose(plant.measured.q, [1.1, 1.2, 1.3])


@pytest.mark.parametrize(
    ('name', 'change', 'words'),
    [
        ('effort', lambda x: x[:1], r'effort is an array of float64 of shape \(1,\); it must be'),
        ('effort', lambda x: None, r'effort is None; it must be \(3,\) real numbers$'),
        ('q', lambda x: x + 1j, 'q is an array of complex128'),
        ('v', lambda x: [[1.0], [2.0, 3.0]], r'v is \[\[1.0\], \[2.0, 3.0\]\]; it must be'),
        ('effort', lambda x: x * np.nan, r'effort is \[nan, nan, nan\]; it must be finite$'),
    ],
)
def test_what_is_no_state_is_refused(name, change, words):
    plant = made(after(name, change))
    with pytest.raises(ArmError, match=f'^engine Mine: {words}'):
        plant.step(np.ones(3))


def alone(self, model, parameters):
    self.q, self.v, self.effort = np.zeros((3, model.nv))


def without_effort(self, model, parameters):
    Plant.__init__(self, model, parameters)
    self.q, self.v = np.zeros((2, model.nv))


@pytest.mark.parametrize(
    ('attributes', 'words'),
    [
        (
            {'first': lambda self, n: np.zeros((3, n), int)},
            'Mine: q is an array of int64 of shape',
        ),
        ({'first': lambda self, n: [np.zeros(n)] * 3}, 'Mine: q, v and effort share memory; each'),
        ({'__init__': alone}, r'Mine: its constructor must call super\(\).__init__\(model, param'),
        ({'__init__': without_effort}, 'Mine: effort is None; it must be an array of float64'),
        ({'__init__': lambda self: None}, 'Mine: TypeError: .* takes 1 positional argument but 3'),
        ({'first': lambda self, n: 1 / 0}, r'Pushed \(.*, line \d+\): ZeroDivisionError'),
    ],
)
def test_what_a_constructor_forgets_is_refused(attributes, words):
    with pytest.raises(ArmError, match=f'^engine {words}'):
        made(attributes)


def test_an_engine_that_does_not_move_is_refused():
    def resting(self, model, parameters):
        Plant.__init__(self, model, parameters)
        self.q, self.v, self.effort = np.zeros((3, model.nv))

    with pytest.raises(ArmError, match=r'^engine Mine: it has no act\(command\)'):
        made({'__init__': resting}, Plant)


def test_the_command_that_a_run_records_is_not_the_engines():
    def act(self, command):
        Pushed.act(self, command)
        command *= 0.0

    plant, command = made({'act': act}), np.ones(3)
    plant.step(command)
    np.testing.assert_array_equal(command, 1.0)


def reading(self, command):
    Pushed.act(self, command)
    self.external_forces()


def test_a_wrench_that_an_engine_does_not_read_is_refused():
    ignores, reads = made({}), made({'act': reading})
    for plant in (ignores, reads):
        plant.apply_wrench('tool', [0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    reads.step(np.ones(3))
    words = '^engine Mine: a wrench acts on tool, and act reads neither wrenches nor'
    with pytest.raises(ArmError, match=words):
        ignores.step(np.ones(3))
    takes = made({'_set_wrenches': lambda self, wrenches: setattr(self, 'wrenches', wrenches)})
    takes.apply_wrench('tool', np.ones(6))
    takes.step(np.ones(3))
    np.testing.assert_array_equal(takes.v, 1.0)
