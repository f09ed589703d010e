"""The package as a whole: one version, cores without ROS, imports in one direction."""

import ast
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
PACKAGES = ['arm_dynamics', 'arm_controllers', 'arm_sim']  # imports go only to the left
ROS = {'rclpy', 'launch', 'launch_ros', 'std_srvs', 'arm_interfaces', 'control_msgs'}
ROS_MODULES = {'messages.py', 'serialized_messages.py', 'launching.py'}
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob('*.py'))


def is_core(path):
    """Tell whether a module is to know no ROS: all but nodes, conversions and launching."""
    return not path.name.endswith('_node.py') and path.name not in ROS_MODULES


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


def test_imports_go_from_simulation_over_controllers_to_dynamics_and_never_back():
    wrong = [
        f'{module_name(path)} imports {name}'
        for path in MODULES
        for name in imported_modules(path)
        if name.split('.')[0] in PACKAGES[PACKAGES.index(path.relative_to(ROOT).parts[0]) + 1 :]
    ]
    assert wrong == []


def test_cores_import_neither_ros_nor_the_modules_that_know_it():
    not_cores = {module_name(path) for path in MODULES if path not in CORES}
    wrong = [
        f'{module_name(path)} imports {name}'
        for path in CORES
        for name in imported_modules(path)
        if name in not_cores or name.split('.')[0] in ROS or name.split('.')[0].endswith('_msgs')
    ]
    assert wrong == []


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
