"""The loop without ROS gives what the nodes give over topics, to the last bit."""

import numpy as np
import yaml
from arm_system import HOME, MODEL, ArmSystem
from arm_system import goal as action_goal
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from arm_controllers.base_node import RECORD_QOS
from arm_controllers.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.follower import TrajectoryFollower
from arm_controllers.follower_parameters import FollowerParameters
from arm_controllers.messages import goal_from_message, to_ns, trajectory_message
from arm_dynamics.robots import share_folder
from arm_sim.closed_loop import run_closed_loop
from arm_sim.mujoco_plant import MujocoPlant
from arm_sim.plant import PlantParameters
from arm_sim.sinusoid_run import SinusoidTaskParameters, sinusoid_goal


def parameters(section):
    text = (share_folder() / 'config' / 'ur5e.yaml').read_text()
    return yaml.safe_load(text).get(section, {}).get('ros__parameters', {})


def test_computed_torque_over_topics_equals_the_loop_without_ros_bit_for_bit():
    sinusoid = SinusoidTaskParameters('ur5e', frequency=1.0)
    wanted, _ = sinusoid_goal(MODEL, sinusoid, np.full(6, 0.2), HOME)
    message = trajectory_message(wanted)

    with ArmSystem() as system:
        data: list[bytes] = []
        system.node.create_subscription(
            JointState, 'joint_states', data.append, RECORD_QOS, raw=True
        )
        system.simulator('start_paused:=true')
        system.controller('computed_torque')
        system.wait(lambda: len(system.states) > 0, 'state')
        request = action_goal([], [])
        request.trajectory = message
        _, future = system.send('computed_torque_controller', request)
        system.pause(False)
        system.result(future, 'end of the goal', 60.0)
        system.pause()
        system.spin(1.0)
    states = [deserialize_message(each, JointState) for each in data]
    topics = {to_ns(s.header.stamp): (s.position, s.velocity) for s in states}

    shared, own = parameters('/**'), parameters('computed_torque_controller')
    plant = MujocoPlant(
        MODEL,
        PlantParameters(
            'torque', armature=tuple(shared['armature']), damping=tuple(shared['damping'])
        ),
    )
    law = ComputedTorque(
        MODEL,
        ComputedTorqueParameters(
            tuple(own['kp']), tuple(own['kd']), tuple(shared['armature']), tuple(shared['damping'])
        ),
    )
    follower = TrajectoryFollower(MODEL, FollowerParameters())
    follower.activate(0, HOME, np.zeros(6))
    follower.set_goal(goal_from_message(message), 0)

    def reference(t, out):
        out.row[:] = follower.update(round(t * 1e9), plant.q.copy(), plant.v.copy()).row

    plant.reset(HOME)
    record = run_closed_loop(plant, law, reference, wanted.times[-1])
    rows = [topics[round(t * 1e9)] for t in record.t]
    assert len(rows) > 500
    np.testing.assert_array_equal([q for q, _ in rows], record.q)
    np.testing.assert_array_equal([v for _, v in rows], record.v)
