"""The doctor: what is broken is named, with what to do, and only what is needed ends with 1."""

import json
import os
import subprocess
import sys

import pytest
from repository import ROOT

from arm_dynamics.checks import typed
from arm_tools.commands import doctor, doctor_checks
from arm_tools.commands.doctor_checks import Diagnosis, Severity
from arm_tools.view import offscreen


def examined(*arguments, python=(sys.executable,), **environment):
    """Run the command in an environment with changes; None takes a variable away."""
    wanted = os.environ | {name: value for name, value in environment.items() if value is not None}
    for name, value in environment.items():
        if value is None:
            wanted.pop(name, None)
    command = [*python, '-m', 'arm_sim.executables', 'doctor', *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=wanted, capture_output=True, text=True, check=False
    )


def found(done):
    return {each['name']: each for each in json.loads(done.stdout)['checks']}


@pytest.mark.slow
def test_here_all_that_is_needed_is_there():
    done = examined('--json')
    parameters = json.loads(done.stdout)
    assert [each for each in parameters['checks'] if each['state'] == Severity.BROKEN] == []
    assert (done.returncode, parameters['ok']) == (0, True)
    assert parameters['versions']['numpy']
    names = [each['name'] for each in parameters['checks']]
    assert len(names) == len(set(names)) > 15
    assert {'pyarrow', 'distributed', 'imageio-ffmpeg', 'xacro', 'rviz2', 'OpenGL'} <= set(names)
    for each in parameters['checks']:
        assert each['advice'] or each['state'] in (Severity.GOOD, Severity.NOTE), each
        assert '\n' not in each['detail'] + each['advice'], each


@pytest.mark.slow
def test_a_broken_middleware_is_named_with_what_to_do():
    pytest.importorskip('rclpy')
    done = examined('--json', RMW_IMPLEMENTATION='rmw_nothing_cpp')
    middleware = found(done)['middleware']
    assert done.returncode == 1
    assert (middleware['state'], middleware['advice']) == (
        Severity.BROKEN,
        'unset RMW_IMPLEMENTATION',
    )
    assert 'rmw_nothing_cpp' in middleware['detail']


def test_without_ros_and_without_any_package_it_still_says_what_is_missing():
    bare = {'PYTHONPATH': str(ROOT), 'ROS_DISTRO': None}
    done = examined(python=(sys.executable, '-S'), **bare)
    assert done.returncode == 1
    assert 'Traceback' not in done.stderr
    lines = done.stdout.splitlines()
    assert 'MISSING: ROS 2: none is sourced; ./ws COMMAND, or source' in done.stdout
    assert 'MISSING: packages: ' in done.stdout
    assert lines[-1].startswith('doctor: needed and missing: ')


def test_packages_that_lack_or_do_not_fit_are_named(tmp_path, monkeypatch):
    needed = ['numpy>=99', 'no-such-package', 'scipy', 'absent; extra == "film"']
    monkeypatch.setattr(doctor_checks, 'requires', lambda name: needed)
    (check,) = doctor_checks.packages()
    assert check.state == Severity.BROKEN
    assert 'not >=99, no no-such-package' in check.detail
    wanted = '"numpy>=99" "no-such-package" "scipy"'
    assert check.advice == typed(f'pip install --force-reinstall {wanted}')
    needed[:2] = ['numpy']
    broken = tmp_path / 'numpy'
    broken.mkdir()
    (broken / '__init__.py').write_text('raise ImportError("made for another Python")')
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))
    (check,) = doctor_checks.packages()
    assert (check.state, check.detail) == (Severity.BROKEN, 'ImportError: made for another Python')


@pytest.mark.parametrize(
    ('domain', 'reach', 'state'),
    [
        ('500', 'LOCALHOST', Severity.BROKEN),
        ('x', 'LOCALHOST', Severity.BROKEN),
        ('150', 'LOCALHOST', Severity.NOTE),
        ('3', 'SUBNET', Severity.NOTE),
        ('', 'LOCALHOST', Severity.GOOD),
    ],
)
def test_a_domain_that_cannot_be_is_named(monkeypatch, domain, reach, state):
    monkeypatch.setenv('ROS_DOMAIN_ID', domain)
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', reach)
    (check,) = doctor_checks.network()
    assert check.state == state
    assert bool(check.advice) == (state != Severity.GOOD)


def test_shared_memory_that_cannot_be_written_or_is_full_is_named(monkeypatch, tmp_path):
    (gone,) = doctor_checks.shared_memory(tmp_path / 'none')
    assert '--ipc=host' in gone.advice
    monkeypatch.setattr(doctor_checks, 'SHARED_MB', 1e12)
    (small,) = doctor_checks.shared_memory(tmp_path)
    assert 'fastdds shm clean' in small.advice


def test_without_opengl_and_without_what_is_optional_it_is_reported_and_nothing_is_broken(
    monkeypatch, capsys
):
    monkeypatch.setattr(offscreen, 'why_not', lambda library: f'no {library} here')
    monkeypatch.setattr(doctor_checks, 'version', raises_not_found)
    monkeypatch.setenv('AMENT_PREFIX_PATH', '')
    monkeypatch.setenv('PATH', '')
    monkeypatch.setenv('ARM_SIM_WS', 'yes')
    monkeypatch.setattr(doctor, 'CHECKS', (doctor_checks.graphics, doctor_checks.optional))
    assert doctor.main([]) == 0
    printed = capsys.readouterr().out
    for text in (
        'egl: no egl here; osmesa',
        'xacro',
        'for arm_sim[dask]: ./ws pip install "distributed',
    ):
        assert text in ' '.join(printed.split()), text
    assert printed.count('not there') >= 9
    assert printed.splitlines()[-1] == 'doctor: all that is needed is there'


def raises_not_found(name):
    raise doctor_checks.PackageNotFoundError(name)


def test_a_check_that_fails_itself_is_a_finding_and_the_others_go_on(monkeypatch, capsys):
    def odd_part():
        raise ZeroDivisionError('of a machine')

    fine = Diagnosis('fine', Severity.GOOD, '')
    monkeypatch.setattr(doctor, 'CHECKS', (odd_part, lambda: [fine]))
    assert doctor.main(['--json']) == 1
    odd, other = json.loads(capsys.readouterr().out)['checks']
    assert (odd['name'], odd['detail']) == ('odd part', 'ZeroDivisionError: of a machine')
    assert other['name'] == 'fine'
    assert doctor.main([]) == 1
    assert 'doctor: needed and missing: odd part' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('word', 'remedy'),
    [
        ('--fix', 'allowed: --json, --help'),
        ('--jsn', 'did you mean --json?'),
        ('json', 'did you mean --json?'),
        ('--js', 'did you mean --json?'),
    ],
)
def test_a_misspelt_option_is_one_line_with_the_remedy(capsys, word, remedy):
    assert doctor.main([word]) == 2
    said = capsys.readouterr()
    assert said.err == f'doctor: unknown option {word!r}; {remedy}\n'
    assert said.out == ''
