"""Model predictive control: its error dynamics, limits, delay, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from running_law import RunningLaw

from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.laws.mpc import Mpc, MpcParameters, MpcState
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.measures import track

PLAIN = Experiment('planar_3r', 'sinusoid', 'mpc', timestep=0.002)


def run(experiment, **given):
    """Return the record, and the RMS error of the tip after the first tenth [mm]."""
    loaded = experiment.load()
    loaded = LoadedExperiment(experiment, loaded.robot, given)
    record = loaded.run()
    error = track(loaded.robot.model, record).error
    return record, float(np.sqrt((error[len(error) // 10 :] ** 2).mean())) * 1e3


def over_limits(record, model):
    """Return by how much velocities and positions exceed the limits."""
    return max(
        (np.abs(record.v) - model.velocity_limit).max(),
        (record.q - model.position_upper).max(),
        (model.position_lower - record.q).max(),
    )


@pytest.mark.slow
def test_the_exact_model_leaves_no_error_where_no_limit_is_near():
    _, mm = run(PLAIN)
    _, other = run(replace(PLAIN, law='computed_torque'))
    assert mm < 0.02 * other
    assert other > 1e-2


@pytest.mark.slow
def test_where_computed_torque_is_at_its_limits_mpc_exceeds_none_and_errs_least():
    fast, given = (
        replace(PLAIN, robot='ur5e'),
        {'frequency': 2.5, 'cycles': 3.0, 'amplitude': (0.2,)},
    )
    record, mm = run(fast, **given)
    model = fast.load().robot.model
    assert over_limits(record, model) <= 0.0
    assert np.abs(record.effort / model.effort_limit).max() > 0.999
    other, other_mm = run(replace(fast, law='computed_torque'), **given)
    assert over_limits(other, model) > 0.1
    assert mm < 0.5 * other_mm


@pytest.mark.slow
def test_a_known_delay_costs_nothing():
    late = replace(PLAIN, drives=DriveParameters(command_delay=4))
    assert late.load().law_parameters.delay == 4
    assert run(late)[1] < 1e-3
    assert run(replace(late, law='computed_torque'))[1] > 0.1


@pytest.mark.quick(1)
@pytest.mark.parametrize('masses', [0.8, 1.2])
def test_the_observer_finds_what_wrong_masses_need(masses):
    wrong = replace(PLAIN, error=ModelError(mass_scale=(masses,)))
    assert run(wrong)[1] < 0.1 * run(replace(wrong, law='computed_torque'))[1]


def test_small_errors_obey_the_second_order_equation_of_its_gains():
    model, dt = RobotModel(find_urdf('ur5e')), 1e-3
    q = np.array([0.3, -1.2, 1.5, -1.0, -1.4, 0.2])
    reference = Reference(6)
    reference.q[:] = q
    reference.future = lambda periods: reference
    error, rate = np.linspace(1e-4, 3e-4, 6), np.linspace(-1e-3, 2e-3, 6)
    predicted = RunningLaw(Mpc(model, MpcParameters(observer_pole=0.0)))
    classical = RunningLaw(ComputedTorque(model, ComputedTorqueParameters()))
    tau, expected = (law(q + error, rate, reference, dt) for law in (predicted, classical))
    hold = model.gravity_torque(q)
    assert_allclose(tau - hold, expected - hold, rtol=0, atol=0.05 * np.abs(expected - hold).max())


@pytest.mark.parametrize('given', [{'nodes': 12}, {'delay': 2}])
def test_another_horizon_or_delay_that_is_set_ends_no_return_after_a_force_goal(given):
    model = RobotModel.from_urdf(find_urdf('ur5e'), armature=0.1)
    law, other = (Mpc(model, MpcParameters(**each)) for each in ({}, given))
    q = np.array([0.0, -1.0, 1.5, -2.0, -1.5, 0.0])
    reference = Reference(6)
    reference.q[:] = q + np.array([0.0, 0.2, 0.0, 0.0, 0.0, 0.0])
    reference.future = lambda periods: reference
    pressing = Reference(6)
    pressing.q[:], pressing.future = reference.q, lambda periods: pressing
    pressing.wrench = np.array([0.0, 0.0, -10.0, 0.0, 0.0, 0.0])
    measured = Measurement(q, np.zeros(6), wrench=np.array([0.0, 0.0, 10.0, 0.0, 0.0, 0.0]))
    _, state = law(law.start(measured, pressing), measured, pressing, 0.002)
    command, state = law(state, measured, reference, 0.002)
    slow, after = other(other.resumed(state), measured, reference, 0.002)
    assert len(MpcState(*after).pending) == other.parameters.delay + 1
    begun, _ = other(other.start(measured, reference), measured, reference, 0.002)
    assert np.abs(slow - command).max() < 0.05 * np.abs(begun - command).max()  # it springs


def test_gains_without_a_cost_are_refused():
    with pytest.raises(ArmError, match=r"kd of joint 'joint_2' is 20; .* >= sqrt\(2 kp\) = 28.28"):
        Mpc(PLAIN.load().robot.model, MpcParameters(kd=(40.0, 20.0, 40.0)))


ARM = RobotModel(find_urdf('planar_3r'))
Q, DOWN = np.array([0.6, -0.9, -0.8]), np.array([0.0, -5.0, 0.0, 0.0, 0.0, 0.0])


def pressing(model=ARM, wanted=DOWN, **given):
    """Return the law, and a reference at rest at Q with a wrench."""
    law, reference = Mpc(model, MpcParameters(**given)), Reference(3)
    reference.q[:] = Q
    reference.set_wrench(wanted)
    reference.future = lambda periods: reference
    return law, reference


def felt(model, q, force):
    """Return the wrench (6,) that a force (3,) on the tip, in base axes, gives the sensor."""
    rotation = model.forward_kinematics(q, model.tool_carrier).rotation
    lever = model.forward_kinematics(q).translation
    lever = lever - model.forward_kinematics(q, model.tool_carrier).translation
    return np.concatenate([rotation.T @ force, rotation.T @ np.cross(lever, force)])


@pytest.mark.slow
def test_on_a_spring_the_force_comes_to_rest_at_its_goal_with_a_wrong_model():
    law, reference = pressing(rise_time=0.2)
    stiffness = 2e3
    arm, dt = with_error(ARM, ModelError(mass_scale=(0.8,))), 1e-3
    surface = ARM.forward_kinematics(Q).translation[1] - 0.002
    q, v, force = Q.copy(), np.zeros(3), np.zeros(3)
    state = law.start(Measurement(q, v), reference)
    for _ in range(1000):
        tau, state = law(state, Measurement(q, v, None, felt(ARM, q, force)), reference, dt)
        tau = tau + arm.jacobian(q)[:3].T @ force
        v = v + dt * arm.forward_dynamics(q, v, tau)
        q = q + dt * v
        depth = surface - arm.forward_kinematics(q).translation[1]
        force = np.array([0.0, stiffness * max(depth, 0.0), 0.0])
    assert_allclose(force[1], 5.0, rtol=0, atol=2e-3)
    assert_allclose(q - Q, np.linalg.solve(ARM.jacobian(Q)[[0, 1, 5]], [0, -0.002 - depth, 0]),
                    atol=1e-4)  # fmt: skip


def test_a_missing_force_is_a_missing_way_of_the_stiffness():
    law, reference = pressing(force_ki=0.0, rise_time=1e-3, observer_pole=0.0)
    jacobian, gravity = ARM.jacobian(Q), ARM.gravity_torque(Q)
    measured = [Measurement(Q, np.zeros(3), None, felt(ARM, Q, np.array([0.0, f, 0.0])))
                for f in (5.0, 4.0)]  # fmt: skip
    for each, lacks in zip(measured, (0.0, 1.0), strict=True):
        tau, _ = law(law.start(each, reference), each, reference, 1e-3)
        way = np.linalg.solve(jacobian[[0, 1, 5]], [0.0, -400.0 * lacks / 4e4, 0.0])
        expected = gravity + jacobian.T @ DOWN + ARM.mass_matrix(Q) @ way
        # The horizon ends, which costs 5 %; the observer has seen one period of the lack.
        assert_allclose(tau, expected, atol=1e-9 + 0.06 * np.abs(expected - gravity).max() * lacks)


def test_a_wrench_goal_without_a_sensor_is_refused():
    law, reference = pressing()
    measured = Measurement(Q, np.zeros(3))
    with pytest.raises(ArmError, match='a wrench goal needs wrench: set the simulator'):
        law(law.start(measured, reference), measured, reference, 1e-3)


def test_it_is_made_without_a_warning_for_an_arm_that_cannot_press_downwards():
    model = RobotModel.from_urdf(find_urdf('planar_3r'), armature=0.1)
    with np.errstate(all='raise'):
        Mpc(model, MpcParameters())
