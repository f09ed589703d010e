"""The tuning command: what it prints, searches, and refuses."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
from long_wait import LONG_WAIT

from arm_lab.commands.tune_pose_hold import main
from arm_lab.tasks.pose_hold.objective import (
    PUBLISHED_I,
    PUBLISHED_P,
    PoseHoldObjective,
)
from arm_lab.tasks.pose_hold.tuning import (
    Search,
    downhill_simplex,
    evolution_search,
    published_search,
)

P = ','.join(map(str, PUBLISHED_P))
PI = ','.join(map(str, PUBLISHED_P + PUBLISHED_I))


@pytest.mark.parametrize(('gains', 'says'), [(P, 'J = 16.3888758427'), (PI, 'J = 0.3057101990')])
def test_evaluate_prints_the_published_objective_to_ten_digits(gains, says, capsys):
    assert main(['--evaluate', gains]) == 0
    assert capsys.readouterr().out.splitlines()[0] == says


@pytest.mark.slow
def test_a_short_search_prints_the_table_and_writes_json(tmp_path, capsys):
    file = tmp_path / 'gains.json'
    assert main(['--terms', 'pi', '--seconds', '1', '--json', str(file)]) == 0
    rows = json.loads(file.read_text())['gains']
    assert set(rows) == {'published', 'simplex', 'robust', 'best'}
    assert rows['published']['cost'] == pytest.approx(0.3057101990, abs=1e-10)
    assert rows['published']['cost_all_10_percent_up'] == 9999999.0
    assert all(len(row['gains']) == 6 for row in rows.values())
    out = ' '.join(capsys.readouterr().out.split())
    assert 'all +10 %' in out
    assert 'the simplex has not converged within --seconds 1' in out


@pytest.mark.slow
def test_the_published_search_ends_at_the_published_gains(tmp_path, capsys):
    file = tmp_path / 'gains.json'
    assert main(['--method', 'published', '--seconds', '1000', '--json', str(file)]) == 0
    found = json.loads(file.read_text())['gains']['simplex']
    np.testing.assert_allclose(found['gains'], PUBLISHED_P + PUBLISHED_I, rtol=1e-10)
    assert 'simplex   │ 0.3057101989' in capsys.readouterr().out


@pytest.mark.slow
def test_evolution_with_robustness_finds_gains_that_bear_10_percent():
    objective = PoseHoldObjective(duration=0.3)
    search = Search(np.ones(3))
    search.stop = lambda: search.evaluations > 1500
    evolution_search(objective, 'p', True, search)
    costs = objective.costs(np.outer([0.9, 1.0, 1.1], search.best))
    assert costs.max() <= search.cost < objective.costs(np.outer([1.1], PUBLISHED_P))[0]


@pytest.mark.slow
def test_evolution_finds_gains_of_a_fortieth_of_the_published_objective():
    objective = PoseHoldObjective(duration=0.1)
    search = Search(np.ones(6))
    search.stop = lambda: search.evaluations > 6000
    evolution_search(objective, 'pi', False, search)
    assert search.cost == objective.cost(search.best) < 0.0070


@pytest.mark.slow
def test_evolution_repeats_itself_by_its_seed_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    objective = PoseHoldObjective(duration=0.02)
    objective.workers = 1  # nothing depends on which thread is the first

    def found(seed):
        search = Search(np.ones(3))
        search.stop = lambda: search.evaluations > 1200
        evolution_search(objective, 'p', False, search, seed)
        return search.best

    before = np.random.get_state()[1]
    np.testing.assert_array_equal(found(3), found(3))
    assert (found(3) != found(4)).all()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # others' random numbers
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_sigint_ends_with_the_best_so_far_and_leaves_no_process(tmp_path):
    file = tmp_path / 'gains.json'
    command = ['tune_pose_hold', '--terms', 'pid', '--method', 'evolution', '--seconds', '600']
    process = subprocess.Popen(
        [sys.executable, '-m', 'arm_sim.executables', *command, '--json', str(file)],
        stdout=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {'PYTHONPATH': os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert process.stdout is not None
    printed = ''
    while 'searching' not in printed:
        line = process.stdout.readline()
        assert line, printed
        printed += line
    process.send_signal(signal.SIGINT)
    printed += process.communicate(timeout=LONG_WAIT)[0]
    assert process.returncode == 0
    assert 'interrupted: the best so far' in printed
    assert 'all +10 %' in printed
    (row,) = json.loads(file.read_text())['gains'].values()
    assert row['cost'] == PoseHoldObjective().cost(row['gains'])
    end = time.monotonic() + LONG_WAIT
    with suppress(ProcessLookupError):  # its process group ends
        while os.killpg(process.pid, 0) is None:
            assert time.monotonic() < end
            time.sleep(0.01)


def test_a_stopped_search_keeps_its_best():
    objective = PoseHoldObjective(duration=0.1)
    search = Search(np.ones(3))
    search.stop = lambda: search.evaluations >= 25
    published_search(objective, 'p', search)
    assert search.evaluations == 25
    assert search.cost == objective.cost(search.best) < objective.cost([6.0, 5.0, 1.0])


def test_the_simplex_finds_the_minimum_of_rosenbrocks_valley():
    def valley(point):
        x, y = point
        return (1.0 - x) ** 2 + 100.0 * (y - x * x) ** 2

    found = downhill_simplex(valley, [-1.2, 1.0], 0.5, 1e-12, 1000)
    np.testing.assert_allclose(found, [1.0, 1.0], atol=1e-5)


@pytest.mark.parametrize(
    ('arguments', 'says'),
    [
        (['--evaluate', '1,2'], '2 gains given; allowed: 3'),
        (['--evaluate', '-6,5,1'], '--evaluate is -6; gains must be >= 0'),
        (['--evaluate', '1,2,3,4,5,6,7,8,9,10,11,12'], '12 gains given; allowed: 3'),
        (['--evaluate', '1,nan,3'], 'gain 2 is nan; it must be finite'),
        (['--target', '1,2', '--evaluate', '1,2,3'], 'target is .* 5 finite angles'),
        (['--seconds', '0'], '--seconds is 0; it must be finite, > 0'),
        (['--json', '/nowhere/x.json', '--evaluate', '1,2,3'], '--json /nowhere/x.json: No such'),
    ],
)
def test_bad_input_ends_with_one_line_and_code_1(arguments, says, capsys):
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.count('\n') == 1
    assert re.search(says, error)
