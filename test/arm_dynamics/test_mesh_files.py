"""Meshes that are not there, or no meshes: the line has the cause."""

import os
import re

import pytest
import trimesh
from arms import chain, revolute

from arm_dynamics.checks import ArmError
from arm_dynamics.clearance import Clearance
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_dynamics.surroundings import Surroundings
from arm_sim.simulation.mujoco_file import read_mjcf as read_scene_file

ARM = chain('arm', [revolute(x, 'xyz="0 0 0.2"', '0 1 0') for x in 'ab'])
LED = re.sub('(.*)(<limit [^>]*>)', r'\1\2<mimic joint="a"/>', ARM, flags=re.DOTALL)
BOX = trimesh.creation.box((0.1, 0.2, 0.3))
INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>'
SECOND = '<body><joint name="b" axis="0 1 0"/><geom size="0.1"/></body>'
PLACES = {
    'Base.STL': BOX.export(file_type='stl'),
    'lfs.stl': b'version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n',
    'page.stl': b'<!DOCTYPE html>\n<html/>',
    'empty.stl': b'',
    'colours.mtl': b'',
}


@pytest.fixture
def folder(tmp_path):
    """Return a package with an empty urdf/ and with meshes/."""
    for name in ('urdf', 'meshes'):
        (tmp_path / 'arm' / name).mkdir(parents=True)
    (tmp_path / 'arm' / 'package.xml').write_text('<package><name>arm</name></package>')
    for name, raw in PLACES.items():
        (tmp_path / 'arm' / 'meshes' / name).write_bytes(raw)
    os.mkfifo(tmp_path / 'arm' / 'meshes' / 'pipe.stl')
    return tmp_path / 'arm'


def with_mesh(name, arm=ARM):
    shape = f'<collision><geometry><mesh filename="{name}"/></geometry></collision>'
    return arm.replace('_link">', f'_link">{shape}', 1)


def note(folder, name, arm=ARM):
    (folder / 'urdf' / 'arm.urdf').write_text(with_mesh(name, arm))
    model = RobotModel(find_urdf(str(folder / 'urdf' / 'arm.urdf')))
    return Clearance(model, Surroundings(floor=False)).note


@pytest.mark.parametrize('arm', [ARM, LED], ids=['plain', 'converted'])
@pytest.mark.parametrize(
    ('name', 'line'),
    [
        ('../meshes/lfs.stl', "'lfs.stl' stands for a file of Git LFS: run `git lfs pull`"),
        ('package://arm/meshes/lfs.stl', "'lfs.stl' stands for a file of Git LFS"),
        ('../meshes/page.stl', "'page.stl' is a web page: download the file itself"),
        ('../meshes/empty.stl', "'empty.stl' is empty"),
        (
            '../meshes/base.stl',
            r"does not exist, but there is '.*/arm/meshes/Base\.STL', in other small or",
        ),
        ('package://arm/meshes/base.stl', r"but there is '.*/meshes/Base\.STL', in other small"),
        ('../meshes/Base.dae', r"does not exist, but there is 'Base\.STL'; no link"),
        ('../meshes/Bsae.STL', r"does not exist, but there is 'Base\.STL'; no link"),
        ('../meshes/tool.stl', 'does not exist; no link'),
        ('../meshes/colours.obj', 'does not exist; no link'),
        ('package://amr/meshes/Base.STL', "package 'amr' is not found: source its workspace"),
        ('..\\meshes\\Base.STL', r'write / in place of \\'),
        ('package://arm/../arm/meshes/Base.STL', 'leads out of its package'),
        ('package://arm//../arm/meshes/Base.STL', 'leads out of its package'),
        (
            'package://arm//etc/passwd',
            "(?:'package://arm//etc/passwd' does not|package 'arm' is not)",
        ),
        ('../meshes', "/meshes' is a folder"),
        ('../meshes/pipe.stl', "/meshes/pipe.stl' is not a regular file"),
        ('model://arm/meshes/Base.STL', 'a mesh is a path, or begins with package://'),
    ],
)
def test_a_mesh_that_is_not_read_is_named_with_its_cause(folder, name, line, arm):
    said = note(folder, name, arm)
    assert re.search(f"so some shapes of 'a_link': .*{line}", said)
    assert '\n' not in said


@pytest.mark.parametrize(
    'name',
    ['../meshes/Base.STL', 'package://arm/meshes/Base.STL', 'package://arm//meshes/Base.STL'],
)
def test_a_mesh_that_is_read_is_not_named(folder, name):
    assert note(folder, name) == note(folder, name, LED) == 'meshes count as their convex hulls'


def test_other_letters_in_a_folder_are_named(folder):
    line = re.search(r"does not exist, but there is '(\S+)',", note(folder, '../Meshes/Base.STL'))
    assert line[1] == str(folder / 'meshes' / 'Base.STL')


@pytest.mark.parametrize(
    ('unit', 'line'),
    [
        ('"-0.01"', '<unit meter="-0.01"> must be above 0'),
        ('"0"', '<unit meter="0"> must be above 0'),
        ('"nan"', '<unit meter="nan"> must be above 0'),
        ('"0,01"', "could not convert string to float: b'0,01'"),
        ("'0.01'", ''),
        ('"0.01"', ''),
    ],
)
def test_a_unit_of_collada_that_mirrors_or_is_none_is_named(folder, unit, line):
    text = re.sub(rb'<unit[^>]*>', b'', BOX.export(file_type='dae'))
    unit = b'<unit meter=' + unit.encode() + b'/><up_axis>'
    (folder / 'meshes' / 'base.dae').write_bytes(text.replace(b'<up_axis>', unit))
    said = note(folder, '../meshes/base.dae')
    assert line in said
    assert bool(line) == ('not found or not read' in said)


