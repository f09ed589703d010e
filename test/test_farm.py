"""Jobs on this machine and on a Dask cluster that loses a worker; runs that go on."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from optional import optional
from patience import PATIENCE

from arm_dynamics.checks import ArmError
from arm_sim.commands import compare_controllers
from arm_sim.comparison import monte_carlo
from arm_sim.comparison.cases import Case
from arm_sim.comparison.monte_carlo import run_monte_carlo
from arm_sim.comparison.quantiles import ERROR, Quantiles, binned
from arm_sim.farm.farm import farm
from arm_sim.farm.journal import Journal
from arm_sim.farm.work import Work
from arm_sim.robot_trials.tried import try_robot
from arm_sim.tuning.search import Effort, Margins, search
from arm_sim.tuning.trial import Trial

CASE, LAWS = Case('planar_3r', 'step', 'pd'), ('pd', 'computed_torque')


def square(number):
    return np.array([float(number) ** 2, np.inf, np.nan, 0.1 * number])


def slow_on_one(folder, number):
    """Square; the first worker that takes a job never ends it."""
    try:
        (folder / 'taken').mkdir()
    except FileExistsError:
        return square(number)
    (folder / 'pid').write_text(str(os.getpid()))
    (folder / 'pid').rename(folder / 'victim')
    time.sleep(600.0)
    return square(number)


def fail(number):
    raise ArmError(f'job {number} cannot be done')


@contextmanager
def cluster(folder, workers=3):
    """Give the address of a scheduler, and its workers' processes."""
    path = os.pathsep.join([optional('distributed', 'distributed>=2025.1'), *sys.path])
    environment = {**os.environ, 'PYTHONPATH': path}
    file = folder / 'scheduler.json'

    def begin(part, *arguments):
        command = [sys.executable, '-m', f'distributed.cli.dask_{part}', *arguments]
        log = (folder / f'{part}.log').open('a')
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    local = ('--host', '127.0.0.1', '--no-dashboard')
    every = [begin('scheduler', *local, '--port', '0', '--scheduler-file', str(file))]
    own = ('--nthreads', '1', '--no-nanny', '--memory-limit', '0')
    every += [begin('worker', *local, *own, '--scheduler-file', str(file)) for _ in range(workers)]
    try:
        while not file.exists() or not file.read_text().endswith('}'):  # it is being written
            assert every[0].poll() is None, (folder / 'scheduler.log').read_text()
            time.sleep(0.05)
        yield json.loads(file.read_text())['address'], every[1:]
    finally:
        for process in every:
            process.kill()
        for process in every:
            process.wait()


def test_a_cluster_that_loses_a_worker_gives_each_answer_once_and_the_same_bits(
    tmp_path, monkeypatch
):
    """Monte Carlo and tuning: one process, two, three workers on loopback, and two of them."""
    monkeypatch.setattr('arm_sim.farm.dask_farm._WAIT', PATIENCE)
    with cluster(tmp_path) as (address, workers), farm(scheduler=address) as far:

        def kill():
            while not (tmp_path / 'victim').exists():
                time.sleep(0.05)
            pid = int((tmp_path / 'victim').read_text())
            assert pid in [worker.pid for worker in workers]
            os.kill(pid, signal.SIGKILL)

        expected = [run_monte_carlo(CASE, LAWS, 5, seed=4, workers=n) for n in (1, 2)]
        on_three = run_monte_carlo(CASE, LAWS, 5, seed=4, workers=2, work=Work(far))
        killer = threading.Thread(target=kill)
        killer.start()
        taken = list(far.run(partial(slow_on_one, tmp_path), range(40)))
        killer.join()
        assert sorted(number for number, _ in taken) == list(range(40))
        for number, answer in taken:
            assert_array_equal(answer, square(number))
        on_two = run_monte_carlo(CASE, LAWS, 5, seed=4, workers=2, work=Work(far))
        trial = Trial('planar_3r', 'step', 'computed_torque')
        effort = Effort(arms=2, edge=1, generations=1, population=4, fresh=1)
        with farm(1) as near:
            gains = [search(trial, Margins(), effort, each) for each in (near, far)]
            job, names = partial(try_robot, poses=5, size=0), ('planar_3r', 'no_arm')
            arms = [dict(each.run(job, names)) for each in (near, far)]
        assert gains[0] == gains[1]
        assert arms[0][0] == arms[1][0]
        assert arms[0][1].own.reason == arms[1][1].own.reason != ''
        with pytest.raises(ArmError, match='job 0 cannot be done'):
            list(far.run(fail, range(1)))
    for other in (expected[1], on_three, on_two):
        for one, same in zip(expected[0], other, strict=True):
            assert_array_equal(one.rms_mm, same.rms_mm)
            assert_array_equal(one.joint_rms_rad, same.joint_rms_rad)


