"""Does identify find the friction that a joint has, and on no other joint?

    ./ws python benchmarks/friction_models.py --draws 100

Each draw is an arm with links 30 % lighter or heavier than the given model's, unknown rotors and
viscous and Coulomb friction; each joint has a further term of 2 to 6 % of its torque, RMS, with a
chance of 30 %: Stribeck, Coulomb friction that grows with the load, or friction that falls while
the arm warms up. Torques are Pinocchio's rnea of the continuous motion, with exact signs;
positions have noise of 1e-5 rad, torques of 1 %. A draw is right where every joint has its term,
and no joint another.
"""

import argparse
import sys
from collections import Counter

import numpy as np
import pinocchio as pin
from conditions import print_conditions
from identification import other_arm, rms

from arm_lab.identification.estimation import IdentificationParameters, identify
from arm_lab.identification.fourier import FourierSeries, at_rest_at_start
from arm_lab.identification.friction_models import KINDS, FrictionTerm, friction_terms
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.signals import MotionSamples
from arm_sim.robot import Robot

SECONDS, PERIOD = 40.0, 0.005  # of a recording, of its states [s]
NOISE = 1e-5, 0.01  # of positions [rad], of torques as a share of their RMS
ROBOTS = 'planar_3r', 'ur5e'
SIZE = 0.02, 0.06  # RMS of a further term over that of the torque
SHARE = 0.3  # of the joints that have a further term


def drawn(robot: str, seed: int, only: str = '') -> tuple[list[str], MotionSamples]:
    """Return the term of each joint, and a recording of the arm."""
    rng = np.random.default_rng([seed, 7])
    given = Robot.load(robot).model
    arm, n = other_arm(given, seed), given.nv
    cosine, sine = at_rest_at_start(*rng.normal(size=(2, 5, n)))
    lower, upper = given.position_lower.clip(-2.0), given.position_upper.clip(max=2.0)
    motion = FourierSeries(0.5 * (lower + upper), cosine, sine, 8.0)
    q, v, _ = motion.states(np.linspace(0.0, 8.0, 400))
    most = np.minimum(0.45 * (upper - lower), 0.7 * np.pi)
    motion = motion.scaled(np.minimum(most / np.ptp(q, axis=0), 1.5 / np.abs(v).max(axis=0)))
    times = np.arange(0.0, SECONDS, PERIOD)
    q, v, a = motion.states(times)
    model = arm.pin_model.copy()
    model.armature = np.zeros(n)
    data = model.createData()
    links = np.array([pin.rnea(model, data, *x) for x in zip(q, v, a, strict=True)])
    links += arm.armature * a
    kinds = [str(rng.choice(KINDS)) if rng.random() < SHARE else '' for _ in range(n)]
    if only:
        kinds = [only if x else '' for x in kinds]
    speed, dry = np.sqrt((v**2).mean(axis=0)), np.sign(v)
    coulomb = arm.friction * dry + arm.damping * v
    tau = links + coulomb
    for j, kind in enumerate(kinds):
        if kind == 'Stribeck':
            more = np.exp(-((v[:, j] / (rng.uniform(0.2, 0.5) * speed[j])) ** 2)) * dry[:, j]
        elif kind == 'load':
            more = np.abs(links[:, j]) * dry[:, j]
        else:
            more = -times * coulomb[:, j]
        if kind:
            tau[:, j] += rng.uniform(*SIZE) * rms(tau[:, j]) * more / rms(more)
    tau += NOISE[1] * rms(tau) * rng.standard_normal(tau.shape)
    return kinds, MotionSamples(times, q + NOISE[0] * rng.standard_normal(q.shape), tau)


def found_in(robot: str, seed: int, only: str = '') -> tuple[list[str], list[FrictionTerm]]:
    """Return the term of each joint of a draw, and those that are found."""
    kinds, samples = drawn(robot, seed, only)
    p = IdentificationParameters()
    found = identify(JointRegressor(Robot.load(robot).model), samples, p)
    return kinds, friction_terms(found, samples, p.cutoff, p.prior)


def main() -> int:
    """Print the table; 1: fewer than 95 % of the draws are right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--draws', type=int, default=100)
    parser.add_argument('--robots', nargs='+', default=list(ROBOTS))
    parser.add_argument('--kind', default='', choices=['', *KINDS], help='this kind alone')
    given = parser.parse_args()
    print_conditions()
    counts, right = Counter[tuple[str, str]](), 0
    for seed in range(given.draws):
        robot = given.robots[seed % len(given.robots)]
        kinds, terms = found_in(robot, seed, given.kind)
        said = ['+'.join(x.kind for x in terms if x.joint == j) for j in range(len(kinds))]
        counts.update(zip(kinds, said, strict=True))
        right += said == kinds
        if said != kinds:
            print(f'{robot} {seed}: true {kinds}, found {terms}', file=sys.stderr)
    print('| true | found | joints |\n| --- | --- | ---: |')
    for (true, said), count in sorted(counts.items()):
        print(f'| {true or "none"} | {said or "none"} | {count} |')
    print(f'{right} of {given.draws} draws are right in every joint')
    return int(right < 0.95 * given.draws)


if __name__ == '__main__':
    sys.exit(main())
