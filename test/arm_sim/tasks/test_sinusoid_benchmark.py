"""The planar sinusoid benchmark: its true numbers, far below the published bar of 0.5 deg."""

import numpy as np
import pytest
from experiment_parts import imperfect
from running_law import RunningLaw

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.laws.pd import PD, PDParameters
from arm_controllers.laws.pd_feedforward import PDFeedforward, PDFeedforwardParameters
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.events import Push
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters
from arm_sim.tasks import make_task
from arm_sim.tasks.sinusoid import JointSinusoid

KP, KD = (200.0, 200.0, 80.0), (20.0, 20.0, 8.0)
SINUSOID = JointSinusoid((0.3, 0.2, 0.4), 0.5)
PLANT = PlantParameters(actuator='torque', timestep=1e-3, integrator='euler')
STATED = (0.0085473, 0.0049239, 0.0079182)  # [deg]
PD_ALONE = (7.196, 2.940, 0.782)


@pytest.fixture(scope='module')
def arm():
    return RobotModel.from_urdf(find_urdf('planar_3r'), gravity=(0.0, 0.0, -9.80665))


@pytest.fixture(scope='module')
def stated_law(arm):
    return PDFeedforward(arm, PDFeedforwardParameters(KP, KD, 'measured'))


@pytest.fixture(scope='module')
def pd_alone(arm):
    return PD(arm, PDParameters(KP, KD))


def rms_degrees(record):
    return np.degrees(np.sqrt(np.mean((record.q - record.q_reference) ** 2, axis=0)))


def test_stated_law_by_hand_in_semi_implicit_euler(arm, stated_law):
    """The benchmark as it is written down, with nothing of the simulator's."""
    reference, dt, squares = Reference(3), 1e-3, np.zeros(3)
    law = RunningLaw(stated_law)
    SINUSOID.evaluate(0.0, reference)
    q, v = reference.q.copy(), reference.v.copy()
    for i in range(2000):
        SINUSOID.evaluate(i * dt, reference)
        squares += (reference.q - q) ** 2
        v = v + dt * arm.forward_dynamics(q, v, law(q, v, reference, dt))
        q = q + dt * v
    rms = np.degrees(np.sqrt(squares / 2000))
    np.testing.assert_allclose(rms, STATED, atol=5e-8)
    assert rms.max() < 0.0086


def test_stated_law_in_the_simulator_gives_the_same_digits(arm, stated_law):
    rms = rms_degrees(run_closed_loop(MujocoPlant(arm, PLANT), stated_law, SINUSOID.evaluate, 2.0))
    np.testing.assert_allclose(rms, STATED, atol=5e-8)


@pytest.mark.slow
def test_a_goal_that_starts_on_the_sinusoid_is_the_sinusoid_from_the_first_sample_on(arm):
    """What the nodes follow: the arm moves when the controller takes over, then the goal comes."""
    given = {'amplitude': SINUSOID.amplitude.tolist()}
    goal = make_task('sinusoid', Robot('planar_3r', arm, np.zeros(3)), given).goal()
    assert (goal.start_ns, goal.times[0]) == (0, 0.0)
    follower, reference = TrajectoryFollower(arm, FollowerParameters()), Reference(3)
    SINUSOID.evaluate(0.0, reference)
    follower.activate(0, reference.q, reference.v)
    first = follower.update(0, reference.q, reference.v).copy()
    np.testing.assert_array_equal(first.row, reference.row)
    follower.set_goal(goal, 0)
    for i in range(2000):
        SINUSOID.evaluate(i * 1e-3, reference)
        followed = follower.update(i * 1_000_000, reference.q, reference.v)
        np.testing.assert_allclose(followed.q, reference.q, atol=1e-12)
        np.testing.assert_allclose(followed.a, reference.a, atol=1e-7)


def test_pd_alone_misses_by_seven_degrees(arm, pd_alone):
    rms = rms_degrees(run_closed_loop(MujocoPlant(arm, PLANT), pd_alone, SINUSOID.evaluate, 2.0))
    np.testing.assert_allclose(rms, PD_ALONE, atol=5e-4)