@pytest.mark.parametrize('workers', [1, 2])
def test_each_job_is_answered_once_and_a_failure_is_raised(workers):
    with farm(workers) as where:
        found = dict(where.run(square, range(23)))
        assert sorted(found) == list(range(23))
        for number, answer in found.items():
            assert_array_equal(answer, square(number))
        with pytest.raises(ArmError, match='cannot be done'):
            list(where.run(fail, range(3)))


def test_a_scheduler_that_is_not_there_is_named(tmp_path, capsys, monkeypatch):
    optional('distributed', 'distributed>=2025.1')
    monkeypatch.setattr('arm_sim.farm.dask_farm._WAIT', 0.5)
    told = ['--scheduler', 'tcp://127.0.0.1:9', '--output-dir', str(tmp_path)]
    assert compare_controllers.main(told) == 1
    assert "scheduler 'tcp://127.0.0.1:9': " in capsys.readouterr().err


def test_without_dask_the_option_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, 'distributed', None)
    told = ['--scheduler', 'tcp://127.0.0.1:9', '--output-dir', str(tmp_path)]
    assert compare_controllers.main(told) == 1
    error = capsys.readouterr().err
    assert 'pip install' in error
    assert error.count('\n') == 1


# Runs that go on


def test_a_run_that_was_broken_off_goes_on_with_what_is_left(tmp_path):
    path, ran = tmp_path / 'run.partial', []

    def noted(number):
        if number == 4 and not resume:
            raise KeyboardInterrupt
        ran.append(number)
        return square(number)

    found = {}
    with farm() as where:
        resume = False
        with pytest.raises(KeyboardInterrupt):
            Work(where, path).run(noted, range(7), found.__setitem__, {'what': 1})
        with path.open('a') as file:
            file.write('[4, [4], [16.0, ')  # the power failed here
        ran.clear()
        found.clear()
        resume = True
        Work(where, path, resume=True).run(noted, range(7), found.__setitem__, {'what': 1})
    assert ran == [4, 5, 6]
    assert sorted(found) == list(range(7))
    for number, answer in found.items():
        assert_array_equal(answer, square(number))  # also those from the file, to the last bit
    assert not path.exists()


@pytest.mark.parametrize(
    ('line', 'left'),
    [
        ('[2, [4], [4.0, 0.0, 0.0, 0.2]]', [2, 3]),  # whole, but its end was not written
        ('7\n', [2, 3]),
        ('[null, [4], [4.0]]\n', [2, 3]),
        ('[2, "four", [4.0]]\n', [2, 3]),
        ('[1, [4], [9.0, 9.0, 9.0, 9.0]]\n', [2, 3]),  # that is there already
        ('[99, [4], [9.0, 9.0, 9.0, 9.0]]\n', [2, 3]),  # no such job
    ],
)
def test_a_damaged_line_is_no_answer(line, left, tmp_path):
    path, ran, found = tmp_path / 'run.partial', [], []

    def noted(number):
        ran.append(number)
        return square(number)

    journal = Journal(path, {'what': 1}, resume=False)
    for number in range(2):
        journal.add(number, square(number))
    journal.close(remove=False)
    path.write_text(path.read_text() + line)
    with farm() as where:
        Work(where, path, resume=True).run(
            noted, range(4), lambda number, answer: found.append((number, answer)), {'what': 1}
        )
    assert ran == left
    assert sorted(number for number, _ in found) == [0, 1, 2, 3]
    for number, answer in found:
        assert_array_equal(answer, square(number))


