"""What a user's own package adds, in few lines each: law, sensor, measure, engine, controllers."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from experiment_parts import run

pytest.importorskip('rclpy')

from arm_system import ArmSystem
from domains import fresh_domain
from long_wait import LONG_WAIT
from plugins import write_plugins
from std_msgs.msg import String

from arm_controllers.ros.active_controllers import TOPIC
from arm_controllers.ros.qos import LATCHED_QOS
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.monte_carlo import run_monte_carlo
from arm_lab.experiments.over_topics import run_over_topics
from arm_lab.experiments.ranges import Ranges
from arm_sim.devices import SensorParameters
from arm_sim.devices.joint_sensors import SENSOR_MODELS
from arm_sim.loop.loop import Loop
from arm_sim.loop.measures import all_measures

LAW = '''
from dataclasses import dataclass
import numpy as np
from arm_controllers.laws import Law
from arm_dynamics.parameters import Parameters, parameter

@dataclass(frozen=True)
class MpcParameters(Parameters):
    horizon: int = parameter(10, 'control periods of the horizon [1]', min=1)
    weight: float = parameter(1e-9, 'weight of squared accelerations [s^4]', above=0)

class Mpc(Law):
    """The accelerations that minimise squared errors over a horizon, through inverse dynamics."""
    Parameters = MpcParameters

    @classmethod
    def designed(cls, model, q, wn, zeta):
        return MpcParameters()

    def __call__(self, state, measured, reference, dt):
        model, n, (q, v, *_) = self.model, self.parameters.horizon, measured
        ahead = np.arange(1, n + 1)
        free = [model.difference(q + dt * k * v, reference.ahead(int(k)).q) for k in ahead]
        # q_k = q + k dt v + dt^2 sum over j <= k of (k - j + 1) a_j: semi-implicit steps.
        effect = dt**2 * np.maximum(ahead[:, np.newaxis] - ahead + 1, 0)
        normal = effect.T @ effect + self.parameters.weight * np.eye(n)
        first = np.linalg.solve(normal, effect.T)[0]
        a = np.tensordot(first, np.stack(free), axes=1)
        return model.inverse_dynamics(q, v, a) + reference.effort, state
'''
MEASURE = """
import numpy as np
from arm_sim.loop.measures import Measure

TOP_SPEED = Measure('top_speed_rad_s', 'speed [rad/s]', '.3g', lambda s: abs(s.v).max(-1), 'max')
"""
SENSOR = """
import numpy as np

BIAS = 2e-3  # of the last encoder [rad]
DRIFT = 1e-3  # of all encoders [rad/s]

def warming(seeds, period):
    def read(t, q, v):
        q[:, -1] += BIAS
        return q + DRIFT * t, v + DRIFT
    return read
"""
ENGINE = '''
"""A physics engine: the explicit midpoint rule on Pinocchio's forward dynamics."""
import numpy as np
from arm_sim.simulation.plant import Plant

class MidpointPlant(Plant):
    def __init__(self, model, parameters):
        super().__init__(model, parameters)
        self.arm = model
        self.q, self.v, self.effort = np.zeros((3, model.nv))
        self.reset(model.neutral())

    def act(self, command):
        dt, limit = self.parameters.timestep, self.parameters.effort_limit(self.arm)
        self.effort[:] = np.clip(command, -limit, limit)
        for _ in range(self.parameters.control_decimation):
            a = self.arm.forward_dynamics(self.q, self.v, self.effort)
            v_half, q_half = self.v + 0.5 * dt * a, self.q + 0.5 * dt * self.v
            self.v += dt * self.arm.forward_dynamics(q_half, v_half, self.effort)
            self.q += dt * v_half
'''
HOLDER = '''
"""A controller that holds the joints named on its command line where they are."""
import sys
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState

