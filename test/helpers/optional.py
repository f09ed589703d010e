"""Optional parts for the tests that need them: installed on first use, in their own folder."""

import fcntl
import importlib
import importlib.util
import subprocess
import sys

from repository import ROOT


def optional(module, requirement):
    """Return the folder that a Python needs on its path to have a module; '' where it has it.

    What is missing is installed into build/optional, which nothing but these tests looks into.
    """
    folder = ROOT / 'build' / 'optional' / module
    if str(folder) in sys.path:  # of this process alone, by an earlier test
        return str(folder)
    if importlib.util.find_spec(module):
        return ''
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix('.lock').open('w') as lock:  # another worker may need it as well
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not any(folder.glob(f'{module}*')):
            command = [sys.executable, '-m', 'pip', 'install', '--quiet', '--target', str(folder)]
            done = subprocess.run([*command, requirement], capture_output=True, text=True)
            assert any(folder.glob(f'{module}*')), done.stderr
    sys.path.append(str(folder))
    importlib.invalidate_caches()
    return str(folder)
