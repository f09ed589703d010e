"""Shapes of a URDF: refused or named when the file is read, not when something looks at them."""

import re

import pytest
from arms import chain, revolute
from repository import ROOT

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.shapes import with_shapes
from arm_dynamics.urdf_elements import MOMENTS
from arm_dynamics.urdf_rules.elements import KNOWN, NAMED
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.plant import PlantParameters

ARM = chain('arm', [revolute(name, 'xyz="0 0 0.3"', '0 1 0') for name in 'ab'])
BOX = '<geometry><box size="0.1 0.1 0.1"/></geometry>'


def behind(text, kind='collision'):
    """Return the arm with a shape at its link a_link."""
    return ARM.replace('</inertial>', f'</inertial><{kind}>{text}</{kind}>', 1)


@pytest.mark.parametrize(
    ('shape', 'says'),
    [
        ('<box size="0.1 0.1"/>', '<box size="0.1 0.1"> must be three finite numbers'),
        ('<box size="0.1 0.1 0.1 0.1"/>', '<box size="0.1 0.1 0.1 0.1"> must be three finite n'),
        ('<box size="0.1 nan 0.1"/>', '<box size="0.1 nan 0.1"> must be three finite numbers'),
        ('<box size="0.1 -0.1 0.1"/>', '<box size="0.1 -0.1 0.1"> must not be negative'),
        ('<box xyz="1 1 1"/>', '<box> has no size'),
        ('<cylinder radius="0.1" height="1"/>', '<cylinder> has no length'),
        ('<sphere radius="0,1"/>', '<sphere radius="0,1"> must be one finite number'),
        ('<sphere radius="1_0"/>', '<sphere radius="1_0"> must be one finite number'),
        ('<mesh/>', '<mesh> has no filename'),
        ('<mesh filename="a.stl" scale="0.001"/>', '<mesh scale="0.001"> must be three finite nu'),
        ('<mesh filename="a.stl" scale="1 0 1"/>', '<mesh scale="1 0 1"> has a zero'),
    ],
)
@pytest.mark.parametrize('kind', ['visual', 'collision'])
def test_a_shape_that_cannot_be_read_is_refused(shape, says, kind):
    with pytest.raises(ArmError) as refusal:
        RobotModel(behind(f'<geometry>{shape}</geometry>', kind))
    assert str(refusal.value).startswith(f"link 'a_link': <{kind}>: {says}")


@pytest.mark.parametrize('pose', ['xyz="0 0"', 'xyz="a b c"', 'rpy="nan 0 0"', 'rpy="0,1 0 0"'])
def test_a_shape_at_no_place_is_refused(pose):
    with pytest.raises(ArmError, match="link 'a_link': <collision>: <origin .* must be three f"):
        RobotModel(behind(f'<origin {pose}/>{BOX}'))


@pytest.mark.parametrize(
    'shape',
    [
        '',
        '<geometry/>',
        '<geometry><sphere radius="0"/></geometry>',
        '<geometry><cylinder radius="0.1" length="0"/></geometry>',
    ],
)
def test_a_collision_without_a_shape_is_named(shape):
    (note,) = RobotModel(behind(shape)).notes
    assert note == '<collision> of a_link has no shape, or one of size 0'


def test_of_two_shapes_the_first_one_is_the_only_one_for_contacts_and_clearance():
    two = BOX.replace('</geometry>', '<box size="9 9 9"/><sphere radius="9"/></geometry>')
    one, both = (RobotModel(behind(each)) for each in (BOX, two))
    assert len(both.notes) == 2
    trees = [with_shapes(each.description)[0] for each in (one, both)]
    assert [len(tree.findall('link/collision/geometry/*')) for tree in trees] == [1, 1]
    MujocoPlant(both, PlantParameters('torque', contacts=True))


def test_the_table_of_the_page_has_each_name_that_the_code_knows():
    page = (ROOT / 'docs' / 'robots.md').read_text()
    _, _, rest = page.partition('### Elements and attributes of a URDF')
    table = set(re.findall('`<?([a-z_0-9]+)>?`', rest.partition('\n### ')[0]))
    known = {*KNOWN, *(name for names in KNOWN.values() for name in names)}
    known |= {path.partition('/')[2] for path in NAMED}
    assert known - table - {*MOMENTS} == {'robot'}  # the root
