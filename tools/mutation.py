"""Mutation testing: one thing in a module is changed, and the tests of its folder must notice.

    ./ws python tools/mutation.py arm_controllers/laws arm_dynamics/paths/time_scaling.py
    ./ws python tools/mutation.py --sample 100 --seed 1 arm_controllers/follower
    ./ws python tools/mutation.py --only braking.py:37 arm_controllers/follower

In functions and constants it changes comparisons, conditions, operators, signs, numbers and names
like `min`, or leaves a statement out; texts, types and defaults stay. Each mutant lives in a fork
of this process, which has the libraries loaded. Those that survive are printed.
"""

import argparse
import ast
import importlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = 'numpy scipy.linalg scipy.optimize pinocchio numba mujoco hypothesis matplotlib.pyplot'
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Add, ast.Pow: ast.Mult, ast.MatMult: ast.Add,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
COMPARISONS = {  # the opposite, and where there is one the same but for the boundary
    ast.Lt: (ast.GtE, ast.LtE), ast.LtE: (ast.Gt, ast.Lt), ast.Gt: (ast.LtE, ast.GtE),
    ast.GtE: (ast.Lt, ast.Gt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
NAMES = {'min': 'max', 'minimum': 'maximum', 'any': 'all', 'argmin': 'argmax', 'floor': 'ceil'}
NAMES |= {other: name for name, other in NAMES.items()}


def others(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may replace a node."""

    def changed(**fields: object) -> ast.AST:
        return type(node)(**vars(node) | fields)

    match node:
        case ast.BinOp() | ast.BoolOp():
            yield changed(op=OPERATORS[type(node.op)]())
        case ast.AugAssign():
            yield changed(op=OPERATORS[type(node.op)]())
            yield ast.Pass()
        case ast.Compare(ops=[first, *rest]):
            for kind in COMPARISONS[type(first)]:
                yield changed(ops=[kind(), *rest])
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield changed(value=not node.value)
        case ast.Constant(value=int() | float()):
            yield changed(value=node.value + 1)
        case ast.Name(id=name) if name in NAMES:
            yield changed(id=NAMES[name])
        case ast.Attribute(attr=name) if name in NAMES:
            yield changed(attr=NAMES[name])
        case ast.If() | ast.IfExp() | ast.While() if not isinstance(node.test, ast.Compare):
            yield changed(test=ast.UnaryOp(ast.Not(), node.test))
        case ast.Raise() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()


class Mutation(ast.NodeTransformer):
    """Puts another node in one place of a tree; `found` are all places and what may be there."""

    def __init__(self, wanted: int = -1):
        self.found: list[tuple[ast.AST, ast.AST]] = []
        self._wanted = wanted

    def visit(self, node: ast.AST) -> ast.AST:
        """Visit a node: where it is the wanted place, return the other."""
        for other in others(node):
            self.found.append((node, other))
            if len(self.found) == self._wanted + 1:
                return ast.copy_location(other, node)
        match node:
            case ast.ClassDef():
                node.body = [
                    self.visit(x) if isinstance(x, ast.FunctionDef) else x for x in node.body
                ]
            case ast.FunctionDef():
                node.body = [self.visit(x) for x in node.body]
            case ast.AnnAssign(value=ast.AST()):
                node.value = self.visit(node.value)
            case ast.JoinedStr() | ast.AnnAssign():
                pass
            case _:
                self.generic_visit(node)
        return node


def mutants(file: Path) -> list[tuple[Path, int, str]]:
    """Return (file, place, words) of each mutant of a file."""
    mutation = Mutation()
    mutation.visit(ast.parse(file.read_text()))
    words = [[' '.join(ast.unparse(x).split())[:100] for x in pair] for pair in mutation.found]
    name = file.relative_to(ROOT)
    return [
        (file, place, f'{name}:{node.lineno}  {before}  ->  {after}')
        for place, ((node, _), (before, after)) in enumerate(
            zip(mutation.found, words, strict=True)
        )
    ]


def tests_of(file: Path) -> list[Path]:
    """Return the tests of the nearest folder that has any, those of the module first."""
    name = file.parent.name if file.name == '__init__.py' else file.stem
    for folder in file.relative_to(ROOT).parents:
        if tests := sorted(Path(ROOT, 'test', folder).glob('test_*.py')):
            return sorted(tests, key=lambda test: not test.stem.startswith(f'test_{name}'))
    sys.exit(f'{file}: no tests in test/ for its folder, nor for those above')


def run_tests(file: Path, place: int) -> int:
    """Run the tests of a module on a mutant, in this process; return 0 where all passed."""
    tree = ast.parse(file.read_text())
    Mutation(place).visit(tree)
    code = compile(ast.fix_missing_locations(tree), file, 'exec')
    words = ast.unparse(tree)
    package = file.name == '__init__.py'
    module = '.'.join((file.parent if package else file.with_suffix('')).relative_to(ROOT).parts)

    class Loader(SourceFileLoader):
        def get_code(self, fullname):
            return code

    class Finder:
        @staticmethod
        def find_spec(name, path, target=None):
            if name != module:
                return None
            folder = [str(file.parent)] if package else None
            loader = Loader(name, str(file))
            return spec_from_file_location(
                name, file, loader=loader, submodule_search_locations=folder
            )

    # Compiled code is kept by the texts of its sources, and generated code contains some of them.
    read_bytes, read_text = Path.read_bytes, Path.read_text
    Path.read_bytes = lambda path: words.encode() if path == file else read_bytes(path)
    Path.read_text = lambda path, **how: words if path == file else read_text(path, **how)
    if 'cache=True' in words:  # numba keeps compiled code by the file's time
        importlib.import_module('numba').config.CACHE_DIR = tempfile.mkdtemp()
    sys.meta_path.insert(0, Finder)
    quiet = ['-x', '-q', '-p', 'no:cacheprovider', '-W', 'ignore']
    return any(pytest.main([*quiet, str(test)]) for test in tests_of(file))


def passes(file: Path, place: int, seconds: int = 600) -> tuple[bool, bool, float]:
    """Run the tests of a module on a mutant in a fork; return whether they pass, and its time [s].

    A mutant that runs for ever is ended after a limit of processor time [s]; the second value says
    whether it was.
    """
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 2)
        os._exit(run_tests(file, place))
    _, status, used = os.wait4(child, 0)
    endless = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
    return status == 0, endless, used.ru_utime + used.ru_stime


def main() -> int:
    """Return how many mutants survived."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('paths', nargs='+', type=Path, help='modules or folders')
    parser.add_argument(
        '--sample', type=int, help='number of mutants, drawn at random; default: all'
    )
    parser.add_argument('--seed', type=int, default=0, help='of the draw')
    parser.add_argument('--only', default='', help='a part of file:line, before or after')
    parser.add_argument('--list', action='store_true', help='print the mutants, run no test')
    asked = parser.parse_args()
    os.chdir(ROOT)
    home = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    cache = tempfile.TemporaryDirectory(dir=home)  # compiled mutants do not stay
    if Path(home, 'arm_sim').is_dir():
        shutil.copytree(Path(home, 'arm_sim'), Path(cache.name, 'arm_sim'), copy_function=os.link)
    os.environ['XDG_CACHE_HOME'] = cache.name
    sys.path.insert(0, str(ROOT))
    os.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'  # the tests here need none
    files = [x for path in asked.paths for x in ([path] if path.is_file() else path.rglob('*.py'))]
    found = [each for file in sorted(files) for each in mutants(file.resolve())]
    found = [each for each in found if asked.only in each[2]]
    if asked.sample and asked.sample < len(found):
        found = sorted(random.Random(asked.seed).sample(found, asked.sample))
    seconds: dict[Path, int] = {}
    survived = endless = 0
    if asked.list:
        print(*(words for _, _, words in found), sep='\n')
        return 0
    for library in LIBRARIES.split():
        importlib.import_module(library)
    for number, (file, place, words) in enumerate(found):
        if file.parent not in seconds:
            right, _, used = passes(file, -2)
            if not right:
                sys.exit(f'{file}: its tests fail without any change')
            seconds[file.parent] = 5 + 3 * round(used)
        right, ended, _ = passes(file, place, seconds[file.parent])
        endless += ended
        if right:
            survived += 1
            print(f'[{number + 1}/{len(found)}] survived  {words}', flush=True)
    killed = len(found) - survived
    print(f'{len(found)} mutants, {killed} killed ({endless} by a limit), {survived} survived')
    return min(survived, 1)


if __name__ == '__main__':
    sys.exit(main())
