"""A task as an environment of Gymnasium: its checker, its return, its bits, its refusals."""

import copy
import pickle
import warnings
from dataclasses import asdict

import numpy as np
import pytest
from experiment_parts import run
from numpy.testing import assert_allclose, assert_array_equal
from optional import optional
from plugins import write_plugins
from policies import policy_file

optional('gymnasium', 'gymnasium>=1.1')

import gymnasium  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

from arm_controllers.policy_file import PolicyFile  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402
from arm_dynamics.model_error import ModelError  # noqa: E402
from arm_lab.experiments.experiment import Experiment  # noqa: E402
from arm_lab.experiments.ranges import Ranges  # noqa: E402
from arm_lab.gym import ENVIRONMENTS  # noqa: E402
from arm_sim.tasks import TASKS, task_names  # noqa: E402

PLANAR = {'robot': 'planar_3r', 'law': 'pd_gravity'}


def episode(env, act, seed=0):
    """Return the states and the sum of the rewards of an episode."""
    observation, _ = env.reset(seed=seed)
    states, total, ended = [], 0.0, False
    while not ended:
        states.append(env.unwrapped.arms.loop.plant.q.copy())
        observation, reward, lost, over, _ = env.step(act(observation))
        assert env.observation_space.contains(observation)
        total, ended = total + reward, lost or over
    return np.array(states), total


def resting(env):
    return lambda _: np.zeros(env.action_space.shape)


NAMED = {name: given for name, given in ENVIRONMENTS.items() if name != 'Task-v0'}


@pytest.mark.parametrize('name', NAMED)
@pytest.mark.slow
def test_gymnasium_finds_nothing_to_complain_about(name):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        check_env(gymnasium.make(f'arm_sim/{name}').unwrapped)


def test_every_task_is_an_environment():
    assert sorted(given['task'] for given in NAMED.values()) == sorted(task_names())


@pytest.mark.slow
def test_an_environment_of_any_task_takes_its_name():
    env = gymnasium.make('arm_sim/Task-v0', task='payload_drop', **PLANAR)
    _, total = episode(env, resting(env))
    found = run(Experiment('planar_3r', 'payload_drop', 'pd_gravity'))
    assert_allclose(-total, found.measures.tracking_rms_mm**2, rtol=1e-9)


@pytest.mark.slow
def test_a_return_is_the_measure_that_ranks_the_laws():
    error = {'payload': 0.4}
    env = gymnasium.make('arm_sim/Track-v0', error=error, **PLANAR)
    states, total = episode(env, resting(env))
    found = run(Experiment('planar_3r', 'sinusoid', 'pd_gravity', error=ModelError(**error)))
    assert_array_equal(states, found.record.q)
    assert_allclose(np.sqrt(-total), found.measures.tracking_rms_mm, rtol=1e-9)


@pytest.mark.slow
def test_returns_of_contact_tasks_are_their_measures_as_well():
    for name, law, measure in (
        ('press', 'hybrid_force_motion', 'force_rms_n'),
        ('peg_in_hole', 'cartesian_impedance', 'force_peak_n'),
    ):
        given = {'law': law, 'natural_frequency': 0.0, 'timestep': 0.0}
        env = gymnasium.make('arm_sim/Task-v0', task=name, **given)
        _, total = episode(env, resting(env))
        found = run(Experiment('ur5e', name, **given))
        # The force counts in the last of 6 s.
        expected = found.measures[measure] ** 2 / 6 if name == 'press' else found.measures[measure]
        assert_allclose(-total, expected, rtol=1e-9)


@pytest.mark.slow
def test_a_policy_that_is_a_law_has_the_bits_of_the_environment(tmp_path):
    file, _ = policy_file(tmp_path / 'policy.onnx', law='pd_gravity')
    states, total = episode(gymnasium.make('arm_sim/Track-v0', **PLANAR), PolicyFile(file))
    found = run(Experiment('planar_3r', 'sinusoid', f'policy:{file}'))
    assert_array_equal(states, found.record.q)
    assert_allclose(np.sqrt(-total), found.measures.tracking_rms_mm, rtol=1e-9)
    without = run(Experiment('planar_3r', 'sinusoid', 'pd_gravity'))
    assert np.abs(states - without.record.q).max() > 1e-3


@pytest.mark.slow
def test_an_episode_draws_its_arm_as_a_monte_carlo_does():
    ranges = Ranges(payload=1.0)
    env = gymnasium.make('arm_sim/Track-v0', ranges=asdict(ranges), **PLANAR)
    states, _ = episode(env, resting(env), seed=7)
    case = Experiment('planar_3r', 'sinusoid', 'pd_gravity', ranges=ranges)
    draw = ranges.draw(case.load().robot.model, 7, 0)
    assert_array_equal(states, case.load().on(draw).run().q)
    assert not np.array_equal(states, episode(env, resting(env), seed=8)[0])
    assert_array_equal(states, episode(env, resting(env), seed=7)[0])


def test_a_lost_arm_ends_the_episode_and_pays_for_the_rest():
    env = gymnasium.make('arm_sim/Track-v0', scale=1e4, **PLANAR).unwrapped
    env.reset(seed=0)
    k, lost = -1, False
    while not lost and k < 2000:
        k += 1
        _, reward, lost, over, _ = env.step(np.ones(3))
    assert lost
    assert not over
    error = np.sqrt(-reward * 2000 / (2000 - k))  # [mm]
    assert 100.0 < error < 3000.0


