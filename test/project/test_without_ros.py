"""Python first: experiments without ROS, and a wheel that brings all that they need."""

import ast
import subprocess
import sys
from zipfile import ZipFile

import pytest
from repository import ROOT

RUN = """
import sys
for name in ('rclpy', 'launch', 'ament_index_python', 'builtin_interfaces', 'arm_interfaces'):
    sys.modules[name] = None  # an import of it fails
import arm_sim
before = set(sys.modules)
run = arm_sim.run('planar_3r', 'step', 'pd')
run.table()
run.plot('run.png')
ros = [x for x, module in sys.modules.items() if module and ('rclpy' in x or '_msgs' in x)]
print(ros, 'numpy' in before)
"""


def test_an_experiment_runs_without_ros_and_the_import_loads_nothing(tmp_path):
    command = [sys.executable, '-c', RUN]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == '[] False'
    assert 'step: planar_3r, pd (designed for 20 rad/s)' in done.stdout
    assert (tmp_path / 'run.png').stat().st_size > 10_000


def test_no_default_of_a_dataclass_is_a_mapping_that_python_3_11_refuses():
    found = [
        f'{path}:{node.lineno}'
        for package in ('arm_dynamics', 'arm_controllers', 'arm_sim', 'arm_lab', 'arm_tools')
        for path in (ROOT / package).rglob('*.py')
        for made in ast.walk(ast.parse(path.read_text()))
        if isinstance(made, ast.ClassDef) and 'dataclass' in map(name_of, made.decorator_list)
        for node in made.body
        if isinstance(node, ast.AnnAssign) and name_of(node.value) == 'MappingProxyType'
    ]
    assert found == []


def name_of(node):
    """Return the name of what is called, or of the node."""
    return getattr(node.func if isinstance(node, ast.Call) else node, 'id', '')


@pytest.mark.slow
def test_a_wheel_brings_data_types_and_requirements_and_is_complete_where_it_is_installed(
    tmp_path,
):
    source, installed = tmp_path / 'source', tmp_path / 'installed'
    files = subprocess.run(
        ['git', 'ls-files', 'arm_dynamics', 'arm_controllers', 'arm_sim', 'arm_lab', 'arm_tools',
         'config', 'urdf', 'launch', 'resource', 'setup.py', 'setup.cfg', 'package.xml',
         'requirements.txt'],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in files.stdout.splitlines():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    pip = [sys.executable, '-m', 'pip', '--disable-pip-version-check', '-q']
    options = ['--no-deps', '--no-index']
    build = [*pip, 'wheel', '.', *options, '--no-build-isolation', '-w', str(tmp_path)]
    subprocess.run(build, cwd=source, check=True)
    (wheel,) = tmp_path.glob('arm_sim-*.whl')
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        (about,) = (name for name in names if name.endswith('METADATA'))
        metadata = archive.read(about).decode().splitlines()
    wanted = {
        line.partition('#')[0].strip()
        for line in (ROOT / 'requirements.txt').read_text().splitlines()
    }
    needed = {x.removeprefix('Requires-Dist: ') for x in metadata if 'Requires-Dist' in x}
    assert len({x for x in needed if 'extra ==' not in x}) == 6
    assert {x.partition(';')[0].strip() for x in needed} >= wanted - {''}
    assert {
        'arm_sim/py.typed',
        'arm_sim/__init__.pyi',
        'arm_lab/py.typed',
        'arm_tools/py.typed',
    } <= set(names)
    assert not [name for name in names if name.endswith('console_scripts')]
    subprocess.run([*pip, 'install', *options, '--target', installed, wheel], check=True)
    code = 'import arm_sim; print(arm_sim.run("planar_3r", "step", "pd").record.checksum())'
    sums = set()
    for place in (installed, ROOT):
        done = subprocess.run(
            [sys.executable, '-c', f'import sys; sys.path.insert(0, {str(place)!r}); {code}'],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        sums.add(done.stdout)
    assert len(sums) == 1
