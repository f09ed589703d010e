"""The device of the page on sensors: reading in the loop, in a batch, and on a topic."""

import os
import subprocess
import sys

import pytest
from domains import fresh_domain
from plugins import write_plugins
from repository import ROOT

from arm_dynamics.checks import ArmError
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters

PAGE = (ROOT / 'docs' / 'sensors.md').read_text()
RANGE = PAGE.split('```python\n')[1].split('```')[0]
# A device that loses every second command of a joint: a fault in 15 lines.
FAULT = """
from arm_sim.devices import Device

class LossDevice(Device):
    is_sensor = False
    count = 0

    @classmethod
    def wanted(cls, parameters):
        return bool(parameters.range_frame)

    def sent(self, command):
        self.count += 1
        return command if self.count % 2 else 0.0 * command
"""
IN_THE_LOOP = """
import numpy as np
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.robot import Robot
from arm_sim.devices import SensorParameters
from arm_sim.simulation.plant import PlantParameters

assert SensorParameters(range_frame='tool0').range_noise == 0.0
robot = Robot.load('ur5e')
known = dict(actuator='torque', range_frame='tool0', range_noise=0.01)
each = [PlantParameters(**known, sensor_seed=seed) for seed in (3, 4)]
alone = [MujocoPlant(robot.model, one) for one in each]
many = BatchPlant([robot.model] * 2, each, 'mujoco')
tau = np.ones(6)
for plant in (*alone, many):
    plant.reset(robot.start)
    plant.step(np.broadcast_to(tau, plant.q.shape).copy())
    assert plant.effort.any()
    plant.step(np.broadcast_to(tau, plant.q.shape).copy())
    assert not plant.effort.any()  # the second command is lost
rows = np.array([plant.measured.readings['range'] for plant in alone])
assert rows.shape == (2, 1) and rows[0] != rows[1]
np.testing.assert_allclose(many.measured.readings['range'], rows, rtol=1e-9)
pose = robot.model.forward_kinematics(alone[0].q, 'tool0')
expected = -pose.translation[2] / pose.rotation[2, 2]
assert abs(rows[0, 0] - expected) < 0.05
"""
ON_A_TOPIC = """
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import Range
from arm_sim.ros.simulator_node import SimulatorNode

rclpy.init(args=['--ros-args', '-p', 'robot:=ur5e', '-p', 'range.frame:=tool0'])
simulator, listener, heard = SimulatorNode(), rclpy.create_node('listener'), []
listener.create_subscription(Range, 'range', heard.append, 10)
executor = SingleThreadedExecutor()
for node in (simulator, listener):
    executor.add_node(node)
while not heard:
    executor.spin_once(timeout_sec=0.1)
plant = simulator.simulation.plant
seen, reading = heard[-1].range, plant.measured.readings['range'][0]
assert abs(seen - reading) < 1e-6 * abs(reading), (seen, reading)
"""


def test_a_change_of_a_device_that_the_arm_began_without_is_refused(monkeypatch):
    robot = Robot.load('planar_3r')
    plant = MujocoPlant(robot.model, PlantParameters())
    plant.devices.check_change(frozenset({'payload', 'faults'}), plant.parameters)
    monkeypatch.setattr('arm_sim.devices._device.live_fields', lambda: {'faults', 'range_noise'})
    with pytest.raises(ArmError, match='range_noise has no effect: the arm began without'):
        plant.devices.check_change(frozenset({'payload', 'range_noise'}), plant.parameters)


@pytest.mark.parametrize('program', [IN_THE_LOOP, ON_A_TOPIC])
def test_a_sensor_and_a_fault_of_another_package_are_devices(program, tmp_path, monkeypatch):
    modules = {'range_sensor': RANGE, 'loss': FAULT}
    points = {'range': 'range_sensor:RangeDevice', 'loss': 'loss:LossDevice'}
    outputs = {'range': 'range_sensor:RangeOutput'}
    groups = {'arm_sim.devices': points, 'arm_sim.device_outputs': outputs}
    folder = write_plugins(tmp_path / 'plugins', modules, groups)
    monkeypatch.syspath_prepend(folder)
    prepended = f'import sys; sys.path.insert(0, {str(folder)!r})\n'
    environment = {'ROS_DOMAIN_ID': str(fresh_domain())}
    done = subprocess.run(
        [sys.executable, '-c', prepended + program], env={**os.environ, **environment},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_devices_of_the_page_are_short():
    assert len([line for line in RANGE.splitlines() if line.strip()]) <= 40
    assert len(FAULT.strip().splitlines()) <= 15
