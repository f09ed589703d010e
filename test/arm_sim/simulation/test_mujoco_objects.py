"""Jointed objects and MJCF scenes next to an arm."""

import subprocess
import sys

import numpy as np
import pytest
import yaml

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation import mujoco_objects
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import PlantParameters

pytestmark = pytest.mark.filterwarnings('ignore:Attach')
PLANAR = RobotModel.from_urdf(find_urdf('planar_3r'))
MJCF = """
<mujoco>
  <compiler angle="degree"/>
  <option timestep="0.1" gravity="0 0 5"/>
  <default><geom friction="0.3"/></default>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="ground" type="box" size="1 1 0.1" pos="2 0 0"/>
    <body name="gate" pos="5 0 2">
      <joint name="g" axis="0 1 0" damping="0.1"/>
      <geom type="box" size="0.3 0.02 0.5" pos="0.3 0 0"/>
      <body name="pointer" pos="0 1 0">
        <joint name="p" axis="0 1 0"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0"/>
      </body>
    </body>
    <body name="box" pos="2 0 0.2">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1" user="5e4 100"/>
    </body>
  </worldbody>
  <equality><joint joint1="p" joint2="g" polycoef="0 -2 0 0 0"/></equality>
  <tendon><fixed name="t"><joint joint="g" coef="1"/></fixed></tendon>
  <actuator><motor joint="g"/></actuator>
  <sensor><jointpos joint="g"/></sensor>
  <keyframe><key name="home"/></keyframe>
</mujoco>
"""


@pytest.fixture
def among(tmp_path):
    """Return a function that puts an arm into a scene: rows of YAML, or the text of an MJCF."""

    def made(scene, model=PLANAR, **parameters):
        text = isinstance(scene, str)
        file = tmp_path / ('scene.xml' if text else 'scene.yaml')
        file.write_text(scene if text else yaml.safe_dump(scene))
        own = {'actuator': 'torque', 'timestep': 5e-4, 'scene': str(file), **parameters}
        return MujocoPlant(model, PlantParameters(**own))

    return made


def advance(plant, seconds, turn=0.0):
    """Yield the poses of the objects while the arm is held, with its first joint at `turn`."""
    for _ in range(round(seconds / plant.parameters.timestep)):
        plant.q[:], plant.v[:] = 0.0, 0.0
        plant.q[0] = turn
        plant.step(np.zeros(len(plant.joint_names)))
        yield plant.scene.object_poses()


def test_a_slide_with_damping_falls_at_its_terminal_speed(among):
    drop = {'name': 'drop', 'size': [0.1] * 3, 'position': [3, 0, 5], 'mass': 2.0,
            'joint': 'slide', 'joint_damping': 40.0}  # fmt: skip
    heights = np.array([poses[0, 2] for poses in advance(among([drop]), 1.0)])
    assert (heights[-1001] - heights[-1]) / 0.5 == pytest.approx(2.0 * 9.81 / 40.0, rel=1e-4)


def test_a_hinge_swings_as_a_compound_pendulum_about_its_axis(among):
    length, mass = 0.4, 1.5
    plate = {'name': 'plate', 'size': [0.02, 0.02, length], 'position': [3, 0, 1], 'mass': mass,
             'joint': 'hinge', 'axis': [0, 1, 0], 'axis_position': [0, 0, length / 2]}  # fmt: skip
    inertia = mass * (length**2 + 0.02**2) / 12 + mass * (length / 2) ** 2
    plant = among([plate])
    plant.mj_data.qvel[3] = 0.05
    x = np.array([poses[0, 0] for poses in advance(plant, 3.0)]) - 3.0
    zeros = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    period = np.diff(zeros).mean() * 5e-4
    expected = 2 * np.pi * np.sqrt(inertia / (mass * 9.81 * length / 2))
    assert period == pytest.approx(expected, rel=2e-3)


