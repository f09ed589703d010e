"""A package that is not installed is one line with pip's command."""

import subprocess
import sys

import pytest

from arm_sim.extras import missing

LINES = {
    'cma': 'needs cma: pip install "arm_sim[lab]"',
    'PIL': 'needs pillow: pip install "arm_sim[lab]"',
    'mcap.stream_reader': 'needs mcap: pip install "arm_sim[view]"',
    'viser': 'needs viser: pip install "arm_sim[view]"',
    'imageio_ffmpeg': 'needs imageio-ffmpeg: pip install "arm_sim[view]"',
    'eaik': 'needs eaik: pip install "arm_sim[plan]"',
    'gymnasium': 'needs gymnasium: pip install "arm_sim[learn]"',
    'xacro': 'needs xacro: pip install "arm_sim[robots]"',
    'my_module': '',
}


@pytest.mark.parametrize(('module', 'line'), LINES.items())
def test_the_extra_that_brings_a_module_is_named(module, line):
    assert missing(ModuleNotFoundError(name=module)) == line


def run(code):
    blocked = "import sys; sys.modules['tyro'] = None; "
    return subprocess.run([sys.executable, '-c', blocked + code], capture_output=True, text=True)


def test_a_command_without_its_extra_says_so_in_one_line():
    code = "sys.argv = ['', 'tune']; from arm_sim.executables import main; sys.exit(main())"
    done = run(code)
    assert (done.returncode, done.stderr) == (1, 'tune needs tyro: pip install "arm_sim[lab]"\n')


def test_a_call_without_its_extra_says_so_in_its_error():
    done = run('import arm_sim; arm_sim.run()')
    last = done.stderr.splitlines()[-1]
    assert last == 'ModuleNotFoundError: arm_sim.run needs tyro: pip install "arm_sim[lab]"'
