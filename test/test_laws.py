"""The laws that are found, and that what they promise is installed."""

from importlib.metadata import distribution
from pathlib import Path

import pytest

import arm_controllers.laws
from arm_controllers.laws import law_class, law_names
from arm_dynamics import ArmError
from arm_sim import executables


def test_laws_are_the_files_of_their_folder():
    files = Path(arm_controllers.laws.__file__).parent.glob('[!_]*.py')
    assert law_names() == tuple(sorted(file.stem for file in files))
    assert 'computed_torque' in law_names()


@pytest.mark.parametrize('name', law_names())
def test_every_law_has_the_parameters_and_interface_that_nodes_ask_for(name):
    law = law_class(name)
    assert law.__module__ == f'arm_controllers.laws.{name}'
    assert law.command_interface in ('position', 'effort', 'voltage')
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
