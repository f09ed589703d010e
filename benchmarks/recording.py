"""What recording costs the lock-step loop over topics: its rate with and without a recorder.

    ./ws python benchmarks/recording.py [--seconds 5] [--rounds 3] [--json FILE]

Simulator and servo controller run as with `cube.launch.py`; beside them runs `recorder`, as with
`arm.launch.py record:=true`, or nothing, or a process that only computes, for as large a share of
a core as the recorder takes: what that costs the loop is the machine's, whose cores share caches
and clock. All are measured in turn, and medians count. Beside the rate by the wall clock stands
the CPU time of a cycle, of simulator and controller: it counts where others use the machine. The
recorder's own CPU time per cycle must be less than a cycle takes, else the loop waits for it.
"""

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import rclpy
from bare_nodes import CORE
from conditions import (
    in_turn,
    medians,
    own_domain,
    print_conditions,
    rounds_parser,
    write_json,
)
from lockstep import PERIOD, cpu_time, end
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from arm_controllers.ros.cdr import stamp_ns
from arm_controllers.ros.qos import CONTROL_INPUT_QOS
from arm_sim.parameter_files import as_arguments, files_of
from arm_tools.readers.recorded_messages import messages_of

RUN = [sys.executable, '-m', 'arm_sim.executables']
# Works for 1.7 ms of each 7, as the recorder does for the 40 states of a message.
COMPUTES = """
import time
while True:
    end = time.perf_counter() + 1.7e-3
    while time.perf_counter() < end:
        bytes(2000)
    time.sleep(5.3e-3)
"""
# A state is looked at so seldom that the watcher costs nothing [s].
LOOK = 0.2


def start(folder: str, beside: str) -> list[subprocess.Popen]:
    """Start simulator and controller, and last what runs beside them."""
    nodes = ['simulator', 'servo_controller']
    arguments = ['--ros-args', *as_arguments(files_of('ur5e'))]
    for told in (
        *(f'{node}:core:={CORE}' for node in nodes),
        'servo_controller:autostart:=true',
        'servo_controller:feedforward:=discrete',
    ):
        arguments += ['-p', told]
    processes = [subprocess.Popen([*RUN, node, *arguments]) for node in nodes]
    if beside == 'computing':
        processes.append(subprocess.Popen([sys.executable, '-c', COMPUTES]))
    elif beside == 'recorded':
        command = [*RUN, 'recorder', '--ros-args', '-p', f'output_dir:={folder}']
        processes.append(subprocess.Popen(command))
    return processes


def newest(node: Node) -> int:
    """Return the stamp of a state that comes now [ns]; the subscription lasts so long only."""
    seen: list[bytes] = []
    qos: QoSProfile = CONTROL_INPUT_QOS
    subscription = node.create_subscription(JointState, 'joint_states', seen.append, qos, raw=True)
    while not seen:
        rclpy.spin_once(node, timeout_sec=0.05)
    node.destroy_subscription(subscription)
    return stamp_ns(seen[-1])


def look(node: Node, processes: list[subprocess.Popen]) -> tuple[float, ...]:
    """Return simulated time [ns], wall clock, CPU time of the loop and of the recorder [s]."""
    loop, recorder = processes[:2], processes[2:]
    return newest(node), time.monotonic(), cpu_time(loop), cpu_time(recorder)


def measure(beside: str, seconds: float) -> dict[str, float]:
    """Return cycles per second, and CPU time per cycle [us] of the loop and beside it."""
    recorded = beside == 'recorded'
    rclpy.init()
    node = Node('stopwatch')
    with tempfile.TemporaryDirectory() as folder:
        processes = start(folder, beside)
        try:
            while newest(node) * 1e-9 < 500 * PERIOD:
                time.sleep(LOOK)
            if recorded:
                while not any(Path(folder).glob('*.mcap')):
                    time.sleep(LOOK)
            first = look(node, processes)
            time.sleep(seconds)
            last = look(node, processes)
        finally:
            for process in processes[2:]:  # it ends its file
                process.terminate()
                process.wait()
            end(processes)
            node.destroy_node()
            rclpy.shutdown()
        lost = count_lost(folder) if recorded else 0
    stamp, wall, loop, recorder = (b - a for a, b in zip(first, last, strict=True))
    cycles = stamp * 1e-9 / PERIOD
    return {
        'rate': cycles / wall,
        'loop_us': 1e6 * loop / cycles,
        'beside_us': 1e6 * recorder / cycles,
        'lost': lost,
    }


def count_lost(folder: str) -> int:
    """Return how many states or commands are missing between the first and the last one."""
    (file,) = Path(folder).glob('*.mcap')
    lost, period_ns = 0, round(PERIOD * 1e9)
    stamps: dict[str, list[int]] = {'/joint_states': [], '/joint_commands': []}
    for message in messages_of(file):
        if message.topic in stamps:
            stamps[message.topic].append(message.time_ns)
    for found in stamps.values():
        lost += (found[-1] - found[0]) // period_ns + 1 - len(found)
    return lost


def main() -> None:
    """Measure in turn and print the ratios."""
    options = rounds_parser(__doc__, 5.0).parse_args()
    own_domain()
    print_conditions()
    names = 'not recorded', 'computing', 'recorded'
    found = in_turn(
        {name: partial(measure, name) for name in names}, options.seconds, options.rounds
    )
    middle = medians(found)
    alone = middle['not recorded']
    print('\n                rate [1/s]   of it alone   loop CPU [us]   beside it [us]   lost')
    for name, row in middle.items():
        print(
            f'{name:14s} {row["rate"]:11.0f} {row["rate"] / alone["rate"]:13.2f} '
            f'{row["loop_us"]:15.1f} {row["beside_us"]:16.1f} {row["lost"]:6.0f}'
        )
    write_json(options.json, found)


if __name__ == '__main__':
    main()
