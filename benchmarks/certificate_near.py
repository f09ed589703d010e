"""Certificates of goals near a limit, against dense evaluation and ball arithmetic.

    ./ws pip install python-flint
    ./ws python benchmarks/certificate_near.py --goals 10000

Goals of the UR5e as `certificate.py` draws them, without clearance; each in the time in which its
largest share of a limit of torque, velocity or jerk is a drawn number in 0.985 to 1.015. All arms
have Coulomb friction that does not fade, in either direction at standstill.

Dense evaluation: SciPy's polynomials and Pinocchio's regressor at 1000 instants, at all extremes
of velocity and jerk, at the points and wherever a joint turns back, with the arm that is the worst
there. Where it is within 0.1 % of a limit, or says another thing than the certificate, the
torque's largest share is enclosed in ball arithmetic (`torque_in_balls.py`), between samples as
well. A "safe" is false where a share is above 1, a refusal where it is below.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from certificate import JERK, RANGES, drawn_goal
from conditions import print_conditions
from numpy.typing import NDArray
from scipy.interpolate import BPoly, CubicHermiteSpline, PPoly
from torque_in_balls import BallArm

from arm_controllers.follower.goal import Goal
from arm_lab.certificate.certificate import Certifier
from arm_sim.robot import Robot

Array = NDArray[np.float64]
INSTANTS, FEW = 1000, 100
NEAREST, FARTHEST = 0.985, 1.015
CLOSE = 1e-3  # shares this near to 1 are enclosed in ball arithmetic
_STANDSTILL = 1e-9  # [rad/s]


class DenseArm:
    """The worst arms of `RANGES`, by Pinocchio's regressor of joint torques."""

    def __init__(self, robot: str):
        """Read the robot."""
        given = Robot.load(robot).model
        self.names, self.rotors = given.joint_names, given.armature
        self.model = model = pin.buildModelFromXML(given.urdf)
        self._data, n = model.createData(), model.nv
        rows = np.zeros((n + 2, n, 10))
        for k in range(n):
            rows[k, k] = model.inertias[k + 1].toDynamicParameters()
        frame = model.frames[model.getFrameId(given.tip_frame)]
        radius = (RANGES.payload / 7850.0 * 3.0 / (4.0 * np.pi)) ** (1.0 / 3.0)
        ball = pin.Inertia.FromSphere(RANGES.payload, radius)
        rows[n, frame.parentJoint - 1] = frame.placement.act(ball).toDynamicParameters()
        self._bodies = rows[: n + 1].reshape(n + 1, -1)
        self.limit = RANGES.effort * model.effortLimit
        self._friction = RANGES.friction * model.effortLimit

    def torques(self, q: Array, v: Array, a: Array) -> Array:
        """Return the torques (k, n, bodies) of links and payload at states (k, n)."""
        model, data = self.model, self._data
        rows = [
            pin.computeJointTorqueRegressor(model, data, *each).copy()
            for each in zip(q, v, a, strict=True)
        ]
        return np.array(rows) @ self._bodies.T

    def shares(self, bodies: Array, v: Array, a: Array) -> Array:
        """Return the largest shares (k, n) of the torque limits of any arm."""
        links, payload = bodies[..., :-1], bodies[..., -1]
        centre = links.sum(axis=-1) + self.rotors * a
        spread = RANGES.mass * np.abs(links).sum(axis=-1)
        high = centre + np.maximum(payload, 0.0) + self._friction * (v >= -_STANDSTILL)
        low = centre + np.minimum(payload, 0.0) - self._friction * (v <= _STANDSTILL)
        return (np.maximum(high, -low) + spread) / self.limit


class Motion:
    """A goal's polynomials, by SciPy."""

    def __init__(self, goal: Goal):
        """Take a goal whose joints are in the arm's order."""
        self.times = goal.times
        if goal.accelerations is None:
            q = CubicHermiteSpline(goal.times, goal.positions, goal.velocities)
        else:
            rows = np.stack([goal.positions, goal.velocities, goal.accelerations], axis=1)
            q = PPoly.from_bernstein_basis(BPoly.from_derivatives(goal.times, rows))
        self.rates = [q] + [q.derivative(order) for order in range(1, 5)]

    def states(self, times: Array) -> list[Array]:
        """Return q, v, a and jerk (k, n)."""
        return [rate(times) for rate in self.rates[:4]]

    def instants(self, count: int) -> Array:
        """Return even instants, both sides of the points, and where an extreme may be."""
        sides = np.concatenate([self.times[1:] - 1e-9, self.times[:-1] + 1e-9])
        roots = [
            each[np.isfinite(each)]
            for rate in (self.rates[1], self.rates[2], self.rates[4])
            for each in rate.roots(extrapolate=False)
        ]
        even = np.linspace(0.0, self.times[-1], count)
        return np.clip(np.concatenate([even, sides, *roots]), 0.0, self.times[-1])


