"""Plans around obstacles: free by MuJoCo, equal by seed, refused with link and object."""

import sys

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from optional import optional

from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, typed
from arm_dynamics.clearance import Clearance
from arm_dynamics.model import RobotModel
from arm_dynamics.scene_clearance import scene_clearance
from arm_dynamics.surroundings import Surroundings
from arm_sim.robot import Robot
from arm_sim.simulation.mujoco_model import arm_spec
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.scene_shapes import scene_shapes
from arm_tools.planning import planner
from arm_tools.planning.planner import (
    PlanError,
    PlanParameters,
    goals_of_poses,
    plan_motion,
    poses_before,
    schoenberg,
)

UR5E = Robot.load('ur5e')
MODEL = UR5E.model
SHELF = scene_shapes('shelf')
CLEARANCE = scene_clearance(MODEL, SHELF)
LOWER_LEFT = np.array([[0, 0, 1, 0.6], [0, 1, 0, 0.25], [-1, 0, 0, 0.2], [0, 0, 0, 1.0]])
MIDDLE_RIGHT = np.array([[0, 0, 1, 0.6], [0, 1, 0, -0.25], [-1, 0, 0, 0.5], [0, 0, 0, 1.0]])


@pytest.fixture(scope='module')
def plan():
    optional('ompl', 'ompl>=2')
    start = goals_of_poses(CLEARANCE, UR5E.start, LOWER_LEFT)[0]
    return plan_motion(CLEARANCE, start, goals_of_poses(CLEARANCE, start, MIDDLE_RIGHT))


@pytest.mark.slow
def test_a_plan_from_compartment_to_compartment_touches_nothing_in_mujoco(plan):
    assert not plan.direct
    end = MODEL.forward_kinematics(plan.motion.q[-1])
    np.testing.assert_allclose(end.homogeneous, MIDDLE_RIGHT, atol=2e-6)
    mj_model = arm_spec(MODEL, PlantParameters(scene='shelf', contacts=True)).compile()
    data, trajectory = mujoco.MjData(mj_model), plan.motion.trajectory()
    state, deepest = Reference(MODEL.nv), np.inf
    pairs = list(zip(mj_model.pair_geom1.tolist(), mj_model.pair_geom2.tolist(), strict=True))
    objects = {mj_model.geom(each.name).id for each in SHELF}
    pairs = [pair for pair in pairs if objects & {*pair}]
    for t in np.linspace(0.0, plan.motion.duration, 100):
        trajectory.evaluate(t, state)
        data.qpos[: MODEL.nv] = state.q
        mujoco.mj_forward(mj_model, data)
        assert data.ncon == 0
        least = (mujoco.mj_geomDistance(mj_model, data, *pair, 0.05, None) for pair in pairs)
        deepest = min(deepest, *least)
    assert 0.005 < deepest < 0.03
    assert abs(deepest - plan.nearest.distance) < 2e-3
    assert plan.nearest.other.startswith('object ')


@pytest.mark.slow
def test_equal_seeds_give_equal_plans_and_other_seeds_other_plans(plan):
    goals = plan.motion.q[-1:]
    again = [
        plan_motion(CLEARANCE, plan.motion.q[0], goals, PlanParameters(seed=seed)).motion
        for seed in (3, 4, 3)
    ]
    np.testing.assert_array_equal(again[0].q, again[2].q)
    np.testing.assert_array_equal(again[0].times, again[2].times)
    assert again[0].q.shape != again[1].q.shape or (again[0].q != again[1].q).any()


def test_a_free_straight_line_is_taken_without_ompl(monkeypatch):
    monkeypatch.setitem(sys.modules, 'ompl', None)
    goal = UR5E.start + np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
    found = plan_motion(CLEARANCE, UR5E.start, goal[None])
    assert found.direct
    share = (found.motion.q - UR5E.start)[:, 0] / 0.4
    straight = UR5E.start + np.outer(share, goal - UR5E.start)
    np.testing.assert_allclose(found.motion.q, straight, atol=1e-12)


def test_without_ompl_one_line_says_what_to_install(monkeypatch, plan):
    monkeypatch.setattr(planner.importlib.util, 'find_spec', lambda name: None)
    with pytest.raises(ArmError, match=rf"needs PyPI's ompl: {typed('pip install ompl')}$"):
        plan_motion(CLEARANCE, plan.motion.q[0], plan.motion.q[-1:])


