"""Exciting motions: the regressor against two engines and differences, limits, goal files."""

import numpy as np
import pinocchio as pin
import pytest
from arms import load_arm
from numpy.testing import assert_allclose

from arm_dynamics import ArmError
from arm_dynamics.clearance import Clearance
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf
from arm_lab.commands import excite
from arm_lab.identification.excitation import ExcitationParameters, plan
from arm_lab.identification.fourier import FourierSeries, at_rest_at_start
from arm_lab.identification.regressor import BaseParameters, JointRegressor
from arm_sim.loop.goal_file import read_goal
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters, plant_class
from arm_sim.tasks import make_task

FRICTION = ModelError(friction=(0.7,), damping=(0.4,), armature=(0.2,))


def states(model, count=20, seed=1):
    rng = np.random.default_rng(seed)
    q = np.array([model.random_configuration(rng) for _ in range(count)])
    return q, *rng.uniform(-1.5, 1.5, (2, count, model.nv))


@pytest.mark.parametrize('name', ['ur5e', 'five_joint_arm', 'with slides', 'endless and skew'])
def test_regressor_times_parameters_is_the_torque_of_pinocchio_and_of_mujoco(name):
    model = with_error(load_arm(name), FRICTION)
    regressor = JointRegressor(model)
    plant = plant_class('mujoco')(model, PlantParameters(actuator='torque', timestep=1e-3))
    q, v, a = states(model)
    tau = regressor(q, v, a) @ regressor.parameters()
    for found, *state in zip(tau, q, v, a, strict=True):
        size = np.abs(found).max()
        assert_allclose(found, model.inverse_dynamics(*state), atol=1e-10 * size)
        plant.reset(*state[:2])
        rigid = plant.mass_matrix() @ state[2] + plant.bias_torque()
        assert_allclose(found, rigid + model.friction_torque(state[1]), atol=1e-9 * size)


def test_each_column_is_what_the_torque_changes_with_its_parameter():
    model = with_error(load_arm('ur5e'), FRICTION)
    regressor = JointRegressor(model)
    (q,), (v,), (a,) = states(model, 1)
    y, step = regressor(q[None], v[None], a[None])[0], 1e-3
    for link in range(6):
        for part in range(10):
            changed = model.pin_model.copy()
            pi = changed.inertias[1 + link].toDynamicParameters()
            tau = []
            for sign in (1.0, -1.0):
                moved = pi + sign * step * np.eye(10)[part]
                changed.inertias[1 + link] = pin.Inertia.FromDynamicParameters(moved)
                tau.append(pin.rnea(changed, changed.createData(), q, v, a))
            column = (tau[0] - tau[1]) / (2 * step)
            assert_allclose(y[:, 10 * link + part], column, atol=1e-8)


@pytest.mark.parametrize(('name', 'count'), [('planar_3r', 7 + 2 + 9), ('ur5e', 36 + 4 + 18)])
def test_base_parameters_are_as_many_as_known_and_explain_every_torque(name, count):
    # Planar 3R without gravity in its plane: 1 + 3 + 3. Rotors of the first joint (and of a second
    # one at a right angle to it) cannot be distinguished from their links.
    model = load_arm(name)
    regressor = JointRegressor(model)
    base = BaseParameters.of(regressor.random_rows(seed=3), regressor.names)
    assert len(base.columns) == len(base.formulas()) == count
    rows = regressor(*states(model)).reshape(-1, len(regressor.names))
    pi = np.random.default_rng(0).normal(size=len(regressor.names))
    assert_allclose(rows @ pi, rows[:, base.columns] @ (base.matrix() @ pi), atol=1e-9)


def test_a_fourier_motion_begins_at_rest_repeats_and_has_its_own_derivatives():
    rng = np.random.default_rng(5)
    cosine, sine = at_rest_at_start(*rng.normal(size=(2, 5, 3)))
    motion = FourierSeries(rng.normal(size=3), cosine, sine, 4.0)
    h, times = 1e-5, np.array([0.3, 1.7, 3.9])
    (before, v0, _), (_, v, a), (after, v1, _) = (motion.states(times + d) for d in (-h, 0, h))
    assert_allclose(v, (after - before) / (2 * h), atol=1e-8)
    assert_allclose(a, (v1 - v0) / (2 * h), atol=1e-7)
    q, v, a = motion.states([0.0, 4.0, 8.0])
    assert_allclose(q - motion.start, 0.0, atol=1e-13)
    assert_allclose(np.array([v, a]), 0.0, atol=1e-12)


@pytest.mark.slow
def test_a_planned_motion_is_within_all_limits_and_better_than_its_first_guess():
    model = load_arm('ur5e')
    asked = ExcitationParameters(evaluations=100, share=0.7, seed=4)
    seen = []
    found = plan(model, asked, lambda evaluations, condition: seen.append(condition))
    q, v, a = found.motion.states(np.linspace(0.0, asked.period, 777))
    half = 0.7 * np.pi
    assert (np.abs(q) <= half * 1.001).all()
    assert (np.abs(v) <= 0.7 * model.velocity_limit).all()
    assert (np.abs(a) <= asked.max_acceleration).all()
    tau = [model.inverse_dynamics(*state) for state in zip(q, v, a, strict=True)]
    share = np.abs(tau).max(axis=0) / model.effort_limit
    assert (share <= 0.7).all()
    assert_allclose(share, found.torque_share, atol=0.01)
    clearance = Clearance(model, asked)
    assert min(clearance.distances(each).min() for each in q) >= asked.clearance - 1e-4
    assert found.condition < 0.8 * seen[0]
    assert plan(model, asked).condition == found.condition


