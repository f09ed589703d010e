"""Cameras: pixels and depth of a scene whose geometry is known, and files that name cameras."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arm_dynamics.checks import ArmError
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.surroundings import Surroundings
from arm_sim.robot import Robot
from arm_tools.view.cameras import Camera, CameraPictures, read_cameras
from arm_tools.view.scene import Scene

ARM = Robot.load('ur5e')
AT_REST = (0.0, 0.0, 0.0, 1.0)
BALL = ObjectShape('ball', 'sphere', (0.06,) * 3, (1, 0, 0, 1), '', (1.0, 0.3, 0.5, *AT_REST))
WALL = ObjectShape('wall', 'box', (0.2, 2.0, 2.0), (0, 1, 0, 1), '', (2.1, 0.0, 0.3, *AT_REST))


@pytest.fixture(scope='module')
def scene():
    return Scene(ARM.model, Surroundings(), [BALL, WALL])


def pictures(camera, scene, q=ARM.start):
    taken = CameraPictures(camera, scene)
    try:
        return taken.take(np.array(q))
    finally:
        taken.close()


@pytest.mark.slow
def test_a_fixed_camera_sees_a_ball_where_k_projects_it_and_a_wall_at_its_distance(scene):
    eye = np.array([0.3, 0.0, 0.4])
    camera = Camera(name='fixed', position=tuple(eye), depth=True, width=320, height=240)
    colours, depth = pictures(camera, scene)
    assert colours.shape == (240, 320, 3)
    assert_allclose(depth[100:140, 150:170], 2.0 - eye[0], atol=1e-5)
    v, u = np.argwhere(colours[:, :, 0] > colours[:, :, 1].astype(int) + 40).mean(axis=0)
    forward, left, up = np.array(BALL.pose[:3]) - eye
    x, y, w = camera.intrinsics @ (-left, -up, forward)
    assert_allclose((u, v), (x / w, y / w), atol=0.7)
    front = forward * (1.0 - 0.03 / np.linalg.norm((forward, left, up)))
    assert_allclose(depth[round(v), round(u)], front, atol=5e-4)
    again, _ = pictures(camera, scene)
    assert_array_equal(again, colours)


@pytest.mark.slow
def test_a_picture_does_not_depend_on_those_before():
    camera = Camera(name='side', position=(0.0, -3.0, 0.5), rotation=(0.0, 0.0, 1.57), depth=True)
    arm = Robot.load('planar_3r')
    taken = CameraPictures(camera, Scene(arm.model, Surroundings()))
    first, *_, last = [taken.take(np.array(q)) for q in ((0, 0, 0), (1, 0.5, -1), (0, 0, 0))]
    taken.close()
    assert_array_equal(first[0], last[0])
    assert_array_equal(first[1], last[1])


@pytest.mark.slow
def test_a_camera_on_a_link_moves_with_it_and_depth_ends_at_far(scene):
    camera = Camera(name='a', link='upper_arm_link', position=(0.0, 0.0, 0.2), depth=True)
    _, before = pictures(camera, scene)
    q = np.array(ARM.start)
    q[0] += 0.5
    _, after = pictures(camera, scene, q)
    assert not np.array_equal(before, after, equal_nan=True)
    short = Camera(name='b', position=(0.3, 0.0, 0.4), depth=True, far=1.0, width=64, height=48)
    assert np.isnan(pictures(short, scene)[1][24, 32])
    with pytest.raises(ArmError, match=r"unknown link 'wrist'; nearest known: 'wrist_\d_link'"):
        CameraPictures(Camera(name='c', link='wrist'), scene)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('{}', 'a list of cameras is expected'),
        ('[]', 'a list of cameras is expected'),
        ('- 3', 'camera 1: 3 is not a list of names and values'),
        ('- {name: a, fov: 1}', "camera 1 (a): unknown key 'fov'"),
        ('- {name: a b}', "camera 1 (a b): name is 'a b'; it must be letters, digits and _"),
        ('- {name: a, width: 2}', 'width is 2; it must be finite, >= 8 and <= 4096'),
        ('- {name: a, near: 2.0, far: 1.0}', 'far is 1; it must be > near, 2'),
        ('- {name: a}\n- {name: a}', "two cameras have the name 'a'"),
        ('- {name: [', 'not YAML'),
    ],
)
def test_a_file_that_names_no_cameras_is_refused_in_one_line(text, message, tmp_path):
    file = tmp_path / 'cameras.yaml'
    file.write_text(text)
    with pytest.raises(ArmError, match=re.escape(message)) as refused:
        read_cameras(file)
    assert '\n' not in str(refused.value)
    assert str(file) in str(refused.value)
    with pytest.raises(ArmError, match='cannot be read'):
        read_cameras(tmp_path / 'none.yaml')
