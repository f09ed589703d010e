"""A task names the laws under which it means something: every command has or refuses them."""

import gymnasium
import pytest

import arm_lab.gym  # noqa: F401  # registers the environments
import arm_sim
from arm_dynamics.checks import ArmError
from arm_lab.commands import compare_controllers
from arm_lab.commands.compare_controllers import compare, sweep
from arm_lab.commands.learn import learn
from arm_lab.commands.margins import margins
from arm_lab.commands.tune import tune
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.suited import kind_of, suited
from arm_lab.judging.law_trials import attempt
from arm_lab.judging.plan import JudgedTrial
from arm_sim.tasks import task_class

PROBE = 'ur5e gripper:=probe'
PRESS = {'robot': PROBE, 'task': 'press', 'law': 'computed_torque'}
REFUSED = (
    "task 'press' needs a law that follows forces, and 'computed_torque' does not: law:=hybrid"
)


@pytest.mark.parametrize(
    'refused',
    [
        lambda: compare(robots=(PROBE,), tasks=('press',), laws=('mpc', 'computed_torque')),
        lambda: sweep(robots=(PROBE,), tasks=('press',), laws=('computed_torque',), values='1.0'),
        lambda: compare(robots=(PROBE,), tasks=('press',), laws=('computed_torque',), samples=2),
        lambda: tune(**PRESS),
        lambda: margins(**PRESS),
        lambda: learn(robot=PROBE, task='press', laws=('computed_torque',)),
        lambda: gymnasium.make(
            'arm_sim/Task-v0', task='press', robot=PROBE, law='computed_torque'
        ),
        lambda: arm_sim.run(**PRESS),
    ],
    ids=['compare', 'sweep', 'monte_carlo', 'tune', 'margins', 'learn', 'gym', 'run'],
)
def test_a_law_that_cannot_press_is_refused_before_anything_runs(refused, monkeypatch):
    def run(*_, **__):
        pytest.fail('it runs')

    monkeypatch.setattr('arm_lab.experiments.experiment.LoadedExperiment.plants', run)
    monkeypatch.setattr('arm_lab.experiments.experiment.LoadedExperiment.batch', run)
    monkeypatch.setattr(compare_controllers, 'observe_all', run)
    monkeypatch.setattr(compare_controllers, 'run_monte_carlo', run)
    with pytest.raises(ArmError, match=REFUSED):
        refused()


def test_a_law_that_cannot_press_fails_the_trial_with_the_reason(tmp_path):
    loaded = Experiment.of_files(PROBE, 'press', 'external', actuator='torque').load()
    attempt(JudgedTrial(loaded, 'exact', {}), 'computed_torque', tmp_path)
    assert (tmp_path / 'reason.txt').read_text().startswith(REFUSED)


def test_all_laws_on_a_task_that_presses_are_those_that_can(monkeypatch, capsys):
    monkeypatch.setattr(compare_controllers, '_compare', lambda cases, *_: cases)
    options = compare_controllers.Options(robots=(PROBE,), tasks=('press', 'step'))
    cases = compare_controllers.compared(options)
    assert [case.law for case in cases if case.task == 'press'] == ['mpc']
    assert 'pd_gravity' in [case.law for case in cases if case.task == 'step']
    assert capsys.readouterr().out.startswith('task press without independent_joint, pd, ')


def test_without_a_law_there_is_one_that_suits_the_task():
    press = suited(Experiment(PROBE, 'press').load()).experiment
    assert (press.law, press.natural_frequency) == ('hybrid_force_motion', 0.0)
    step = suited(Experiment('planar_3r', 'step').load()).experiment
    assert (step.law, step.natural_frequency) == ('computed_torque', 20.0)
    env = gymnasium.make('arm_sim/Task-v0', task='press', robot=PROBE)
    assert env.unwrapped.layout.law == 'hybrid_force_motion'


@pytest.mark.slow
def test_contact_margins_take_a_law_that_only_holds_its_place():
    loaded = Experiment.of_files(PROBE, 'press', 'computed_torque').load()
    assert not kind_of(loaded).wrench_goal
    found = margins(robot=PROBE, law='computed_torque', contact=(1e3, 2e3))
    assert found.numbers['limits'][0]['law'] == 'computed_torque'


def test_a_sweep_of_the_frequency_is_of_the_sinusoid_only():
    with pytest.raises(ArmError, match="--tasks is push; --sweep frequency is of task 'sinusoid'"):
        sweep(robots=('planar_3r',), tasks=('push',), laws=('pd',), sweep='frequency')


def test_a_run_builds_its_task_once(monkeypatch):
    kind, built = task_class('push'), []
    prepare = kind.prepare
    monkeypatch.setattr(kind, 'prepare', lambda task: built.append(task) or prepare(task))
    run = arm_sim.run(robot='planar_3r', task='push', parameters={'duration': 0.6})
    assert built == [run.loaded.task]
