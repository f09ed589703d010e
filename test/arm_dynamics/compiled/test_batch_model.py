"""Dynamics of many arms side by side against Pinocchio, arm by arm, and against themselves."""

import numpy as np
import pinocchio as pin
import pytest
from mimic_arm import short_mimic_arm
from numpy.testing import assert_allclose, assert_array_equal
from random_trees import model_of, random_tree_urdf
from stacked_model import StackedModel

from arm_dynamics import RobotModel
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.small_matrices import (
    inverse_axes,
    product,
    rotation_vector,
    solve_positive,
    times,
)
from arm_dynamics.small_matrix_stacks import orthogonal_rows, solved

ARM = 'tree1'  # branched, with prismatic joints and odd frames
FUNCTIONS = {  # how many arrays each takes
    'mass_matrix': 1, 'coriolis_matrix': 2, 'gravity_torque': 1, 'bias_torque': 2,
    'inverse_dynamics': 3, 'regressor': 4, 'jacobian': 1, 'frame_motion': 3,
}  # fmt: skip


@pytest.fixture(scope='module')
def models():
    plain = model_of(ARM)
    model = RobotModel(plain.urdf, None, plain.gravity, 0.1, 0.5, 0.3)
    return model, BatchModel(model)


def flat(answer):
    parts = answer if isinstance(answer, tuple) else (answer,)
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


@pytest.mark.parametrize('function', FUNCTIONS)
def test_functions_of_many_arms_are_pinocchios(models, function):
    model, batch = models
    arguments = np.random.default_rng(2).normal(size=(FUNCTIONS[function], 21, model.nv))
    expected = flat(getattr(StackedModel(model), function)(*arguments))
    assert_allclose(flat(getattr(batch, function)(*arguments)), expected, rtol=0, atol=5e-13)


def tree():
    """Return a branched arm with a prismatic joint, so small that its code compiles fast."""
    return RobotModel.from_urdf(random_tree_urdf(42, 3), gravity=(1.0, -2.0, -9.0))


@pytest.mark.parametrize('name', ['ur5e', 'planar_3r', 'tree'])
def test_derivatives_of_torque_and_acceleration_are_pinocchios(name):
    plain = tree() if name == 'tree' else model_of(name)  # the others are deep
    model = RobotModel(plain.urdf, None, plain.gravity, 0.0)
    pin_model, data = model.pin_model, model.pin_data
    q, v, a = np.random.default_rng(8).normal(size=(3, 19, model.nv))
    found = BatchModel(model).torque_derivatives(q, v, a)
    for k, (tau, by_q, by_v, mass) in enumerate(zip(*found, strict=True)):
        state = model.to_pin(q[k]), v[k]
        pin.computeRNEADerivatives(pin_model, data, *state, a[k])
        upper = np.triu(data.M)
        expected = data.tau, data.dtau_dq, data.dtau_dv, upper + np.triu(upper, 1).T
        for one, other in zip((tau, by_q, by_v, mass), expected, strict=True):
            assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())
        pin.computeABADerivatives(pin_model, data, *state, tau)
        for one, other in ((by_q, data.ddq_dq), (by_v, data.ddq_dv)):
            scale = np.linalg.cond(mass) * np.abs(other).max()
            assert_allclose(-np.linalg.solve(mass, one), other, rtol=0, atol=1e-13 * scale)


@pytest.mark.slow
def test_derivatives_of_an_arm_whose_joints_follow_others_are_differences():
    model, step = short_mimic_arm(), 1e-6
    rng, batch = np.random.default_rng(9), BatchModel(model)
    q, v, a = rng.normal(size=(3, model.nv))
    _, *found = batch.torque_derivatives(q, v, a)
    for row, slopes in enumerate(found):
        change = np.zeros((2, 3, model.nv, model.nv))
        change[0, row], change[1, row] = step * np.eye(model.nv), -step * np.eye(model.nv)
        at = np.stack([q, v, a])[:, np.newaxis]
        up, down = (batch.torque_derivatives(*(at + each))[0] for each in change)
        assert_allclose(slopes, (up - down).T / (2 * step), rtol=0, atol=1e-7)


@pytest.mark.parametrize('function', FUNCTIONS)
def test_an_arms_numbers_depend_on_no_other_arm(models, function):
    model, batch = models
    rng = np.random.default_rng(3)
    arguments = rng.normal(size=(FUNCTIONS[function], 37, model.nv))
    whole = flat(getattr(batch, function)(*arguments))
    order = rng.permutation(37)
    assert_array_equal(flat(getattr(batch, function)(*arguments[:, order])), whole[order])
    for arm in (0, 15, 16, 36):
        alone = flat(getattr(batch, function)(*arguments[:, arm : arm + 1]))
        assert_array_equal(alone[0], whole[arm])


def test_leading_axes_are_kept_and_broadcast(models):
    model, batch = models
    q, v = np.random.default_rng(4).normal(size=(2, 2, 3, model.nv))
    assert batch.mass_matrix(q).shape == (2, 3, model.nv, model.nv)
    tau = batch.inverse_dynamics(q, v[:1], 0.0)
    assert tau.shape == q.shape
    assert_allclose(tau[1, 2], model.inverse_dynamics(q[1, 2], v[0, 2], np.zeros(model.nv)),
                    rtol=0, atol=5e-13)  # fmt: skip