def test_unknown_friction_costs_its_torque_over_the_stiffness(arm, stated_law):
    rough = with_error(arm, ModelError(friction=(0.5,)))
    rms = rms_degrees(
        run_closed_loop(MujocoPlant(rough, PLANT), stated_law, SINUSOID.evaluate, 2.0)
    )
    np.testing.assert_allclose(rms[2], np.degrees(0.5 / KP[2]), rtol=0.2)  # the last rod, alone
    assert rms.min() > 10.0 * max(STATED)


def test_sinusoid_velocity_and_acceleration_are_its_derivatives():
    sinusoid = JointSinusoid((0.3, -0.2), 0.7, (1.0, 2.0))
    before, here, after, h = Reference(2), Reference(2), Reference(2), 1e-5
    for t in (0.0, 0.3, 1.1):
        sinusoid.evaluate(t - h, before)
        sinusoid.evaluate(t, here)
        sinusoid.evaluate(t + h, after)
        np.testing.assert_allclose((after.q - before.q) / (2 * h), here.v, atol=1e-8)
        np.testing.assert_allclose((after.v - before.v) / (2 * h), here.a, atol=1e-7)


def test_two_runs_are_bit_identical(arm, stated_law):
    plant = MujocoPlant(arm, PLANT)
    one, two = (run_closed_loop(plant, stated_law, SINUSOID.evaluate, 0.5) for _ in range(2))
    np.testing.assert_array_equal(one.q, two.q)
    np.testing.assert_array_equal(one.effort, two.effort)


def test_noise_is_seeded_and_worsens_tracking(arm, stated_law):

    def run(seed):
        noisy = MujocoPlant(arm, imperfect(PLANT, 0, 1e-4, 1e-3, seed))
        return run_closed_loop(noisy, stated_law, SINUSOID.evaluate, 0.5)

    np.testing.assert_array_equal(run(1).q, run(1).q)
    assert np.abs(run(1).q - run(2).q).max() > 0.0


def test_delay_holds_the_first_command_and_then_shifts_commands(arm):
    class Ramp:
        command_interface, lookahead, needs = 'effort', 0, ()

        def start(self, measured, reference):
            return (0,)

        def __call__(self, state, measured, reference, dt):
            count = state[0] + 1
            return np.full(3, 0.01 * count), (count,)

    record = run_closed_loop(
        MujocoPlant(arm, imperfect(PLANT, 3)), Ramp(), SINUSOID.evaluate, 0.008
    )
    np.testing.assert_allclose(100.0 * record.effort[:, 0], [1, 1, 1, 1, 2, 3, 4, 5])


def test_a_push_acts_from_its_start_to_its_end(arm, pd_alone):
    still = JointSinusoid((0.0, 0.0, 0.0))
    push = Push('tool', (0.0, 5.0, 0.0, 0.0, 0.0, 0.0), 0.1, 0.2)
    record = run_closed_loop(
        MujocoPlant(arm, PLANT), pd_alone, still.evaluate, 3.0, events=push.events()
    )
    assert np.abs(record.q[:101]).max() == 0.0
    assert np.abs(record.q[150:250]).max() > 1e-3
    np.testing.assert_allclose(record.q[-1], 0.0, atol=1e-3)


def test_an_unstable_loop_ends_with_finite_rows(arm):
    law = PD(arm, PDParameters((1e9,), (0.0,)))
    free = PlantParameters(
        actuator='torque', timestep=1e-2, integrator='euler', effort_limits=False
    )
    record = run_closed_loop(
        MujocoPlant(arm, imperfect(free, 0, 1e-3)), law, SINUSOID.evaluate, 5.0
    )
    assert np.isfinite(record.q).all()


def test_a_law_for_another_actuator_is_refused(arm, pd_alone):
    with pytest.raises(ArmError, match="law commands 'effort', the plant takes 'position'"):
        run_closed_loop(MujocoPlant(arm, PlantParameters()), pd_alone, SINUSOID.evaluate, 0.1)
