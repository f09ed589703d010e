"""Links of an arm that touch each other."""

import numpy as np
import pytest

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.clearance import Clearance
from arm_dynamics.robots import find_urdf
from arm_dynamics.self_contact import touching_links
from arm_dynamics.surroundings import Surroundings
from arm_lab.experiments.experiment import Experiment
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters

UR5E = Robot.load('ur5e')
PLANAR = find_urdf('planar_3r').read_text()


def plant_of(model, **parameters):
    own = {'actuator': 'torque', 'timestep': 5e-4, 'contacts': True, 'floor': False, **parameters}
    return MujocoPlant(model, PlantParameters(**own))


def touching(plant):
    """Return the pairs of links that touch now."""
    return {
        frozenset(shape.partition(' shape ')[0] for shape in point.shapes)
        for point in plant.contacts.points()
    }


@pytest.mark.parametrize('stiffness', [0.0, 1e4])
def test_links_that_overlap_are_those_that_coal_finds(stiffness):
    plant = plant_of(UR5E.model, contact_stiffness=stiffness)
    shapes = Clearance(UR5E.model, Surroundings(floor=False))
    rng, seen = np.random.default_rng(1), set()
    for _ in range(150):
        q = UR5E.model.random_configuration(rng)
        plant.reset(q)
        distances = shapes.distances(q)
        inside = {frozenset(p) for p, d in zip(shapes.pairs, distances, strict=True) if d < -1e-4}
        near = {frozenset(p) for p, d in zip(shapes.pairs, distances, strict=True) if d < 1e-4}
        assert inside <= touching(plant) <= near
        seen |= inside
    assert len(seen) >= 4


def test_a_folding_arm_stops_at_itself_with_the_stated_stiffness():
    model = RobotModel.from_urdf(find_urdf('planar_3r'))
    soft, springs, free = (
        plant_of(model, **changes)
        for changes in (
            {},
            {'contact_stiffness': 1e4, 'contact_damping': 50.0},
            {'contacts': False},
        )
    )
    for plant in (soft, springs, free):
        plant.reset([0.0, 2.2, 2.0])
        for _ in range(4000):
            plant.q[0], plant.v[0] = 0.0, 0.0
            plant.step(np.array([0.0, 3.0, 0.0]) - plant.v)
    assert not touching(free)
    assert touching(soft) == touching(springs) == {frozenset(('link_1', 'link_3'))}
    assert np.abs(springs.v).max() < 1e-3
    for point in springs.contacts.points():
        assert point.force @ point.normal == pytest.approx(1e4 * point.penetration, rel=1e-3)


def test_pairs_of_an_srdf_and_pairs_that_overlap_are_left_out_with_a_note(tmp_path):
    urdf, srdf = tmp_path / 'arm.urdf', tmp_path / 'arm.srdf'
    urdf.write_text(PLANAR)
    everything, why = touching_links(RobotModel(urdf), '')
    assert why == ''
    note = 'self-contact: 3 pairs of links can touch'
    assert note in plant_of(RobotModel(urdf)).notes
    srdf.write_text(
        '<robot><disable_collisions link1="link_3" link2="link_1" reason="Never"/>'
        '<disable_collisions link1="link_1" link2="link_2"/></robot>'
    )
    fewer, why = touching_links(RobotModel(urdf), '')
    assert everything - fewer == {frozenset(('link_1', 'link_3'))}
    assert why == 'arm.srdf disables 1'
    assert touching_links(RobotModel(urdf), str(srdf))[0] == fewer
    note = f'self-contact: 2 pairs of links can touch; {why}'
    assert note in plant_of(RobotModel(urdf)).notes
    srdf.unlink()
    long = '<cylinder radius="0.03" length="1"/>'
    urdf.write_text(PLANAR.replace(long, long.replace('"1"', '"3.2"')))
    assert touching_links(RobotModel(urdf), '') == (
        fewer,
        '1 overlap where joints are nearest to zero (link_1 and link_3)',
    )


def test_links_that_overlap_at_the_initial_positions_do_not_touch(tmp_path):
    model, folded = RobotModel.from_urdf(find_urdf('planar_3r')), (0.0, 2.7, 2.2)
    pair = frozenset(('link_1', 'link_3'))
    everything, apart = touching_links(model, '')[0], touching_links(model, '', folded)[0]
    assert everything - apart == {pair}
    for start, found in (((), {pair}), (folded, set())):
        plant = plant_of(model, initial_positions=start)
        plant.reset(folded)
        assert touching(plant) == found
    assert '; 1 overlap at the start (link_1 and link_3)' in plant.notes[-1]
    with pytest.raises(ArmError, match='^initial_positions'):
        plant_of(model, initial_positions=(0.0, 1.0))
    # A run starts where its task does, and leaves out what overlaps there.
    file = tmp_path / 'config.yaml'
    file.write_text('simulator: {ros__parameters: {contacts: true, floor: false}}')
    case = Experiment.of_files('planar_3r', 'step', 'computed_torque', config=str(file)).load()
    assert case.plants()[0].notes[-1] == 'self-contact: 3 pairs of links can touch'
    case.task.start.q[:] = folded
    assert case.plants()[0].notes[-1] == plant.notes[-1]


@pytest.mark.parametrize('text', ['<robot', '\xff', None])
def test_a_file_that_is_no_srdf_is_refused_in_one_line(tmp_path, text):
    file = tmp_path / 'arm.srdf'
    if text is not None:
        file.write_text(text, encoding='latin-1')
    with pytest.raises(ArmError, match=f'SRDF {file}: ') as error:
        touching_links(UR5E.model, str(file))
    assert '\n' not in str(error.value)
