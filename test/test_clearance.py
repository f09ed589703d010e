"""Clearance from floor, table and itself: closed forms, MuJoCo, cubes in the wrong place."""

import mujoco
import numpy as np
import pytest

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.clearance import FLOOR, TABLE, Clearance, Surroundings
from arm_dynamics.robots import find_urdf
from arm_sim.runs.robot import Robot
from arm_sim.tasks import make_task

UR5E = Robot.load('ur5e')
LINK = (
    '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
    'iyz="0"/></inertial>{}</link>'
)
JOINT = (
    '<joint name="{0}_joint" type="prismatic"><parent link="{1}"/><child link="{0}"/>'
    '<axis xyz="{2}"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>'
)


def shape(geometry: str, kind: str = 'collision') -> str:
    return f'<{kind}><geometry>{geometry}</geometry></{kind}>'


def crane(hook: str, kind: str = 'collision') -> RobotModel:
    """Three slides along x, y and z that carry one shape."""
    links = [LINK.format(name, '') for name in ('base', 'x', 'y')]
    joints = [('x', 'base', '1 0 0'), ('y', 'x', '0 1 0'), ('z', 'y', '0 0 1')]
    hook = LINK.format('z', shape(hook, kind))
    text = ''.join([*links, hook, *(JOINT.format(*joint) for joint in joints)])
    return RobotModel.from_urdf(f'<robot name="crane">{text}</robot>')


def test_distances_of_a_sphere_from_floor_and_table_are_the_closed_forms():
    sizes, middle = np.array([0.6, 0.4, 0.2]), np.array([0.5, -0.3, 0.4])
    checked = Clearance(crane('<sphere radius="0.1"/>'), Surroundings(table=(*middle, *sizes)))
    assert checked.pairs == [('z', FLOOR), ('z', TABLE)]
    rng, seen = np.random.default_rng(1), 0
    for q in rng.uniform((-1, -1, 0.0), (1, 1, 1), (200, 3)):
        floor, table = checked.distances(q)
        np.testing.assert_allclose(floor, q[2] - 0.1, atol=1e-12)
        outside = np.maximum(np.abs(q - middle) - sizes / 2, 0.0)
        if outside.any():
            seen += 1
            np.testing.assert_allclose(table, np.linalg.norm(outside) - 0.1, atol=1e-6)
        else:
            assert table < -0.1
    assert seen > 100


def test_a_box_on_the_floor_is_as_deep_as_its_lowest_corner():
    checked = Clearance(crane('<box size="0.2 0.2 0.4"/>'), Surroundings())
    np.testing.assert_allclose(checked.distances(np.array([0.3, 0.1, 0.15])), [-0.05], atol=1e-9)
    with pytest.raises(ArmError, match=r"link 'z' is 50.0 mm inside the floor at .* t = 3\.50 s"):
        checked.check(np.array([3.0, 3.5]), np.array([[0.0, 0, 0.3], [0, 0, 0.15]]), 0.005)
    with pytest.raises(ArmError, match=r"link 'z' is 3\.0 mm from the floor at .* t = 3\.00 s"):
        checked.check(np.array([3.0]), np.array([[0.0, 0, 0.203]]), 0.005)
    checked.check(np.array([3.0]), np.array([[0.0, 0, 0.206]]), 0.005)


def test_distances_agree_with_mujocos_for_every_pair_of_links():
    table = (0.5, 0.0, 0.3, 0.4, 0.6, 0.1)
    checked = Clearance(UR5E.model, Surroundings(table=table))
    mj_model, geoms = mujoco_twin(checked, table)
    data = mujoco.MjData(mj_model)
    rng, compared = np.random.default_rng(2), 0
    for _ in range(30):
        q = UR5E.model.random_configuration(rng)
        ours = checked.distances(q)
        data.qpos[:] = q
        mujoco.mj_kinematics(mj_model, data)
        for pair, distance in zip(checked.geometry.collisionPairs, ours, strict=True):
            if not 1e-3 < distance < 0.5:
                continue  # MuJoCo gives no depth from this function
            names = geoms[pair.first], geoms[pair.second]
            theirs = mujoco.mj_geomDistance(mj_model, data, *names, 1.0, None)
            np.testing.assert_allclose(distance, theirs, atol=2e-5)
            compared += 1
    assert compared > 500