def test_the_shipped_door_stays_where_it_is_and_opens_up_to_its_range():
    plant = MujocoPlant(PLANAR, PlantParameters(actuator='torque', scene='hinged_door'))
    assert plant.scene.objects == ('door', 'handle_stem', 'handle')
    start = plant.scene.object_poses()
    list(advance(plant, 0.2, 3.0))
    np.testing.assert_allclose(plant.scene.object_poses(), start, atol=1e-4)  # friction holds it
    plant.mj_data.qfrc_applied[3] = 3.0
    for poses in advance(plant, 3.0, 3.0):
        turned = 2 * np.arctan2(*poses[0, [5, 6]])
    assert turned == pytest.approx(1.6, abs=0.02)
    arm = np.linalg.norm((poses[2] - poses[0])[:2])
    assert arm == pytest.approx(np.hypot(0.07, 0.19), abs=1e-9)  # the handle is on the door


@pytest.mark.parametrize(('aside', 'enters'), [(0.00004, True), (0.001, False)])
def test_the_shipped_peg_falls_into_its_hole_from_right_above_only(aside, enters):
    plant = MujocoPlant(PLANAR, PlantParameters(actuator='torque', scene='peg_in_hole'))
    plant.mj_data.qpos[3:6] = 0.45 + aside, -0.1, 0.13
    *_, poses = advance(plant, 0.8, 3.0)
    if not enters:
        assert poses[0, 2] > 0.071
        return
    assert poses[0, :3] == pytest.approx([0.45, -0.1, 0.07], abs=8e-5)
    force = sum(abs(point.force[2]) for point in plant.contacts.points())
    assert force == pytest.approx(0.25 * 9.81, rel=1e-2)


def test_a_jointed_object_touches_with_the_stated_stiffness(among):
    lid = {'name': 'lid', 'size': [0.4, 0.2, 0.02], 'position': [3, 0, 0.01], 'mass': 2.0,
           'joint': 'hinge', 'axis': [0, 1, 0], 'axis_position': [-0.2, 0, 0.01],
           'stiffness': 1e4, 'damping': 50.0, 'friction': 0.0}  # fmt: skip
    plant = among([lid])
    list(advance(plant, 1.0))
    points = plant.contacts.points()
    for point in points:
        assert point.force[2] == pytest.approx(1e4 * point.penetration, rel=1e-4)
    moments = sum(point.force[2] * (point.position[0] - 2.8) for point in points)
    assert moments == pytest.approx(2.0 * 9.81 * 0.2, rel=1e-4)


def test_bodies_joints_and_equalities_of_an_mjcf_are_next_to_the_arm(among):
    plant = among(MJCF)
    assert plant.scene.objects == ('gate', 'pointer', 'box')
    assert [shape.name for shape in plant.scene.shapes][:2] == ['ground', 'gate']
    assert check_model(plant, PLANAR) < 1e-12
    plant.reset(np.zeros(3))
    *_, poses = advance(plant, 1.0)
    gate, pointer = (2 * np.arctan2(row[4], row[6]) for row in poses[:2])
    assert abs(gate) > 0.3
    assert pointer == pytest.approx(-gate, abs=0.02)  # on the gate it turns back by 2 gate
    names = {shape for point in plant.contacts.points() for shape in point.shapes}
    assert names == {'ground', 'box shape 3'}
    points = plant.contacts.points()
    assert sum(point.force[2] for point in points) == pytest.approx(8.0 * 9.81, rel=1e-2)
    for point in points:  # 1e4 N/m of the ground is the softer one
        assert point.penetration == pytest.approx(8.0 * 9.81 / 4e4, rel=1e-2)


