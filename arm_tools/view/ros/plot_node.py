"""The plot: joint positions and efforts as plain numbers, for rqt_plot, which the node starts.

rqt_plot subtracts the wall clock of its start from the stamp of a header, also under
`use_sim_time`: simulated stamps would be drawn at -1.8e9 s. A message without a header is drawn at
the time of its arrival, in seconds since the start of rqt_plot.
"""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from control_msgs.msg import JointTrajectoryControllerState
from std_msgs.msg import Float64MultiArray

from arm_controllers.ros.log import Log
from arm_controllers.ros.nodes import Node
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import CONTROL_QOS
from arm_controllers.ros.running import end_node
from arm_controllers.ros.subscriptions import subscribe_controller_state
from arm_dynamics.parameters import Parameters, parameter
from arm_tools.view.ros.tools import tool

_PARTS = ('reference', 'feedback', 'error')
_LOOK = 0.2  # period of looking whether rqt_plot has ended [s]


@dataclass(frozen=True)
class PlotParameters(Parameters):
    """Parameters of the plot."""

    controller: str = parameter(
        'servo_controller', 'name of the controller whose topic controller_state is plotted'
    )


class PlotNode(Node):
    """Publishes joint positions (reference, feedback, error) and efforts as arrays of numbers."""

    Parameters = PlotParameters

    def __init__(
        self, start: Callable[[Sequence[str]], subprocess.Popen[bytes]] = subprocess.Popen
    ):
        """Wait for the controller; `start(command)` starts rqt_plot."""
        super().__init__('plot')
        self.parameters = declare_parameters(self, self.Parameters)
        self._start, self._tool = start, tool('rqt_plot')
        self._process: subprocess.Popen[bytes] | None = None
        self._positions = {
            part: self.create_publisher(Float64MultiArray, f'~/{part}', CONTROL_QOS)
            for part in _PARTS
        }
        self._effort = self.create_publisher(Float64MultiArray, '~/effort', CONTROL_QOS)
        subscribe_controller_state(self, self.parameters.controller, self._on_state)
        fields = ' '.join(self._fields())
        if self._tool is None:
            Log(self).info(f'rqt_plot is not installed; plain numbers are on {fields}')
        self.create_timer(_LOOK, self._look)

    def _fields(self) -> list[str]:
        """Return the positions of the first joint, as rqt_plot names them."""
        return [f'{each.topic_name}/data[0]' for each in self._positions.values()]

    def _on_state(self, state: JointTrajectoryControllerState) -> None:
        for part, publisher in self._positions.items():
            publisher.publish(Float64MultiArray(data=getattr(state, part).positions))
        self._effort.publish(Float64MultiArray(data=state.feedback.effort))
        if self._tool is not None and self._process is None:
            self._process = self._start([str(self._tool), *self._fields()])

    def _look(self) -> None:
        if self._process is not None and self._process.poll() is not None:
            end_node()

    def destroy_node(self) -> None:
        """End rqt_plot with the node."""
        if self._process is not None:
            self._process.terminate()
        super().destroy_node()
