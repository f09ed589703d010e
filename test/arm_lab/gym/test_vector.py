"""Many arms as one environment: the bits of each, whatever their number and the threads."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from optional import optional

optional('gymnasium', 'gymnasium>=1.1')

import gymnasium  # noqa: E402

import arm_lab.gym  # noqa: E402, F401
from arm_dynamics.checks import ArmError  # noqa: E402

PLANAR = {'robot': 'planar_3r', 'ranges': {'payload': 1.0}}


def rollout(count, steps=60, seed=3, **given):
    """Return observations (steps, N, size) and rewards (steps, N) under drawn actions."""
    env = gymnasium.make_vec('arm_sim/Track-v0', num_envs=count, **PLANAR | given)
    found = [(env.reset(seed=seed)[0], np.zeros(count))]
    for k in range(steps):
        actions = np.random.default_rng(k).uniform(-1.0, 1.0, (7, 3))[:count]
        found.append(env.step(actions)[:2])
    env.close()
    return [np.array(each) for each in zip(*found, strict=True)]


def test_bits_of_an_arm_depend_neither_on_the_other_arms_nor_on_threads():
    many = rollout(7, threads=1)
    for count, threads in ((1, 1), (2, 2), (7, 2), (7, 3)):
        for one, other in zip(rollout(count, threads=threads), many, strict=True):
            assert_array_equal(one, other[:, :count])
    assert not np.array_equal(rollout(7, seed=4)[0], many[0])
    assert (many[0][-1, 0] != many[0][-1, 1]).any()


def test_an_arm_of_many_is_the_arm_alone_but_for_rounding():
    observations, rewards = rollout(1, ranges=None)
    env = gymnasium.make('arm_sim/Track-v0', **PLANAR | {'ranges': None})
    env.reset(seed=3)
    for k in range(60):
        actions = np.random.default_rng(k).uniform(-1.0, 1.0, (7, 3))
        alone, reward, *_ = env.step(actions[0])
        assert_allclose(observations[k + 1, 0], alone, atol=1e-8)
        assert_allclose(rewards[k + 1, 0], reward, rtol=1e-6, atol=1e-12)


def test_episodes_end_together_and_begin_again():
    given = {**PLANAR, 'parameters': {'frequency': 1.0}, 'scale': 1e4}
    env = gymnasium.make_vec('arm_sim/Track-v0', num_envs=2, **given)
    first, _ = env.reset(seed=1)
    actions = np.array([np.zeros(3), np.ones(3)])
    for _ in range(1000):
        _, rewards, lost, over, _ = env.step(actions)
    assert_array_equal(lost, [False, True])
    assert_array_equal(over, [True, False])
    assert rewards[0] < 0.0 == rewards[1]  # the second one has paid for the rest
    again, rewards, lost, over, _ = env.step(actions)
    assert_array_equal(again, first)
    assert not np.any([rewards, lost, over])
    with pytest.raises(ArmError, match=r'actions has shape \(3, 3\); it must be \(2, 3\)'):
        env.step(np.zeros((3, 3)))


@pytest.mark.slow
def test_arms_in_contact_run_in_mujocos_batch():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        env = gymnasium.make_vec('arm_sim/Press-v0', num_envs=3, ranges={'payload': 0.5})
    observations, _ = env.reset(seed=0)
    assert observations.shape == (3, 48)
    for _ in range(1000):
        observations, *_ = env.step(np.zeros((3, 6)))
    assert (np.abs(observations[:, 42:45]).max(axis=1) > 0.01).all()  # the wrench
    assert len({*observations[:, 44].tolist()}) == 3
