"""A run replayed from its recording alone, and recordings that are refused."""

import numpy as np
import pytest

from arm_dynamics import RobotModel
from arm_dynamics.checks import ArmError
from arm_dynamics.robots import find_urdf
from arm_sim.commands.replay_inputs import main
from arm_sim.plants.analytical_plant import AnalyticalParameters
from arm_sim.plants.input_recording import InputRecording, RecordedPlant
from arm_sim.plants.plant import PlantParameters
from arm_sim.ros.simulator_setup import SimulatorParameters, set_up


@pytest.fixture(scope='module')
def model():
    return RobotModel.from_urdf(find_urdf('ur5e'), None, (0.0, 1.0, -9.0), 0.1, 0.2, 0.5)


def record(model, path, wrench=True, **parameters):
    given = AnalyticalParameters(control_decimation=3, **parameters)
    recorder = RecordedPlant(model, given)
    rng = np.random.default_rng(0)
    recorder.step(np.zeros(model.nv))
    recorder.reset(np.clip(rng.normal(size=model.nv), -1, 0.3), 0.1 * rng.normal(size=model.nv))
    for k in range(60):
        if wrench and k == 20:
            recorder.apply_wrench(model.tip_frame, rng.normal(size=6))
        if wrench and k == 40:
            recorder.apply_wrench(model.tip_frame, np.zeros(6))
        recorder.step(0.1 * rng.normal(size=model.nv))
    recorder.save(path)
    return recorder


def test_replay_ends_in_the_recorded_state_to_the_last_bit(model, tmp_path):
    recorder = record(model, tmp_path / 'run.npz')
    recording = InputRecording(tmp_path / 'run.npz')
    assert len(recording.commands) == 60
    np.testing.assert_array_equal(recording.end_state, recorder.state)
    np.testing.assert_array_equal(recording.replay(), recorder.state)


def test_motors_with_stiction_replay_to_the_last_bit(tmp_path):
    arm = RobotModel.from_urdf(find_urdf('five_joint_arm'), armature=0.1)
    recorder = record(
        arm, tmp_path / 'run.npz', wrench=False,
        actuator='voltage', integrator='lagged_euler', timestep=1e-4, effort_limits=False,
        torque_constant=(10.0, 10.0, 10.0, 1.0, 1.0),
    )  # fmt: skip
    recording = InputRecording(tmp_path / 'run.npz')
    np.testing.assert_array_equal(recording.replay(), recorder.state)


def test_replay_command_says_bit_identical(model, tmp_path, capsys):
    record(model, tmp_path / 'run.npz')
    assert main([str(tmp_path / 'run.npz'), '--robot', 'ur5e']) == 0
    assert 'bit-identical' in capsys.readouterr().out


def test_replay_command_refuses_a_recording_of_another_arm(model, tmp_path, capsys):
    record(model, tmp_path / 'run.npz')
    assert main([str(tmp_path / 'run.npz'), '--robot', 'planar_3r']) == 1
    error = capsys.readouterr().err
    assert "the recording is of 'ur5e'" in error
    assert error.count('\n') == 1


def test_recording_of_another_version_of_the_arm_is_refused(model, tmp_path):
    record(model, tmp_path / 'run.npz')
    heavier = RobotModel.from_urdf(model.urdf.replace('<mass value="3.761"', '<mass value="4"'))
    with pytest.raises(ArmError, match="another version of 'ur5e'"):
        InputRecording(tmp_path / 'run.npz').check_arm(heavier)


@pytest.mark.parametrize('kept', [0.0, 0.3, 0.99])
def test_a_recording_that_is_cut_off_is_refused(model, tmp_path, kept):
    record(model, tmp_path / 'run.npz')
    data = (tmp_path / 'run.npz').read_bytes()
    (tmp_path / 'cut.npz').write_bytes(data[: int(kept * len(data))])
    with pytest.raises(ArmError, match='cut off or damaged'):
        InputRecording(tmp_path / 'cut.npz')


def test_a_damaged_recording_is_refused_or_nothing_of_it_is_lost(model, tmp_path):
    recorder = record(model, tmp_path / 'run.npz')
    good, refused = (tmp_path / 'run.npz').read_bytes(), 0
    places = range(0, len(good), len(good) // 40)
    for place in places:
        data = bytearray(good)
        data[place] ^= 1
        (tmp_path / 'bad.npz').write_bytes(data)
        try:
            recording = InputRecording(tmp_path / 'bad.npz')
        except ArmError:
            refused += 1
        else:  # what no part's checksum covers: dates of the archive's directory
            np.testing.assert_array_equal(recording.replay(), recorder.state)
    assert refused > 0.8 * len(places)


def test_other_files_are_refused(tmp_path):
    np.savez(tmp_path / 'other.npz', a=1)
    np.savez(tmp_path / 'parts.npz', format='arm_sim inputs 2', urdf='')
    (tmp_path / 'text.npz').write_text('hello')
    for name, says in (
        ('other.npz', 'not a recording of format'),
        ('parts.npz', 'lacks tip_frame, gravity, armature, damping, friction, parameters'),
        ('text.npz', 'not a recording of inputs'),
        ('none.npz', 'cannot read the recording'),
    ):
        with pytest.raises(ArmError, match=says):
            InputRecording(tmp_path / name)


@pytest.mark.parametrize('other', [{'engine': 'mujoco'}, {'payload': 1.0, 'payload_end': 1.0}])
def test_only_the_analytical_engine_is_recorded_and_no_change_of_the_arm(other):
    given = SimulatorParameters(**{'engine': 'analytical', 'record_inputs': 'file', **other})
    with pytest.raises(ArmError, match='needs engine analytical and payload_end 0'):
        set_up(given, PlantParameters())


def test_an_unwritable_file_is_refused(model, tmp_path):
    recorder = record(model, tmp_path / 'run.npz')
    with pytest.raises(ArmError, match='cannot be written: No such file'):
        recorder.save(tmp_path / 'no' / 'folder.npz')
