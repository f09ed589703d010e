"""effort = b(q, v, a_r) + J^T F: a spring and a damper, and along z the force of the goal."""

from contextlib import suppress
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from scipy.interpolate import BPoly
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
K = np.array([9e3, 9e3, 9e3, 300.0, 300.0, 300.0])
D = np.array([600.0, 600.0, 700.0, 25.0, 25.0, 25.0])


def seconds(stamp):
    """Return a stamp in seconds."""
    return stamp.sec + stamp.nanosec * 1e-9


class MyForceController(Node):
    """A controller that presses, by the topics of docs/your_controller.md."""

    def __init__(self):
        super().__init__('external_controller')
        self.model, self.t, self.motion, self.felt, self.state = None, np.inf, None, None, None
        self.create_subscription(JointTrajectory, '~/joint_trajectory', self.on_goal, 1)
        self.create_subscription(WrenchStamped, '~/wrench_goal', self.on_wrench_goal, 1)
        self.create_subscription(String, 'robot_description', self.on_robot, LATCHED)
        self.create_subscription(JointState, 'joint_states', self.on_state, 1)
        topic = 'force_torque_sensor_broadcaster/wrench'
        self.create_subscription(WrenchStamped, topic, self.on_wrench, 1)
        self.commands = self.create_publisher(JointState, 'joint_commands', 1)

    def on_robot(self, urdf):
        """Read the model of the arm, its rotors included."""
        self.model = pin.buildModelFromXML(urdf.data)
        for joint in ElementTree.fromstring(urdf.data).iterfind('joint/dynamics[@armature]/..'):
            index = self.model.joints[self.model.getJointId(joint.get('name'))].idx_v
            self.model.armature[index] = float(joint.find('dynamics').get('armature'))
        self.data, self.tip = self.model.createData(), self.model.nframes - 1

    def on_goal(self, goal):
        """Interpolate a trajectory."""
        rows = [(p.positions, p.velocities, p.accelerations) for p in goal.points]
        times = [seconds(point.time_from_start) for point in goal.points]
        if times[0] > 0.0:  # the motion to the first point begins here
            rows, times = [(self.hold, 0.0 * self.hold, 0.0 * self.hold), *rows], [0.0, *times]
        self.start, self.end = seconds(goal.header.stamp) or self.t, times[-1]
        self.motion = BPoly.from_derivatives(times, np.array(rows))

    def on_wrench_goal(self, goal):
        """Take the force along z [N] and its start [s]."""
        self.begin, self.force = seconds(goal.header.stamp), -goal.wrench.force.z

    def on_wrench(self, felt):
        """Take the reading of the force-torque sensor."""
        self.felt = felt
        self.answer()

    def on_state(self, state):
        """Take the state of the joints."""
        self.state = state
        self.answer()

    def motion_of_tip(self, q, v):
        """Return the tip's pose, its velocity [m/s, rad/s] and its Jacobian (6, n)."""
        pin.framesForwardKinematics(self.model, self.data, q)
        frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        jacobian = pin.computeFrameJacobian(self.model, self.data, q, self.tip, frame)
        return self.data.oMf[self.tip].copy(), jacobian @ v, jacobian

    def answer(self):
        """Command the effort for a state and the reading of the same instant."""
        state, felt = self.state, self.felt
        if None in (self.model, state, felt) or state.header.stamp != felt.header.stamp:
            return
        t, q, v = seconds(state.header.stamp), np.array(state.position), np.array(state.velocity)
        if t < self.t:  # the first state, or a reset
            self.motion, self.hold, self.begin, self.integral = None, q, np.inf, 0.0
        dt, self.t, r = max(t - self.t, 0.0), t, [self.hold, 0.0 * q, 0.0 * q]
        if self.motion is not None and t >= self.start:
            r = [self.motion(min(t - self.start, self.end), k) for k in range(3)]
        target, target_speed, _ = self.motion_of_tip(r[0], r[1])
        tip, speed, jacobian = self.motion_of_tip(q, v)
        sensor, f = self.data.oMf[self.model.getFrameId(felt.header.frame_id)], felt.wrench.force
        pushed = (sensor.rotation @ [f.x, f.y, f.z])[2]
        turn = pin.log3(target.rotation @ tip.rotation.T)
        wrench = K * np.append(target.translation - tip.translation, turn)
        wrench += D * (target_speed - speed)
        if t >= self.begin:
            self.integral += 20.0 * dt * (self.force - pushed) * (pushed > 0.5)
            wrench[2] = -self.force - self.integral - D[2] * speed[2]
        effort = pin.rnea(self.model, self.data, q, v, r[2]) + jacobian.T @ wrench
        state.header.frame_id = self.get_name()  # the stamp stays that of the answered state
        command = JointState(header=state.header, name=state.name, effort=effort.tolist())
        self.commands.publish(command)


rclpy.init()
with suppress(KeyboardInterrupt):
    rclpy.spin(MyForceController())
