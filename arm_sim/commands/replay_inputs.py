"""`ros2 run arm_sim replay_inputs FILE`: replay a recording of inputs by the forward model."""

import argparse

import numpy as np

from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.commands.refusals import exit_code
from arm_sim.plants.input_recording import InputRecording


@exit_code
def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 where the replay ends in the recorded state, to the last bit."""
    parser = argparse.ArgumentParser(prog='replay_inputs', description=__doc__)
    parser.add_argument('file', help='recording of a simulator run (engine analytical)')
    parser.add_argument('--robot', help='refuse the file unless it is of this robot')
    options = parser.parse_args(arguments)
    recording = InputRecording(options.file)
    if options.robot:
        recording.check_arm(RobotModel.from_urdf(find_urdf(options.robot)))
    end = recording.replay()
    periods, n = len(recording.commands), recording.model.nv
    print(f'{recording.model.name}: {periods} control periods from {recording.start_state[:n]}')
    print(f'recorded end {recording.end_state[:n]}')
    print(f'replayed end {end[:n]}')
    same = bool(np.array_equal(end, recording.end_state))
    print('bit-identical' if same else f'differ by {np.abs(end - recording.end_state).max():.3g}')
    return 0 if same else 1
