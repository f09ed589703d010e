"""A package that is not installed is one line with pip's command."""

import subprocess
import sys

import pytest

from arm_dynamics.checks import typed
from arm_sim.extras import missing

LAB = typed('pip install "arm_sim[lab]"')
LINES = {
    'cma': ('cma', '[lab]'),
    'PIL': ('pillow', '[lab]'),
    'mcap.stream_reader': ('mcap', '[view]'),
    'viser': ('viser', '[view]'),
    'imageio_ffmpeg': ('imageio-ffmpeg', '[view]'),
    'eaik': ('eaik', '[plan]'),
    'gymnasium': ('gymnasium', '[learn]'),
    'xacro': ('xacro', '[robots]'),
}


@pytest.mark.parametrize('by', ['', './ws '])
def test_the_extra_that_brings_a_module_is_named_as_its_user_types_it(by, monkeypatch):
    monkeypatch.delenv('ARM_SIM_WS', raising=False)
    if by:
        monkeypatch.setenv('ARM_SIM_WS', 'yes')
    for module, (package, extra) in LINES.items():
        line = f'needs {package}: {by}pip install "arm_sim{extra}"'
        assert missing(ModuleNotFoundError(name=module)) == line
    assert missing(ModuleNotFoundError(name='my_module')) == ''


def run(code):
    blocked = "import sys; sys.modules['tyro'] = None; "
    return subprocess.run([sys.executable, '-c', blocked + code], capture_output=True, text=True)


def test_a_command_without_its_extra_says_so_in_one_line():
    code = "sys.argv = ['', 'tune']; from arm_sim.executables import main; sys.exit(main())"
    done = run(code)
    assert (done.returncode, done.stderr) == (1, f'tune needs tyro: {LAB}\n')


def test_a_call_without_its_extra_says_so_in_its_error():
    done = run('import arm_sim; arm_sim.run()')
    last = done.stderr.splitlines()[-1]
    assert last == f'ModuleNotFoundError: arm_sim.run needs tyro: {LAB}'
