"""The package as a whole: one version, cores without ROS, imports in one direction."""

import ast
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ['arm_dynamics', 'arm_controllers', 'arm_sim']  # imports go only to the left
ROS = {'rclpy', 'launch', 'launch_ros', 'std_srvs', 'arm_interfaces', 'control_msgs'}
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob('*.py'))


def is_core(path):
    """Tell whether a module is to know no ROS: all but nodes, conversions and launching."""
    return not path.name.endswith('_node.py') and path.name not in ('messages.py', 'launching.py')


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}:{node.lineno}: relative import'
            yield node.module
            yield from (f'{node.module}.{alias.name}' for alias in node.names)


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


CORES = [path for path in MODULES if is_core(path)]


@pytest.mark.parametrize('path', MODULES, ids=module_name)
def test_imports_go_from_launch_over_nodes_and_laws_to_dynamics_and_never_back(path):
    package = path.relative_to(ROOT).parts[0]
    forbidden = set(PACKAGES[PACKAGES.index(package) + 1 :])
    assert forbidden.isdisjoint(name.split('.')[0] for name in imported_modules(path))


@pytest.mark.parametrize('path', CORES, ids=module_name)
def test_a_core_imports_no_ros(path):
    for name in imported_modules(path):
        top = name.split('.')[0]
        assert top not in ROS, name
        assert not top.endswith('_msgs'), name


@pytest.mark.parametrize('path', CORES, ids=module_name)
def test_a_core_imports_no_module_that_is_not_a_core(path):
    others = {module_name(other) for other in MODULES if not is_core(other)}
    assert others.isdisjoint(imported_modules(path))


def test_importing_every_core_brings_in_no_rclpy():
    names = [module_name(path) for path in CORES if path.name != '__main__.py']
    code = f'import sys\nimport {", ".join(names)}\nsys.exit("rclpy" in sys.modules)'
    subprocess.run([sys.executable, '-c', code], cwd=ROOT, check=True)


def test_every_manifest_has_the_same_version():
    manifests = [ROOT / 'package.xml', ROOT / 'arm_interfaces' / 'package.xml']
    versions = {ElementTree.parse(path).findtext('version') for path in manifests}
    (version,) = versions
    setup = ast.parse((ROOT / 'setup.py').read_text())
    keywords = [node for node in ast.walk(setup) if isinstance(node, ast.keyword)]
    assert [k.value.value for k in keywords if k.arg == 'version'] == [version]


def test_every_installed_executable_can_be_loaded():
    scripts = distribution('arm_sim').entry_points.select(group='console_scripts')
    assert 'simulator' in scripts.names
    for script in scripts:
        assert callable(script.load()), script
