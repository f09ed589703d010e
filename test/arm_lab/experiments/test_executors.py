"""Jobs on this machine and on a Dask cluster that loses a worker; runs that go on."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
import psutil
import pytest
from long_wait import LONG_WAIT
from number_jobs import end, fail, slow_on_one, square
from numpy.testing import assert_array_equal
from optional import optional

from arm_dynamics.checks import ArmError
from arm_lab.commands import compare_controllers
from arm_lab.experiments import monte_carlo
from arm_lab.experiments.executors import Jobs, Work, completed, executor, ordered
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.monte_carlo import run_monte_carlo
from arm_lab.experiments.spreads import Spread
from arm_lab.tuning.search import Effort, RequiredMargins, search
from arm_tools.robot_trials.tried import try_robot

CASE, LAWS = Experiment('planar_3r', 'step', 'pd'), ('pd', 'computed_torque')


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


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_each_answer_once_and_the_same_bits(
    tmp_path, monkeypatch
):
    """Monte Carlo and tuning: one process, two, three workers on loopback, and two of them."""
    monkeypatch.setattr('arm_lab.experiments.executors.DASK_TIMEOUT', LONG_WAIT)
    with cluster(tmp_path) as (address, workers), executor(scheduler=address) as far:

        def kill():
            while not (tmp_path / 'victim').exists():
                time.sleep(0.05)
            pid = int((tmp_path / 'victim').read_text())
            assert pid in [worker.pid for worker in workers]
            os.kill(pid, signal.SIGKILL)

        expected = [run_monte_carlo(replace(CASE, seed=4), LAWS, 5, workers=n) for n in (1, 2)]
        on_three = run_monte_carlo(replace(CASE, seed=4), LAWS, 5, workers=2, work=Work(far))
        killer = threading.Thread(target=kill)
        killer.start()
        taken = list(completed(far, partial(slow_on_one, tmp_path), range(40)))
        killer.join()
        assert sorted(number for number, _ in taken) == list(range(40))
        for number, answer in taken:
            assert_array_equal(answer, square(number))
        on_two = run_monte_carlo(replace(CASE, seed=4), LAWS, 5, workers=2, work=Work(far))
        trial = Experiment.of_files('planar_3r', 'step', 'computed_torque')
        effort = Effort(arms=2, edge=1, generations=1, population=4, fresh=1)
        with executor(1) as near:
            gains = [search(trial, RequiredMargins(), effort, each) for each in (near, far)]
            job, names = partial(try_robot, poses=5, size=0), ('planar_3r', 'no_arm')
            arms = [ordered(each, job, names) for each in (near, far)]
        assert gains[0] == gains[1]
        assert arms[0][0] == arms[1][0]
        assert arms[0][1].own.reason == arms[1][1].own.reason != ''
        with pytest.raises(ArmError, match='job 0 cannot be done'):
            list(completed(far, fail, range(1)))
    for other in (expected[1], on_three, on_two):
        for one, same in zip(expected[0], other, strict=True):
            assert_array_equal(one.errors, same.errors)


@pytest.mark.parametrize('workers', [1, 2])
def test_each_job_is_answered_once_and_a_failure_is_raised(workers):
    with executor(workers) as where:
        found = dict(completed(where, square, range(23)))
        assert sorted(found) == list(range(23))
        for number, answer in found.items():
            assert_array_equal(answer, square(number))
        with pytest.raises(ArmError, match='cannot be done'):
            list(completed(where, fail, range(3)))


WAITING = """
import os, time
from arm_lab.experiments.executors import executor
if __name__ == '__main__':
    with executor(2) as pool:
        print(*{pool.submit(os.getpid).result() for _ in range(9)}, flush=True)
        time.sleep(600.0)
