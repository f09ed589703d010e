"""The command `export`: what it refuses before it reads."""

import sys

from arm_dynamics.checks import typed
from arm_tools.commands import export


def test_without_pyarrow_no_recording_is_read(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, 'pyarrow', None)
    assert export.main([str(tmp_path / 'nowhere.mcap')]) == 1
    error = capsys.readouterr().err
    assert 'the export needs pyarrow: ' + typed("pip install 'pyarrow>=17'") in error
    assert 'nowhere' not in error