def test_a_mesh_with_a_unit_in_single_quotes_has_its_size(folder):
    text = re.sub(rb'<unit[^>]*>', b'', BOX.export(file_type='dae'))
    text = text.replace(b'<up_axis>', b"<unit meter='0.01'/><up_axis>")
    (folder / 'meshes' / 'base.dae').write_bytes(text)
    (folder / 'urdf' / 'arm.urdf').write_text(with_mesh('../meshes/base.dae'))
    model = RobotModel(folder / 'urdf' / 'arm.urdf')
    (shape,) = Clearance(model, Surroundings(floor=False)).geometry.geometryObjects
    shape.geometry.computeLocalAABB()
    assert shape.geometry.aabb_radius < 0.01


def test_inertia_estimate_names_a_mesh_that_it_lacks(folder, capfd):
    text = with_mesh('../meshes/Base.STL').replace('b_link">', 'b_link">COLLISION', 1)
    second = re.search('<collision>.*?</collision>', with_mesh('../meshes/lfs.stl'))[0]
    text = re.sub('<inertial>.*?</inertial>', '', text, flags=re.DOTALL)
    (folder / 'urdf' / 'arm.urdf').write_text(text.replace('COLLISION', second))
    find_urdf(f'{folder}/urdf/arm.urdf inertia:=estimate')
    assert "inertia:=estimate: 'lfs.stl' stands for a file of Git LFS" in capfd.readouterr().err


ARM_XML = """<mujoco><compiler angle="radian"/><asset>{}</asset><worldbody>
<body name="one" {}><joint name="a" axis="0 1 0" range="-1 1" {}/>{}<geom size="0.1" mass="1"/>
</body></worldbody>{}</mujoco>"""
DRAWN = '<geom type="mesh" mesh="m" mass="0"/>'


def load(folder, *parts):
    (folder / 'meshes' / 'arm.xml').write_text(ARM_XML.format(*parts))
    find_urdf(str(folder / 'meshes' / 'arm.xml'))


@pytest.mark.parametrize(
    ('name', 'line'),
    [
        ('lfs.stl', "; 'lfs.stl' stands for a file of Git LFS: run `git lfs pull`"),
        ('page.stl', "; 'page.stl' is a web page: download the file itself"),
        ('base.stl', r"an <inertial>; there is '.*Base\.STL', in other small or capital letters"),
    ],
)
def test_a_mesh_of_an_mjcf_that_is_not_read_is_named_with_its_cause(folder, name, line):
    with pytest.raises(ArmError, match=line):
        load(folder, f'<mesh name="m" file="{name}"/>', '', '', DRAWN, '')


@pytest.mark.parametrize(
    ('parts', 'line'),
    [
        (('<mesh name="m" file="base.stl"/>', '', '', INERTIAL + DRAWN, ''),
         "'base.stl' does not exist, but there is '"),
        (('', 'euler="0 90 0"', '', '', ''), 'euler="0 90 0" is in radians; is it written in deg'),
        (('', 'euler="0 1.6 -3.2"', '', '', ''), ''),
        (('', '', '', SECOND, '<keyframe><key name="k" qpos="0.5"/></keyframe>'),
         "qpos of key 'k' has 1 numbers, not 2: the others are 0"),
        (('', '', '', SECOND, '<keyframe><key name="k" qpos="0.5 0"/></keyframe>'), ''),
    ],
)  # fmt: skip
def test_what_an_mjcf_may_mean_otherwise_is_named(folder, capfd, parts, line):
    load(folder, *parts)
    said = capfd.readouterr().err
    assert line in said
    assert bool(line) == bool(re.search('exist|euler|qpos', said))


def test_a_reversed_range_of_an_actuator_is_refused(folder):
    drive = '<actuator><motor name="a" joint="a" forcerange="9 -9"/></actuator>'
    with pytest.raises(ArmError, match=r'actuator \'a\': forcerange="9 -9" is reversed'):
        load(folder, '', '', '', '', drive)


@pytest.mark.parametrize(
    ('asset', 'line'),
    [
        ('<mesh name="m" file="lfs.stl"/>', "'lfs.stl' stands for a file of Git LFS"),
        ('<mesh name="m" file="base.stl"/>', r"there is '.*Base\.STL', in other small"),
    ],
)
def test_a_mesh_of_a_scene_that_is_not_read_is_named_with_its_cause(folder, asset, line):
    world = '<worldbody><geom type="mesh" mesh="m"/></worldbody>'
    file = folder / 'meshes' / 'scene.xml'
    file.write_text(f'<mujoco><asset>{asset}</asset>{world}</mujoco>')
    with pytest.raises(ArmError, match=f'scene .*{line}'):
        read_scene_file(file)


def test_a_scene_that_is_a_pointer_of_git_lfs_is_named(folder):
    (folder / 'scene.xml').write_bytes(PLACES['lfs.stl'])
    with pytest.raises(ArmError, match=r"'scene\.xml' stands for a file of Git LFS"):
        read_scene_file(folder / 'scene.xml')