"""


@pytest.mark.parametrize('how', [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_process_that_made_them_however_it_ends(tmp_path, how):
    (tmp_path / 'waiting.py').write_text(WAITING)
    command = [sys.executable, tmp_path / 'waiting.py']
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        workers = [psutil.Process(int(word)) for word in process.stdout.readline().split()]
        assert workers
        process.send_signal(how)
    _, alive = psutil.wait_procs(workers, timeout=LONG_WAIT)
    assert not alive


@pytest.mark.slow
@pytest.mark.parametrize(
    ('how', 'words'),
    [
        (0, 'a worker process ended with exit code 0 before its job did'),
        (3, 'a worker process ended with exit code 3 before its job did'),
        (-signal.SIGKILL, r'a worker process was ended by SIGKILL \(out of memory\?\)'),
        (-signal.SIGABRT, 'a worker process was ended by SIGABRT'),
    ],
)
def test_a_worker_that_ends_is_called_what_it_is(how, words):
    with pytest.raises(ArmError, match=f'^{words}$'), executor(2) as work:
        ordered(work, end, [how] * 2)


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_named(tmp_path, capsys, monkeypatch):
    optional('distributed', 'distributed>=2025.1')
    monkeypatch.setattr('arm_lab.experiments.executors.DASK_TIMEOUT', 0.5)
    arguments = ['--scheduler', 'tcp://127.0.0.1:9', '--output-dir', str(tmp_path)]
    assert compare_controllers.main(arguments) == 1
    assert "scheduler 'tcp://127.0.0.1:9': " in capsys.readouterr().err


def test_without_dask_the_option_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, 'distributed', None)
    arguments = ['--scheduler', 'tcp://127.0.0.1:9', '--output-dir', str(tmp_path)]
    assert compare_controllers.main(arguments) == 1
    error = capsys.readouterr().err
    assert 'pip install' in error
    assert error.count('\n') == 1


def test_ctrl_c_keeps_the_answers_of_independent_jobs(capsys, monkeypatch):
    def job(number):
        if number == 2:
            raise KeyboardInterrupt
        return 10 * number

    assert Jobs(workers=1).done('arms', job, range(5)) == {0: 0, 1: 10}
    assert capsys.readouterr().err == 'stopped: 2 of 5 arms are done\n'
    with pytest.raises(KeyboardInterrupt):
        Jobs(workers=1).done('arms', job, range(2, 5))
    backwards = lambda _, do, jobs: ((k, do(jobs[k])) for k in (1, 0))  # noqa: E731
    monkeypatch.setattr('arm_lab.experiments.executors.completed', backwards)
    assert list(Jobs(workers=1).done('arms', job, range(2))) == [0, 1]


# Runs that are resumed


def finished(work, function, count, run=None):
    """Return the answers of numbers 0 to count - 1."""
    return dict(work.results(function, range(count), run or {'what': 1}))


def test_an_interrupted_run_resumes_with_the_jobs_that_are_left(tmp_path):
    path, ran = tmp_path / 'run.partial', []

    def noted(number):
        if number == 4 and not resume:
            raise KeyboardInterrupt
        ran.append(number)
        return square(number)

    with executor() as serial:
        resume = False
        with pytest.raises(KeyboardInterrupt):
            finished(Work(serial, path), noted, 7)
        whole = path.read_bytes()
        path.write_bytes(whole + whole[-40:-1])  # a power failure while an answer is written
        ran.clear()
        resume = True
        found = finished(Work(serial, path, resume=True), noted, 7)
    assert ran == [4, 5, 6]
    assert sorted(found) == list(range(7))
    for number, answer in found.items():
        assert_array_equal(answer, square(number))  # those from the file, too, to the last bit
    assert not path.exists()


def saved(number, answer):
    """Return an entry of a file of answers."""
    file = io.BytesIO()
    np.save(file, number)
    np.save(file, answer)
    return file.getvalue()


@pytest.mark.parametrize(
    'entry',
    [
        saved(2, square(2))[:-1],
        saved(2, square(2))[:20],
        b'\n',
        b'[2, [4], [4.0, 0.0, 0.0, 0.2]]\n',
        saved(1, square(9)),  # a second answer of a job
        saved(99, square(9)),  # no such job
    ],
)
def test_a_damaged_entry_is_no_answer(entry, tmp_path):
    path, ran = tmp_path / 'run.partial', []

    def noted(number):
        ran.append(number)
        return square(number)

    with executor() as serial:
        begun = Work(serial, path).results(noted, range(4), {'what': 1})
        found = dict([next(begun), next(begun)])
        begun.close()
        path.write_bytes(path.read_bytes() + entry)
        ran.clear()
        found = finished(Work(serial, path, resume=True), noted, 4)
    assert ran == [2, 3]
    assert sorted(found) == [0, 1, 2, 3]
    for number, answer in found.items():
        assert_array_equal(answer, square(number))


def test_a_file_of_another_run_or_that_cannot_be_written_is_refused(tmp_path):
    path = tmp_path / 'run.partial'
    with executor() as serial:
        next(Work(serial, path).results(square, range(2), {'seed': 1}))
        with pytest.raises(ArmError, match='belongs to another run'):
            finished(Work(serial, path, resume=True), square, 2, {'seed': 2})
        with pytest.raises(ArmError, match='cannot be written'):
            finished(Work(serial, tmp_path / 'no' / 'folder'), square, 2)


@pytest.mark.slow
def test_ctrl_c_leaves_a_file_that_resume_goes_on_from(tmp_path, monkeypatch, capsys):
    arguments = '--robots planar_3r --tasks step --laws pd --samples 4 --workers 1'
    folder, monkeyed = tmp_path / 'out', monte_carlo.run_together
    monkeypatch.setattr(monte_carlo, 'CHUNK', 1)

    def interrupted(case, names, samples):
        if samples.start == 2:
            raise KeyboardInterrupt
        return monkeyed(case, names, samples)

    monkeypatch.setattr(monte_carlo, 'run_together', interrupted)
    assert compare_controllers.main([*arguments.split(), '--output-dir', str(folder)]) == 130
    assert '--resume continues the run' in capsys.readouterr().err
    assert (folder / 'monte_carlo.partial').exists()
    monkeypatch.setattr(monte_carlo, 'run_together', monkeyed)
    assert (
        compare_controllers.main([*arguments.split(), '--output-dir', str(folder), '--resume'])
        == 0
    )
    resumed = json.loads((folder / 'monte_carlo.json').read_text())['rows']
    other = tmp_path / 'other'
    assert compare_controllers.main([*arguments.split(), '--output-dir', str(other)]) == 0
    assert resumed == json.loads((other / 'monte_carlo.json').read_text())['rows']
    assert not (folder / 'monte_carlo.partial').exists()


def test_ctrl_c_before_the_first_result_names_no_resume_and_leaves_no_file(
    tmp_path, monkeypatch, capsys
):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(monte_carlo, 'run_together', interrupted)
    words = '--robots planar_3r --tasks step --laws pd --samples 4 --workers 1 --output-dir'
    assert compare_controllers.main([*words.split(), str(tmp_path / 'out')]) == 130
    assert capsys.readouterr().err == 'compare_controllers: stopped; it has no result yet\n'
    assert not (tmp_path / 'out').exists()


EARLY = 'import os, signal\nos.getpid() == int(os.environ["OF"]) or signal.raise_signal(2)\n'
JOBS = """
import os
os.environ['OF'] = str(os.getpid())
import arm_early
from arm_lab.experiments.executors import executor
if __name__ == '__main__':
    try:
        with executor(2) as work:
            print(*work.map(abs, [-1, 2]))
    except BaseException:
        print('ended')
