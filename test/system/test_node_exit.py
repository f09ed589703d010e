"""How a node's process ends."""

import subprocess
import sys

from patience import PATIENCE

INTERRUPTED = """
import os, signal, sys
from arm_controllers.ros.running import run_node
def make():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt as error:
        raise ImportError('initialization failed') from error
sys.exit(run_node('node', make))
"""


def test_ctrl_c_amid_the_import_of_a_c_extension_ends_without_traceback():
    ended = subprocess.run(
        [sys.executable, '-c', INTERRUPTED], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (ended.returncode, ended.stderr) == (0, '')
