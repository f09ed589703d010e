"""The torque of a goal: links, rotors and friction, as MuJoCo has it."""

import mujoco
import numpy as np
import pytest
from following import HOME, MODEL, NAMES, goal, make

from arm_controllers.follower.goal import GoalError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.plant import PlantParameters

WRIST = 5
HEAVY = RobotModel.from_urdf(
    find_urdf('ur5e'), armature=(0.1, 0.2, 0.3, 0.4, 0.5, 4.0), damping=2.0
)


def mujoco_torque(model, q, v, a):
    """Return the torque (n,) that MuJoCo's inverse dynamics asks of the actuators."""
    plant = MujocoPlant(model, PlantParameters('torque'))
    data = plant.mj_data
    data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
    mujoco.mj_inverse(plant.mj_model, data)
    return data.qfrc_inverse.copy()


def test_goal_whose_rotors_alone_need_too_much_torque_is_refused_with_mujocos_torque():
    target = HOME.copy()
    target[WRIST] += 1.2
    zero = np.zeros((1, 6))
    fast = goal([0.9], [target], zero, zero)
    make().set_goal(fast, 0)  # the links alone are light enough
    heavy = make(HEAVY)
    with pytest.raises(GoalError) as error:
        heavy.set_goal(fast, 0)
    assert error.value.joint == NAMES[WRIST]
    assert error.value.upper == MODEL.effort_limit[WRIST]

    light = make()
    light.set_goal(fast, 0)
    at = light.peek(round(error.value.time * 1e9))
    expected = mujoco_torque(HEAVY, at.q, at.v, at.a)[WRIST]
    np.testing.assert_allclose(error.value.value, expected, atol=1e-6)


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_the_goals_own_effort_counts_between_its_points_and_is_refused_where_it_is_too_much(sign):
    limit = MODEL.effort_limit[5]  # the last joint, which gravity does not load
    efforts = np.zeros((3, 6))
    efforts[1:, 5] = -0.5 * limit * sign, 1.5 * limit * sign  # at the limit 3/4 of the way
    with pytest.raises(GoalError) as error:
        make().set_goal(goal([1.0, 2.0, 4.0], [HOME] * 3, effort=efforts), 0)
    slope = limit  # [N.m/s]
    sample = 2.0 / 334  # [s]
    assert 3.5 <= error.value.time <= 3.5 + sample
    late = error.value.time - 3.5
    np.testing.assert_allclose(error.value.value, sign * (limit + slope * late), atol=1e-6)
    assert (error.value.lower, error.value.upper) == (-limit, limit)
    make().set_goal(goal([1.0, 2.0, 3.5], [HOME] * 3, effort=np.clip(efforts, -limit, limit)), 0)


def test_a_joint_without_an_effort_limit_leaves_those_of_the_others():
    some = RobotModel(MODEL.urdf, armature=5.0)
    some.effort_limit = np.array([np.inf, *some.effort_limit[1:]])
    target, zero = HOME.copy(), np.zeros((1, 6))
    target[WRIST] += 1.2
    with pytest.raises(GoalError, match=f"joint '{NAMES[WRIST]}': torque"):
        make(some).set_goal(goal([0.9], [target], zero, zero), 0)


def test_braking_is_stretched_until_the_rotors_too_can_be_stopped():
    v = np.zeros(6)
    v[WRIST] = 3.0
    arm = make(HEAVY, v=v, max_deceleration_on_cancel=(20.0,))
    at = arm.peek(1)  # from here on it brakes
    assert 0.0 < abs(at.a[WRIST]) < 20.0
    torque = HEAVY.inverse_dynamics(at.q, at.v, at.a)
    assert abs(torque[WRIST]) <= MODEL.effort_limit[WRIST]
