"""Write arm_sim/__init__.pyi, by which editors complete `arm_sim.`, from the calls themselves.

./ws python tools/stub.py
"""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_origin

import arm_sim
from arm_lab.options import every_field
from arm_sim.registered import calls

FILE = Path(__file__).resolve().parent.parent / 'arm_sim' / '__init__.pyi'
_OWN = {'explore': 'from arm_sim.notebook import explore as explore'}  # has a signature of its own


def stub() -> str:
    """Return the text of the file."""
    imports, functions = {*_OWN.values()}, []
    for name, module in calls().items():
        if name in _OWN:
            continue
        signature = inspect.signature(getattr(arm_sim, name))
        result = signature.return_annotation
        imports.add(f'from {result.__module__} import {result.__name__}')
        hints = {each.name: hint for _, each, hint in every_field(sys.modules[module].Options)}
        first = [
            f'{each.name}: {_text(hints[each.name])} = {each.default!r}'
            for each in signature.parameters.values()
            if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        ]
        words = ', '.join([*first, '**options: Any'])
        functions.append(f'def {name}({words}) -> {result.__name__}: ...')
    head = ['from collections.abc import Sequence', 'from typing import Any', '']
    text = '\n'.join([*head, *sorted(imports), '', *functions, ''])
    words = [sys.executable, '-m', 'ruff', 'format', '--stdin-filename', str(FILE)]
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout


def _text(hint: object) -> str:
    """Return the type of an argument; a list of any kind may be given for a tuple."""
    if get_origin(hint) is tuple:
        return f'Sequence[{get_args(hint)[0].__name__}]'
    return getattr(hint, '__name__', str(hint))


if __name__ == '__main__':
    FILE.write_text(stub())
