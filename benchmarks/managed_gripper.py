"""Gripper, mimic joint, force-torque sensor and limits under an installed ros2_control.

    ./ws python benchmarks/managed_gripper.py --enforce

A UR5e with the parallel gripper in lock-step gets goals within and beyond its limits, with
`--enforce` under the manager's enforce_command_limits. Without an installed ros2_control this
prints what is missing.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from conditions import own_domain, print_conditions
from geometry_msgs.msg import WrenchStamped
from managed_arm import ManagedArm, missing
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from arm_controllers.ros.messages import to_ns

ROBOT, RATE, FINGERS = 'ur5e gripper:=parallel', 250, ('left_finger_joint', 'right_finger_joint')
SENSOR = 'simulator: {ros__parameters: {force_torque: {frame: gripper_base}}}'
# Name of a goal, of its joint, where that goes [rad, m], in which time [s].
GOALS = (
    ('close', FINGERS[0], 0.01, 0.6),
    ('open beyond the limit of 0.0425 m', FINGERS[0], 0.06, 0.6),
    ('turn faster than 3.14 rad/s', 'shoulder_pan_joint', -0.07, 0.3),
)


def main() -> int:
    """Print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--enforce', action='store_true', help="the manager's limits of commands")
    given = parser.parse_args()
    if what := missing():
        print(f'ros2_control is not installed here ({what}): nothing was measured')
        return 0
    own_domain()
    print_conditions()
    config = Path(tempfile.mkdtemp()) / 'sensor.yaml'
    config.write_text(SENSOR)
    line = f'    enforce_command_limits: {str(given.enforce).lower()}\n'
    extra = '    interpolate_from_desired_state: true\n'
    arm = ManagedArm(ROBOT, RATE, extra, of_manager=line, config=str(config))
    try:
        show(arm)
    finally:
        arm.end()
    return 0


def show(arm: ManagedArm) -> None:
    """Send the goals, and print what the manager sent and what the arm did."""
    sent, seen, wrenches, deep = [], [], [], QoSProfile(depth=1000)
    for kind, topic, to in (
        (JointState, '/robot_joint_commands', sent),
        (JointState, '/joint_states', seen),
        (WrenchStamped, '/force_torque_sensor_broadcaster/wrench', wrenches),
    ):
        arm.node.create_subscription(kind, topic, to.append, deep)
    while not (sent and seen and wrenches):
        arm.run(20)
        arm.settle()
    q = np.array(arm.references[-1].reference.positions)
    wrenches.clear()
    for name, joint, to, lasts in GOALS:
        sent.clear()
        there, still = q.copy(), np.zeros_like(q)
        there[arm.names.index(joint)] = to
        points = [(0.0, q, still, still), (lasts, there, still, still)]
        arm.send(arm.goal(points, arm.time_ns + 3 * arm.period_ns))
        arm.run(RATE)
        arm.settle()
        commands = np.array([x.position[x.name.index(joint)] for x in sent])
        speed = np.abs(np.diff(commands)).max() * RATE
        print(
            f'{name}: {len(commands)} commands, the last one {commands[-1]:.4f}, largest speed '
            f'{speed:.4f}; the joint is at {of(seen[-1], joint):.4f}'
        )
        q = there
    fingers = np.array([[of(each, name) for name in FINGERS] for each in seen])
    apart = np.abs(np.diff(fingers, axis=1)).max()
    stamps = np.array([to_ns(each.header.stamp) for each in wrenches])
    print(f'mimic joint: {apart:.2g} m from its leader, which moved by {np.ptp(fingers):.3f} m')
    periods = ', '.join(f'{x:g}' for x in sorted({*np.diff(np.unique(stamps)) / 1e6}))
    print(f'wrenches: {len(np.unique(stamps))}, every {periods} ms')
    print(arm.counts())


def of(message: JointState, joint: str) -> float:
    """Return the position of a joint."""
    return message.position[message.name.index(joint)]


if __name__ == '__main__':
    sys.exit(main())
