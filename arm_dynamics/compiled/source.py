"""Generates the Python source of a module with the straight-line dynamics of one arm."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from arm_dynamics.compiled import algorithms
from arm_dynamics.compiled.expressions import Program, Scalar
from arm_dynamics.compiled.links import Link, joint_count, links_of
from arm_dynamics.model import RobotModel

_HEAD = """# Dynamics of the arm {name!r}, written by arm_dynamics.compiled: do not edit.

from numba import njit

from arm_dynamics.compiled.sincos import sincos

"""

_COMPILED = "@njit(cache=True, error_model='numpy', nogil=True)"
# For the function that every step of a simulation calls. It is inlined into the calling loops,
# because passing seven arrays takes a tenth of its time. Products and sums are not fused, which
# would save a tenth: the compiler's choice depends on the surrounding loop and the processor, and
# with it the last bits of all results would.
_IN_LOOPS = "@njit(cache=True, error_model='numpy', nogil=True, forceinline=True)"

_FREE_LINKS = 'articulated_dynamics'  # for arms whose links all move by joints of their own

# Name, arguments after q, results, algorithm, decorator.
_FUNCTIONS = (
    ('forward_dynamics', 'v tau armature', 'a', algorithms.factorised_dynamics, _IN_LOOPS),
    (_FREE_LINKS, 'v tau free', 'a load', algorithms.articulated_dynamics, _COMPILED),
    ('inverse_dynamics', 'v a', 'tau', algorithms.inverse_dynamics, _COMPILED),
    ('mass_matrix', '', 'm', algorithms.mass_matrix, _COMPILED),
    ('placements', '', 'rotation translation', algorithms.placements, _COMPILED),
)


def module_source(model: RobotModel, loops: str = '') -> str:
    """Return the module's source, with the source `loops` appended; equal for equal arms."""
    links = links_of(model)
    known = [each for each in _FUNCTIONS if model.mimic is None or each[0] != _FREE_LINKS]
    functions = [_function(links, model.gravity, *each) for each in known]
    rollouts = Path(__file__).with_name('rollouts.py').read_text()
    head = _HEAD.format(name=model.name) + sincos_source(links)
    return '\n'.join([head, *functions, rollouts, loops])


def sincos_source(links: Sequence[Link], lanes: int = 1) -> str:
    """Return a `sincos` that knows the joints that follow others; '' where none does."""
    n = joint_count(links)
    lines = [
        f'sine[{link.angle * lanes} + k] = '
        f'{link.multiplier!r} * q[{link.coordinate * lanes} + k] + {link.offset!r}'
        for link in links
        if link.angle >= n
    ]
    if not lines:
        return ''
    body = '\n        '.join([f'for k in range({lanes}):', *lines])
    rest = ', '.join(f'{each}[{n * lanes}:]' for each in ('sine', 'sine', 'cosine'))
    return (
        f'\nsincos_of = sincos\n\n{_COMPILED}\ndef sincos(q, sine, cosine):\n'
        f'    sincos_of(q, sine, cosine)\n    {body}\n    sincos_of({rest})\n'
    )


def _function(
    links: list[Link],
    gravity: np.ndarray,
    name: str,
    arguments: str,
    results: str,
    algorithm: Callable[..., Sequence[object]],
    decorator: str,
) -> str:
    """Return a compiled function; `sine`, `cosine` (n,) are scratch, results are written to."""
    program = Program()
    n = joint_count(links)
    placing = [program.inputs('q', n)]
    placing += [program.inputs(each, len(links)) for each in ('sine', 'cosine')]
    inputs = [program.inputs(each, n) for each in arguments.split()]
    values = algorithm(algorithms.PlacedArm.of(links, gravity, *placing), *inputs)
    outputs: list[tuple[str, Scalar]] = []
    for result, entries in zip(results.split(), values, strict=True):
        for index, value in np.ndenumerate(np.array(entries, dtype=object)):
            outputs.append((f'{result}[{", ".join(map(str, index))}]', value))
    lines = '\n    '.join(['sincos(q, sine, cosine)', *program.statements(outputs)])
    names = ', '.join(['q', *arguments.split(), 'sine', 'cosine', *results.split()])
    return f'\n{decorator}\ndef {name}({names}):\n    {lines}\n'
