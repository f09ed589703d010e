"""The inverse kinematics node over ROS: right answers, named refusals, no request dropped."""

import os
import time
import unittest

import launch
import launch_ros.actions
import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pinocchio as pin
import pytest
import rclpy
from geometry_msgs.msg import PoseArray
from ikpy_solver import PLUGIN
from long_wait import LONG_WAIT, ask
from plugins import write_plugins
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from arm_controllers.ros.pose_messages import pose_from_message, pose_to_message
from arm_controllers.ros.qos import SERVICE_QOS
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_dynamics.temporary_folder import temporary_folder
from arm_interfaces.srv import ComputeFK, ComputeIK, ComputeIKPath

Q = np.array([0.4, -1.2, 1.3, -0.7, 1.1, 0.2])


def path_of(positions, rotation):
    return PoseArray(poses=[pose_to_message(pin.SE3(rotation, p), '').pose for p in positions])


@pytest.mark.launch_test
def generate_test_description():
    plugins = write_plugins(temporary_folder() / 'site', *PLUGIN)
    node = launch_ros.actions.Node(
        package='arm_sim',
        executable='inverse_kinematics',
        parameters=[{'robot': 'ur5e'}],
        sigterm_timeout=str(LONG_WAIT),
        additional_env={'PYTHONPATH': f'{plugins}:{os.environ["PYTHONPATH"]}'},
    )
    return launch.LaunchDescription([node, launch_testing.actions.ReadyToTest()])


