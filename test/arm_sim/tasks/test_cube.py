"""The cube: its geometry, and the published numbers in the loop without ROS."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from following import states_at
from running_law import RunningLaw

from arm_controllers.follower.trajectory import Trajectory, hermite
from arm_controllers.laws import law_class, law_names
from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.laws.pd import PD, PDParameters
from arm_controllers.laws.servo import FEEDFORWARD, Servo, ServoParameters
from arm_controllers.parameter_values import read_fields
from arm_controllers.reference import Reference
from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.measures import rms, track
from arm_sim.loop.record import Record
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot
from arm_sim.simulation.plant import ACTUATOR_FOR, PlantParameters, plant_class
from arm_sim.tasks import Run, make_task
from arm_sim.tasks.cube import Cube, CubeParameters
from arm_sim.tasks.cube.picture import exaggeration
from arm_sim.tasks.cube.walk import WALKS, CubeWalk

MODEL = RobotModel.from_urdf(find_urdf('ur5e_menagerie'), armature=0.1)
POSTURE = np.array([-0.5, -0.5, 0.5, -0.5, -0.5, 0.0]) * np.pi
PLANT = PlantParameters(  # one step per period, as published
    servo_kp=(2000.0,) * 3 + (500.0,) * 3, servo_kd=(400.0,) * 3 + (100.0,) * 3,
    integrator='implicitfast',
)  # fmt: skip
SETTLE = 2.0
PUBLISHED = Cube(Robot('ur5e_menagerie', MODEL, POSTURE), CubeParameters(path='published'))


def edges_of(walk: tuple[int, ...]) -> set[frozenset[int]]:
    corners = CubeWalk(side=1.0).corners
    strokes = {frozenset(pair) for pair in pairwise(walk)}
    return {s for s in strokes if np.isclose(np.ptp(corners[list(s)], axis=0).sum(), 1.0)}


@pytest.mark.parametrize(
    ('largest', 'factor'), [(30.0, 1.0), (5.0, 2.0), (0.019, 1000.0), (1.1e-6, 1e7), (1e-10, 1.0)]
)
def test_the_picture_shows_errors_as_a_fifth_of_the_side_at_most(largest, factor):
    assert exaggeration(largest, 100.0) == pytest.approx(factor)


def test_our_walk_draws_all_twelve_edges_and_the_published_one_cannot():
    assert len(edges_of(WALKS['edges'])) == 12
    assert len(WALKS['edges']) == 16
    assert len(edges_of(WALKS['published'])) <= 10


def test_every_stroke_of_our_walk_is_an_edge():
    cube = CubeWalk()
    lengths = np.linalg.norm(np.diff(cube.waypoints, axis=0), axis=1)
    np.testing.assert_allclose(lengths, cube.side, rtol=1e-12)


def test_distance_from_a_stroke_is_the_perpendicular_one():
    cube = CubeWalk(center=(0.0, 0.0, 0.0), side=2.0, edge_time=1.0)
    t = np.array([0.5, 0.5, 1.5])
    positions = np.array([[0.0, -1.0, -1.0], [0.3, -1.3, -0.6], [1.0, 4.0, -1.0]])
    np.testing.assert_allclose(cube.distance_from_strokes(t, positions), (0.0, 0.5, 3.0))


@pytest.mark.parametrize(
    ('change', 'says'),
    [
        ({'side': -0.1}, 'side is -0.1'),
        ({'edge_time': 0.0}, 'edge_time is 0'),
        ({'center': (0.1, np.inf, 0.2)}, 'center is'),
        ({'center': (0.1, 0.2)}, 'three finite numbers'),
        ({'path': 'spiral'}, "path is 'spiral'; allowed: edges, published"),
    ],
)
def test_bad_cubes_are_refused(change, says):
    with pytest.raises(ArmError, match=says):
        CubeWalk(**change)


class Drawn:
    """A published run of a law, after settling at the first corner."""

    def __init__(self, law, actuator: str, timestep: float = 0.002):
        def reference(t: float, out: Reference) -> None:
            PUBLISHED.reference(max(0.0, t - SETTLE), out)

        plant = MujocoPlant(MODEL, replace(PLANT, actuator=actuator, timestep=timestep))
        record = run_closed_loop(plant, law, reference, SETTLE + PUBLISHED.duration)
        assert record.completed
        start = round(SETTLE / timestep)
        arrays = (x[start:] for x in (record.q, record.v, record.q_reference, record.v_reference))
        t = record.t[start:] - record.t[start]
        drawn = Record(t, *arrays, record.effort[start:], record.q_end)
        tracking = track(MODEL, drawn)
        self.tracking_error, self.effort = tracking.error, drawn.effort
        self.path_error = PUBLISHED.report.path_error(Run(drawn, tracking))


draw_published = Drawn


def servo(feedforward: str, timestep: float = 0.002) -> Servo:
    parameters = ServoParameters(feedforward, PLANT.servo_kp, PLANT.servo_kd, timestep=timestep)
    return Servo(MODEL, parameters)


def test_published_run_is_reproduced():
    run = draw_published(servo('gravity_velocity'), 'servo')
    np.testing.assert_allclose(rms(run.tracking_error) * 1e3, 0.0879, rtol=0.01)
    np.testing.assert_allclose(run.tracking_error.max() * 1e3, 0.234, rtol=0.02)
    np.testing.assert_allclose(np.abs(run.effort).max(), 16.505, rtol=0.001)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ('feedforward', 'timestep', 'rms_mm', 'rtol'),
    [
        ('none', 0.002, 13.8, 0.03),
        ('gravity', 0.002, 12.8, 0.03),
        ('inverse_dynamics', 0.002, 0.0207, 0.01),
        ('gravity_velocity', 0.001, 0.0788, 0.01),
        ('inverse_dynamics', 0.001, 0.0103, 0.01),
    ],
)
def test_servo_feedforward_levels_track_as_well_as_known(feedforward, timestep, rms_mm, rtol):
    run = draw_published(servo(feedforward, timestep), 'servo', timestep)
    np.testing.assert_allclose(rms(run.tracking_error) * 1e3, rms_mm, rtol=rtol)


@pytest.mark.slow
def test_discrete_feedforward_leaves_rounding_only():
    run = draw_published(servo('discrete'), 'servo')
    assert run.tracking_error.max() < 1e-14


@pytest.mark.slow
def test_computed_torque_on_torque_motors_tracks_as_well_as_known():
    for timestep, rms_mm in ((0.002, 0.0113), (0.001, 0.0057)):
        law = ComputedTorque(MODEL, ComputedTorqueParameters())
        run = draw_published(law, 'torque', timestep)
        np.testing.assert_allclose(rms(run.tracking_error) * 1e3, rms_mm, rtol=0.01)


def measured_by(key: str, robot_name: str = 'ur5e') -> tuple[float, float]:
    """Return the RMS tracking error [mm] of a law, as the robot's files have it, and its limit."""
    robot, name = Robot.load(robot_name), 'servo' if key.startswith('servo_') else key
    # The path on which the error is larger.
    path = 'edges' if name == 'adaptive_computed_torque' else 'published'
    task, law = make_task('cube', robot, {'path': path}), law_class(name)
    values = robot.parameters(f'{name}_controller')
    values |= {'feedforward': key.removeprefix('servo_')} if name == 'servo' else {}
    actuator = ACTUATOR_FOR[law.command_interface]
    engine = plant_class('analytical' if actuator == 'voltage' else 'mujoco')
    of_plant = robot.parameters('simulator') | {'actuator': actuator}
    plant = engine(robot.model, read_fields(engine.Parameters, of_plant))
    record = task.run(law(robot.model, read_fields(law.Parameters, values)), plant)
    return rms(track(robot.model, record).error) * 1e3, task.parameters.tracking_limit[key]


