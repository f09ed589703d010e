"""Generates the Python source of modules with the dynamics of many arms, LANES arms side by side.

Each value of the straight-line program is that of LANES arms, adjacent in memory, so that the
compiler vectorises the loop over them. Vector instructions round as scalar ones do: an arm's
numbers are independent of the other arms. Inertial parameters are arguments: one module serves
all arms of the same geometry.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiled import algorithms, frame_algorithms
from arm_dynamics.compiled.expressions import Program, Scalar
from arm_dynamics.compiled.lane_blocks import LANES
from arm_dynamics.compiled.links import Link, joint_count
from arm_dynamics.compiled.source import sincos_source

_HEAD = """# Dynamics of {lanes} arms at once, by arm_dynamics.compiled: do not edit.

import numpy as np
from numba import njit

from arm_dynamics.compiled.sincos import sincos
from arm_dynamics.compiled.lane_blocks import LANES, load, store

JOINTS, LINKS = {joints}, {links}
"""
_COMPILED = "@njit(cache=True, error_model='numpy', nogil=True)"

# Entries of a link's inertia (6, 6) that its joint torques depend on; see `links_of`.
_REVOLUTE = ((0, 5), (1, 5), (3, 3), (3, 4), (3, 5), (4, 5), (5, 5))
_PRISMATIC = ((0, 0), (0, 4), (0, 5), (1, 5), (3, 3), (3, 4), (3, 5), (4, 4), (4, 5), (5, 5))

# Name, arguments after q, algorithm.
_DYNAMICS = (
    ('forward_dynamics', 'v tau armature', algorithms.factorised_dynamics),
    ('inverse_dynamics', 'v a', algorithms.inverse_dynamics),
    ('mass_matrix', '', algorithms.mass_matrix),
    ('coriolis_matrix', 'v', algorithms.coriolis_matrix),
)


def inertia_values(links: Sequence[Link]) -> Array:
    """Return an arm's `inertia` (p,), an argument of the generated functions."""
    return np.array([link.inertia[entry] for link in links for entry in _entries(link)])


def dynamics_source(links: Sequence[Link], gravity: Array) -> str:
    """Return the module of the dynamics of arms with this geometry, and of their steps."""
    count, n = len(inertia_values(links)), joint_count(links)
    parts = [_head(links)]
    for name, arguments, algorithm in _DYNAMICS:
        program = Program()
        movable = _with_inertias(links, _inputs(program, 'inertia', count))
        sizes = dict.fromkeys(arguments.split(), n)
        parts += _function(program, name, movable, gravity, sizes, algorithm, ['inertia'])
    steps = Path(__file__).with_name('lane_steps.py').read_text()
    return '\n'.join([*parts, steps])


def regressor_source(links: Sequence[Link], gravity: Array) -> str:
    """Return the module of Y(q, v, w, dw) (n, 10 n), with Pinocchio's inertial parameters."""
    n = joint_count(links)
    sizes = {'mean': n, 'half': n, 'dw': n}
    algorithm = algorithms.regressor
    return '\n'.join(
        [_head(links), *_function(Program(), 'regressor', links, gravity, sizes, algorithm)]
    )


def derivatives_source(links: Sequence[Link], gravity: Array) -> str:
    """Return the module of the torque and its derivatives, (n (1 + 3 n),) in one row."""
    program, n = Program(), joint_count(links)
    movable = _with_inertias(links, _inputs(program, 'inertia', len(inertia_values(links))))
    algorithm = algorithms.inverse_dynamics_derivatives
    parts = _function(
        program, 'derivatives', movable, gravity, {'v': n, 'a': n}, algorithm, ['inertia']
    )
    return '\n'.join([_head(links), *parts])


def frame_source(links: Sequence[Link], link: int, rotation: Array, point: Array) -> str:
    """Return the module of a frame's motion: one that is fixed to a link (-1: to the base)."""
    n = joint_count(links)
    frame = frame_algorithms.Frame(link, rotation, point)
    parts = [_head(links)]
    for name, sizes, algorithm in (
        ('pose', {}, frame.pose),
        ('jacobian', {}, frame.jacobian),
        ('motion', {'v': n, 'a': n}, frame.motion),
        ('wrench_torque', {'wrench': 6}, frame.wrench_torque),
    ):
        parts += _function(Program(), name, links, np.zeros(3), sizes, algorithm)
    return '\n'.join(parts)


