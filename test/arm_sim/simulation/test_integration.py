"""The default plant moves as a continuous arm under a held command; SciPy and Pinocchio judge."""

import re
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from arms import chain, revolute
from scipy.integrate import solve_ivp

from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.analytical import AnalyticalPlant
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.simulation.integration import Integration, integration_of, rk4_step
from arm_sim.simulation.mujoco_model import mujoco_model
from arm_sim.simulation.plant import PlantParameters

PERIOD, PERIODS = 0.002, 25
MODEL = RobotModel.from_urdf(find_urdf('ur5e'), armature=0.1)
KP = np.array([2000.0, 2000.0, 2000.0, 500.0, 500.0, 500.0])
KD = 0.2 * KP
SERVO = PlantParameters(
    timestep=PERIOD, actuator='servo', servo_kp=tuple(KP), servo_kd=tuple(KD), effort_limits=False
)
TORQUE = PlantParameters(timestep=PERIOD, actuator='torque', effort_limits=False)
START = np.array([0.3, -1.2, 1.1, -0.7, 0.4, 0.2])
PUSH = ('wrist_3_link', np.array([30.0, -20.0, 10.0, 1.0, 2.0, -1.0]))


def torque_of(parameters, command, q, v):
    return KP * (command - q) - KD * v if parameters.actuator == 'servo' else command


