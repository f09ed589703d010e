"""The node of `viewer:=true`: a window that shows an arm at its `joint_states`."""

import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from arm_controllers.ros.log import Log
from arm_controllers.ros.nodes import Node
from arm_controllers.ros.object_messages import TOPIC, MarkerArray, shapes_of
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import CONTROL_INPUT_QOS
from arm_controllers.ros.running import end_node, run_and_exit
from arm_controllers.ros.serialized_messages import JointStateReader
from arm_controllers.ros.subscriptions import subscribe_joint_states
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_sim.parent_process import LAUNCH
from arm_tools.view.ros.described_arm import subscribe_to_arm
from arm_tools.view.ros.view_parameters import ShownArmParameters
from arm_tools.view.scene import Scene
from arm_tools.view.shown_objects import looks, poses

_PICTURES = 60.0  # per second


class ViewerNode(Node):
    """Shows an arm in a window; it only subscribes, so the arm moves on without it."""

    Parameters = ShownArmParameters

    def __init__(self, window: Callable[[Scene], object] | None = None):
        """Wait for an arm; `window(scene)` opens a window (None: MuJoCo's)."""
        super().__init__('viewer')
        self.parameters = p = declare_parameters(self, self.Parameters)
        if window is None:
            from arm_tools.view.window import Window  # loads graphics

            window = Window
        self._log = Log(self, 0.1)
        self._open = window
        self._window: Any = None
        self._raw, self._reader = b'', JointStateReader((), ())
        self._objects: list[ObjectShape] = []
        subscribe_to_arm(self, p.tool_frame, self._log, self._show_arm, 'viewer')
        subscribe_joint_states(self, 'joint_states', self._on_state)
        self.create_subscription(MarkerArray, TOPIC, self._on_objects, CONTROL_INPUT_QOS, raw=True)
        self.create_timer(1.0 / _PICTURES, self._draw)

    def _show_arm(self, model: RobotModel) -> None:
        """Open the window on the first arm."""
        self._reader = JointStateReader(model.joint_names, ('position',))
        self._model = model
        self._window = self._open(Scene(model, self.parameters, self._objects))

    def _on_state(self, raw: bytes) -> None:
        self._raw = raw

    def _on_objects(self, raw: bytes) -> None:
        """Place the objects; open the window again where these are others."""
        try:
            before, self._objects = self._objects, shapes_of(raw)
        except ArmError as error:
            self._log.warning(f'{TOPIC}: {error}')
            return
        if self._window is None or not self._window.is_open:
            return
        if looks(self._objects) != looks(before):
            self._window.close()
            self._window = self._open(Scene(self._model, self.parameters, self._objects))
        self._window.place(poses(self._objects))

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
    """Run the node; exit at once, because Python's own shutdown crashes an open window.

    Without a display the exit code is 1, or 0 in a launch, which goes on without the window.
    """
    from arm_tools.view.window import check_display  # loads graphics

    try:
        check_display()
    except ArmError as error:
        print(f'viewer: {error}', file=sys.stderr)
        sys.exit(0 if LAUNCH in os.environ else 1)
    run_and_exit('viewer', ViewerNode)
