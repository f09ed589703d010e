"""Arms on a wall or under a ceiling, or with an unknown tool: the cause is named."""

import numpy as np
import pytest
from arms import load_arm
from identification_samples import exact_samples, some_motion

from arm_dynamics.model_error import ModelError, with_error
from arm_lab.identification.signals import MotionSamples
from arm_tools.inspection.inspected import inspected
from arm_tools.inspection.known_efforts import EffortsAre


def archive(file, samples):
    np.savez(file, t=samples.times, q=samples.q, effort=samples.effort)
    return file


@pytest.mark.parametrize('along', [(9.81, 0.0, 0.0), (0.0, -6.94, -6.94), (0.0, 0.0, 9.81)])
def test_a_base_on_a_wall_is_named_and_nothing_else(tmp_path, along):
    model = load_arm('ur5e')
    mounted = with_error(model, ModelError(gravity=along))
    samples = exact_samples(mounted, some_motion(model, 3), 12.0, noise=0.01)
    file = archive(tmp_path / 'a.npz', samples)
    found = inspected(file, model)
    (line,) = found.open
    assert line.startswith('gravity: the efforts fit the arm if it is [')
    named = [float(x) for x in line[line.index('[') + 1 : line.index(']')].split(',')]
    assert np.allclose(named, along, atol=0.3)
    assert 'sign of the efforts: as the model has it' in found.lines
    assert not inspected(file, mounted).open
    kept = inspected(file, model, efforts=EffortsAre(gravity='included'))
    assert not any(x.startswith('gravity: the efforts fit') for x in kept.open)


def test_a_tool_is_no_other_unit_of_a_light_wrist(tmp_path):
    model = load_arm('ur5e')
    light = with_error(model, ModelError(mass_scale=(1.0, 1.0, 1.0, 0.02, 0.02, 0.02)))
    loaded = with_error(light, ModelError(payload=2.0))
    samples = exact_samples(loaded, some_motion(model, 3), 12.0, noise=0.01)
    found = inspected(archive(tmp_path / 'a.npz', samples), light)
    assert not [x for x in found.open if 'alone in another unit' in x]


def test_a_wrist_whose_efforts_are_below_its_weight_is_in_another_unit(tmp_path):
    model = load_arm('ur5e')
    rotors = with_error(model, ModelError(armature=(0.0, 0.0, 0.0, 2.0, 0.0, 0.0)))
    samples = exact_samples(rotors, some_motion(model, 3), 12.0, noise=0.001)
    effort = samples.effort * np.array([1.0, 1.0, 1.0, 1e-3, 1.0, 1.0])
    samples = MotionSamples(samples.times, samples.q, effort)
    found = inspected(archive(tmp_path / 'a.npz', samples), rotors)
    assert any('wrist_1_joint alone in another unit' in x for x in found.open)


@pytest.mark.parametrize('seed', [0, 1, 2])
def test_friction_along_one_way_is_no_wall(tmp_path, seed):
    # Of one goal: a friction that rises with the way looks like weight along another axis.
    model, rng = load_arm('ur5e'), np.random.default_rng(seed)
    times, start = np.arange(0.0, 8.0, 0.004), rng.uniform(-1.0, 1.0, 6)
    way = 0.5 - 0.5 * np.cos(np.pi * np.clip(times / 3.0 - 0.5, 0.0, 1.0))
    q = start + np.outer(way, 0.3 * rng.choice([-1.0, 1.0], 6))
    v, friction = np.gradient(q, times, axis=0), [10.0, 10.0, 10.0, 3.0, 3.0, 3.0]
    states = zip(q, v, np.gradient(v, times, axis=0), strict=True)
    effort = np.array([model.inverse_dynamics(*state) for state in states])
    effort += np.outer(way, friction * rng.choice([-1.0, 1.0], 6))
    effort += 0.01 * rng.standard_normal(effort.shape)
    found = inspected(archive(tmp_path / 'a.npz', MotionSamples(times, q, effort)), model)
    assert not any(x.startswith('gravity: the efforts fit') for x in found.open)
