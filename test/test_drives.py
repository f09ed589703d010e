"""The torque that a goal asks of the drives: links, rotors and friction, as MuJoCo has it."""

import mujoco
import numpy as np
import pytest
from following import HOME, MODEL, NAMES, goal, make

from arm_controllers.follower.drives import Drives
from arm_controllers.follower.goal import GoalError
from arm_dynamics.errors import ArmError
from arm_sim.plants.mujoco_plant import MujocoPlant
from arm_sim.plants.plant import PlantParameters

ARMATURE, DAMPING = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (2.0,)
PLANT = MujocoPlant(MODEL, PlantParameters('torque', armature=ARMATURE, damping=DAMPING))
WRIST = 5


def mujoco_torque(q, v, a):
    """Return the torque (n,) that MuJoCo's inverse dynamics asks of the actuators."""
    model, data = PLANT.mj_model, PLANT.mj_data
    data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse.copy()


def test_drives_move_links_and_rotors_as_the_inverse_dynamics_of_mujoco_says():
    rng = np.random.default_rng(1)
    drives = Drives(MODEL, ARMATURE, DAMPING)
    q, v, a = rng.uniform(-2, 2, (3, 50, 6))
    expected = np.array([mujoco_torque(*row) for row in zip(q, v, a, strict=True)])
    np.testing.assert_allclose(drives.torques(q, v, a), expected, atol=1e-9)
    np.testing.assert_allclose(drives.torque(q[0], v[0], a[0]), expected[0], atol=1e-9)


def test_goal_whose_rotors_alone_need_too_much_torque_is_refused_with_mujocos_torque():
    target = HOME.copy()
    target[WRIST] += 1.2
    zero = np.zeros((1, 6))
    fast = goal([0.9], [target], zero, zero)
    make().set_goal(fast, 0)  # the links alone are light enough
    heavy = make(armature=(*ARMATURE[:WRIST], 4.0))
    with pytest.raises(GoalError) as error:
        heavy.set_goal(fast, 0)
    assert error.value.joint == NAMES[WRIST]
    assert error.value.upper == MODEL.effort_limit[WRIST]

    light = make()
    light.set_goal(fast, 0)
    at = light.peek(round(error.value.time * 1e9))
    links_and_rotor = mujoco_torque(at.q, at.v, at.a) - DAMPING[0] * at.v
    links_and_rotor[WRIST] += (4.0 - ARMATURE[WRIST]) * at.a[WRIST]
    np.testing.assert_allclose(error.value.value, links_and_rotor[WRIST], atol=1e-6)


def test_braking_is_stretched_until_the_rotors_too_can_be_stopped():
    v = np.zeros(6)
    v[WRIST] = 3.0
    arm = make(v=v, armature=(4.0,), max_deceleration_on_cancel=(20.0,))
    deceleration = abs(arm.reference.a[WRIST])
    assert deceleration < 20.0
    at = arm.reference
    torque = Drives(MODEL, (4.0,)).torque(at.q, at.v, at.a)
    assert abs(torque[WRIST]) <= MODEL.effort_limit[WRIST]


def test_rotor_inertia_below_zero_is_refused_by_joint():
    with pytest.raises(ArmError, match=f"armature of joint '{NAMES[2]}' is -1"):
        Drives(MODEL, (0.1, 0.1, -1.0, 0.1, 0.1, 0.1))
