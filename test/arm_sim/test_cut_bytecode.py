"""Bytecode that a power cut has cut off: named, deleted, and written again."""

import os
import py_compile
import subprocess
import sys

import pytest
from repository import ROOT

from arm_sim.cut_bytecode import cut_files
from arm_tools.commands import doctor_checks


def cut(file, size):
    file.write_bytes(file.read_bytes()[:size])


@pytest.mark.slow
def test_an_executable_names_and_deletes_what_it_cannot_read_and_starts_the_next_time(tmp_path):
    environment = os.environ | {'PYTHONPYCACHEPREFIX': str(tmp_path)}
    environment.pop('PYTHONDONTWRITEBYTECODE', None)

    def done():
        command = [sys.executable, '-m', 'arm_sim.executables', 'doctor', '--help']
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)

    assert done().returncode == 0
    (file,) = tmp_path.rglob('doctor_checks.*.pyc')
    cut(file, 500)
    again = done()
    assert (again.returncode, again.stdout) == (1, '')
    assert again.stderr == (
        f'doctor: {file} was cut off, as by a power cut, and is deleted: start again\n'
    )
    assert done().returncode == 0


def test_the_doctor_names_each_file_and_the_command_that_deletes_it(tmp_path, monkeypatch):
    files = {}
    for name in ('whole', 'cut', 'header'):
        (tmp_path / f'{name}.py').write_text('x = 1\n' * 9)
        files[name] = type(tmp_path)(py_compile.compile(str(tmp_path / f'{name}.py')))
    monkeypatch.setattr(sys, 'path', [str(tmp_path), str(tmp_path)])
    assert doctor_checks.bytecode()[0].detail == 'complete'
    cut(files['cut'], 40)
    cut(files['header'], 9)  # Python writes it again
    assert [*cut_files()] == [str(files['cut'])]
    (found,) = doctor_checks.bytecode()
    assert found.state == 'MISSING'
    assert found.detail == f'cut off: {files["cut"].name}'
    assert found.advice == f'after a power cut: rm {files["cut"]}'
