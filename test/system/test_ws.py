"""`ws` and the setup behind it, as far as that is quick; the tests themselves run inside it."""

import hashlib
import importlib.util
import os
import pwd
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from repository import ROOT
from scripts import load_script

RECIPE = ROOT / 'tools' / 'fallback_ros2'


def ws(*arguments, root=ROOT, **options):
    return subprocess.run(
        [root / 'ws', *arguments], capture_output=True, text=True, check=False, **options
    )


@pytest.fixture
def bare_clone(tmp_path):
    """A copy of ws and its tools, and the environment of a machine with no Python 3.12."""
    shutil.copy(ROOT / 'ws', tmp_path)
    shutil.copytree(ROOT / 'tools', tmp_path / 'tools')
    commands = tmp_path / 'bin'
    commands.mkdir()
    for name in ('bash', 'cat', 'dirname', 'flock', 'mkdir', 'readlink', 'sha256sum'):
        (commands / name).symlink_to(shutil.which(name))
    return tmp_path, {'PATH': str(commands), 'HOME': str(tmp_path)}


@pytest.fixture
def setup(monkeypatch, tmp_path):
    """The setup program, with all it makes below tmp_path."""
    monkeypatch.syspath_prepend(ROOT / 'tools' / 'ros_env')
    module = load_script('tools/ros_env/__main__.py')
    running = sys.modules['running']
    monkeypatch.setattr(running, 'LOG', tmp_path / 'setup.log')
    monkeypatch.setattr(running, 'PYTHON', Path(sys.executable))
    monkeypatch.setattr(running, 'environment', lambda: dict(os.environ))
    module.pip = running.pip
    yield module
    for name in ('recipe', 'running', 'steps'):
        sys.modules.pop(name, None)


@pytest.mark.parametrize('arguments', [[], ['-h'], ['--help']])
def test_without_a_command_it_explains_itself(arguments):
    done = ws(*arguments)
    assert done.returncode == 0
    assert done.stdout.startswith('usage: ./ws COMMAND...')


@pytest.mark.parametrize(
    ('arguments', 'line', 'code'),
    [
        (['--fast'], "ws: unknown option '--fast'; ./ws --help shows the usage\n", 2),
        (['clean', 'all'], 'ws: clean takes no arguments\n', 2),
        (['no-such-command'], 'ws: command not found: no-such-command\n', 127),
    ],
)
def test_bad_use_gets_one_line(arguments, line, code):
    done = ws(*arguments)
    assert (done.stderr, done.returncode) == (line, code)


def test_a_wheel_that_is_built_here_leaves_no_sources_and_no_distribution_of_its_own(tmp_path):
    """`python -m build --wheel` runs setup.py here; what it knows would hide the workspace."""
    for name in ('arm_sim', 'launch', 'resource'):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ('setup.py', 'setup.cfg', 'requirements.txt', 'package.xml', 'pyproject.toml'):
        shutil.copy(ROOT / name, tmp_path)
    before = {path.name for path in tmp_path.iterdir()}
    command = [sys.executable, 'setup.py', '-q', 'bdist_wheel']
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert {path.name for path in tmp_path.iterdir()} == before | {'build', 'dist'}
    assert list((tmp_path / 'dist').glob('arm_sim-*.whl'))


def test_an_output_folder_whose_name_begins_as_a_package_is_no_source(tmp_path):
    function = re.search(r'^sources\(\) \{.*?^\}', (ROOT / 'ws').read_text(), re.M | re.S)[0]
    for name in ('arm_a/a.yaml', 'arm_a_output/report.json'):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    script = f'root={tmp_path}; {function}; sources'
    listed = subprocess.run(
        ['bash', '-c', script], capture_output=True, text=True, check=False
    ).stdout.splitlines()
    assert [line for line in listed if line.startswith('arm_a')] == ['arm_a/a.yaml']


def test_the_command_gets_its_arguments_its_folder_and_its_variables_as_they_are(tmp_path):
    script = 'printf "%s|" "$PWD" "$ROS_DOMAIN_ID" "$@"; exit 3'
    variables = {**os.environ, 'ROS_DOMAIN_ID': '77'}
    done = ws('bash', '-c', script, 'bash', 'two words', '', cwd=tmp_path, env=variables)
    assert done.stdout == f'{tmp_path}|77|two words||'
    assert done.returncode == 3


def test_the_command_replaces_ws_so_that_signals_reach_it_alone():
    process = subprocess.Popen([ROOT / 'ws', 'bash', '-c', 'echo $$'], stdout=subprocess.PIPE)
    assert int(process.communicate()[0]) == process.pid


def test_ctrl_c_reaches_a_command_of_a_background_job():
    code = 'import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)'
    script = f'trap "" INT; exec {ROOT}/ws python3 -c "{code}"'  # as `nohup` and `&` leave it
    assert subprocess.check_output(['bash', '-c', script], text=True) == 'True\n'