class TestServices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rclpy.init()
        cls.node = rclpy.create_node('ik_test')
        cls.model = RobotModel.from_urdf(find_urdf('ur5e'))
        cls.ik = cls.node.create_client(ComputeIK, 'compute_ik')
        cls.fk = cls.node.create_client(ComputeFK, 'compute_fk')
        cls.path = cls.node.create_client(ComputeIKPath, 'compute_ik_path')
        for client in (cls.ik, cls.fk, cls.path):
            assert client.wait_for_service(LONG_WAIT), client.srv_name

    @classmethod
    def tearDownClass(cls):
        cls.node.destroy_node()
        rclpy.try_shutdown()

    def call(self, client, request):
        return ask(self.wait, client, request)

    def wait(self, condition):
        end = time.monotonic() + LONG_WAIT
        while not condition():
            assert time.monotonic() < end, 'no answer'
            rclpy.spin_once(self.node, timeout_sec=0.02)

    def target(self, q=Q, frame=None):
        return pose_to_message(self.model.forward_kinematics(q, frame), self.model.base_frame)

    def assert_reaches(self, q, target, frame=None):
        pose = self.model.forward_kinematics(q, frame).homogeneous
        np.testing.assert_allclose(pose, pose_from_message(target.pose).homogeneous, atol=2e-6)

    def test_a_pose_is_solved_near_the_seed(self):
        request = ComputeIK.Request(target=self.target(), seed=(Q + 0.05).tolist())
        response = self.call(self.ik, request)
        assert response.success, response.reason
        assert response.joint_names == list(self.model.joint_names)
        np.testing.assert_allclose(response.position, Q, atol=1e-6)

    def test_a_solver_of_a_users_package_answers_next_to_ours(self):
        request = ComputeIK.Request(
            target=self.target(),
            solver='ikpy',
            position_tolerance=1e-4,
            orientation_tolerance=1e-3,
        )
        response = self.call(self.ik, request)
        assert response.success, response.reason
        assert response.solver == 'ikpy'
        pose = self.model.forward_kinematics(np.array(response.position))
        asked = pose_from_message(request.target.pose).translation
        np.testing.assert_allclose(pose.translation, asked, atol=1e-4)

    def test_forward_kinematics_takes_joints_in_any_order(self):
        names = list(reversed(self.model.joint_names))
        request = ComputeFK.Request(
            joint_names=names, position=Q[::-1].tolist(), frame='wrist_2_link'
        )
        response = self.call(self.fk, request)
        assert response.success, response.reason
        assert response.pose.header.frame_id == 'base_link'
        self.assert_reaches(Q, response.pose, 'wrist_2_link')

    def test_a_target_in_a_moving_frame_is_where_the_seed_has_that_frame(self):
        request = ComputeIK.Request(seed=Q.tolist())
        request.target.header.frame_id = 'tool0'
        request.target.pose.position.z = 0.02
        response = self.call(self.ik, request)
        assert response.success, response.reason
        expected = self.model.forward_kinematics(Q) * pin.SE3(np.eye(3), np.array([0, 0, 0.02]))
        found = self.model.forward_kinematics(response.position)
        np.testing.assert_allclose(found.homogeneous, expected.homogeneous, atol=2e-6)

    def set(self, **values):
        client = self.node.create_client(SetParameters, 'inverse_kinematics/set_parameters')
        assert client.wait_for_service(LONG_WAIT)
        given = [Parameter(pair[0], value=pair[1]).to_parameter_msg() for pair in values.items()]
        return self.call(client, SetParameters.Request(parameters=given)).results[0]

    def test_a_parameter_that_cannot_change_is_refused_when_it_is_set(self):
        result = self.set(tip_frame='flange')
        assert not result.successful
        assert 'tip_frame cannot change while the node runs' in result.reason

    def test_a_solver_that_is_set_answers_from_then_on_and_an_unknown_one_is_refused(self):
        assert not self.set(solver='guess').successful
        for solver in ('analytic', 'levenberg_marquardt', 'auto'):
            result = self.set(solver=solver)
            assert result.successful, result.reason
            request = ComputeIK.Request(target=self.target(), seed=Q.tolist())
            used = self.call(self.ik, request).solver
            assert used == ('analytic' if solver == 'auto' else solver)

    def test_joint_states_are_the_seed_of_a_request_without_one(self):
        publisher = self.node.create_publisher(JointState, 'joint_states', 1)
        while publisher.get_subscription_count() == 0:
            rclpy.spin_once(self.node, timeout_sec=0.05)
        names = list(self.model.joint_names)
        other_turn = Q - 2 * np.pi * np.eye(6)[5]
        state = JointState(name=names[::-1], position=other_turn[::-1].tolist())

        def is_near():
            publisher.publish(state)
            response = self.call(self.ik, ComputeIK.Request(target=self.target()))
            return np.abs(np.array(response.position) - other_turn).max() < 1e-6

        self.wait(is_near)

    def test_a_path_of_three_thousand_poses_is_solved(self):
        start = self.model.forward_kinematics(Q)
        positions = start.translation + np.linspace(0, 0.1, 3000)[:, None] * np.array([0, 1, 0])
        path = path_of(positions, start.rotation)
        response = self.call(self.path, ComputeIKPath.Request(path=path, seed=Q.tolist()))
        assert response.success, response.reason
        assert response.first_failure == -1
        q = np.array(response.positions).reshape(3000, 6)
        assert np.abs(np.diff(q, axis=0)).max() < 0.001
        assert response.max_position_error < 1e-06

    def test_an_impossible_path_names_its_first_impossible_pose(self):
        start = self.model.forward_kinematics(Q)
        positions = start.translation + np.linspace(0, 2.0, 100)[:, None] * np.array([1, 0, 0])
        path = path_of(positions, start.rotation)
        response = self.call(self.path, ComputeIKPath.Request(path=path, seed=Q.tolist()))
        assert not response.success
        assert response.first_failure > 0
        assert f'pose {response.first_failure}: out of reach' in response.reason

    def test_a_path_may_leave_the_orientation_or_one_axis_free(self):
        start = self.model.forward_kinematics(Q)
        positions = start.translation + np.linspace(0, 0.1, 50)[:, None] * np.array([0, 1, 0])
        path = path_of(positions, start.rotation)
        turned = start.rotation @ pin.exp3(np.array([0, 0, 2.0]))
        path.poses[1:] = path_of(positions[1:], turned).poses
        free = [1e-6] * 5 + [np.inf]
        for name, value in (('position_only', True), ('axis_tolerances', free)):
            request = ComputeIKPath.Request(path=path, seed=Q.tolist(), **{name: value})
            response = self.call(self.path, request)
            assert response.success, response.reason
            q = np.array(response.positions).reshape(50, 6)
            tips = [self.model.forward_kinematics(each) for each in q]
            np.testing.assert_allclose([t.translation for t in tips], positions, atol=2e-6)
            assert np.abs(np.diff(q, axis=0)).max() < 0.05  # the turn is not followed
            if name == 'axis_tolerances':
                approach = np.array([t.rotation[:, 2] for t in tips])
                np.testing.assert_allclose(approach, approach[:1].repeat(50, 0), atol=2e-6)

    def test_a_path_is_timed_on_request_within_limits_ready_to_send(self):
        start = self.model.forward_kinematics(Q)
        corners = start.translation + np.array([(0, 0, 0), (0, 0.1, 0), (0, 0.1, 0.1)])
        path = path_of(corners, start.rotation)
        request = ComputeIKPath.Request(
            path=path,
            seed=Q.tolist(),
            timing='quintic',
            acceleration_limits=[4.0],
            tip_speed_limit=0.2,
        )
        response = self.call(self.path, request)
        assert response.success, response.reason
        assert len(response.positions) == 3 * 6  # of the poses, as without a timing
        assert response.trajectory.joint_names == list(self.model.joint_names)
        points = response.trajectory.points
        np.testing.assert_allclose(points[0].positions, Q, atol=1e-6)
        np.testing.assert_allclose(points[-1].positions, response.positions[-6:], atol=1e-5)
        self.assert_reaches(
            np.array(points[-1].positions),
            pose_to_message(pin.SE3(start.rotation, corners[-1]), ''),
        )
        assert max(np.abs(point.accelerations).max() for point in points) <= 4.0 + 1e-9
        assert 0.0 < response.tip_speed <= 0.2 + 1e-9
        used = response.velocity_share, response.acceleration_share, response.effort_share
        assert max(*used, response.tip_speed / 0.2) > 0.999
        untimed = self.call(self.path, ComputeIKPath.Request(path=path, seed=Q.tolist()))
        assert not untimed.trajectory.points
        assert untimed.positions == response.positions

    def test_every_malformed_request_is_answered_with_its_reason(self):
        far = pose_to_message(pin.SE3(np.eye(3), np.array([5.0, 0, 0])), '')
        no_rotation = self.target()
        no_rotation.pose.orientation.w = no_rotation.pose.orientation.x = 0.0
        no_rotation.pose.orientation.y = no_rotation.pose.orientation.z = 0.0
        infinite = self.target()
        infinite.pose.position.x = float('inf')
        nowhere = self.target()
        nowhere.header.frame_id = 'nose'
        tip = self.model.forward_kinematics(Q)
        line = path_of(tip.translation + np.array([(0, 0, 0), (0, 0.1, 0)]), tip.rotation)
        cases = [
            (self.ik, ComputeIK.Request(target=far), 'out of reach'),
            (self.ik, ComputeIK.Request(target=no_rotation), 'quaternion of norm 1, not 0'),
            (self.ik, ComputeIK.Request(target=infinite), 'must be finite'),
            (
                self.ik,
                ComputeIK.Request(target=self.target(), orientation_tolerance=float('inf')),
                'orientation_tolerance is inf; it must be finite, and not negative',
            ),
            (self.ik, ComputeIK.Request(target=nowhere), "no frame 'nose'"),
            (self.ik, ComputeIK.Request(target=self.target(), tip_frame='ear'), "no frame 'ear'"),
            (self.ik, ComputeIK.Request(target=self.target(), seed=[0.0]), 'has length 1, '),
            (
                self.ik,
                ComputeIK.Request(target=self.target(), seed=[np.nan] * 6),
                'must be finite',
            ),
            (self.ik, ComputeIK.Request(target=self.target(), solver='magic'), 'no IK solver'),
            (
                self.ik,
                ComputeIK.Request(target=self.target(), position_tolerance=-1.0),
                'position_tolerance is -1.0',
            ),
            (
                self.ik,
                ComputeIK.Request(target=self.target(), axis_tolerances=[1.0]),
                '(inf for a free axis), not [1.0]',
            ),
            (self.fk, ComputeFK.Request(position=[0.0]), '1 position values'),
            (self.fk, ComputeFK.Request(position=[np.nan] * 6), 'not finite'),
            (self.path, ComputeIKPath.Request(path=PoseArray()), 'no pose'),
            (
                self.path,
                ComputeIKPath.Request(path=line, timing='magic'),
                'given, quintic, toppra',
            ),
            (
                self.path,
                ComputeIKPath.Request(path=line, timing='quintic', effort_limits=[9.0]),
                "joint 'shoulder_lift_joint': torque against gravity",
            ),
        ]
        for client, request, reason in cases:
            with self.subTest(reason=reason):
                response = self.call(client, request)
                assert not response.success
                assert reason in response.reason

    def test_many_clients_at_once_all_get_their_own_answer(self):
        rng = np.random.default_rng(1)
        # A client's reader gets every client's answers: ROS's own depth of 10 would lose some.
        clients = [
            self.node.create_client(ComputeIK, 'compute_ik', qos_profile=SERVICE_QOS)
            for _ in range(20)
        ]
        for client in clients:
            assert client.wait_for_service(LONG_WAIT)
            # ROS can lose the first answer to a client that has just come.
            self.call(client, ComputeIK.Request(target=self.target(), seed=Q.tolist()))
        asked = []
        for k in range(200):
            q = self.model.random_configuration(rng)
            request = ComputeIK.Request(target=self.target(q), seed=q.tolist())
            asked.append((q, clients[k % 20].call_async(request)))
        for q, future in asked:
            rclpy.spin_until_future_complete(self.node, future, timeout_sec=LONG_WAIT)
            assert future.done(), 'no answer'
            np.testing.assert_allclose(future.result().position, q, atol=1e-5)
        for client in clients:
            self.node.destroy_client(client)


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_the_node_ends_cleanly(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
