"""The same recording and the same unseen motion for PyPI's figaroh: ours | figaroh.

    python3 -m venv /tmp/figaroh && /tmp/figaroh/bin/pip install figaroh
    ./ws python benchmarks/identification_peer.py --peer /tmp/figaroh/bin/python [ur5e planar_3r]

figaroh is in a virtual environment of its own, whose Python runs `figaroh_side.py`. The arm, its
motion and the noise are those of `identification.py`. Torques are compared where a joint turns
faster than 0.05 rad/s: below it our friction fades, and figaroh's does not.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from conditions import print_conditions
from identification import driven, measured, other_arm

from arm_dynamics.checks import Array
from arm_dynamics.model import STANDSTILL, RobotModel
from arm_lab.identification.estimation import IdentificationParameters, identify
from arm_lab.identification.excitation import ExcitationParameters, plan
from arm_lab.identification.identified_arm import with_parameters
from arm_lab.identification.regressor import JointRegressor
from arm_sim.loop.measures import rms
from arm_sim.robot import Robot

SIDE = Path(__file__).with_name('figaroh_side.py')


def of_figaroh(peer: str, model: RobotModel, arrays: dict[str, Array], cutoff: float) -> list:
    """Return (name, torque on the unseen motion (N, nv), CPU time [s]) of each fit of figaroh's.

    Raises:
        OSError, subprocess.CalledProcessError: that Python has no figaroh.
    """
    bare = {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'LD_LIBRARY_PATH')}
    with TemporaryDirectory() as folder:
        (Path(folder) / 'robot.urdf').write_text(model.urdf)
        np.savez(Path(folder) / 'data.npz', cutoff=cutoff, **arrays)
        subprocess.run(
            [peer, str(SIDE), folder], env=bare, check=True, capture_output=True, text=True
        )
        with np.load(Path(folder) / 'found.npz') as found:
            names = [str(name) for name in found['names']]
            return list(zip(names, found['torques'], found['cpu'].tolist(), strict=True))


def study(name: str, peer: str, cutoff: float, seed: int, seconds: float = 60.0) -> None:
    """Print ours and figaroh's of one arm."""
    robot = Robot.load(name)
    plant = other_arm(robot.model, seed)
    first = plan(robot.model, ExcitationParameters(evaluations=500, seed=seed))
    asked = ExcitationParameters(evaluations=50, harmonics=7, period=7.0, seed=seed + 1)
    unseen = plan(robot.model, asked).motion
    samples = measured(driven(robot, plant, first.motion, seconds))
    q, v, a = unseen.states(np.linspace(0.0, unseen.period, 2001))

    def torque(model: RobotModel) -> Array:
        return np.array([model.inverse_dynamics(*s) for s in zip(q, v, a, strict=True)])

    begin = time.process_time()
    found = identify(JointRegressor(robot.model), samples, IdentificationParameters())
    cpu = time.process_time() - begin
    ours = torque(with_parameters(found.regressor, found.pi))
    rows = [('as given', torque(robot.model), 0.0), ('ours', ours, cpu)]
    recorded = {'times': samples.times, 'q': samples.q, 'effort': samples.effort}
    arrays = {**recorded, 'unseen_q': q, 'unseen_v': v, 'unseen_a': a, 'lag': found.lag}
    rows += of_figaroh(peer, robot.model, arrays, cutoff)
    true, moving = torque(plant), np.abs(v) > STANDSTILL
    print(f'{robot.name}, seed {seed}, {seconds:g} s, figaroh filters at {cutoff:g} Hz:')
    for who, told, took in rows:
        error = rms(np.where(moving, told - true, 0.0)) / rms(np.where(moving, true, 0.0))
        print(f'  {who}: {", ".join(f"{e:.2%}" for e in error)}; CPU {took:.1f} s')


def main() -> int:
    """Compare the robots that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('robots', nargs='*', default=['ur5e', 'planar_3r'])
    parser.add_argument('--peer', default='python3', help='the Python that has figaroh')
    parser.add_argument('--cutoff', type=float, default=10.0, help='of its filter [Hz] (10)')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--seconds', type=float, default=60.0, help='of recording (60)')
    options = parser.parse_args()
    bare = {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'LD_LIBRARY_PATH')}
    there = subprocess.run(
        [options.peer, '-c', 'import figaroh'], env=bare, check=False, capture_output=True
    )
    if there.returncode:
        print(f'skipped: {options.peer} has no figaroh; name one that has by --peer')
        return 0
    print_conditions()
    for name in options.robots:
        study(name, options.peer, options.cutoff, options.seed, options.seconds)
    return 0


if __name__ == '__main__':
    sys.exit(main())
