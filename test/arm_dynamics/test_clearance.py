"""Clearance from floor, table and itself: closed forms, MuJoCo, cubes in the wrong place."""

import mujoco
import numpy as np
import pytest
from arms import examples
from pinocchio import GeometryModel
from scipy.spatial import ConvexHull

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.clearance import FLOOR, TABLE, Clearance
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.robots import find_urdf
from arm_dynamics.surroundings import Surroundings
from arm_sim.robot import Robot
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


def test_the_memory_that_an_obstacle_frees_decides_no_pair(monkeypatch):
    expected = Clearance(UR5E.model, Surroundings()).pairs
    add, kept = GeometryModel.addGeometryObject, []

    def add_and_fill(self, *shape):
        number = add(self, *shape)
        kept.extend(np.full(size, -1) for size in range(8, 2500, 8) for _ in range(3))
        return number

    monkeypatch.setattr(GeometryModel, 'addGeometryObject', add_and_fill)
    assert Clearance(UR5E.model, Surroundings()).pairs == expected
    assert ('base_link', FLOOR) not in expected


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
    spec = mujoco.MjSpec.from_string(checked.model.urdf)  # without the visible ones
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
    for name in checked.names:
        if name in (FLOOR, TABLE):
            geoms.append(mj_model.geom(name.removeprefix('the ')).id)
            continue
        geoms.append(int(mj_model.body(name).geomadr[0]) + used.get(name, 0))
        used[name] = used.get(name, 0) + 1
    return mj_model, geoms


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ('given', 'says'),
    [
        ({'center': [0.3, 0.2, 0.0]}, r"^the cube cannot be drawn: link '\w+' is .* the floor at"),
        ({'center': [2.0, 0.0, 0.5]}, '^the cube cannot be drawn: .*reach'),
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
    note = Clearance(model, Surroundings()).note
    assert note.startswith("mesh files are not found or not read, and so some shapes of 'z'")
    assert 'so no collision can be found' in note
    assert (
        'its visual shapes are used'
        in Clearance(crane('<sphere radius="1"/>', 'visual'), Surroundings()).note
    )
    assert Clearance(crane('<sphere radius="1"/>'), Surroundings()).note == ''


@pytest.mark.parametrize('robot', ['ur5e', 'ur5e_menagerie'])
def test_adjacent_links_are_no_pair(robot):
    checked = Clearance(RobotModel.from_urdf(find_urdf(robot)), Surroundings())
    assert ('upper_arm_link', 'shoulder_link') not in checked.pairs
    assert ('wrist_1_link', 'upper_arm_link') in checked.pairs
    assert ('shoulder_link', FLOOR) not in checked.pairs
    assert ('upper_arm_link', FLOOR) in checked.pairs


CORNERS = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.3, 0.3)])
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>
<unit meter="1"/><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="{3}">{0}</float_array><technique_common>
<accessor source="#a" count="{2}" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="{4}">
<input semantic="VERTEX" source="#v" offset="0"/><p>{1}</p></triangles></mesh></geometry>
</library_geometries><library_visual_scenes><visual_scene id="s"><node id="n">
<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def write_mesh(file):
    """Write the box between CORNERS [m] as a file of this suffix."""
    triangles = ConvexHull(CORNERS).simplices
    if file.suffix == '.dae':
        flat = [' '.join(map(str, each.ravel())) for each in (CORNERS, triangles)]
        text = DAE.format(*flat, len(CORNERS), CORNERS.size, len(triangles))
    elif file.suffix == '.obj':
        lines = [f'v {x} {y} {z}' for x, y, z in CORNERS]
        text = '\n'.join(lines + [f'f {a} {b} {c}' for a, b, c in triangles + 1])
    else:
        lines = ['facet normal 0 0 0 outer loop', *['vertex {} {} {}'] * 3, 'endloop endfacet']
        facets = '\n'.join('\n'.join(lines).format(*CORNERS[each].ravel()) for each in triangles)
        text = f'solid box\n{facets}\nendsolid box\n'
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.quick(6)
@pytest.mark.parametrize('suffix', ['stl', 'obj', 'dae'])
@pytest.mark.parametrize('way', ['relative', 'absolute', 'file', 'package', 'sourced'])
def test_a_mesh_is_found_and_has_the_distances_of_the_box_that_it_shows(
    suffix, way, tmp_path, monkeypatch
):
    share = tmp_path / 'share' / 'my_arm'
    mesh = share / 'meshes' / f'hook.{suffix}'
    write_mesh(mesh)
    folder = tmp_path / 'elsewhere' if way == 'sourced' else share / 'urdf'
    folder.mkdir(parents=True)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path) if way == 'sourced' else '')
    name = {
        'relative': f'../meshes/hook.{suffix}',
        'absolute': str(mesh),
        'file': f'file://{mesh}',
        'package': f'package://my_arm/meshes/hook.{suffix}',
        'sourced': f'package://my_arm/meshes/hook.{suffix}',
    }[way]
    urdf = folder / 'crane.urdf'
    urdf.write_text(crane(f'<mesh filename="{name}" scale="1 1 0.5"/>').urdf)
    around = Surroundings(table=(0.5, 0.0, 0.4, 0.2, 0.2, 0.2))
    checked = Clearance(RobotModel(urdf), around)
    box = Clearance(crane('<box size="0.2 0.4 0.3"/>'), around)
    assert checked.note == 'meshes count as their convex hulls'
    for q in np.random.default_rng(7).uniform((-1, -1, 0.0), (1, 1, 1), (50, 3)):
        ours, theirs = checked.distances(q), box.distances(q)
        apart = theirs > 0.0
        np.testing.assert_allclose(ours[apart], theirs[apart], atol=1e-6)
        assert (ours[~apart] <= 1e-6).all()
    with pytest.raises(ArmError, match=r"link 'z' is 50\.0 mm inside the floor"):
        checked.check(np.array([1.0]), np.array([[0.0, 0.9, 0.1]]), 0.0)


