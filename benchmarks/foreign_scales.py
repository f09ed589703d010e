"""Scales of torques from a known load: errors, and what their intervals cover.

    ./ws python benchmarks/foreign_scales.py --draws 40

Each draw is a ur5e with links 30 % lighter or heavier than the given model's, unknown rotors and
friction, and recorded torques of which each joint has its own scale (a logarithm of standard
deviation 0.3). The second recording carries a box of known mass (2 to 4 kg) that is not known to
be one: its centre is some centimetres off the tool frame, it has an inertia, and friction differs
by up to 20 %. Torques are Pinocchio's rnea of the continuous motion; times jitter by 10 %,
positions have noise of 1e-5 rad, torques of 1 %. `covered`: how many of the truths lie in the
stated 95 % interval.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pinocchio as pin
from conditions import print_conditions
from covered import print_coverage
from foreign_arm import Array
from identification import other_arm

from arm_dynamics.model import STANDSTILL, RobotModel
from arm_lab.identification.estimation import IdentificationParameters
from arm_lab.identification.excitation import ExcitationParameters, plan
from arm_lab.identification.fourier import FourierSeries
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.signals import MotionSamples
from arm_lab.identification.torque_scale import Carrying, TorqueScales, torque_scales
from arm_sim.robot import Robot

SECONDS, PERIOD = 60.0, 0.004  # of a recording, of its states [s]
NOISE = 1e-5, 0.01  # of positions [rad], of torques as a share of their RMS
BOX = np.array([0.1, 0.15, 0.2])  # edges [m]


def torques(
    arm: RobotModel, motion: tuple[Array, Array, Array], load: pin.Inertia | None, friction: Array
) -> Array:
    """Return the torques (k, n) of a motion by Pinocchio, with viscous and Coulomb friction."""
    model = arm.pin_model.copy()
    rotors, viscous, coulomb = friction
    model.armature = np.zeros(model.nv)
    if load is not None:
        frame = model.frames[arm.frame_id()]
        inertias = model.inertias
        inertias[frame.parentJoint] += frame.placement.act(load)
    data, found = model.createData(), []
    for q, v, a in zip(*motion, strict=True):
        dry = viscous * v + coulomb * np.sign(v) * (np.abs(v) > STANDSTILL) + rotors * a
        found.append(pin.rnea(model, data, q, v, a) + dry)
    return np.array(found)


def estimated(seed: int, series: FourierSeries) -> tuple[Array, Array, TorqueScales]:
    """Return the scales and the centre of the load of a draw, and the estimate."""
    rng = np.random.default_rng(seed)
    given = Robot.load('ur5e').model
    arm = other_arm(given, seed)
    n = arm.nv
    friction = np.array([arm.armature, arm.damping, arm.friction])
    scale = np.exp(0.3 * rng.standard_normal(n))
    mass, center = rng.uniform(2.0, 4.0), rng.normal(0.0, 0.05, 3)
    box = np.diag((BOX**2).sum() - BOX**2) * mass / 12.0
    recordings = []
    for load in (None, pin.Inertia(mass, center, box)):
        times = np.arange(0.0, SECONDS, PERIOD)
        times[1:] += rng.uniform(-0.1, 0.1, len(times) - 1) * PERIOD
        changed = friction.copy()
        changed[1:] *= 1.0 if load is None else rng.uniform(0.8, 1.2, (2, n))
        motion = series.states(times)
        tau = torques(arm, motion, load, changed)
        tau += NOISE[1] * np.sqrt((tau**2).mean(axis=0)) * rng.standard_normal(tau.shape)
        q = motion[0] + NOISE[0] * rng.standard_normal(tau.shape)
        samples = MotionSamples(times, q, tau * scale)
        recordings.append(Carrying(samples, 0.0 if load is None else mass))
    found = torque_scales(JointRegressor(given), recordings, IdentificationParameters())
    return scale, center, found


def main() -> int:
    """Print the table; 1: intervals cover less than 92 % of the truths."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--draws', type=int, default=40)
    draws = parser.parse_args().draws
    print_conditions()
    asked = ExcitationParameters(evaluations=500, seed=1)
    series = plan(Robot.load('ur5e').model, asked).motion
    found = []
    with ProcessPoolExecutor() as pool:
        for k, one in enumerate(pool.map(estimated, range(draws), [series] * draws)):
            found.append(one)
            print(f'\r{k + 1} of {draws}', end='', file=sys.stderr, flush=True)
    shown = np.array([each.shown for _, _, each in found])
    scale_errors = np.array([np.log(each.values / scale) for scale, _, each in found])[shown]
    stated = np.array([each.errors for _, _, each in found])[shown]
    off = np.array([each.center - center for _, center, each in found])
    stated_off = np.array([each.center_errors for _, _, each in found])
    print(f'\n\n{shown.mean():.1%} of the scales are shown; the others are not used.\n')
    least = print_coverage({
        'scale [%]': (100 * scale_errors, 100 * stated),
        'centre of the load [mm]': (1e3 * off, 1e3 * stated_off),
    })  # fmt: skip
    return int(least < 0.92)


if __name__ == '__main__':
    sys.exit(main())
