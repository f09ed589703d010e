"""What laws of a controlled frame share: its error, its force, the wrench measured behind it."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stacked_model import StackedModel

from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_controllers.task_space import TaskSpace, damped, pose_error, task_force
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

ARM = RobotModel(find_urdf('ur5e'), armature=0.1)
Q = np.array([0.1, -1.4, 1.9, -2.0, -1.5, 0.2])


@pytest.mark.parametrize(('frame', 'sensor'), [('', ''), ('', 'forearm_link'), ('tool0', 'tool0')])
def test_a_wrench_is_moved_from_its_sensor_to_the_tool(frame, sensor):
    """Force as it is; torque about the origin of the controlled frame."""
    space, wrench = TaskSpace(ARM, frame, sensor), np.array([1.0, -2.0, 4.0, 0.3, 0.5, -0.7])
    measured = Measurement(Q, np.zeros(6), None, wrench)
    at_tool = space.wrench(measured, space.motion(measured))
    pose = ARM.forward_kinematics(Q, sensor or ARM.tool_carrier)
    offset = pose.translation - ARM.forward_kinematics(Q).translation
    force, torque = pose.rotation @ wrench[:3], pose.rotation @ wrench[3:]
    np.testing.assert_allclose(at_tool, [*force, *(torque + np.cross(offset, force))], atol=1e-12)
    both = Measurement(*(np.stack([x, x]) for x in (Q, np.zeros(6), Q)), np.stack([wrench] * 2))
    many = TaskSpace(StackedModel(ARM), frame, sensor)
    np.testing.assert_allclose(
        many.wrench(both, many.motion(both)), [at_tool, at_tool], rtol=1e-14
    )


def test_without_a_sensor_the_wrench_is_zero():
    space, measured = TaskSpace(ARM), Measurement(Q, np.zeros(6))
    np.testing.assert_array_equal(space.wrench(measured, space.motion(measured)), np.zeros(6))


def test_the_pose_error_moves_the_frame_to_its_target():
    space, reference = TaskSpace(ARM), Reference(6)
    reference.q[:] = Q + 0.2
    target, motion = space.target(reference), space.motion(Measurement(Q, np.zeros(6)))
    error = pose_error(target, motion)
    turned = Rotation.from_rotvec(error[3:]).as_matrix() @ motion.rotation
    np.testing.assert_allclose(turned, target.rotation, atol=1e-12)
    np.testing.assert_allclose(motion.position + error[:3], target.position, atol=1e-15)


def test_the_damped_inverse_is_exact_above_its_threshold_and_zero_at_zero():
    root = np.sqrt(np.diag([4.0, 0.5, 0.0]))
    found = [damped(root, axis, 0.1) for axis in np.eye(3)]
    np.testing.assert_allclose(found, np.diag([0.25, 2.0, 0.0]), atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize('q', [Q, [0.1, -1.4, 1e-4, -2.0, -1.5, 0.2]])  # and a straight elbow
def test_the_force_of_a_task_accelerates_it_or_leaves_what_a_singularity_forbids(q):
    jacobian, mass, wanted = ARM.jacobian(q), ARM.mass_matrix(q), np.arange(1.0, 7.0)
    mobility = jacobian @ np.linalg.solve(mass, jacobian.T)
    force = task_force(mass, jacobian, wanted, 0.01)
    values, axes = np.linalg.eigh(mobility)
    along = axes.T @ wanted / np.where(values < 0.01, np.inf, values)
    if values[0] > 0.01:
        np.testing.assert_allclose(mobility @ force, wanted, atol=1e-10)
    else:
        np.testing.assert_allclose(axes.T @ force, along, rtol=1e-6, atol=0.1)
    many = task_force(*(np.stack([x, x]) for x in (mass, jacobian, wanted)), 0.01)
    np.testing.assert_allclose(many, [force, force], rtol=1e-9)


@pytest.mark.parametrize('names', [('x', ''), ('', 'x')])
def test_a_frame_that_does_not_exist_is_refused(names):
    with pytest.raises(ArmError, match="no frame 'x'"):
        TaskSpace(ARM, *names)