FOLLOWING = [
    name
    for name in law_names()
    if not (name.startswith(('pose_', 'servo', 'policy')) or law_class(name).needs)
]


@pytest.mark.slow
@pytest.mark.parametrize('key', [*FOLLOWING, *(f'servo_{level}' for level in FEEDFORWARD)])
def test_every_law_that_follows_has_a_limit_a_little_above_what_it_does(key):
    value, limit = measured_by(key)
    assert value <= limit
    assert value > limit / 1.07


@pytest.mark.slow
def test_the_published_law_has_the_published_limit_on_the_published_arm():
    value, limit = measured_by('servo_gravity_velocity', 'ur5e_menagerie')
    assert limit / 1.07 < value <= limit < 0.1


@pytest.mark.slow
def test_pd_with_gravity_lags_behind_computed_torque():
    run = draw_published(PD(MODEL, PDParameters()), 'torque')
    assert 0.1 < rms(run.tracking_error) * 1e3 < 1.0


@pytest.mark.slow
def test_published_strokes_bow_away_from_the_edges():
    run = draw_published(servo('discrete'), 'servo')
    np.testing.assert_allclose(rms(run.path_error) * 1e3, 2.45, rtol=0.02)
    np.testing.assert_allclose(run.path_error.max() * 1e3, 9.0, rtol=0.05)