FLAT = 'solid plate\n' + ''.join(
    f'facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex {x} 1 {{z}}\nendloop\n'
    'endfacet\n'
    for x in (0, 1)
)


@pytest.mark.parametrize('text', ['solid nothing', FLAT.format(z=0), FLAT.format(z='nan')])
def test_a_mesh_that_cannot_be_read_is_named_and_the_others_are_checked(tmp_path, text):
    write_mesh(tmp_path / 'good.stl')
    (tmp_path / 'broken.stl').write_text(text)
    model = crane('<mesh filename="good.stl"/>').urdf
    other = shape('<mesh filename="broken.stl"/>')
    text = model.replace('<link name="y">', f'<link name="y">{other}', 1)
    (tmp_path / 'crane.urdf').write_text(text)
    checked = Clearance(RobotModel(tmp_path / 'crane.urdf'), Surroundings())
    what = "mesh files are not found or not read, and so some shapes of 'y': mesh "
    assert checked.note.startswith(f'{what}{tmp_path}/broken.stl: ')
    assert checked.note.endswith('; meshes count as their convex hulls')
    np.testing.assert_allclose(checked.distances(np.array([0.0, 0.0, 1.0])), [0.7], atol=1e-7)


@pytest.mark.parametrize(('z', 'words'), [('0', 'lie in a plane'), ('nan', 'are finite')])
def test_an_object_with_a_mesh_without_a_volume_is_refused(tmp_path, z, words):
    (tmp_path / 'plate.stl').write_text(FLAT.format(z=z))
    pose = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    plate = ObjectShape('plate', 'mesh', (1.0,) * 3, (0.0,) * 4, f'{tmp_path}/plate.stl', pose)
    with pytest.raises(ArmError, match=f"object 'plate': mesh .*plate.stl: .*{words}"):
        Clearance(UR5E.model, Surroundings(), (plate,))


