"""The examples that write policies: what keeps a file from being written is said at once."""

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


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    model = SimpleNamespace(SerializeToString=bytes)
    with pytest.raises(ArmError, match='none/policy.onnx.*: No such file or directory'):
        save(model, str(tmp_path / 'none' / 'policy.onnx'))


def test_a_training_that_ends_early_leaves_the_older_policy(monkeypatch, tmp_path):
    optional('onnx', 'onnx>=1.17')
    older = tmp_path / 'policy.onnx'
    older.write_text('older')
    monkeypatch.setattr('cma.CMAEvolutionStrategy.ask', None)
    words = ['train_policy', str(older), '--robot', 'planar_3r', '--arms', '1']
    monkeypatch.setattr(sys, 'argv', words)
    with pytest.raises(TypeError):
        load_script('examples/train_policy.py').main()
    assert [older.read_text(), *tmp_path.iterdir()] == ['older', older]
