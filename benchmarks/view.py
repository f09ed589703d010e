"""What the page in the browser costs the lock-step loop over topics.

    ./ws python benchmarks/view.py [--seconds 5] [--rounds 3] [--json FILE]

Simulator and servo controller run as with `cube.launch.py`. Beside them runs
  nothing   the loop alone
  listener  the floor: a bare node that has the page's two subscriptions, and does nothing else
  view      `view`, as with `view:=true`, without a browser at the page
  watched   the same, with a browser at the page, which takes all messages at once
Rows are measured in turn, several rounds, and medians count. Beside the rate by the wall clock
stands the CPU time of a cycle, of simulator and controller: it counts where others use the
machine. The page's own process takes its CPU time from another core, where there is one.
"""

import re
import subprocess
import sys
import time
from functools import partial

import rclpy
from conditions import (
    in_turn,
    medians,
    own_domain,
    print_conditions,
    rounds_parser,
    write_json,
)
from lockstep import PERIOD, end
from rclpy.node import Node
from recording import LOOK, RUN, look, newest, start

SETTLE = 3.0  # until they know each other [s]
ROWS = ('nothing', 'listener', 'view', 'watched')
LISTENER = """
import time, rclpy
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from sensor_msgs.msg import JointState
from arm_tools.view.ros.arm_input import NEWEST, REPORTS
rclpy.init()
node, none = Node('listener'), lambda message: None
node.create_subscription(JointState, 'joint_states', none, NEWEST, raw=True)
topic = 'servo_controller/controller_state'
node.create_subscription(JointTrajectoryControllerState, topic, none, REPORTS, raw=True)
while rclpy.ok():
    time.sleep(0.1)
"""
BROWSER = """
import sys, viser, msgspec
from websockets.sync.client import connect
protocol = f'viser-v{viser.__version__}'
with connect(sys.argv[1].replace('http', 'ws'), subprotocols=[protocol], max_size=None) as socket:
    camera = {'type': 'ViewerCameraMessage', 'wxyz': (1, 0, 0, 0), 'position': (2, 0, 1),
              'fov': 1.0, 'near': 0.1, 'far': 100.0, 'image_height': 100, 'image_width': 100,
              'look_at': (0, 0, 0), 'up_direction': (0, 0, 1)}
    socket.send(msgspec.msgpack.encode(camera))
    for message in socket:
        pass
"""


def beside(row: str) -> list[subprocess.Popen]:
    """Start what runs beside the loop; the first one is what is measured."""
    if row == 'nothing':
        return []
    if row == 'listener':
        return [subprocess.Popen([sys.executable, '-c', LISTENER])]
    view = subprocess.Popen([*RUN, 'view'], stdout=subprocess.PIPE, text=True)
    found = None
    while found is None:  # it prints its address
        line = view.stdout.readline()
        if not line:
            raise SystemExit('the view has ended')
        found = re.search(r'open (http://\S+)', line)
    if row == 'view':
        return [view]
    return [view, subprocess.Popen([sys.executable, '-c', BROWSER, found[1]])]


def measure(row: str, seconds: float) -> dict[str, float]:
    """Return cycles per second, CPU time of a cycle [us], and the page's share of a core."""
    rclpy.init()
    node = Node('stopwatch')
    loop, others = start('', row), []
    try:
        while newest(node) * 1e-9 < 500 * PERIOD:
            time.sleep(LOOK)
        others = beside(row)
        time.sleep(SETTLE)
        first = look(node, [*loop, *others[:1]])
        time.sleep(seconds)
        last = look(node, [*loop, *others[:1]])
    finally:
        for process in reversed(others):
            process.terminate()
            process.wait()
        end(loop)
        node.destroy_node()
        rclpy.shutdown()
    stamp, wall, own, page = (b - a for a, b in zip(first, last, strict=True))
    cycles = stamp * 1e-9 / PERIOD
    return {'rate': cycles / wall, 'loop_us': 1e6 * own / cycles, 'page_share': page / wall}


def main() -> None:
    """Measure in turn and print the ratios."""
    options = rounds_parser(__doc__, 5.0).parse_args()
    own_domain()
    print_conditions()
    found = in_turn({row: partial(measure, row) for row in ROWS}, options.seconds, options.rounds)
    middle = medians(found)
    alone = middle['nothing']
    print('\nbeside the loop   rate [1/s]   kept   CPU of a cycle [us]   kept   page [cores]')
    for row, each in middle.items():
        kept = each['rate'] / alone['rate'], alone['loop_us'] / each['loop_us']
        print(
            f'{row:15s} {each["rate"]:12.0f} {kept[0]:6.2f} {each["loop_us"]:21.1f} '
            f'{kept[1]:6.2f} {each["page_share"]:14.2f}'
        )
    write_json(options.json, found)


if __name__ == '__main__':
    main()
