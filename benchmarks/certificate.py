"""Certificates of drawn goals against dense simulation: false answers, and computing time.

    ./ws python benchmarks/certificate.py --goals 10000

Goals are drawn for the UR5e: 2 to 5 points, cubic or quintic, of durations with which about half
of the goals are within all limits. Limits: position, velocity and torque of the model, a jerk of
1000 rad/s^3 for the quintic ones, and 2 cm between links, and to the floor. Arms: masses up to
20 % wrong, friction up to 0.5 % of the effort limits, a payload up to 1 kg, 60 % of the effort.

Dense simulation is independent of the certificate: every goal is followed exactly, and Pinocchio
computes torques at 250 instants for drawn arms, with Coulomb friction that does not fade;
distances are those of coal at 250 instants. A "safe" is false where a value is beyond a limit. A
refusal with a counterexample is checked by a new model of that arm at that time, and is false
where the value is within the limit; a refusal without one is false where dense simulation finds
nothing.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from conditions import print_conditions

from arm_controllers.follower.goal import Goal
from arm_dynamics.checks import Array
from arm_dynamics.clearance import Clearance
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import with_error
from arm_dynamics.surroundings import Surroundings
from arm_lab.certificate.certificate import Certifier
from arm_lab.experiments.ranges import Ranges
from arm_sim.robot import Robot

RANGES = Ranges(payload=1.0)
LEAST, JERK, INSTANTS, ARMS = 0.02, 1000.0, 250, 4
SLACK = 1e-5  # rounding of positions, velocities and torques between two programs


def drawn_goal(model: RobotModel, rng: np.random.Generator) -> tuple[Goal, bool]:
    """Return a goal, and whether its points have accelerations."""
    points, quintic = int(rng.integers(2, 6)), bool(rng.random() < 0.5)
    q = rng.uniform(-1.0, 1.0, (points, model.nv)) * rng.uniform(0.2, 1.2)
    q = q + np.array([0.0, -1.2, 0.8, 0.0, 0.0, 0.0])[: model.nv]
    way = np.abs(np.diff(q, axis=0)).max(axis=1)
    h = np.maximum(0.05, way) * rng.uniform(0.5, 3.0)
    times = np.round(np.append(0.0, np.cumsum(h)), 9)
    v, a = np.zeros_like(q), np.zeros_like(q)
    if points > 2:
        v[1:-1] = (q[2:] - q[:-2]) / (times[2:] - times[:-2])[:, np.newaxis]
        v[1:-1] *= rng.uniform(0.0, 1.0, (points - 2, 1))
    return Goal(model.joint_names, times, q, v, a if quintic else None), quintic


def coulomb_torques(arm: RobotModel, q: Array, v: Array, a: Array) -> Array:
    """Return the largest |torque| (n,) with Coulomb friction that does not fade.

    At standstill it acts in either direction.
    """
    smooth = arm.inverse_dynamics(q, v, a) - arm.friction_torque(v) + arm.damping * v
    low, high = smooth - arm.friction * (v <= 1e-9), smooth + arm.friction * (v >= -1e-9)
    return np.maximum(np.abs(low), np.abs(high))


class Draws:
    """The goals, and what dense simulation needs."""

    def __init__(self, robot: str):
        """Build the models of the drawn arms."""
        self.model = model = Robot.load(robot).model
        clearance = Clearance(model, Surroundings())
        clearance.leave_out_always_near(LEAST)
        self.clearance = clearance
        given = {'clearance': clearance, 'least': LEAST}
        self.certifiers = [
            Certifier(model, RANGES, max_jerk=jerk, **given) for jerk in (0.0, JERK)
        ]
        self.arms = [with_error(model, RANGES.draw(model, 0, k).error) for k in range(ARMS)]

    def goal(self, index: int) -> tuple[Goal, bool]:
        """Return a goal, and whether its points have accelerations."""
        return drawn_goal(self.model, np.random.default_rng([1, index]))

    def dense(self, trajectory: Any, quintic: bool) -> str:
        """Return the first quantity that is beyond a limit, or ''."""
        model = self.model
        h = np.diff(trajectory.times)
        at = np.linspace(0.0, trajectory.end, INSTANTS + 1)
        segment = np.clip(np.searchsorted(trajectory.times, at, 'right') - 1, 0, len(h) - 1)
        s = at - trajectory.times[segment]
        q, v, a = trajectory.states_in(segment, s)
        outside = (q < model.position_lower - SLACK) | (q > model.position_upper + SLACK)
        if outside.any():
            return 'position'
        if (np.abs(v) > model.velocity_limit + SLACK).any():
            return 'velocity'
        c = trajectory.coefficients[segment]
        s = s[:, np.newaxis]
        jerk = 6 * c[:, 3] + 24 * c[:, 4] * s + 60 * c[:, 5] * s**2
        if quintic and (np.abs(jerk) > JERK + SLACK).any():
            return 'jerk'
        for arm in self.arms:
            limit = arm.effort_limit + SLACK
            if any((coulomb_torques(arm, *x) > limit).any() for x in zip(q, v, a, strict=True)):
                return 'torque'
        return '' if all(self.clearance.are_clear(q, LEAST)) else 'clearance'

    def check(self, index: int) -> dict[str, Any]:
        """Return the certificate of a goal, and what dense simulation says of it."""
        goal, quintic = self.goal(index)
        certifier = self.certifiers[quintic]
        start = time.process_time()
        certificate = certifier(goal)
        took, found = time.process_time() - start, certificate.finding
        trajectory = certifier.trajectory(goal)
        answer = {'ms': 1e3 * took, 'verdict': 'safe', 'by': '', 'false': False}
        if found is None:
            answer['by'] = self.dense(trajectory, quintic)
            return answer | {'false': bool(answer['by'])}
        answer |= {'by': found.quantity, 'verdict': 'unsafe' if found.proven else 'undecided'}
        if not found.proven:
            return answer | {'false': not self.dense(trajectory, quintic)}
        return answer | {'false': not self.shown(trajectory, found)}

    def shown(self, trajectory: Any, found: Any) -> bool:
        """Return whether a counterexample is beyond its limit, by a new model of its arm."""
        if not np.isfinite(found.value):
            return True
        segment = np.searchsorted(trajectory.times, found.time, 'right') - 1
        segment = np.array([min(max(segment, 0), len(trajectory.times) - 2)])
        near = []
        for each in (segment, np.maximum(segment - 1, 0)):  # a knot has two sides
            s = found.time - trajectory.times[each]
            q, v, a = trajectory.states_in(each, s)
            near.append((q[0], v[0], a[0], trajectory.coefficients[each[0]], s[0]))
        if found.quantity == 'clearance':
            return not all(self.clearance.are_clear(near[0][0][np.newaxis], LEAST))
        joint = self.model.joint_names.index(found.name)
        bound = abs(found.limit) - SLACK
        for q, v, a, c, s in near:
            values = {
                'position': q, 'velocity': v,
                'jerk': 6 * c[3] + 24 * c[4] * s + 60 * c[5] * s**2,
            }  # fmt: skip
            if found.quantity == 'torque':
                arm = with_error(self.model, found.error)
                values['torque'] = coulomb_torques(arm, q, v, a)
                bound = arm.effort_limit[joint] - SLACK
            if abs(values[found.quantity][joint]) > bound:
                return True
        return False


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--goals', type=int, default=10_000)
    parser.add_argument('--robot', default='ur5e')
    parser.add_argument(
        '--keep', default='', help='folder of answers, which a later call continues'
    )
    options = parser.parse_args()
    print_conditions()
    keep = Path(options.keep or tempfile.mkdtemp()) / 'answers.jsonl'
    keep.parent.mkdir(parents=True, exist_ok=True)
    answers = [json.loads(line) for line in keep.read_text().splitlines()] if keep.exists() else []
    draws = Draws(options.robot)
    draws.check(0)  # compiles
    with keep.open('a') as file:
        for index in range(len(answers), options.goals):
            answers.append(draws.check(index))
            file.write(f'{json.dumps(answers[-1])}\n')
            if not len(answers) % 500:
                print(f'{len(answers)} of {options.goals} goals', file=sys.stderr, flush=True)
    print('| answer | goals | false |\n| --- | ---: | ---: |')
    for verdict in ('safe', 'unsafe', 'undecided'):
        some = [each for each in answers if each['verdict'] == verdict]
        print(f'| {verdict} | {len(some)} | {sum(each["false"] for each in some)} |')
    refused = [each for each in answers if each['verdict'] != 'safe']
    print('refused by:', dict(Counter(each['by'] for each in refused)))
    ms = np.array([each['ms'] for each in answers])
    print(
        f'CPU time: median {np.median(ms):.2f} ms, mean {ms.mean():.2f} ms,'
        f' 99 % {np.quantile(ms, 0.99):.2f} ms, largest {ms.max():.2f} ms'
    )


if __name__ == '__main__':
    main()
