"""A solver is one file: a user's is used like ours, and what it proposes is checked like ours."""

import sys

import numpy as np
import pinocchio as pin
import pytest
from ikpy_solver import PLUGIN
from numpy.testing import assert_allclose
from plugins import write_plugins

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.inverse_kinematics import Solutions, Solver, solve_ik, solver_names
from arm_dynamics.inverse_kinematics.solver import SOLVERS
from arm_dynamics.robots import find_urdf

Q = np.array([0.4, -1.2, 1.3, -0.7, 1.1, 0.2])
LOOSE = {'position_tolerance': 1e-4, 'orientation_tolerance': 1e-3}


class Proposes(Solver):
    """Calls back."""

    def __init__(self, model, chain):
        self.model = model

    def solve(self, target, task, starts):
        return type(self).answer(starts)


@pytest.fixture
def model(monkeypatch):
    """Return a model that has a solver 'proposes' as well."""
    monkeypatch.setattr(SOLVERS, 'load', lambda name: Proposes)
    monkeypatch.setattr('arm_dynamics.inverse_kinematics.arm.solver_names', lambda: ('proposes',))
    return RobotModel.from_urdf(find_urdf('ur5e'))


def proposed(model, answer, **options):
    Proposes.answer = staticmethod(answer)
    return solve_ik(model, model.forward_kinematics(Q), Q + 0.1, solver='proposes', **options)


@pytest.mark.slow
def test_a_library_from_pypi_solves_through_an_entry_point(tmp_path, monkeypatch):
    assert 'ikpy' not in solver_names()
    monkeypatch.syspath_prepend(str(write_plugins(tmp_path, *PLUGIN)))
    SOLVERS.refresh()
    assert 'ikpy' in solver_names()
    model, rng = RobotModel.from_urdf(find_urdf('ur5e')), np.random.default_rng(1)
    for _ in range(5):
        target = pin.SE3(model.forward_kinematics(model.random_configuration(rng)))
        result = solve_ik(model, target, np.zeros(6), solver='ikpy', **LOOSE)
        assert result.success, result.reason
        assert result.solver == 'ikpy'
        away = target.actInv(model.forward_kinematics(result.q))
        assert np.linalg.norm(away.translation) < 1e-4
        assert np.linalg.norm(pin.log3(away.rotation)) < 1e-3
    far = solve_ik(model, pin.SE3(np.eye(3), np.array([2.0, 0, 0])), solver='ikpy', restarts=1)
    assert 'out of reach' in far.reason  # ikpy itself never reports it
    for name in [name for name in sys.modules if name.startswith('plugins_of_a_user')]:
        del sys.modules[name]
    monkeypatch.undo()
    SOLVERS.refresh()


def test_our_solvers_are_files_of_one_folder():
    names = {'analytic', 'damped_least_squares', 'levenberg_marquardt', 'pseudo_inverse'}
    assert solver_names()[0] == 'auto'
    assert names <= set(solver_names())
    assert {SOLVERS.load(name).__module__.rpartition('.')[2] for name in names} == names


def test_a_proposal_is_turned_to_the_seed(model):
    result = proposed(
        model, lambda starts: Solutions(Q + 2 * np.pi * np.array([1, -1, 0, 1, 0, 0]))
    )
    assert result.success
    assert_allclose(result.q, Q, atol=1e-12)


def test_of_several_proposals_the_one_nearest_to_the_seed_is_taken(model):
    target = model.forward_kinematics(Q).homogeneous
    other = solve_ik(model, target, Q - np.array([0, 0, 3, 0, 0, 0]), solver='analytic')
    assert other.q[2] < 0.0
    result = proposed(model, lambda starts: Solutions(np.array([other.q, Q])))
    assert_allclose(result.q, Q, atol=1e-12)


def test_a_solver_is_started_again_until_a_proposal_is_true(model):
    counted = []

    def answer(starts):
        counted.append(starts)
        return Solutions(Q if len(counted) == 4 else Q + 0.01, iterations=10)

    result = proposed(model, answer)
    assert result.success
    assert (result.iterations, result.restarts) == (40, 3)
    assert_allclose(counted[0], [Q + 0.1])
    assert all(starts.shape == (1, 6) for starts in counted)


def test_the_best_of_false_proposals_is_refused_with_what_it_misses(model):
    false = np.array([Q + 0.02, Q + 0.01, Q - 0.03])
    result = proposed(model, lambda starts: Solutions(false), restarts=2)
    assert not result.success
    assert_allclose(result.q, Q + 0.01)
    missed = (
        model.forward_kinematics(result.q).translation - model.forward_kinematics(Q).translation
    )
    assert_allclose(result.position_error, np.linalg.norm(missed), rtol=1e-9)
    assert 'no solution found from 3 starts; the nearest pose is' in result.reason


def test_a_proposal_beyond_the_limits_is_held_at_them(model):
    limits = 'lower="-3.141592653589793" upper="3.141592653589793"'
    narrow = RobotModel.from_urdf(model.urdf.replace(limits, 'lower="-1" upper="1"'))
    result = proposed(narrow, lambda starts: Solutions([0, 0, 1.5, 0, 0, 0]), restarts=0)
    assert not result.success
    assert_allclose(result.q, [0, 0, 1, 0, 0, 0])


@pytest.mark.parametrize('q', [np.empty((0, 6)), np.full(6, np.nan), np.full((2, 6), np.inf)])
def test_no_finite_proposal_leaves_the_seed(model, q):
    result = proposed(model, lambda starts: Solutions(q), restarts=0)
    assert not result.success
    assert_allclose(result.q, Q + 0.1)
    assert 0.0 < result.position_error < 1.0


@pytest.mark.parametrize(
    ('answer', 'reason'),
    [
        (lambda starts: 1 / 0, 'failed: ZeroDivisionError: division by zero'),
        (lambda starts: None, 'failed: AttributeError'),
        (lambda starts: Solutions(np.zeros(5)), r'proposed an array of shape \(1, 5\)'),
    ],
)
def test_a_solver_that_fails_is_refused_in_one_line(model, answer, reason):
    with pytest.raises(ArmError, match=f"^IK solver 'proposes' {reason}"):
        proposed(model, answer)


def test_a_solver_that_cannot_be_made_for_an_arm_is_refused_in_one_line(model, monkeypatch):
    monkeypatch.setattr(SOLVERS, 'load', lambda name: lambda model, chain: chain.fingers)
    with pytest.raises(
        ArmError, match="^IK solver 'proposes' failed: AttributeError: .*'fingers'"
    ):
        solve_ik(model, model.forward_kinematics(Q), solver='proposes')
