"""Rehearsals: the worst of each limit, on exact arms by formulas, on a drawn arm again alone."""

import json
import re

import numpy as np
import pytest
from scipy.interpolate import BPoly

from arm_dynamics.checks import ArmError
from arm_lab.experiments.ranges import Ranges
from arm_sim.loop.loop import Loop
from arm_tools.commands.rehearse import Options, case, main
from arm_tools.driving import rehearsal
from arm_tools.driving.rehearsal import (
    BEGINS,
    experiment_of,
    measured_ranges,
    rehearse,
    supervisor_of,
    table,
)
from arm_tools.driving.supervisor_parameters import SupervisorParameters

EXACT = Ranges(mass=0, friction=0, delay=0, position_noise=0, velocity_noise=0, effort=1)
LIMITS = SupervisorParameters(rest_time=0.1, ramp_time=0.1)


def rows_of(experiment, limits=LIMITS):
    found = rehearse(experiment, limits, [0])
    return {x.name: x for x in table(supervisor_of(experiment.load(), limits), found, [0])}


@pytest.mark.parametrize('drives', ['effort', 'ur_direct_torque'])
def test_on_an_exact_arm_the_largest_torque_is_that_of_the_motion(drives):
    experiment = experiment_of(
        'planar_3r', 'sinusoid', 'computed_torque', drives, '', engine='analytical', ranges=EXACT
    )
    rows, loaded = rows_of(experiment), experiment.load()
    model, start = loaded.robot.model, loaded.robot.start
    goal, _ = loaded.task.goal_from(start, 2_000_000)
    derivatives = np.stack([goal.positions, goal.velocities, goal.accelerations], axis=1)
    still = np.zeros_like(start)
    spline = BPoly.from_derivatives([0.0, *goal.times], [[start, still, still], *derivatives])
    times = np.arange(0.0, goal.times[-1], 0.002)
    states = list(zip(*(spline(times, k) for k in range(3)), strict=True))
    torque = np.array([model.inverse_dynamics(*state) for state in states])
    if drives != 'effort':
        torque -= [experiment.drives.added(model, q, v) for q, v, _ in states]
    share = np.abs(torque) / model.effort_limit
    t, joint = np.unravel_index(share.argmax(), share.shape)
    assert rows['torque'].joint == model.joint_names[joint]
    np.testing.assert_allclose(rows['torque'].value, np.abs(torque[t, joint]), rtol=0.01)
    assert rows['torque'].limit == 0.9 * model.effort_limit[joint]
    assert rows['tracking error'].value < 1e-3
    np.testing.assert_allclose(rows[BEGINS].value, LIMITS.rest_time, atol=2 * experiment.timestep)
    assert not any(row.beyond for row in rows.values())
    assert 'age of the newest state' not in rows


def test_a_rehearsal_lasts_from_rest_to_the_end_of_the_goal(monkeypatch):
    times = []

    class Timed(Loop):
        def step(self):
            found = super().step()
            times.append(found.t)
            return found

    monkeypatch.setattr(rehearsal, 'Loop', Timed)
    experiment = experiment_of(
        'planar_3r', 'step', 'pd', 'effort', '', engine='analytical', ranges=EXACT
    )
    assert 'torque' in rows_of(experiment)
    loaded = experiment.load()
    goal, _ = loaded.task.goal_from(loaded.robot.start, 2_000_000)
    # The law has a second beyond the rest time to begin, and the goal starts 0.1 s after the ramp.
    lasts = LIMITS.rest_time + 1.0 + LIMITS.ramp_time + 0.1 + goal.times[-1]
    np.testing.assert_allclose(times[-1], lasts, atol=2 * experiment.timestep)


def test_a_law_that_never_begins_is_no_go():
    loud = Ranges(mass=0, friction=0, delay=0, position_noise=0, velocity_noise=1.0, effort=1)
    experiment = experiment_of(
        'planar_3r', 'step', 'pd', 'effort', '', engine='analytical', ranges=loud
    )
    (row,) = rows_of(experiment).values()
    assert (row.name, row.value, row.beyond) == (BEGINS, np.inf, 1)