def test_where_no_home_can_be_made_logs_go_to_a_temporary_folder_and_one_line_states_it():
    environment = {k: v for k, v in os.environ.items() if not k.startswith('ROS_LOG')}
    done = ws('sh', '-c', 'echo $ROS_LOG_DIR', env=environment | {'HOME': '/proc/nohome'})
    folder = Path(done.stdout.strip())
    assert done.returncode == 0
    assert folder.is_dir()
    folder.rmdir()
    assert f'ws: /proc/nohome/.ros/log cannot be written: ROS 2 logs to {folder}' in done.stderr


def test_without_home_the_home_of_the_user_database_is_used():
    environment = {name: value for name, value in os.environ.items() if name != 'HOME'}
    done = ws('bash', '-c', 'echo "$HOME"', env=environment)
    assert done.stdout.strip() == pwd.getpwuid(os.getuid()).pw_dir


@pytest.mark.parametrize(
    ('limit', 'line'),
    [
        ('-n 16', "ws: a node needs 256 open files, and 'ulimit -n' allows 16: raise the limit"),
        (
            '-v 900000',
            "ws: a node needs 4000000 kB of address space, and 'ulimit -v' allows 900000: "
            'raise the limit',
        ),
    ],
)
def test_a_limit_too_low_for_a_node_gets_one_line(limit, line):
    command = ['bash', '-c', f'ulimit {limit}; exec ./ws ros2 run arm_sim simulator']
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ('', f'{line}\n', 1)


def test_a_copied_environment_is_made_again_and_one_line_gives_the_reason(bare_clone):
    folder, environment = bare_clone
    (folder / '.ros').mkdir()
    (folder / '.ros' / 'ready').write_text('/somewhere/else\n')
    done = ws('ros2', root=folder, env=environment)
    first, *_ = done.stderr.splitlines()
    assert first.startswith(
        'ws: .ros was made in /somewhere/else, and its files contain that path'
    )


def test_ws_inside_ws_changes_nothing():
    show = 'echo $PATH $PYTHONPATH $AMENT_PREFIX_PATH $LD_LIBRARY_PATH'
    assert ws('bash', '-c', show).stdout == ws(ROOT / 'ws', 'bash', '-c', show).stdout


def test_the_environment_has_the_package_its_interfaces_and_its_executables():
    code = 'import arm_interfaces.srv, control_msgs.action; print("imported")'
    assert ws('python3', '-c', code).stdout == 'imported\n'
    executables = ws('ros2', 'pkg', 'executables', 'arm_sim').stdout
    assert 'arm_sim simulator\n' in executables


@pytest.mark.parametrize('verb', ['action', 'interface', 'lifecycle'])
def test_a_verb_that_no_package_index_has_says_what_installs_it(monkeypatch, verb):
    monkeypatch.setattr(sys, 'argv', ['ros2', verb, '--help'])
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(RECIPE / 'ros2'))
    file = str(end.value).removeprefix(f'ros2 {verb} is not installed: ./ws pip install -r ')
    needs = (ROOT / file).read_text().splitlines()[1:]
    assert all(
        re.fullmatch(r'ros2(\w+) @ git\+https://\S+@[0-9.]+#subdirectory=ros2\1', x) for x in needs
    )
    assert f'ros2{verb}' in [line.split()[0] for line in needs]


def test_without_ros_and_python_one_sentence_states_it(bare_clone):
    root, variables = bare_clone
    done = ws('true', root=root, env=variables)
    assert done.returncode == 1
    assert re.fullmatch(r'ws: no Python 3\.12 .* found .*: install one, .*\n', done.stderr)
    assert not (root / '.ros' / 'venv').exists()


def test_an_environment_is_not_made_through_a_link_that_an_old_clone_left(bare_clone, tmp_path):
    root, variables = bare_clone
    (root / 'bin' / 'rm').symlink_to(shutil.which('rm'))
    theirs = tmp_path / 'theirs' / 'built.txt'
    theirs.parent.mkdir()
    theirs.touch()
    (root / '.ros').mkdir()
    (root / '.ros' / 'underlay').symlink_to(theirs.parent)
    ws('true', root=root, env=variables)
    assert not (root / '.ros' / 'underlay').exists()
    assert theirs.exists()


def test_a_sourced_ros_whose_rclpy_does_not_load_is_named_and_not_used(bare_clone):
    root, variables = bare_clone
    python = root / 'bin' / 'python3'
    python.write_text('#!/usr/bin/env bash\nexit 1\n')
    python.chmod(0o755)
    sourced = {'ROS_DISTRO': 'jazzy', 'AMENT_PREFIX_PATH': '/opt/ros/jazzy'}
    done = ws('true', root=root, env={**variables, **sourced})
    first, second = done.stderr.splitlines()
    assert first == (
        f'ws: ROS 2 jazzy is sourced, but {python} cannot import its rclpy: .ros is used instead'
    )
    assert second.startswith('ws: no Python 3.12')


