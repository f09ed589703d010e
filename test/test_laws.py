"""The registry of laws, and that what it promises is installed."""

import re
from pathlib import Path

import pytest

from arm_controllers.laws import LAWS, law_class
from arm_dynamics import ArmError
from arm_sim import executables

SETUP = (Path(__file__).parent.parent / 'setup.py').read_text()


@pytest.mark.parametrize('name', LAWS)
def test_every_law_has_the_name_parameters_and_interface_that_nodes_ask_for(name):
    law = law_class(name)
    assert law.name == name
    assert law.command_interface in ('position', 'effort', 'voltage')
    law.Parameters()


def test_an_unknown_law_lists_the_known_ones():
    with pytest.raises(ArmError, match=r"law is 'magic'; allowed: .*computed_torque"):
        law_class('magic')


def test_every_law_has_its_executable():
    installed = re.search(r'LAWS = \[(.*?)\]', SETUP, re.DOTALL).group(1)
    assert re.findall(r"'(\w+)'", installed) == sorted(LAWS)
    for name in LAWS:
        assert callable(getattr(executables, f'{name}_controller'))
    for name in re.findall(r"'(\w+)'", re.search(r'EXECUTABLES = \[(.*?)\*', SETUP, re.DOTALL)[1]):
        assert callable(getattr(executables, name))
    with pytest.raises(AttributeError, match='no executable'):
        _ = executables.nonsense