@pytest.mark.slow
def test_the_worst_arm_of_a_limit_that_is_reached_is_no_go_and_runs_again_alone(tmp_path, capsys):
    limits = tmp_path / 'limits.yaml'
    limits.write_text(
        'supervisor: {ros__parameters: {tracking_error: [0.002], rest_time: 0.1, ramp_time: 0.1}}'
    )
    words = ['--robot', 'planar_3r', '--config', str(limits), '--law', 'pd', '--drives', 'effort']
    words += ['--engine', 'analytical', '--workers', '1', '--output-dir', str(tmp_path)]
    words += ['--task', 'step']
    assert main([*words, '--samples', '2']) == 1
    said = capsys.readouterr().out
    assert 'planar_3r, step, pd, drives effort: 2 arms' in (tmp_path / 'rehearsal.md').read_text()
    told = json.loads((tmp_path / 'rehearsal.json').read_text())
    row = {each['name']: each for each in told['limits']}['tracking error']
    assert (told['go'], row['go'], row['limit']) == (False, False, 0.002)
    again = re.search(r'^tracking error: .*python -m arm_sim rehearse (.*)$', said, re.MULTILINE)[
        1
    ]
    assert f'--first {row["sample"]}' in again or not row['sample']
    assert main([*words, '--first', str(row['sample']), '--samples', '1']) == 1
    other = json.loads((tmp_path / 'rehearsal.json').read_text())
    (same,) = (each for each in other['limits'] if each['name'] == 'tracking error')
    assert {**same, 'beyond': row['beyond']} == row


def test_limits_come_from_file_preset_and_option():
    options = Options(drives='franka', law='pd', robot='panda', workspace=(-1, -1, 0, 1, 1, 1))
    experiment, limits = case(options)
    assert (limits.torque_rate, limits.workspace) == ((1000.0,), (-1, -1, 0, 1, 1, 1))
    assert (experiment.timestep, experiment.drives.effort_convention) == (
        1e-3, 'gravity_compensated',
    )  # fmt: skip
    position, _ = case(Options(robot='planar_3r'))
    assert (position.feedforward, position.drives.servo_compensation) == ('none', True)


def test_ranges_reach_what_was_measured(tmp_path):
    model = experiment_of('planar_3r', 'step', 'pd', 'effort', '').load().robot.model
    compared, identified = tmp_path / 'comparison.json', tmp_path / 'identified.json'
    names = list(model.joint_names)
    compared.write_text(
        json.dumps({
            'joint_names': names, 'start_s': 0.0, 'delay_s': 0.0034, 'mass_kg': -0.7,
            'coulomb_friction': (0.1 * model.effort_limit * [0.5, -1.0, 0.2]).tolist(),
        })
    )  # fmt: skip
    found = measured_ranges(Ranges(), str(compared), model, 0.002)
    assert (found.delay, found.payload, found.mass) == (2, 0.7, 0.2)
    np.testing.assert_allclose(found.friction, 0.1)
    keys = 'name', 'given', 'found', 'spread_left'
    rows = (
        ('a mass', 2.0, 2.5, 0.1), ('b mass', 1.0, 9.0, 0.9),
        *((f'{x} Coulomb friction', 0.0, 0.05 * y, 0.0)
          for x, y in zip(names, model.effort_limit, strict=True)),
    )  # fmt: skip
    parameters = [dict(zip(keys, row, strict=True)) for row in rows]
    identified.write_text(json.dumps({'joint_names': names, 'parameters': parameters}))
    found = measured_ranges(Ranges(), str(identified), model, 0.002)
    np.testing.assert_allclose((found.mass, found.friction), (0.25, 0.05))
    assert found.delay == Ranges().delay
    compared.write_text('{"joint_names": ["x"]}')
    with pytest.raises(ArmError, match=r"comparison.json' is of joints \('x',\), not "):
        measured_ranges(Ranges(), str(compared), model, 0.002)
    compared.write_text('[1]')
    with pytest.raises(ArmError, match="comparison.json' is none of compare_recordings or ident"):
        measured_ranges(Ranges(), str(compared), model, 0.002)
    with pytest.raises(ArmError, match="^measured file 'nothing' cannot be read: No such file"):
        measured_ranges(Ranges(), 'nothing', model, 0.002)


def test_what_is_no_motion_or_not_for_the_drives_is_refused(tmp_path, capsys):
    assert main(['--law', 'pd']) == 1
    assert "drives 'position' take position; the law commands effort" in capsys.readouterr().err
    (tmp_path / 'typo.yaml').write_text('supervisor: {ros__parameters: {torque_rat: [1.0]}}')
    assert main(['--config', str(tmp_path / 'typo.yaml')]) == 1
    assert "typo.yaml: 'torque_rat'; nearest known: 'torque_rate'" in capsys.readouterr().err
    words = ['--robot', 'ur5e gripper:=probe', '--task', 'press']
    assert main([*words, '--law', 'hybrid_force_motion', '--drives', 'effort']) == 1
    assert "rehearse: task 'press' is not rehearsed" in capsys.readouterr().err
