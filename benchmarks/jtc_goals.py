"""The same drawn goals to an installed ros2_control's joint_trajectory_controller and to ours.

    ./ws python benchmarks/jtc_goals.py --goals 180

Twenty arms side by side follow as many goals at once, each under a joint_trajectory_controller of
its own, all under one manager. Prints the largest difference between both references by kind of
goal, how the goals ended, and each goal that differs. Without an installed ros2_control this
prints what is missing.
"""

import argparse
import copy
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import SubElement

import numpy as np
import yaml
from conditions import own_domain, print_conditions
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState, SpeedScalingFactor
from managed_arm import CONTROLLER, ManagedArm, missing
from rclpy.action import ActionClient
from rclpy.qos import DurabilityPolicy, QoSProfile

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.goal import JointTolerance as Tolerance
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.ros.messages import goal_from_message, to_ns
from arm_dynamics.descriptions.reduced_model import reduced_model
from arm_dynamics.model import RobotModel
from arm_sim.robot import Robot

KINDS = (
    'positions', 'cubic', 'quintic', 'partial', 'replaced', 'spliced', 'canceled', 'tolerances',
    'scaled',
)  # fmt: skip
ARMS = 20
JTC = {
    'command_interfaces': ['position'],
    'state_interfaces': ['position', 'velocity'],
    'interpolate_from_desired_state': True,
    'allow_partial_joints_goal': True,
}
_LENGTH, _REST = 0.3, 0.06  # of a goal, after it [s]
_LATER = 0.04  # until a goal with a later stamp begins [s]
_PATH = FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED
_EQUAL = 1e-9  # larger differences are shown


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--goals', type=int, default=180)
    parser.add_argument('--first', type=int, default=0, help='number of the first goal')
    parser.add_argument('--rate', type=int, default=100, help='of the manager [Hz]')
    given = parser.parse_args()
    if what := missing():
        print(f'ros2_control is not installed here ({what}): nothing was measured')
        return 0
    own_domain()
    print_conditions()
    arm, sides = several(given.rate)
    worst: dict[str, np.ndarray] = {}
    ends: Counter[str] = Counter()
    differing, states, begin = 0, 0, time.monotonic()
    try:
        for first in range(given.first, given.first + given.goals, ARMS):
            for side, (kind, found, words) in zip(sides, compared(arm, sides, first), strict=True):
                worst[kind] = np.maximum(worst.get(kind, 0.0), found)
                ends[f'{kind}: {words}'] += 1
                states += side.states
                early = 'periods' in words and 'before the start' not in words
                if found[:2].max() > _EQUAL or words.startswith('JTC') or early:
                    differing += 1
                    print(f'goal {first + side.number}: {kind}, {words}, {found}', flush=True)
            done = first + ARMS - given.first
            if done % (3 * ARMS * len(KINDS)) == 0 or done >= given.goals:
                print(f'{done} goals, {states} states, {time.monotonic() - begin:.0f} s')
                show(worst, ends)
        print(f'{differing} goals differ; {arm.counts()}')
    finally:
        arm.end()
    return int(differing > 0)


def show(worst: dict[str, np.ndarray], ends: Counter[str]) -> None:
    """Print the table so far."""
    print(f'{"kind":10} {"q [rad]":>10} {"v [rad/s]":>10} {"a [rad/s^2]":>12}')
    for kind, (q, v, a) in worst.items():
        print(f'{kind:10} {q:10.1e} {v:10.1e} {a:12.1e}')
    print('ends:', '; '.join(f'{words} {n}' for words, n in sorted(ends.items())), flush=True)


def several(rate: int) -> tuple[ManagedArm, list['Side']]:
    """Return the arms of one simulator and manager, and what compares the goals of each."""
    folder, one = Path(tempfile.mkdtemp()), Robot.load('ur5e')
    urdf, config, file = (folder / name for name in ('arms.urdf', 'config.yaml', 'others.yaml'))
    urdf.write_text(side_by_side(one.model.urdf))
    of_one = one.parameters('simulator')
    lists = ('initial_positions', 'servo_kp', 'servo_kd')
    of_all = {name: ARMS * list(of_one[name]) for name in lists} | {'armature': of_one['armature']}
    config.write_text(yaml.safe_dump({'/**': {'ros__parameters': of_all}}))
    names = [CONTROLLER, *(f'{CONTROLLER}_{k}' for k in range(1, ARMS))]
    joints = [[f'arm_{k}_{name}' for name in one.model.joint_names] for k in range(ARMS)]
    first, *others = ({'joints': each} | copy.deepcopy(JTC) for each in joints)
    file.write_text(
        yaml.safe_dump(
            {name: {'ros__parameters': each} for name, each in zip(names[1:], others, strict=True)}
        )
    )
    kind = 'joint_trajectory_controller/JointTrajectoryController'
    arm = ManagedArm(
        str(urdf), rate, ''.join(f'    {name}: {value}\n' for name, value in first.items()),
        of_manager=''.join(f'    {name}: {{type: {kind}}}\n' for name in names[1:]),
        config=str(config),
    )  # fmt: skip
    try:
        spawner = ['ros2', 'run', 'controller_manager', 'spawner', *names[1:]]
        spawned = subprocess.Popen([*spawner, '--param-file', file, '--switch-timeout', '60'])
        while spawned.poll() is None:
            arm.run(20)
        if spawned.returncode:
            raise RuntimeError('the controllers cannot be spawned')
        whole = Robot.load(str(urdf)).model
        sides = [
            Side(arm, k, name, reduced_model(whole, each))
            for k, (name, each) in enumerate(zip(names, joints, strict=True))
        ]
        arm.wait(lambda: all(x.action.server_is_ready() for x in sides), 'action servers')
    except BaseException:
        arm.end()
        raise
    return arm, sides


