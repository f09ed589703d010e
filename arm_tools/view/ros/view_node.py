"""The node of `view:=true`: a page in the browser that shows and commands an arm."""

import re
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NoReturn

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from arm_controllers.ros.active_controllers import ActiveControllers, watch_active_controllers
from arm_controllers.ros.log import Log, once_a_minute
from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.nodes import Node
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.running import run_and_exit
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_tools.view.monitor import ArmMonitor
from arm_tools.view.page import Page
from arm_tools.view.ros.arm_commands import ArmCommands
from arm_tools.view.ros.arm_input import ArmInput
from arm_tools.view.ros.described_arm import subscribe_to_arm
from arm_tools.view.ros.view_parameters import ViewParameters

_PICTURES = 30.0  # per second
_LOOK = 0.5  # period of the search for controllers [s]
_REPORT = 'control_msgs/msg/JointTrajectoryControllerState'
_MOST_NAMES = 1000  # of nodes whose last warning is kept


class ViewNode(Node):
    """Shows an arm on a page and passes the page's commands on; the arm moves without it.

    Attributes:
        arm: the observed arm; None before the first robot_description.
        commands: those of the page to this arm.
    """

    commands: ArmCommands
    _input: ArmInput

    Parameters = ViewParameters

    def __init__(self, make_page: Callable[..., Any] = Page):
        """Serve the page, and wait for an arm; `make_page` is called as `Page` is."""
        super().__init__('view')
        self.parameters = p = declare_parameters(self, self.Parameters)
        self._log, self._seldom = Log(self, 0.2), once_a_minute(self)
        self._scheduled: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.page = make_page(p.view_host, p.view_port, self._scheduled.put)
        self._active, self._paused = '', False
        self.arm: ArmMonitor | None = None
        self._last_warning: dict[str, str] = {}
        self._refused = 0
        subscribe_to_arm(self, p.tool_frame, self._log, self.show_arm)
        watch_active_controllers(self, self._on_claims)
        self.create_subscription(DiagnosticArray, '/diagnostics', self.on_diagnostics, 10)
        self.create_timer(1.0 / _PICTURES, self.update)
        self.create_timer(_LOOK, self._look)
        if self.page.port != p.view_port:
            self._log.warning(f'port {p.view_port} is taken')
        # Not logged: /rosout would give the token to every node.
        print(f'[view] open {self.page.url}', flush=True)

    def show_arm(self, model: RobotModel) -> None:
        """Show an arm in place of the one before."""
        if self.arm is not None:
            self._input.close()
            self.commands.close()
        self.arm = ArmMonitor(model)
        self.commands = ArmCommands(self, self.arm, self.page.set_gains)
        self.page.set_arm(model, self.parameters, self.commands)
        self._input = ArmInput(self, self.arm)
        self._look()

    def _on_claims(self, active: ActiveControllers) -> None:
        self._active = next(iter(active.claims), '')

    def on_diagnostics(self, message: DiagnosticArray) -> None:
        """Add a warning of a node of this arm to the page's events, unless it is repeated.

        While the simulator is paused, it is normal that a controller receives no state.
        """
        prefix = prefix_of(self)
        for status in message.status:
            name = status.name.removeprefix(prefix)
            if self.arm is None or '/' in name or not status.name.startswith(prefix):
                continue
            if name == 'simulator':
                self._paused = status.message == 'paused'
            if status.level == DiagnosticStatus.OK:
                continue
            warning = re.sub(r'[\d.]+', '#', status.message)  # two that differ in numbers are one
            if warning != self._last_warning.get(name):
                _, refused, reason = status.message.rpartition('refused: ')
                if refused:
                    self.arm.events.refuse(name, reason, self.arm.time)
                else:
                    bad = status.level == DiagnosticStatus.ERROR and not self._paused
                    self.arm.events.add(f'{name}: {reason}', self.arm.time, bad)
            if len(self._last_warning) > _MOST_NAMES:
                self._last_warning.clear()
            self._last_warning[name] = warning

    def _look(self) -> None:
        """Use the active controller, or the first that publishes its state."""
        refused = sum(self.page.refused.values())
        if refused > self._refused:
            self._refused = refused
            counts = ', '.join(
                f'{why} ({count})' for why, count in self.page.refused.most_common(5)
            )
            self._seldom(f'the page has refused {counts}: open the address that the start printed')
        if self.arm is None:
            return
        space, end = self.get_namespace().rstrip('/') + '/', '/controller_state'
        names = [
            topic.removeprefix(space).removesuffix(end)
            for topic, kinds in self.get_topic_names_and_types()
            if topic.startswith(space) and topic.endswith(end) and _REPORT in kinds
            and self.count_publishers(topic)
        ]  # fmt: skip
        others = self._input.others
        names = sorted(name for name in names if '/' not in name and name not in others)
        first = names[0] if names else ''
        chosen = self._active if self._active in names else first
        if chosen != self._input.controller:
            self._input.use(chosen)
            self.commands.use(chosen)
        self.commands.read_gains()

    def update(self) -> None:
        """Do what users did on the page, read the newest messages, and show them."""
        if self.arm is None:
            return
        for _ in range(self._scheduled.qsize()):  # a browser may send faster than this loop
            try:
                self._scheduled.get_nowait()()
            except Exception as error:  # a browser can send anything
                why = str(error) if isinstance(error, ArmError) else repr(error)
                self.arm.events.refuse('page', why, self.arm.time)
        try:
            self._input.read()
        except ArmError as error:
            self._log.warning(str(error))
        if self.page.has_browser:
            self._show(self.arm, self._input.controller)

    def _show(self, arm: ArmMonitor, controller: str) -> None:
        """Update the page; build it again where a browser has broken it."""
        try:
            self.page.show(arm, controller)
        except Exception as error:
            self._log.warning(f'the page is built again: {error!r}')
            self.page.set_arm(arm.model, self.parameters, self.commands)
            self.commands.use(controller)

    def destroy_node(self) -> None:
        """Stop the page's server."""
        if self.arm is not None:
            self._input.close()
        self.page.close()
        super().destroy_node()


def main() -> NoReturn:
    """Run the node; exit at once, because threads of the server may still run."""
    run_and_exit('view', ViewNode)
