"""Policies and environments: states, rows, seeds, joints and periods of trained networks."""

from functools import partial

import numpy as np
import pytest
from policies import layers_of, policy_file, recurrent_file

from arm_controllers.laws.policy import Policy, PolicyParameters
from arm_controllers.measurement import Measurement
from arm_controllers.policy_file import PolicyFile
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_lab.gym.arms import draws_of, loaded_experiment
from arm_sim.robot import Robot

ROBOT = Robot.load('planar_3r')
DT = 1e-3


@pytest.fixture
def plain(tmp_path):
    return policy_file(tmp_path / 'plain.onnx')


def commands(path, count=3):
    """Return the torques of a policy as a law, from its start; it reads a constant error."""
    law, found = Policy(ROBOT.model, PolicyParameters(policy=path)), []
    measured, reference = Measurement(ROBOT.start, np.zeros(3)), Reference(3)
    reference.q[:] = ROBOT.start + 0.05
    state = law.start(measured, reference)
    for _ in range(count):
        command, state = law(state, measured, reference, DT)
        found.append(command)
    return np.array(found)


def test_a_recurrent_state_survives_episodes(tmp_path, plain):
    """ikostrikov/pytorch-a2c-ppo-acktr-gail#206. Each start of the law is zeros.

    With a constant observation the commands of an episode differ from period to period, and are
    the same bits in the next episode.
    """
    file = recurrent_file(tmp_path / 'r.onnx', plain[1])
    first, second = commands(file), commands(file)
    assert (np.abs(np.diff(first, axis=0)) > 1e-6).any(axis=1).all()
    np.testing.assert_array_equal(first, second)


def test_an_lstm_does_not_run_on_the_observation_alone(tmp_path, plain):
    """pollen-robotics/microduck#231. Further inputs are states.

    A state (1, 1, k), as torch exports it for one row, gives what the state (rows, k) gives.
    """
    files = [
        recurrent_file(tmp_path / f'{rows}.onnx', plain[1], rows, layers)
        for rows, layers in ((1, True), ('rows', False))
    ]
    np.testing.assert_allclose(commands(files[0]), commands(files[1]), rtol=1e-12)


def test_an_exported_policy_has_an_input_that_nobody_feeds(tmp_path, plain):
    """Axellwppr/gentle-humanoid-training#1. Export without it."""

    def privileged(nodes, given, answers):
        given['priv'] = ['rows', 3]

    file = recurrent_file(tmp_path / 'r.onnx', plain[1], changed=privileged)
    with pytest.raises(ArmError, match='has 2 inputs besides the observation and 1 outputs'):
        PolicyFile(file)


def test_an_input_of_another_rank_is_an_error(tmp_path, plain):
    """microsoft/RL4BandwidthEstimationChallenge#5. Export with rows."""

    def ranks(nodes, given, answers):
        given['x'] = ['sequence', 'rows', 21]

    file = recurrent_file(tmp_path / 'r.onnx', plain[1], changed=ranks)
    with pytest.raises(ArmError, match=r"has an input \['sequence', 'rows', 21\] and an output"):
        PolicyFile(file)


def test_the_number_of_rows_is_frozen_in_the_file(tmp_path, plain):
    """ray-project/ray#51519. Observations are padded.

    Seven arms with a file of 3 rows are seven arms with any rows.
    """
    observations = np.random.default_rng(0).normal(size=(7, 21))
    found = []
    for rows in (3, 'rows'):
        policy = PolicyFile(recurrent_file(tmp_path / f'{rows}.onnx', plain[1], rows))
        actions, state = policy.step(observations, policy.start(7))
        found.append((actions, *state))
    for one, other in zip(*found, strict=True):
        assert one.shape[0] == 7
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_nan_actions_freeze_the_agent(tmp_path):
    """Unity-Technologies/ml-agents#2115. Train again."""
    layout = policy_file(tmp_path / 'plain.onnx')[1]
    (w, b), last = layers_of(layout)
    file, _ = policy_file(tmp_path / 'nan.onnx', layers=[(w * np.nan, b), last])
    with pytest.raises(ArmError, match='its first actions, of an observation of zeros, are not'):
        PolicyFile(file)


