"""URDF files drawn over the grammar: other readers and the drawn numbers give the same arm."""

import pytest
from scripts import load_script

from arm_dynamics import RobotModel

FILES = load_script('benchmarks/robot_files.py')


@pytest.mark.parametrize('first', range(0, 60, 20))
def test_all_readers_find_the_drawn_arm(first):
    for seed in range(first, first + 20):
        found = list(FILES.differences(FILES.drawn(seed)))
        assert {reader for reader, _ in found} >= {'numbers', 'urdfdom', 'MuJoCo', 'limits'}
        assert [each for each in found if each[1]] == [], seed


def test_a_wrong_place_mass_or_limit_is_a_difference():
    file = FILES.drawn(3)
    name = next(iter(file.limits))
    lower, upper, velocity, effort, *rates = file.limits[name]
    file.limits[name] = lower, upper, velocity, effort + 1.0, *rates
    file.mass += 1e-6
    parent, child, kind, place, axis = file.joints[name]
    place.translation += 1e-6
    file.joints[name] = parent, child, kind, place, axis
    found = {reader: what for reader, what in FILES.differences(file) if what}
    assert found.keys() == {'numbers', 'limits'}


def test_a_text_that_is_rewritten_as_urdf_1_0_is_no_path():
    texts = [FILES.drawn(seed).text for seed in range(20)]
    rewritten = [text for text in texts if 'quat_xyzw' in text]
    assert rewritten
    assert all(RobotModel(text).file == '' for text in rewritten)
