"""Objects that a controller in real time does not take."""

from arm_controllers.ros.objects_input import too_large
from arm_dynamics.object_shapes import ObjectShape


def shape(kind, file):
    pose = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    return ObjectShape('cup', kind, (1.0, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0), str(file), pose)


def test_a_mesh_that_would_hold_a_cycle_is_named_with_its_size(tmp_path):
    small, large = tmp_path / 'small.stl', tmp_path / 'large.stl'
    small.write_bytes(bytes(1000))
    large.write_bytes(bytes(2_000_000))
    fit = [shape('mesh', small), shape('mesh', tmp_path / 'none.stl'), shape('box', large)]
    assert too_large(fit) == ''
    expected = f"object 'cup': mesh {large} has 2 MB; allowed in real time: 0.5 MB"
    assert too_large([*fit, shape('mesh', large)]).startswith(expected)
