"""Folders for files that only this process needs."""

import atexit
import shutil
import tempfile
from pathlib import Path


def temporary_folder() -> Path:
    """Return a new folder that is removed when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix='arm_sim_'))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
