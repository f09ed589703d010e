"""Python's cached bytecode that is cut off, as after a power cut: each import of it fails."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import SourcelessFileLoader
from pathlib import Path
from traceback import walk_tb


def cut_file(error: BaseException) -> str:
    """Return the file of bytecode that an error comes from, or ''."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    if not frames or frames[-1].f_code.co_name != '_compile_bytecode':  # of Python's importlib
        return ''
    return str(frames[-1].f_locals.get('bytecode_path') or '')


def deleted(file: str) -> str:
    """Delete a file of bytecode, and return in words what was done, and what to do."""
    with suppress(OSError):
        os.remove(file)
        return f'{file} was cut off, as by a power cut, and is deleted: start again'
    return f'{file} is cut off, as by a power cut: delete it, rm {file}'


def cut_files() -> Iterator[str]:
    """Yield the files of bytecode that Python finds here, and cannot read.

    It writes those again that were made by another Python, or end within their first 16 bytes.
    """
    folders = dict.fromkeys(os.path.realpath(folder) for folder in sys.path if folder)
    for folder in folders:
        for file in Path(folder).rglob(f'__pycache__/*.{sys.implementation.cache_tag}.pyc'):
            try:
                SourcelessFileLoader('x', str(file)).get_code('x')
            except Exception as error:
                if cut_file(error):
                    yield str(file)
