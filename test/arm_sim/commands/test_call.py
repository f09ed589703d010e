"""Commands as Python calls: the same options, and a command line that gives the same."""

import inspect
import shlex

import pytest

import arm_sim
from arm_dynamics.checks import ArmError
from arm_sim.command_line import read
from arm_sim.commands import compare_controllers, judge, margins, run, tune
from arm_sim.commands.call import call
from arm_sim.experiments.report import Listing, Report
from arm_sim.options import from_python, words_of

GIVEN = {
    run: {
        'law': 'pd', 'natural_frequency': 12.5, 'drives': {'command_delay': 8},
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
    ],
)
def test_a_wrong_argument_is_refused_in_one_line(options, message):
    with pytest.raises(ArmError, match=message):
        arm_sim.run('planar_3r', **options)


def test_a_call_has_the_options_of_its_command_and_writes_only_where_it_is_told(tmp_path):
    def does(options, console, folder):
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


def test_every_call_is_found_and_a_name_that_is_none_is_refused():
    for name in ('run', 'compare', 'sweep', 'monte_carlo', 'tune', 'margins', 'judge', 'plan'):
        assert callable(getattr(arm_sim, name))
        assert name in dir(arm_sim)
    with pytest.raises(AttributeError, match='no attribute'):
        _ = arm_sim.nothing
