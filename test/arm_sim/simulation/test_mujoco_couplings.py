"""Joints of an MJCF that follow commanded ones by equalities: the law's model has them too.

MuJoCo steps the files themselves, by equalities of its own: soft constraints, not <mimic>.
"""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import arm_sim
from arm_controllers.laws.computed_torque import ComputedTorque
from arm_dynamics.checks import ArmError
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot
from arm_sim.simulation.model_check import check_model

PART = """<body name="{0}" pos="{2} 0 0"><joint name="{0}" axis="0 1 0" range="-80 80" {1}/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>"""
SERVO = '<position name="of_{0}" joint="{0}" kp="4000" dampratio="1"/>'
# A palletizer: `hand` turns back what `fore` turns, half of `end` follows `hand`.
ARM = (
    '<mujoco model="arm"><option timestep="0.001"/><worldbody>'
    + PART.format('lift', 'armature="0.1"', 0.0) + PART.format('fore', 'armature="0.1"', 0.3)
    + PART.format('hand', 'ref="20" armature="0.02" damping="0.5" frictionloss="0.1"', 0.3)
    + PART.format('end', '', 0.3)
    + '</body>' * 4 + '</worldbody><actuator>' + SERVO.format('lift') + SERVO.format('fore')
    + '{more}</actuator><equality>{ways}</equality></mujoco>'
)  # fmt: skip
WAYS = (
    '<joint joint1="hand" joint2="fore" polycoef="0.1 -1 0 0 0" solref="0.004 1"/>'
    '<joint joint1="hand" joint2="end" polycoef="0 2 0 0 0" solref="0.004 1"/>'
)


def robot_of(tmp_path, ways=WAYS, more='', words='joints:=lift,fore tip_frame:=fore'):
    file = tmp_path / 'arm.xml'
    file.write_text(ARM.format(ways=ways, more=more))
    return Robot.load(f'{file} {words}')


def test_followers_are_where_mujoco_has_them(tmp_path):
    """One goes by the second joint of an equality, and follows a follower."""
    model = robot_of(tmp_path).model
    assert model.moving_joints == ('lift', 'fore', 'hand', 'end')
    m = mujoco.MjModel.from_xml_path(str(tmp_path / 'arm.xml'))
    data, fore = mujoco.MjData(m), 0.3
    hand = np.deg2rad(20.0) + 0.1 - fore
    end = (hand - np.deg2rad(20.0)) / 2.0
    data.qpos[:] = -0.4, fore, hand, end
    mujoco.mj_forward(m, data)
    assert_allclose(data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY], 0.0,
                    atol=1e-12)  # fmt: skip
    for body in ('hand', 'end'):
        pose = model.forward_kinematics([-0.4, fore], body)
        assert_allclose(pose.translation, data.body(body).xpos, atol=1e-12)
        assert_allclose(pose.rotation.ravel(), data.body(body).xmat, atol=1e-12)


def test_the_plant_has_the_models_masses_and_rotors(tmp_path):
    model = robot_of(tmp_path).model
    plant = MujocoPlant(model, MujocoPlant.Parameters())
    assert check_model(plant, model) < 1e-12
    assert_allclose(plant.mass_matrix(), model.mass_matrix(plant.q), rtol=1e-12)
    assert_allclose(plant.joint_friction(), [model.damping, model.friction], rtol=1e-12)
    assert plant.scene.loose_links == ()


def test_a_goal_is_reached_with_the_load_of_the_followers(tmp_path):
    """Held still in the model, they put the goal 90 mrad off."""
    robot_of(tmp_path)
    robot = f'{tmp_path}/arm.xml joints:=lift,fore tip_frame:=fore'
    run = arm_sim.run(robot, law='computed_torque', task='step', parameters={'duration': 3.0})
    error = np.abs(run.record.q[-1] - run.record.q_reference[-1])
    assert error.max() < 1e-3  # the soft equalities of the file give way under the links' weight


@pytest.mark.parametrize(
    ('ways', 'more', 'who'),
    [
        (WAYS, SERVO.format('hand'), r'joint of hand and fore .* tie .* to hand,'),
        ('<joint name="bent" joint1="hand" joint2="fore" polycoef="0 -1 1 0 0"/>', '', 'bent'),
        ('<connect name="rod" body1="end" body2="world" anchor="0.3 0 0"/>', '', 'rod .*hand'),
    ],
)
def test_a_law_that_needs_the_model_is_refused_where_others_are_tied(tmp_path, ways, more, who):
    model = robot_of(tmp_path, ways, more).model
    with pytest.raises(ArmError, match=f'law ComputedTorque: equalities {who}.*mjcf:=converted'):
        ComputedTorque(model, ComputedTorque.Parameters(kp=(1.0,), kd=(1.0,)))


def test_equalities_of_other_joints_are_no_reason(tmp_path):
    model = robot_of(tmp_path, '<joint joint1="hand" joint2="end"/>').model
    ComputedTorque(model, ComputedTorque.Parameters(kp=(1.0,), kd=(1.0,)))
    assert model.moving_joints == ('lift', 'fore')