def test_the_joint_order_of_training_differs(plain):
    """Open-X-Humanoid/TienKung-Lab#26. The file has the names; others are refused."""
    model = Robot.load('ur5e').model
    with pytest.raises(ArmError, match=r'is for the joints joint_1, .*; the arm has shoulder_pan'):
        Policy(model, PolicyParameters(policy=plain[0]))


def test_actions_are_larger_at_the_rate_of_the_robot(plain):
    """ARISE-Initiative/robosuite#502. Train with the robot's period."""
    law = Policy(ROBOT.model, PolicyParameters(policy=plain[0]))
    law.check_period(1e-3)
    with pytest.raises(
        ArmError, match=r'has a control period of 0.001 s; the controller has 0.05'
    ):
        law.check_period(0.05)


def first_episodes(seed, count=3):
    """Return where the tips of two arms are after 20 periods of each of some episodes."""
    gymnasium = pytest.importorskip('gymnasium')
    import arm_lab.gym  # noqa: F401

    envs = gymnasium.make_vec(
        'arm_sim/Track-v0', num_envs=2, robot='planar_3r', ranges={'payload': 1.0}, threads=1,
        parameters={'cycles': 0.1, 'frequency': 4.0},
    )  # fmt: skip
    envs.reset(seed=seed)
    found = []
    while len(found) < count:
        for k in range(26):  # the 26th is the automatic reset
            observations, *_ = envs.step(np.zeros((2, 3)))
            if k == 20:
                found.append(observations[:, 0])
    envs.close()
    return np.array(found)


@pytest.mark.slow
def test_automatic_resets_of_a_vector_are_not_seeded():
    """Farama-Foundation/Gymnasium#1321. A seed is the whole sequence of episodes."""
    np.testing.assert_array_equal(first_episodes(7), first_episodes(7))
    assert (first_episodes(7) != first_episodes(8)).all()


def test_every_episode_has_the_same_goal():
    """SofaDefrost/SofaGym#36. An automatic reset draws other arms."""
    found = first_episodes(7)
    assert all(len({*column.tolist()}) == 3 for column in found.T)


def test_randomised_dynamics_do_not_follow_the_seed():
    """duckietown/gym-duckietown#201. Seed and number draw an arm.

    Arm 1 of two is arm 1 of any number; seeds 7 and 8 are other arms.
    """
    loaded = loaded_experiment('sinusoid', 'planar_3r', ranges={'payload': 1.0})
    one, two = (draws_of(loaded, True, 7, range(count))[1] for count in (2, 5))
    assert one == two
    assert one != draws_of(loaded, True, 8, [1])[0]
    assert 0.0 < one.error.payload < 1.0


@pytest.mark.parametrize('maker', ['make', 'make_vec'])
def test_arguments_of_a_reset_are_dropped(maker):
    """openai/gym#927. Options that nothing uses are refused."""
    gymnasium = pytest.importorskip('gymnasium')
    import arm_lab.gym  # noqa: F401

    env = getattr(gymnasium, maker)('arm_sim/Track-v0')
    for options in ({'qpos': [0.0] * 6}, {'reset_mask': [True]}):
        with pytest.raises(ArmError, match=r"reset: option '\w+' is unknown; allowed: (none|sam)"):
            env.reset(seed=1, options=options)
    env.reset(seed=1, options={})


def test_a_render_mode_is_an_unexpected_argument():
    """PKU-Alignment/omnisafe#4. Leave it out, as Stable-Baselines3 does after a TypeError."""
    pytest.importorskip('gymnasium')
    from arm_lab.gym.environment import ArmEnv, ArmVectorEnv

    for made in (partial(ArmEnv, 'sinusoid'), partial(ArmVectorEnv, 2, 'sinusoid')):
        with pytest.raises(TypeError, match="render_mode is 'rgb_array': leave it out; arm_sim.r"):
            made(render_mode='rgb_array')
