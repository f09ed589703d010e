"""The heart: its packages, and how much one must read to change it."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from functools import cache

from repository import ROOT

HEART = ('arm_dynamics', 'arm_controllers', 'arm_sim')
RINGS = ('arm_lab', 'arm_tools')
# What imports simulator, a controller, the task node, MuJoCo, three laws and a task.
STARTS = (
    'arm_sim.loop.loop', 'arm_sim.ros.simulator_node', 'arm_controllers.ros.controller_node',
    'arm_sim.ros.task_node', 'arm_sim.engines.mujoco', 'arm_sim.pacings.lockstep',
    'arm_controllers.laws.pd',
    'arm_controllers.laws.computed_torque', 'arm_controllers.laws.cartesian_impedance',
    'arm_sim.tasks.sinusoid',
)  # fmt: skip
MOST_LINES, MOST_MODULES = 11_906, 162  # to be 12 000 and 120; 14 447 and 168 at 6a568218
# Modules of packages with other names.
MODULES_OF = {'pin': 'pinocchio coal eigenpy', 'pyyaml': 'yaml'}
# Pictures and tables are drawn with Matplotlib and rich, of the extra `lab`.
PICTURES = re.compile(r'arm_sim\.(pictures|loop\.picture|tasks\.\w+\.picture)$')
# Former names of modules of the rings (test/arm_lab/test_former_names.py).
FRONTS = {
    'arm_dynamics.published', 'arm_sim.experiments', 'arm_sim.gym', 'arm_sim.testing',
    'arm_sim.view',
}  # fmt: skip


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


PATHS = {module_name(path): path for package in HEART for path in (ROOT / package).rglob('*.py')}


@cache
def tree_of(module):
    return ast.parse(PATHS[module].read_text())


def statements(node):
    """Yield the nodes that run at an import."""
    for child in ast.iter_child_nodes(node):
        is_later = isinstance(child, ast.FunctionDef | ast.Lambda)
        if not is_later and not (isinstance(child, ast.If) and 'TYPE_CHECKING' in ast.dump(child)):
            yield child
            yield from statements(child)


@cache
def imports(module):
    """Return what a module imports when it is imported, with the packages above."""
    found = set()
    for node in statements(tree_of(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = [f'{node.module}.{alias.name}' for alias in node.names]
            found |= {name if name in PATHS else node.module for name in names}
    above = {
        name.rsplit('.', n)[0] for name in found | {module} for n in range(name.count('.') + 1)
    }
    return found | {name for name in above if name in PATHS}


def closure(starts):
    found, waiting = set(), [*starts]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += [name for name in imports(module) if name in PATHS]
    return found


def code_lines(module):
    """Return the number of lines without docstrings, comments and blank lines."""
    counted = set()
    for token in tokenize.generate_tokens(io.StringIO(PATHS[module].read_text()).readline):
        if token.string.strip() and token.type != tokenize.COMMENT:
            counted |= {*range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            counted -= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    return len(counted)


def test_what_is_read_to_change_the_heart_stays_below_its_bound():
    modules = closure(STARTS)
    assert {*STARTS} <= modules
    lines = sum(map(code_lines, modules))
    print(f'{lines} lines of code in {len(modules)} modules')
    assert lines <= MOST_LINES
    assert len(modules) <= MOST_MODULES


def test_the_heart_imports_the_packages_that_pip_brings_with_it():
    groups = defaultdict(set)
    group = ''
    for line in (ROOT / 'requirements.txt').read_text().splitlines():
        package, _, comment = line.partition('#')
        group = group if package.strip() else comment.partition(':')[0].strip()
        groups[group].add(re.split('[>=]', package)[0].strip())
    required = groups['heart'] - {''}
    known = {name for x in required for name in MODULES_OF.get(x, x).split()}
    of_ros = re.compile(
        r'rclpy|launch(_ros)?|ament_index_python|\w+_(msgs|interfaces|srvs)|ros\w+'
    )
    wrong = {
        f'{module} imports {name}'
        for module in PATHS
        if not PICTURES.match(module)
        for name in {x.partition('.')[0] for x in imports(module)}
        if name not in {*HEART, *known, *sys.stdlib_module_names} and not of_ros.fullmatch(name)
    }
    assert wrong == set()
    assert len(required) == 6


def test_the_heart_is_imported_and_runs_where_nothing_else_is_installed():
    groups = (ROOT / 'requirements.txt').read_text().split('# lab:')[1]
    others = {re.split('[>=]', x)[0].strip() for x in groups.splitlines() if x[:1].isalnum()}
    blocked = {*RINGS, *others, 'PIL', 'eaik', 'viser', 'gymnasium', 'onnx', 'ompl', 'toppra'}
    names = sorted(x for x in PATHS if not (PICTURES.match(x) or x in FRONTS or '__main__' in x))
    code = f"""import sys
for name in {sorted(blocked)}:
    sys.modules[name] = None  # an import of it fails
import {', '.join(names)}
from arm_sim.robot import Robot
from arm_sim.tasks import task_class
robot = Robot.load('planar_3r')
print(robot.model.nq, task_class('sinusoid').__name__)"""
    found = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert found.stdout == '3 Sinusoid\n', found.stderr
