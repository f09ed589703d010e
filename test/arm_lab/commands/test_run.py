"""One run by a call or a command: the record of the loop, and the same from its command line."""

import shlex

import numpy as np
import pytest
from optional import optional
from repository import ROOT

import arm_sim
from arm_dynamics.checks import ArmError
from arm_lab.commands import run as command
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.runs import record_of
from arm_sim.loop.record import Record

LESSONS = ROOT / 'docs' / 'tutorial'
PENDULUM = {'robot': LESSONS / 'pendulum.urdf', 'config': LESSONS / 'pendulum.yaml'}


@pytest.mark.slow
def test_a_run_is_the_record_of_the_loop_and_its_command_gives_the_same_bits(tmp_path, capsys):
    run = arm_sim.run('planar_3r', 'step', 'pd', plant_error={'payload': 0.5})
    same = Experiment('planar_3r', 'step', 'pd', error=run.loaded.experiment.error)
    assert run.loaded.experiment.error.payload == 0.5
    assert run.record.checksum() == record_of(same).checksum()
    words = shlex.split(run.command())
    assert words[:4] == ['python', '-m', 'arm_sim', 'run']
    assert command.main([*words[4:], '--output-dir', str(tmp_path)]) == 0
    assert Record.load(tmp_path / 'record.npz').checksum() == run.record.checksum()
    assert {each.name for each in tmp_path.iterdir()} == {
        'report.json', 'record.npz', 'tracking.png',
    }  # fmt: skip
    assert run.record.checksum()[:16] in capsys.readouterr().out


def test_a_model_that_is_too_heavy_lifts_a_pendulum_by_its_torque_over_the_stiffness():
    run = arm_sim.run(
        **PENDULUM, task='step', law='pd_gravity', model_error={'mass_scale': [1.05]}
    )
    kp, off = 0.2504 * 20.0**2, 0.05 * 9.81 * 0.5 * np.sin(1.3)
    assert run.record.q[-1, 0] - 1.3 == pytest.approx(off / kp, rel=0.01)
    # Picture and table say that the model is wrong, and that the error stays.
    assert 'model_error {mass_scale: [1.05]}' in run.figure.get_suptitle()
    assert run.figure.axes[0].get_title().endswith('; at the end still above 1 mm')


def test_a_run_measures_the_tip_of_the_arm_that_it_simulates():
    error = {'length_scale': [1.0, 1.002, 1.0]}  # of the first link, which is 1 m long
    run = arm_sim.run('planar_3r', law='computed_torque', plant_error=error)
    assert run.measures.tracking_rms_mm == pytest.approx(2.0, abs=0.05)


def test_joints_have_the_unit_of_the_arm_and_a_line_at_the_event():
    run = arm_sim.run('planar_3r', 'payload_drop', 'pd', parameters={'cycles': 0.5})
    position, error = (axis.get_title() for axis in run.figure.axes[:2])
    assert position.startswith('position [rad], on its reference (grey); dashed: event at ')
    assert error == 'reference - position [mrad]'


@pytest.mark.slow
def test_a_task_that_presses_has_a_law_that_can_with_the_gains_of_the_files():
    press = arm_sim.run(task='press').loaded.experiment
    assert (press.law, press.natural_frequency) == ('hybrid_force_motion', 0.0)
    with pytest.raises(ArmError, match='needs a law that follows forces, and .computed_torque.'):
        arm_sim.run(task='press', law='computed_torque')


def test_a_law_of_a_file_runs_and_a_file_without_one_is_refused(tmp_path):
    file = tmp_path / 'stiff_spring.py'
    file.write_text(
        'from dataclasses import dataclass\n'
        'from arm_controllers.laws import Law\n'
        'class StiffSpring(Law):\n'
        '    @dataclass(frozen=True)\n'
        '    class Parameters:\n'
        '        kp: float = 100.0\n'
        '    def __call__(self, state, measured, reference, dt):\n'
        '        p = self.parameters\n'
        '        error = reference.q - measured.q\n'
        '        return p.kp * error + 10.0 * (reference.v - measured.v), state\n'
    )
    run = arm_sim.run(**PENDULUM, task='step', law=file, natural_frequency=0)
    droop = 1.3 - run.record.q[-1, 0]
    assert 100.0 * droop == pytest.approx(9.81 * 0.5 * np.sin(1.3 - droop), rel=1e-3)
    with pytest.raises(ArmError, match='has no `designed`'):
        arm_sim.run(**PENDULUM, law=file)
    file.write_text('import no_such_module\n')
    with pytest.raises(ArmError, match='ModuleNotFoundError'):
        arm_sim.run(**PENDULUM, law=file, natural_frequency=0)
    file.write_text('')
    with pytest.raises(ArmError, match='defines 0 subclasses of Law'):
        arm_sim.run(**PENDULUM, law=file, natural_frequency=0)


@pytest.mark.slow
def test_the_frame_of_a_run_has_a_row_per_period_and_a_column_per_array_and_joint():
    optional('pandas', 'pandas')
    run = arm_sim.run('planar_3r', 'step', 'pd')
    frame, names = run.frame(), run.loaded.robot.model.joint_names
    assert len(frame) == len(run.record.t)
    for kind in ('q', 'v', 'q_reference', 'v_reference', 'effort'):
        columns = frame[[f'{kind} {name}' for name in names]]
        np.testing.assert_array_equal(columns.to_numpy(), getattr(run.record, kind))


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'drives': {'comand_delay': 1}}, "nearest known: 'command_delay'"),
        ({'drives': '[1]'}, "drives is '\\[1\\]'; it must be {name: value}"),
        ({'parameters': {'cycle': 1}}, 'cycle'),
        ({'model_error': {'mass': 1}}, 'model_error'),
    ],
)
def test_parameters_that_there_are_not_are_refused(options, message):
    with pytest.raises(ArmError, match=message):
        arm_sim.run('planar_3r', **options)
