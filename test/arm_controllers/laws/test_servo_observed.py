"""The servo's level that estimates what its model lacks: the cube with a wrong model."""

from dataclasses import replace

import numpy as np
import pytest
from observed_servo import DRIVES, GIVEN, ROBOT, STEP, error_mm, plant, servo
from running_law import RunningLaw

from arm_controllers.laws.servo import Servo, ServoParameters
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.measures import track
from arm_sim.tasks import make_task


@pytest.mark.slow
def test_the_cube_is_drawn_to_a_hundred_thousandth_of_a_millimetre_with_masses_20_percent_off():
    wrong = ModelError(mass_scale=(1.2,))
    assert error_mm('observed', wrong, 0.54) <= 1e-5
    assert error_mm('discrete', wrong, edge_time=0.5) > 1e-3


def test_what_it_learns_is_what_the_true_arm_lacks_under_the_motion_that_it_had():
    wrong = ModelError(mass_scale=(1.3,), com_shift=(0.01, -0.02, 0.015), payload=0.5)
    arm, law, reference = plant(wrong), RunningLaw(servo('observed', 0.0)), Reference(6)
    true, believed = with_error(ROBOT.model, wrong), ROBOT.model
    arm.reset(ROBOT.start)
    lacking = np.zeros(6)
    for k in range(20):
        reference.q[:] = ROBOT.start + 1e-5 * (k + 1) ** 2  # on a parabola
        q, v = arm.q.copy(), arm.v.copy()
        command = law(q, v, reference, STEP)
        np.testing.assert_allclose(law.state.disturbance, lacking, atol=1e-8)
        arm.step(command)
        a = (arm.v - v) / STEP
        lacking = believed.inverse_dynamics(q, v, a) - true.inverse_dynamics(q, v, a)
    assert np.abs(lacking).max() > 1.0


@pytest.mark.slow
def test_pole_of_0_8_halves_the_effect_of_noise_though_every_mass_has_an_error():
    noise = {'position_noise': 1e-5, 'velocity_noise': 1e-3}
    exact = error_mm('discrete', ModelError(), imperfections=noise, edge_time=1.0)
    slow = error_mm('observed', ModelError(mass_scale=(1.2,)), 0.8, noise, edge_time=1.0)
    assert slow <= 0.004 <= 0.5 * exact


@pytest.mark.slow
def test_friction_a_payload_and_masses_that_it_does_not_know_cost_less_than_a_micrometre():
    unknown = ModelError(mass_scale=(1.2,), payload=0.5, friction=(0.5,))
    assert error_mm('observed', unknown, 0.54) <= 5e-4


@pytest.mark.slow
def test_a_plant_that_steps_twice_per_period_is_drawn_with_to_a_thousandth_of_a_millimetre():
    stepping = {'timestep': 0.5 * STEP, 'control_decimation': 2}
    law = Servo(
        ROBOT.model, replace(GIVEN, feedforward='observed', observer_pole=0.54, **stepping)
    )
    for mass_scale in (1.0, 1.2):
        wrong = with_error(ROBOT.model, ModelError(mass_scale=(mass_scale,)))
        arm = MujocoPlant(wrong, replace(DRIVES, **stepping))
        record = make_task('cube', ROBOT, {'edge_time': 1.0}).run(law, arm)
        assert record.completed
        assert 1e3 * track(ROBOT.model, record).error[100:].max() < 2e-3


@pytest.mark.slow
def test_a_joint_that_sticks_is_not_thrown_to_and_fro():
    unknown = ModelError(mass_scale=(1.2,), payload=0.5, friction=(0.5,))
    task, speeds = make_task('cube', ROBOT, {'edge_time': 1.0}), []
    for pole in (0.4, ServoParameters.observer_pole):
        record = task.run(servo('observed', pole), plant(unknown))
        speeds.append(np.abs(record.v[250:, 4]).mean())  # wrist_2 keeps the tool pointing down
    assert speeds[1] < 0.1 * speeds[0]


def test_a_drive_at_its_limit_teaches_nothing():
    ends = []
    for level in ('discrete', 'observed'):
        pole = 0.0 if level == 'observed' else ServoParameters.observer_pole
        arm, law, reference = plant(ModelError()), RunningLaw(servo(level, pole)), Reference(6)
        arm.reset(ROBOT.start)
        reference.q[:] = ROBOT.start + 0.01  # at once: far beyond the drives
        for _ in range(30):
            arm.step(law(arm.q, arm.v, reference, STEP))
        assert np.abs(arm.q - reference.q).max() > 1e-3  # still under way
        ends.append(arm.q.copy())
    np.testing.assert_allclose(*ends, atol=1e-12)


class OneJoint:
    """A model of a mass on a line, which is 1 kg in truth."""

    nv, joint_names = 1, ('slide',)
    effort_limit, damping, has_friction = np.array([np.inf]), np.zeros(1), False

    def __init__(self, mass):
        self.mass = mass

    def neutral(self):
        return np.zeros(1)

    def difference(self, q_0, q_1):
        return q_1 - q_0

    def friction_torque(self, v):
        return np.zeros(1)

    def mass_matrix(self, q):
        return np.array([[self.mass]])

    def inverse_dynamics(self, q, v, a):
        return self.mass * a


@pytest.mark.parametrize(('pole', 'margin'), [(0.0, 0.14), (0.4, 0.52), (0.8, 2.69)])
def test_a_model_that_is_too_heavy_shakes_the_arm_from_the_stated_margin_on(pole, margin):
    ends = []
    for mass in (1.0 + 0.95 * margin, 1.0 + 1.05 * margin):
        gains = ServoParameters(
            feedforward='observed', observer_pole=pole, servo_kp=(1.0,), servo_kd=(0.0,)
        )
        law, reference = RunningLaw(Servo(OneJoint(mass), gains)), Reference(1)
        q, v = np.ones(1), np.zeros(1)
        for _ in range(2000):
            v = v + STEP * (law(q, v, reference, STEP) - q)
            q = q + STEP * v
        ends.append(abs(q[0]))
    assert ends[0] < 1e-6 < 1e3 < ends[1]


def test_observer_pole_without_an_observer_is_refused():
    with pytest.raises(
        ArmError, match=r"observer_pole is 0.5; only feedforward 'observed' has it"
    ):
        replace(GIVEN, feedforward='discrete', observer_pole=0.5)


@pytest.mark.parametrize('level', ['discrete', 'observed'])
@pytest.mark.parametrize('size', [0.1, 1.0])
def test_a_reference_that_jumps_is_reached_within_the_limit_of_speed(level, size):
    task = make_task('step', ROBOT, {'size': size, 'duration': 2.5})
    record = task.run(servo(level), plant(ModelError()))
    assert np.abs(record.v / ROBOT.model.velocity_limit).max() < 1.02
    off = record.q - record.q_reference
    assert (off[record.t < 0.15] < 1e-3).all()
    # Nothing overshoots by more than a tenth of the jump, and the end is reached.
    assert off.max() < 0.1 * size
    assert np.abs(off[record.t > 2.0]).max() < 1e-6
