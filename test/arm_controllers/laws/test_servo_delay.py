"""The servo's observed level where commands take some control periods to the drives."""

import numpy as np
import pytest
from observed_servo import DRIVES, GIVEN, ROBOT, STEP, error_mm, plant, servo

from arm_controllers.delayed_drives import DelayedDrives
from arm_controllers.laws.servo import Servo, ServoParameters
from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError
from arm_sim.loop.measures import track
from arm_sim.tasks import make_task

WRONG = ModelError(mass_scale=(1.2,))


def delayed_mm(configured, true, error, pole, **noise):
    """Return the tip's RMS error [mm] after 0.2 s, with one delay configured and one true."""
    given = {**vars(GIVEN), 'feedforward': 'observed', 'observer_pole': pole, 'delay': configured}
    task = make_task('cube', ROBOT, {'edge_time': 0.5})
    law = Servo(ROBOT.model, ServoParameters(**given))
    record = task.run(law, plant(error, delay=true, **noise))
    if not record.completed:
        return np.inf
    return np.sqrt((track(ROBOT.model, record).error[100:] ** 2).mean()) * 1e3


def test_commands_on_their_way_lead_where_the_plant_goes():
    rng, arm = np.random.default_rng(3), plant(ModelError())
    kp, kd = DRIVES.servo_gains(ROBOT.model)
    drives = DelayedDrives(ROBOT.model, kp, kd, STEP, 2)
    q, v = ROBOT.start, rng.uniform(-0.3, 0.3, 6)
    commands = q + rng.uniform(-0.01, 0.01, (3, 6))
    arm.reset(q, v)
    pending = ()
    for command in commands:
        pending = drives.given(pending, command, np.zeros(6))
    ahead = drives.ahead(q, v, np.zeros(6), pending)  # the first of three has had its effect
    for command in commands[1:]:
        arm.step(command)
    np.testing.assert_allclose(ahead[0], arm.q, atol=1e-12)
    np.testing.assert_allclose(ahead[1], arm.v, atol=1e-9)


def test_before_any_command_has_an_effect_the_first_one_does():
    kp, kd = DRIVES.servo_gains(ROBOT.model)
    drives = DelayedDrives(ROBOT.model, kp, kd, STEP, 3)
    nothing = np.zeros(6)
    assert drives.ahead(ROBOT.start, nothing, nothing, ())[0] is ROBOT.start
    pending = drives.given((), ROBOT.start + 0.01, nothing)
    arm = plant(ModelError())
    arm.reset(ROBOT.start)
    for _ in range(3):
        arm.step(ROBOT.start + 0.01)
    ahead, _ = drives.ahead(ROBOT.start, nothing, nothing, pending)
    np.testing.assert_allclose(ahead, arm.q, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize('delay', [1, 2])
def test_a_known_delay_costs_nothing_with_an_exact_model(delay):
    assert delayed_mm(delay, delay, ModelError(), 0.4) < 1e-9


def test_one_unexpected_period_of_delay_makes_the_exact_step_useless():
    late = {'delay': 1}
    assert error_mm('discrete', ModelError(), imperfections=late, edge_time=0.5) > 3.0


@pytest.mark.slow
@pytest.mark.parametrize(('configured', 'true'), [(1, 1), (2, 2), (1, 2), (2, 3)])
def test_pole_of_0_8_tolerates_a_delay_of_one_period_more_and_masses_20_percent_off(
    configured, true
):
    assert delayed_mm(configured, true, WRONG, 0.8) < 0.1


@pytest.mark.slow
def test_noise_does_not_shake_a_law_that_predicts():
    noise = {'position_noise': 1e-5, 'velocity_noise': 1e-3}
    assert delayed_mm(1, 1, WRONG, 0.8, **noise) < 0.02


def test_a_delay_without_a_prediction_is_refused():
    with pytest.raises(ArmError, match=r"delay is 2; only feedforward 'observed' has it"):
        ServoParameters(feedforward='discrete', delay=2)
    assert servo('observed').lookahead == 1
