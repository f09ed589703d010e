"""The page: a server of viser with an arm on it."""

from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.clearance import Surroundings
from arm_dynamics.model import RobotModel
from arm_sim.view.needs import HELP, free_port, has_viser
from arm_sim.view.orders import Orders
from arm_sim.view.panel import Panel
from arm_sim.view.stage import Stage
from arm_sim.view.watched import Watched

_SLOW = 6  # pictures between two updates of plots and words
_TOAST = 8.0  # how long a refusal stands over the page [s]


class Page:
    """Serves a page; `show` brings it up to date.

    Attributes:
        url: where it is.
    """

    def __init__(self, host: str, port: int, ask: Callable[[Callable[[], None]], None]):
        """Open the server on a port, or the next one that is free.

        `ask` is handed what somebody does on the page, to be done by whoever calls `show`; it is
        called in other threads.

        Raises:
            ArmError: viser is not installed, or the address cannot be served on.
        """
        if not has_viser():
            raise ArmError(HELP)
        port = free_port(host, port)
        import viser

        with redirect_stdout(StringIO()):  # it draws a box
            self._server: Any = viser.ViserServer(host=host, port=port, verbose=False)
        self._ask = ask
        shown = 'localhost' if host in ('127.0.0.1', '0.0.0.0', '::') else host
        shown = f'[{shown}]' if ':' in shown else shown
        self.url = f'http://{shown}:{self._server.get_port()}'
        self._server.gui.configure_theme(
            control_width='large', show_logo=False, show_share_button=False
        )
        self._waiting = self._server.gui.add_markdown('Waiting for `robot_description` ...')
        self._stage: Stage | None = None
        self._panel: Panel | None = None
        self._dragged, self._pictures = False, 0

    @property
    def is_watched(self) -> bool:
        """Whether a browser looks on."""
        return bool(self._server.get_clients())

    def set_arm(self, model: RobotModel, surroundings: Surroundings, orders: Orders) -> None:
        """Show an arm from now on, in place of any before."""
        server = self._server
        with server.atomic():
            server.scene.reset()
            server.gui.reset()
            server.gui.set_panel_label(model.name)
            self._stage = Stage(server, model, surroundings)
            self._panel = Panel(server.gui, model, orders, self._ask)
            self._gizmo = self._make_gizmo(orders, self._stage.size)
        self._model, self._dragged = model, False

    def _make_gizmo(self, orders: Orders, size: float) -> Any:
        gizmo = self._server.scene.add_transform_controls(
            '/tip', scale=0.06 * size, depth_test=False, opacity=0.8, line_width=2.5
        )

        def reach() -> None:
            w, x, y, z = gizmo.wxyz
            place = np.array([*gizmo.position, x, y, z, w])
            orders.reach(pin.XYZQUATToSE3(place))
            self._dragged = False

        async def on_update(event: Any) -> None:
            if event.phase == 'start':
                self._dragged = True
            elif event.phase == 'end':
                self._ask(reach)

        gizmo.on_update(on_update)
        return gizmo

    def set_gains(self, gains: tuple[float, float] | None, controller: str) -> None:
        """Show a controller's natural frequency [rad/s] and damping ratio; None: it has none."""
        if self._panel is not None:
            self._panel.set_gains(gains, controller)

    def show(self, watched: Watched, controller: str) -> None:
        """Show what is known of the arm."""
        if self._stage is None or self._panel is None:
            return
        self._pictures += 1
        with self._server.atomic():
            self._stage.show(watched, self._panel.wanted)
            self._panel.show(watched, controller, self._pictures % _SLOW == 0)
            if not self._dragged:
                self._put_gizmo(watched.q)
        while watched.notices.fresh:
            self._toast(watched.notices.fresh.popleft().text)

    def _put_gizmo(self, q: Array) -> None:
        pose = pin.SE3ToXYZQUAT(self._model.forward_kinematics(q))
        x, y, z, *turn = pose
        if np.abs(self._gizmo.position - (x, y, z)).max() > 1e-5:
            self._gizmo.position = (x, y, z)
        wxyz = np.array([turn[3], *turn[:3]])
        if np.abs(self._gizmo.wxyz - wxyz).max() > 1e-5:
            self._gizmo.wxyz = wxyz

    def _toast(self, text: str) -> None:
        for client in self._server.get_clients().values():
            client.add_notification('Refused', text, color='red', auto_close_seconds=_TOAST)

    def close(self) -> None:
        """End the server."""
        with redirect_stdout(StringIO()):  # it says so
            self._server.stop()
