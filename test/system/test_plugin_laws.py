"""A law that a user's own package brings: found, compared, run over topics."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from domains import fresh_domain
from long_wait import LONG_WAIT
from plugins import LAW, write_plugins

from arm_lab.experiments.compared_laws import compared_laws

LAWS = {
    'my_law': 'good:MyLaw',
    'broken': 'bad:Law',
    'pd': 'good:MyLaw',
    'no_law': 'good:MyLawParameters',
}
REFUSED = {
    'broken': "cannot be imported: ModuleNotFoundError: No module named 'no_such_library'",
    'pd': 'has the name of arm_controllers.laws.pd; it needs another one',
    'no_law': 'is no subclass of arm_controllers.law.Law',
}


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a command with a package of laws installed."""

    def run(*command, laws=('my_law',)):
        if not (tmp_path / 'site').exists():
            entries = {'arm_sim.laws': {name: LAWS[name] for name in laws}}
            write_plugins(
                tmp_path / 'site', {'good': LAW, 'bad': 'import no_such_library'}, entries
            )
        environment = os.environ | {
            'PYTHONPATH': f'{tmp_path / "site"}:{os.environ["PYTHONPATH"]}',
            'ROS_DOMAIN_ID': fresh_domain(),
        }
        answer = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=LONG_WAIT,
            env=environment,
            cwd=tmp_path,
        )
        return answer.returncode, answer.stdout + answer.stderr

    return run


def compare(*options):
    return [sys.executable, '-m', 'arm_sim.executables', 'compare_controllers', *options]


def rows_of(folder):
    rows = json.loads((folder / 'comparison' / 'comparison.json').read_text())['rows']
    return {row['law']: row['tracking_rms_mm'] for row in rows}


def test_it_is_compared_with_every_law_and_comes_last_where_it_does_not_say_what_it_knows(
    run, tmp_path
):
    code, printed = run(*compare('--robots', 'planar_3r', '--workers', '1'))
    assert code == 0, printed
    rms = rows_of(tmp_path)
    assert list(rms) == [*compared_laws(), 'my_law']
    # Without the reference's acceleration it lags, by as much at every mass.
    assert rms['computed_torque'] < 0.1 * rms['my_law'] < rms['pd_gravity']


def test_its_controller_runs_in_launch_files_next_to_one_that_is_broken(run, tmp_path):
    arguments = ['controller:=my_law', 'limit:=5.0', f'output_dir:={tmp_path / "sinusoid"}']
    command = 'ros2', 'launch', 'arm_sim', 'sinusoid.launch.py', *arguments
    code, printed = run(*command, laws=('my_law', 'broken'))
    assert code == 0, printed
    assert '[my_law_controller-' in printed
    report = json.loads((tmp_path / 'sinusoid' / 'report.json').read_text())
    assert report['controller'] == 'my_law'

    case = '--robots', 'planar_3r', '--laws', 'my_law', '--workers', '1'
    errors = []
    for over in ('loop', 'topics'):  # the latter by task.launch.py
        code, printed = run(*compare(*case, '--over', over))
        assert code == 0, printed
        errors.append(rows_of(tmp_path)['my_law'])
    np.testing.assert_allclose(errors[1], errors[0], rtol=1e-9)


ASK = """
from arm_controllers.laws import law_class, law_names
from arm_dynamics.checks import ArmError
for name in law_names():
    try:
        law_class(name)
    except ArmError as error:
        print(error)
"""


def test_a_bad_one_is_refused_in_one_line_where_it_is_asked_for(run):
    code, printed = run(sys.executable, '-c', ASK, laws=LAWS)
    assert code == 0, printed
    lines = dict(zip(sorted(REFUSED), printed.splitlines(), strict=True))
    for name, line in lines.items():
        assert line.startswith(f'law {name!r} (plugins_of_a_user.')
        assert line.endswith(REFUSED[name])
    controller = [sys.executable, '-m', 'arm_sim.executables', 'controller', 'broken']
    for command in (controller, compare('--laws', 'broken')):
        code, printed = run(*command)
        assert code == 1
        assert printed.splitlines()[-1].partition(': ')[2] == lines['broken']
