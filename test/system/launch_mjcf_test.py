"""An MJCF robot over ROS: its own actuator is commanded, reported, recorded and run again."""

from itertools import groupby

import mujoco
import numpy as np
from arm_system import ArmSystem, seconds
from builtin_interfaces.msg import Time
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState

from arm_controllers.ros.object_messages import shapes_of
from arm_controllers.ros.qos import CONTROL_QOS
from arm_sim.robot import Robot
from arm_tools.recording.ros import rerun
from arm_tools.recording.ros.recorded_run import RecordedRun
from arm_tools.robot_trials.tried import drives_of, write_mjcf

CLOSED_AT, TRAVEL = 2.0, 0.03  # in simulated time [s], of each finger [m]


def write_arm_with_gripper(file):
    """Write the UR5e as an MJCF, with two fingers on one tendon and a force sensor."""
    robot = Robot.load('ur5e')
    write_mjcf(robot, drives_of(robot), file)
    spec = mujoco.MjSpec.from_file(str(file))
    wrist, tendon = spec.body('wrist_3_link'), spec.add_tendon(name='grip')
    wrist.add_site(name='wrist')
    spec.add_sensor(
        name='force', type=mujoco.mjtSensor.mjSENS_FORCE, objtype=mujoco.mjtObj.mjOBJ_SITE,
        objname='wrist',
    )  # fmt: skip
    for side in (1.0, -1.0):
        finger = wrist.add_body(name=f'finger {side}', pos=(0.04 * side, 0.0, 0.1))
        finger.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, size=(0.01, 0.01, 0.03), mass=0.05, contype=1,
            conaffinity=1,
        )  # fmt: skip
        joint = finger.add_joint(
            name=f'finger {side}', type=mujoco.mjtJoint.mjJNT_SLIDE, axis=(-side, 0.0, 0.0)
        )
        joint.damping[0] = 2.0
        tendon.wrap_joint(joint.name, 0.5)
    spec.add_equality(
        type=mujoco.mjtEq.mjEQ_JOINT, name1='finger 1.0', name2='finger -1.0',
        data=[0, 1, *[0] * 10], objtype=mujoco.mjtObj.mjOBJ_JOINT,
    )  # fmt: skip
    fingers = spec.add_actuator(
        name='fingers', trntype=mujoco.mjtTrn.mjTRN_TENDON, target='grip', ctrllimited=True,
        ctrlrange=(0, 255),
    )  # fmt: skip
    fingers.set_to_position(500.0, kv=20.0)
    fingers.gainprm[0] *= TRAVEL / 255.0
    (key,) = spec.keys
    key.qpos, key.ctrl = [*key.qpos, 0.0, 0.0], [*robot.start, 0.0]
    spec.compile()
    file.write_text(spec.to_xml())


def drop(system, model):
    """Let a ball fall on the gripper while time goes on, then remove the ball."""
    q = system.states[-1][1]
    x, y, z = model.forward_kinematics(q, 'finger 1.0').translation.tolist()
    place = f'[{x}, {y}, {z + 0.15}]'
    ball = f'[{{name: ball, shape: sphere, size: [0.1], mass: 1.0, position: {place}}}]'
    for objects, seconds_later in ((ball, 0.5), ('', 0.1)):
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=objects)
        request = SetParameters.Request(parameters=[Parameter(name='objects', value=value)])
        assert system.pause()
        (done,) = system.call(SetParameters, 'simulator/set_parameters', request).results
        assert done.successful, done.reason
        assert system.pause(False)
        end = system.now + seconds_later
        system.wait(lambda end=end: system.now > end, 'fall')


def test_a_gripper_closes_over_topics_and_again_from_the_recording(tmp_path):
    file = tmp_path / 'arm_with_gripper.xml'
    write_arm_with_gripper(file)
    received, reported, sensed = [], [], []
    with ArmSystem() as system:
        node = system.node
        node.create_subscription(Time, 'simulator/recorded_until', received.append, CONTROL_QOS)
        node.create_subscription(JointState, 'actuator_states', reported.append, CONTROL_QOS)
        node.create_subscription(JointState, 'mjcf_sensors', sensed.append, CONTROL_QOS)
        system.simulator(f'robot:={file}')
        system.start('recorder', f'output_dir:={tmp_path}')
        system.wait(lambda: any(tmp_path.glob('*.mcap')), 'recording')
        commands = node.create_publisher(JointState, 'actuator_commands', 10)
        system.wait(lambda: commands.get_subscription_count() > 1, 'simulator and recorder')
        wrong = JointState(name=['fingers'], position=[256.0])
        commands.publish(wrong)
        close = JointState(name=['fingers'], position=[255.0])
        close.header.stamp.sec = int(CLOSED_AT)
        commands.publish(close)
        system.controller('computed_torque', f'robot:={file}')  # time goes on
        system.wait(lambda: system.states and system.now > CLOSED_AT + 1.0, 'closing')
        drop(system, Robot.load(str(file)).model)
        assert system.pause()
        system.diagnostics.clear()
        system.words('simulator', 'paused')
        last = float(system.values['simulator']['simulated time [s]'])
        system.wait(lambda: abs(seconds(received[-1]) - last) < 1e-6, 'recorder')
        system.wait(lambda: abs(system.now - last) < 1e-6, 'last state')
        assert system.stop('recorder') == 0
        assert 'control of actuator' in system.log('simulator')
        _, q, v = system.states[-1]
    lengths = {seconds(each.header.stamp): each.position[0] for each in reported}
    assert all(abs(x) < 1e-3 for t, x in lengths.items() if t <= CLOSED_AT)
    assert abs(lengths[max(lengths)] - TRAVEL) < 1e-3
    assert sensed[-1].name == ['force_x', 'force_y', 'force_z']
    assert 0.5 < np.linalg.norm(sensed[-1].position) < 100.0
    (recording,) = tmp_path.glob('*.mcap')
    recorded = RecordedRun.load(recording)
    changes = (bool(each['objects']) for each in recorded.object_changes)
    assert [there for there, _ in groupby(changes)] == [True, False]  # a request may come twice
    found = rerun.rerun(recorded)
    assert np.nanmax(found.recorded.contacts[:, 1]) > 1.0
    np.testing.assert_array_equal(found.again[-1, :2], [q, v])
    assert found.difference() == ''
    for (_, raw), distance in zip(
        recorded.objects[:: len(recorded.objects) - 1], (0.08, 0.08 - 2.0 * TRAVEL), strict=True
    ):
        fingers = shapes_of(raw)  # for the page and films
        assert {each.name for each in fingers} == {'finger 1.0', 'finger -1.0'}
        one, other = (np.array(each.pose[:3]) for each in fingers)
        assert abs(np.linalg.norm(one - other) - distance) < 2e-3
