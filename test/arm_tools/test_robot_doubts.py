"""What `inspect_robot` says of links that do not fit their shapes, and of placeholders."""

import re

import pytest
import trimesh

from arm_dynamics.model import RobotModel
from arm_tools.robot_doubts import doubts

LENGTHS = {'a': 0.12, 'b': 0.35, 'c': 0.3, 'd': 0.2}


def arm(shape='<cylinder radius="0.05" length="{0}"/>'):
    """Return an arm of four solid cylinders, of 2000 kg/m^3."""
    text, parent = '<robot name="arm"><link name="base"/>', 'base'
    for k, (name, length) in enumerate(LENGTHS.items()):
        mass = 2000.0 * 3.1416 * 0.0025 * length
        across, along = mass * (0.0075 + length**2) / 12.0, mass * 0.00125
        text += f"""<joint name="{name}" type="revolute">
            <parent link="{parent}"/><child link="{name}_link"/>
            <origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
            <limit lower="-2" upper="2.1" effort="{60 - k}" velocity="3"/></joint>
          <link name="{name}_link"><inertial><origin xyz="0 0 {length / 2}"/>
            <mass value="{mass:.6g}"/><inertia ixx="{across:.6g}" ixy="0" ixz="0"
            iyy="{across:.6g}" iyz="0" izz="{along:.6g}"/></inertial>
            <collision><origin xyz="0 0 {length / 2}"/><geometry>{shape.format(length)}
            </geometry></collision></link>"""
        parent = f'{name}_link'
    return text + '</robot>'


ARM = arm()


def scaled(names, factor, link='b_link'):
    """Return the arm with numbers of a link times a factor."""
    before, inside, behind = re.split(f'(<link name="{link}">.*?</link>)', ARM, flags=re.DOTALL)
    numbers = re.compile(rf'\b({names})="([^"]*)"')
    return (
        before
        + numbers.sub(lambda found: f'{found[1]}="{float(found[2]) * factor}"', inside)
        + behind
    )


def dense(factor):
    """Return the arm with all masses and moments of inertia times a factor."""
    numbers = re.compile(r'\b(value|i..)="([^"]*)"')
    return numbers.sub(lambda found: f'{found[1]}="{float(found[2]) * factor}"', ARM)


# The third joint is where the second one is, and turns about another line; its link may be aside.
SAME_PLACE = re.sub(
    '(child link="c_link"/>\\s*)<origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>',
    r'\1<axis xyz="1 0 0"/>', ARM,
).replace('xyz="0 0 0.15"', 'xyz="{0} 0 0.15"')  # fmt: skip


SAID = [
    (scaled('value|i..', 1e-3), 'b_link: less than 10 kg.m.3 in its shapes; is the mass in ton'),
    (scaled('value|i..', 1e3), 'b_link: denser in its shapes than any metal; is the mass right'),
    (scaled('value', 10.0), 'b_link: mass unlike those of the other links for its shapes, but m'),
    (scaled('i..', 1e-3), 'b_link .0.00329 m.: gyration radius far within its shapes; is <in'),
    (SAME_PLACE.format('-0.02'), 'c: at the place of the joint before, and the shapes that it m'),
    (dense(4.0), r'half of the links have more than 8e\+03 kg.m.3 in their shapes; are .*large'),
    (dense(0.04), 'half of the links have less than 80 kg.m.3 in their shapes; are .*small'),
    (scaled('i..', 100), 'b_link .1.04 m.: gyration radius far beyond its shapes'),
    (ARM.replace('xyz="0 0 0.175"', 'xyz="0 0 -0.175"', 1),
     'b_link .0.35 m.: centre of mass so far outside of its shapes; is a sign wrong'),
    (ARM.replace('<collision>', '<visual><geometry><sphere radius="30"/></geometry></visual>'
                 '<collision>', 1), 'a_link: visual and collision of quite another size'),
    (re.sub('effort="[^"]*"', 'effort="1000"', ARM),
     'all joints have the effort limit 1000 N.m and the speed limit 3 rad/s: placeholders'),
    (re.sub('effort="[^"]*"', 'effort="100"', ARM.replace('velocity="3"', 'velocity="2"', 1)),
     'all joints have the effort limit 100 N.m: placeholders'),
]  # fmt: skip


@pytest.mark.parametrize(('text', 'line'), SAID, ids=[x[1] for x in SAID])
def test_what_does_not_fit_the_shapes_or_is_a_placeholder_is_named(text, line):
    said = list(doubts(RobotModel(text)))
    assert len(said) == 1
    assert re.search(line, said[0])


@pytest.mark.parametrize(
    'text',
    [
        ARM,
        SAME_PLACE.format('0.2'),
        scaled('value|i..', 3.0),
        scaled('value', 4.0),
        scaled('i..', 0.03),
        dense(2.5),
        dense(0.1),
        scaled('value|i..', 0.1),
        re.sub('effort="[^"]*"', 'effort="87"', ARM),
        re.sub('effort="[^"]*"', 'effort="80"', ARM),
        re.sub('effort="[^"]*"', 'effort="0"', ARM),
        re.sub('<collision>.*?</collision>', '', scaled('i..', 100), flags=re.DOTALL),
    ],
)
def test_what_a_drive_or_a_link_may_have_is_not_named(text):
    assert not list(doubts(RobotModel(text)))


@pytest.mark.parametrize('scale', ['1', '0.05', ''])
def test_meshes_are_read_and_those_that_are_missing_say_nothing(tmp_path, scale):
    trimesh.creation.box((0.1, 0.1, 0.3)).export(tmp_path / 'part.stl')
    name = f'filename="{"part" if scale else "no"}.stl"'
    mesh = f'<mesh {name} scale="{scale or 1} {scale or 1} {scale or 1}"/>'
    (tmp_path / 'arm.urdf').write_text(arm(mesh))
    said = list(doubts(RobotModel(tmp_path / 'arm.urdf')))
    assert any('denser in its shapes' in each for each in said) == (scale == '0.05')
    assert bool(said) == (scale == '0.05')
