"""Several laws that command one arm: each its own joints, with its own model and interface."""

from dataclasses import replace

import numpy as np
import pytest

from arm_controllers.composed_law import ComposedLaw
from arm_controllers.laws import Law, law_class
from arm_controllers.laws.pd import PDParameters
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics import ArmError, RobotModel
from arm_dynamics.compiled import BatchModel
from arm_dynamics.descriptions.reduced_model import reduced_model
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.loop import Loop
from arm_sim.simulation.plant import PlantParameters

UR5E = RobotModel.from_urdf(find_urdf('ur5e'), armature=np.linspace(0.1, 0.6, 6))
NAMES = UR5E.joint_names
HOME = np.array([-1.5, -1.5, 1.5, -1.5, -1.5, 0.0])
ARM, WRIST, LAST = NAMES[:3], (NAMES[4], NAMES[3]), NAMES[5:]
ACTUATORS = ('torque',) * 3 + ('servo',) * 2 + ('velocity',)
PLANT = PlantParameters(actuator=ACTUATORS, servo_kp=(500.0,), servo_kd=(60.0,))


SERVO = {'servo_kp': (500.0,), 'servo_kd': (60.0,)}


def composed(wrist=WRIST):
    return composed_of(
        ('computed_torque', ARM, {}),
        ('servo', wrist, SERVO),
        ('velocity_servo', LAST, {'servo_kd': (60.0,)}),
    )


def composed_of(*laws, model_of=lambda model: model):
    parts = []
    for name, joints, gains in laws:
        law = law_class(name)
        model = model_of(reduced_model(UR5E, joints, HOME))
        parts.append(law(model, law.Parameters(**gains)))
    return ComposedLaw(parts, NAMES)


def waving(t, reference):
    reference.q[:] = HOME + 0.2 * np.sin(2.0 * t) * np.arange(1, 7) / 6.0
    reference.v[:] = 0.4 * np.cos(2.0 * t) * np.arange(1, 7) / 6.0
    reference.a[:] = -0.8 * np.sin(2.0 * t) * np.arange(1, 7) / 6.0


def test_each_law_gets_its_joints_and_their_future_and_gives_their_commands():
    law, rng, reference = composed(), np.random.default_rng(0), Reference(6)
    assert law.command_interface == ('effort',) * 3 + ('position',) * 2 + ('velocity',)
    reference.row[:] = rng.normal(size=24)
    q, v = rng.normal(size=(2, 6))
    command, _ = law(law.start(Measurement(q, v), reference), Measurement(q, v), reference, 1e-3)
    places = {joints: [NAMES.index(name) for name in joints] for joints in (ARM, LAST)}
    for joints, own in places.items():
        alone = law_class('computed_torque' if joints == ARM else 'velocity_servo')
        gains = {} if joints == ARM else {'servo_kd': (60.0,)}
        alone = alone(reduced_model(UR5E, joints, HOME), alone.Parameters(**gains))
        part = Reference(len(own))
        for name in ('q', 'v', 'a', 'effort'):
            getattr(part, name)[:] = getattr(reference, name)[own]
        expected, _ = alone((), Measurement(q[own], v[own]), part, 1e-3)
        np.testing.assert_array_equal(command[own], expected)


class WrenchLaw(Law):
    """Commands the desired and the measured force along z."""

    def __call__(self, state, measured, reference, dt):
        return np.full(len(measured.q), reference.wrench[2] + measured.wrench[2]), state


def test_each_law_gets_the_desired_and_the_measured_wrench():
    groups = NAMES[:3], NAMES[3:]
    laws = [WrenchLaw(reduced_model(UR5E, each, HOME), PDParameters()) for each in groups]
    law, reference = ComposedLaw(laws, NAMES), Reference(6)
    reference.wrench = np.array([0.0, 0.0, -10.0, 0.0, 0.0, 0.0])
    measured = Measurement(HOME, np.zeros(6), None, np.array([0.0, 0.0, 4.0, 0.0, 0.0, 0.0]))
    command, _ = law(law.start(measured, reference), measured, reference, 1e-3)
    np.testing.assert_array_equal(command, np.full(6, -6.0))


def test_laws_with_different_interfaces_follow_a_reference_together():
    plant = MujocoPlant(UR5E, PLANT)
    loop = Loop(plant, composed(), waving)
    for _ in range(1000):
        step = loop.step()
        assert np.abs(step.q - step.reference.q).max() < 0.02
    assert np.abs(step.v).max() > 0.05


def test_one_arm_of_a_batch_is_the_arm_alone():
    laws = (  # only the last one needs a model, which is compiled
        ('servo', ARM, SERVO | {'feedforward': 'none'}),
        ('velocity_servo', WRIST, {'servo_kd': (60.0,), 'feedforward': 'none'}),
        ('computed_torque', LAST, {}),
    )
    parameters = replace(PLANT, actuator=('servo',) * 3 + ('velocity',) * 2 + ('torque',))
    many = composed_of(*laws, model_of=BatchModel)
    loop = Loop(BatchPlant([UR5E] * 3, parameters, 'mujoco'), many, waving)
    alone = Loop(BatchPlant([UR5E], parameters, 'mujoco'), many, waving)
    one = Loop(MujocoPlant(UR5E, parameters), composed_of(*laws), waving)
    for _ in range(200):
        steps = [each.step() for each in (loop, alone, one)]
        np.testing.assert_array_equal(steps[0].q, np.broadcast_to(steps[1].q, (3, 6)))
    np.testing.assert_allclose(steps[1].q[0], steps[2].q, atol=1e-9)


def test_laws_must_command_every_joint_once_in_the_units_of_the_plant():
    for wrist, count in ((NAMES[3:4], 0), (NAMES[3:], 2)):
        with pytest.raises(ArmError, match=f'_joint. is commanded by {count} laws; each joint'):
            composed(wrist=wrist)
    with pytest.raises(ArmError, match='the plant takes'):
        Loop(MujocoPlant(UR5E, replace(PLANT, actuator='torque')), composed(), waving)


def test_a_reduced_model_is_the_arm_whose_other_joints_stand_still():
    model = reduced_model(UR5E, (NAMES[1], NAMES[4]), HOME)
    assert model.joint_names == (NAMES[1], NAMES[4])
    own, q, v, a = [1, 4], HOME.copy(), np.zeros(6), np.zeros(6)
    q[own], v[own], a[own] = [0.3, 0.4], [1.0, -2.0], [0.5, 3.0]
    whole = UR5E.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(
        model.inverse_dynamics(q[own], v[own], a[own]), whole[own], atol=1e-9
    )
    tip = UR5E.forward_kinematics(q)
    np.testing.assert_allclose(model.forward_kinematics(q[own]).homogeneous, tip.homogeneous)
    assert reduced_model(UR5E, NAMES) is UR5E
    with pytest.raises(ArmError, match="unknown joint 'wrist'; nearest known: 'wrist_"):
        reduced_model(UR5E, ('wrist',))
