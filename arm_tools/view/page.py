"""The page: a viser server with an arm on it."""

from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.surroundings import Surroundings
from arm_tools.view.monitor import ArmMonitor
from arm_tools.view.page_parts import Handle, PageClient, PageEvent
from arm_tools.view.page_scene import PageScene
from arm_tools.view.panel import Panel
from arm_tools.view.past_film import NEEDS, PastFilm, film_file
from arm_tools.view.server import start_server

PANEL_PERIOD = 6  # pictures between two updates of plots and texts
_PUSH = 1000.0  # force per length of a drag [N/m]
_REFUSAL = 8.0  # time that a refusal is shown over the scene [s]


class Page:
    """Serves a page; `show` updates it.

    Attributes:
        url: its address, with the token that opens it.
        port: of the address.
        server: viser's.
        refused: number of refused requests and junk frames, by reason.
        scene, panel: what the page shows; None before the first arm.
        gizmo, pusher: the arrows at the tip, and those at the link that is pushed.
    """

    def __init__(self, host: str, port: int, schedule: Callable[[Callable[[], None]], None]):
        """Start the server on a port, or on the next free one.

        Args:
            host, port: the address to serve on.
            schedule: called, in threads of viser, with a function for each thing that a user does
                on the page; the thread that calls `show` must run these functions.

        Raises:
            ArmError: viser is not installed, or the address cannot be served on.
        """
        self.server, access, self.url = start_server(host, port)
        self.port, self.refused = self.server.get_port(), access.refused
        self._schedule = schedule
        self.server.gui.configure_theme(
            control_width='medium', show_logo=False, show_share_button=False
        )
        self.server.gui.main_panel.dock_right()  # next to the scene, not over it
        self.server.on_client_connect(self._place_camera)
        self.server.gui.add_markdown('Waiting for `robot_description` ...')
        self.scene: PageScene | None = None
        self.panel: Panel | None = None
        self.gizmo: Handle = None
        self.pusher: Handle = None
        self._held: set[str] = set()
        self._pictures = 0
        self._arm: ArmMonitor | None = None

    @property
    def has_browser(self) -> bool:
        """Whether a browser is connected."""
        return bool(self.server.get_clients())

    def set_arm(self, model: RobotModel, surroundings: Surroundings, commands: Any) -> None:
        """Show an arm in place of the one before; `commands` as `ArmCommands` has them."""
        server = self.server
        with server.atomic():
            server.scene.reset()
            server.gui.reset()
            server.gui.main_panel.dock_right()
            server.gui.set_panel_label(model.name)
            self.scene = PageScene(server, model, surroundings)
            self.panel = Panel(server.gui, model, commands, self._schedule, self._film_past)
            self._add_arrows(commands, 0.06 * self.scene.size)
        self._model, self._origin = model, np.zeros(3)
        self._film, self._arm = PastFilm(model, surroundings), None
        self._held.clear()

    def _place_camera(self, client: PageClient) -> None:
        """Let a browser see the whole arm in a window of any size, until the user turns it."""
        aspect, position = 0.0, client.camera.position

        def place(camera: Handle) -> None:
            nonlocal aspect, position
            moved = not np.allclose(camera.position, position, atol=1e-3)
            if self.scene is None or moved or camera.aspect == aspect:
                return
            aspect = camera.aspect
            self.scene.place_camera(camera, aspect)
            position = camera.position

        client.camera.on_update(place)
        place(client.camera)

    def _film_past(self) -> None:
        """Write a film of the last minute into the working directory; say where it is."""
        arm, path = self._arm, film_file(Path.cwd())
        if arm is None:
            return

        def done(found: Path | ArmError) -> None:
            if isinstance(found, ArmError):
                self._schedule(partial(arm.events.refuse, 'film', str(found), arm.time))
            else:
                why = f' ({NEEDS})' if found.suffix == '.gif' else ''
                self._schedule(partial(arm.events.add, f'film: {found}{why}', arm.time))

        self._film.start(tuple(arm.past), path, done)
        arm.events.add(f'film: {path.name} is being drawn', arm.time)

    def _add_arrows(self, commands: Any, size: float) -> None:
        """Add the arrows at the tip, which command a pose where they are released, and others.

        The others push a link from its origin to where they are released.
        """

        def reach() -> None:
            w, x, y, z = self.gizmo.wxyz
            commands.reach(pin.XYZQUATToSE3(np.array([*self.gizmo.position, x, y, z, w])))

        def push() -> None:
            if self.panel is not None:
                force = _PUSH * (np.array(self.pusher.position) - self._origin)
                commands.push(self.panel.link.value, force, self.panel.seconds.value)

        self.gizmo = self._add_gizmo('/tip', size, reach)
        self.pusher = self._add_gizmo('/push', size, push, disable_rotations=True, visible=False)

    def _add_gizmo(
        self, name: str, size: float, release: Callable[[], None], **look: object
    ) -> Handle:
        """Return arrows that a user can drag; `release` is called where they are released."""
        gizmo = self.server.scene.add_transform_controls(
            name, scale=size, depth_test=False, opacity=0.8, line_width=2.5, **look
        )

        def end() -> None:
            self._held.discard(name)
            release()

        async def on_update(event: PageEvent) -> None:
            if event.phase == 'start':
                self._held.add(name)
            elif event.phase == 'end':
                self._schedule(end)

        gizmo.on_update(on_update)
        return gizmo

    @property
    def dragged(self) -> bool:
        """Whether a user holds arrows."""
        return bool(self._held)

    def set_gains(self, gains: tuple[float, float] | None, controller: str) -> None:
        """Show a controller's natural frequency [rad/s] and damping ratio; None: it has none."""
        if self.panel is not None:
            self.panel.set_gains(gains, controller)

    def show(self, arm: ArmMonitor, controller: str) -> None:
        """Show the newest state of an arm."""
        if self.scene is None or self.panel is None:
            return
        self._pictures += 1
        self._arm = arm
        with self.server.atomic():
            past = self.panel.past(arm)
            self.scene.show(arm, self.panel.chosen, past)
            self.panel.show(arm, controller, self._pictures % PANEL_PERIOD == 0, past)
            link = self._model.forward_kinematics(arm.q, self.panel.link.value)
            self._origin = link.translation.copy()
            drag = bool(self.panel.drag.value)
            # They command the arm as it is: none in the past.
            self._move(
                self.gizmo, self._model.forward_kinematics(arm.q), past is None and not drag
            )
            self._move(self.pusher, pin.SE3(np.eye(3), self._origin), past is None and drag)
        while arm.events.refusals:
            text = arm.events.refusals.popleft()
            for client in self.server.get_clients().values():
                client.add_notification('Refused', text, color='red', auto_close_seconds=_REFUSAL)

    def _move(self, gizmo: Handle, place: pin.SE3, visible: bool) -> None:
        """Show or hide arrows, and put them at a place unless a user holds them."""
        if gizmo.visible != visible:
            gizmo.visible = visible
        pose = pin.SE3ToXYZQUAT(place)
        for name, value in (('position', pose[:3]), ('wxyz', pose[[6, 3, 4, 5]])):
            if gizmo.name not in self._held and np.abs(getattr(gizmo, name) - value).max() > 1e-5:
                setattr(gizmo, name, value)

    def close(self) -> None:
        """Stop the server."""
        with redirect_stdout(StringIO()):  # viser prints a line
            self.server.stop()
