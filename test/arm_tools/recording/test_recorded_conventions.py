"""A small draw of conventions over simulated recordings."""

from scripts import load_script

STUDY = load_script('benchmarks/recorded_conventions.py')


def test_drawn_conventions_are_named_and_no_worse_arm_is_written():
    good, worse, written, missed = STUDY.study(6, 0.2)
    assert missed == []
    assert good['all'] == 6
    assert written > 0
    assert worse == 0
