"""Command lines: options from dataclasses, exit codes, and one line for what is refused."""

import os
import runpy
import signal
import subprocess
import sys
from dataclasses import MISSING, dataclass, field
from functools import partial
from importlib import import_module
from typing import Annotated, ClassVar

import pytest
from repository import ROOT
from tyro.conf import Positional, UseAppendAction

from arm_dynamics.checks import ArmError, typed
from arm_dynamics.parameters import Parameters, parameter
from arm_lab.command_line import CommandOptions, command, read
from arm_lab.commands import judge
from arm_lab.options import UsageError
from arm_lab.progress import writing
from arm_sim.registered import commands


@dataclass(frozen=True)
class Effort(Parameters):
    arms: int = parameter(4, 'number of arms', min=1, max=9)
    max_speed: float = parameter(2.0, 'largest speed [m/s]', above=0)


@dataclass(frozen=True)
class Options(CommandOptions):
    """Try arms."""

    file: Positional[Annotated[str, 'FILE']] = parameter(MISSING, 'recording of a run')
    laws: tuple[str, ...] = parameter(('pd', 'servo'), 'names with commas')
    noise: tuple[float, ...] = parameter((0.0, 0.0), 'two numbers', length=2)
    mode: str = parameter('fast', 'how it runs', one_of=('fast', 'slow'))
    begin: Annotated[float | None, 'S'] = parameter(None, 'begin [s]', name='from')
    error: UseAppendAction[tuple[str, ...]] = parameter((), 'may be repeated')
    json: bool = parameter(False, 'print JSON')
    cutoff: float = parameter(2.0, 'cutoff [Hz]', above=0)
    effort: Effort = field(default_factory=Effort)


@dataclass(frozen=True)
class WithRest(CommandOptions):
    rest: ClassVar[str] = 'words'

    repeat: int = parameter(1, 'how often')
    quiet: bool = parameter(False, 'prints nothing')
    words: Positional[tuple[str, ...]] = parameter((), 'a command')


def given(*words):
    return read(Options, 'try', words)


def test_every_field_is_an_option_and_absent_options_have_the_fields_defaults():
    assert given('a.mcap') == Options('a.mcap')
    words = '--laws pd,,servo a.mcap --noise=-1e-5,2 --mode slow --from -3 --json --arms 2'
    options = given(*words.split(), '--error', '{a: 1, b: 2}', '--error', 'c')
    assert options == Options(
        'a.mcap', ('pd', 'servo'), (-1e-5, 2.0), 'slow', -3.0, ('{a: 1, b: 2}', 'c'), True, 2.0,
        Effort(2),
    )  # fmt: skip
    assert options.command == f'try {words} --error {{a: 1, b: 2}} --error c'
    assert given('a', '--max-speed', '1') == given('a', '--max_speed', '1')


def test_what_a_launch_file_appends_is_no_option():
    assert given('a', '--ros-args', '-r', '__node:=try') == Options('a')


@pytest.mark.parametrize(('appended', 'whose'), [(0, 1), (1, 1), (3, 1), (1, 0)])
def test_ros_arguments_of_a_controller_to_judge_are_its_own(appended, whose):
    own = ('node', *('--ros-args', '-p', 'kp:=1.0') * whose)
    launch = ('--ros-args', '-r', '__node:=judge')[:appended]
    assert read(judge.Options, 'judge', ['--repeat', '2', *own, *launch]).controller == own


@pytest.mark.parametrize(
    ('words', 'kind', 'message'),
    [
        ('a --law pd', UsageError, "unknown option '--law'; nearest known: '--laws'"),
        ('a b', UsageError, 'no option before: b; write --NAME VALUE, see --help'),
        ('a --laws', UsageError, "Missing value for argument '--laws'."),
        ('--json', UsageError, 'missing: FILE recording of a run (required)'),
        ('a --arms two', UsageError, "--arms is 'two'; it must be a whole number"),
        ('a --noise 1,x', UsageError, "--noise is '1,x'; it must be numbers and commas"),
        ('a --mode quick', UsageError, "--mode is 'quick'; allowed: fast, slow"),
        ('a --noise 1', ArmError, '--noise is (1.0,); it must be two finite numbers'),
        ('a --arms 0', ArmError, '--arms is 0; it must be finite, >= 1 and <= 9'),
        ('a --max-speed 0', ArmError, '--max-speed is 0; it must be finite, > 0'),
        ('a --cutoff nan', ArmError, '--cutoff is nan; it must be finite, > 0'),
    ],
)
def test_a_refusal_names_option_value_and_what_is_allowed(words, kind, message):
    with pytest.raises(ArmError) as refused:
        given(*words.split())
    assert type(refused.value) is kind
    assert str(refused.value) == message


