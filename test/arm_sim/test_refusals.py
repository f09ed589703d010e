"""How commands end: one line and an exit code where they cannot do what was asked."""

import runpy
from functools import partial
from importlib import import_module

import pytest
from repository import ROOT

from arm_dynamics.checks import ArmError
from arm_sim.refusals import exit_code


def raise_(error):
    raise error


@pytest.mark.parametrize(
    ('what', 'code', 'told'),
    [
        (lambda: None, 0, ''),
        (lambda: 3, 3, ''),
        (partial(raise_, ArmError('no such arm')), 1, 'test_commands: no such arm\n'),
        (partial(raise_, KeyboardInterrupt()), 130, ''),
    ],
)
def test_a_command_ends_with_its_exit_code_and_says_why_in_one_line(what, code, told, capsys):
    def main():
        return what()

    assert exit_code(main)() == code
    assert capsys.readouterr().err == told


def test_other_errors_of_a_command_are_not_hidden():
    def main():
        raise ValueError('a fault in our code')

    with pytest.raises(ValueError, match='a fault'):
        exit_code(main)()


@pytest.mark.parametrize(
    ('name', 'arguments'),
    [
        ('compare_controllers', ['--robots', 'no_arm']),
        ('tune_pose_hold', ['--evaluate', '-6,5,1']),
    ],
)
def test_each_command_names_itself_in_its_refusal(name, arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert import_module(f'arm_sim.commands.{name}').main(arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith(f'{name}: ')
    assert said.count('\n') == 1


@pytest.mark.parametrize('name', ['plant_error', 'model_error'])
def test_a_frequency_sweep_refuses_an_error_of_one_run_and_says_who_sweeps_it(name):
    pytest.importorskip('launch')
    launch = runpy.run_path(str(ROOT / 'launch' / 'sinusoid.launch.py'))
    given = {'sweep': 'loop', 'plant_error': '{}', 'model_error': '{}'}
    with pytest.raises(ArmError, match=rf'^{name} is for one run.*model_mismatch\.launch\.py'):
        launch['sinusoid'](given | {name: '{payload: 1.0}'})