def test_what_a_sourced_ros_lacks_goes_into_an_environment_over_it(bare_clone):
    root, _ = bare_clone
    wheels = root / 'wheels'
    wheels.mkdir()
    with zipfile.ZipFile(wheels / 'parcel-2-py3-none-any.whl', 'w') as wheel:
        wheel.writestr('parcel.py', 'content = 2')
        wheel.writestr(
            'parcel-2.dist-info/METADATA', 'Metadata-Version: 2.1\nName: parcel\nVersion: 2\n'
        )
        wheel.writestr(
            'parcel-2.dist-info/WHEEL',
            'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
        )
        wheel.writestr('parcel-2.dist-info/RECORD', '')
    (root / 'requirements.txt').write_text('parcel>=2  # for the test\n')
    sourced = {'ROS_DISTRO': 'jazzy', 'AMENT_PREFIX_PATH': '/opt/ros/jazzy'}
    local = {'PIP_NO_INDEX': '1', 'PIP_FIND_LINKS': str(wheels), 'PIP_CONFIG_FILE': os.devnull}
    done = ws('true', root=root, env=os.environ | sourced | local)
    assert (
        done.stderr.splitlines()[0]
        == "ws: the sourced ROS 2's Python lacks parcel: it goes into .ros/over ..."
    )
    over = root / '.ros/over/bin'
    code = 'import parcel; print(parcel.content)'
    assert subprocess.check_output([over / 'python3', '-c', code], text=True) == '2\n'
    assert (over / 'ros2').read_text().startswith(f'#!{over}/python3\n')


def test_packages_that_are_not_there_or_too_old_are_named(tmp_path):
    wanted = tmp_path / 'requirements.txt'
    wanted.write_text('# the head\nnumpy>=99\nnot-there\npyyaml  # fits\n')
    tool = [sys.executable, ROOT / 'tools/missing_packages.py', wanted]
    said = subprocess.check_output(tool, text=True)
    assert re.fullmatch(r'numpy>=99 \(has [\d.]+\), not-there\n', said)


def test_every_package_taken_has_one_version_and_a_checksum():
    files = [RECIPE / 'requirements.lock', RECIPE / 'ros2_tools.lock']
    lines = [line for file in files for line in file.read_text().splitlines() if line[0] != '#']
    for line in lines:
        assert re.fullmatch(r'[a-z0-9.-]+==[\w.]+ --hash=sha256:[0-9a-f]{64}', line), line


def test_the_lock_file_has_everything_the_package_needs():
    locked = {line.split('==')[0] for line in (RECIPE / 'requirements.lock').open()}
    for file in ('requirements.txt', 'requirements-test.txt'):
        for line in (ROOT / file).read_text().splitlines():
            if line and line[0] != '#':
                assert re.split('[<>= ]', line)[0].lower() in locked, line


def test_a_package_with_another_checksum_is_refused(setup, tmp_path):
    with zipfile.ZipFile(tmp_path / 'parcel-1-py3-none-any.whl', 'w') as wheel:
        wheel.writestr('parcel-1.dist-info/METADATA', 'Name: parcel\nVersion: 1\n')
    wrong = hashlib.sha256(b'something else').hexdigest()
    lock = tmp_path / 'parcel.lock'
    lock.write_text(f'parcel==1 --hash=sha256:{wrong}')
    source = ['--no-index', '--find-links', tmp_path]
    with pytest.raises(setup.SetupError, match=r'refused, not the checksum .*: parcel==1 from'):
        setup.pip('download', '-d', tmp_path / 'taken', *source, '-r', lock)
    assert not list((tmp_path / 'taken').glob('*'))


def test_an_interrupted_setup_goes_on_at_the_step_it_was_in(setup, monkeypatch, tmp_path):
    done = []
    monkeypatch.setattr(setup, 'STAMPS', tmp_path / 'stamps')
    monkeypatch.setattr(setup, 'check_machine', lambda: None)
    for name in ('make_venv', 'install_packages', 'install_tools', 'build_interfaces', 'check'):

        def step(progress, name=name):
            done.append(name)
            if done == ['make_venv', 'install_packages']:
                raise KeyboardInterrupt
            return 'done'

        step.__name__ = name
        monkeypatch.setattr(setup, name, step)
    with pytest.raises(KeyboardInterrupt):
        setup.main()
    setup.main()
    assert done == [
        'make_venv',
        'install_packages',
        'install_packages',
        'install_tools',
        'build_interfaces',
        'check',
    ]
    setup.main()
    assert len(done) == 6


def test_what_is_built_in_the_background_is_built_once_and_seen_only_when_it_is_whole(
    setup, monkeypatch, tmp_path
):
    steps, seen = sys.modules['steps'], []
    for name in ('ENV', 'LATER_UNDERLAY'):
        monkeypatch.setattr(steps, name, tmp_path / name)
    monkeypatch.setattr(setup, 'ENV', tmp_path)
    monkeypatch.setattr(setup, 'STAMPS', tmp_path)

    def build(source, temporary, target):
        target.mkdir(parents=True)
        seen.append(steps.LATER_UNDERLAY.exists())
        if len(seen) == 1:
            raise setup.SetupError('a compiler that fails')

    monkeypatch.setattr(steps, 'build', build)
    with pytest.raises(setup.SetupError):
        setup.later()
    assert not steps.LATER_UNDERLAY.exists()
    setup.later()
    setup.later()
    assert seen == [False, False]
    assert steps.LATER_UNDERLAY.exists()
