"""The examples that write policies: what keeps a file from being written is said at once."""

import errno
import sys
from types import SimpleNamespace

import pytest
from optional import optional
from scripts import load_script

from arm_dynamics.checks import ArmError
from arm_lab.gym.export import save

optional('gymnasium', 'gymnasium>=1.1')


@pytest.mark.parametrize('name', ['train_policy', 'position_chunks'])
def test_without_onnx_an_example_says_what_to_install_and_trains_nothing(name, monkeypatch):
    monkeypatch.setitem(sys.modules, 'onnx', None)
    monkeypatch.setattr('cma.CMAEvolutionStrategy.ask', None)
    words = [name, 'policy.onnx', '--robot', 'planar_3r']
    monkeypatch.setattr(sys, 'argv', words)
    with pytest.raises(ArmError, match=r"the export needs onnx: .*pip install 'onnx>="):
        load_script(f'examples/{name}.py').main()


def test_a_file_that_cannot_be_written_is_named(monkeypatch):
    def refuse(model, path):
        raise FileNotFoundError(errno.ENOENT, 'No such file or directory')

    monkeypatch.setitem(sys.modules, 'onnx', SimpleNamespace(save=refuse))
    reason = "policy 'none/policy.onnx' cannot be written: No such file or directory"
    with pytest.raises(ArmError, match=reason):
        save(None, 'none/policy.onnx')
