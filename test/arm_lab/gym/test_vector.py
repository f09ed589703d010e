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


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert (again != first).any(axis=1).all()  # other arms
    assert not np.any([rewards, lost, over])
    with pytest.raises(ArmError, match=r'actions has shape \(3, 3\); it must be \(2, 3\)'):
        env.step(np.zeros((3, 3)))


def episodes(count, seed, **given):
    """Return the first observations after some steps (count, N, size) of episodes in a row."""
    given = {**PLANAR, 'parameters': {'cycles': 0.1, 'frequency': 1.0}, 'threads': 1, **given}
    envs, found, ended = gymnasium.make_vec('arm_sim/Track-v0', num_envs=2, **given), [], True
    envs.reset(seed=seed)
    while len(found) < count:
        observations, _, lost, over, _ = envs.step(np.zeros((2, 3)))
        if ended:
            found.append(observations)
        ended = bool((lost | over).all())
        if ended:
            envs.step(np.zeros((2, 3)))  # starts the next episode
    envs.close()
    return np.array(found)


@pytest.mark.slow
def test_each_episode_draws_other_arms_and_a_seed_is_one_sequence_of_them():
    one = episodes(3, 7)
    assert_array_equal(one, episodes(3, 7))
    for k in range(2):
        assert len({*one[:, k, 0].tolist()}) == 3
    same = episodes(2, 7, ranges=None)
    assert_array_equal(same[0], same[1])  # arms without noise are the same


def test_a_list_of_seeds_has_one_for_each_arm():
    env = gymnasium.make_vec('arm_sim/Track-v0', num_envs=2, **PLANAR)

    def first(seed):
        env.reset(seed=seed)
        return env.step(np.zeros((2, 3)))[0]

    one, other = first([5, 6]), first([5, 900])
    assert_array_equal(one[0], other[0])
    assert (one[1] != other[1]).any()
    assert_array_equal(first(5)[0], one[0])  # sample 0 of a Monte Carlo with this seed
    for wrong in ([5], [5, None]):
        with pytest.raises(ArmError, match='seed has 1 numbers, .*; it needs one for each of 2'):
            env.reset(seed=wrong)


def test_seeds_and_samples_are_integers():
    env = gymnasium.make_vec('arm_sim/Track-v0', num_envs=2, **PLANAR)
    with pytest.raises(ArmError, match='^no episode has begun'):
        env.step(np.zeros((2, 3)))
    for seed, words in (([1.5, 2], 'a seed is 1.5'), (['a', 2], "a seed is 'a'"), ([-1, 2], '-1')):
        with pytest.raises(ArmError, match=f'{words}; it must be an integer >= 0$'):
            env.reset(seed=seed)
    for samples, words in (
        ([1], 'samples is .1.; it must have 2 integers'),
        ([0.5, 1], 'a sample'),
    ):
        with pytest.raises(ArmError, match=f'^{words}'):
            env.reset(seed=1, options={'samples': samples})


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'num_envs': 0}, 'num_envs is 0; it must be an integer >= 1'),
        ({'num_envs': 2.0}, 'num_envs is 2.0; it must be an integer >= 1'),
        ({'threads': -1}, 'threads is -1; it must be an integer >= 0'),
    ],
)
def test_numbers_of_arms_and_threads_are_refused(given, words):
    with pytest.raises(ArmError, match=f'^{words}$'):
        gymnasium.make_vec('arm_sim/Track-v0', **{'num_envs': 2} | PLANAR | given)


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
