"""Masses estimated from shapes: what several shapes have in common counts once."""

import time

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

ARM = """<robot name="arm"><link name="base"/><link name="one">{own}</link>
<joint name="a" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="100" velocity="1"/></joint>{more}</robot>"""
FIXED = """<link name="shell">{}</link><joint name="f" type="fixed"><parent link="one"/>
<child link="shell"/><origin xyz="0 0 0.2" rpy="0 0 1.5707963267948966"/></joint>"""


def shape(text, xyz='0 0 0', rpy='0 0 0'):
    pose = f'<origin xyz="{xyz}" rpy="{rpy}"/>'
    return f'<collision>{pose}<geometry>{text}</geometry></collision>'


def inertia(tmp_path, own, more=''):
    file = tmp_path / 'arm.urdf'
    file.write_text(ARM.format(own=own, more=more))
    return RobotModel(find_urdf(f'{file} inertia:=estimate')).pin_model.inertias[1]


def box(x, y, z, at):
    mass = 1000.0 * x * y * z
    about = mass / 12.0 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    return mass, np.array(at), about


UNION = box(0.3, 0.2, 0.2, (0.05, 0.0, 0.0))
BOX = shape('<box size="0.2 0.2 0.2"/>')


@pytest.mark.parametrize(
    ('own', 'more'),
    [
        (BOX + shape('<box size="0.2 0.2 0.2"/>', '0.1 0 0'), ''),
        (BOX, FIXED.format(shape('<box size="0.2 0.2 0.2"/>', '0 -0.1 -0.2'))),
        (BOX + BOX + shape('<box size="0.1 0.2 0.2"/>', '0.15 0 0'), ''),
        (BOX + shape('<box size="0.2 0.2 0.3"/>', '0.05 0 0', '0 1.5707963267948966 0'), ''),
    ],
)
def test_what_shapes_have_in_common_counts_once(tmp_path, own, more):
    found, (mass, centre, about) = inertia(tmp_path, own, more), UNION
    assert found.mass == pytest.approx(mass, rel=0.02)
    np.testing.assert_allclose(found.lever, centre, atol=2e-3)
    np.testing.assert_allclose(found.inertia, about, atol=0.03 * about.max())


@pytest.mark.parametrize(
    'text',
    ['<cylinder radius="0.1" length="0.2"/>', '<capsule radius="0.1" length="0.2"/>',
     '<sphere radius="0.1"/>'],
)  # fmt: skip
def test_a_shape_that_is_written_twice_counts_once(tmp_path, text):
    once, twice = (inertia(tmp_path, shape(text) * count) for count in (1, 2))
    assert twice.mass == pytest.approx(once.mass, rel=1e-9)
    np.testing.assert_allclose(twice.inertia, once.inertia, atol=0.03 * once.inertia.max())


def test_a_mesh_that_is_written_twice_counts_once(tmp_path):
    corners = 'v 0 0 0\nv 0.3 0 0\nv 0 0.2 0\nv 0 0 0.1\n'
    (tmp_path / 'a.obj').write_text(f'{corners}f 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n')
    text = f'<mesh filename="{tmp_path / "a.obj"}"/>'
    once, twice = (inertia(tmp_path, shape(text) * count) for count in (1, 2))
    assert once.mass == pytest.approx(1000.0 * 0.3 * 0.2 * 0.1 / 6.0)
    assert twice.mass == pytest.approx(once.mass, rel=1e-9)
    np.testing.assert_allclose(twice.inertia, once.inertia, atol=0.03 * once.inertia.max())


@pytest.mark.parametrize('tag', ['cylinder', 'capsule'])
def test_round_shapes_have_nothing_in_common_beyond_their_ends(tmp_path, tag):
    text, far = f'<{tag} radius="0.1" length="0.2"/>', '0 0 0.4'
    found = inertia(tmp_path, shape(text) + shape(text, far))
    assert found.mass == pytest.approx(2.0 * inertia(tmp_path, shape(text)).mass, rel=1e-9)


def test_the_line_names_total_mass_unless_it_is_given(tmp_path, capfd):
    inertia(tmp_path, BOX)
    assert '; total_mass:=KG gives them the mass of the arm' in capfd.readouterr().err
    find_urdf(f'{tmp_path / "arm.urdf"} inertia:=estimate total_mass:=9')
    said = capfd.readouterr().err
    assert 'inertia estimated from shapes' in said
    assert 'total_mass' not in said


def test_shapes_that_touch_add_up(tmp_path):
    found = inertia(tmp_path, BOX + shape('<box size="0.1 0.2 0.2"/>', '0.15 0 0'))
    np.testing.assert_allclose(found.inertia, UNION[2], atol=1e-12)
    assert found.mass == pytest.approx(UNION[0], rel=1e-12)


@pytest.mark.parametrize('number', ['inf', 'nan'])
def test_a_size_that_is_not_finite_is_refused_with_its_shape(tmp_path, number):
    text = shape(f'<cylinder radius="{number}" length="1"/>')
    with pytest.raises(ArmError, match=f"<cylinder .*'radius': '{number}'.* is no shape"):
        inertia(tmp_path, text)


@pytest.mark.slow
def test_many_shapes_of_a_link_take_seconds_and_count_once(tmp_path):
    # 250 shapes took half a minute, 1000 more than 100 s: a time with the square of their number.
    spheres = ''.join(shape('<sphere radius="0.1"/>', f'{k / 250} 0 0') for k in range(250))
    begin = time.process_time()
    found = inertia(tmp_path, spheres)
    assert time.process_time() - begin < 15.0
    length = 249 / 250
    assert found.mass == pytest.approx(1000 * np.pi * (0.01 * length + 0.004 / 3), rel=0.02)