"""


@pytest.mark.slow
def test_ctrl_c_while_the_python_of_workers_starts_is_quiet(tmp_path):
    (tmp_path / 'arm_early.py').write_text(EARLY)
    (tmp_path / 'jobs.py').write_text(JOBS)
    path = f'{tmp_path}:{os.environ["PYTHONPATH"]}'
    ran = subprocess.run(
        [sys.executable, str(tmp_path / 'jobs.py')],
        capture_output=True, text=True, env=os.environ | {'PYTHONPATH': path}, timeout=LONG_WAIT,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == ('ended\n', '')


# Many samples


def test_reports_of_many_arms_have_a_histogram_and_exact_percentiles():
    values = np.exp(np.random.default_rng(3).normal(0.0, 2.0, 20_001))
    values[:7] = np.inf
    spread = Spread('pd', values)
    assert (spread.samples, spread.unstable, spread.worst) == (20_001, 7, np.inf)
    assert spread.percentile_95 == np.percentile(values, 95, method='nearest')
    row = spread.row()
    lower, counts = np.array(row['bin_from_mm']), np.array(row['bin_count'])
    assert set(row) == {'bin_from_mm', 'bin_count'}
    assert counts.sum() == 20_001 - 7
    ordered_values = np.sort(values)[: counts.sum()]
    of_each = np.repeat(lower, counts)  # the lower end of each value's bin
    assert (of_each <= ordered_values * (1 + 1e-9)).all()
    assert (ordered_values < of_each * 1.001 * (1 + 1e-9)).all()
    assert Spread('pd', values[:5]).row() == {'tracking_rms_mm': [np.inf] * 5}


def test_each_chunk_of_a_million_arms_is_put_where_it_belongs(monkeypatch):
    """The answers are numbers of arms, so that each percentile is known."""

    def numbered(case, names, samples):
        return np.broadcast_to(np.arange(samples.start, samples.stop), (2, 3, len(samples)))

    monkeypatch.setattr(monte_carlo, 'run_together', numbered)
    for spread in run_monte_carlo(CASE, LAWS, 1_000_001):
        assert (spread.median, spread.percentile_95, spread.worst) == (5e5, 9.5e5, 1e6)
