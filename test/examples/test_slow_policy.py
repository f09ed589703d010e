"""Chunks that arrive late: the error of a latency, its bits, its forms."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.testing import assert_allclose
from scripts import load_script

from arm_controllers.latency import latency_of
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.goals import sampled

LATE = load_script('examples/late_chunks.py')
CHUNKS = LATE.ChunkParameters(rate=25.0, chunk=20, execute=10)


def slowed(latency, stamped, seed=0):
    case = Experiment('ur5e', 'sinusoid', 'computed_torque', frequency=0.25, seed=seed)
    loaded = case.load()
    return loaded, LATE.run_slowly(loaded, CHUNKS, latency_of(latency), stamped)


def largest(run, after=0.0):
    record = run.record
    return np.abs(record.q - record.q_reference)[record.t >= after].max()


def test_a_latency_shifts_the_motion_by_itself_where_chunks_start_on_arrival():
    loaded, run = slowed('0.02', False)
    record = run.record
    late = sampled(loaded.task.reference, record.t - 0.02, record.q.shape[1])[0]
    steady = (record.t > 0.6) & (record.t % 0.4 > 0.2)  # away from the jump of a new chunk
    assert np.abs(record.q - late)[steady].max() < 1e-4
    shift = np.abs(late - record.q_reference)[steady].max()
    assert_allclose(np.abs(record.q - record.q_reference)[steady].max(), shift, rtol=0.01)
    assert shift > 5e-3


def test_chunks_with_the_stamp_of_their_observation_cost_nothing_while_they_overlap():
    loaded, exact = slowed('0', True)
    _, late = slowed('0.2', True)
    assert late.refused == exact.refused == 0
    assert largest(exact) < 1e-4
    assert_allclose(largest(late), largest(exact), rtol=0.3)
    # The acceleration of the sinusoid during a period, and no jump of the velocity.
    a = np.abs(sampled(loaded.task.reference, exact.record.t, 6)[2]).max()
    assert_allclose(late.largest_step, 1e-3 * a, rtol=0.05)
    _, too_late = slowed('0.5', True)  # longer than a chunk lasts after its successor began
    assert largest(too_late) > 10.0 * largest(late)


def test_a_seed_is_one_checksum_under_any_load():
    def checksum(seed):
        return slowed('0.05..0.3', True, seed)[1].record.checksum()

    alone = checksum(3)
    with ThreadPoolExecutor(3) as pool:
        many = list(pool.map(checksum, (3, 3, 4)))
    assert many[:2] == [alone, alone]
    assert many[2] != alone


def test_the_command_tabulates_both_starts_of_the_chunks(tmp_path, capsys):
    command = load_script('examples/slow_policy.py')
    words = ['--frequency', '1', '--latency', '0,0.1']
    assert command.main([*words, '--output-dir', str(tmp_path)]) == 0
    rows = (tmp_path / 'slow_policy.md').read_text().splitlines()
    assert sum('on arrival' in row for row in rows) == 2
    assert sum('at the observation' in row for row in rows) == 2
    assert (tmp_path / 'slow_policy.png').stat().st_size > 5000
    assert command.main([*words, '--latency', 'soon', '--output-dir', str(tmp_path)]) == 1
    assert 'latency is ' in capsys.readouterr().err
