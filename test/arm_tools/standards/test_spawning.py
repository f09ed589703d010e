"""Objects that clients spawn: what describes one, under which name, at which pose."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from arm_dynamics.checks import ArmError
from arm_sim.simulation.scene import SceneObject, objects_text, read_objects
from arm_tools.standards.spawning import (
    described_object,
    free_name,
    placed,
    spawnables,
)

URDF = """<robot name="can"><link name="body">
<inertial><mass value="0.25"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><sphere radius="9"/></geometry>
<material name="m"><color rgba="0.1 0.2 0.3 1"/></material></visual>
<collision><geometry><cylinder radius="0.03" length="0.12"/></geometry></collision>
</link></robot>"""


def test_an_object_is_a_row_a_urdf_or_one_of_a_scene():
    row = described_object('', 'name: ball\nshape: sphere\nsize: [0.1]\nmass: 0.5')
    assert described_object('', '- {name: ball, shape: sphere, size: [0.1], mass: 0.5}') == row
    assert (row.name, row.mass) == ('ball', 0.5)
    can = described_object('', URDF)
    assert (can.name, can.shape, can.size, can.mass) == ('can', 'cylinder', (0.06, 0.12), 0.25)
    assert can.colour == (0.1, 0.2, 0.3)
    assert described_object('blocks/heavy_block', URDF) == spawnables()['blocks/heavy_block']


@pytest.mark.parametrize(
    ('uri', 'text', 'says'),
    [
        ('blocks/bloc', '', "unknown uri 'blocks/bloc'; nearest known: 'blocks/block'"),
        ('/etc/passwd', '', "unknown uri '/etc/passwd'"),
        ('', '[]', 'has 0 objects; one is expected'),
        ('', 'nonsense', 'is not a list of names'),
        ('', '{name: x, shape: box}', 'size has 0 numbers'),
        ('', '{name: x, shape: box, size: [.nan, 1, 1]}', 'size'),
        ('', '{' * 2000, 'more than 50 brackets in each other'),
        ('', 'x' * 200_000, 'has 20000. characters; allowed: 100000'),
        ('', '<robot', 'not a URDF'),
        ('', '<robot name="a"/>', 'has 0 links; an object has one'),
        (
            '',
            URDF.replace('cylinder radius="0.03"', 'cylinder radius="x"'),
            'radius of <cylinder>',
        ),
        ('', URDF.replace('cylinder', 'torus'), "shape is 'torus'"),
        ('', URDF.replace('<collision>', '<collision><origin xyz="1 0 0"/>'), 'origin'),
        ('', URDF.replace('</robot>', '<link name="two"/></robot>'), 'has 2 links'),
    ],
)
def test_what_describes_no_object_is_refused_in_one_line(uri, text, says):
    with pytest.raises(ArmError, match=says) as caught:
        described_object(uri, text)
    assert '\n' not in str(caught.value)


def test_names_are_words_and_unique():
    assert free_name('block', ['block', 'block_2'], True) == 'block_3'
    with pytest.raises(ArmError, match="the name 'block' is taken"):
        free_name('block', ['block'], False)
    for name in ('', '2', 'a b', 'a' * 101, 'a\n', 'a/b'):
        with pytest.raises(ArmError, match='allowed: a letter'):
            free_name(name, [], True)


def test_a_placed_object_is_written_and_read_with_the_same_numbers():
    each = described_object('', '{name: a, size: [0.1, 0.2, 0.3], position: [0.1, 0, 0], mass: 1}')
    pose = pin.XYZQUATToSE3(np.array([1, 2, 3, 0.1, 0.7, 0.1, 0.7]))
    moved = placed(each, 'b', pose)
    found = pin.SE3(pin.rpy.rpyToMatrix(*moved.rotation), np.array(moved.position))
    own = pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0]))
    np.testing.assert_allclose(found.homogeneous, (pose * own).homogeneous, atol=1e-12)
    assert read_objects(objects_text([moved, each])) == (moved, each)
    assert objects_text([]) == ''


def test_objects_of_numpy_numbers_are_written_as_plain_numbers():
    sizes, friction = np.array((0.1, 0.2, 0.3)), np.float64(0.25)
    one = SceneObject(
        name='a', size=tuple(sizes), position=(np.float32(0.5), 0, 0), friction=friction
    )
    plain = SceneObject(name='a', size=(0.1, 0.2, 0.3), position=(0.5, 0.0, 0.0), friction=0.25)
    assert read_objects(objects_text([one])) == (plain,)
    assert objects_text([replace(one, position=sizes)]) == objects_text(
        [replace(plain, position=(0.1, 0.2, 0.3))]
    )
