"""The process of a task's node."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from arm_sim.ros import task_node


def test_what_draws_has_ended_before_the_process_of_a_task_ends(monkeypatch):
    pool = ThreadPoolExecutor(1)
    monkeypatch.setattr(task_node, 'picture_process', lambda: pool)
    monkeypatch.setattr(task_node, 'run_node', lambda name, make: 3)
    assert task_node.main('sinusoid') == 3
    with pytest.raises(RuntimeError, match='after shutdown'):
        pool.submit(int)
