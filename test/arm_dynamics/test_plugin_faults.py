"""What the code of a plugin raises is one line; other errors stay as they are."""

import warnings

import numpy as np
import pytest
from plugins import write_plugins

from arm_dynamics.checks import ArmError
from arm_dynamics.plugin_faults import fault, named_faults

MODULE = """
import sys

import numpy as np


class OwnError(Exception):
    def __init__(self, a, b):
        super().__init__(f'{a}\\n{b}')


def fail():
    raise OwnError(1, 2)


def leave():
    sys.exit(0)


def half():
    row = np.zeros(2)
    row[:] = np.array([1 + 1j, 2])


def mute():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    raise Mute


def end():
    import os

    os._exit(0)


def end_of_child():
    import os

    child = os.fork()
    if child == 0:
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    folder = write_plugins(tmp_path, {'mine': MODULE}, {'arm_sim.measures': {'x': 'mine:fail'}})
    monkeypatch.syspath_prepend(str(folder))
    import plugins_of_a_user.mine as mine

    return mine


@pytest.mark.parametrize(
    ('name', 'words'),
    [
        ('fail', r'line 13\): OwnError: 1 2$'),
        ('leave', r'line 17\) ends the process by sys\.exit\(0\)$'),
        ('half', r'line 22\): ComplexWarning: .*imaginary'),
        ('mute', r'line 30\): Mute$'),
        ('end', r'line 36\) ends the process by os\._exit\(0\)$'),
    ],
)
def test_an_error_of_a_plugin_is_one_line_with_file_and_line(plugin, name, words):
    expected = rf"^plugin 'plugins_of_a_user.mine' \(.*mine\.py, {words}"
    with pytest.raises(ArmError, match=expected), named_faults():
        getattr(plugin, name)()


def test_a_process_that_a_plugin_has_forked_ends_as_it_likes(plugin):
    with named_faults():
        assert plugin.end_of_child() == 7


def test_errors_of_these_packages_and_of_arguments_stay():
    with pytest.raises(KeyError), named_faults():
        raise KeyError('ours')
    with pytest.raises(SystemExit), named_faults():
        raise SystemExit(2)
    refusal = ArmError('no such robot')
    with pytest.raises(ArmError) as raised, named_faults():
        raise refusal
    assert raised.value is refusal
    assert fault('law', refusal) is refusal


def test_too_little_memory_is_one_line():
    with pytest.raises(ArmError, match='^not enough memory .*Unable to allocate'), named_faults():
        np.zeros(2**50)


def test_warnings_are_as_before_afterwards():
    before = list(warnings.filters)
    with named_faults():
        pass
    assert warnings.filters == before
