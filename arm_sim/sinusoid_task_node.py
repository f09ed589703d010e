"""The sinusoid over ROS 2 topics: send it as a trajectory, measure, report."""

import json
import struct
import sys
from pathlib import Path

import numpy as np
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from arm_controllers.base_node import (
    RECORD_QOS,
    declare_parameters,
    run_node,
    wait_for,
    wait_until,
)
from arm_controllers.goal import Goal
from arm_controllers.messages import JointReader, to_ns, trajectory_message
from arm_dynamics.checks import per_joint
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.sinusoid_run import (
    SinusoidTaskParameters,
    draw,
    goal_trajectory_of,
    sinusoid_goal,
)
from arm_sim.tracking import JointLog


class SinusoidTask(Node):
    """Runs once, from the reset of the simulator to the report."""

    def __init__(self):
        """Declare parameters, open clients."""
        super().__init__('sinusoid_task')
        self.parameters = p = declare_parameters(self, SinusoidTaskParameters)
        self.model = RobotModel.from_urdf(find_urdf(p.robot), gravity=p.gravity)
        self.amplitude = per_joint('amplitude', p.amplitude, self.model.joint_names)
        self.output_dir = _writable(p.output_dir)
        self.period_ns = round(p.timestep * 1e9) * p.control_decimation
        self._pause = self.create_client(SetBool, '/simulator/pause')
        self._reset = self.create_client(Trigger, '/simulator/reset')
        self._follow = ActionClient(
            self, FollowJointTrajectory, f'/{p.controller}_controller/follow_joint_trajectory'
        )
        self._states: list[bytes] = []
        self._latest_ns = -1
        self.create_subscription(JointState, 'joint_states', self._on_state, RECORD_QOS, raw=True)

    def run(self, executor) -> int:
        """Do the job; return the exit code: 0 if the stated limit holds, 1 if not."""
        p = self.parameters
        wait_until(executor, lambda: self._latest_ns >= 0, 'joint_states', p.timeout)
        if not self._follow.wait_for_server(p.timeout):
            raise ArmError(f'no {p.controller}_controller within {p.timeout:g} s')
        self._call(executor, self._pause, SetBool.Request(data=True))
        self._states.clear()
        self._latest_ns = -1
        self._call(executor, self._reset, Trigger.Request())
        wait_until(executor, lambda: self._latest_ns == 0, 'state after the reset', p.timeout)

        goal, from_ns = sinusoid_goal(self.model, p, self.amplitude, self._log().q[-1])
        end_ns = from_ns + round(p.cycles / p.frequency * 1e9)
        request = FollowJointTrajectory.Goal(trajectory=trajectory_message(goal))
        sent = self._follow.send_goal_async(request)
        handle = wait_for(executor, sent, 'answer to the goal', p.timeout)
        if not handle.accepted:
            raise ArmError(f'{p.controller}_controller rejected the sinusoid; its log says why')
        result = handle.get_result_async()
        self._call(executor, self._pause, SetBool.Request(data=False))
        longest = 60.0 + 20.0 * end_ns * 1e-9
        wait_until(
            executor,
            lambda: result.done() and (self._latest_ns >= end_ns or _failed(result)),
            'end of the sinusoid',
            longest,
        )
        self._call(executor, self._pause, SetBool.Request(data=True))
        if _failed(result):
            raise ArmError(f'{p.controller}_controller: {result.result().result.error_string}')
        return self._report(goal, from_ns, end_ns)

    def _report(self, goal: Goal, from_ns: int, end_ns: int) -> int:
        p, names = self.parameters, self.model.joint_names
        log = self._log().between(from_ns, end_ns, self.period_ns)
        t = (log.time_ns[:-1] - goal.start_ns) * 1e-9
        reference = goal_trajectory_of(goal).states(t)[0]
        error = self.model.difference(log.q[:-1], reference)
        scale = np.where(self.model.prismatic, 1e3, np.degrees(1.0))
        rms = np.sqrt(np.mean(np.square(error), axis=0)) * scale
        held = p.limit == 0.0 or bool(rms.max() <= p.limit)
        report = {
            'robot': p.robot,
            'controller': p.controller,
            'frequency_hz': p.frequency,
            'amplitude': self.amplitude.tolist(),
            'joint_rms_deg': dict(zip(names, rms.tolist(), strict=True)),
            'joint_max_deg': dict(zip(names, (np.abs(error) * scale).max(axis=0), strict=True)),
            'peak_torque_nm': float(np.abs(log.effort).max()),
            'limit_deg': p.limit,
            'limits_held': held,
            'checksum': log.checksum(),
        }
        (self.output_dir / 'report.json').write_text(json.dumps(report, indent=1) + '\n')
        draw(t - t[0], reference, log.q[:-1], error * scale, names).savefig(
            self.output_dir / 'tracking.png', dpi=130
        )
        for name, value in zip(names, rms, strict=True):
            print(f'sinusoid: {name}: RMS error {value:.6g} deg', flush=True)
        verdict = '' if p.limit == 0.0 else f' (limit {p.limit:g}: {"held" if held else "missed"})'
        print(f'sinusoid: largest RMS {rms.max():.6g} deg{verdict}', flush=True)
        print(f'sinusoid: report.json, tracking.png are in {self.output_dir}', flush=True)
        return 0 if held else 1

    def _log(self) -> JointLog:
        reader, rows = JointReader(self.model.joint_names), {}
        for data in self._states:
            message = deserialize_message(data, JointState)
            rows[to_ns(message.header.stamp)] = tuple(
                reader.read(message.name, getattr(message, field), field).copy()
                for field in ('position', 'velocity', 'effort')
            )
        q, v, effort = (np.array(column) for column in zip(*rows.values(), strict=True))
        return JointLog(np.array(list(rows)), q, v, effort)

    def _on_state(self, data: bytes) -> None:
        self._states.append(data)
        seconds, nanoseconds = struct.unpack_from('<iI', data, 4)
        self._latest_ns = seconds * 1_000_000_000 + nanoseconds

    def _call(self, executor, client, request):
        timeout = self.parameters.timeout
        wait_until(executor, client.service_is_ready, f'service {client.srv_name}', timeout)
        answer = f'answer from {client.srv_name}'
        return wait_for(executor, client.call_async(request), answer, timeout)


def _failed(result) -> bool:
    return result.done() and result.result().status != GoalStatus.STATUS_SUCCEEDED


def _writable(name: str) -> Path:
    path = Path(name).expanduser().absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
        (path / '.probe').touch()
        (path / '.probe').unlink()
    except OSError as error:
        raise ArmError(f'output_dir {str(path)!r} cannot be written: {error.strerror}') from None
    return path


def main() -> int:
    """Run the node."""
    return run_node('sinusoid_task', SinusoidTask)


if __name__ == '__main__':
    sys.exit(main())
