"""The Python source of a module with an arm's straight-line functions."""

from pathlib import Path

import numpy as np

from arm_dynamics.compiled.codegen import algorithms
from arm_dynamics.compiled.codegen.expressions import Program, Scalar
from arm_dynamics.compiled.codegen.links import Link, links_of
from arm_dynamics.compiled.codegen.spatial import Transform
from arm_dynamics.model import RobotModel

_HEAD = """# Dynamics of the arm {name!r}, written by arm_dynamics.compiled.codegen: do not edit.

from numba import njit

from arm_dynamics.compiled.codegen.sincos import sincos

"""

_COMPILED = "@njit(cache=True, error_model='numpy', nogil=True)"
# For the function that every step of a simulation calls. It is inlined into the calling loops,
# because passing seven arrays takes a tenth of its time; products and sums are fused where the
# machine can do that.
_IN_LOOPS = (
    "@njit(cache=True, error_model='numpy', nogil=True, forceinline=True, fastmath={'contract'})"
)


def module_source(model: RobotModel, loops: str = '') -> str:
    """Return the module's source, with the text `loops` at its end; the same for the same arm."""
    links = links_of(model)
    parts = [
        _HEAD.format(name=model.name),
        _forward_dynamics(links, model.gravity),
        _articulated_dynamics(links, model.gravity),
        _inverse_dynamics(links, model.gravity),
        _mass_matrix(links),
        _placements(links),
        Path(__file__).with_name('rollouts.py').read_text(),
        loops,
    ]
    return '\n'.join(parts)


def forward_dynamics_values(
    links: list[Link], gravity: np.ndarray, program: Program
) -> list[Scalar]:
    """Return the accelerations of (M + diag(armature)) a = tau - bias."""
    n = len(links)
    transforms = _placed(links, program)
    v, tau, armature = (program.inputs(name, n) for name in ('v', 'tau', 'armature'))
    bias = algorithms.inverse_dynamics(links, transforms, gravity, v, [0.0] * n)
    matrix = algorithms.mass_matrix(links, transforms)
    for i in range(n):
        matrix[i][i] = matrix[i][i] + armature[i]
    return algorithms.solve(matrix, [t - b for t, b in zip(tau, bias, strict=True)])


def _forward_dynamics(links: list[Link], gravity: np.ndarray) -> str:
    program = Program()
    values = forward_dynamics_values(links, gravity, program)
    arguments, outputs = 'q, v, tau, armature, sine, cosine, a', _to('a', values)
    return _function('forward_dynamics', arguments, program, outputs, _IN_LOOPS)


def _articulated_dynamics(links: list[Link], gravity: np.ndarray) -> str:
    """Return forward dynamics that hold joint i where free[i] is 0; load[i]: its net torque."""
    program, n = Program(), len(links)
    transforms = _placed(links, program)
    v, tau, free = (program.inputs(name, n) for name in ('v', 'tau', 'free'))
    values, loads = algorithms.forward_dynamics(links, transforms, gravity, v, tau, free)
    outputs = _to('a', values) + _to('load', loads)
    return _function(
        'articulated_dynamics', 'q, v, tau, free, sine, cosine, a, load', program, outputs
    )


def _inverse_dynamics(links: list[Link], gravity: np.ndarray) -> str:
    program, n = Program(), len(links)
    transforms = _placed(links, program)
    v, a = program.inputs('v', n), program.inputs('a', n)
    values = algorithms.inverse_dynamics(links, transforms, gravity, v, a)
    return _function('inverse_dynamics', 'q, v, a, sine, cosine, tau', program, _to('tau', values))


def _mass_matrix(links: list[Link]) -> str:
    program = Program()
    matrix = algorithms.mass_matrix(links, _placed(links, program))
    outputs = [
        (f'm[{i}, {j}]', value) for i, row in enumerate(matrix) for j, value in enumerate(row)
    ]
    return _function('mass_matrix', 'q, sine, cosine, m', program, outputs)


def _placements(links: list[Link]) -> str:
    program = Program()
    poses = algorithms.placements(links, _placed(links, program))
    outputs = []
    for i, (rotation, translation) in enumerate(poses):
        for r in range(3):
            outputs += [(f'rotation[{i}, {r}, {c}]', rotation[r][c]) for c in range(3)]
            outputs.append((f'translation[{i}, {r}]', translation[r]))
    return _function('placements', 'q, sine, cosine, rotation, translation', program, outputs)


def _placed(links: list[Link], program: Program) -> list[Transform]:
    n = len(links)
    q = program.inputs('q', n)
    sines, cosines = program.inputs('sine', n), program.inputs('cosine', n)
    return algorithms.transforms_of(links, q, sines, cosines)


def _to(name: str, values: list[Scalar]) -> list[tuple[str, Scalar]]:
    return [(f'{name}[{i}]', value) for i, value in enumerate(values)]


def _function(
    name: str,
    arguments: str,
    program: Program,
    outputs: list[tuple[str, Scalar]],
    decorator: str = _COMPILED,
) -> str:
    """Return a compiled function; `sine`, `cosine` (n,) are scratch."""
    body = ['sincos(q, sine, cosine)']
    lines = '\n    '.join(body + program.statements(outputs))
    return f'\n{decorator}\ndef {name}({arguments}):\n    {lines}\n'