def test_the_meshes_of_a_manufacturers_arm_are_apart_upright_and_touch_where_it_is_folded():
    checked = Clearance(
        RobotModel(examples() / 'ur_description/urdf/ur5_robot.urdf'), Surroundings()
    )
    assert checked.note == 'meshes count as their convex hulls'
    times = np.array([0.0])
    upright = np.array([[0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0]])
    checked.check(times, upright, 0.005)
    for change, says in (
        ([0.0, 0.0, 3.1, 0.0, 0.0, 0.0], "link 'wrist_1_link' is .* inside link 'upper_arm_link'"),
        ([0.0, 2.2, 0.0, 0.0, 0.0, 0.0], "'wrist_2_link' .* inside the floor at .* is allowed$"),
    ):
        with pytest.raises(ArmError, match=says):
            checked.check(times, upright + np.array(change), 0.005)


def test_a_mesh_that_has_no_convex_hull_is_refused_in_one_line(tmp_path):
    angle = 2.0 * np.pi * np.arange(300) / 300
    rim = [f'v {x} {y} 0' for x, y in zip(np.cos(angle), np.sin(angle), strict=True)]
    faces = [f'f {k + 1} {(k + 1) % 300 + 1} 301' for k in range(300)]
    cone = tmp_path / 'cone.obj'
    cone.write_text('\n'.join([*rim, 'v 0 0 1', *faces]))
    pose = (2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    each = ObjectShape('cone', 'mesh', (1.0, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0), str(cone), pose)
    with pytest.raises(ArmError, match="object 'cone': convex hull of .*cone.obj: Too many neigh"):
        Clearance(UR5E.model, Surroundings(floor=False), [each])


def with_balls(urdf, of_links):
    """Return a URDF with balls of collision around origins of links; {link: radius}."""
    for link, radius in of_links.items():
        ball = f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'
        urdf = urdf.replace(f'<link name="{link}">', f'<link name="{link}">{ball}')
    return urdf


@pytest.mark.parametrize('has_srdf', [False, True])
def test_a_cube_leaves_out_pairs_that_the_srdf_disables_or_that_overlap(tmp_path, has_srdf):
    """Vendors put coarse shapes over their links, which overlap in every posture."""
    file = tmp_path / 'arm.urdf'
    balls = {'shoulder_link': 0.3, 'forearm_link': 0.122 if has_srdf else 0.15}
    file.write_text(with_balls(find_urdf('ur5e').read_text(), balls))
    words = '1 overlap where joints are nearest to zero (forearm_link and shoulder_link)'
    if has_srdf:  # 3 mm apart, where 5 mm are asked for
        pair = 'link1="forearm_link" link2="shoulder_link"'
        srdf = f'<robot name="ur5e"><disable_collisions {pair}/></robot>'
        file.with_suffix('.srdf').write_text(srdf)
        words = 'arm.srdf disables 1'
    cube = make_task('cube', Robot.load(str(file)))
    cube.points()
    assert cube.notes[0].endswith(f'pairs of links left out: {words}')
    links = {frozenset(pair) for pair in cube.clearance.pairs}
    assert frozenset(('forearm_link', 'shoulder_link')) not in links
    assert frozenset(('wrist_3_link', 'shoulder_link')) in links


@pytest.mark.parametrize('words', ['', ' inertia:=estimate'])
def test_a_refused_pair_of_links_has_the_remedy(tmp_path, words):
    file = tmp_path / 'arm.urdf'
    balls = {'shoulder_link': 0.3, 'forearm_link': 0.122, 'flange': 0.01}
    file.write_text(with_balls(find_urdf('ur5e').read_text(), balls))
    remedy = (
        r'5 mm off is allowed, or <disable_collisions> of an SRDF next to the URDF, arm\.srdf, as '
        r'that of a \*_moveit_config; nor with'
    )
    with pytest.raises(ArmError, match=remedy):
        make_task('cube', Robot.load(f'{file}{words}')).points()
