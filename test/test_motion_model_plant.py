"""The motion model as an engine: it moves as its second-order design says."""

import numpy as np
import pytest

from arm_controllers.laws.servo import Servo, ServoParameters
from arm_controllers.reference import Reference
from arm_controllers.sinusoid import Sinusoid
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.published.second_order import step_response
from arm_dynamics.robots import find_urdf
from arm_sim.plants.motion_model_plant import MotionModelParameters, MotionModelPlant
from arm_sim.plants.plant import check_model
from arm_sim.runs.closed_loop import Push, run_closed_loop

Q = np.array([0.1, -1.2, 1.1, -0.6, 0.9, 0.2])


@pytest.fixture(scope='module')
def ur5e():
    return RobotModel.from_urdf(find_urdf('ur5e'))


def positions_only(model):
    """The servo law that sends the reference's position and nothing else."""
    return Servo(model, ServoParameters('none'))


@pytest.mark.parametrize('motion_type', ['computed_torque', 'independent_joint'])
def test_a_step_is_answered_as_designed(ur5e, motion_type):
    plant = MotionModelPlant(
        ur5e,
        MotionModelParameters(
            motion_type=motion_type, natural_frequency=(10.0,), damping_ratio=(0.5,)
        ),
    )
    plant.reset(Q)
    plant.step(Q + 0.2)  # the reference moves there within one period
    start, positions = plant.q.copy(), []
    for _ in range(500):
        plant.step(Q + 0.2)
        positions.append(plant.q.copy())
    t = 0.002 * np.arange(1, 501)
    expected = step_response(t + 0.002, 10.0, 0.5)  # one period has passed before
    share = (np.array(positions) - Q) / 0.2
    np.testing.assert_allclose(share, expected[:, np.newaxis] * np.ones(6), atol=1e-6)
    assert np.abs(start - Q).max() < 0.2


def test_settling_time_and_overshoot_are_parameters(ur5e):
    plant = MotionModelPlant(ur5e, MotionModelParameters(settling_time=(0.5,), overshoot=(0.1,)))
    plant.reset(Q)
    share = []
    for _ in range(400):
        plant.step(Q + 0.2)
        share.append((plant.q[0] - Q[0]) / 0.2)
    share = np.array(share)
    np.testing.assert_allclose(share.max(), 1.1, atol=1e-3)
    settled = 0.002 * (1 + np.flatnonzero(np.abs(share - 1.0) > 0.02)[-1])
    np.testing.assert_allclose(settled, 0.5, atol=0.004)


def test_a_moving_reference_is_followed_by_each_type(ur5e):
    sinusoid, inertia = Sinusoid((0.2,) * 6, 0.5, Q), ur5e.mass_matrix(Q).diagonal()
    for motion_type in ('computed_torque', 'pd', 'independent_joint'):
        parameters = MotionModelParameters(
            motion_type=motion_type,
            servo_kp=tuple(400.0 * inertia),
            servo_kd=tuple(40.0 * inertia),
        )
        record = run_closed_loop(
            MotionModelPlant(ur5e, parameters), positions_only(ur5e), sinusoid.evaluate, 2.0
        )
        assert record.completed
        assert np.abs(record.q - record.q_reference).max() < 0.06


def test_a_push_moves_rigid_bodies_but_not_independent_joints(ur5e):
    def hold(t, reference: Reference) -> None:
        reference.row[:] = 0.0
        reference.q[:] = Q

    push = Push(
        'tool0' if 'tool0' in ur5e.frame_names else ur5e.tip_frame, (0, 20.0, 0, 0, 0, 0), 0.1, 0.3
    )
    plant = MotionModelPlant(ur5e, MotionModelParameters())
    record = run_closed_loop(plant, positions_only(ur5e), hold, 1.0, push.events())
    assert np.abs(record.q[140] - Q).max() > 1e-3
    np.testing.assert_allclose(record.q[-1], Q, atol=1e-3)
    stiff = MotionModelPlant(ur5e, MotionModelParameters(motion_type='independent_joint'))
    with pytest.raises(ArmError, match='independent joints have no dynamics'):
        stiff.apply_wrench(push.frame, push.wrench)


def test_model_and_plant_agree(ur5e):
    rough = RobotModel.from_urdf(ur5e.urdf, armature=0.1, damping=0.2, friction=0.3)
    plant = MotionModelPlant(rough, MotionModelParameters())
    assert check_model(plant, rough) < 1e-12


@pytest.mark.parametrize(
    ('fields', 'message'),
    [
        ({'motion_type': 'pd', 'servo_kd': (400.0,)}, "motion type 'pd' is stable below"),
        ({'motion_type': 'magic'}, "motion_type is 'magic'; allowed: computed_torque"),
        ({'actuator': 'torque'}, "actuator .* is 'torque'; allowed: servo"),
        ({'damping_ratio': (0.0,)}, 'damping_ratio of joint .* must be > 0'),
        ({'settling_time': (1.0,), 'overshoot': (1.0,)}, r'overshoot is 1.0; it must be a share'),
    ],
)
def test_bad_parameters_are_refused(ur5e, fields, message):
    with pytest.raises(ArmError, match=message):
        MotionModelPlant(ur5e, MotionModelParameters(**fields))