def test_the_help_has_descriptions_limits_choices_and_defaults(capsys):
    with pytest.raises(SystemExit) as end:
        given('--help')
    assert not end.value.code
    parameters = ' '.join(capsys.readouterr().out.replace('│', '').split())
    for text in (
        'Try arms.',
        'FILE recording of a run (required)',
        '--laws STR names with commas (default pd,servo)',
        '--mode {fast,slow} how it runs (default fast)',
        '--from S begin [s]',
        '--json print JSON',
        '--arms INT number of arms (>= 1 and <= 9, default 4)',
    ):
        assert text in parameters


@pytest.mark.parametrize(
    ('words', 'repeat', 'rest'),
    [
        ('', 1, ()),
        ('--repeat 2 --quiet node --repeat 3', 2, ('node', '--repeat', '3')),
        ('--repeat=2 -- node -x', 2, ('node', '-x')),
        ('a.launch.py b:=c --no-such-option', 1, ('a.launch.py', 'b:=c', '--no-such-option')),
    ],
)
def test_a_command_behind_the_options_keeps_its_own_options(words, repeat, rest):
    options = read(WithRest, 'try', words.split())
    assert (options.repeat, options.words) == (repeat, rest)


def raise_(error):
    raise error


@pytest.mark.parametrize(
    ('what', 'code', 'message'),
    [
        (lambda: None, 0, ''),
        (lambda: 3, 3, ''),
        (partial(raise_, ArmError('no such arm')), 1, 'test_command_line: no such arm\n'),
        (partial(raise_, UsageError('no such option')), 2, 'test_command_line: no such option\n'),
        (partial(raise_, KeyboardInterrupt()), 130, ''),
    ],
)
def test_a_command_ends_with_its_exit_code_and_says_why_in_one_line(what, code, message, capsys):
    @command(WithRest)
    def main(options):
        return what()

    assert main([]) == code
    assert capsys.readouterr().err == message


@dataclass(frozen=True)
class WithFolder(WithRest):
    """A command that writes files."""

    output_dir: str = parameter('results', 'folder for files')


def test_ctrl_c_says_that_the_results_of_a_command_that_writes_files_are_lost(capsys):
    @command(WithFolder)
    def main(options):
        raise KeyboardInterrupt

    assert main([]) == 130
    assert capsys.readouterr().err == 'test_command_line: stopped; its results are lost\n'


def test_ctrl_c_waits_once_until_all_files_are_written(tmp_path, capsys):
    def write(presses):
        @command(WithFolder)
        def main(options):
            with writing():
                for press in range(2):
                    if press < presses:
                        signal.raise_signal(signal.SIGINT)
                    (tmp_path / f'{presses}_{press}').touch()

        return main([])

    assert [write(presses) for presses in range(3)] == [0, 130, 130]
    assert sorted(file.name for file in tmp_path.iterdir()) == ['0_0', '0_1', '1_0', '1_1', '2_0']
    assert capsys.readouterr().err == 'test_command_line: stopped; its results are lost\n'


def test_other_errors_of_a_command_are_not_hidden():
    @command(WithRest)
    def main(options):
        raise ValueError('a fault in our code')

    with pytest.raises(ValueError, match='a fault'):
        main([])


def test_no_node_imports_the_library_of_command_lines():
    code = 'import sys, arm_sim.executables, arm_lab.testing; sys.exit("tyro" in sys.modules)'
    subprocess.run([sys.executable, '-c', code], check=True, env=os.environ)


@pytest.mark.parametrize(
    ('name', 'arguments'),
    [
        ('compare_controllers', ['--robots', 'no_arm']),
        ('identify', ['no_file.npz']),
        ('tune_pose_hold', ['--evaluate', '-6,5,1']),
    ],
)
def test_each_command_names_itself_in_its_refusal(name, arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert import_module(commands()[name]).main(arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith(f'{name}: ')
    assert said.count('\n') == 1


@pytest.mark.parametrize('name', ['plant_error', 'model_error'])
def test_a_frequency_sweep_refuses_an_error_of_one_run_and_says_who_sweeps_it(name):
    pytest.importorskip('launch')
    launch = runpy.run_path(str(ROOT / 'launch' / 'sinusoid.launch.py'))
    given = {'sweep': 'loop', 'plant_error': '{}', 'model_error': '{}'}
    with pytest.raises(ArmError, match=rf'^{name} holds for one run.*model_mismatch\.launch\.py'):
        launch['sinusoid'](given | {name: '{payload: 1.0}'})


def test_the_next_command_is_as_the_user_typed_this_one(monkeypatch):
    monkeypatch.setenv('ARM_SIM_WS', 'yes')
    assert typed('ros2 topic list') == './ws ros2 topic list'
    monkeypatch.delenv('ARM_SIM_WS')
    assert typed('ros2 topic list') == 'ros2 topic list'
