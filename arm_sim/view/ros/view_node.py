"""The view: serves a page that shows the arm of `robot_description`, whatever moves it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, NoReturn

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from std_msgs.msg import String

from arm_controllers.ros.commander import TOPIC
from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import LATCHED_QOS
from arm_controllers.ros.running import run_and_exit
from arm_dynamics.checks import ArmError
from arm_dynamics.clearance import Surroundings
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import parameter
from arm_sim.view.page import Page
from arm_sim.view.ros.arm_input import ArmInput
from arm_sim.view.ros.arm_orders import ArmOrders
from arm_sim.view.watched import Watched

_PICTURES = 30.0  # per second
_LOOK = 0.5  # how often controllers are looked for [s]
_REPORT = 'control_msgs/msg/JointTrajectoryControllerState'
_MOST_NAMES = 1000  # whose complaints are kept, to say each once


@dataclass(frozen=True)
class ViewParameters(Surroundings):
    """Parameters of the view."""

    tool_frame: str = parameter(
        '', 'link whose path is drawn; empty: the last link of the longest chain'
    )
    view_host: str = parameter('127.0.0.1', "address of the page's server; 0.0.0.0: all networks")
    view_port: int = parameter(
        8080, 'TCP port of the page; the next free one where taken', min=1, max=65535
    )


class ViewNode(Node):
    """Looks on, and passes on what is asked for at the page; it ends, and the arm moves on."""

    def __init__(self, make_page: Callable[..., Any] = Page):
        """Serve the page, and wait for an arm; see `Page` for what `make_page` is given."""
        super().__init__('view')
        self.parameters = p = declare_parameters(self, ViewParameters)
        self._log = Log(self, 0.2)
        self._asked: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._page = make_page(p.view_host, p.view_port, self._asked.put)
        self._urdf = self._commander = ''
        self._input: ArmInput | None = None
        self._troubles: dict[str, str] = {}
        self.create_subscription(String, 'robot_description', self._on_description, LATCHED_QOS)
        self.create_subscription(String, TOPIC, self._on_commander, LATCHED_QOS)
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self.create_timer(1.0 / _PICTURES, self._picture)
        self.create_timer(_LOOK, self._look)
        own = self._page.url.endswith(f':{p.view_port}')
        taken = '' if own else f'port {p.view_port} is taken; '
        self._log.info(f'{taken}open {self._page.url}')

    def _on_description(self, message: String) -> None:
        """Show another arm."""
        if message.data == self._urdf:
            return
        p = self.parameters
        try:
            model = RobotModel.from_urdf(message.data, p.tool_frame or None)
        except ArmError as error:
            self._log.error(f'robot_description: {error}')
            return
        if self._input is not None:
            self._input.close()
            self._orders.close()
        self._urdf, self._watched = message.data, Watched(model)
        self._orders = ArmOrders(self, self._watched, self._page.set_gains)
        self._page.set_arm(model, p, self._orders)
        self._input = ArmInput(self, self._watched)
        self._look()

    def _on_commander(self, message: String) -> None:
        self._commander = message.data

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        """Say on the page what a node of this arm complains of, once."""
        prefix = prefix_of(self)
        for status in message.status:
            name = status.name.removeprefix(prefix)
            if self._input is None or '/' in name or not status.name.startswith(prefix):
                continue
            if status.level == DiagnosticStatus.OK:
                continue
            alike = re.sub(r'[\d.]+', '#', status.message)  # but for its numbers
            if alike != self._troubles.get(name):
                _, refused, reason = status.message.rpartition('refused: ')
                say = self._watched.notices.refuse if refused else self._watched.notices.warn
                say(name, reason, self._watched.time)
            if len(self._troubles) > _MOST_NAMES:
                self._troubles.clear()
            self._troubles[name] = alike

    def _look(self) -> None:
        """Find the controller whose word on the reference counts."""
        if self._input is None:
            return
        space, end = self.get_namespace().rstrip('/') + '/', '/controller_state'
        names = [
            topic.removeprefix(space).removesuffix(end)
            for topic, kinds in self.get_topic_names_and_types()
            if topic.startswith(space) and topic.endswith(end) and _REPORT in kinds
            and self.count_publishers(topic)
        ]  # fmt: skip
        names = sorted(name for name in names if '/' not in name)
        first = names[0] if names else ''
        chosen = self._commander if self._commander in names else first
        if chosen != self._input.controller:
            self._input.look_at(chosen)
            self._orders.use(chosen)
        self._orders.look()

    def _picture(self) -> None:
        """Do what was asked for, read what has come, and show it."""
        if self._input is None:
            return
        for _ in range(self._asked.qsize()):  # no more: somebody may ask without end
            try:
                self._asked.get_nowait()()
            except Exception as error:  # a browser can send anything
                why = str(error) if isinstance(error, ArmError) else repr(error)
                self._watched.notices.refuse('page', why, self._watched.time)
        try:
            self._input.read()
        except ArmError as error:
            self._log.warning(str(error))
        if self._page.is_watched:
            self._show(self._input.controller)

    def _show(self, controller: str) -> None:
        """Bring the page up to date; where a browser has broken it, build it anew."""
        try:
            self._page.show(self._watched, controller)
        except Exception as error:
            self._log.warning(f'the page is built anew: {error!r}')
            self._page.set_arm(self._watched.model, self.parameters, self._orders)
            self._orders.use(controller)

    def destroy_node(self) -> None:
        """End the page."""
        if self._input is not None:
            self._input.close()
        self._page.close()
        super().destroy_node()


def main() -> NoReturn:
    """Run the node; threads of the server would be waited for."""
    run_and_exit('view', ViewNode)
