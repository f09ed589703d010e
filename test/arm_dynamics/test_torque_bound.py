"""The bound of torque derivatives: a pendulum's closed form, and polynomials through torques."""

import numpy as np
import pytest
from mimic_arm import mimic_urdf
from numpy.polynomial import Chebyshev
from random_trees import model_of

from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_dynamics.torque_bound import TorqueBound

PENDULUM = """<robot name="pendulum"><link name="base"/>
  <joint name="swing" type="revolute"><parent link="base"/><child link="rod"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="10" velocity="9"/></joint>
  <link name="rod"><inertial><origin xyz="0 0 -0.4"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>
  </inertial></link></robot>"""


def bound_of(model):
    return TorqueBound(model, model.inertial_parameters()[np.newaxis])


def test_it_is_exact_for_a_pendulum_at_constant_velocity():
    rates = np.zeros((1, 8, 1))
    rates[0, 1] = 3.0
    expected = 2.0 * 9.81 * 0.4 * 3.0**5  # tau = m g l sin(w t)
    np.testing.assert_allclose(bound_of(RobotModel(PENDULUM))(rates), [[expected]], rtol=1e-12)


def test_an_axis_along_gravity_adds_no_weight():
    model = RobotModel(PENDULUM.replace('0 1 0', '0 0 1'))
    rates = np.zeros((1, 8, 1))
    rates[0, 1] = 3.0
    np.testing.assert_array_equal(bound_of(model)(rates), 0.0)


@pytest.mark.parametrize('name', ['tree0', 'tree1', 'tree5', 'tree8', 'ur5e', 'mimics'])
def test_no_fifth_derivative_exceeds_it(name):
    model = RobotModel(mimic_urdf()) if name == 'mimics' else model_of(name)
    model = model.with_joints(*np.zeros((3, model.nv)))
    rng, half = np.random.default_rng(3), 0.05
    times = half * np.cos(np.pi * (np.arange(25) + 0.5) / 25)
    ratios = []
    for _ in range(5):
        motion = [np.polynomial.Polynomial(rng.normal(size=6)) for _ in range(model.nv)]
        states = [[p.deriv(k)(times) for p in motion] for k in range(3)]
        tau = [model.inverse_dynamics(*x) for x in zip(*np.swapaxes(states, 1, 2), strict=True)]
        fits = [
            Chebyshev.fit(times, x, 18, domain=(-half, half)).deriv(5) for x in np.transpose(tau)
        ]
        fifth = np.array([np.abs(fit(0.8 * times)).max() for fit in fits])  # ends are inexact
        dense = np.linspace(-half, half, 201)
        rates = [
            [np.abs(p.deriv(k)(dense)).max() if k < 6 else 0.0 for p in motion] for k in range(8)
        ]
        bound = bound_of(model)(np.array([rates]))[0]
        assert (fifth <= bound).all()
        ratios.append(np.max(fifth / bound))
    assert max(ratios) > 1e-4  # it bounds this torque, and not just any


def test_bounds_grow_with_mass_and_rates():
    model = RobotModel(find_urdf('planar_3r'))
    rates = np.random.default_rng(0).uniform(0.5, 1.0, (4, 8, 3))
    bound = bound_of(model)(rates)
    twice = TorqueBound(model, 2.0 * model.inertial_parameters()[np.newaxis])(rates)
    np.testing.assert_allclose(twice, 2.0 * bound, rtol=1e-12)
    assert (bound_of(model)(1.1 * rates) > bound).all()
