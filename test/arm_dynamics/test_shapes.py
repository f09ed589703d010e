"""Where the files of meshes are looked for."""

from arm_dynamics.shapes import candidates


def test_a_mesh_of_a_package_is_within_the_package(tmp_path, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert candidates('package://arm/meshes/../a.stl', tmp_path)
    assert candidates('package://arm/../../secret.stl', tmp_path) == []
    assert candidates('package://../secret.stl', tmp_path) == []