def test_a_journal_of_another_run_is_refused(tmp_path):
    path = tmp_path / 'run.partial'
    Journal(path, {'seed': 1}, resume=False).close(remove=False)
    with pytest.raises(ArmError, match='is of another run'):
        Journal(path, {'seed': 2}, resume=True)
    with pytest.raises(ArmError, match='cannot be written'):
        Journal(tmp_path / 'no' / 'folder', {}, resume=False)


def test_ctrl_c_leaves_a_file_that_resume_goes_on_from(tmp_path, monkeypatch, capsys):
    told = '--robots planar_3r --tasks step --laws pd --samples 4 --workers 1'
    folder, monkeyed = tmp_path / 'out', monte_carlo._run_together
    monkeypatch.setattr(monte_carlo, '_CHUNK', 1)

    def interrupted(case, names, ranges, seed, samples):
        if samples.start == 2:
            raise KeyboardInterrupt
        return monkeyed(case, names, ranges, seed, samples)

    monkeypatch.setattr(monte_carlo, '_run_together', interrupted)
    assert compare_controllers.main([*told.split(), '--output-dir', str(folder)]) == 130
    assert '--resume goes on' in capsys.readouterr().err
    assert len((folder / 'monte_carlo.partial').read_text().splitlines()) == 3
    monkeypatch.setattr(monte_carlo, '_run_together', monkeyed)
    assert compare_controllers.main([*told.split(), '--output-dir', str(folder), '--resume']) == 0
    resumed = json.loads((folder / 'monte_carlo.json').read_text())['rows']
    other = tmp_path / 'other'
    assert compare_controllers.main([*told.split(), '--output-dir', str(other)]) == 0
    assert resumed == json.loads((other / 'monte_carlo.json').read_text())['rows']
    assert not (folder / 'monte_carlo.partial').exists()


# Counts in bins


def test_quantiles_of_counts_are_the_values_within_the_stated_error():
    values = np.exp(np.random.default_rng(3).normal(0.0, 2.0, 20_001))
    values[:7] = np.inf
    whole, parts = Quantiles(), Quantiles()
    whole.add(binned(values))
    for part in np.array_split(np.random.default_rng(4).permutation(values), 11):
        parts.add(binned(part))
    assert parts.counts == whole.counts
    assert (parts.count, parts.unstable) == (20_001, 7)
    assert parts.largest == values[7:].max()
    for percent in (0, 5, 50, 95, 99):
        expected = np.percentile(values, percent, method='nearest')
        assert_allclose(parts.at(percent), expected, rtol=1.001 * ERROR)
    assert parts.at(100) == np.inf
    assert parts.stable().at(100) < np.inf


def test_many_samples_are_counted_and_say_what_the_single_ones_say(monkeypatch):
    exact = run_monte_carlo(CASE, LAWS, 6, seed=3)
    monkeypatch.setattr(monte_carlo, 'EXACT', 5)
    for workers in (1, 2):
        counted = run_monte_carlo(CASE, LAWS, 6, seed=3, workers=workers)
        for one, many in zip(exact, counted, strict=True):
            assert_allclose(many.percentile_95, one.percentile_95, rtol=1.001 * ERROR)
            assert (many.unstable, many.samples) == (0, 6)
            assert many.worst == one.worst


def test_a_million_arms_need_no_more_memory_here_than_a_thousand(monkeypatch):
    """What each arm does is made up; how its numbers are kept is not."""

    def made_up(case, names, ranges, seed, samples):
        rng = np.random.default_rng([seed, samples.start])
        return np.exp(rng.normal(0.0, 0.03, (len(names), 2, len(samples))))

    monkeypatch.setattr(monte_carlo, '_run_together', made_up)
    monkeypatch.setattr(monte_carlo, 'EXACT', 0)
    peaks = []
    run_monte_carlo(CASE, LAWS, 1_000)  # what is loaded once
    for samples in (1_000, 1_000_000):
        tracemalloc.start()
        spreads = run_monte_carlo(CASE, LAWS, samples)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert spreads[0].samples == samples
    assert peaks[1] < peaks[0] + 1_000_000  # the arms' own numbers would be 32 MB