def test_an_arm_that_is_lost_before_its_task_counts_pays_for_the_rest():
    env = gymnasium.make('arm_sim/Press-v0', scale=1e4).unwrapped
    env.reset(seed=0)
    k, lost = -1, False
    while not lost:
        k += 1
        _, reward, lost, over, _ = env.step(np.ones(env.action_space.shape))
    assert not over
    assert k < 0.1 * env.arms.steps
    error = np.sqrt(-reward * env.arms.steps / (env.arms.steps - k))  # [N] of a goal of 10 N
    assert 5.0 < error < 1000.0


def test_mistakes_are_refused_in_one_line():
    env = gymnasium.make('arm_sim/Track-v0', **PLANAR).unwrapped
    env.reset(seed=0)
    with pytest.raises(ArmError, match=r'action\[1\] is nan; it must be finite'):
        env.step(np.array([0.0, np.nan, 0.0]))
    with pytest.raises(ArmError, match=r'action has shape \(2,\)'):
        env.step(np.zeros(2))
    with pytest.raises(
        ArmError, match=r"law is 'pdd'; nearest known: 'pd'; allowed: .*pd_gravity"
    ):
        gymnasium.make('arm_sim/Track-v0', law='pdd')
    with pytest.raises(ArmError, match='payload is -1'):
        gymnasium.make('arm_sim/Track-v0', ranges={'payload': -1.0})
    with pytest.raises(ArmError, match=r'scale\[0\] is inf'):
        gymnasium.make('arm_sim/Track-v0', scale=np.inf)


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'drives': 3}, r'drives is 3; it must be a dictionary, or DriveParameters\(...\)$'),
        ({'ranges': True}, r'ranges is True; it must be a dictionary, or Ranges\(...\)$'),
        ({'ranges': {'mas': 0.1}}, "unknown argument 'ranges.mas'; nearest known: 'ranges.mass'$"),
        ({'error': {'payload': 'a'}}, "parameter 'error.payload' is 'a'; it must be a number$"),
        ({'timestep': 'a'}, "parameter 'timestep' is 'a'; it must be a number$"),
        ({'robot': 3}, "parameter 'robot' is 3; it must be a text$"),
        ({'engine': 'bullet'}, "engine is 'bullet'; allowed: analytical, "),
        ({'foo': 1}, "unknown argument 'foo'; nearest known: "),
        ({'parameters': [1]}, r'parameters is \[1\]; it must be a dictionary$'),
        ({'scale': [1.0, 2.0]}, r'scale has shape \(2,\); it must be \(3,\)$'),
        ({'scale': 'a'}, r"scale is 'a'; it must be \(3,\) real numbers$"),
    ],
)
def test_an_argument_of_another_kind_is_refused_with_its_name(given, words):
    with pytest.raises(ArmError, match=f'^{words}'):
        gymnasium.make('arm_sim/Track-v0', **PLANAR | given)


def test_a_dictionary_makes_any_part_of_the_experiment():
    late = gymnasium.make('arm_sim/Track-v0', **PLANAR, drives={'command_delay': 2}).unwrapped
    late.reset(seed=0)
    assert late.arms.loop.plant.parameters.command_delay == 2


def test_an_episode_must_begin():
    env = gymnasium.make('arm_sim/Track-v0', **PLANAR).unwrapped
    with pytest.raises(ArmError, match=r'^no episode has begun: call reset\(\) before step\(\)$'):
        env.step(np.zeros(3))


MINE = """
from dataclasses import dataclass, replace

import numpy as np

from arm_dynamics.parameters import Parameters
from arm_sim.tasks import Task, TaskReport


@dataclass(frozen=True)
class Nothing(Parameters):
    pass


class Blank(Task):
    Parameters = Nothing
    Report = TaskReport

    def prepare(self):
        self.duration = 0.2

    def reference(self, t, reference):
        reference.row[:] = 0.0
        reference.q[:] = self.robot.start if t < 0.0015 else np.nan


class Unranked(Blank):
    evaluation = replace(Task.evaluation, ranked_by='speed')
"""


@pytest.fixture
def own_tasks(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        tasks = {'blank': 'mine:Blank', 'unranked': 'mine:Unranked'}
        folder = write_plugins(tmp_path, {'mine': MINE}, {'arm_sim.tasks': tasks})
        patch.syspath_prepend(str(folder))
        TASKS.refresh()
        yield
    TASKS.refresh()


@pytest.mark.usefixtures('own_tasks')
def test_a_task_of_a_plugin_gets_no_reward_without_a_reference_or_a_measure():
    env = gymnasium.make('arm_sim/Task-v0', task='blank', robot='planar_3r').unwrapped
    env.reset(seed=0)
    for _ in range(2):
        env.step(np.zeros(3))
    words = r"^task 'blank': its reference at t = 0.002 s is \[nan, .*; it must be finite$"
    with pytest.raises(ArmError, match=words):
        env.step(np.zeros(3))
    env = gymnasium.make('arm_sim/Task-v0', task='unranked', robot='planar_3r').unwrapped
    with pytest.raises(ArmError, match="^task 'unranked': ranked_by is 'speed'; "):
        env.reset(seed=0)


@pytest.mark.parametrize('make', [gymnasium.make, gymnasium.make_vec])
@pytest.mark.parametrize('copied', [copy.deepcopy, pickle.dumps])
def test_a_copy_is_refused_and_what_to_do_instead_is_said(make, copied):
    env = make('arm_sim/Track-v0', **PLANAR)
    with pytest.raises(TypeError, match=r'Arm\w*Env cannot be copied: make another one'):
        copied(env)
