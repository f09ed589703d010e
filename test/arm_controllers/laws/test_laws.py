"""The laws that are found, and that what they promise is installed."""

import re
from dataclasses import fields
from importlib.metadata import distribution
from pathlib import Path

import pytest
from repository import ROOT

import arm_controllers.laws
from arm_controllers.laws import law_class, law_names
from arm_dynamics import ArmError
from arm_dynamics.parameters import facts
from arm_sim import executables

PAGES = sorted((ROOT / 'docs' / 'laws').glob('*.md'))


def test_laws_are_the_files_of_their_folder():
    files = Path(arm_controllers.laws.__file__).parent.glob('[!_]*.py')
    assert law_names() == tuple(sorted(file.stem for file in files))
    assert 'computed_torque' in law_names()


@pytest.mark.parametrize('name', law_names())
def test_every_law_has_the_parameters_and_interface_that_nodes_ask_for(name):
    law = law_class(name)
    assert law.__module__ == f'arm_controllers.laws.{name}'
    assert law.command_interface in ('position', 'velocity', 'effort', 'voltage')
    assert law.lookahead in (0, 1)
    law.Parameters()


def test_an_unknown_law_lists_the_known_ones():
    with pytest.raises(ArmError, match=r"law is 'magic'; allowed: .*computed_torque"):
        law_class('magic')


def test_every_law_has_its_executable():
    scripts = distribution('arm_sim').entry_points.select(group='console_scripts')
    for name in law_names():
        assert callable(getattr(executables, f'{name}_controller'))
        assert f'{name}_controller' in scripts.names
    with pytest.raises(AttributeError, match='no executable'):
        _ = executables.nonsense


def as_written(default):
    if isinstance(default, tuple):
        default = default[0] if len(default) == 1 else list(default)
    return {'[]': 'none', '': 'empty'}.get(str(default), str(default))


@pytest.mark.parametrize('name', [page.stem for page in PAGES if page.stem in law_names()])
def test_a_laws_page_has_its_parameters_and_their_defaults(name):
    (page,) = (page for page in PAGES if page.stem == name)
    rows = re.findall(r'^- `([\w.]+)` \((.+?)\)', page.read_text(), re.MULTILINE)
    parameters = fields(law_class(name).Parameters)
    assert sorted(rows) == sorted(
        (facts(x).name or x.name, as_written(x.default)) for x in parameters
    )