class Near:
    """Goals near a limit, and their answers."""

    def __init__(self, robot: str):
        """Build certifiers and the independent arms."""
        self.model = model = Robot.load(robot).model
        self.certifiers = [Certifier(model, RANGES, max_jerk=jerk) for jerk in (0.0, JERK)]
        self.dense = DenseArm(robot)
        self.balls = BallArm(
            model.urdf, model.joint_names, model.tip_frame, RANGES.mass,
            RANGES.friction * model.effort_limit, RANGES.payload, model.armature,
        )  # fmt: skip

    def goal(self, index: int) -> Goal:
        """Return a goal near a limit."""
        rng = np.random.default_rng([2, index])
        target = rng.uniform(NEAREST, FARTHEST)
        scaled = None
        while scaled is None:
            scaled = self.scaled(drawn_goal(self.model, rng)[0], target)
        return scaled

    def scaled(self, goal: Goal, target: float) -> Goal | None:
        """Return a goal in the time in which it uses a share of a limit; None: in no time."""
        motion = Motion(goal)
        q, v, a, j = motion.states(motion.instants(FEW))
        still = self.dense.torques(q, 0.0 * v, 0.0 * a)
        moving = self.dense.torques(q, v, a) - still
        jerk = 0.0 if goal.accelerations is None else float(np.abs(j).max()) / JERK
        speed = float((np.abs(v) / self.model.velocity_limit).max())

        def share(k: float) -> float:
            torques = self.dense.shares(still + moving / k**2, v, a / k**2)
            return max(float(torques.max()), speed / k, jerk / k**3)

        low, high = 0.05, 20.0
        if not share(low) > target > share(high):
            return None
        for _ in range(30):
            middle = np.sqrt(low * high)
            low, high = (middle, high) if share(middle) > target else (low, middle)
        given = goal.accelerations
        return replace(
            goal, times=high * goal.times, velocities=goal.velocities / high,
            accelerations=None if given is None else given / high**2,
        )  # fmt: skip

    def check(self, index: int) -> dict[str, Any]:
        """Return the certificate of a goal, and what the independent evaluations say of it."""
        goal = self.goal(index)
        start = time.process_time()
        found = self.certifiers[goal.accelerations is not None](goal).finding
        answer: dict[str, Any] = {'ms': 1e3 * (time.process_time() - start), 'index': index}
        answer['verdict'] = 'safe' if found is None else 'unsafe' if found.proven else 'undecided'
        motion = Motion(goal)
        q, v, a, j = motion.states(motion.instants(INSTANTS))
        end = q[INSTANTS - 1 : INSTANTS]  # where the arm rests
        q, v, a = np.vstack([q, end]), np.vstack([v, 0.0 * end]), np.vstack([a, 0.0 * end])
        shares = {
            'torque': float(self.dense.shares(self.dense.torques(q, v, a), v, a).max()),
            'velocity': float((np.abs(v) / self.model.velocity_limit).max()),
            'jerk': 0.0 if goal.accelerations is None else float(np.abs(j).max()) / JERK,
        }
        answer['by'] = max(shares, key=lambda name: shares[name])
        largest = shares[answer['by']]
        answer |= {'dense': largest, 'low': largest, 'high': largest}
        if abs(largest - 1.0) < CLOSE or (found is None) != (largest < 1.0):
            start = time.process_time()
            torque = self.balls.largest_share(goal, self.dense.limit)
            answer['ball_ms'] = 1e3 * (time.process_time() - start)
            answer['missed'] = torque[0] - shares['torque']
            rest = max(shares['velocity'], shares['jerk'])
            answer['low'], answer['high'] = (max(each, rest) for each in torque)
        wrong = answer['low'] > 1.0 if found is None else answer['high'] < 1.0
        return answer | {'false': bool(wrong)}


def table(answers: list[dict[str, Any]]) -> None:
    """Print what the answers say."""
    balls = [each for each in answers if 'ball_ms' in each]
    print(f'largest shares drawn from {NEAREST} to {FARTHEST}')
    print('| answer | goals | in ball arithmetic | false |\n| --- | ---: | ---: | ---: |')
    for verdict in ('safe', 'unsafe', 'undecided'):
        some = [each for each in answers if each['verdict'] == verdict]
        more = sum('ball_ms' in each for each in some)
        print(f'| {verdict} | {len(some)} | {more} | {sum(each["false"] for each in some)} |')
    print('nearest limit:', dict(Counter(each['by'] for each in answers)))
    safe = [each['high'] for each in answers if each['verdict'] == 'safe']
    if safe:
        print(f'largest share of a goal that is safe: {max(safe):.7f}')
    ms = np.array([each['ms'] for each in answers])
    print(
        f'CPU time of a certificate: median {np.median(ms):.2f} ms, 99 % '
        f'{np.quantile(ms, 0.99):.2f} ms, largest {ms.max():.2f} ms'
    )
    if balls:
        took = np.array([each['ball_ms'] for each in balls])
        print(
            f'{len(balls)} goals in ball arithmetic: median {np.median(took):.0f} ms; dense '
            f'evaluation misses up to {max(each["missed"] for each in balls):.1e} of the share'
        )
    for each in answers:
        if each['false']:
            print(f'false: {each}')


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--goals', type=int, default=10_000)
    parser.add_argument('--first', type=int, default=0, help='number of the first goal')
    parser.add_argument('--robot', default='ur5e')
    parser.add_argument(
        '--keep', default='', help='folder of answers, which a later call continues'
    )
    options = parser.parse_args()
    print_conditions()
    folder = Path(options.keep or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line for file in folder.glob('*.jsonl') for line in file.read_text().splitlines()]
    answers = {each['index']: each for each in map(json.loads, lines)}
    near = Near(options.robot)
    near.check(0)  # compiles
    wanted = range(options.first, options.first + options.goals)
    with (folder / f'{options.first}.jsonl').open('a') as file:
        for index in wanted:
            if index not in answers:
                answers[index] = near.check(index)
                print(json.dumps(answers[index]), file=file, flush=True)
                if not (index + 1) % 500:
                    print(f'{index + 1} goals', file=sys.stderr, flush=True)
    table([answers[index] for index in wanted])


if __name__ == '__main__':
    main()
