"""Commands as Python calls: the same options, and a command line that gives the same."""

import ast
import inspect
import re
import shlex
from pathlib import Path

import pytest
from repository import ROOT

import arm_sim
from arm_dynamics.checks import ArmError
from arm_lab.command_line import read
from arm_lab.commands import compare_controllers, judge, learn, margins, run, tune
from arm_lab.commands.call import call
from arm_lab.experiments.report import Listing, Report
from arm_lab.options import from_python, words_of

GIVEN = {
    run: {
        'law': 'pd', 'natural_frequency': 12.5, 'latency': 0.05, 'drives': {'command_delay': 8},
        'plant_error': {'payload': 1e-7, 'com_shift': [0.0, 0.01, 0.0]}, 'scene': "a 'b' file",
    },
    compare_controllers: {'laws': 'pd,servo', 'tasks': ['step', 'push'], 'workers': 1},
    margins: {'noise': (1e-5, 0.1), 'delay': 3, 'simulate': True, 'contact': [1e3, 1e6]},
    tune: {'law': 'pd', 'generations': 3, 'population': 5, 'workers': 2, 'seed': 7},
    judge: {'controller': ['python3', 'my controller.py', '--fast'], 'limits': 'x.yaml'},
}  # fmt: skip


@pytest.mark.parametrize('module', GIVEN)
def test_the_words_of_options_are_read_as_the_same_options(module):
    options = from_python(module.Options, GIVEN[module])
    words = words_of(options)
    assert read(module.Options, 'command', words) == options
    name = module.__name__.rpartition('.')[2]
    assert shlex.split(options.line()) == ['python', '-m', 'arm_sim', name, *words]
    assert words_of(from_python(module.Options, {})) == []


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'lawz': 'pd'}, "unknown argument 'lawz'; nearest known: 'law'"),
        ({'natural_frequency': -1}, 'natural_frequency is -1; it must be'),
        ({'natural_frequency': 'high'}, "natural_frequency is 'high'; it must be a number"),
        ({'engine': 'mujocco'}, "'mujocco'"),
        ({'law': ['pd']}, r"law is \['pd'\]; it must be a text"),
    ],
)
def test_a_wrong_argument_is_refused_in_one_line(options, message):
    with pytest.raises(ArmError, match=message):
        arm_sim.run('planar_3r', **options)


def test_a_call_has_the_options_of_its_command_and_writes_only_where_it_is_asked_to(tmp_path):
    def does(options):
        return Report(
            options.sweep, [Listing('<a>', ['x', 'y'], [['1', '&']])], [{}], None, 'line'
        )

    made = call(compare_controllers.Options, does, 'Summary.', sweep='payload')
    parameters = inspect.signature(made).parameters
    assert next(iter(parameters)) == 'sweep'
    assert parameters['sweep'].default == 'payload'
    assert parameters['workers'].kind == inspect.Parameter.KEYWORD_ONLY
    assert 'natural_frequency: design frequency' in made.__doc__
    found = made('friction')
    assert (found.name, repr(found)) == ('friction', '<a>\nx  y\n1  &\nline')
    assert '<caption>&lt;a&gt;</caption>' in found.listings[0].html()
    assert '<td style="text-align:right;">&amp;</td>' in found.listings[0].html()


# Commands that are no experiments: they look at a machine, at files, or at another robot.
TOOLS = {
    'doctor',
    'report_bug',
    'try_robots',
    'lessons',
    'export',
    'compare_recordings',
    'tune_pose_hold',
}
NAMES = {'compare_controllers': {'compare', 'sweep', 'monte_carlo'}}


def test_every_experiment_of_the_command_line_is_a_call_that_is_typed_and_on_the_page():
    files = ROOT.glob('arm_*/commands/*.py')
    commands = {
        file.stem for file in files if re.search(r'^(main =|@command)', file.read_text(), re.M)
    }
    expected = set().union(*(NAMES.get(name, {name}) for name in commands - TOOLS))
    calls = {*dir(arm_sim)} - {*vars(arm_sim), 'explore'}
    assert calls == expected
    stub = Path(arm_sim.__file__).with_suffix('.pyi').read_text()
    typed = {each.name: each for each in ast.parse(stub).body if isinstance(each, ast.FunctionDef)}
    assert typed.keys() == calls
    page = (ROOT / 'docs' / 'python.md').read_text()
    for name in sorted(calls):
        given = inspect.signature(getattr(arm_sim, name)).parameters.values()
        first = [(x.name, x.default) for x in given if x.kind is x.POSITIONAL_OR_KEYWORD]
        own = typed[name].args
        stubbed = [
            (x.arg, ast.literal_eval(y)) for x, y in zip(own.args, own.defaults, strict=True)
        ]
        assert stubbed == first, name
        assert f'`arm_sim.{name}`' in page or f'`{name}`' in page
    with pytest.raises(AttributeError, match='no attribute'):
        _ = arm_sim.nothing


def test_an_option_that_may_be_repeated_takes_one_value_or_a_list():
    heavy = {'mass_scale': [1.05]}
    for given, count in ((heavy, 1), ('{payload: 1.0}', 1), ([heavy, {'payload': 1.0}], 2)):
        options = from_python(learn.Options, {'error': given})
        assert len(options.error) == count
        words = words_of(options)
        assert words[::2] == ['--error'] * count
        assert read(learn.Options, 'learn', words) == options


def test_a_list_of_numbers_may_be_a_text_and_a_path_is_one_but_no_other_type_is_a_number(tmp_path):
    for noise in ((1e-5, 1), [1e-5, 1.0], '1e-5, 1'):
        assert from_python(margins.Options, {'noise': noise}).noise == (1e-5, 1.0)
    assert from_python(run.Options, {'config': tmp_path}).config == str(tmp_path)
    assert from_python(judge.Options, {'controller': [tmp_path]}).controller == (str(tmp_path),)
    for noise in ('1,x', [True, 1.0], [None, 1.0]):
        must = re.escape(f'noise is {noise!r}; it must be a number or a list of numbers')
        with pytest.raises(ArmError, match=must):
            from_python(margins.Options, {'noise': noise})


def test_a_folder_that_is_new_and_empty_goes_again_after_a_refusal(tmp_path, monkeypatch):
    older = tmp_path / 'older'
    older.mkdir()
    for folder in (older, tmp_path / 'new'):
        with pytest.raises(ArmError, match="law is 'nothing'"):
            arm_sim.margins(law='nothing', output_dir=str(folder))
        assert run.main(['--law', 'nothing', '--output-dir', str(folder)]) == 1
        assert tune.main(['--law', 'nothing', '--output-dir', str(folder)]) == 1
    assert list(tmp_path.rglob('*')) == [older]
