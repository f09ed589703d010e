"""The same drawn goals to an installed ros2_control's joint_trajectory_controller and to ours.

    ./ws python benchmarks/jtc_goals.py --goals 60

Prints the largest difference between both references by kind of goal. Without an installed
ros2_control this prints what is missing.
"""

import argparse
import sys

import numpy as np
from conditions import own_domain, print_conditions
from managed_arm import ManagedArm, missing

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.ros.messages import goal_from_message, to_ns
from arm_sim.robot import Robot

KINDS = ('positions', 'cubic', 'quintic', 'partial', 'replaced', 'spliced')
EXTRA = """    interpolate_from_desired_state: true
    allow_partial_joints_goal: true
"""
_LENGTH, _REST = 0.3, 0.06  # of a goal, after it [s]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--goals', type=int, default=60)
    parser.add_argument('--rate', type=int, default=250, help='of the manager [Hz]')
    given = parser.parse_args()
    if what := missing():
        print(f'ros2_control is not installed here ({what}): nothing was measured')
        return 0
    own_domain()
    print_conditions()
    arm = ManagedArm('ur5e', given.rate, EXTRA)
    try:
        worst: dict[str, np.ndarray] = {}
        for number in range(given.goals):
            kind = KINDS[number % len(KINDS)]
            found = compared(arm, kind, np.random.default_rng([5, number]))
            worst[kind] = np.maximum(worst.get(kind, 0.0), found)
            if (number + 1) % 50 == 0:
                print(f'{number + 1} goals: {worst}', flush=True)
        print(f'{given.goals} goals; largest difference of the references')
        print(f'{"kind":10} {"q [rad]":>10} {"v [rad/s]":>10} {"a [rad/s^2]":>12}')
        for kind, (q, v, a) in worst.items():
            print(f'{kind:10} {q:10.1e} {v:10.1e} {a:12.1e}')
    finally:
        arm.end()
    return 0


def compared(arm: ManagedArm, kind: str, rng) -> np.ndarray:
    """Send a goal, or two, to both; return the largest differences of q, v, a."""
    period, robot = arm.period_ns, Robot.load('ur5e')
    robot.model.effort_limit = np.full(robot.model.nv, 1e9)  # JTC has no such limits
    robot.model.velocity_limit = np.full(robot.model.nv, 1e9)
    rules = FollowerParameters(allow_partial_joints_goal=True, start_tolerance=(1e9,))
    ours = TrajectoryFollower(robot.model, rules)
    arm.references.clear()
    arm.run(2)
    arm.settle()
    q = np.array(arm.references[-1].reference.positions)
    ours.activate(arm.time_ns, q, 0.0 * q)
    ways = []
    first = drawn(arm, kind, q, 0.0 * q, arm.time_ns + 3 * period, rng)
    ways.append((arm.time_ns, first))
    arm.references.clear()
    check(arm.send(first))
    begin_ns = to_ns(first.trajectory.header.stamp)
    aside = (0, 0)  # times that differ for a known reason [ns]
    if kind == 'positions':  # JTC's first segment is a line, ours begins at rest
        aside = (begin_ns, begin_ns + to_ns(first.trajectory.points[1].time_from_start) + period)
    half = round(0.5 * _LENGTH / (1e-9 * period))
    if kind in ('replaced', 'spliced'):
        arm.run(half)
        arm.settle()
        start_ns = arm.time_ns + (1 + 10 * (kind == 'spliced')) * period
        aside = (arm.time_ns, start_ns)  # JTC leaves the first goal when it accepts
        ours.set_goal(goal_from_message(first.trajectory), ways[0][0])
        at = ours.peek(start_ns).copy()
        second = drawn(arm, 'quintic', at.q, at.v, start_ns, rng, at.a)
        ways.append((arm.time_ns, second))
        check(arm.send(second))
        ours = TrajectoryFollower(robot.model, rules)
        ours.activate(ways[0][0], q, 0.0 * q)
    arm.run(round((_LENGTH + _REST) / (1e-9 * period)))
    arm.settle()
    rows = {}
    for message in arm.references:
        part = message.reference
        if len(part.accelerations):
            rows[to_ns(message.header.stamp)] = np.array(
                [part.positions, part.velocities, part.accelerations]
            )
    worst = np.zeros(3)
    for time_ns in sorted(rows):
        while ways and ways[0][0] <= time_ns - period:
            at_ns, goal = ways.pop(0)
            ours.set_goal(goal_from_message(goal.trajectory), at_ns)
        own = ours.update(time_ns, ours.peek(time_ns).q.copy(), 0.0 * q)
        mine = np.array([own.q, own.v, own.a])
        if time_ns >= begin_ns and not aside[0] <= time_ns < aside[1]:
            worst = np.maximum(worst, np.abs(mine - rows[time_ns]).max(axis=1))
    return worst


def drawn(arm, kind, q, v, start_ns, rng, a=None):
    """Return a goal from a state (n,), there and back to rest."""
    n, names = len(q), list(arm.names)
    times = np.sort(rng.uniform(0.2, 0.8, 2)) * _LENGTH
    if times[1] - times[0] < 0.02:
        times[1] += 0.03
    rest, points = np.zeros(n), []
    rows = [(0.0, q, v, rest if a is None else a)]
    for t in times:
        there = q + rng.uniform(-0.02, 0.02, n)
        rows.append((t, there, rng.uniform(-0.1, 0.1, n), rng.uniform(-0.5, 0.5, n)))
    rows.append((_LENGTH, q + rng.uniform(-0.02, 0.02, n), rest, rest))
    fields = {'positions': 1, 'cubic': 2, 'partial': 2}.get(kind, 3)
    chosen = np.sort(rng.permutation(n)[:3]) if kind == 'partial' else np.arange(n)
    for t, *values in rows:
        points.append((float(t), *(x[chosen] for x in values[:fields])))
    return arm.goal(points, start_ns, [names[k] for k in chosen])


def check(handle) -> None:
    """Raise RuntimeError where JTC refuses a goal."""
    if not handle.accepted:
        raise RuntimeError('joint_trajectory_controller refuses the goal')


if __name__ == '__main__':
    sys.exit(main())
