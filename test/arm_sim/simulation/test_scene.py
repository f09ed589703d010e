"""Scenes from YAML files."""

import pytest

from arm_dynamics import ArmError
from arm_sim.simulation.scene import read_scene, scene_names


@pytest.mark.parametrize('name', scene_names())
def test_shipped_scenes_are_read(name):
    assert read_scene(name)


def test_no_scene_has_no_objects():
    assert read_scene('') == ()


def test_fixed_objects_come_first_and_meshes_have_a_whole_path(tmp_path):
    file = tmp_path / 'scene.yaml'
    file.write_text(
        '- {name: a, shape: sphere, size: [0.1], mass: 1e-1}\n'
        '- {name: b, shape: mesh, file: b.stl}'
    )
    one, other = read_scene(str(file))
    assert (one.name, other.name) == ('b', 'a')
    assert one.file == str(tmp_path / 'b.stl')
    assert other.mass == 0.1


@pytest.mark.parametrize(
    ('text', 'says'),
    [
        ('a: 1', 'a list of objects is expected'),
        ('- [', 'not YAML'),
        ('- &a {name: a}\n- *a', 'an alias .* not allowed'),
        ('- 3', 'object 1: 3 is not a list of names and values'),
        ('- {shape: box, size: [1, 1, 1]}', 'object 1: an object has no name'),
        ('- {name: a, shape: boxx, size: [1, 1, 1]}', r"object 1 \(a\): shape is 'boxx'; allowed"),
        ('- {name: a, size: [1, 1]}', r'object 1 \(a\): size has 2 numbers; a box needs 3'),
        ('- {name: a, size: [1, 1, 0]}', 'size is 0'),
        ('- {name: a, size: [1, 1, .nan]}', 'size is nan'),
        ('- {name: a, size: [1, 1, 1], mas: 2}', "'mas'.*'mass'"),
        ('- {name: a, size: [1, 1, 1], mass: x}', "'mass' is 'x'; it must be a number"),
        ('- {name: a, shape: mesh}', 'a mesh needs one'),
        ('- {name: a, size: [1, 1, 1], file: b.stl}', 'other shapes have none'),
        ('- {name: a, size: [1, 1, 1]}\n- {name: a, size: [1, 1, 1]}', "two .* the name 'a'"),
        ('- {name: a, size: [1, 1, 1], parent: b}', "parent of 'a' is 'b'; .* further up"),
        ('- {name: a, size: [1, 1, 1], parent: a}', "parent of 'a' is 'a'; .* further up"),
        ('- {name: a, size: [1, 1, 1], joint: hinge}', "joint is 'hinge', but .* no mass"),
        ('- {name: a, size: [1, 1, 1], joint: ball}', "joint is 'ball'; allowed: hinge, slide"),
        ('- {name: a, size: [1, 1, 1], mass: 1, axis: [0, 0, 0]}', 'axis is zero'),
        ('- {name: a, size: [1, 1, 1], range: [0, 1]}', r'range is \(0.0, 1.0\); a joint'),
        (
            '- {name: a, size: [1, 1, 1], mass: 1, joint: slide, range: [1, 0]}',
            'a joint has one that rises',
        ),
        ('- {name: a, size: [1, 1, 1], position: [0, 0, 1e300]}', r'position is 1e\+300'),
        ('- {name: a, size: [1, 1, 1], range: [.nan, 1]}', 'range is .*two finite numbers'),
    ],
)
def test_bad_scenes_are_refused_in_one_line(tmp_path, text, says):
    file = tmp_path / 'scene.yaml'
    file.write_text(text)
    with pytest.raises(ArmError, match=says) as error:
        read_scene(str(file))
    assert '\n' not in str(error.value)


def test_an_unknown_scene_is_named_with_the_nearest():
    with pytest.raises(ArmError, match="'blocs'.*'blocks'"):
        read_scene('blocs')
    with pytest.raises(ArmError, match='cannot be read'):
        read_scene('/nowhere/scene.yaml')


def test_a_jointed_object_and_its_children_move(tmp_path):
    file = tmp_path / 'scene.yaml'
    file.write_text(
        '- {name: door, size: [1, 1, 1], mass: 1, joint: hinge, range: [0, 1]}\n'
        '- {name: knob, size: [1, 1, 1], parent: door}\n'
        '- {name: post, size: [1, 1, 1]}\n'
        '- {name: sign, size: [1, 1, 1], mass: 1, parent: post}'
    )
    assert [each.name for each in read_scene(str(file))] == ['post', 'sign', 'door', 'knob']
    assert not any(each.is_free for each in read_scene(str(file)))
