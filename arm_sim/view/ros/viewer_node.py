"""The viewer: shows the arm of `robot_description` at its `joint_states` in a window."""

from dataclasses import dataclass
from typing import Any, NoReturn

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.ros.log import Log
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, LATCHED_QOS
from arm_controllers.ros.running import end_node, run_and_exit
from arm_controllers.ros.serialized_messages import JointStateReader
from arm_dynamics.checks import ArmError
from arm_dynamics.clearance import Surroundings
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import parameter
from arm_sim.view.scene import Scene

_PICTURES = 60.0  # per second


@dataclass(frozen=True)
class ViewerParameters(Surroundings):
    """Parameters of the viewer."""

    tool_frame: str = parameter(
        '', 'link whose path is drawn; empty: the last link of the longest chain'
    )


class ViewerNode(Node):
    """Shows an arm in a window; it only subscribes, so the arm moves on without it."""

    def __init__(self, window: Any = None):
        """Wait for an arm; `window(scene)` opens a window (None: MuJoCo's)."""
        super().__init__('viewer')
        self.parameters = declare_parameters(self, ViewerParameters)
        if window is None:
            from arm_sim.view.window import Window, check_display  # they load graphics

            check_display()
            window = Window
        self._log = Log(self, 0.1)
        self._open, self._window, self._urdf = window, None, ''
        self._raw, self._reader = b'', JointStateReader((), ())
        self.create_subscription(String, 'robot_description', self._on_description, LATCHED_QOS)
        self.create_subscription(
            JointState, 'joint_states', self._on_state, CONTROL_INPUT_QOS, raw=True
        )
        self.create_timer(1.0 / _PICTURES, self._draw)

    def _on_description(self, message: String) -> None:
        """Open the window on the first arm."""
        if self._window is not None:
            if message.data != self._urdf:
                self._log.warning('robot_description is another arm now: restart the viewer')
            return
        p = self.parameters
        try:
            model = RobotModel.from_urdf(message.data, p.tool_frame or None)
        except ArmError as error:
            self._log.error(f'robot_description: {error}')
            return
        self._urdf = message.data
        self._reader = JointStateReader(model.joint_names, ('position',))
        self._window = self._open(Scene(model, p))

    def _on_state(self, raw: bytes) -> None:
        self._raw = raw

    def _draw(self) -> None:
        """Show the newest state; end when the window is closed."""
        if self._window is None:
            return
        if not self._window.is_open:
            end_node()
            return
        raw, self._raw = self._raw, b''
        if not raw:
            return
        try:
            self._reader.open(raw)
            self._window.show(self._reader.values('position'))
        except ArmError as error:
            self._log.warning(f'joint_states: {error}')

    def destroy_node(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._window.close()
        super().destroy_node()


def main() -> NoReturn:
    """Run the node; exit at once, because Python's own shutdown crashes an open window."""
    run_and_exit('viewer', ViewerNode)
