"""A controller of one's own: effort = M(q) (a_r + 400 (q_r - q) + 40 (v_r - v)) + b(q, v)."""

from contextlib import suppress
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from scipy.interpolate import BPoly
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def seconds(stamp):
    """Return a stamp or a duration [s]."""
    return stamp.sec + stamp.nanosec * 1e-9


class ComputedTorque(Node):
    """Answers each state with efforts; follows goals on ~/joint_trajectory, and checks none."""

    def __init__(self):
        super().__init__('my_controller')
        self.model, self.t, self.goal = None, np.inf, None
        self.create_subscription(JointTrajectory, '~/joint_trajectory', self.on_goal, 1)
        self.create_subscription(String, 'robot_description', self.on_robot, LATCHED)
        self.create_subscription(JointState, 'joint_states', self.on_state, 1)
        self.commands = self.create_publisher(JointState, 'joint_commands', 1)

    def on_robot(self, urdf):
        """Take the model of the arm."""
        self.model = pin.buildModelFromXML(urdf.data)
        for joint in ElementTree.fromstring(urdf.data).iterfind('joint/dynamics[@armature]/..'):
            index = self.model.joints[self.model.getJointId(joint.get('name'))].idx_v
            self.model.armature[index] = float(joint.find('dynamics').get('armature'))
        self.data = self.model.createData()

    def on_goal(self, goal):
        """Begin a motion from where the arm is held."""
        rows = [(p.positions, p.velocities, p.accelerations) for p in goal.points]
        times = [seconds(point.time_from_start) for point in goal.points]
        if times[0] > 0.0:
            rows, times = [(self.hold, 0.0 * self.hold, 0.0 * self.hold), *rows], [0.0, *times]
        self.start, self.end = seconds(goal.header.stamp) or self.t, times[-1]
        self.goal = BPoly.from_derivatives(times, np.array(rows))

    def on_state(self, state):
        """Answer a state."""
        if self.model is None:
            return
        t, q, v = seconds(state.header.stamp), np.array(state.position), np.array(state.velocity)
        if t < self.t:  # the first state, or a reset
            self.goal, self.hold = None, q
        self.t = t
        r = [self.hold, 0.0 * q, 0.0 * q]
        if self.goal is not None and t >= self.start:
            r = [self.goal(min(t - self.start, self.end), k) for k in range(3)]
            self.hold = r[0]
        a = r[2] + 400.0 * (r[0] - q) + 40.0 * (r[1] - v)
        effort = pin.rnea(self.model, self.data, q, v, a).tolist()
        state.header.frame_id = self.get_name()  # the stamp stays that of the answered state
        self.commands.publish(JointState(header=state.header, name=state.name, effort=effort))


def main():
    """Run the node."""
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(ComputedTorque())


if __name__ == '__main__':
    main()