def test_our_edges_are_straight_between_the_points_as_well():
    cube = Cube(Robot('ur5e_menagerie', MODEL, POSTURE), CubeParameters())
    times, states = cube.points()
    knots = hermite(np.diff(times), [x[:-1] for x in states], [x[1:] for x in states])
    trajectory = Trajectory(times, knots)
    t = np.linspace(0.0, cube.duration, 4001)[:-1]
    tips = [MODEL.forward_kinematics(q).translation for q in states_at(trajectory, t)[0]]
    assert cube.parameters.distance_from_strokes(t, np.array(tips)).max() < 1e-10


@pytest.mark.parametrize('level', FEEDFORWARD)
def test_every_feedforward_level_holds_a_reference_at_rest(level):
    plant = MujocoPlant(MODEL, PLANT)
    law, reference = RunningLaw(servo(level)), Reference(6)
    reference.q[:] = POSTURE
    plant.reset(POSTURE)
    for _ in range(1500):
        plant.step(law(plant.q, plant.v, reference, 0.002))
    droop = MODEL.gravity_torque(plant.q) / np.array(PLANT.servo_kp) if level == 'none' else 0.0
    np.testing.assert_allclose(POSTURE - plant.q, droop, atol=1e-7)


def test_discrete_feedforward_needs_one_step_per_period():
    with pytest.raises(ArmError, match="'discrete' needs control_decimation 1, not 4"):
        ServoParameters('discrete', control_decimation=4)
    with pytest.raises(ArmError, match="feedforward is 'psychic'; allowed: none"):
        ServoParameters('psychic')


@pytest.mark.quick(1)
@pytest.mark.parametrize('name', ['ur5e', 'ur5e_menagerie'])
def test_a_cube_that_is_known_to_fit_does_and_a_change_is_checked(name, tmp_path):
    robot = Robot.load(name)
    known = make_task('cube', robot)
    assert known.is_known_to_fit
    known.plan_for(known.parameters)  # raises where the arm cannot
    changes = (
        {'center': [0.3, 0.2, 0.5]},
        {'side': 0.05},
        {'edge_time': 1.5},
        {'path': 'published'},
    )
    assert not any(make_task('cube', robot, change).is_known_to_fit for change in changes)
    config = tmp_path / 'own.yaml'
    config.write_text('/**: {ros__parameters: {armature: [0.2]}}\n')
    others = Robot.load(name, config), Robot.load(f'{name} tip_frame:=wrist_3_link')
    assert not any(make_task('cube', other).is_known_to_fit for other in others)
