"""Servos identified from positions of arms outside the package: errors, and what intervals cover.

    ./ws python benchmarks/foreign_recordings.py --draws 200

Each draw is a planar_3r with its own delay (4 to 12 ms), gains, friction and rotors, moved by
SciPy's DOP853 over Pinocchio (benchmarks/foreign_arm.py). It follows random sinusoids of up to
0.8 Hz for 8 s; commands come at 100 Hz, 10 % early or late. Positions have noise of 2e-5 rad. The
masses of the links are 10 % off the given model's (one standard deviation). `covered`: how many
of the truths lie in the stated 95 % interval.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from conditions import print_conditions
from covered import print_coverage
from foreign_arm import Array, ForeignArm

from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf
from arm_lab.identification.positions import PositionParameters, identify_positions
from arm_lab.identification.rollouts import Followed
from arm_lab.identification.servo_fit import OF_SERVO, ServoFit

PERIOD, NOISE, SECONDS = 0.01, 2e-5, 8.0
SHARP = 2e-5  # below this speed the friction of the foreign arm fades [rad/s]


class Servos(NamedTuple):
    """Truths: servo_kp, servo_kd, friction and rotors (4, n), and the delay [s]."""

    of_joints: Array
    delay: float


def model_of(mass_scale: Array | None = None) -> RobotModel:
    """Return the given arm, without rotors; the true masses are `mass_scale` times its."""
    model, zeros = RobotModel.from_urdf(find_urdf('planar_3r')), np.zeros(3)
    model = model.with_joints(zeros, zeros, zeros)
    if mass_scale is None:
        return model
    return with_error(model, ModelError(mass_scale=tuple(1.0 / mass_scale)))


def drawn(model: RobotModel, rng: np.random.Generator, delay: float | None = None) -> Servos:
    """Draw servos that are fit for the arm."""
    n = model.nv
    inertia = np.diagonal(model.mass_matrix(np.full(n, 0.3)))
    kp = rng.uniform(15.0, 25.0, n) ** 2 * inertia
    rotors = rng.uniform(0.1, 0.4, n) * inertia
    kd = rng.uniform(1.2, 2.0, n) * np.sqrt(kp * inertia)
    friction = rng.uniform(0.002, 0.008, n) * kp
    late = rng.uniform(0.004, 0.012) if delay is None else delay
    return Servos(np.array([kp, kd, friction, rotors]), late)


def recording(model: RobotModel, servos: Servos, rng: np.random.Generator) -> Followed:
    """Return what the foreign arm does under commands that come early or late."""
    (kp, kd, friction, rotors), n = servos.of_joints, model.nv
    times = np.arange(0.0, SECONDS, PERIOD)
    times[1:] += rng.uniform(-0.1, 0.1, len(times) - 1) * PERIOD
    waves = rng.uniform(0.2, 0.8, (4, n)), rng.uniform(0.0, 2.0 * np.pi, (4, n))
    phase = 2.0 * np.pi * waves[0] * times[:, np.newaxis, np.newaxis] + waves[1]
    command = 0.3 + 0.12 * (np.sin(phase) - np.sin(phase[0])).sum(1)

    def torque(u: Array, q: Array, v: Array) -> Array:
        effort = np.clip(kp * (u - q) - kd * v, -model.effort_limit, model.effort_limit)
        return effort - friction * np.tanh(v / SHARP)

    arm = ForeignArm(find_urdf('planar_3r').read_text(), rotors, torque, 1e-7)
    arm.q, found = command[0].copy(), np.empty_like(command)
    edges = np.concatenate([[0.0], times + servos.delay])
    held = np.vstack([command[:1], command])
    for begin, end, u in zip(edges[:-1], edges[1:], held[:-1], strict=True):
        inside = (times >= begin) & (times < end)
        found[inside] = arm.move(u, end - begin, times[inside] - begin)
    return Followed(times, found + NOISE * rng.standard_normal(found.shape), command)


def identified(seed: int) -> tuple[Array, ServoFit]:
    """Return what a draw has, in the order of ServoFit.values, and what is found."""
    rng, true = np.random.default_rng(seed), model_of()
    servos = drawn(true, rng)
    masses = np.exp(0.1 * rng.standard_normal(true.nv))
    followed = recording(true, servos, rng)
    found = identify_positions(model_of(masses), followed, PositionParameters())
    return np.concatenate([servos.of_joints.ravel(), masses, [servos.delay]]), found


def main() -> int:
    """Print the table; 1: an interval covers less than it says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--draws', type=int, default=20)
    draws = parser.parse_args().draws
    print_conditions()
    with ProcessPoolExecutor() as pool:
        found = []
        for k, one in enumerate(pool.map(identified, range(draws))):
            found.append(one)
            print(f'\r{k + 1} of {draws}', end='', file=sys.stderr, flush=True)
    n = len(found[0][1].motion)
    errors = np.array([np.log(fit.values[:-1] / true[:-1]) for true, fit in found])
    stated = np.array([fit.errors[:-1] for _, fit in found])
    late = np.array([1e3 * (fit.delay - true[-1]) for true, fit in found])
    stated_late = np.array([1e3 * fit.errors[-1] for _, fit in found])
    print('\n')
    rows = {
        f'{name} [%]': (100 * errors[:, k * n : k * n + n], 100 * stated[:, k * n : k * n + n])
        for k, name in enumerate((*OF_SERVO, 'mass'))
    }
    rows['delay [ms]'] = late, stated_late
    return int(print_coverage(rows) < 0.92)


if __name__ == '__main__':
    sys.exit(main())