def test_a_goal_in_an_obstacle_is_refused_with_link_object_and_distance():
    pose = LOWER_LEFT.copy()
    pose[:3, 3] = 0.6, 0.25, 0.39
    with pytest.raises(
        PlanError,
        match=r"^goal of the plan: link '\w+' is .* mm inside object 'lower_board' at \(.*\) m; "
        r'at least 10 mm off is allowed$',
    ):
        goals_of_poses(CLEARANCE, UR5E.start, pose)
    inside = goals_of_poses(Clearance(MODEL, Surroundings(floor=False)), UR5E.start, pose)
    with pytest.raises(PlanError, match=r"^start of the plan: link .* object 'lower_board'"):
        plan_motion(CLEARANCE, inside[0], UR5E.start[None])


def test_a_pose_out_of_reach_is_refused_with_the_nearest_pose():
    far = np.eye(4)
    far[0, 3] = 3.0
    with pytest.raises(PlanError, match=r'^goal of the plan: out of reach'):
        goals_of_poses(CLEARANCE, UR5E.start, far)


def test_a_search_that_finds_nothing_ends_after_its_checks(plan):
    few = PlanParameters(checks=150)
    with pytest.raises(PlanError, match=r'^no path found among \d+ checked configurations; more'):
        plan_motion(CLEARANCE, plan.motion.q[0], plan.motion.q[-1:], few)


def test_poses_before_an_object_point_at_it_from_the_approach_distance():
    poses = poses_before(SHELF, 'can', 0.05)
    middle, sizes = np.array([0.72, -0.38, 0.46]), np.array([0.08, 0.08, 0.16])
    for pose in poses:
        away = middle - pose[:3, 3]
        np.testing.assert_allclose(np.cross(away, pose[:3, 2]), 0.0, atol=1e-12)
        distance = away @ pose[:3, 2] - sizes @ np.abs(pose[:3, 2]) / 2.0
        np.testing.assert_allclose(distance, 0.05, atol=1e-12)
        np.testing.assert_allclose(np.linalg.det(pose[:3, :3]), 1.0)
    with pytest.raises(ArmError, match="unknown object 'cam'; nearest known: 'can'"):
        poses_before(SHELF, 'cam', 0.05)


def test_no_point_of_a_link_moves_farther_than_the_reach_says():
    rng, data = np.random.default_rng(0), CLEARANCE.geometry.createData()
    reach = CLEARANCE.reach()

    def corners(q):
        pin.updateGeometryPlacements(MODEL.pin_model, MODEL.pin_data, CLEARANCE.geometry, data, q)
        found = []
        for shape, place in zip(CLEARANCE.geometry.geometryObjects, data.oMg, strict=True):
            if shape.parentJoint:
                shape.geometry.computeLocalAABB()
                box = shape.geometry.aabb_local
                signs = np.array(np.meshgrid(*zip(box.min_, box.max_, strict=True)))
                inner = signs.reshape(3, -1).T
                found.append([place.act(x) for x in inner])
        return np.concatenate(found)

    largest = 0.0
    for _ in range(100):
        q = MODEL.random_configuration(rng)
        step = rng.normal(size=MODEL.nv) * 10.0 ** rng.uniform(-4, -1, MODEL.nv)
        moved = np.linalg.norm(corners(q + step) - corners(q), axis=1).max()
        largest = max(largest, moved / (reach @ np.abs(step)))
    assert 0.3 < largest <= 1.0 + 1e-9


def test_the_spline_of_a_line_is_the_line_and_that_of_a_corner_nears_it():
    s, weights = np.linspace(0.0, 1.0, 101), np.ones(2)
    ends = np.array([[0.0, 1.0], [2.0, -3.0]])
    for pieces in (1, 7):
        line = schoenberg(ends, weights, pieces)
        np.testing.assert_allclose(line(s), ends[0] + np.outer(s, ends[1] - ends[0]), atol=1e-12)
    corner = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    away = [np.linalg.norm(schoenberg(corner, weights, n)(s) - [1, 0], axis=1).min()
            for n in (1, 8, 64)]  # fmt: skip
    assert away[0] > 2 * away[1] > 10 * away[2] > 0.0


def test_a_plan_keeps_the_limits_of_acceleration_and_jerk_of_the_urdf():
    optional('ompl', 'ompl>=2')
    slow = RobotModel(MODEL.urdf.replace('<limit ', '<limit acceleration="1.5" jerk="12" '))
    end = UR5E.start + np.array([0.8, 0.0, 0.0, 0.0, 0.0, 0.5])
    motion = plan_motion(Clearance(slow, Surroundings()), UR5E.start, end[np.newaxis]).motion
    state, rows = Reference(slow.nv), []
    trajectory = motion.trajectory()
    for t in np.linspace(0.0, motion.duration, 20_001):
        trajectory.evaluate(t, state)
        rows.append(state.a.copy())
    jerk = np.abs(np.diff(rows, axis=0)).max() / (motion.duration / 20_000)
    assert 1.2 < np.abs(rows).max() <= 1.5
    assert 10.0 < jerk <= 12.0 * (1.0 + 1e-6)
