"""Objects in another unit, or inside each other, are named in one line."""

import pytest

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.scene import read_objects

pytestmark = pytest.mark.filterwarnings('ignore:Attach')
MODEL = RobotModel.from_urdf(find_urdf('ur5e'))
BLOCK = (
    '{name: b, size: [0.05, 0.05, 0.05], position: [0.5, 0.1, 0.025], mass: 0.2, restitution: 0.2}'
)
DOOR = (
    '{name: d, size: [0.03, 0.5, 0.7], position: [0.8, 0, 0.36], mass: 3, damping: 50, '
    'joint: hinge, axis_position: [0, 0.25, 0], range: [0, 1.6]}'
)
BODY = (
    '<mujoco><compiler angle="{}"/><worldbody><body name="x" pos="{} 0 0.5"><joint name="j" '
    'range="0 90"/><geom size="0.1"/></body></worldbody></mujoco>'
)


def lines(**parameters):
    notes = MujocoPlant(MODEL, PlantParameters(**parameters)).notes
    return [note for note in notes if note.startswith('scene: ')]


SLIPS = [
    (BLOCK, 'size: [0.05, 0.05, 0.05]', 'size: [50, 50, 50]', 'b: longer than 5 m'),
    (BLOCK, 'mass: 0.2', 'mass: 1.0e+6', 'b: denser than any metal; is the mass in grams'),
    (BLOCK.replace('0.05, 0.05, 0.05', '4, 4, 4'), '[0.5, 0.1, 0.025]', '[9, 0, 2]',
     'b: lighter than air; is the mass in tonnes'),
    (BLOCK, '[0.5, 0.1, 0.025]', '[500, 100, 25]', 'b: more than 20 m from the base'),
    (BLOCK, '0.025]', '0.0]', 'at the start b 25 mm in floor, so that contacts push them apart'),
    (BLOCK, '[0.5, 0.1, 0.025]', '[0, 0, 0.1]', 'mm in shoulder_link, so that contacts push'),
    (BLOCK, 'mass', 'rotation: [0, 0, 90], mass', 'b: rotation of more than a turn; is it in deg'),
    (BLOCK, 'mass', 'stiffness: 10, mass', 'b: sinks in by more than 10 mm under its weight'),
    (DOOR, '1.6]', '90]', 'd: moves by more than 20 rad; is its range in degrees'),
    (DOOR, 'hinge', 'slide', ''),
    (DOOR.replace('hinge', 'slide'), '1.6]', '300]', 'd: moves by more than 20 m; is its range'),
    (DOOR, '0.25, 0]', '250, 0]', 'd: axis more than 5 m away; is it in millimetres'),
    (BLOCK, '}', '}\n- ' + BLOCK.replace('name: b', 'name: c'), 'at the start b 50 mm in c, so'),
]  # fmt: skip


@pytest.mark.quick(5)
@pytest.mark.parametrize(('row', 'old', 'new', 'line'), SLIPS, ids=[x[3] for x in SLIPS])
def test_an_object_in_another_unit_or_in_another_one_is_named(row, old, new, line):
    assert old in row
    found = lines(objects='- ' + row.replace(old, new, 1))
    assert any(line in each for each in found) if line else not found


@pytest.mark.parametrize('scene', ['blocks', 'hinged_door', 'peg_in_hole', 'shelf', 'table'])
def test_nothing_is_named_in_the_shipped_scenes(scene):
    assert lines(scene=scene) == []


def test_slips_in_a_scene_of_mjcf_are_named(tmp_path, capfd):
    file = tmp_path / 's.xml'
    for angle, x, line in (
        ('degree', 1, ''),
        ('radian', 1, 'scene: j: moves by more than 20 rad; is its range in degrees?'),
        ('degree', 90, 'scene: x: more than 20 m from the base; is its position in millimetres?'),
    ):
        file.write_text(BODY.format(angle, x))
        assert lines(scene=str(file)) == [line] * bool(line)
    file.write_text(BODY.format('degree', 1).replace('pos', 'euler="0 1.5708 0" pos'))
    lines(scene=str(file))
    assert 'euler="0 1.5708 0" is in degrees; is it written in radians' in capfd.readouterr().err
    file.write_text('<mujoco/>')
    assert lines(scene=str(file)) == ['scene: it has no object with a shape']


def test_a_mass_that_is_too_small_for_its_contact_is_named_as_a_cause():
    with pytest.raises(ArmError, match='or correct a mass that is too small'):
        lines(objects='- ' + BLOCK.replace('mass: 0.2', 'mass: 2.0e-5'))


def test_two_values_of_a_key_are_refused():
    with pytest.raises(ArmError, match="objects, object 1 .a.: two values of 'mass': write one"):
        read_objects('- {name: a, size: [1, 1, 1], mass: 1, mass: 2}')


def test_a_mesh_that_is_missing_or_flat_is_refused_by_the_name_of_its_object(tmp_path):
    (tmp_path / 'Cup.obj').write_text('v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n')
    (tmp_path / 's.yaml').write_text('- {name: cup, shape: mesh, file: cup.obj}')
    with pytest.raises(ArmError, match="mesh of 'cup': .* there is .*Cup.obj', in other small"):
        lines(scene=str(tmp_path / 's.yaml'))
    (tmp_path / 'cup.obj').write_text((tmp_path / 'Cup.obj').read_text())
    with pytest.raises(ArmError, match="mesh of 'cup': .*its 3 points lie in a plane"):
        lines(scene=str(tmp_path / 's.yaml'))
