"""Identities that any rigid-body model has to obey, and Pinocchio against MuJoCo, on many arms."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from arms import ARMS, load_arm, without_shapes
from numpy.testing import assert_allclose

from arm_dynamics import RobotModel

STATES = 8


def random_states(model: RobotModel, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(STATES):
        q = model.random_configuration(rng)
        yield q, *rng.normal(size=(2, model.nv))


def scale(values) -> float:
    return 1.0 + float(np.abs(values).max())


@pytest.mark.parametrize('name', ARMS)
def test_mass_matrix_is_symmetric_and_positive(name):
    model = load_arm(name)
    for q, _, _ in random_states(model, 1):
        mass = model.mass_matrix(q)
        assert_allclose(mass, mass.T, rtol=0, atol=0)
        assert np.linalg.eigvalsh(mass).min() > 0.0


@pytest.mark.parametrize('name', ARMS)
def test_mass_rate_minus_twice_coriolis_is_skew(name):
    model, h = load_arm(name), 1e-5
    for q, v, _ in random_states(model, 2):
        rate = (model.mass_matrix(q + h * v) - model.mass_matrix(q - h * v)) / (2 * h)
        coriolis = model.coriolis_matrix(q, v)
        # Exactly: Mdot = C + C^T. The derivative is numerical, the identity for x^T N x is not.
        skew = rate - 2.0 * coriolis
        assert_allclose(skew + skew.T, 0.0, atol=1e-7 * scale(coriolis))


@pytest.mark.parametrize('name', ARMS)
def test_inverse_dynamics_is_mass_coriolis_gravity_and_friction(name):
    model = load_arm(name)
    for q, v, a in random_states(model, 3):
        bias = model.coriolis_matrix(q, v) @ v + model.gravity_torque(q)
        expected = model.mass_matrix(q) @ a + bias + model.friction_torque(v)
        tau = model.inverse_dynamics(q, v, a)
        assert_allclose(tau, expected, atol=1e-12 * scale(tau))
        assert_allclose(model.bias_torque(q, v), bias, atol=1e-12 * scale(bias))


@pytest.mark.parametrize('name', ARMS)
def test_forward_dynamics_inverts_inverse_dynamics(name):
    model = load_arm(name)
    for q, v, a in random_states(model, 4):
        tau = model.inverse_dynamics(q, v, a)
        condition = np.linalg.cond(model.mass_matrix(q))
        found = model.forward_dynamics(q, v, tau)
        assert_allclose(found, a, atol=1e-14 * condition * scale(tau))


@pytest.mark.parametrize('name', ARMS)
def test_kinetic_energy_grows_by_the_power_of_torque_less_gravity_and_friction(name):
    model, h = load_arm(name), 1e-5
    for q, v, a in random_states(model, 5):
        tau = model.inverse_dynamics(q, v, a)

        def energy(t, q=q, v=v, a=a):
            speed = v + t * a
            return 0.5 * speed @ model.mass_matrix(q + t * v + 0.5 * t * t * a) @ speed

        growth = (energy(h) - energy(-h)) / (2 * h)
        power = v @ (tau - model.gravity_torque(q) - model.friction_torque(v))
        assert_allclose(growth, power, atol=1e-7 * scale(tau))


@pytest.mark.parametrize('name', ARMS)
def test_gravity_torque_is_the_gradient_of_potential_energy(name):
    model, h = load_arm(name), 1e-5

    def potential(q):
        return pin.computePotentialEnergy(model.pin_model, model.pin_data, model.to_pin(q))

    for q, _, _ in random_states(model, 6):
        gradient = [
            (potential(q + h * e) - potential(q - h * e)) / (2 * h) for e in np.eye(model.nv)
        ]
        gravity = model.gravity_torque(q)
        assert_allclose(gravity, gradient, atol=1e-7 * scale(gravity))


class MujocoArm:
    """The same URDF in MuJoCo, joints in our order."""

    def __init__(self, model: RobotModel):
        spec = mujoco.MjSpec.from_string(without_shapes(model.urdf))
        spec.compiler.fusestatic = False
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        joints = [self.model.joint(name) for name in model.joint_names]
        self.q = np.array([joint.qposadr[0] for joint in joints])
        self.v = np.array([joint.dofadr[0] for joint in joints])

    def at(self, q, v) -> mujoco.MjData:
        self.data.qpos[self.q], self.data.qvel[self.v] = q, v
        mujoco.mj_forward(self.model, self.data)
        return self.data


@pytest.mark.parametrize('name', ARMS)
def test_pinocchio_and_mujoco_agree(name):
    model = load_arm(name)
    arm = MujocoArm(model)
    tip = arm.model.body(model.tip_frame).id
    for q, v, _ in random_states(model, 7):
        data = arm.at(q, v)
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(arm.model, data, mass)
        mass = mass[np.ix_(arm.v, arm.v)]
        bias = model.bias_torque(q, v)
        pose = model.forward_kinematics(q)
        jacobian = np.zeros((6, model.nv))
        mujoco.mj_jacBody(arm.model, data, jacobian[:3], jacobian[3:], tip)
        assert_allclose(model.mass_matrix(q), mass, atol=1e-9 * scale(mass))
        assert_allclose(data.qfrc_bias[arm.v], bias, atol=1e-9 * scale(bias))
        assert_allclose(data.xpos[tip], pose.translation, atol=1e-9)
        assert_allclose(data.xmat[tip].reshape(3, 3), pose.rotation, atol=1e-9)
        assert_allclose(jacobian[:, arm.v], model.jacobian(q), atol=1e-9)
        gravity = arm.at(q, np.zeros(model.nv)).qfrc_bias[arm.v]
        assert_allclose(gravity, model.gravity_torque(q), atol=1e-9 * scale(gravity))
