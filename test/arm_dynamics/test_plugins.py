"""Things found by name: in a folder, and in other installed packages."""

import subprocess
import sys

import pytest
from plugins import write_plugins

from arm_dynamics.checks import ArmError
from arm_dynamics.plugins import PluginRegistry

GROUP = 'arm_sim.things'


@pytest.fixture
def things(tmp_path, monkeypatch):
    """Return a folder of things, and plugins of other packages."""
    folder = tmp_path / 'own' / 'some_things'
    folder.mkdir(parents=True)
    (folder / '__init__.py').touch()
    (folder / '_helper.py').write_text('raise RuntimeError("a helper was imported")')
    (folder / 'big_box.py').write_text('from math import pi\nclass BigBox: size = pi')
    (folder / 'tools.py').write_text('def tools(): pass')
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


def test_a_plugin_that_lacks_what_is_needed_is_refused(things):
    things = PluginRegistry('thing', 'some_things', GROUP, ('size', 'weight', 'smell'))
    with pytest.raises(ArmError, match=r"^thing 'lid' \(.*\) has no weight, smell$"):
        things.load('lid')
    with pytest.raises(ArmError, match=r"^thing 'big_box' \(.*big_box.py\) has no weight, smell$"):
        things.load('big_box')
    things.base = dict
    with pytest.raises(ArmError, match=r"^thing 'big_box' \(.*\) is no subclass of .*dict$"):
        things.load('big_box')


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
