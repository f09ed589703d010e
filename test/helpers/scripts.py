"""Scripts of the project as modules, for tests of what is in them."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from repository import ROOT


def load_script(path: str) -> ModuleType:
    """Return the module of a file, by its path in the project."""
    folder = str((ROOT / path).parent)  # where it finds the other scripts
    if folder not in sys.path:
        sys.path.append(folder)
    name = Path(path).stem.strip('_')  # as '__main__' the module would run
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
