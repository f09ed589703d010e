"""Clearance from the objects of a scene: MuJoCo's distances, links and objects by name."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_dynamics.clearance import Clearance
from arm_dynamics.scene_clearance import scene_clearance
from arm_dynamics.self_contact import touching_links
from arm_dynamics.surroundings import Surroundings
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot
from arm_sim.simulation.mujoco_model import arm_spec
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.scene_shapes import scene_shapes

UR5E = Robot.load('ur5e')
SCENE = """
- {name: box, size: [0.2, 0.1, 0.3], position: [0.5, 0.2, 0.3], rotation: [0.3, -0.5, 1]}
- {name: ball, shape: sphere, size: [0.2], position: [-0.4, 0.3, 0.6], mass: 0.2}
- {name: rod, shape: cylinder, size: [0.06, 0.5], position: [0.4, -0.4, 0.5], rotation: [1, 0, 0]}
- {name: pill, shape: capsule, size: [0.1, 0.3], position: [0.0, -0.6, 0.8], rotation: [0, 1.2, 0]}
- {name: leaf, size: [0.03, 0.4, 0.5], position: [0.6, 0.0, 0.7], mass: 2.0, joint: hinge,
   axis_position: [0.0, 0.2, 0.0]}
- {name: knob, parent: leaf, shape: sphere, size: [0.05], position: [-0.05, -0.15, 0.0], mass: 0.1}
- {name: tetrahedron, shape: mesh, file: tetrahedron.obj, position: [-0.5, -0.3, 0.3]}
"""
MESH = """v 0 0 0
v 0.2 0 0
v 0 0.2 0
v 0 0 0.2
f 1 3 2
f 1 2 4
f 2 3 4
f 3 1 4
"""


@pytest.fixture
def scene(tmp_path):
    (tmp_path / 'tetrahedron.obj').write_text(MESH)
    file = tmp_path / 'all_shapes.yaml'
    file.write_text(SCENE)
    return str(file)


def test_distances_of_links_from_objects_of_all_shapes_are_those_of_mujoco(scene):
    model = UR5E.model
    checked = scene_clearance(model, scene_shapes(scene), Surroundings(floor=False))
    mj_model = arm_spec(model, PlantParameters(scene=scene, contacts=True)).compile()
    data = mujoco.MjData(mj_model)
    rng, compared = np.random.default_rng(0), dict.fromkeys(x.name for x in scene_shapes(scene))
    compared = dict.fromkeys(compared, 0)
    for _ in range(20):
        q = rng.uniform(-2.0, 2.0, model.nv)
        data.qpos[: model.nv] = q
        mujoco.mj_kinematics(mj_model, data)
        ours: dict[tuple[str, str], float] = {}
        for pair, distance in zip(checked.pairs, checked.distances(q).tolist(), strict=True):
            ours[pair] = min(distance, ours.get(pair, np.inf))
        for name in compared:
            for link in {link for link, other in checked.pairs if other == f"object '{name}'"}:
                theirs = min(
                    mujoco.mj_geomDistance(mj_model, data, one, other, 2.0, None)
                    for one in geoms(mj_model, link)
                    for other in geoms(mj_model, name)
                )
                distance = ours[link, f"object '{name}'"]
                if min(theirs, distance) > 1e-3:
                    np.testing.assert_allclose(distance, theirs, atol=2e-5)
                    compared[name] += 1
    assert min(compared.values()) > 60, compared


def geoms(mj_model, body):
    """Return the shapes of a body that touch something."""
    owned = np.flatnonzero(mj_model.geom_bodyid == mj_model.body(body).id).tolist()
    pairs = {*mj_model.pair_geom1.tolist(), *mj_model.pair_geom2.tolist()}
    return [each for each in owned if each in pairs]


def test_shapes_are_where_a_simulation_starts(scene):
    plant = MujocoPlant(UR5E.model, PlantParameters(scene=scene))
    plant.reset(UR5E.start)
    placed = {x.name: x.pose[:3] for x in scene_shapes(scene)}
    for name in ('ball', 'leaf', 'knob'):
        np.testing.assert_allclose(placed[name], plant.scene.motion(name)[0][:3], atol=1e-12)


@pytest.mark.parametrize(('height', 'says'), [(0.09, 'inside'), (0.12, 'from')])
def test_the_nearest_pair_names_link_and_object(tmp_path, height, says):
    q = UR5E.start
    elbow = UR5E.model.forward_kinematics(q, 'forearm_link').translation
    x, y, z = elbow[0], elbow[1], elbow[2] + height
    file = tmp_path / 'lamp.yaml'
    file.write_text(f'- {{name: lamp, shape: sphere, size: [0.1], position: [{x}, {y}, {z}]}}')
    around = Surroundings(floor=False), scene_shapes(str(file)), frozenset()
    nearest = Clearance(UR5E.model, *around).nearest(q)
    assert nearest.other == "object 'lamp'"
    assert nearest.link in ('upper_arm_link', 'forearm_link')
    assert f"mm {says} object 'lamp' at (" in str(nearest)
    assert (nearest.distance > 0.0) == (says == 'from')


def test_pairs_of_links_are_those_that_touch_in_a_simulation(tmp_path):
    srdf = tmp_path / 'arm.srdf'
    srdf.write_text(
        '<robot name="arm"><disable_collisions link1="upper_arm_link" link2="wrist_1_link"/>'
        '</robot>'
    )
    checked = scene_clearance(UR5E.model, (), Surroundings(floor=False), str(srdf))
    pairs = {frozenset(each) for each in checked.pairs}
    assert pairs == touching_links(UR5E.model, str(srdf))[0]
    assert frozenset(('upper_arm_link', 'wrist_1_link')) not in pairs


def test_a_mesh_that_is_none_is_refused_with_the_object(tmp_path):
    (shape,) = scene_shapes('wall')
    wrong = shape._replace(kind='mesh', size=(1.0, 1.0, 1.0), file=str(tmp_path / 'none.stl'))
    with pytest.raises(ArmError, match=r"^object 'wall': mesh .*none\.stl") as refused:
        scene_clearance(UR5E.model, (wrong,))
    assert '\n' not in str(refused.value)


def test_every_shipped_scene_has_shapes():
    for file in (Path(__file__).parents[3] / 'config' / 'scenes').glob('*.yaml'):
        assert scene_shapes(file.stem), file