def _head(links: Sequence[Link]) -> str:
    head = _HEAD.format(lanes=LANES, joints=joint_count(links), links=len(links))
    return head + sincos_source(links, LANES)


def _entries(link: Link) -> tuple[tuple[int, int], ...]:
    return _PRISMATIC if link.prismatic else _REVOLUTE


def _with_inertias(links: Sequence[Link], values: list[object]) -> list[Link]:
    """Return the links with these scalars as their inertial parameters."""
    waiting, found = iter(values), []
    for link in links:
        inertia = np.zeros((6, 6), dtype=object)
        for i, j in _entries(link):
            inertia[i, j] = inertia[j, i] = next(waiting)
        # The upper right block is -[h]x, with h the first moment; the mass is a multiple of one.
        for (i, j), (k, m) in (((2, 4), (1, 5)), ((2, 3), (0, 5)), ((1, 3), (0, 4))):
            inertia[i, j] = inertia[j, i] = -inertia[k, m]
        inertia[1, 1] = inertia[2, 2] = inertia[0, 0]
        found.append(replace(link, inertia=inertia))
    return found


def _inputs(program: Program, name: str, count: int) -> list[Any]:
    """Return the expressions of `count` numbers, each of LANES arms."""
    return [program.node('input', f'{name}[{i * LANES} + k]') for i in range(count)]


def _function(
    program: Program,
    name: str,
    links: Sequence[Link],
    gravity: Array,
    sizes: dict[str, int],
    algorithm: Callable[..., Sequence[object]],
    others: Sequence[str] = (),
) -> tuple[str, str]:
    """Return a function of one block of arms, and `<name>_of_many` of arrays (N, count).

    Arguments: q, sine, cosine, those of `sizes`, `others`, result; of many: without sine, cosine.
    """
    placing = [_inputs(program, 'q', joint_count(links))]
    placing += [_inputs(program, each, len(links)) for each in ('sine', 'cosine')]
    inputs = [_inputs(program, each, size) for each, size in sizes.items()]
    arm = algorithms.PlacedArm.of(list(links), gravity, *placing)
    outputs: list[tuple[str, Scalar]] = []
    for entries in algorithm(arm, *inputs):
        for value in np.array(entries, dtype=object).ravel():
            outputs.append((f'result[{len(outputs) * LANES} + k]', value))
    lines = '\n        '.join(program.statements(outputs))
    names = ', '.join(['q', 'sine', 'cosine', *sizes, *others, 'result'])
    one = f'\n{_COMPILED}\ndef {name}({names}):\n    for k in range({LANES}):\n        {lines}\n'
    return one, _of_many(name, sizes, others, len(outputs))


def _of_many(name: str, sizes: dict[str, int], others: Sequence[str], count: int) -> str:
    """Return the source of the loop over blocks of arms."""
    blocks = {'q': 'JOINTS', 'sine': 'LINKS', 'cosine': 'LINKS', **sizes, 'result': count}
    made = [f'{each}_block = np.zeros({size} * LANES)' for each, size in blocks.items()]
    loads = [f'load({each}, first, {each}_block)' for each in ('q', *sizes)]
    of_block = [f'{each}[min(first // LANES, len({each}) - 1)]' for each in others]
    given = [f'{each}_block' for each in ('q', 'sine', 'cosine', *sizes)]
    steps = [
        *loads,
        'sincos(q_block, sine_block, cosine_block)',
        f'{name}({", ".join([*given, *of_block, "result_block"])})',
        'store(result_block, first, result)',
    ]
    names = ', '.join(['q', *sizes, *others, 'result'])
    body = '\n    '.join([*made, 'for first in range(0, len(q), LANES):'])
    return (
        f'\n{_COMPILED}\ndef {name}_of_many({names}):\n    {body}\n        '
        + '\n        '.join(steps)
        + '\n'
    )