class Holder(Node):
    def __init__(self, name, *joints):
        super().__init__(name)
        self.joints, self.start = joints, None
        self.commands = self.create_publisher(JointState, 'joint_commands', 10)
        self.create_subscription(JointState, 'joint_states', self.answer, 10)

    def answer(self, state):
        places = [state.name.index(joint) for joint in self.joints]
        q, v = [[values[k] for k in places] for values in (state.position, state.velocity)]
        self.start = self.start or q
        command = JointState(header=state.header, name=self.joints)
        command.header.frame_id = self.get_name()
        rows = zip(self.start, q, v, strict=True)
        command.effort = [200.0 * (q0 - qk) - 20.0 * vk for q0, qk, vk in rows]
        self.commands.publish(command)

if __name__ == '__main__':
    rclpy.init()
    rclpy.spin(Holder(*sys.argv[1:]))
'''
TWO_CONTROLLERS = """
import sys
from launch import LaunchDescription
from launch.actions import ExecuteProcess, IncludeLaunchDescription
from launch_ros.substitutions import FindPackageShare

ARM = {'robot': 'planar_3r', 'controller': 'external', 'actuator': 'torque'}
JOINTS = {'arm_controller': ['joint_1', 'joint_2'], 'wrist_controller': ['joint_3']}

def generate_launch_description():
    arm = [FindPackageShare('arm_sim'), '/launch/arm.launch.py']
    holder = [sys.executable, '-m', 'plugins_of_a_user.holder']
    return LaunchDescription([
        IncludeLaunchDescription(arm, launch_arguments=ARM.items()),
        *(ExecuteProcess(cmd=[*holder, name, *joints]) for name, joints in JOINTS.items()),
    ])
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The folder of the package, which this process and the processes that it starts have."""
    entries = {
        'arm_sim.laws': {'linear_mpc': 'law:Mpc'},
        'arm_sim.sensors': {'warming': 'sensor:warming'},
        'arm_sim.measures': {'top': 'measure:TOP_SPEED'},
        'arm_sim.engines': {'midpoint': 'engine:MidpointPlant'},
    }
    modules = {'law': LAW, 'sensor': SENSOR, 'measure': MEASURE, 'engine': ENGINE}
    folder = write_plugins(tmp_path / 'site', modules | {'holder': HOLDER}, entries)
    monkeypatch.setenv('PYTHONPATH', f'{folder}:{os.environ["PYTHONPATH"]}')
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    monkeypatch.syspath_prepend(folder)
    SENSOR_MODELS.refresh()
    all_measures.cache_clear()
    yield folder
    monkeypatch.undo()
    SENSOR_MODELS.refresh()
    all_measures.cache_clear()


@pytest.fixture
def compare(tmp_path, site):
    """Return a function that runs compare_controllers with the package, and returns its rows."""

    def compare(name, *options):
        command = [sys.executable, '-m', 'arm_sim.executables', 'compare_controllers']
        usual = ['--robots', 'planar_3r', '--laws', 'linear_mpc,computed_torque', '--workers', '1']
        answer = subprocess.run(
            [*command, *usual, '--output-dir', str(tmp_path / name), *options],
            capture_output=True, text=True, timeout=LONG_WAIT, cwd=tmp_path,
        )  # fmt: skip
        assert answer.returncode == 0, answer.stdout + answer.stderr
        [file] = (tmp_path / name).glob('*.json')
        found = json.loads(file.read_text())['rows']
        rows = {(row.get('engine', 'mujoco'), row['law']): row for row in found}
        return rows, answer.stdout

    return compare


def test_their_lines_are_few():
    texts = LAW, SENSOR, MEASURE, ENGINE, TWO_CONTROLLERS
    lengths = [len(text.strip().splitlines()) for text in texts]
    assert all(np.array(lengths) <= (30, 15, 10, 40, 20)), lengths


LAWS = ('mujoco', 'linear_mpc'), ('mujoco', 'computed_torque')


def test_a_law_with_a_horizon_runs_in_the_loop_and_over_topics_with_the_same_numbers(compare):
    # The law plans in steps of the plant.
    steps = '--integrator', 'implicitfast'
    loop, printed = compare('loop', *steps)
    mpc, known = (loop[each] for each in LAWS)
    assert mpc['tracking_rms_mm'] < 0.5 * known['tracking_rms_mm']
    assert 'speed [rad/s]' in printed
    assert 0.1 < mpc['top_speed_rad_s'] < 10.0
    # A goal's splines between its points.
    topics, _ = compare('topics', *steps, '--over', 'topics', '--laws', 'linear_mpc')
    over_topics = topics[LAWS[0]]
    assert over_topics['tracking_rms_mm'] == pytest.approx(mpc['tracking_rms_mm'], rel=1e-2)
    assert over_topics['top_speed_rad_s'] == pytest.approx(mpc['top_speed_rad_s'], rel=1e-3)


def test_it_commands_many_arms_of_a_batch(compare):
    rows, _ = compare('batch', '--laws', 'linear_mpc', '--samples', '20')
    assert rows[LAWS[0]]['unstable'] == 0


def test_an_engine_runs_in_the_loop_and_over_topics_and_drawn_arms_run_one_by_one(compare):
    law = '--laws', 'computed_torque'
    loop, _ = compare('loop', *law, '--engines', 'midpoint,mujoco')
    mine, reference = (loop[engine, 'computed_torque'] for engine in ('midpoint', 'mujoco'))
    # A step of second order is close to the continuous arm.
    assert mine['tracking_rms_mm'] == pytest.approx(reference['tracking_rms_mm'], rel=0.01)
    topics, _ = compare('topics', *law, '--engines', 'midpoint', '--over', 'topics')
    [own] = topics.values()
    assert own['tracking_rms_mm'] == pytest.approx(mine['tracking_rms_mm'], rel=1e-2)
    drawn, _ = compare('drawn', *law, '--engines', 'midpoint', '--samples', '2')
    assert drawn['mujoco', 'computed_torque']['unstable'] == 0


def test_a_sensor_reports_the_same_in_the_loop_in_a_batch_and_over_topics(site, tmp_path):
    exact = Experiment('planar_3r', 'sinusoid', 'computed_torque')
    warming = replace(exact, sensors=SensorParameters(sensor_model='warming'))
    alone = run(warming)
    np.testing.assert_allclose(alone.tracking.joint_error[-1].mean(), 3e-3, rtol=0.2)
    assert np.abs(run(exact).tracking.joint_error[-1]).max() < 1e-3

    nothing = Ranges(
        mass=0.0, friction=0.0, delay=0, position_noise=0.0, velocity_noise=0.0, effort=1.0
    )
    [batch] = run_monte_carlo(replace(warming, ranges=nothing), ['computed_torque'], 3)
    np.testing.assert_allclose(batch.errors, [alone.measures.tracking_rms_mm] * 3, rtol=1e-6)

    file = tmp_path / 'sensor.yaml'
    file.write_text('simulator: {ros__parameters: {sensors.model: warming}}')
    topics = run_over_topics(replace(exact, config=str(file)))
    own = LoadedExperiment(warming, exact.load().robot)
    loop = Loop(own.plants()[0], own.law(), own.task.reference)
    steps = [loop.step(effort) for effort in topics.effort]
    np.testing.assert_array_equal(topics.q, [step.measured.q for step in steps])
    np.testing.assert_array_equal(topics.v, [step.measured.v for step in steps])
    assert np.abs(topics.q - [step.q for step in steps]).max() > 3e-3


def test_two_controllers_of_a_launch_file_hold_one_robot(site, tmp_path):
    file = tmp_path / 'two_controllers.launch.py'
    file.write_text(TWO_CONTROLLERS)
    with ArmSystem() as system:
        claims = {}
        system.node.create_subscription(
            String, TOPIC, lambda m: claims.update(json.loads(m.data)), LATCHED_QOS
        )
        with (tmp_path / 'log').open('wb') as log:
            system.processes['launch'] = subprocess.Popen(
                ['ros2', 'launch', str(file)], stdout=log, stderr=log, env=system.environment
            )
        both = {'arm_controller': ['joint_1', 'joint_2'], 'wrist_controller': ['joint_3']}
        system.wait(lambda: claims.get('claims') == both and system.states, 'two claims')
        begin, start = system.now, system.q
        system.wait(lambda: system.now > begin + 1.0, 'time under both')
        np.testing.assert_allclose(system.q, start, atol=0.2)
        np.testing.assert_allclose(system.states[-1][2], 0.0, atol=1e-2)
