"""Contacts of MuJoCo compared with closed forms; the experiments are the benchmark's."""

import re

import mujoco
import numpy as np
import pytest
import yaml
from scripts import load_script

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_plant import batch_of
from arm_sim.loop.mujoco_batch import MujocoBatch
from arm_sim.robot import Robot
from arm_sim.simulation import contact
from arm_sim.simulation.mujoco_scene import scene_of
from arm_sim.simulation.plant import PlantParameters, plant_class
from arm_sim.simulation.scene import scene_names

BENCHMARK = load_script('benchmarks/contact.py')
ROBOT = Robot.load('ur5e')
PLANAR = RobotModel.from_urdf(find_urdf('planar_3r'))


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    'name', ['weight', 'slopes', 'impacts', 'energy', 'friction_cone', 'balance']
)
def test_contact_agrees_with_the_closed_form(name):
    for check in getattr(BENCHMARK, name)():
        assert check.error <= check.limit, check


@pytest.mark.slow
def test_joint_torques_of_a_press_are_stiffness_times_depth():
    for check in BENCHMARK.press():
        assert check.error <= 1e-5, check


@pytest.mark.parametrize('timestep', [1e-3, 2e-3, 3e-3])
def test_floor_and_table_are_as_stiff_as_mujoco_allows_and_damped_critically(timestep):
    parameters = PlantParameters(timestep=timestep, table=(0.8, 0.0, -0.2, 0.4, 0.4, 0.4))
    spec = scene_of(ROBOT.model, parameters)
    for name in ('floor', 'table'):  # MuJoCo: a time constant of two time steps at least
        np.testing.assert_allclose(spec.geom(name).solref, [{3e-3: 6e-3}.get(timestep, 4e-3), 1.0])


@pytest.mark.parametrize('contacts', [False, True])
def test_contacts_are_all_that_mujoco_leaves_out(contacts):
    plant = MujocoPlant(ROBOT.model, PlantParameters(contacts=contacts))
    off = mujoco.mjtDisableBit
    left_out = off.mjDSBL_AUTORESET | (0 if contacts else off.mjDSBL_CONTACT)
    assert plant.mj_model.opt.disableflags == left_out


def test_coulomb_friction_that_mujoco_makes_soft_is_noted():
    rough = ROBOT.model.with_joints(
        ROBOT.model.armature, ROBOT.model.damping, np.full(ROBOT.model.nv, 2.0)
    )
    (note,) = MujocoPlant(rough, PlantParameters()).notes
    assert note.startswith('Coulomb friction: in MuJoCo it lets a joint creep')
    assert not MujocoPlant(ROBOT.model, PlantParameters()).notes


