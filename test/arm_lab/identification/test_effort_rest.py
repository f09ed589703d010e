"""The delay of efforts behind positions: named where the recording shows it, else not."""

import numpy as np
import pytest
from scripts import load_script

from arm_lab.identification.effort_rest import effort_rest, read_later, smooth_piece
from arm_lab.identification.signals import MotionSamples

STUDY = load_script('benchmarks/recorded_conventions.py')


def rest_of(robot, seed, resolution, behind, alone=0.0):
    """Return what a drawn arm's efforts have, by the model that is 30 % off."""
    model, (true, _) = STUDY.model_of(robot), STUDY.exact(robot, seed)
    delays = behind + alone * (np.arange(model.nv) == model.nv - 2)
    late = [
        np.interp(true.times - d, true.times, x)
        for d, x in zip(delays, true.effort.T, strict=True)
    ]
    q = np.round(true.q / resolution) * resolution
    piece = smooth_piece(MotionSamples(true.times, q, np.stack(late, 1)), 10.0)
    of_model = [model.inverse_dynamics(*x) for x in zip(*piece.states, strict=True)]
    return effort_rest(piece, np.array(of_model), *piece.states[1:], np.arange(model.nv))


@pytest.mark.quick(1)
@pytest.mark.parametrize('resolution', [1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize('behind', [0.0, 0.004, 0.01])
def test_a_coarse_encoder_makes_no_delay_of_its_own(resolution, behind):
    for robot, seed in (('ur5e', 0), ('ur5e', 1), ('ur5e', 2), ('planar_3r', 0)):
        found = rest_of(robot, seed, resolution, behind)
        assert abs(found.behind - behind) < max(found.within, 1e-3)
        if robot == 'ur5e':
            assert (abs(found.behind) > max(found.within, 1e-3)) == (behind > 0.0)


def test_efforts_are_read_later_within_pieces_whose_clock_was_set_back():
    times = np.tile(0.01 * np.arange(100), 2)
    effort = np.column_stack([times, np.where(np.arange(200) < 100, 1.0, 2.0)])
    found = read_later(MotionSamples(times, effort, effort), 0.05).effort
    np.testing.assert_allclose(found[:, 0], np.minimum(times + 0.05, 0.99))
    np.testing.assert_array_equal(found[:, 1], effort[:, 1])


@pytest.mark.quick(2)
@pytest.mark.parametrize('robot', ['ur5e', 'planar_3r'])
@pytest.mark.parametrize('behind', [-0.1, 0.06, 0.2])
def test_a_delay_of_many_states_is_found(robot, behind):
    assert abs(rest_of(robot, 1, 1e-5, behind).behind - behind) < 0.004


@pytest.mark.slow
def test_efforts_that_have_no_delay_do_not_get_a_far_one():
    for seed in range(3):
        model, (true, _) = STUDY.model_of('planar_3r'), STUDY.exact('planar_3r', seed)
        noise = np.random.default_rng(seed).standard_normal(true.effort.shape)
        piece = smooth_piece(MotionSamples(true.times, true.q, noise), 10.0)
        of_model = [model.inverse_dynamics(*x) for x in zip(*piece.states, strict=True)]
        found = effort_rest(piece, np.array(of_model), *piece.states[1:], np.arange(3))
        assert not abs(found.behind) > 0.04


@pytest.mark.parametrize('robot', ['ur5e', 'planar_3r', 'five_joint_arm'])
@pytest.mark.parametrize('alone', [-0.012, 0.0, 0.012])
def test_the_effort_of_one_joint_that_is_late_is_named(robot, alone):
    found = rest_of(robot, 1, 1e-5, 0.004, alone)
    (named,) = np.nonzero(np.isfinite(found.alone))
    assert named.tolist() == ([len(found.alone) - 2] if alone else [])
    np.testing.assert_allclose(found.alone[named], 0.004 + alone, atol=0.003)
