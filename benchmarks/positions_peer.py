"""The same positions and commands for MuJoCo's own identification: ours | mujoco.sysid.

    python3 -m venv /tmp/sysid && /tmp/sysid/bin/pip install 'mujoco[sysid]>=4.0'
    ./ws python benchmarks/positions_peer.py --peer /tmp/sysid/bin/python [planar_3r ur5e]

Servo gains, Coulomb friction and rotor inertia of each joint are off what the peer begins with by
a factor of 1.2 or 2 at most (ours begins with a linear estimate). The links are known, and the
commands act at once, as the peer has no delay; the delay that ours finds counts in its error. CPU
times are those of the search; libraries, models and compiled code are loaded before. The
recording comes from MuJoCo, with noise of 2e-4 rad; its last fifth is held back, and simulated
with what each has found.
"""

import argparse
import gc
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from conditions import print_conditions

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_lab.identification.excitation import ExcitationParameters, plan
from arm_lab.identification.positions import PositionParameters, identify_positions
from arm_lab.identification.rollouts import Followed, Rollouts
from arm_sim.loop.batch_plant import mujoco_friction
from arm_sim.loop.measures import rms
from arm_sim.robot import Robot
from arm_sim.simulation.mujoco_model import arm_spec
from arm_sim.simulation.plant import PlantParameters, plant_class

SIDE, NOISE, STEP = Path(__file__).with_name('sysid_side.py'), 2e-4, 0.002


def recorded(
    model: RobotModel, servos: Array, command: Array, seed: int
) -> tuple[Followed, Array, Array]:
    """Return a recording in MuJoCo, and the state (n,), (n,) at its start, after a second."""
    kp, kd, friction, rotors = servos
    arm = model.with_joints(rotors, model.damping, friction)
    parameters = PlantParameters(
        actuator='servo', servo_kp=tuple(kp), servo_kd=tuple(kd), timestep=STEP,
        control_decimation=1,
    )  # fmt: skip
    plant = plant_class('mujoco')(arm, parameters)
    plant.reset(command[0])
    for _ in range(500):
        plant.step(command[0])
    q_start, v_start, states = plant.q.copy(), plant.v.copy(), []
    for each in command:
        states.append(plant.q.copy())
        plant.step(each)
    noise = NOISE * np.random.default_rng(seed).standard_normal(command.shape)
    times = STEP * np.arange(len(command))
    return Followed(times, np.array(states) + noise, command), q_start, v_start


def of_peer(peer: str, xml: str, arrays: dict[str, Array]) -> tuple[Array, float]:
    """Return servo gains, friction and rotors (4, n) of mujoco.sysid, and its CPU time [s].

    Raises:
        OSError, subprocess.CalledProcessError: that Python has no mujoco.sysid.
    """
    bare = {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'LD_LIBRARY_PATH')}
    with TemporaryDirectory() as folder:
        (Path(folder) / 'arm.xml').write_text(xml)
        np.savez(Path(folder) / 'data.npz', **arrays)
        subprocess.run([peer, str(SIDE), folder], env=bare, check=True, stdout=subprocess.DEVNULL)
        with np.load(Path(folder) / 'found.npz') as found:
            return found['values'], float(found['cpu'])


def study(name: str, peer: str, seed: int, seconds: float, factor: float) -> None:
    """Print ours and the peer's of one arm."""
    model = Robot.load(name).model
    rng, n = np.random.default_rng(seed), model.nv
    inertia = np.mean(
        [np.diagonal(model.mass_matrix(model.random_configuration(rng))) for _ in range(20)],
        axis=0,
    )
    start = np.array([400.0 * inertia, 40.0 * inertia, 8.0 * inertia, 0.2 * inertia])
    true = start * factor ** rng.uniform(-1.0, 1.0, start.shape)
    motion = plan(model, ExcitationParameters(evaluations=50, period=8.0, seed=seed)).motion
    command = motion.states(STEP * np.arange(round(seconds / STEP)))[0]
    followed, q_start, v_start = recorded(model, true, command, seed)
    soft, count = mujoco_friction(STEP), round(0.8 * len(command))

    def error(servos: Array, delay: float = 0.0) -> float:
        values = np.concatenate([servos.ravel(), np.ones(n), [delay]])
        found = Rollouts(model, followed, STEP, soft)(values[np.newaxis])[0]
        return 1e3 * float(rms(np.ravel((followed.q - found)[count:])))

    print(f'{name}, seed {seed}, {seconds:g} s, the start off by a factor of {factor:g} at most:')
    print('  position error on the held-back fifth')
    print(f'  true parameters {error(true):.4f} mrad, the start {error(start):.4f}')
    gc.freeze()  # what was loaded before is not searched for garbage, nor at the peer's
    known, begin = PositionParameters(mass_spread=1e-6), time.process_time()
    found = identify_positions(model, followed, known, friction=soft)
    cpu = time.process_time() - begin
    wrong = np.abs(found.of_joints() / true - 1.0).max(axis=1)
    spread = ', '.join(f'{each:.2%}' for each in wrong)
    print(f'  arm_sim: {error(found.of_joints(), found.delay):.4f} mrad; kp, kd, friction, rotors '
          f'off by {spread} at most; {cpu:.2f} s of CPU')  # fmt: skip
    arm = model.with_joints(start[3], model.damping, start[2])
    servos = PlantParameters(
        actuator='servo', servo_kp=tuple(start[0]), servo_kd=tuple(start[1]), timestep=STEP
    )
    spec = arm_spec(arm, servos, shapes=False)
    spec.compile()
    part = {key: each[:count] for key, each in vars(followed).items()}
    more = {'names': np.array(model.joint_names), 'start': start}
    values, of_other = of_peer(
        peer, spec.to_xml(), part | more | {'q_start': q_start, 'v_start': v_start}
    )
    wrong = np.abs(values / true - 1.0).max(axis=1)
    spread = ', '.join(f'{each:.2%}' for each in wrong)
    print(f'  mujoco.sysid: {error(values):.4f} mrad; off by {spread}; {of_other:.2f} s of CPU, '
          f'{of_other / cpu:.1f} times that of arm_sim')  # fmt: skip


def main() -> int:
    """Compare the robots that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('robots', nargs='*', default=['planar_3r', 'ur5e'])
    parser.add_argument('--peer', default='python3', help='the Python that has mujoco.sysid')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--seconds', type=float, default=10.0, help='of recording (10)')
    options = parser.parse_args()
    bare = {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'LD_LIBRARY_PATH')}
    there = subprocess.run(
        [options.peer, '-c', 'from mujoco.sysid import optimize'], env=bare, check=False,
        capture_output=True,
    )  # fmt: skip
    if there.returncode:
        print(f'skipped: {options.peer} has no mujoco.sysid; name one that has by --peer')
        return 0
    print_conditions()
    for name in options.robots:
        for factor in (1.2, 2.0):
            study(name, options.peer, options.seed, options.seconds, factor)
    return 0


if __name__ == '__main__':
    sys.exit(main())
