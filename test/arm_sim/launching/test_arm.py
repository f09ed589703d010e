"""The parameters of an arm's nodes, as a launch file starts them."""

import pytest
import yaml
from foreign_files import PINCER
from launch.actions import LogInfo

from arm_dynamics.checks import ArmError
from arm_sim.launching import arm
from arm_sim.launching.arguments import usual_values
from arm_sim.robot import Robot
from arm_tools.cartesian.ros import tip_launch
from arm_tools.cartesian.tip_parameters import TipParameters
from arm_tools.standards.ros import controller_manager_launch


def test_gains_of_an_arm_with_a_foreign_gripper_are_those_of_its_own_joints(tmp_path, monkeypatch):
    file = tmp_path / 'pincer.xml'
    file.write_text(PINCER)
    robot = f'ur5e gripper:={file}'
    monkeypatch.setattr(arm, 'temporary_folder', lambda: tmp_path)
    given = {'robot': robot, 'engine': 'mujoco', 'composed': 'true', 'record': 'false'}
    arm.arm_nodes(usual_values() | given)
    nodes = yaml.safe_load((tmp_path / 'composed.yaml').read_text())
    both, controller = Robot.load(robot), nodes['/servo_controller']['ros__parameters']
    assert controller['joints'] == list(both.model.joint_names[:6])
    assert nodes['/inverse_kinematics']['ros__parameters']['joints'] == controller['joints']
    assert controller['servo_kp'] == both.parameters('simulator')['servo_kp'][:6]
    assert nodes['/simulator']['ros__parameters']['actuator'] == ['servo'] * 6 + ['torque']
    assert nodes['/simulator']['ros__parameters']['tool_frame'] == 'grasp'


def test_nodes_beside_an_arm_with_a_gripper_have_the_joints_of_its_controller(monkeypatch):
    found = {}
    for module in (tip_launch, controller_manager_launch):
        monkeypatch.setattr(
            module, 'node_process', lambda name, given, *_, **__: found.update({name: given[-1]})
        )
    monkeypatch.setattr(controller_manager_launch, 'find_spec', lambda name: name)
    given = dict.fromkeys(('linear_move', 'controller_manager'), 'true')
    given |= {'robot': 'ur5e gripper:=parallel', 'engine': 'mujoco', 'record': 'false'}
    arm.arm_nodes(usual_values() | given)
    names = Robot.load('ur5e').model.joint_names
    assert found['linear_move']['joints'] == list(names)
    assert found['controller_manager']['joints'] == list(names)
    parameters = TipParameters(found['linear_move']['robot'], joints=tuple(names))
    assert parameters.model().joint_names == names
    assert parameters.model().tip_frame == 'grasp'


@pytest.mark.parametrize(
    ('delay', 'pole', 'warned'), [(0, 0.54, True), (0, 0.8, False), (1, 0.54, False)]
)
def test_observed_with_an_unknown_delay_is_warned_of_unless_its_pole_bears_it(
    delay, pole, warned, tmp_path
):
    file = tmp_path / 'late.yaml'
    sections = {
        'simulator': {'ros__parameters': {'command_delay': 1}},
        'servo_controller': {'ros__parameters': {'delay': delay, 'observer_pole': pole}},
    }
    file.write_text(yaml.safe_dump(sections))
    given = {'robot': 'ur5e', 'feedforward': 'observed', 'config': str(file)}
    parts = arm.arm_nodes(usual_values() | {'engine': 'mujoco'} | given)
    texts = [part.msg[0].text for part in parts if isinstance(part, LogInfo)]
    assert any('may be unstable. Set delay to 1' in text for text in texts) == warned


@pytest.mark.parametrize(
    ('law', 'latency', 'message'),
    [('pd', '0.1', "controller 'pd' is no policy"), ('policy', 'soon', 'it must be seconds')],
)
def test_a_latency_is_that_of_a_policy(law, latency, message):
    given = {'engine': 'mujoco', 'controller': law, 'policy': 'x.onnx', 'latency': latency}
    with pytest.raises(ArmError, match=message):
        arm.arm_nodes(usual_values() | given)
