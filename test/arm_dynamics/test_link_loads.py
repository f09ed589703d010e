"""Loads inside an arm: against MuJoCo's sensors, statics and the equation of motion."""

import mujoco
import numpy as np
import pytest
from arms import load_arm
from scipy.spatial.transform import Rotation

from arm_dynamics.checks import ArmError
from arm_dynamics.link_loads import External, LinkLoads
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.simulation.mujoco_model import arm_spec
from arm_sim.simulation.plant import PlantParameters


def mujoco_with_sensors(model, frame):
    """Return MuJoCo's model and data of a torque-driven arm with sensors before a link."""
    spec = arm_spec(model, PlantParameters(actuator='torque', effort_limits=False))
    spec.body(frame).add_site(name='at')
    for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
        spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname='at', name=f'{kind}')
    mj_model = spec.compile()
    return mj_model, mujoco.MjData(mj_model)


@pytest.mark.parametrize('frame', ['tool0', 'wrist_3_link', 'wrist_1_link', 'shoulder_link'])
def test_the_wrench_across_a_cut_is_that_of_mujocos_sensors(frame):
    model = with_error(load_arm('ur5e'), ModelError(payload=2.0, gravity=(1.0, -2.0, -9.0)))
    mj_model, data = mujoco_with_sensors(model, frame)
    loads, rng = LinkLoads([model], frame), np.random.default_rng(0)
    for _ in range(5):
        data.qpos[:], data.qvel[:] = model.random_configuration(rng), rng.normal(size=model.nv)
        data.ctrl[:] = 50.0 * rng.normal(size=model.nv)
        body, push = mj_model.body('payload').id, rng.normal(size=6)
        data.xfrc_applied[body] = push  # at the centre of mass
        mujoco.mj_forward(mj_model, data)
        moment = push[3:] + np.cross(data.xipos[body], push[:3])
        external = External(
            ('payload',), np.concatenate([push[:3], moment])[np.newaxis, np.newaxis]
        )
        loads.update(data.qpos[np.newaxis], data.qvel[np.newaxis], data.qacc[np.newaxis], external)
        # MuJoCo's sensor has the force on the child, ours the force on the parent.
        np.testing.assert_allclose(loads.wrench()[0], -data.sensordata, atol=1e-9)
        # What drives give is rotor inertia and what the joints transmit.
        np.testing.assert_allclose(
            loads.torque[0] + model.armature * data.qacc, data.ctrl, atol=1e-9
        )


def test_a_mass_at_rest_gives_its_weight_in_the_axes_of_the_frame():
    arm = load_arm('ur5e')
    model, q = with_error(arm, ModelError(payload=2.0)), np.array([0.3, -1.0, 1.2, 0.4, 0.5, 0.6])
    bare, loaded = LinkLoads([arm], 'tool0'), LinkLoads([model], 'tool0')
    zeros = np.zeros((1, 6))
    for loads in (bare, loaded):
        loads.update(q[np.newaxis], zeros, zeros)
    rotation = arm.forward_kinematics(q).rotation
    np.testing.assert_allclose(bare.wrench(), zeros, atol=1e-12)
    expected = np.concatenate([rotation.T @ (0.0, 0.0, -2.0 * 9.81), np.zeros(3)])
    np.testing.assert_allclose(loaded.wrench()[0], expected, atol=1e-12)
    np.testing.assert_allclose(loaded.gravity()[0], rotation.T @ arm.gravity, atol=1e-12)
    assert abs(Rotation.from_matrix(rotation).magnitude()) > 0.1


@pytest.mark.parametrize(('cut', 'why'), [('hand', "no frame 'hand'"), ('base_link', 'the base')])
def test_a_cut_that_is_not_possible_is_refused(cut, why):
    with pytest.raises(ArmError, match=why):
        LinkLoads([load_arm('ur5e')], cut)