def acceleration(parameters, command, q, v, push):
    """Return dv/dt by Pinocchio: inverse of its mass matrix, and its Jacobian for the push."""
    tau = torque_of(parameters, command, q, v)
    if push is not None:
        frame = MODEL.pin_model.getFrameId(push[0])
        data = MODEL.pin_model.createData()
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        tau = tau + pin.computeFrameJacobian(MODEL.pin_model, data, q, frame, axes).T @ push[1]
    data = MODEL.pin_model.createData()
    bias = pin.nonLinearEffects(MODEL.pin_model, data, q, v)
    mass = pin.crba(MODEL.pin_model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T  # with the rotors
    return np.linalg.solve(mass, tau - bias)


def command_of(parameters, k):
    if parameters.actuator == 'servo':
        return START + 0.05 * np.sin(0.1 * k + np.arange(6))
    return MODEL.gravity_torque(START) + 4.0 * np.sin(0.3 * k + np.arange(6))


def by_scipy(parameters, push=None):
    """Return the states (PERIODS, 12) that DOP853 finds under the held commands."""
    x, states = np.concatenate([START, np.zeros(6)]), []
    for k in range(PERIODS):
        command = command_of(parameters, k)

        def slope(t, x, command=command):
            return np.concatenate([x[6:], acceleration(parameters, command, x[:6], x[6:], push)])

        found = solve_ivp(slope, (0.0, PERIOD), x, 'DOP853', rtol=1e-11, atol=1e-13)
        x = found.y[:, -1]
        states.append(x)
    return np.array(states)


def by_plant(plant, parameters, push=None):
    plant.reset(START)
    if push is not None:
        plant.apply_wrench(*push)
    states = []
    for k in range(PERIODS):
        plant.step(np.broadcast_to(command_of(parameters, k), plant.q.shape).copy())
        states.append(np.concatenate([plant.q.reshape(-1, 6)[-1], plant.v.reshape(-1, 6)[-1]]))
    return np.array(states)


PLANTS = {
    'mujoco': lambda p: MujocoPlant(MODEL, p),
    'analytical': lambda p: AnalyticalPlant(MODEL, p),
    'batch, mujoco': lambda p: BatchPlant([MODEL] * 3, p, 'mujoco'),
    'batch, analytical': lambda p: BatchPlant([MODEL] * 3, p, 'analytical'),
}


@pytest.mark.quick(1)
@pytest.mark.parametrize('push', [None, PUSH], ids=['free', 'pushed'])
@pytest.mark.parametrize('parameters', [SERVO, TORQUE], ids=['servo', 'torque'])
def test_the_default_plant_moves_as_a_continuous_arm(parameters, push):
    true = by_scipy(parameters, push)
    moved = np.abs(true - true[0]).max()
    # After a jump of the command rk4 lacks 3 % of what decays in the first step, and then nothing.
    most = moved * (1e-3 if parameters is SERVO else 1e-9)
    for name, plant in PLANTS.items():
        assert np.abs(by_plant(plant(parameters), parameters, push) - true).max() < most, name
    one_step = by_plant(
        MujocoPlant(MODEL, replace(parameters, integrator='implicitfast')), parameters, push
    )
    assert np.abs(one_step - true).max() > 5.0 * most


def test_efforts_of_servos_that_rk4_steps_are_those_of_the_end():
    # Runge and Kutta's last stage is near the end, and not at it.
    plant = MujocoPlant(MODEL, replace(SERVO, integrator='rk4'))
    plant.reset(START)
    for k in range(PERIODS):
        plant.step(command_of(SERVO, k))
        expected = torque_of(SERVO, command_of(SERVO, k), plant.q, plant.v)
        np.testing.assert_allclose(plant.effort, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.quick(1)
@pytest.mark.parametrize('name', [*PLANTS])
def test_all_plants_of_the_default_agree_to_rounding(name):
    for parameters in (SERVO, TORQUE):
        for push in (None, PUSH):
            one = by_plant(PLANTS['analytical'](parameters), parameters, push)
            np.testing.assert_allclose(
                by_plant(PLANTS[name](parameters), parameters, push), one, rtol=1e-9, atol=1e-11
            )


def test_dry_friction_of_a_batch_is_that_of_one_arm_and_holds_a_joint():
    rough = MODEL.with_joints(MODEL.armature, MODEL.damping, np.full(6, 3.0))
    plants = AnalyticalPlant(rough, TORQUE), BatchPlant([rough, MODEL], TORQUE, 'analytical')
    for plant in plants:
        plant.reset(START, np.full(6, 0.2))
    for k in range(60):
        command = MODEL.gravity_torque(plants[0].q) + np.sin(0.1 * k)
        for plant in plants:
            plant.step(np.broadcast_to(command, plant.q.shape).copy())
    one, many = plants
    np.testing.assert_allclose(many.q[0], one.q, atol=1e-12)
    np.testing.assert_allclose(many.v[0], one.v, atol=1e-11)
    assert np.abs(one.v[2:]).max() < 1e-9 < 1e-3 < np.abs(many.v[1, 2:]).min()


@pytest.mark.parametrize('name', [*PLANTS])
def test_an_imu_feels_the_acceleration_of_the_instant(name):
    plant, command = PLANTS[name](replace(SERVO, imu_frame='wrist_3_link')), START + 0.05
    plant.reset(START)
    plant.step(np.broadcast_to(command, plant.q.shape).copy())
    q, v = plant.q.reshape(-1, 6)[-1], plant.v.reshape(-1, 6)[-1]
    a = acceleration(SERVO, command, q, v, None)
    motion = MODEL.frame_motion(q, v, a, 'wrist_3_link')
    felt = motion.rotation.T @ (motion.acceleration[:3] - MODEL.gravity)
    found = plant.measured.readings['imu'].reshape(-1, 10)[-1, 7:]
    np.testing.assert_allclose(found, felt, rtol=1e-5)
    mean = 0.5 * (START + q) - PERIOD / 12.0 * v  # the effort is that of the period
    effort = KP * (command - mean) - KD * (q - START) / PERIOD
    np.testing.assert_allclose(plant.effort.reshape(-1, 6)[-1], effort, atol=1e-8)


def test_the_steps_follow_drives_and_what_is_not_smooth():
    assert integration_of([MODEL], [TORQUE]) == Integration('rk4', 1)
    assert integration_of([MODEL], [SERVO]) == Integration('rk4', 3)
    assert integration_of([MODEL], [replace(TORQUE, timestep=0.01)]) == Integration('rk4', 5)
    stepped = replace(SERVO, integrator='implicitfast')
    assert integration_of([MODEL], [stepped]) == Integration('implicitfast', 1)
    touching = replace(SERVO, contacts=True)
    assert integration_of([MODEL], [touching]) == Integration('implicitfast', 8)
    # Arms of a batch take the steps of the one that needs most.
    stiff = replace(SERVO, servo_kd=tuple(4.0 * KD))
    assert integration_of([MODEL] * 2, [SERVO, stiff]) == integration_of([MODEL], [stiff])
    step = mujoco_model(MODEL, SERVO).opt.timestep
    assert step == pytest.approx(PERIOD / 3)


def test_a_step_of_rk4_is_of_the_fourth_order():
    def end(count):
        q, v = np.array([1.0]), np.array([0.0])
        for _ in range(count):
            rk4_step(lambda q, v: -q, q, v, 1.0 / count)
        return q[0] - np.cos(1.0)

    assert end(10) / end(20) == pytest.approx(16.0, rel=0.1)


@pytest.mark.slow
def test_half_the_step_changes_no_printed_digit_of_a_tracking_error(monkeypatch):
    import arm_sim
    from arm_sim.engines import mujoco

    def printed():
        runs = [
            arm_sim.run('ur5e', 'sinusoid', law, timestep=PERIOD, natural_frequency=0.0)
            for law in ('servo', 'computed_torque', 'pd')
        ]
        return [f'{run.measures["tracking_rms_mm"]:.3g}' for run in runs]

    before = printed()

    def halved(models, each):
        own = integration_of(models, each)
        return own._replace(steps=2 * own.steps)

    monkeypatch.setattr(mujoco, 'integration_of', halved)
    assert printed() == before


def test_steps_suit_the_stretched_arm_whose_coaxial_joints_move_least():
    axes = ('0 0 1', '0 1 0', '0 0 1')
    joints = [revolute(f'j{i}', 'xyz="0 0 0.3"', axis) for i, axis in enumerate(axes)]
    slim = re.sub('izz="[^"]*"', 'izz="1e-4"', chain('stretched', joints))
    model = RobotModel('izz="0.02"'.join(slim.rsplit('izz="1e-4"', 1)))
    drives = replace(SERVO, servo_kp=(500.0,), servo_kd=(20.0,))
    decay = 20.0 * np.linalg.eigvalsh(np.linalg.inv(model.mass_matrix(model.neutral())))[-1]
    assert PERIOD * decay / integration_of([model], [drives]).steps < 2.78  # rk4 is stable below