def mujoco_twin(checked: Clearance, table: tuple[float, ...]) -> tuple[mujoco.MjModel, list[int]]:
    """Return MuJoCo's own reading of the URDF's shapes, and its geoms in our order."""
    text = checked.model.urdf.replace('visual>', 'collision>')
    spec = mujoco.MjSpec.from_string(text)
    spec.compiler.fusestatic = False
    spec.worldbody.add_geom(name='floor', type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 1))
    spec.worldbody.add_geom(
        name='table',
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=table[:3],
        size=np.array(table[3:]) / 2,
    )
    mj_model = spec.compile()
    used: dict[str, int] = {}
    geoms = []
    for name in checked._names:
        if name in (FLOOR, TABLE):
            geoms.append(mj_model.geom(name.removeprefix('the ')).id)
            continue
        geoms.append(int(mj_model.body(name).geomadr[0]) + used.get(name, 0))
        used[name] = used.get(name, 0) + 1
    return mj_model, geoms


@pytest.mark.parametrize(
    ('given', 'says'),
    [
        ({'center': [0.3, 0.2, 0.0]}, r"^the cube cannot be drawn: link '\w+' is .* the floor at"),
        ({'table': [0.3, 0.2, 0.3, 0.4, 0.4, 0.4]}, r"link '\w+' is .* the table at"),
        ({'table': [0.3, 0.2, 0.3, 0.4, 0.4, -0.4]}, 'size of table is -0.4'),
        ({'table': [0.3, 0.2]}, 'table is .* six finite numbers'),
    ],
)
@pytest.mark.parametrize('path', ['edges', 'published'])
def test_a_cube_through_floor_or_table_is_refused_in_one_line(path, given, says):
    with pytest.raises(ArmError, match=says) as refused:
        make_task('cube', UR5E, {'path': path, **given}).goal()
    assert '\n' not in str(refused.value)


def test_not_only_the_tip_is_checked():
    cube = make_task('cube', UR5E)
    elbow = UR5E.model.forward_kinematics(cube.points()[1][0][0], 'forearm_link').translation
    with pytest.raises(ArmError, match=r"link '(upper_|fore)arm_link' is .* the table at"):
        make_task('cube', UR5E, {'table': [*elbow.tolist(), 0.05, 0.05, 0.05]}).goal()


def test_the_way_to_the_cube_is_checked_as_well():
    start = UR5E.start + np.array([1.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    middle = UR5E.start + np.array([0.75, 0.0, 0.0, 0.0, 0.0, 0.0])
    place = UR5E.model.forward_kinematics(middle).translation.tolist()
    cube = make_task('cube', UR5E, {'table': [*place, 0.05, 0.05, 0.2]})
    cube.goal()
    cube.goal_from(UR5E.start, 2_000_000)
    with pytest.raises(
        ArmError, match=r'on the way to the first corner link .* the table .* t = '
    ):
        cube.goal_from(start, 2_000_000)


def test_a_folded_arm_is_refused_for_what_it_touches_of_itself():
    folded = UR5E.start + np.array([0.0, 0.0, 1.5, 0.0, 0.0, 0.0])
    checked = Clearance(UR5E.model, Surroundings(floor=False))
    with pytest.raises(ArmError, match=r"link '\w+' is .* mm inside link '\w+' at .* t = 1\.00 s"):
        checked.check(np.array([0.0, 1.0]), np.array([UR5E.start, folded]), 0.0)


def test_without_a_floor_a_cube_may_be_below_the_base():
    make_task('cube', UR5E, {'center': [0.3, 0.3, -0.1], 'floor': False}).goal()


def test_shapes_that_are_not_checked_are_named():
    model = crane('<mesh filename="hook.stl"/>')
    told = Clearance(model, Surroundings()).note
    assert told.startswith("shapes of mesh files are not read, and 'z' have some")
    assert 'nothing is known to touch' in told
    assert (
        'visible ones' in Clearance(crane('<sphere radius="1"/>', 'visual'), Surroundings()).note
    )
    assert Clearance(crane('<sphere radius="1"/>'), Surroundings()).note == ''


@pytest.mark.parametrize('robot', ['ur5e', 'ur5e_menagerie'])
def test_neighbours_are_no_pair(robot):
    checked = Clearance(RobotModel.from_urdf(find_urdf(robot)), Surroundings())
    assert ('upper_arm_link', 'shoulder_link') not in checked.pairs
    assert ('wrist_1_link', 'upper_arm_link') in checked.pairs
    assert ('shoulder_link', FLOOR) not in checked.pairs
    assert ('upper_arm_link', FLOOR) in checked.pairs
