"""One law commands many arms: the commands are those of as many laws for one arm each."""

import numpy as np
import pytest
from running_law import RunningLaw
from stacked_model import StackedModel

from arm_controllers.laws import Measurement, law_class, law_names
from arm_controllers.laws.servo import FEEDFORWARD
from arm_controllers.reference import Reference
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

DT, PERIODS = 2e-3, 6
ARM = {'armature': 0.1, 'damping': 0.5, 'friction': 0.3}
MODELS = {name: RobotModel.from_urdf(find_urdf(name), **ARM) for name in ('ur5e', 'planar_3r')}
# Beyond the defaults: what switches another part of a law on.
VARIANTS = [
    ('pd', {'gravity_compensation': False}),
    ('pd_feedforward', {'feedforward_at': 'measured'}),
    *(('servo', {'feedforward': level}) for level in FEEDFORWARD),
    ('servo', {'feedforward': 'observed', 'observer_pole': 0.8}),
    ('servo', {'feedforward': 'observed', 'delay': 2, 'observer_pole': 0.9}),
    ('operational_space', {'axes': (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)}),
    ('independent_joint', {'inertia': (2.0,)}),
    ('computed_torque_pid', {'integral_limit': 0.05}),
    ('motor_computed_torque', {'brush_drop': (1.0,)}),
    *((name, {'p': (3.0,), 'i': (0.2,), 'd': (5.0,)}) for name in ('pose_p', 'pose_pid')),
]


def states(rng, arms, n):
    """Return positions, velocities and references (periods, *arms, n) of moving arms."""
    time = DT * np.arange(PERIODS).reshape(-1, *(1 for _ in arms), 1)
    q_0, v = rng.uniform(-2.0, 2.0, (*arms, n)), rng.uniform(-1.0, 1.0, (*arms, n))
    error = rng.uniform(-0.2, 0.2, (*arms, n))
    error[(0,) * len(arms)] *= 100.0  # beyond the effort limits
    q = q_0 + time * v
    rows = np.concatenate(
        [q + error, 0.9 * v + 0.0 * q, 0.3 * v + 0.0 * q, 0.1 + 0.0 * q], axis=-1
    )
    return q, v + 0.0 * q, rows


LAWS = [name for name in law_names() if not law_class(name).evaluation.of_file]


@pytest.mark.parametrize('arms', [(1,), (3,), (2, 2)])
@pytest.mark.parametrize('robot', MODELS)
@pytest.mark.parametrize(('name', 'settings'), [*((name, {}) for name in LAWS), *VARIANTS])
@pytest.mark.slow
def test_commands_of_many_arms_are_those_of_each(name, settings, robot, arms):
    model, cls = MODELS[robot], law_class(name)
    n, parameters = model.nv, cls.Parameters(**settings)
    q, v, rows = states(np.random.default_rng(5), arms, n)
    law, reference = RunningLaw(cls(StackedModel(model), parameters)), Reference(n, arms)
    singles = {
        index: (RunningLaw(cls(model, parameters)), Reference(n)) for index in np.ndindex(arms)
    }

    for _ in range(2):  # a new state knows nothing of the first run
        for each in (law, *(single for single, _ in singles.values())):
            each.state = None
        for k in range(PERIODS):
            reference.row[:] = rows[k]
            command = law(q[k], v[k], reference, DT)
            assert command.shape == (*arms, n)
            for index, (single, own) in singles.items():
                own.row[:] = rows[k][index]
                expected = single(q[k][index], v[k][index], own, DT)
                scale = max(1.0, np.abs(expected).max())
                np.testing.assert_allclose(command[index], expected, rtol=0, atol=1e-12 * scale)


@pytest.mark.quick(10)
@pytest.mark.parametrize('name', LAWS)
def test_a_law_neither_changes_its_inputs_nor_a_command_it_has_given(name):
    model, cls = MODELS['ur5e'], law_class(name)
    q, v, rows = states(np.random.default_rng(6), (3,), 6)
    law, reference = RunningLaw(cls(StackedModel(model), cls.Parameters())), Reference(6, (3,))
    reference.row[:] = rows[0]
    first = law(q[0], v[0], reference, DT)
    given = first.copy()
    before = q.copy(), v.copy(), rows.copy()
    np.testing.assert_array_equal(reference.row, rows[0])
    law(q[1], v[1], reference, DT)
    np.testing.assert_array_equal(first, given)
    for now, then in zip((q, v, rows), before, strict=True):
        np.testing.assert_array_equal(now, then)


def needs_of(cls):
    return *cls.needs, *cls.goal_needs


FORCE_LAWS = [
    *((name, {}) for name in LAWS if 'wrench' in needs_of(law_class(name))),
    ('cartesian_impedance', {'force_ki': 20.0}),
]


@pytest.mark.quick(4)
@pytest.mark.parametrize('arms', [(3,), (2, 2)])
@pytest.mark.parametrize(('name', 'settings'), FORCE_LAWS)
def test_commands_of_many_arms_that_touch_are_those_of_each(name, settings, arms):
    model, cls = MODELS['ur5e'], law_class(name)
    parameters, rng = cls.Parameters(**settings), np.random.default_rng(7)
    q, v, rows = states(rng, arms, 6)
    felt = rng.normal(0.0, 8.0, (PERIODS, *arms, 6))
    law, reference = cls(StackedModel(model), parameters), Reference(6, arms)
    singles = {index: (cls(model, parameters), Reference(6)) for index in np.ndindex(arms)}
    state, memories = None, {}
    for each in (reference, *(own for _, own in singles.values())):
        each.set_wrench(np.array([3.0, 0.0, -10.0, 0.0, 0.0, 0.0]))
        each.future = lambda periods, each=each: each
    for k in range(PERIODS):
        reference.row[:] = rows[k]
        measured = Measurement(q[k], v[k], None, felt[k])
        state = law.start(measured, reference) if not k else state
        command, state = law(state, measured, reference, DT)
        for index, (single, own) in singles.items():
            own.row[:] = rows[k][index]
            alone = Measurement(q[k][index], v[k][index], None, felt[k][index])
            memory = memories[index] if k else single.start(alone, own)
            expected, memories[index] = single(memory, alone, own, DT)
            scale = max(1.0, np.abs(expected).max())
            # The modes of a mass near a singularity are exact to some 1e-12.
            np.testing.assert_allclose(command[index], expected, rtol=0, atol=1e-10 * scale)


def test_a_copied_reference_of_many_arms_is_independent():
    reference = Reference(3, (2,))
    reference.q[:] = 1.0
    other = reference.copy()
    other.q[1] = 2.0
    np.testing.assert_array_equal(reference.row[1], np.r_[1.0, 1.0, 1.0, np.zeros(9)])
    assert other.row.shape == (2, 12)