def side_by_side(urdf: str) -> str:
    """Return the URDF of ARMS equal arms, 2 m apart, names with the prefix `arm_0_` and so on."""
    one, whole = ElementTree.fromstring(urdf), ElementTree.Element('robot', name='arms')
    children = {each.get('link') for each in one.iter('child')}
    (base,) = {each.get('name') for each in one.findall('link')} - children
    SubElement(whole, 'link', name='floor')
    for k in range(ARMS):
        for each in copy.deepcopy([*one.findall('link'), *one.findall('joint')]):
            for tag in (each, *each.iter('parent'), *each.iter('child')):
                name = 'name' if tag is each else 'link'
                tag.set(name, f'arm_{k}_{tag.get(name)}')
            whole.append(each)
        joint = SubElement(whole, 'joint', name=f'arm_{k}', type='fixed')
        SubElement(joint, 'parent', link='floor')
        SubElement(joint, 'child', link=f'arm_{k}_{base}')
        SubElement(joint, 'origin', xyz=f'0 {2 * k} 0')
    return ElementTree.tostring(whole, encoding='unicode')


def compared(arm: ManagedArm, sides: list['Side'], first: int) -> Iterator[tuple]:
    """Let all arms follow a goal; yield kind, largest differences and ends of each.

    `first`: the number of the first arm's goal; all goals of a round are of one kind.
    """
    kind = KINDS[first // ARMS % len(KINDS)]
    arm.run(2)
    settle(arm, sides)
    under_way = [
        side.compare(kind, np.random.default_rng([5, first + side.number])) for side in sides
    ]
    for begun in under_way:
        next(begun)
    arm.run(round(0.5 * _LENGTH / (1e-9 * arm.period_ns)))
    settle(arm, sides)
    periods = max(next(each) for each in under_way)
    if kind == 'scaled':
        arm.settle()
    arm.run(periods)
    settle(arm, sides)
    for each in under_way:
        yield kind, *next(each)


def settle(arm: ManagedArm, sides: list['Side']) -> None:
    """Wait until all controllers have shown the time that the arm is at, or a message is lost."""
    end = time.monotonic() + 1.0
    while time.monotonic() < end and any(side.shown_ns < arm.time_ns for side in sides):
        arm.executor.spin_once(timeout_sec=0.01)


class Side:
    """A follower of this package next to one of the installed controllers.

    Attributes:
        number: of the arm.
        states: number of states compared by the last `compare`.
    """

    def __init__(self, arm: ManagedArm, number: int, controller: str, model: RobotModel):
        """Take one of the arms; JTC knows no limits of torque and speed."""
        self.arm, self.number, self.model, self.states = arm, number, model, 0
        self.names = list(model.joint_names)
        self.model.effort_limit = np.full(self.model.nv, 1e9)
        self.model.velocity_limit = np.full(self.model.nv, 1e9)
        self.rules = FollowerParameters(
            allow_partial_joints_goal=True, start_tolerance=(1e9,), decelerate_on_cancel=False,
            decelerate_on_violation=False, stopped_velocity_tolerance=0.0,
        )  # fmt: skip
        node = arm.node
        self.speed = node.create_publisher(
            SpeedScalingFactor, f'{controller}/speed_scaling_input',
            QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL),
        )  # fmt: skip
        self.action = ActionClient(
            node, FollowJointTrajectory, f'{controller}/follow_joint_trajectory'
        )
        self.rows: dict[int, JointTrajectoryControllerState] = {}  # by time [ns]
        self.shown_ns = -1
        node.create_subscription(
            JointTrajectoryControllerState, f'{controller}/controller_state', self._on_state,
            QoSProfile(depth=5000),
        )  # fmt: skip

    def _on_state(self, message: JointTrajectoryControllerState) -> None:
        self.shown_ns = to_ns(message.header.stamp)
        if len(message.reference.accelerations):
            self.rows[self.shown_ns] = message

    def compare(self, kind: str, rng) -> Iterator:
        """Send a goal, or two, to both; go on half-way, then at its end.

        Yields at first nothing, half-way the number of periods to the end, then the largest
        differences and how the goals ended. A canceled goal is compared with
        the state that JTC measured last, one at another speed with the goal at the time that JTC
        reports, a hold after a violation with all states that JTC has measured.
        """
        arm, period = self.arm, self.arm.period_ns
        q = np.array(self.rows[max(self.rows)].reference.positions)
        still, self.states = np.zeros_like(q), 0
        first = self.drawn(kind, q, still, arm.time_ns + 3 * period, rng)
        accepted_ns = arm.time_ns
        ways = [(accepted_ns, lambda ours, at: ours.set_goal(of(first), at))]
        self.rows.clear()
        handle = self.send(first)
        begin_ns = to_ns(first.trajectory.header.stamp)
        aside = (0, 0)  # times that differ for a known reason [ns]
        if kind == 'positions':  # JTC's first segment is a line, ours begins at rest
            length = to_ns(first.trajectory.points[1].time_from_start)
            aside = (begin_ns, begin_ns + length + period)
        yield
        now_ns = arm.time_ns
        factor = 1.0
        if kind in ('replaced', 'spliced'):
            later = round(_LATER / (1e-9 * period)) if kind == 'spliced' else 0
            start_ns = now_ns + (1 + later) * period
            aside = (now_ns, start_ns)  # JTC leaves the first goal when it accepts
            ours = self.follower(accepted_ns, q)
            ways[0][1](ours, accepted_ns)
            at = ours.peek(start_ns).copy()
            second = self.drawn('quintic', at.q, at.v, start_ns, rng, at.a)
            ways.append((now_ns, lambda ours, at: ours.set_goal(of(second), at)))
            handle = self.send(second)
        elif kind == 'canceled':
            arm.result(handle.cancel_goal_async(), 'cancel')
            ways.append((now_ns, lambda ours, at: ours.cancel(at)))
        elif kind == 'scaled':
            factor = float(rng.uniform(0.3, 1.0))
            self.speed.publish(SpeedScalingFactor(factor=factor))
        yield round((_LENGTH / factor + _REST) / (1e-9 * period))
        end = arm.result(handle.get_result_async(), 'end').result.error_code
        if kind == 'scaled':
            self.speed.publish(SpeedScalingFactor(factor=1.0))
        ours, worst, rows = self.follower(accepted_ns, q), np.zeros(3), self.rows
        if kind == 'canceled' and now_ns not in rows:
            yield worst, 'left out, a message was lost'
        ended_ns = left_ns = 0  # when ours, and JTC's reference, leave a goal after a violation
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
            if end < 0 and np.abs(mine - theirs).max() > _EQUAL:  # JTC holds what it has measured
                left_ns = left_ns or time_ns
                held = [x.feedback.positions for at, x in rows.items() if at <= time_ns]
                far = np.abs(np.array(held) - theirs[0]).max(axis=1)
                mine = np.array([held[far.argmin()], still, still])
            if kind == 'tolerances' and ours.results and not ended_ns:
                ended_ns = time_ns
                aside = (time_ns, time_ns + period)  # JTC shows its hold in the next update
                code = int(ours.results[0].code)
                if code == _PATH != end and time_ns >= begin_ns + 1e9 * _LENGTH - period:
                    # JTC takes the time of the next update, and is at the end already.
                    yield worst, f'in the last period: JTC {end}, ours {code}'
            if time_ns >= begin_ns and not aside[0] <= time_ns < aside[1]:
                worst = np.maximum(worst, np.abs(mine - theirs).max(axis=1))
                self.states += 1
        codes = [int(each.code) for each in ours.results]
        same = codes[-1:] == [end] or (kind == 'canceled' and len(codes) == 1)
        words = f'both {end}' if same else f'JTC {end}, ours {codes}'
        if left_ns and left_ns != ended_ns:
            words += f', JTC {(left_ns - ended_ns) // period:+d} periods'
            if left_ns <= begin_ns:
                words += ', before the start'
        yield worst, words

    def follower(self, time_ns: int, q: np.ndarray) -> TrajectoryFollower:
        """Return a follower that holds q."""
        made = TrajectoryFollower(self.model, self.rules)
        made.activate(time_ns, q, 0.0 * q)
        return made

    def send(self, goal: FollowJointTrajectory.Goal):
        """Return the handle of an accepted goal; raise RuntimeError where JTC refuses it."""
        handle = self.arm.result(self.action.send_goal_async(goal), 'answer to the goal')
        if not handle.accepted:
            raise RuntimeError('joint_trajectory_controller refuses the goal')
        return handle

    def drawn(self, kind: str, q, v, start_ns: int, rng, a=None) -> FollowJointTrajectory.Goal:
        """Return a goal from a state (n,), there and back to rest."""
        n, names = len(q), self.names
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
        goal = self.arm.goal(points, start_ns, [names[k] for k in chosen])
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


if __name__ == '__main__':
    sys.exit(main())
