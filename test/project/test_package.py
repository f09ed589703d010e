"""The package as a whole: one version, cores without ROS, imports in one direction."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import distribution
from xml.etree import ElementTree

import pytest
from repository import ROOT

import arm_dynamics.compiled

# Imports go only to what is listed before. A folder includes those below it that are not listed.
FOLDERS = {
    'arm_dynamics': [
        'arm_dynamics', 'arm_dynamics.descriptions', 'arm_dynamics.robots',
        'arm_dynamics.kinematics', 'arm_dynamics.inverse_kinematics', 'arm_dynamics.paths',
        'arm_dynamics.compiled',
    ],
    'arm_controllers': [
        'arm_controllers', 'arm_controllers.laws', 'arm_controllers.follower',
        'arm_controllers.ros',
    ],
    'arm_sim': [
        'arm_sim', 'arm_sim.devices', 'arm_sim.simulation', 'arm_sim.pacings',
        'arm_sim.engines', 'arm_sim.loop',
        'arm_sim.tasks', 'arm_sim.ros', 'arm_sim.launching', 'arm_sim.executables',
        'arm_sim.__main__',
    ],
    'arm_lab': [
        'arm_lab', 'arm_lab.identification', 'arm_lab.published', 'arm_lab.tasks',
        'arm_lab.experiments', 'arm_lab.certificate', 'arm_lab.tuning', 'arm_lab.judging',
        'arm_lab.testing', 'arm_lab.gym', 'arm_lab.commands',
    ],
    'arm_tools': [
        'arm_tools', 'arm_tools.view', 'arm_tools.view.ros', 'arm_tools.readers',
        'arm_tools.inspection', 'arm_tools.recording', 'arm_tools.recording.ros',
        'arm_tools.robot_trials', 'arm_tools.planning', 'arm_tools.cartesian',
        'arm_tools.cartesian.ros', 'arm_tools.planning.ros', 'arm_tools.standards',
        'arm_tools.driving', 'arm_tools.driving.ros', 'arm_tools.commands',
    ],
}  # fmt: skip
PACKAGES = list(FOLDERS)  # imports go only to the left
ORDER = [name for folders in FOLDERS.values() for name in folders]
KNOW_ROS = {'ros', 'launching'}  # by the names of their folders
ROS = {'rclpy', 'launch', 'launch_ros', 'std_srvs', 'arm_interfaces', 'control_msgs'}
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob('*.py'))


@cache
def nodes_of(path):
    return tuple(ast.walk(ast.parse(path.read_text())))


def is_core(path):
    """Return whether a module is to know no ROS."""
    return not KNOW_ROS.intersection(path.relative_to(ROOT).parent.parts)


@cache
def imported_modules(path):
    """Return what a file imports anywhere; `from package import module` is the module alone."""
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}:{node.lineno}: relative import'
            names = {f'{node.module}.{alias.name}' for alias in node.names}
            found.update(names if names <= NAMES else names | {node.module})
    return found


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


CORES = [path for path in MODULES if is_core(path)]
NAMES = {module_name(path) for path in MODULES}


def test_imports_go_from_tools_over_lab_simulation_and_controllers_to_dynamics_and_never_back():
    wrong = [
        f'{module_name(path)} imports {name}'
        for path in MODULES
        for name in imported_modules(path)
        if name.split('.')[0] in PACKAGES[PACKAGES.index(path.relative_to(ROOT).parts[0]) + 1 :]
    ]
    assert wrong == []


def private_names():
    """Return the names beginning with an underscore that the packages define."""
    for path in MODULES:
        for node in nodes_of(path):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    yield name
                case (
                    ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store())
                ):
                    yield name


@pytest.mark.slow
def test_tests_reach_no_private_names():
    private = {x for x in private_names() if x.startswith('_') and not x.startswith('__')}
    reached = set()
    for path in (ROOT / 'test').rglob('*.py'):
        for node in nodes_of(path):
            if isinstance(node, ast.Attribute) and node.attr in private:
                own = isinstance(node.value, ast.Name) and node.value.id in ('self', 'cls')
                reached |= set() if own else {path.name}
            elif isinstance(node, ast.ImportFrom) and node.module.startswith('arm_'):
                reached |= {path.name for x in node.names if x.name.startswith('_')}
    assert sorted(reached) == []


@pytest.mark.slow
def test_private_names_of_other_packages_are_reached_in_one_module():
    own = {*private_names(), '_asdict', '_make', '_replace', '_exit'}  # the last are documented
    reached = {
        path.name
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith('_')
        and not node.attr.startswith('__')
        and node.attr not in own
    }
    assert reached == {'rclpy_internals.py'}


def place(module):
    """Return the entry of the table that a module belongs to."""
    while module not in ORDER:
        module = module.rpartition('.')[0]
    return module


def test_imports_go_inwards_from_ring_to_ring_and_from_folder_to_folder():
    wrong = []
    for path in MODULES:
        module = module_name(path)
        here = place(module)
        for name in imported_modules(path) & NAMES:
            there = place(name)
            if ORDER.index(there) > ORDER.index(here):
                wrong.append(f'{module} imports {name}')
    assert sorted(wrong) == []


def named_modules(path):
    """Return the modules that a file imports anywhere, or names in a string."""
    constants = (x for x in nodes_of(path) if isinstance(x, ast.Constant))
    strings = {x.value.split(':')[0] for x in constants if isinstance(x.value, str)}
    strings.discard('arm_sim.executables')  # `python -m` starts another process
    return (imported_modules(path) | strings) & NAMES - {module_name(path)}


def test_no_import_leads_back_to_its_module_not_even_a_lazy_one_or_one_by_a_string():
    imports = {module_name(path): named_modules(path) for path in MODULES}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(' <- '.join(error.args[1]))


def test_only_the_compiled_and_the_forward_model_are_seen_from_outside_the_compiled_folder():
    folder = 'arm_dynamics.compiled'
    seen = {f'{folder}.{name}' for name in arm_dynamics.compiled.__all__}
    wrong = [
        f'{module_name(path)} imports {name}'
        for path in MODULES
        if not module_name(path).startswith(folder)
        for name in imported_modules(path)
        if name.startswith(f'{folder}.') and name not in seen
    ]
    assert wrong == []


def test_pictures_are_drawn_without_pyplot_and_without_global_settings():
    files = [*MODULES, *(ROOT / 'benchmarks').glob('*.py')]
    assert [
        path
        for path in files
        if re.search(r'pyplot|rcParams|(mpl|matplotlib)\.use', path.read_text())
    ] == []


def test_arrays_of_numbers_and_their_rms_are_defined_once():
    for pattern, home in (
        (r'NDArray\[np\.float64\]', 'checks.py'),
        (r'def _?rms\b', 'measures.py'),
    ):
        assert [p.name for p in MODULES if re.search(pattern, p.read_text())] == [home], pattern


def test_every_entry_of_the_table_exists_and_is_named_once():
    assert sorted(set(ORDER)) == sorted(ORDER)
    assert not set(ORDER) - NAMES


def test_a_module_is_named_node_only_where_a_node_is_defined():
    for path in MODULES:
        bases = [
            ast.unparse(base).split('.')[-1]
            for node in nodes_of(path)
            if isinstance(node, ast.ClassDef)
            for base in node.bases
        ]
        is_node = (
            bool({'Node', 'LifecycleNode'} & set(bases)) and path.stem != 'nodes'
        )  # their base
        assert path.stem.endswith('_node') == is_node, path


def test_cores_import_neither_ros_nor_the_modules_that_know_it():
    not_cores = {module_name(path) for path in MODULES if path not in CORES}
    wrong = [
        f'{module_name(path)} imports {name}'
        for path in CORES
        for name in imported_modules(path)
        if name in not_cores or name.split('.')[0] in ROS or name.split('.')[0].endswith('_msgs')
    ]
    assert wrong == []


def test_nodes_log_in_one_way_which_cuts_what_a_sender_wrote():
    pattern = r'get_logger|throttle_duration_sec'
    assert [p.name for p in MODULES if re.search(pattern, p.read_text())] == ['log.py']


@pytest.mark.slow
def test_every_client_of_an_action_has_a_queue_for_the_answers_to_others():
    calls = [
        (str(path.relative_to(ROOT)), ast.unparse(node))
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == 'ActionClient'
    ]
    assert calls
    assert [call for call in calls if '**ACTION_SERVICES' not in call[1]] == []


def test_nothing_from_outside_is_run():
    for path in [*MODULES, *(ROOT / 'launch').glob('*.py')]:
        nodes = nodes_of(path)
        called = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
        assert not called & {'eval', 'exec', 'yaml.load', 'yaml.unsafe_load', 'os.system'}, path
        given = {ast.unparse(node) for node in nodes if isinstance(node, ast.keyword)}
        assert not given & {'shell=True', 'allow_pickle=True'}, path
        assert not {'pickle', 'marshal', 'shelve'} & set(imported_modules(path)), path


@pytest.mark.slow
def test_importing_every_core_brings_in_no_rclpy():
    names = [module_name(path) for path in CORES if path.name != '__main__.py']
    code = f'import sys\nimport {", ".join(names)}\nsys.exit("rclpy" in sys.modules)'
    subprocess.run([sys.executable, '-c', code], cwd=ROOT, check=True)


@pytest.mark.slow
def test_launch_and_control_loop_start_without_what_is_slow_to_import():
    names = (
        'arm_sim.launching.arm', 'arm_sim.ros.simulator_node', 'arm_sim.engines.mujoco',
        'arm_controllers.ros.controller_node', 'arm_tools.recording.ros.recorder',
        'arm_sim.ros.task_node', 'arm_sim.tasks.cube', 'arm_dynamics.paths.cartesian_path',
    )  # fmt: skip
    code = f"""import sys
