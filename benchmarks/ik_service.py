"""Round trips to /compute_ik, compared with a bare service of the same type in the same run.

    ./ws python benchmarks/ik_service.py [--calls 2000] [--json ik_service.json]

Two nodes are started as processes of their own: the inverse kinematics node, and a bare one that
answers at once. One client asks both in turn.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pinocchio as pin
import rclpy
from conditions import own_domain, print_conditions
from geometry_msgs.msg import PoseArray
from rclpy.node import Node

from arm_controllers.ros.pose_messages import pose_to_message
from arm_controllers.ros.qos import SERVICE_QOS
from arm_controllers.ros.running import make_executor, run_node
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_interfaces.srv import ComputeIK, ComputeIKPath

START = np.array([0.4, -1.2, 1.3, -0.7, 1.1, 0.2])
TIMEOUT = 60.0


class BareNode(Node):
    """Answers every request with an empty response: what ROS alone costs."""

    def __init__(self):
        """Open the service."""
        super().__init__('bare')
        self.create_service(
            ComputeIK, 'bare', lambda request, response: response, qos_profile=SERVICE_QOS
        )


def call(executor, client, request) -> tuple[float, object]:
    """Return the round trip's time [us] and the response."""
    start = time.perf_counter()
    future = client.call_async(request)
    executor.spin_until_future_complete(future, timeout_sec=TIMEOUT)
    elapsed = time.perf_counter() - start
    if not future.done():
        raise SystemExit(f'{client.srv_name} gave no answer within {TIMEOUT:g} s')
    return 1e6 * elapsed, future.result()


def measure(calls: int) -> dict:
    """Return medians and 99th percentiles [us] of both services, and path times [s]."""
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    node = rclpy.create_node('ik_benchmark')
    executor = make_executor()
    executor.add_node(node)
    bare = node.create_client(ComputeIK, 'bare')
    ik = node.create_client(ComputeIK, 'compute_ik')
    path_ik = node.create_client(ComputeIKPath, 'compute_ik_path')
    for client in (bare, ik, path_ik):
        if not client.wait_for_service(TIMEOUT):
            raise SystemExit(f'no service {client.srv_name} within {TIMEOUT:g} s')
    rng = np.random.default_rng(1)
    times: dict[str, list[float]] = {'bare': [], 'compute_ik': []}
    for number in range(calls + 100):
        q = model.random_configuration(rng)
        request = ComputeIK.Request(
            target=pose_to_message(model.forward_kinematics(q), model.base_frame),
            seed=model.random_configuration(rng).tolist(),
        )
        bare_time, _ = call(executor, bare, request)
        ik_time, response = call(executor, ik, request)
        if not response.success:
            raise SystemExit(f'compute_ik failed: {response.reason}')
        if number >= 100:
            times['bare'].append(bare_time)
            times['compute_ik'].append(ik_time)
    tool = model.forward_kinematics(START)
    line = tool.translation + np.linspace(0, 0.15, 3000)[:, None] * np.array([0, 1, 0])
    poses = [pose_to_message(pin.SE3(tool.rotation, point), '').pose for point in line]
    path = PoseArray(poses=poses)
    request = ComputeIKPath.Request(path=path, seed=START.tolist())
    path_times = []
    for _ in range(10):
        elapsed, response = call(executor, path_ik, request)
        if not response.success:
            raise SystemExit(f'compute_ik_path failed: {response.reason}')
        path_times.append(1e-6 * elapsed)
    executor.shutdown()
    node.destroy_node()
    report = {'calls': calls}
    for name, values in times.items():
        report[f'{name}_median_us'] = float(np.median(values))
        report[f'{name}_p99_us'] = float(np.percentile(values, 99))
    report['on_top_median_us'] = report['compute_ik_median_us'] - report['bare_median_us']
    report['path_of_3000_median_s'] = float(np.median(path_times))
    report['path_of_3000_max_s'] = float(np.max(path_times))
    return report


def main() -> int:
    """Start both nodes, measure, print, stop them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--calls', type=int, default=2000)
    parser.add_argument('--json', type=Path)
    parser.add_argument('--bare', action='store_true', help='run the bare node (internal)')
    options = parser.parse_args()
    if options.bare:
        return run_node('bare', BareNode)
    own_domain()
    print_conditions()
    nodes = [
        subprocess.Popen([sys.executable, __file__, '--bare']),
        subprocess.Popen([sys.executable, '-m', 'arm_sim.executables', 'inverse_kinematics']),
    ]
    try:
        rclpy.init()
        report = measure(options.calls)
    finally:
        for process in nodes:
            process.terminate()
        for process in nodes:
            process.wait()
        rclpy.try_shutdown()
    for key, value in report.items():
        print(f'{key:24s} {value:10.4g}')
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