@pytest.mark.parametrize(
    ('material', 'bounces'), [('', True), (', damping: 8', False), (', restitution: 0.2', False)]
)
def test_an_object_that_bounces_without_end_is_named_with_what_to_give(
    tmp_path, material, bounces
):
    """A block that falls from 5 mm: with damping 0 it still does so after five seconds."""
    file = tmp_path / 'scene.yaml'
    place = 'size: [0.05, 0.05, 0.05], position: [0.9, 0.9, 0.03], mass: 0.2'
    file.write_text(
        f'- {{name: block, {place}{material}}}\n'
        '- {name: wall, size: [0.02, 0.1, 0.1], position: [2.0, 0.9, 0.1]}\n'
    )
    plant = MujocoPlant(PLANAR, PlantParameters(actuator='servo', scene=str(file)))
    heights = []
    for _ in range(round(5.0 / plant.parameters.period)):
        plant.act(plant.q)
        heights.append(plant.scene.object_poses()[0, 2])
    assert (np.ptp(heights[-len(heights) // 5 :]) > 1e-3) == bounces
    notes = [x for x in plant.notes if 'bounce without end' in x]
    assert len(notes) == bounces
    for note in notes:
        assert note.endswith(
            '0: block; give them damping [N.s/m], or restitution (0.2) in place of it'
        )


@pytest.mark.parametrize('scene', scene_names())
def test_objects_of_shipped_scenes_come_to_rest(scene):
    notes = MujocoPlant(ROBOT.model, PlantParameters(timestep=5e-4, scene=scene)).notes
    assert not [x for x in notes if 'bounce without end' in x]


def test_the_solver_ends_where_rounding_begins():
    """A press needs a few of its 20 iterations; contact forces agree with those of all 20."""
    x, y, z = ROBOT.model.forward_kinematics(ROBOT.start).translation.tolist()
    under = BENCHMARK.block(size=[0.3, 0.3, z - 0.02], position=[x, y, z / 2 - 0.01], mass=5.0)
    found, down = [], ROBOT.model.jacobian(ROBOT.start)[2]
    for tolerance in (None, 0.0):
        plant = BENCHMARK.scene([under], ROBOT.model, timestep=5e-4, integrator='implicitfast')
        if tolerance is not None:
            plant.mj_model.opt.tolerance = tolerance
        plant.reset(ROBOT.start)
        most = 0
        for _ in range(100):
            plant.step(ROBOT.model.gravity_torque(plant.q) - 60.0 * down)
            most = max(most, int(plant.mj_data.solver_niter.max()))
        found.append((most, plant.contacts.facts()))
    (few, facts), (all_of_them, facts_of_all) = found
    assert 0 < few < all_of_them == 20
    np.testing.assert_allclose(facts, facts_of_all, rtol=1e-9)


def falling(plant, order=(0,)):
    """Return the motion of a UR5e that falls on a block, pushed aside a little."""
    rows, facts = [], []
    plant.reset(ROBOT.start)
    for i in range(600):
        push = 0.5 * np.array(order)[:, np.newaxis] * (i < 100)
        plant.step(np.broadcast_to(push, (len(order), 6)).reshape(plant.q.shape))
        rows.append(plant.q.copy())
        facts.append(plant.contacts.facts())
    return np.array(rows), np.array(facts)


def test_an_arm_on_a_block_in_a_batch_is_the_arm_alone(tmp_path):
    x, y, z = ROBOT.model.forward_kinematics(ROBOT.start).translation.tolist()
    under = BENCHMARK.block(size=[0.3, 0.3, z - 0.05], position=[x, y, z / 2 - 0.025], mass=2.0)
    file = tmp_path / 'scene.yaml'
    file.write_text(yaml.safe_dump([under]))
    parameters = PlantParameters(actuator='torque', timestep=5e-4, scene=str(file))
    batch, facts = falling(MujocoBatch([ROBOT.model] * 3, parameters, threads=2), (0, 1, 2))
    assert np.ptp(batch[-1], axis=0).max() > 1e-3
    for arm in (0, 2):
        plant = MujocoPlant(ROBOT.model, parameters)
        alone, own_facts = falling(plant, (arm,))
        np.testing.assert_array_equal(batch[:, arm], alone)
        np.testing.assert_array_equal(facts[:, arm], own_facts)
        assert own_facts.max(axis=0).min() > 1.0  # it penetrates, presses and slips
    moved = np.linalg.norm(plant.scene.object_poses()[0, :3] - under['position'])
    assert moved > 0.002


def test_reset_puts_objects_back_and_another_plant_takes_them_over():
    parameters = PlantParameters(actuator='torque', timestep=5e-4, scene='blocks')
    one, other = (MujocoPlant(PLANAR, parameters) for _ in range(2))
    start = one.scene.object_poses()
    for _ in range(400):
        one.step(np.zeros(3))
    now = one.scene.object_poses()
    assert np.abs(now - start).max() > 1e-5
    other.continue_from(one)
    np.testing.assert_array_equal(other.scene.object_poses(), now)
    one.reset(np.zeros(3))
    np.testing.assert_array_equal(one.scene.object_poses(), start)


def test_the_arms_own_dynamics_are_those_without_a_scene():
    plain, among = (
        MujocoPlant(PLANAR, PlantParameters(actuator='torque', timestep=5e-4, scene=scene))
        for scene in ('', 'blocks')
    )
    q, v = np.array([0.3, -0.2, 0.4]), np.array([0.5, 0.1, -0.3])
    for plant in (plain, among):
        plant.reset(q, v)
    np.testing.assert_array_equal(among.mass_matrix(), plain.mass_matrix())
    np.testing.assert_array_equal(among.bias_torque(), plain.bias_torque())


def test_stated_stiffness_of_floor_and_links_is_kept(tmp_path):
    post = {'name': 'post', 'shape': 'box', 'size': [0.1, 0.1, 0.1], 'position': [0, 0, 0.05],
            'mass': 2.0, 'stiffness': 1e6, 'damping': 20.0}  # fmt: skip
    file = tmp_path / 'scene.yaml'
    file.write_text(yaml.safe_dump([post | {'position': [0.5, 0.0, 0.05]}]))
    parameters = PlantParameters(
        actuator='torque', timestep=5e-4, scene=str(file), contact_stiffness=2e4,
        contact_damping=20.0,
    )  # fmt: skip
    plant = MujocoPlant(PLANAR, parameters)
    for _ in range(2000):
        plant.step(np.zeros(3))
    depth = 0.05 - plant.scene.object_poses()[0, 2]
    assert depth == pytest.approx(2.0 * 9.81 / (4 * 2e4), rel=1e-4)  # the floor is the softer


@pytest.mark.slow
def test_links_touch_the_floor_only_with_contacts_and_objects_with_a_scene():
    touching = {}
    for contacts, scene in ((False, ''), (False, 'blocks'), (True, 'blocks')):
        parameters = PlantParameters(actuator='torque', contacts=contacts, scene=scene)
        plant = MujocoPlant(ROBOT.model, parameters)
        plant.reset(ROBOT.start)
        names = set()
        for _ in range(400):  # it falls
            plant.step(np.zeros(6))
            names |= {point.shapes for point in plant.contacts.points()}
        touching[contacts, scene] = any(
            'floor' in each and not any('block' in name for name in each) for each in names
        )
    assert list(touching.values()) == [False, False, True]


@pytest.mark.parametrize('engine', ['analytical', 'motion_model'])
def test_an_engine_without_contacts_refuses_a_scene(engine):
    parameters = PlantParameters(scene='blocks')
    says = "scene is 'blocks'; "
    with pytest.raises(ArmError, match=says + 'only engine mujoco has contacts'):
        plant_class(engine)(PLANAR, parameters)
    if engine == 'analytical':
        with pytest.raises(ArmError, match=says + 'a batch has no contacts'):
            batch_of([PLANAR], parameters, engine)


def test_a_long_step_is_divided_where_a_contact_needs_it():
    coarse, fine = (
        BENCHMARK.scene([BENCHMARK.block()], timestep=step, integrator='implicitfast')
        for step in (4e-3, 5e-4)
    )
    for plant, periods in ((coarse, 50), (fine, 400)):
        for _ in range(periods):
            BENCHMARK.hold(plant)
    assert any('integration step is' in note for note in coarse.notes)
    assert not any('integration step is' in note for note in fine.notes)
    np.testing.assert_allclose(coarse.scene.object_poses(), fine.scene.object_poses(), atol=1e-6)


@pytest.mark.parametrize('stiffness', [1e-12, 1e-20])
def test_a_contact_of_damping_alone_is_simulated(stiffness):
    plant = BENCHMARK.scene([{**BENCHMARK.block(), 'stiffness': stiffness}])
    for _ in range(10):
        BENCHMARK.hold(plant)
    assert np.isfinite(plant.scene.object_poses()).all()


def test_a_body_on_many_stiff_balls_does_not_gain_energy(tmp_path):
    ring = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    balls = ''.join(
        f'<geom type="sphere" size="0.01" mass="0.1" pos="{np.cos(a):.4f} {np.sin(a):.4f} 0" '
        'user="1e5 0"/>'
        for a in ring
    )
    file = tmp_path / 'ring.xml'
    file.write_text(
        '<mujoco><worldbody><body name="ring" pos="0 0 0.011"><freejoint/>'
        f'{balls}</body></worldbody></mujoco>'
    )
    plant = MujocoPlant(PLANAR, PlantParameters(actuator='torque', timestep=2e-3, scene=str(file)))
    heights = []
    for _ in range(250):
        BENCHMARK.hold(plant)
        heights.append(plant.scene.object_poses()[0, 2])
    assert max(heights) < 0.0115


@pytest.mark.parametrize(
    ('changes', 'says'),
    [
        ({'stiffness': 8e8}, r"and 'block': 8e\+08 N/m with 30 N.s/m need an integration"),
        ({'damping': 5e4}, 'step of at most .* Reduce timestep, stiffness or damping'),
        ({'name': 'floor'}, "the name 'floor' is taken by another body"),
        ({'name': PLANAR.tip_frame}, 'is taken by another body'),
    ],
)
def test_what_a_time_step_or_the_arm_does_not_allow_is_one_line(changes, says):
    with pytest.raises(ArmError, match=says) as error:
        BENCHMARK.scene([BENCHMARK.block(**changes)], PLANAR)
    assert not re.search('\n', str(error.value))


def test_the_springs_of_many_pairs_ask_once_for_each_shape(monkeypatch):
    asked, known = [], contact.material_of
    monkeypatch.setattr(contact, 'material_of', lambda m, k: asked.append(k) or known(m, k))
    row = '- {{name: b_{0}, size: [0.05, 0.05, 0.05], position: [0.5, {0}, 0.5]}}\n'
    parameters = PlantParameters(objects=''.join(row.format(k) for k in range(20)))
    plant = MujocoPlant(ROBOT.model, parameters)
    assert plant.mj_model.npair > 2 * plant.mj_model.ngeom
    assert len(asked) == len(set(asked))
