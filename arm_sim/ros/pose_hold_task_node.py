"""The five-joint arm holds a pose by motor voltages; the task measures how well and reports."""

import json
import struct
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import get_type_hints

import numpy as np
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_values import from_ros_value
from arm_controllers.ros.messages import JointReader, to_ns
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import RECORD_QOS
from arm_controllers.ros.running import run_node, wait_for, wait_until
from arm_dynamics.checks import in_range, one_of
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.plants.analytical_plant import AnalyticalParameters, AnalyticalPlant
from arm_sim.tasks.pose_hold.run import PoseHoldRun, draw, hold

# States between two pauses in which the task catches up; the simulator keeps 1000.
_SLICE_STATES = 300


@dataclass(frozen=True)
class PoseHoldTaskParameters:
    """Parameters of the task.

    Attributes:
        robot: name of a shipped robot, or path of a URDF file.
        controller: law whose controller holds the arm.
        duration: how long the pose is held [s].
        timeout: longest wait for another node [s].
        output_dir: folder for report.json and pose_hold.png.
    """

    robot: str = 'five_joint_arm'
    controller: str = 'pose_pi'
    duration: float = 3.0
    timeout: float = 120.0
    output_dir: str = 'pose_hold_output'

    def __post_init__(self):
        """Raises ArmError."""
        one_of('controller', self.controller, law_names())
        in_range('duration', self.duration, 0.001, 3600.0)
        in_range('timeout', self.timeout, 0.1, 1000.0)


class PoseHoldTask(Node):
    """Runs once: records the held pose, predicts the same run without ROS, compares."""

    def __init__(self):
        """Declare parameters, open clients and the recorder."""
        super().__init__('pose_hold_task')
        self.parameters = p = declare_parameters(self, PoseHoldTaskParameters)
        self.output_dir = _folder(p.output_dir)
        self.model = RobotModel.from_urdf(find_urdf(p.robot))
        self._pause = self.create_client(SetBool, '/simulator/pause')
        self._reset = self.create_client(Trigger, '/simulator/reset')
        self._states: dict[int, bytes] = {}
        self._latest_ns = -1
        self.create_subscription(JointState, 'joint_states', self._on_state, RECORD_QOS, raw=True)

    def run(self, executor) -> int:
        """Do the job; return 0 if the arm did what the model predicts, 1 if not."""
        p = self.parameters
        wait_until(executor, lambda: self._latest_ns >= 0, 'joint_states', p.timeout)
        plant = AnalyticalPlant(
            self.model, self._read(executor, 'simulator', AnalyticalParameters)
        )
        make_law = law_class(p.controller)
        node = f'{p.controller}_controller'
        law = make_law(self.model, self._read(executor, node, make_law.Parameters))

        self._call(executor, self._pause, SetBool.Request(data=True))
        self._states.clear()
        self._latest_ns = -1
        self._call(executor, self._reset, Trigger.Request())
        wait_until(executor, lambda: self._latest_ns == 0, 'state after the reset', p.timeout)
        period_ns = plant.parameters.period_ns
        end_ns = round(p.duration * 1e9 / period_ns) * period_ns
        while self._latest_ns < end_ns:
            self._run_slice(executor, min(self._latest_ns + _SLICE_STATES * period_ns, end_ns))

        times, positions = self._positions(end_ns)
        if len(times) != end_ns // period_ns + 1:
            raise ArmError(f'{end_ns // period_ns + 1 - len(times)} states were not received')
        measured = PoseHoldRun.of(positions[0], period_ns * 1e-9, positions)
        predicted = hold(plant, law, positions[0], p.duration)
        return self._report(measured, predicted)

    def _run_slice(self, executor, until_ns: int) -> None:
        """Let the simulator run until a time, or a little longer.

        It does not wait for those who only listen, and at 10 kHz would leave us behind.
        """
        self._call(executor, self._pause, SetBool.Request(data=False))
        arrived = f'state at t = {until_ns * 1e-9:.4f} s'
        timeout = self.parameters.timeout
        wait_until(executor, lambda: self._latest_ns >= until_ns, arrived, timeout)
        self._call(executor, self._pause, SetBool.Request(data=True))

    def _report(self, measured: PoseHoldRun, predicted: PoseHoldRun) -> int:
        p = self.parameters
        same = measured.cost == predicted.cost
        names = self.model.joint_names
        print(f'pose_hold: {p.robot} under {p.controller}, {p.duration:g} s')
        print(f'{"joint":>8} {"target [rad]":>14} {"worst error":>14} {"error at the end":>18}')
        for i, name in enumerate(names):
            print(
                f'{name:>8} {measured.target[i]:>14.6f} {measured.worst_error[i]:>14.3e} '
                f'{measured.final_error[i]:>18.3e}'
            )
        print(f'J in the simulation {measured.cost:.12g}')
        print(f'J predicted         {predicted.cost:.12g}   {"the same" if same else "DIFFERS"}')
        report = {
            'robot': p.robot,
            'controller': p.controller,
            'duration_s': p.duration,
            'target_rad': measured.target.tolist(),
            'cost': measured.cost,
            'predicted_cost': predicted.cost,
            'same': same,
            'worst_error_rad': measured.worst_error.tolist(),
            'final_error_rad': measured.final_error.tolist(),
        }
        (self.output_dir / 'report.json').write_text(json.dumps(report, indent=2) + '\n')
        title = f'{p.robot} under {p.controller}: J = {measured.cost:.6g}'
        draw(self.output_dir / 'pose_hold.png', {p.controller: measured}, title)
        print(f'pose_hold: report.json, pose_hold.png are in {self.output_dir}', flush=True)
        return 0 if same else 1

    def _read(self, executor, node: str, parameters: type):
        """Return a node's parameters as the dataclass they were declared from."""
        client = self.create_client(GetParameters, f'/{node}/get_parameters')
        names = [field.name for field in fields(parameters)]
        answer = self._call(executor, client, GetParameters.Request(names=names))
        kinds = get_type_hints(parameters)
        return parameters(
            **{
                name: from_ros_value(name, parameter_value_to_python(value), kinds[name])
                for name, value in zip(names, answer.values, strict=True)
            }
        )

    def _on_state(self, data: bytes) -> None:
        seconds, nanoseconds = struct.unpack_from('<iI', data, 4)
        self._latest_ns = seconds * 1_000_000_000 + nanoseconds
        self._states[self._latest_ns] = data

    def _positions(self, end_ns: int) -> tuple[list[int], np.ndarray]:
        reader = JointReader(self.model.joint_names)
        times = sorted(stamp for stamp in self._states if stamp <= end_ns)
        rows = []
        for stamp in times:
            message = deserialize_message(self._states[stamp], JointState)
            assert to_ns(message.header.stamp) == stamp
            rows.append(np.array(reader.read(message.name, message.position, 'position')))
        return times, np.array(rows)

    def _call(self, executor, client, request):
        timeout = self.parameters.timeout
        wait_until(executor, client.service_is_ready, f'service {client.srv_name}', timeout)
        answer = f'answer from {client.srv_name}'
        return wait_for(executor, client.call_async(request), answer, timeout)


def _folder(name: str) -> Path:
    """Return the folder, made if need be. Raises ArmError if it cannot be written."""
    path = Path(name).expanduser().absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
        (path / 'report.json').touch()
    except OSError as error:
        raise ArmError(
            f'output_dir {str(path)!r} is not a folder to write in: {error.strerror}'
        ) from None
    return path


def main() -> int:
    """Run the node."""
    return run_node('pose_hold_task', PoseHoldTask)


if __name__ == '__main__':
    sys.exit(main())
