"""Things found by name: in a folder, and in other installed packages."""

import math
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from plugins import write_plugins

from arm_dynamics import RobotModel
from arm_dynamics.checks import ArmError
from arm_dynamics.plugins import PluginRegistry
from arm_dynamics.robots import find_urdf
from arm_dynamics.urdf_rules import RULES, rules

GROUP = 'arm_sim.things'


@pytest.fixture
def things(tmp_path, monkeypatch):
    """Return a folder of things, and plugins of other packages."""
    folder = tmp_path / 'own' / 'some_things'
    folder.mkdir(parents=True)
    (folder / '__init__.py').touch()
    (folder / '_helper.py').write_text('raise RuntimeError("a helper was imported")')
    (folder / 'big_box.py').write_text('from math import pi\nclass BigBox: size = pi')
    (folder / 'tools.py').write_text('class Tools: size = 2')
    (folder / 'empty.py').touch()
    plugins = write_plugins(
        tmp_path / 'plugins',
        {'good': 'class Lid: size = 1', 'bad': 'import no_such_library', 'raises': '1 / 0'},
        {
            GROUP: {
                'lid': 'good:Lid',
                'bad': 'bad:Thing',
                'raises': 'raises:Thing',
                'gone': 'good:Gone',
                'tools': 'good:Lid',
                'no-name': 'good:Lid',
            },
            'another.group': {'other': 'good:Lid'},
        },
    )
    monkeypatch.setattr(sys, 'path', [str(folder.parent), str(plugins), *sys.path])
    yield PluginRegistry('thing', 'some_things', GROUP, ('size',))
    for name in [name for name in sys.modules if name.startswith(('some_things', 'plugins_of'))]:
        del sys.modules[name]


def test_names_are_those_of_modules_and_plugins_and_import_neither(things):
    names = 'bad', 'big_box', 'empty', 'gone', 'lid', 'no-name', 'raises', 'tools'
    assert things.names() == names
    assert not [name for name in sys.modules if name.startswith(('some_things.', 'plugins_of'))]


def test_a_module_brings_what_has_its_name_but_for_case_and_underscores(things):
    assert things.load('big_box').__name__ == 'BigBox'
    assert things.load('lid').__name__ == 'Lid'


@pytest.mark.parametrize(
    ('name', 'words'),
    [
        ('cup', "^thing is 'cup'; allowed: bad, big_box"),
        ('bad', r"^thing 'bad' \(plugins_of_a_user.bad:Thing of package 'plugins_of_a_user'\)"),
        ('bad', "cannot be imported: ModuleNotFoundError: No module named 'no_such_library'$"),
        ('raises', 'cannot be imported: ZeroDivisionError: division by zero$'),
        ('gone', "cannot be imported: AttributeError: .* has no attribute 'Gone'$"),
        ('tools', 'has the name of some_things.tools; it needs another one$'),
        ('no-name', 'a name must be of letters, digits and underscores$'),
        ('empty', r"^thing 'empty': .*some_things/empty.py has no class 'Empty'$"),
    ],
)
def test_a_bad_one_is_refused_in_one_line_once_it_is_asked_for(things, name, words):
    with pytest.raises(ArmError, match=words) as caught:
        things.load(name)
    assert '\n' not in str(caught.value)


def test_broken_ones_are_left_out_in_one_line_each_and_the_others_work(things, capfd):
    (Path(import_module('some_things').__file__).parent / 'empty.py').unlink()
    things.needs = ()
    made = things.load_all(lambda thing: thing().size)
    assert made == {'big_box': math.pi, 'lid': 1, 'tools': 2}
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 5
    for name, line in zip(('bad', 'gone', 'no-name', 'raises', 'tools'), said, strict=True):
        assert line.startswith(f"arm_sim: thing '{name}' (plugins_of_a_user.")
        assert line.endswith('; it is left out')
    things.load_all(lambda thing: thing().size)
    assert capfd.readouterr().err == ''


def test_a_plugin_that_lacks_what_is_needed_is_refused(things):
    things = PluginRegistry('thing', 'some_things', GROUP, ('size', 'weight', 'smell'))
    with pytest.raises(ArmError, match=r"^thing 'lid' \(.*\) has no weight, smell$"):
        things.load('lid')
    with pytest.raises(ArmError, match=r"^thing 'big_box' \(.*big_box.py\) has no weight, smell$"):
        things.load('big_box')
    things.base = dict
    with pytest.raises(ArmError, match=r"^thing 'big_box' \(.*\) is no subclass of .*dict$"):
        things.load('big_box')


@pytest.mark.slow
def test_plugins_are_seen_by_a_process_that_has_them_on_its_path(tmp_path):
    folder = write_plugins(tmp_path, {'a': 'class A: pass'}, {'arm_sim.x': {'one': 'a:A'}})
    code = (
        'from arm_dynamics.plugins import PluginRegistry\n'
        "print(PluginRegistry('x', 'json', 'arm_sim.x').load('one'))"
    )
    run = subprocess.run(
        [sys.executable, '-c', code], env={'PYTHONPATH': f'{folder}:{":".join(sys.path)}'},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout == "<class 'plugins_of_a_user.a.A'>\n"


BAD_RULES = {
    'bad': 'import no_such_library',
    'good': 'from arm_dynamics.urdf_rules import UrdfRule\n'
    'class RaisesRule(UrdfRule):\n    def __init__(self): 1 / 0\n',
}


def test_a_broken_rule_for_urdfs_is_named_and_every_robot_loads(tmp_path, monkeypatch, capfd):
    entries = {
        'arm_dynamics.urdf_rules': {
            'of_house': 'bad:HouseRule',
            'raises': 'good:RaisesRule',
            'units': 'good:RaisesRule',
        }
    }
    monkeypatch.syspath_prepend(str(write_plugins(tmp_path, BAD_RULES, entries)))
    RULES.refresh()
    rules.cache_clear()
    try:
        assert RobotModel(find_urdf('planar_3r')).nv == 3
        assert {type(rule).__name__ for rule in rules()} >= {'UnitsRule', 'StructureRule'}
    finally:
        monkeypatch.undo()
        RULES.refresh()
        rules.cache_clear()
    first, second, third = capfd.readouterr().err.splitlines()
    assert first.startswith("arm_sim: rule for URDFs 'of_house' (plugins_of_a_user.bad:HouseRule ")
    assert first.endswith("No module named 'no_such_library'; it is left out")
    assert second.endswith('division by zero; it is left out')
    assert third.endswith('has the name of arm_dynamics.urdf_rules.units; it needs another one; '
                          'it is left out')  # fmt: skip
