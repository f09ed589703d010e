"""The delay of efforts behind positions: named where the recording shows it, else not."""

import numpy as np
import pytest
from scripts import load_script

from arm_lab.identification.effort_rest import effort_rest, smooth_piece
from arm_lab.identification.signals import MotionSamples

STUDY = load_script('benchmarks/recorded_conventions.py')


def rest_of(robot, seed, resolution, behind):
    """Return what a drawn arm's efforts have, by the model that is 30 % off."""
    model, (true, _) = STUDY.model_of(robot), STUDY.exact(robot, seed)
    late = [np.interp(true.times - behind, true.times, x) for x in true.effort.T]
    q = np.round(true.q / resolution) * resolution
    piece = smooth_piece(MotionSamples(true.times, q, np.stack(late, 1)), 10.0)
    of_model = [model.inverse_dynamics(*x) for x in zip(*piece.states, strict=True)]
    return effort_rest(piece, np.array(of_model), *piece.states[1:], np.arange(model.nv))


@pytest.mark.parametrize('resolution', [1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize('behind', [0.0, 0.004, 0.01])
def test_a_coarse_encoder_makes_no_delay_of_its_own(resolution, behind):
    for robot, seed in (('ur5e', 0), ('ur5e', 1), ('ur5e', 2), ('planar_3r', 0)):
        found = rest_of(robot, seed, resolution, behind)
        assert abs(found.behind - behind) < max(found.within, 1e-3)
        if robot == 'ur5e':
            assert (abs(found.behind) > max(found.within, 1e-3)) == (behind > 0.0)
