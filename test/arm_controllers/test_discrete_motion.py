"""The discrete motion of a reference: torque laws without the error of sampling."""

import numpy as np
import pytest
from running_law import RunningLaw

from arm_controllers.discrete_motion import DiscreteMotion
from arm_controllers.laws import law_class
from arm_controllers.measurement import Measurement
from arm_controllers.parameter_values import read_fields
from arm_controllers.reference import Reference
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.runs import record_of
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.measures import track
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters
from arm_sim.tasks import make_task

ROBOT = Robot.load('ur5e')
# The plant that the motion is made for: one step per period.
STEPPED = {'actuator': 'torque', 'integrator': 'implicitfast'}
DRIVES = read_fields(PlantParameters, ROBOT.parameters('simulator') | STEPPED)
WITH_THE_MODEL = (
    'joint_impedance', 'pd_feedforward', 'operational_space', 'computed_torque',
    'computed_torque_pid', 'adaptive_computed_torque',
)  # fmt: skip
H = 0.002


def law_of(name, model=ROBOT.model):
    made = law_class(name)
    return made(model, read_fields(made.Parameters, ROBOT.parameters(f'{name}_controller')))


def cube_mm(name, motion, model=ROBOT.model):
    """Return the RMS of the tip's error [mm] on the cube in 3.75 s, the model being exact."""
    task = make_task('cube', ROBOT, {'edge_time': 0.25})
    record = task.run(
        DiscreteMotion(law_of(name, model)) if motion == 'discrete' else law_of(name, model),
        MujocoPlant(model, DRIVES),
    )
    return 1e3 * np.sqrt(np.mean(track(ROBOT.model, record).error ** 2))


@pytest.mark.quick(1)
@pytest.mark.parametrize('name', WITH_THE_MODEL)
def test_laws_with_the_exact_model_leave_rounding_only(name):
    assert cube_mm(name, 'discrete') < 1e-9


@pytest.mark.slow
def test_the_momentum_observer_leaves_a_tenth():
    assert cube_mm('momentum_observer', 'discrete') < 0.1 * cube_mm(
        'momentum_observer', 'continuous'
    )


@pytest.mark.slow
def test_damping_that_acts_at_the_end_of_a_step_is_met():
    damped = with_error(ROBOT.model, ModelError(damping=(2.0,)))
    assert cube_mm('computed_torque', 'discrete', damped) < 1e-9


def quintic(t):
    """Return position, velocity and acceleration of a quintic over 1 s."""
    s = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])
    return s(t), s.deriv()(t), s.deriv(2)(t)


def reference_at(state):
    reference = Reference(6)
    reference.q[:], reference.v[:], reference.a[:] = state
    return reference


class Observed(law_class('computed_torque')):
    """Keeps the reference that it is given."""

    def __call__(self, state, measured, reference, dt):
        """Return no torque."""
        self.seen = reference.copy()
        return np.zeros_like(measured.q), state


def test_the_law_sees_the_differences_of_the_samples():
    observed = Observed(ROBOT.model, Observed.Parameters())
    law, q = RunningLaw(DiscreteMotion(observed)), [quintic(k * H)[0] for k in range(200)]
    law.reset(np.zeros(6), np.zeros(6))
    for k in range(198):
        law(np.zeros(6), np.zeros(6), reference_at(quintic((k + 1) * H)), H)
        v = (q[k] - q[max(k - 1, 0)]) / H
        np.testing.assert_allclose(observed.seen.q, q[k], atol=1e-15)
        np.testing.assert_allclose(observed.seen.v, v, atol=1e-12)
        np.testing.assert_allclose(observed.seen.a, ((q[k + 1] - q[k]) / H - v) / H, atol=1e-9)


@pytest.mark.parametrize(('jump', 'velocity'), [(0.3, 0.0), (0.0, 0.8)], ids=['step', 'corner'])
def test_where_the_reference_jumps_its_own_derivatives_count(jump, velocity):
    observed = Observed(ROBOT.model, Observed.Parameters())
    law = RunningLaw(DiscreteMotion(observed))
    law.reset(np.zeros(6), np.zeros(6))
    for k in range(1, 5):
        after = max(k - 2, 0) * H
        law(
            np.zeros(6), np.zeros(6),
            reference_at((jump * (k > 2) + velocity * after, velocity * (k > 2), 0.0)), H,
        )  # fmt: skip
        assert np.abs(observed.seen.a).max() < 1e-9
        assert np.abs(observed.seen.v).max() < velocity + 1e-12


def test_many_arms_follow_as_each_would_alone():
    case = Experiment('planar_3r', 'sinusoid', 'computed_torque', reference_motion='discrete')
    robot = case.load().robot
    cls = law_class('computed_torque')
    many, alone = (
        RunningLaw(DiscreteMotion(cls(model, cls.Parameters())))
        for model in (BatchModel(robot.model), robot.model)
    )
    rng = np.random.default_rng(0)
    q, v = rng.uniform(-0.1, 0.1, (2, 4, 3))
    wide = Reference(3, (4,))
    wide.q[:] = q + 1e-4
    many.reset(q, v)
    torque = [many(q, v, wide, H).copy() for _ in range(2)]
    for arm in range(4):
        one = Reference(3)
        one.row[:] = wide.row[arm]
        alone.reset(q[arm], v[arm])
        for step in range(2):
            np.testing.assert_allclose(
                alone(q[arm], v[arm], one, H), torque[step][arm], rtol=1e-10, atol=1e-10
            )


@pytest.mark.slow
def test_a_comparison_has_it():
    def rms(motion):
        case = Experiment('planar_3r', 'sinusoid', 'computed_torque', reference_motion=motion,
                          integrator='implicitfast')  # fmt: skip
        return np.sqrt(np.mean(track(case.load().robot.model, record_of(case)).error ** 2))

    assert rms('discrete') < 1e-3 * rms('continuous')


def test_what_cannot_follow_samples_is_refused():
    for name in ('servo', 'motor_computed_torque'):
        law = object.__new__(law_class(name))
        with pytest.raises(ArmError, match="reference_motion is 'discrete'; that is for laws"):
            DiscreteMotion(law)
    with pytest.raises(ArmError, match="'discrete' needs control_decimation 1, not 2"):
        ControllerParameters(robot='ur5e', reference_motion='discrete', control_decimation=2)


def test_a_wrench_goal_reaches_the_law():
    wrenches = []

    class Listening(law_class('computed_torque')):
        def __call__(self, state, measured, reference, dt):
            wrenches.append((reference.wrench, reference.selection))
            return super().__call__(state, measured, reference, dt)

    law = DiscreteMotion(Listening(ROBOT.model, Listening.Parameters()))
    reference = Reference(6)
    reference.q[:] = ROBOT.start
    reference.future = lambda periods: reference.copy()
    reference.set_wrench(np.arange(6.0), np.eye(6))
    measured = Measurement(ROBOT.start, np.zeros(6))
    law(law.start(measured, reference), measured, reference, H)
    assert wrenches == [(reference.wrench, reference.selection)]
