"""The same drawn goals to an installed ros2_control's joint_trajectory_controller and to ours.

    ./ws python benchmarks/jtc_goals.py --goals 60

Prints the largest difference between both references by kind of goal, and how many goals ended
with different results. Without an installed ros2_control this prints what is missing.
"""

import argparse
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
from conditions import own_domain, print_conditions
from control_msgs.msg import JointTolerance, SpeedScalingFactor
from managed_arm import CONTROLLER, ManagedArm, missing
from rclpy.qos import DurabilityPolicy, QoSProfile

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.goal import JointTolerance as Tolerance
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.ros.messages import goal_from_message, to_ns
from arm_sim.robot import Robot

KINDS = (
    'positions', 'cubic', 'quintic', 'partial', 'replaced', 'spliced', 'canceled', 'tolerances',
    'scaled',
)  # fmt: skip
EXTRA = """    interpolate_from_desired_state: true
    allow_partial_joints_goal: true
"""
_LENGTH, _REST = 0.3, 0.06  # of a goal, after it [s]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--goals', type=int, default=60)
    parser.add_argument('--first', type=int, default=0, help='number of the first goal')
    parser.add_argument('--rate', type=int, default=250, help='of the manager [Hz]')
    given = parser.parse_args()
    if what := missing():
        print(f'ros2_control is not installed here ({what}): nothing was measured')
        return 0
    own_domain()
    print_conditions()
    arm = ManagedArm('ur5e', given.rate, EXTRA)
    side = Side(arm)
    try:
        worst: dict[str, np.ndarray] = {}
        ends: Counter[str] = Counter()
        for number in range(given.first, given.first + given.goals):
            kind = KINDS[number % len(KINDS)]
            found, words = side.compared(kind, np.random.default_rng([5, number]))
            worst[kind] = np.maximum(worst.get(kind, 0.0), found)
            ends[f'{kind}: {words}'] += 1
            if (number + 1) % 90 == 0:
                show(number + 1 - given.first, worst, ends)
        show(given.goals, worst, ends)
    finally:
        arm.end()
    return 0


def show(count: int, worst: dict[str, np.ndarray], ends: Counter[str]) -> None:
    """Print the table so far."""
    print(f'{count} goals; largest difference of the references')
    print(f'{"kind":10} {"q [rad]":>10} {"v [rad/s]":>10} {"a [rad/s^2]":>12}')
    for kind, (q, v, a) in worst.items():
        print(f'{kind:10} {q:10.1e} {v:10.1e} {a:12.1e}')
    print('ends:', '; '.join(f'{words} {n}' for words, n in sorted(ends.items())), flush=True)


