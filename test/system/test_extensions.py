"""What a user's own package adds: a law with a horizon and a measure, in few lines each."""

import json
import os
import subprocess
import sys

import pytest
from domains import fresh_domain
from patience import PATIENCE
from plugins import write_plugins

LAW = '''
from dataclasses import dataclass
import numpy as np
from arm_controllers.laws import Law
from arm_dynamics.parameters import Parameters, parameter

@dataclass(frozen=True)
class MpcParameters(Parameters):
    horizon: int = parameter(10, 'control periods of the horizon [1]', min=1)
    weight: float = parameter(1e-9, 'weight of squared accelerations [s^4]', above=0)

class Mpc(Law):
    """The accelerations that minimise squared errors over a horizon, through inverse dynamics."""
    Parameters = MpcParameters

    @classmethod
    def designed(cls, model, q, wn, zeta):
        return MpcParameters()

    def __call__(self, state, measured, reference, dt):
        model, n, (q, v, *_) = self.model, self.parameters.horizon, measured
        ahead = np.arange(1, n + 1)
        free = [model.difference(q + dt * k * v, reference.ahead(int(k)).q) for k in ahead]
        # q_k = q + k dt v + dt^2 sum over j <= k of (k - j + 1) a_j: semi-implicit steps.
        effect = dt**2 * np.maximum(ahead[:, np.newaxis] - ahead + 1, 0)
        normal = effect.T @ effect + self.parameters.weight * np.eye(n)
        first = np.linalg.solve(normal, effect.T)[0]
        a = np.tensordot(first, np.stack(free), axes=1)
        return model.inverse_dynamics(q, v, a) + reference.effort, state
'''
MEASURE = """
import numpy as np
from arm_sim.loop.measures import Measure

TOP_SPEED = Measure('top_speed_rad_s', 'speed [rad/s]', '.3g', lambda s: abs(s.v).max(-1), 'max')
"""


@pytest.fixture
def compare(tmp_path):
    """Return a function that runs compare_controllers with the package, and returns its rows."""
    entries = {
        'arm_sim.laws': {'mpc': 'law:Mpc'},
        'arm_sim.measures': {'top': 'measure:TOP_SPEED'},
    }
    write_plugins(tmp_path / 'site', {'law': LAW, 'measure': MEASURE}, entries)

    def compare(name, *options):
        path = f'{tmp_path / "site"}:{os.environ["PYTHONPATH"]}'
        command = [sys.executable, '-m', 'arm_sim.executables', 'compare_controllers']
        usual = ['--robots', 'planar_3r', '--laws', 'mpc,computed_torque', '--workers', '1']
        answer = subprocess.run(
            [*command, *usual, '--output-dir', str(tmp_path / name), *options],
            capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path,
            env=os.environ | {'PYTHONPATH': path, 'ROS_DOMAIN_ID': fresh_domain()},
        )  # fmt: skip
        assert answer.returncode == 0, answer.stdout + answer.stderr
        [file] = (tmp_path / name).glob('*.json')
        rows = {row['law']: row for row in json.loads(file.read_text())['rows']}
        return rows, answer.stdout

    return compare


def test_their_lines_are_few():
    assert len(LAW.strip().splitlines()) <= 30
    assert len(MEASURE.strip().splitlines()) <= 10


def test_a_law_with_a_horizon_runs_in_the_loop_and_over_topics_with_the_same_numbers(compare):
    loop, printed = compare('loop')
    assert loop['mpc']['tracking_rms_mm'] < 0.5 * loop['computed_torque']['tracking_rms_mm']
    assert 'speed [rad/s]' in printed
    assert 0.1 < loop['mpc']['top_speed_rad_s'] < 10.0
    topics, _ = compare('topics', '--over', 'topics')  # a goal's splines between its points
    for law, row in topics.items():
        assert row['tracking_rms_mm'] == pytest.approx(loop[law]['tracking_rms_mm'], rel=1e-2)
        assert row['top_speed_rad_s'] == pytest.approx(loop[law]['top_speed_rad_s'], rel=1e-3)


def test_it_commands_many_arms_of_a_batch(compare):
    rows, _ = compare('batch', '--samples', '20')
    assert rows['mpc']['unstable'] == 0
