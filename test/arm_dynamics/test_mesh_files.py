"""Meshes that are not there, or no meshes: the line has the cause."""

import re

import pytest
import trimesh
from arms import chain, revolute

from arm_dynamics.clearance import Clearance, Surroundings
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

ARM = chain('arm', [revolute(x, 'xyz="0 0 0.2"', '0 1 0') for x in 'ab'])
LED = re.sub('(.*)(<limit [^>]*>)', r'\1\2<mimic joint="a"/>', ARM, flags=re.DOTALL)
BOX = trimesh.creation.box((0.1, 0.2, 0.3))
PLACES = {
    'Base.STL': BOX.export(file_type='stl'),
    'lfs.stl': b'version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n',
    'page.stl': b'<!DOCTYPE html>\n<html/>',
    'empty.stl': b'',
}


@pytest.fixture
def folder(tmp_path):
    """Return a package with an empty urdf/ and with meshes/."""
    for name in ('urdf', 'meshes'):
        (tmp_path / 'arm' / name).mkdir(parents=True)
    (tmp_path / 'arm' / 'package.xml').write_text('<package><name>arm</name></package>')
    for name, raw in PLACES.items():
        (tmp_path / 'arm' / 'meshes' / name).write_bytes(raw)
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
        ('../meshes/base.stl', r"does not exist, but '.*/arm/meshes/Base\.STL' does: its letters"),
        ('package://arm/meshes/base.stl', r"not exist, but '.*/meshes/Base\.STL' does: its lett"),
        ('../meshes/Base.dae', r"does not exist, but 'Base\.STL' does"),
        ('../meshes/Bsae.STL', r"does not exist, but 'Base\.STL' does"),
        ('../meshes/tool.stl', 'does not exist; no link'),
        ('package://amr/meshes/Base.STL', "package 'amr' is not found: source its workspace"),
        ('..\\meshes\\Base.STL', r'write / in place of \\'),
        ('model://arm/meshes/Base.STL', 'a mesh is a path, or begins with package://'),
    ],
)
def test_a_mesh_that_is_not_read_is_named_with_its_cause(folder, name, line, arm):
    said = note(folder, name, arm)
    assert re.search(f"so some shapes of 'a_link': .*{line}", said)
    assert '\n' not in said


@pytest.mark.parametrize('name', ['../meshes/Base.STL', 'package://arm/meshes/Base.STL'])
def test_a_mesh_that_is_read_is_not_named(folder, name):
    assert note(folder, name) == note(folder, name, LED) == 'meshes count as their convex hulls'


def test_other_letters_in_a_folder_are_named(folder):
    line = re.search(r"does not exist, but '(\S+)'", note(folder, '../Meshes/Base.STL'))
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