for name in {names}:
    __import__(name)
    print(name, *{{'matplotlib', 'numba', 'scipy'}} & {{*sys.modules}})"""
    found = subprocess.check_output([sys.executable, '-c', code], text=True)
    assert found.splitlines() == list(names)


def test_every_manifest_has_the_same_version():
    manifests = [ROOT / 'package.xml', ROOT / 'arm_interfaces' / 'package.xml']
    versions = {ElementTree.parse(path).findtext('version') for path in manifests}
    (version,) = versions
    setup = ast.parse((ROOT / 'setup.py').read_text())
    keywords = [node for node in ast.walk(setup) if isinstance(node, ast.keyword)]
    assert [k.value.value for k in keywords if k.arg == 'version'] == [version]
    cited = (ROOT / 'CITATION.cff').read_text()
    assert re.findall('^version: (.*)$', cited, re.MULTILINE) == [version]


def test_every_installed_executable_can_be_loaded():
    scripts = distribution('arm_sim').entry_points.select(group='console_scripts')
    assert 'simulator' in scripts.names
    for script in scripts:
        assert callable(script.load()), script


def test_git_ignores_the_folders_that_commands_write_by_default():
    ignored = (ROOT / '.gitignore').read_text().splitlines()
    folders = {
        name
        for package in ('arm_lab', 'arm_tools')
        for file in (ROOT / package).rglob('*.py')
        for name in re.findall(r"output_dir: Folder = parameter\('(\w+)'", file.read_text())
    }
    assert len(folders) > 5
    assert not {f'/{name}/' for name in folders} - set(ignored)