@pytest.mark.slow
def test_a_push_turns_joints_as_the_jacobian_says():
    model = model_of(ARM)
    rng = np.random.default_rng(5)
    for frame in (model.base_frame, 'l1', model.tip_frame):
        q, wrench = rng.normal(size=(9, model.nv)), rng.normal(size=(9, 6))
        expected = [model.jacobian(each, frame).T @ w for each, w in zip(q, wrench, strict=True)]
        found = BatchModel(model).wrench_torque(q, wrench, frame)
        assert_allclose(found, expected, rtol=0, atol=1e-13)
        if frame in (model.base_frame, model.tip_frame):
            poses = [model.forward_kinematics(each, frame) for each in q]
            origins = [pose.translation for pose in poses]
            turns, found = BatchModel(model).poses(q, frame)
            assert_allclose(turns, [pose.rotation for pose in poses], rtol=0, atol=1e-14)
            assert_allclose(found, origins, rtol=0, atol=1e-14)


@pytest.mark.slow
def test_another_arm_of_the_same_kind_compiles_nothing(models):
    model, first = models
    q, v, a = np.random.default_rng(6).normal(size=(3, 4, model.nv))
    first.inverse_dynamics(q, v, a)
    error = ModelError(mass_scale=(0.7,), com_shift=(0.01, 0.02, -0.03), payload=1.5)
    other = with_error(model, error)
    batch = BatchModel(other)
    assert batch.dynamics is first.dynamics
    before = len(batch.dynamics.inverse_dynamics_of_many.signatures)
    tau = batch.inverse_dynamics(q, v, a)
    assert len(batch.dynamics.inverse_dynamics_of_many.signatures) == before
    expected = [other.inverse_dynamics(*each) for each in zip(q, v, a, strict=True)]
    assert_allclose(tau, expected, rtol=0, atol=1e-12)


def test_small_matrices_in_stacks_are_those_alone():
    rng = np.random.default_rng(7)
    roots = rng.normal(size=(50, 6, 6))
    matrices, right = roots @ roots.swapaxes(1, 2) + 0.01 * np.eye(6), rng.normal(size=(50, 6, 3))
    assert_allclose(matrices @ solve_positive(matrices, right), right, rtol=0, atol=1e-11)
    halves = solved(matrices, right, False)
    assert_allclose(
        halves.swapaxes(1, 2) @ halves,
        right.swapaxes(1, 2) @ solve_positive(matrices, right),
        rtol=0, atol=1e-11,
    )  # fmt: skip
    assert_allclose(product(matrices, right), matrices @ right, rtol=0, atol=1e-13)
    vectors = right[:, :, 0]
    expected = (matrices @ right)[:, :, 0]
    assert_allclose(times(matrices, vectors), expected, rtol=0, atol=1e-13)
    axes, single = inverse_axes(matrices, right), inverse_axes(matrices[7], right[7])
    for found in (axes[7], single):
        whole = right[7].T @ solve_positive(matrices[7], right[7])
        assert_allclose(found @ found.T, whole, rtol=0, atol=1e-11)


def orthogonal_columns(matrices):
    return orthogonal_rows(np.ascontiguousarray(matrices.swapaxes(1, 2))).swapaxes(1, 2)


def test_columns_in_stacks_are_orthogonal_and_no_matrix_spoils_another():
    """Also of matrices that are singular, wide, tall, zero or not finite."""
    rng = np.random.default_rng(7)
    for shape in ((6, 6), (3, 6), (6, 3), (1, 1)):
        matrices = rng.normal(size=(70, *shape)) * 10.0 ** rng.uniform(-6, 3, (70, 1, shape[1]))
        matrices[5], matrices[6, :, -1] = 0.0, matrices[6, :, 0]
        columns = orthogonal_columns(matrices)
        scale = (matrices**2).sum((1, 2), keepdims=True) + 1e-300
        whole = matrices @ matrices.swapaxes(1, 2) / scale
        assert_allclose(columns @ columns.swapaxes(1, 2) / scale, whole, rtol=0, atol=1e-14)
        gram = columns.swapaxes(1, 2) @ columns
        across = gram - gram * np.eye(shape[1])
        lengths = np.sqrt(np.einsum('kii->ki', gram))
        allowed = 1e-14 * lengths[:, :, np.newaxis] * lengths[:, np.newaxis] + 1e-15 * scale
        assert (np.abs(across) <= allowed).all()
        matrices[8] = np.nan
        assert_array_equal(orthogonal_columns(matrices)[9:], columns[9:])
        assert_array_equal(orthogonal_columns(matrices[9:40]), columns[9:40])


@pytest.mark.parametrize('angle', [0.0, 1e-9, 1e-4, 1.0, 2.5, np.pi - 1e-4, np.pi - 1e-7])
def test_rotation_vectors_in_stacks_at_all_angles(angle):
    axes = np.random.default_rng(8).normal(size=(100, 3))
    vectors = angle * axes / np.linalg.norm(axes, axis=1)[:, np.newaxis]
    rotations = np.array([pin.exp3(each) for each in vectors])
    assert_allclose(rotation_vector(rotations), vectors, rtol=0, atol=1e-14)
