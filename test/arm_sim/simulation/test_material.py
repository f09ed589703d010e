"""Materials of contacts: which values are allowed, and the restitution of a damper."""

from math import atan2, exp, pi, sqrt

import pytest

from arm_dynamics import ArmError
from arm_sim.simulation.material import Material, damping_of, restitution_of, softer


@pytest.mark.parametrize('z', [0.0, 0.05, 0.3, 0.6, 0.9])
def test_restitution_of_small_steps_is_the_closed_form(z):
    w = sqrt(1.0 - z * z)
    closed = exp(-z / w * (pi - atan2(2.0 * z * w, 1.0 - 2.0 * z * z)))
    assert restitution_of(z, 1e-3) == pytest.approx(closed, rel=1e-3)


@pytest.mark.parametrize('restitution', [0.2, 0.5, 0.9])
def test_damping_gives_the_restitution(restitution):
    damping = damping_of(restitution, 1e4, 2.0, 1e-3)
    ratio, step = damping / (2.0 * sqrt(1e4 * 2.0)), 1e-3 * sqrt(1e4 / 2.0)
    assert restitution_of(ratio, step) == pytest.approx(restitution, abs=1e-6)


def test_a_restitution_that_no_damping_gives_is_refused():
    with pytest.raises(ArmError, match=r'restitution is 0.001; it must be within \[0.0'):
        damping_of(0.001, 1e4, 2.0, 1e-3)


def test_the_softer_body_decides_and_the_smaller_friction_counts():
    soft = Material(stiffness=1e3, damping=3.0, friction=0.2)
    hard = Material(stiffness=1e6, restitution=0.9, friction=0.5)
    for pair in ((soft, hard), (hard, soft)):
        assert softer(*pair) == Material(stiffness=1e3, damping=3.0, friction=0.2)


@pytest.mark.parametrize(
    ('values', 'says'),
    [
        ({'stiffness': 0.0}, 'stiffness is 0'),
        ({'friction': -1.0}, 'friction is -1'),
        ({'restitution': -0.5}, r'restitution is -0.5; it must be within \[0, 1\]'),
        ({'restitution': 0.5, 'damping': 1.0}, 'either damping or restitution, not both'),
        ({'damping': float('nan')}, 'damping is nan'),
    ],
)
def test_bad_materials_are_refused_in_one_line(values, says):
    with pytest.raises(ArmError, match=says):
        Material(**values)