def test_contact_facts_are_depth_force_and_slip_of_a_link_on_a_plate(among):
    """The first link is 1 m long, with a radius of 0.03 m; the plate is 0.1 mm inside it."""
    plate = {'name': 'plate', 'size': [0.1, 0.1, 0.1], 'position': [0.8, 0, 0.4201],
             'stiffness': 1e4, 'damping': 0.0, 'friction': 0.1}  # fmt: skip
    plant = among([plate])
    plant.reset(np.zeros(3), [0.05, 0.0, 0.0])
    plant.step(np.zeros(3))
    depth, force, slip = plant.contacts.facts()
    points = plant.contacts.points()
    assert depth == pytest.approx(0.1, rel=1e-3)
    assert force == pytest.approx(len(points) * 1.0 * np.hypot(1.0, 0.1), rel=1e-2)
    # The speed falls a little within the period.
    most = 50 * max(np.hypot(*each.position[:2]) for each in points)
    assert 0.998 * most < slip <= most * (1.0 + 1e-6)


@pytest.mark.parametrize(
    ('change', 'says'),
    [
        (('<mujoco>', '<mujoco'), 'scene.xml: XML parse error'),
        (('<body name="gate"', '<body name="link_1"'), "the name 'link_1' is taken"),
        (('damping="0.1"', 'damping="nan"'), 'not finite|beyond|nan'),
        (('size="0.1 0.1 0.1"', 'size="1e300 1 1"'), 'beyond|large|inertia|mass'),
        (('<light pos="0 0 3"/>', '<include file="/nowhere/else.xml"/>'), 'else.xml'),
        (('<light pos="0 0 3"/>', '<include file="scene.xml"/>'), 'scene.xml'),
        (('<light pos="0 0 3"/>', '<geom type="mesh" mesh="m"/>'), 'scene.xml: .*mesh'),
        (('<light pos="0 0 3"/>', '<geom size="0.1" user="-5"/>'), 'stiffness is -5'),
        (('friction="0.3"', 'friction="99"'), 'friction is 99'),
        (('<worldbody>', '<asset><model file="scene.xml"/></asset><worldbody>'), 'attach'),
        (('<light pos="0 0 3"/>', '<replicate count="99999"><site/></replicate>'), 'at most 2000'),
        (('<worldbody>', '<asset><mesh file="no.stl"/></asset><worldbody>'), 'no.stl'),
        (
            ('<worldbody>', '<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset>'
             '<worldbody>'), 'hfields are not supported',
        ),
        (
            ('<worldbody>', '<asset><hfield name="h" nrow="99999" ncol="99999" size="1 1 1 1"/>'
             '</asset><worldbody>'), 'has 9.9998e.09 places; at most 10000000',
        ),
        (
            ('<light pos="0 0 3"/>', '<composite type="x" count="999 999 1"/>'), 'at most 2000',
        ),
    ],
)  # fmt: skip
def test_bad_mjcf_scenes_are_refused_in_one_line(among, change, says):
    assert change[0] in MJCF
    with pytest.raises(ArmError, match=says) as error:
        among(MJCF.replace(*change, 1))
    assert '\n' not in str(error.value)
    assert 'scene' in str(error.value)


@pytest.mark.slow
def test_a_scene_as_mjcf_warns_of_no_attached_options(tmp_path):
    (tmp_path / 'gate.xml').write_text(MJCF)
    code = """from arm_dynamics import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant, PlantParameters
model = RobotModel.from_urdf(find_urdf('planar_3r'))
MujocoPlant(model, PlantParameters(scene='gate.xml'))"""
    command = [sys.executable, '-W', 'error::UserWarning', '-c', code]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert 'Attach' not in found.stderr, found.stderr
    assert found.returncode == 0, found.stderr


def test_too_many_free_objects_are_refused_before_one_is_added(among, monkeypatch):
    rows = [
        {
            'name': f'b{k}',
            'shape': 'sphere',
            'size': [0.01],
            'mass': 0.1,
            'position': [k, 5.0, 5.0],
        }
        for k in range(202)
    ]
    monkeypatch.setattr(mujoco_objects, 'numbers_of', None)  # of each object that is added
    with pytest.raises(ArmError, match='scene: more than 20000 pairs of shapes can touch'):
        among(rows)
