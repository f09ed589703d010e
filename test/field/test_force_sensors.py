"""Force-torque sensors: signs and frames, the weight of tools, tare and turn."""

import numpy as np
import pinocchio as pin
import pytest

from arm_dynamics.model_error import ModelError, with_error
from arm_sim.devices.force_torque import ForceTorqueParameters, ForceTorqueSensor
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot

UR5E = Robot.load('ur5e')
G, MASS = 9.81, 1.5
DOWN = np.array([-1.57, -1.57, -1.57, -1.57, 1.57, 0.0])  # the tool's z axis points down
OPTIONS = {
    'actuator': 'torque', 'timestep': 1e-3, 'integrator': 'implicitfast',
    'force_torque_frame': 'tool0',
}  # fmt: skip


def turned(q, wrist):
    """Return a configuration whose tool is turned about wrist_1, a horizontal axis [rad]."""
    return q + wrist * np.eye(6)[3]


def arm_at(q, mass=0.0, **parameters):
    """Return a UR5e at rest with a load at its tool, and the rotation of its tool."""
    model = with_error(UR5E.model, ModelError(payload=mass)) if mass else UR5E.model
    plant = MujocoPlant(model, MujocoPlant.Parameters(**OPTIONS | parameters))
    plant.reset(q)
    return plant, UR5E.model.forward_kinematics(q, 'tool0').rotation


def reading(mass=0.0, q=DOWN, **parameters):
    return arm_at(q, mass, **parameters)[0].measured.wrench


def pushed(q, wrench):
    """Return the reading while a wrench in axes of the base acts at the tool, and its rotation."""
    plant, _ = arm_at(q)
    plant.apply_wrench('tool0', wrench)
    plant.step(UR5E.model.gravity_torque(q))
    return plant.measured.wrench, UR5E.model.forward_kinematics(plant.q, 'tool0').rotation


def test_wrenches_are_in_base_axes_whatever_the_frame():
    """UniversalRobots/Universal_Robots_ROS2_Driver#235. Axes are those of the frame.

    20 N along x of the base is R^T (20, 0, 0) N in the tool's axes, in each of two poses;
    nothing heavy is beyond the sensor.
    """
    for q in (DOWN, turned(DOWN, 0.7)):
        found, rotation = pushed(q, np.array([20.0, 0, 0, 0, 0, 0]))
        np.testing.assert_allclose(found[:3], rotation.T @ [20.0, 0.0, 0.0], atol=1e-9)


def test_forces_have_the_sign_of_the_arm_on_the_world():
    """ros-pybullet/ros_pybullet_interface#6. A wrench is that of the world on the tool.

    A load of 1.5 kg pulls down: the force is R^T (0, 0, -1.5 * 9.81) N.
    """
    plant, rotation = arm_at(DOWN, MASS)
    np.testing.assert_allclose(
        plant.measured.wrench[:3], rotation.T @ [0.0, 0.0, -MASS * G], atol=1e-9
    )


def test_a_model_turned_by_90_degrees_has_other_forces():
    """osrf/drcsim#193. The weight stays the same.

    The first joint turns about the vertical: the reading stays.
    """
    one = reading(MASS)
    other = reading(MASS, DOWN + 0.5 * np.pi * np.eye(6)[0])
    np.testing.assert_allclose(other, one, atol=1e-9)


def test_torques_refer_to_the_joint_and_not_to_the_sensor():
    """gazebosim/sdformat#130. Torques are about the sensor's origin.

    A force of 20 N at the tool makes no torque in tool0; about the wrist's link before it, the
    torque is r x F with the way r from there to the tool.
    """
    push = np.array([20.0, 0, 0, 0, 0, 0])
    tip, _ = pushed(DOWN, push)
    np.testing.assert_allclose(tip[3:], 0.0, atol=1e-9)
    sensor = UR5E.model.forward_kinematics(DOWN, 'wrist_3_link')
    tool = UR5E.model.forward_kinematics(DOWN, 'tool0')
    plant, _ = arm_at(DOWN, force_torque_frame='wrist_3_link')
    shift = pin.SE3(sensor).actInv(pin.SE3(tool)).translation
    bare = plant.measured.wrench.copy()
    loaded = reading(MASS, force_torque_frame='wrist_3_link') - bare
    force = sensor.rotation.T @ [0.0, 0.0, -MASS * G]
    np.testing.assert_allclose(loaded, [*force, *np.cross(shift, force)], atol=1e-9)


