"""Generated code against Pinocchio, on shipped arms and on random trees."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_trees import model_of

from arm_dynamics import RobotModel
from arm_dynamics.compiled import CompiledModel, algorithms
from arm_dynamics.compiled.expressions import Program
from arm_dynamics.compiled.links import links_of
from arm_dynamics.compiled.sincos import sincos
from arm_dynamics.compiled.source import module_source
from arm_dynamics.model import STANDSTILL
from arm_dynamics.robots import find_urdf

ARMS = ('five_joint_arm', 'ur5e', 'ur5e_menagerie', 'planar_3r', 'mr_three_link', 'tree1')


@pytest.fixture(scope='module', params=ARMS)
def arm(request):
    model = model_of(request.param)
    return model, CompiledModel(model), np.random.default_rng(7)


@pytest.mark.slow
def test_dynamics_equal_pinocchio(arm):
    model, compiled, rng = arm
    for _ in range(20):
        q, v, a, tau = rng.normal(size=(4, model.nv))
        expected = model.forward_dynamics(q, v, tau)
        scale = max(1.0, np.abs(expected).max())
        assert_allclose(compiled.forward_dynamics(q, v, tau) / scale, expected / scale, atol=1e-11)
        assert_allclose(
            compiled.inverse_dynamics(q, v, a), model.inverse_dynamics(q, v, a), atol=1e-12
        )
        assert_allclose(compiled.mass_matrix(q), model.mass_matrix(q), atol=1e-13)


@pytest.mark.slow
def test_articulated_bodies_equal_the_factorised_mass_matrix(arm):
    model, compiled, rng = arm
    n = model.nv
    q, v, tau = rng.normal(size=(3, n))
    a, load, free = np.zeros(n), np.zeros(n), np.ones(n)
    compiled.module.articulated_dynamics(q, v, tau, free, np.zeros(n), np.zeros(n), a, load)
    expected = compiled.forward_dynamics(q, v, tau)
    assert_allclose(a, expected, atol=1e-10 * max(1.0, np.abs(expected).max()))


def operation_count(program, values):
    """Return how many additions, multiplications and divisions the values take."""
    text = ' '.join(program.statements([('result', value) for value in values]))
    return sum(text.count(f' {operation} ') for operation in '+-*/')


@pytest.mark.parametrize(
    ('name', 'factorised', 'articulated'), [('five_joint_arm', 519, 714), ('ur5e', 890, 1159)]
)
def test_factorising_the_mass_matrix_takes_fewer_operations(name, factorised, articulated):
    model = model_of(name)
    program, joints = Program(), model.nv
    inputs = [program.inputs(each, joints) for each in ('q', 'sine', 'cosine', 'v', 'tau', 'm')]
    arm = algorithms.PlacedArm.of(links_of(model), model.gravity, *inputs[:3])
    (values,) = algorithms.factorised_dynamics(arm, *inputs[3:])
    assert operation_count(program, values) == factorised
    values, _ = algorithms.articulated_dynamics(arm, *inputs[3:5], [1.0] * joints)
    assert operation_count(program, values) == articulated


@pytest.mark.quick(1)
def test_rotors_and_friction_equal_those_of_the_model(arm):
    model, _, rng = arm
    q, v, a, tau = rng.normal(size=(4, model.nv))
    armature, damping, friction = rng.uniform(0.1, 1.0, (3, model.nv))
    rough = RobotModel(model.urdf, None, model.gravity, armature, damping, friction)
    compiled = CompiledModel(rough)
    inertia = model.mass_matrix(q) + np.diag(armature)
    drag = damping * v + friction * np.clip(v / STANDSTILL, -1, 1)
    expected = np.linalg.solve(inertia, tau - model.bias_torque(q, v) - drag)
    assert_allclose(compiled.mass_matrix(q), inertia, atol=1e-13)
    assert_allclose(compiled.forward_dynamics(q, v, tau), expected, rtol=1e-10, atol=1e-10)
    assert_allclose(
        compiled.inverse_dynamics(q, v, a), rough.inverse_dynamics(q, v, a), atol=1e-12
    )
    assert_allclose(compiled.bias_torque(q, v), model.bias_torque(q, v), atol=1e-12)


@pytest.mark.quick(1)
def test_placements_carry_the_tip_where_pinocchio_has_it(arm):
    model, compiled, rng = arm
    q = rng.normal(size=model.nv)
    rotation, origin = compiled.placements(q)
    link, point = compiled.point_on_link(model.tip_frame)
    expected = model.forward_kinematics(q).translation
    assert_allclose(origin[link] + rotation[link] @ point, expected, atol=1e-14)


def test_sine_and_cosine_are_right_to_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-s, s, 20_000) for s in (1e-8, 1.0, 30.0, 1e5)])
    x = np.concatenate([x, np.arange(-40, 41) * np.pi / 4])
    sine, cosine = np.empty_like(x), np.empty_like(x)
    sincos(x, sine, cosine)
    assert_allclose(sine, np.sin(x), rtol=3e-16, atol=2e-17)
    assert_allclose(cosine, np.cos(x), rtol=3e-16, atol=2e-17)


def test_expressions_fold_constants_and_share_what_is_the_same():
    program = Program()
    x, y = program.inputs('x', 2)
    assert x * 0.0 == 0.0
    assert x + 0.0 is x
    assert x * 1.0 is x
    negative = -x
    assert -negative is x
    assert x - x == 0.0
    assert x * y is y * x
    assert -(x - y) is y - x
    assert operation_count(program, [x * y + x * y, (x + y) * (y + x)]) == 4


def test_an_output_may_overwrite_an_input():
    program = Program()
    x, y = program.inputs('x', 2)
    names = {'x': [2.0, 3.0]}
    exec('\n'.join(program.statements([('x[0]', x + y), ('x[1]', x * y)])), names)
    assert names['x'] == [5.0, 6.0]


@pytest.mark.slow
def test_building_is_said_once_and_the_next_process_loads_from_the_cache(tmp_path):
    code = (
        'from arm_dynamics import RobotModel; from arm_dynamics.robots import find_urdf\n'
        'from arm_dynamics.compiled import CompiledModel\n'
        "c = CompiledModel(RobotModel.from_urdf(find_urdf('planar_3r')))\n"
        'c.forward_dynamics([0, 0, 0], [0, 0, 0], [0, 0, 0]); c.mass_matrix([0, 0, 0])\n'
        'print(c.module.forward_dynamics.stats.cache_hits.total())\n'
    )

    def run():
        return subprocess.run(
            [sys.executable, '-c', code],
            env={'XDG_CACHE_HOME': str(tmp_path), 'PYTHONPATH': ':'.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )

    first = run()
    assert first.stderr.count('compiling the dynamics of') == 1
    assert first.stdout.strip() == '0'
    second = run()
    assert second.stderr == ''
    assert second.stdout.strip() == '1'


def test_no_product_and_sum_are_fused_so_that_bits_do_not_depend_on_the_loop_around_them():
    assert 'fastmath' not in module_source(RobotModel.from_urdf(find_urdf('ur5e')))
