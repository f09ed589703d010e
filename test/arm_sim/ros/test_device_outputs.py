"""The topics of sensors: stamps, frames, numbers, and the tare."""

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from long_wait import ask, spin_until
from nodes_in_process import started
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from arm_controllers.ros.qos import LATCHED_QOS, RECORD_QOS

PARAMETERS = {
    'force_torque.frame': 'wrist_3_link',
    'force_torque.tare_periods': '2',
    'imu.frame': 'tool0',
    'joint_torque.enabled': 'true',
    'scene': 'table',
    'contact_switches': '[tool0]',
}


def test_readings_have_the_stamp_of_their_state_and_the_tare_ends_the_weight(tmp_path):
    arguments = [word for name, x in PARAMETERS.items() for word in ('-p', f'{name}:={x}')]
    with started('simulator', tmp_path, *arguments) as simulator:
        node, executor = rclpy.create_node('listener'), SingleThreadedExecutor()
        for each in (simulator, node):
            executor.add_node(each)
        heard: dict[str, list] = {}

        def listen(kind, topic, qos=RECORD_QOS):
            heard[topic] = []
            node.create_subscription(kind, topic, heard[topic].append, qos)

        listen(WrenchStamped, 'force_torque_sensor_broadcaster/wrench')
        listen(Imu, 'imu_sensor_broadcaster/imu')
        listen(JointState, 'joint_states')
        listen(Bool, 'contact_switches/tool0', LATCHED_QOS)
        tare = node.create_client(Trigger, 'force_torque_sensor_broadcaster/tare')

        spin_until(executor, lambda: all(heard.values()))
        wrench, imu, state, switch = (each[-1] for each in heard.values())
        assert wrench.header.stamp == imu.header.stamp == state.header.stamp
        assert (wrench.header.frame_id, imu.header.frame_id) == ('wrist_3_link', 'tool0')
        plant = simulator.simulation.plant
        numbers = [
            getattr(part, axis)
            for part in (wrench.wrench.force, wrench.wrench.torque)
            for axis in 'xyz'
        ]
        np.testing.assert_array_equal(numbers, plant.measured.wrench)
        assert np.linalg.norm(numbers[:3]) > 1.0
        parts = (
            (imu.orientation, 'xyzw'),
            (imu.angular_velocity, 'xyz'),
            (imu.linear_acceleration, 'xyz'),
        )
        numbers = [getattr(part, axis) for part, axes in parts for axis in axes]
        np.testing.assert_array_equal(numbers, plant.measured.readings['imu'])
        np.testing.assert_array_equal(state.effort, plant.measured.effort)
        assert np.abs(plant.measured.effort).max() > 1.0
        assert not switch.data
        answer = ask(lambda holds: spin_until(executor, holds), tare, Trigger.Request())
        assert answer.message == 'tared by the next 2 readings'
        for _ in range(3):
            simulator.simulation.advance(None)
        np.testing.assert_allclose(plant.measured.wrench, 0.0, atol=0.1)
        executor.shutdown()
        node.destroy_node()


def test_faults_start_and_end_by_the_parameter_and_mistakes_are_refused(tmp_path):
    joint = 'elbow_joint'
    with started('simulator', tmp_path) as node:
        simulation = node.simulation

        def set_to(faults):
            return node.set_parameters([Parameter('faults', value=faults)])[0]

        refused = set_to('[{kind: stuck_joint, joint: knee}]')
        assert not refused.successful
        assert "faults: joint 'knee'" in refused.reason
        simulation.advance(None)
        assert set_to(f'[{{kind: offset_encoder, joint: {joint}, value: 0.5}}]').successful
        simulation.advance(None)
        plant = simulation.plant
        place = plant.joint_names.index(joint)
        assert abs(plant.measured.q[place] - plant.q[place] - 0.5) < 1e-12
        simulation.reset()  # the fault is still there
        assert abs(plant.measured.q[place] - plant.q[place] - 0.5) < 1e-12
        assert set_to('').successful
        simulation.advance(None)
        np.testing.assert_array_equal(plant.measured.q, plant.q)
