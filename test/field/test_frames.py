"""Frames and orientations: rounded quaternions, bases that are not the root, arms on walls."""

from functools import partial

import numpy as np
import pinocchio as pin
import pytest
from domains import fresh_domain
from field import joint, limits, link, model_of
from following import MODEL
from geometry_msgs.msg import Pose

from arm_controllers.ros.pose_messages import pose_from_message, pose_to_message
from arm_dynamics.checks import ArmError
from arm_dynamics.inverse_kinematics.solve import solve_ik
from arm_sim.engines.mujoco import MujocoPlant

READY = np.array([0.3, -1.2, 1.5, -0.9, 1.1, 0.4])
WALL = '<origin xyz="0.5 0 0.7" rpy="1.5707963267948966 0 0"/>'


def pose_of(digits, rotation, position=(0.0, 0.0, 0.0)):
    """Return a message whose quaternion is rounded."""
    message = Pose()
    turn = np.round(pin.Quaternion(rotation).coeffs(), digits)
    for own, values in ((message.position, position), (message.orientation, turn)):
        for name, value in zip('xyzw', values, strict=False):
            setattr(own, name, float(value))
    return message


def test_three_digits_of_a_quaternion_have_no_solution():
    """PilzDE/pilz_industrial_motion#60. They are normalised.

    Each number is off by 0.0005 at most, all four by 0.001: the turn by 2 mrad at most. The
    solution is that for the pose so turned.
    """
    rng = np.random.default_rng(60)
    for _ in range(1000):
        turn = pin.Quaternion(rng.normal(size=4)).normalized().toRotationMatrix()
        read = pose_from_message(pose_of(3, turn)).rotation
        assert np.linalg.norm(pin.log3(turn.T @ read)) < 2e-3 / (1.0 - 1e-3)
    tip = pin.SE3(MODEL.forward_kinematics(READY))
    asked = pose_from_message(pose_of(3, tip.rotation, tip.translation))
    result = solve_ik(MODEL, asked, READY)
    assert result.success, result.reason
    away = asked.actInv(pin.SE3(MODEL.forward_kinematics(result.q)))
    assert np.linalg.norm(away.translation) < 2e-6
    assert np.linalg.norm(pin.log3(away.rotation)) < 2e-5


def test_six_digits_move_the_arm_and_four_do_not():
    """moveit/moveit#1458. Three digits are enough.

    Half of a right angle's sine, 0.70711, twice: with 3 to 6 digits it is a turn of 90 degrees.
    With two, (0.71, 0.71) has the length 1.004: refused with the numbers to write.
    """
    quarter = pin.utils.rotate('y', 0.5 * np.pi)
    for digits in (3, 4, 5, 6):
        read = pose_from_message(pose_of(digits, quarter))
        np.testing.assert_allclose(read.rotation, quarter, atol=1e-12)
    with pytest.raises(ArmError, match='not 1.00409: write 0, 0.707107, 0, 0.707107'):
        pose_from_message(pose_of(2, quarter))


@pytest.fixture
def solver(monkeypatch, tmp_path):
    """Return what makes the IK node of an arm of XML parts."""
    rclpy = pytest.importorskip('rclpy')
    from arm_tools.cartesian.ros.inverse_kinematics_node import InverseKinematicsNode

    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    made = []

    def make(parts):
        file = tmp_path / 'arm.urdf'
        file.write_text(f'<robot name="field">{"".join(parts)}</robot>')
        rclpy.init(args=['--ros-args', '-p', f'robot:={file}'])
        made.append(InverseKinematicsNode())
        return made[0]

    yield make
    made[0].destroy_node()
    rclpy.try_shutdown()


ARM = (
    link('base', 0.0), link('a', 2.0), link('tip'),
    joint('turn', 'base', 'a', limits(-2.0, 2.0), axis='0 1 0'),
    joint('slide', 'a', 'tip', limits(0.1, 1.0), 'prismatic', axis='1 0 0'),
)  # fmt: skip
FOOT = joint('foot', 'root', 'base', kind='fixed').replace('<origin xyz="0 0 0"/>', WALL)
ON_WALL = (link('root', 0.0), FOOT, *ARM)


def test_a_pose_in_the_axes_of_a_turned_base_is_missed(solver):
    """isaac-sim/IsaacLab#911. The header names the axes; else they are the root's.

    The arm hangs on a wall at (0.5, 0, 0.7) m: its pose in `base` gives the joints that it has
    without a wall. As a pose of the root it is another place, which the arm does not reach.
    """
    from arm_interfaces.srv import ComputeIK

    q = np.array([0.4, 0.5])
    node, on_table = solver(ON_WALL), model_of(*ARM)
    ask = partial(ComputeIK.Request, seed=[0.0, 0.3])
    target = pose_to_message(pin.SE3(on_table.forward_kinematics(q)), 'base')
    response = ComputeIK.Response()
    node.compute_ik(ask(target=target), response)
    assert response.success, response.reason
    np.testing.assert_allclose(response.position, q, atol=1e-5)
    target.header.frame_id = ''
    node.compute_ik(ask(target=target), response)
    assert not response.success
    target.header.frame_id = 'bse'
    with pytest.raises(ArmError, match="'bse'.*base"):
        node.compute_ik(ask(target=target), response)


def test_an_arm_on_a_wall_has_the_gravity_of_a_table():
    """Kinovarobotics/kinova-ros#413. The URDF's turn is enough.

    On a table the axis of `turn` is horizontal: the tip's 1 kg at 0.5 m gives -4.905 N.m (the 2 kg
    are in the axis). On the wall, turned by 90 degrees about x, the axis is vertical: no torque.
    The engine has the same, with nothing to set.
    """
    q = np.array([0.0, 0.5])
    for parts, torque in ((ARM, -9.81 * 0.5), (ON_WALL, 0.0)):
        model = model_of(*parts)
        np.testing.assert_allclose(model.gravity_torque(q)[0], torque, atol=1e-12)
        plant = MujocoPlant(model, MujocoPlant.Parameters(actuator='torque'))
        plant.reset(q)
        np.testing.assert_allclose(plant.bias_torque(), model.gravity_torque(q), atol=1e-9)
