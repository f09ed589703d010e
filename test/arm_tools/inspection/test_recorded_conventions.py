"""A small draw of conventions over simulated recordings."""

from scripts import load_script

STUDY = load_script('benchmarks/recorded_conventions.py')


def test_drawn_conventions_are_named_and_no_worse_arm_is_written():
    counts = STUDY.study(6, 0.2)
    assert counts.missed == []
    assert counts.good['all'] == 6
    assert counts.written > 0
    assert counts.worse == 0


def test_the_draws_end_with_their_time():
    assert STUDY.study(6, 0.0, minutes=0.0).draws == 1