def test_search_and_task_leave_out_the_pairs_of_links_that_an_srdf_disables(tmp_path):
    file, ball = tmp_path / 'arm.urdf', '<collision><geometry><sphere radius="0.3"/></geometry>'
    urdf = find_urdf('planar_3r').read_text()
    for link in ('base_link', 'link_2'):
        urdf = urdf.replace(f'<link name="{link}">', f'<link name="{link}">{ball}</collision>')
    file.write_text(urdf)
    pair = '<disable_collisions link1="base_link" link2="link_2"/>'
    file.with_suffix('.srdf').write_text(f'<robot name="planar_3r">{pair}</robot>')
    robot, said = Robot.load(str(file)), 'pairs of links left out: arm.srdf disables 1'
    assert make_task('excite', robot).notes == (said,)
    assert plan(robot.model, ExcitationParameters(evaluations=1)).note == said


def test_a_goal_of_many_hours_is_refused_before_it_is_planned(capsys):
    assert excite.main(['--robot', 'planar_3r', '--cycles', '1000', '--period', '1000']) == 1
    assert capsys.readouterr().err.strip().splitlines() == [
        'excite: --cycles times --period [s] is 1e+06; it must be finite, >= 0 and <= 3600'
    ]


def test_excite_writes_a_goal_that_a_controller_takes_and_the_task_follows(
    tmp_path, capsys, monkeypatch
):
    file = tmp_path / 'goal.yaml'
    options = ['--robot', 'planar_3r', '--evaluations', '40', '--period', '2', '--cycles', '2']
    monkeypatch.setenv('ARM_SIM_WS', 'yes')
    assert excite.main([*options, '--output', str(file)]) == 0
    said = capsys.readouterr().out
    assert 'condition number' in said
    launch = './ws ros2 launch arm_sim task.launch.py task:=excite robot:=planar_3r '
    assert f"{launch}parameters:='{{file: {file}}}'" in said
    robot = Robot.load('planar_3r')
    goal = read_goal(file, robot.model)
    monkeypatch.chdir(tmp_path)
    called = excite.excite('planar_3r', evaluations=40, period=2.0, cycles=2)
    assert_allclose(called.goal.positions, goal.positions, atol=1e-11)
    assert sorted(tmp_path.iterdir()) == [file]
    assert called.figure.get_suptitle() == 'planar_3r: a period of the excitation'
    task = make_task('excite', robot, {'file': str(file)})
    assert task.duration == pytest.approx(5.0)  # two periods and the rest at the end
    led, start_ns = task.goal_from(robot.start, 1_000_000)  # refused, it would raise
    assert_allclose(led.positions[-1], goal.positions[0], atol=1e-11)
    assert start_ns >= 3e9
    task.reference(1.234, task.start)
    motion = read_goal(file, robot.model)
    i = np.searchsorted(motion.times, 3.0 + 1.25)
    task.reference(float(motion.times[i]) - 3.0, task.start)
    assert_allclose(task.start.q, motion.positions[i], atol=1e-9)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('a: [', 'is not YAML'),
        ('[' * 100_000, 'has an alias .* or 20 nested levels'),
        ('- ' * 100_000, 'has an alias .* or 20 nested levels'),
        ('a: &b [1]\nc: [*b, *b]', r'has an alias \(\*name\)'),
        ('points: []', r"no 'trajectory'; it must be \{trajectory: \{joint_names"),
        ('trajectory: {joint_names: [x], points: []}', r"its joints are \['x'\]; the robot has"),
        ('trajectory: {joint_names: [joint_1, joint_2, joint_3], points: 3}', 'not iterable; it'),
        (
            'trajectory: {joint_names: [joint_1, joint_2, joint_3], points: []}',
            r'each point needs 3 finite|it needs two or more points',
        ),
    ],
)
def test_a_bad_goal_file_gets_one_line(tmp_path, text, message):
    file = tmp_path / 'bad.yaml'
    file.write_text(text)
    with pytest.raises(ArmError, match=rf"^goal file '{file}'.*({message})") as refused:
        make_task('excite', Robot.load('planar_3r'), {'file': str(file)})
    assert '\n' not in str(refused.value)


@pytest.mark.slow
def test_excite_refuses_in_one_line(tmp_path, capsys):
    file = ['--output', str(tmp_path / 'goal.yaml')]
    assert excite.main(['--robot', 'planar_3r', '--harmonics', '1', *file]) == 1
    assert (
        capsys.readouterr().err == 'excite: --harmonics is 1; it must be finite, >= 3 and <= 50\n'
    )
    tight = ['--robot', 'ur5e', '--clearance', '0.5', '--evaluations', '1']
    assert excite.main([*tight, *file]) == 1
    assert 'no exciting motion was found that keeps 500 mm off' in capsys.readouterr().err
    assert not (tmp_path / 'goal.yaml').exists()