class Side:
    """A follower of this package beside the controller of an arm."""

    def __init__(self, arm: ManagedArm):
        """Take the arm; JTC knows no limits of torque and speed."""
        self.arm, self.model = arm, Robot.load('ur5e').model
        self.model.effort_limit = np.full(self.model.nv, 1e9)
        self.model.velocity_limit = np.full(self.model.nv, 1e9)
        self.rules = FollowerParameters(
            allow_partial_joints_goal=True, start_tolerance=(1e9,), decelerate_on_cancel=False,
            decelerate_on_violation=False, stopped_velocity_tolerance=0.0,
        )  # fmt: skip
        self.speed = arm.node.create_publisher(
            SpeedScalingFactor, f'{CONTROLLER}/speed_scaling_input',
            QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL),
        )  # fmt: skip

    def compared(self, kind: str, rng) -> tuple[np.ndarray, str]:
        """Send a goal, or two, to both; return the largest differences, and how they ended.

        A canceled goal is compared with the state that JTC measured last, one at another speed
        with the goal at the time that JTC reports, a hold after a violation with all states that
        JTC has measured.
        """
        arm, period = self.arm, self.arm.period_ns
        arm.references.clear()
        arm.run(2)
        arm.settle()
        q = np.array(arm.references[-1].reference.positions)
        still = np.zeros_like(q)
        first = drawn(arm, kind, q, still, arm.time_ns + 3 * period, rng)
        accepted_ns = arm.time_ns
        ways = [(accepted_ns, lambda ours, at: ours.set_goal(of(first), at))]
        arm.references.clear()
        handle = check(arm.send(first))
        begin_ns = to_ns(first.trajectory.header.stamp)
        aside = (0, 0)  # times that differ for a known reason [ns]
        if kind == 'positions':  # JTC's first segment is a line, ours begins at rest
            length = to_ns(first.trajectory.points[1].time_from_start)
            aside = (begin_ns, begin_ns + length + period)
        half = round(0.5 * _LENGTH / (1e-9 * period))
        if kind in ('replaced', 'spliced', 'canceled', 'scaled'):
            arm.run(half)
            arm.settle()
        now_ns = arm.time_ns
        factor = 1.0
        if kind in ('replaced', 'spliced'):
            start_ns = now_ns + (1 + 10 * (kind == 'spliced')) * period
            aside = (now_ns, start_ns)  # JTC leaves the first goal when it accepts
            ours = self.follower(accepted_ns, q)
            ways[0][1](ours, accepted_ns)
            at = ours.peek(start_ns).copy()
            second = drawn(arm, 'quintic', at.q, at.v, start_ns, rng, at.a)
            ways.append((now_ns, lambda ours, at: ours.set_goal(of(second), at)))
            handle = check(arm.send(second))
        elif kind == 'canceled':
            arm.result(handle.cancel_goal_async(), 'cancel')
            ways.append((now_ns, lambda ours, at: ours.cancel(at)))
        elif kind == 'scaled':
            factor = float(rng.uniform(0.3, 1.0))
            self.scale(factor)
        arm.run(round((_LENGTH / factor + _REST) / (1e-9 * period)))
        arm.settle()
        end = arm.result(handle.get_result_async(), 'end').result.error_code
        if kind == 'scaled':
            self.scale(1.0)
        ours, worst, rows = self.follower(accepted_ns, q), np.zeros(3), {}
        for message in arm.references:
            if len(message.reference.accelerations):
                rows[to_ns(message.header.stamp)] = message
        for time_ns in sorted(rows):
            part, seen = rows[time_ns].reference, rows[time_ns].feedback
            while ways and ways[0][0] <= time_ns - period:
                at_ns, act = ways.pop(0)
                act(ours, at_ns)
            at_ns = time_ns
            if kind == 'scaled' and time_ns > now_ns:
                at_ns = begin_ns + to_ns(rows[time_ns].reference.time_from_start)
                if at_ns < ours.time_ns:  # the goal is over
                    at_ns = max(ours.time_ns, begin_ns + round(1e9 * _LENGTH))
            own = ours.update(at_ns, np.array(seen.positions), np.array(seen.velocities))
            mine = np.array([own.q, own.v, own.a])
            if kind == 'canceled' and time_ns > now_ns:  # JTC holds where it has measured the arm
                mine = np.array([rows[now_ns].feedback.positions, still, still])
            theirs = np.array([part.positions, part.velocities, part.accelerations])
            if end < 0 and np.abs(mine - theirs).max() > 1e-9:  # JTC holds what it has measured
                held = [x.feedback.positions for at, x in rows.items() if at <= time_ns]
                far = np.abs(np.array(held) - theirs[0]).max(axis=1)
                mine = np.array([held[far.argmin()], still, still])
            if kind == 'tolerances' and ours.results and not aside[1]:
                aside = (time_ns, time_ns + period)  # JTC shows its hold in the next update
            if time_ns >= begin_ns and not aside[0] <= time_ns < aside[1]:
                worst = np.maximum(worst, np.abs(mine - theirs).max(axis=1))
        codes = [int(each.code) for each in ours.results]
        same = codes[-1:] == [end] or (kind == 'canceled' and len(codes) == 1)
        return worst, f'both {end}' if same else f'JTC {end}, ours {codes}'

    def follower(self, time_ns: int, q: np.ndarray) -> TrajectoryFollower:
        """Return a follower that holds q."""
        made = TrajectoryFollower(self.model, self.rules)
        made.activate(time_ns, q, 0.0 * q)
        return made

    def scale(self, factor: float) -> None:
        """Let JTC follow goals at this speed."""
        self.speed.publish(SpeedScalingFactor(factor=factor))
        self.arm.settle()


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
    goal = arm.goal(points, start_ns, [names[k] for k in chosen])
    if kind == 'tolerances':
        path, end = 10.0 ** rng.uniform(-4.0, -1.0, 2)
        goal.path_tolerance = [JointTolerance(name=name, position=path) for name in names]
        goal.goal_tolerance = [JointTolerance(name=name, position=end) for name in names]
        goal.goal_time_tolerance.nanosec = 20_000_000
    return goal


def of(goal):
    """Return a goal of the action as the follower takes it."""
    return replace(
        goal_from_message(goal.trajectory),
        path_tolerance=[Tolerance(x.name, x.position) for x in goal.path_tolerance],
        goal_tolerance=[Tolerance(x.name, x.position) for x in goal.goal_tolerance],
        goal_time_tolerance=to_ns(goal.goal_time_tolerance) * 1e-9,
    )


def check(handle):
    """Return the handle of an accepted goal; raise RuntimeError where JTC refuses it."""
    if not handle.accepted:
        raise RuntimeError('joint_trajectory_controller refuses the goal')
    return handle


if __name__ == '__main__':
    sys.exit(main())
