"""Train a residual policy by an evolution strategy on the batch, and write it as an ONNX file.

    ./ws python examples/train_policy.py residual.onnx

One small network serves every joint: it sees the joint's seven numbers of the observation, and
answers an acceleration for the joint. CMA-ES (Hansen, The CMA Evolution Strategy, 2016) changes
its 37 numbers. Each generation every candidate drives the same drawn arms: masses 20 % off,
unknown payload, friction, delay, noise, as in a Monte Carlo. The control period is that of the
launch files.
"""

import argparse
import time
from pathlib import Path

import cma
import gymnasium
import numpy as np

import arm_lab.gym  # noqa: F401  # registers the environments
from arm_dynamics.checks import ArmError
from arm_lab.gym.arms import loaded_experiment
from arm_lab.gym.export import export_mlp
from arm_sim.robot import Robot

INPUTS, HIDDEN = 7, 4
ACCELERATION = 40.0  # of an action of 1 [rad/s^2]
CHANGE = 10.0  # weight of the mean square change of the actions, against chatter
LAST = 60  # generations of whole cycles of the sinusoid; those before have half a cycle
REDRAW = 20  # generations with the same arms
SHAPES = ((INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, 1), (1,))


def parts_of(candidates):
    """Return W1, b1, W2, b2 of candidates (p, size), each with a leading axis p."""
    ends = np.cumsum([np.prod(shape) for shape in SHAPES])
    rows = np.split(np.asarray(candidates), ends[:-1], axis=1)
    return [row.reshape(-1, *shape) for row, shape in zip(rows, SHAPES, strict=True)]


def actions(parts, observations, joints):
    """Return the actions (p, arms, joints) of each candidate for observations (p, arms, size)."""
    w_1, b_1, w_2, b_2 = parts
    p, arms, _ = observations.shape
    x = observations[..., : INPUTS * joints].reshape(p, arms, INPUTS, joints)
    x = x.swapaxes(2, 3).reshape(p, arms * joints, INPUTS)
    hidden = np.tanh(x @ w_1 + b_1[:, np.newaxis])
    return np.tanh(hidden @ w_2 + b_2[:, np.newaxis]).reshape(p, arms, joints)


def layers_of(candidate, joints):
    """Return the layers of a candidate for the whole arm: the joint's network, once per joint."""
    w_1, b_1, w_2, b_2 = (part[0] for part in parts_of([candidate]))
    first = np.einsum('ih,jk->ijkh', w_1, np.eye(joints)).reshape(INPUTS * joints, -1)
    second = np.einsum('ho,jk->jhk', w_2, np.eye(joints)).reshape(joints * HIDDEN, joints)
    return [(first, np.tile(b_1, joints)), (second, np.tile(b_2, joints))]


def main():
    """Train, print each tenth generation, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('file', help='ONNX file to write')
    parser.add_argument('--robot', default='ur5e')
    parser.add_argument('--task', default='sinusoid')
    parser.add_argument('--generations', type=int, default=340)
    parser.add_argument('--candidates', type=int, default=16)
    parser.add_argument('--arms', type=int, default=10, help='drawn arms of every candidate')
    parser.add_argument('--payload', type=float, default=2.0, help='largest one [kg]')
    parser.add_argument('--seed', type=int, default=0)
    given = parser.parse_args()
    robot = Robot.load(given.robot)
    inertia = robot.model.mass_matrix(robot.start).diagonal()
    size, copies = given.candidates, given.candidates * given.arms
    files = loaded_experiment(given.task, given.robot, timestep=0.0).plant_parameters()

    def environment(cycles):
        return gymnasium.make_vec(
            'arm_sim/Task-v0', num_envs=copies, task=given.task, robot=given.robot,
            parameters={'cycles': cycles} if given.task == 'sinusoid' else None,
            ranges={'payload': given.payload}, timestep=1e-9 * files.period_ns, threads=1,
            scale=ACCELERATION * inertia,
        )  # fmt: skip

    env = environment(0.5)
    joints, samples = robot.model.nv, np.tile(np.arange(given.arms), size)
    start = np.zeros(sum(int(np.prod(shape)) for shape in SHAPES))
    # What keeps the file from being written is said before the training; an older file stays.
    untrained = Path(f'{given.file}.untrained')
    export_mlp(str(untrained), env.unwrapped.layout, layers_of(start, joints))
    untrained.unlink()
    options = {
        'popsize': size,
        'seed': given.seed + 1,
        'verbose': -9,
    }
    search, begun = cma.CMAEvolutionStrategy(start, 0.3, options), time.process_time()
    for generation in range(given.generations):
        whole = generation == given.generations - LAST
        if whole:
            env = environment(1.0)
        candidates = search.ask()
        parts, total, change = parts_of(candidates), np.zeros(copies), 0.0
        last = np.zeros((size, given.arms, joints))
        fresh = whole or generation % REDRAW == 0
        seed = 1000 * given.seed + generation if fresh else None
        observations, _ = env.reset(seed=seed, options={'samples': samples})
        ended, steps = np.zeros(1, dtype=bool), 0
        while not ended.all():
            action = actions(parts, observations.reshape(size, given.arms, -1), joints)
            change, last = change + ((action - last) ** 2).mean(axis=(1, 2)), action
            observations, rewards, lost, over, _ = env.step(action.reshape(copies, joints))
            total += rewards
            ended, steps = lost | over, steps + 1
        squares = -total.reshape(size, given.arms)  # [mm^2]
        smooth = CHANGE * change / steps
        search.tell(candidates, (np.log(squares.mean(axis=1)) + smooth).tolist())
        if generation % 10 == 0 or generation == given.generations - 1:
            seconds = time.process_time() - begun
            best = np.sqrt(squares.mean(axis=1).min())
            print(
                f'generation {generation}: {best:.4g} mm RMS, {seconds:.0f} s of CPU', flush=True
            )
            export_mlp(given.file, env.unwrapped.layout, layers_of(search.mean, joints))
    print(f'wrote {given.file}')


if __name__ == '__main__':
    try:
        main()
    except ArmError as error:
        raise SystemExit(f'train_policy: {error}') from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
