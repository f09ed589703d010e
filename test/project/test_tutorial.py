"""The lessons in docs/tutorial: what they compute by hand is what the commands give."""

import re

import numpy as np
import pytest
from experiment_parts import run
from repository import ROOT
from scipy.optimize import brentq

from arm_dynamics.model_error import ModelError
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.runs import record_of
from arm_lab.experiments.sweeps import run_sweep
from arm_sim.robot import Robot

LESSONS = ROOT / 'docs' / 'tutorial'
PENDULUM, CONFIG = str(LESSONS / 'pendulum.urdf'), str(LESSONS / 'pendulum.yaml')
WEIGHT, TARGET = 9.81 * 0.5, 1.3  # [N.m], [rad]
INERTIA = 0.25 + 0.0004  # [kg m^2]


def end_of_step(law, frequency=20.0, **others):
    case = Experiment(PENDULUM, 'step', law, config=CONFIG, natural_frequency=frequency, **others)
    return record_of(case).q[-1, 0]


@pytest.mark.parametrize('frequency', [20.0, 28.284])
def test_a_pendulum_stops_where_its_spring_carries_the_weight(frequency):
    kp = INERTIA * frequency**2
    droop = brentq(lambda e: kp * e - WEIGHT * np.sin(TARGET - e), 0.0, 0.2)
    assert end_of_step('pd', frequency) == pytest.approx(TARGET - droop, abs=1e-6)
    assert f'{1e3 * 0.5 * droop:.3g} mm' in (LESSONS / '1_pendulum.md').read_text()


def test_what_is_known_of_gravity_is_carried_and_what_is_wrong_is_not():
    kp = INERTIA * 20.0**2
    assert end_of_step('pd_gravity') == pytest.approx(TARGET, abs=1e-6)
    # An arm 5 % lighter than believed is as far off as one whose model is 5 % too heavy.
    light = end_of_step('pd_gravity', error=ModelError(mass_scale=(1.0 / 1.05,)))
    off = brentq(lambda e: kp * e - WEIGHT * np.sin(TARGET + e) * (1 - 1 / 1.05), 0.0, 0.1)
    assert light - TARGET == pytest.approx(off, abs=1e-6)


def test_computed_torque_tolerates_the_delay_that_its_phase_margin_says():
    kp, kd = 400.0, 40.0
    crossing = np.sqrt((kd**2 + np.sqrt(kd**4 + 4 * kp**2)) / 2)
    longest = np.arctan(kd * crossing / kp) / crossing
    assert round(1e3 * longest, 1) == 32.4
    assert '32.4 ms' in (LESSONS / '4_late.md').read_text()
    at = run_sweep(
        'command_delay', Experiment('ur5e', 'sinusoid', 'pd'), ['computed_torque'], (31, 36)
    )
    assert at.errors[0, 0] < 1.0 < 10.0 < at.errors[0, 1]


def test_a_push_moves_the_elbow_by_itself_over_the_stiffness():
    robot = Robot.load('ur5e')
    push = 0.05 * robot.model.gravity_torque(robot.start)[2]
    inertia = robot.model.mass_matrix(robot.start)[2, 2]
    (numbers,) = re.findall(
        r'([\d.]+)/\(([\d.]+) \* 400\)', (LESSONS / '5_wrong_model.md').read_text()
    )
    assert [float(each) for each in numbers] == [round(abs(push), 2), round(inertia, 3)]


def test_a_contact_bounces_as_a_mass_on_a_spring_and_a_late_damper_drives_it():
    robot = Robot.load('ur5e gripper:=probe')
    jacobian = robot.model.jacobian(robot.start)[2]
    mass = 1.0 / (jacobian @ np.linalg.solve(robot.model.mass_matrix(robot.start), jacobian))
    late, text = 1.5 * 0.002, (LESSONS / '8_contact.md').read_text()
    for number in (
        f'{mass:.2f} kg', f'{0.02 * np.sqrt(4e4 * mass):.2f} N',
        f'{0.02 * np.sqrt(1e6 * mass):.1f} N', f'{1e3 * np.pi * np.sqrt(mass / 4e4):.0f} ms',
        f'{mass * (np.pi / (2 * late)) ** 2 / 1e6:.2f}e6 N/m',
        f'{150 / (2 * np.sqrt(4e4 * mass)):.2f}',
    ):  # fmt: skip
        assert number in text


@pytest.mark.parametrize(
    ('law', 'integrator', 'predicted'),
    [
        ('servo:discrete', 'continuous', lambda v, a, h: h**2 * a / 2),
        ('servo:inverse_dynamics', 'continuous', lambda v, a, h: h * v / 2),
        ('computed_torque', 'implicitfast', lambda v, a, h: 40.0 * h * a / (2 * 400.0)),
    ],
)
def test_the_step_of_a_plant_costs_what_the_lesson_predicts(law, integrator, predicted):
    case = Experiment('ur5e', 'sinusoid', law, integrator=integrator)
    found = run(case).measures.joint_rms_rad
    angular = 2 * np.pi * 0.5  # 0.2 rad at 0.5 Hz
    rms = 0.2 / np.sqrt(2.0)
    expected = predicted(rms * angular, rms * angular**2, case.timestep)
    assert found == pytest.approx(expected, rel=0.1)
    shown = f'{1e6 * expected:.2g}' if expected < 1e-4 else f'{1e6 * expected:.0f}'
    assert f'{shown} microrad' in (LESSONS / '9_same_step.md').read_text()
