"""Servos identified from commands and positions of arms whose parameters are known."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import yaml
from arms import load_arm
from identification_samples import some_motion
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

from arm_dynamics import ArmError
from arm_lab.identification.positions import PositionParameters, identify_positions
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.rollouts import Followed, Rollouts
from arm_lab.identification.servo_fit import servo_names, servo_pi
from arm_sim.loop.batch_plant import mujoco_friction
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters, plant_class
from arm_tools.commands import identify as command
from arm_tools.inspection.position_units import in_radians
from arm_tools.readers.recorded_samples import read_followed

SOFT = mujoco_friction(0.002)


def some_servos(model, seed, delay):
    """Return parameters (p,) of soft servos, the masses 5 % off."""
    rng, n = np.random.default_rng(seed), model.nv
    inertia = np.mean(
        [np.diagonal(model.mass_matrix(model.random_configuration(rng))) for _ in range(20)],
        axis=0,
    )
    kp = inertia * rng.uniform(200.0, 600.0, n)
    kd = 2.0 * np.sqrt(kp * inertia) * rng.uniform(0.6, 1.2, n)
    friction, rotors = 0.02 * kp, inertia * rng.uniform(0.1, 0.3, n)
    masses = rng.uniform(0.95, 1.05, n)
    return np.concatenate([kp, kd, friction, rotors, masses, [delay]])


def followed_by(model, true, seconds, noise=2e-4, step=0.001, friction=SOFT, period=0.01):
    """Return what an arm does under commands, 100 a second, in the batch simulation."""
    times = np.arange(0.0, seconds, period)
    command = some_motion(model, 4).states(times)[0]
    still = Followed(times, np.tile(command[0], (len(times), 1)), command)
    q = Rollouts(model, still, step, friction)(true[np.newaxis])[0]
    return Followed(times, q + noise * np.random.default_rng(1).standard_normal(q.shape), command)


@pytest.mark.slow
@pytest.mark.parametrize('late', [0, 2])
def test_the_rollout_is_what_mujoco_does(late):
    model = load_arm('planar_3r')
    true = some_servos(model, 3, 0.0)
    whole = followed_by(model, true, 2.0, noise=0.0)
    followed = Followed(whole.times[:-40], whole.q[40:], whole.command[40:])
    assert np.abs(followed.command[0]).max() > 0.01
    kp, kd, friction, rotors, masses, _ = np.split(true, np.arange(3, 16, 3))
    friction = np.full(3, 1e-9)  # MuJoCo's fades at low speed
    arm = model.with_joints(rotors, model.damping, friction)
    assert_allclose(masses.mean(), 1.0, atol=0.1)
    ones = np.concatenate([kp, kd, friction, rotors, np.ones(3), [late * 0.01]])
    found = Rollouts(model, followed, 0.002, SOFT)(ones[np.newaxis])[0]
    parameters = PlantParameters(
        actuator='servo', servo_kp=tuple(kp), servo_kd=tuple(kd), timestep=0.002,
        control_decimation=5, command_delay=late,
    )  # fmt: skip
    plant = plant_class('mujoco')(arm, parameters)
    plant.reset(followed.q[0])
    first = np.polyfit(followed.times[:5], followed.q[:5], 1)[::-1]
    plant.reset(*first)
    states = [plant.q.copy()]
    for each in followed.command[:-1]:
        plant.step(each)
        states.append(plant.q.copy())
    # The velocity of the start is that half a step earlier, which is forgotten by then.
    settled = int(np.searchsorted(followed.times, 1.2))
    assert_allclose(found[settled:], states[settled:], atol=1e-5)


def test_positions_between_the_steps_are_those_of_a_spline_through_the_steps():
    model = load_arm('planar_3r')
    true = some_servos(model, 3, 0.0)
    fine = np.arange(501) * 0.002
    late = fine[::5] + 0.003 * (np.arange(101) % 3 == 1)  # between two steps

    def found(times):
        still = np.zeros((len(times), 3))
        return Rollouts(model, Followed(times, still, still + 0.3), 0.002, SOFT)(true[None])[0]

    expected = CubicSpline(fine, found(fine))(late)
    # At first the commands pull so hard that cubics over a step differ.
    assert_allclose(found(late)[10:], expected[10:], atol=1e-6)
    assert np.abs(expected - found(fine)[::5]).max() > 1e-3


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ('name', 'sticking'),
    [('planar_3r', 1.0), ('planar_3r', 4.0), pytest.param('ur5e', 1.0, marks=pytest.mark.slow)],
)
def test_servos_are_found_up_to_a_common_factor(name, sticking):
    model = load_arm(name)
    true, n = some_servos(model, 3, 0.013), model.nv
    true[2 * n : 3 * n] *= sticking
    followed, lines = followed_by(model, true, 8.0), []
    found = identify_positions(
        model, followed, PositionParameters(), friction=SOFT, progress=lines.append
    )
    # The noise; where a joint sticks most of the time, it moves on from where it last stuck.
    assert_allclose(found.validation, 2e-4, rtol=0.15 if sticking == 1.0 else 0.3)
    left = followed.q - Rollouts(model, followed, 0.002, SOFT)(true[np.newaxis])[0]
    floor = np.sqrt((left[100:640] ** 2).mean(axis=0))  # of the true parameters
    assert (found.fit < 1.01 * floor).all()
    assert_allclose(found.delay, 0.013, atol=5e-4)
    # Nothing shows how heavy the arm is, except where gravity holds against no servo.
    ratio = found.of_joints()[:2] / true[: 2 * n].reshape(2, n)
    assert ratio.max() / ratio.min() < 1.1
    scores = np.log(found.values[:-1] / true[:-1]) / found.errors[:-1]
    assert np.sqrt((scores**2).mean()) < 2.0
    assert 'iteration 1' in lines[0]
    assert found.names == servo_names(model, JointRegressor(model).link_names)


@pytest.mark.slow
def test_the_given_masses_decide_the_factor_that_no_motion_shows():
    model = load_arm('planar_3r')
    true = some_servos(model, 3, 0.013)
    true[6:9] *= 2.0  # joints stick, where the search for the parameters stops early
    true[12:15] *= (1.0, 0.9, 1.1)
    followed = followed_by(model, true, 8.0, noise=2e-5, friction=None, step=0.000125)
    found = identify_positions(model, followed, PositionParameters())
    # The motion shows the ratio of the masses, the model that their logarithms are 0 in the mean.
    assert_allclose(np.diff(np.log(found.mass_scales[1:] / true[13:15])), 0.0, atol=0.01)
    assert_allclose(np.log(found.mass_scales[1:]).mean(), 0.0, atol=0.002)


def test_what_positions_do_not_show_is_named():
    model = load_arm('planar_3r')
    true = some_servos(model, 3, 0.0)
    found = identify_positions(model, followed_by(model, true, 6.0), PositionParameters(),
                               friction=SOFT)  # fmt: skip
    # The first link only turns, as its rotor does; the others' masses have the common factor.
    assert 'link_1 mass' in found.unknown
    assert {'link_2 mass', 'link_3 mass'} <= set(', '.join(found.unknown).split(', '))
    assert found.share_left[:3].max() < 0.1
    # All masses twice as large: gains, friction and rotors as well.
    heavy = model.inertial_parameters() * np.repeat(found.mass_scales, 10)
    assert_allclose(servo_pi(model, found)[:30], heavy)


def test_a_common_factor_of_everything_changes_no_position():
    model = load_arm('planar_3r')
    true = some_servos(model, 3, 0.01)
    followed = followed_by(model, true, 2.0, noise=0.0)
    twice = np.append(true[:-1] * 2.0, true[-1])
    twice[:9] = true[:9] * 2.0
    undamped = model.with_joints(model.armature, np.zeros(3), model.friction)
    one, other = Rollouts(undamped, followed, 0.002)(np.array([true, twice]))
    assert np.abs(one[-1] - one[0]).max() > 0.1
    assert_allclose(one, other, atol=1e-9)


def test_a_servo_that_does_not_move_is_refused():
    model = load_arm('planar_3r')
    times = np.arange(0.0, 8.0, 0.01)
    still = Followed(times, np.zeros((len(times), 3)), np.zeros((len(times), 3)))
    with pytest.raises(ArmError, match=r"^joint 'joint_1' hardly moves"):
        identify_positions(model, still, PositionParameters())


@pytest.mark.slow
def test_identify_from_positions_writes_what_the_launch_files_take(tmp_path, capsys):
    robot = Robot.load('planar_3r')
    true = some_servos(robot.model, 3, 0.013)
    followed = followed_by(robot.model, true, 8.0, step=1e-4, friction=None)
    names = robot.model.joint_names
    header = ','.join(['time', *(f'{j}.{x}' for x in ('position', 'command') for j in names)])
    table = np.column_stack([followed.times, followed.q, followed.command])
    file = tmp_path / 'x.csv'
    np.savetxt(file, table, delimiter=',', header=header, comments='', fmt='%.17g')
    read, _ = read_followed(file, names)
    for one, other in zip(vars(read).values(), vars(followed).values(), strict=True):
        assert_allclose(one, other, atol=1e-15)
    rows = file.read_text().splitlines()
    rows[100] = 'lost'
    (tmp_path / 'damaged.csv').write_text('\n'.join(rows))
    assert any('row' in line for line in read_followed(tmp_path / 'damaged.csv', names)[1])
    np.savez(tmp_path / 'x.npz', t=followed.times, q=followed.q, command=followed.command)
    assert_allclose(read_followed(tmp_path / 'x.npz', names)[0].command, followed.command)
    options = ['--from', 'positions', '--robot', 'planar_3r', '--output-dir', str(tmp_path)]
    assert command.main([str(file), *options]) == 0
    said = capsys.readouterr().out
    assert 'sampling: ' in said  # as with torques
    assert re.search(r'commands act 1[23][.\d]* ± [\d.]+ ms after their stamps', said)
    assert 'backlash is not estimated' in said
    report = json.loads((tmp_path / 'identified.json').read_text())
    assert max(report['position_error_held_back']) < 3e-4
    assert_allclose(report['delay_s'], 0.013, atol=5e-4)
    sections = yaml.safe_load((tmp_path / 'planar_3r_identified.yaml').read_text())
    assert sections['simulator']['ros__parameters']['command_delay'] == 13  # of 1 ms
    files = [tmp_path / f'planar_3r_identified.{suffix}' for suffix in ('urdf', 'yaml')]
    loaded = Robot.load(*map(str, files))
    assert_allclose(loaded.parameters('simulator')['servo_kp'], true[:3], rtol=0.2)
    model, degrees = robot.model, np.degrees(followed.q) * 10.0
    assert_allclose(
        in_radians(np.degrees(followed.q), model.joint_names, model.prismatic, 'deg'),
        followed.q,
        atol=1e-15,
    )
    np.savez(file.with_suffix('.npz'), t=followed.times, q=degrees, command=degrees)
    assert command.main([str(file.with_suffix('.npz')), *options]) == 1
    assert '--units deg reads the file in degrees' in capsys.readouterr().err
    np.savez(file.with_suffix('.npz'), t=followed.times, q=followed.q)
    assert command.main([str(file.with_suffix('.npz')), *options]) == 1
    assert "has no 'q_reference'" in capsys.readouterr().err
    back = replace(followed, times=np.concatenate([followed.times[:400], followed.times[:400]]))
    np.savez(file.with_suffix('.npz'), t=back.times, q=back.q, command=back.command)
    assert command.main([str(file.with_suffix('.npz')), *options]) == 1
    assert 'its times do not increase' in capsys.readouterr().err
