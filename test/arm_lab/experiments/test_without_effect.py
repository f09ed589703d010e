"""An option that changes nothing is refused, with the one that it needs."""

import pytest

import arm_sim
from arm_dynamics.checks import ArmError
from arm_lab.experiments.without_effect import check_effect
from arm_lab.gym.arms import loaded_experiment


@pytest.mark.parametrize(
    ('options', 'line'),
    [
        ({'frequency': 0.5}, "frequency is 0.5; it is of task 'sinusoid', not 'step'"),
        ({'sensors': {'gyro_noise': 0.1}}, 'sensors.gyro_noise is 0.1; without imu_frame'),
        ({'sensors': {'tare_at_reset': True}}, 'without force_torque_frame it does nothi'),
        ({'sensors': {'torque_delay': 2}}, 'without joint_torque it does nothing'),
        ({'joints': {'joint_damping': [1.0]}}, 'without joint_stiffness it does nothing'),
        ({'joints': {'encoders': 'link'}}, 'without joint_stiffness it does nothing'),
        ({'joints': {'joint_substeps': 4}}, 'static_friction or ripple_amplitude it does nothing'),
        (
            {'faults': '[{kind: lost_feedback, time: 1.6}]'},
            "lost_feedback from t = 1.6 s; task 'step' ends at t = 1.6 s, before it",
        ),
        (
            {'faults': '[{kind: offset_encoder, joint: joint_2}]'},
            'offset_encoder of joint_2 from t = 0 s; without value it does nothing',
        ),
    ],
)
def test_what_has_no_effect_is_refused(options, line):
    with pytest.raises(ArmError, match=line):
        arm_sim.run('planar_3r', 'step', law='pd', **options)


@pytest.mark.parametrize(
    ('task', 'options'),
    [
        ('sinusoid', {'frequency': 0.5}),
        ('press', {'sensors': {'force_noise': 0.1}}),  # the task has a sensor
        ('step', {'sensors': {'imu_frame': 'tool0', 'gyro_noise': 0.1}}),
        ('step', {'faults': '[{kind: offset_encoder, joint: elbow_joint, time: 1, value: 0.1}]'}),
        ('step', {'joints': {'joint_substeps': 4, 'static_friction': [20.0]}}),
    ],
)
def test_what_acts_is_not(task, options):
    loaded = loaded_experiment(task, 'ur5e', natural_frequency=0.0, **options)
    assert loaded.task.duration > 0.0
    check_effect(loaded)