@pytest.mark.slow
def test_compensation_adds_the_weight():
    """kth-ros-pkg/force_torque_tools#18. With the tool's mass and centre, 0 is left.

    In three poses of a tool of 1.5 kg; a mass that is 0.1 kg too small leaves 0.981 N downwards.
    """
    for wrist in (0.0, 0.8, -1.4):
        q = turned(DOWN, wrist)
        np.testing.assert_allclose(reading(MASS, q, tool_mass=MASS), 0.0, atol=1e-9)
        short = reading(MASS, q, tool_mass=MASS - 0.1)[:3]
        rotation = arm_at(q)[1]
        np.testing.assert_allclose(rotation @ short, [0.0, 0.0, -0.1 * G], atol=1e-9)


@pytest.mark.parametrize('wrist', [0.5 * np.pi, np.pi])
def test_a_zeroed_sensor_reports_a_force_after_a_turn(wrist):
    """fzi-forschungszentrum-informatik/cartesian_controllers#120. Set `tool_mass` and `tool_com`.

    Tared in one pose and turned by an angle, 1.5 kg leave 2 m g sin(angle / 2): 20.8 N after 90
    degrees, 29.4 N after 180. With the tool's mass nothing is left.
    """
    poses = [UR5E.model.forward_kinematics(q, 'tool0') for q in (DOWN, turned(DOWN, wrist))]
    gravity = [pose.rotation.T @ [0.0, 0.0, -G] for pose in poses]
    for mass, left in ((0.0, 2.0 * MASS * G * np.sin(0.5 * wrist)), (MASS, 0.0)):
        own = ForceTorqueParameters(tool_mass=mass, tare_periods=1)
        sensor = ForceTorqueSensor([own], 1e-3)
        sensor.reset([0])
        sensor.tare()
        for g in (gravity[0], *gravity):  # the first reading is that of the tare
            found = sensor.read(np.concatenate([MASS * g, np.zeros(3)])[np.newaxis], g[np.newaxis])
        np.testing.assert_allclose(np.linalg.norm(found[0]), left, atol=1e-9)


def test_the_sensor_is_zeroed_at_the_start_in_contact():
    """UniversalRobots/Universal_Robots_ROS_Driver#512. Set `force_torque.tare_at_reset` for that.

    By default the first reading is the weight, 14.7 N; with the option it is zero.
    """
    np.testing.assert_allclose(np.linalg.norm(reading(MASS)[:3]), MASS * G, atol=1e-9)
    np.testing.assert_allclose(reading(MASS, tare_at_reset=True), 0.0, atol=1e-9)


def test_a_bias_is_taken_for_weight():
    """iirob/ati_force_torque#14. Two opposite poses give the bias.

    (b + R^T w) and (b - R^T w): the tool's axes turned by 180 degrees about a horizontal axis.
    """
    bias = (1.0, -2.0, 3.0, 0.0, 0.0, 0.0)
    sensor = ForceTorqueSensor([ForceTorqueParameters(wrench_bias=bias)], 1e-3)
    sensor.reset([0])
    weight = np.array([[0.0, 0.0, -MASS * G, 0.0, 0.0, 0.0]])
    found = [sensor.read(sign * weight, np.zeros((1, 3)))[0] for sign in (1.0, -1.0)]
    np.testing.assert_allclose(np.mean(found, axis=0), bias, atol=1e-12)
    np.testing.assert_allclose(found[0] - found[1], 2.0 * weight[0], atol=1e-12)
