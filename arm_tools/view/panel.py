"""The page's panel: what the arm does, and the inputs that command it."""

from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_tools.view.error_scale import ErrorScale
from arm_tools.view.event_log import ALARM
from arm_tools.view.monitor import PAST, ArmMonitor, GoalProgress, Moment
from arm_tools.view.page_parts import Gui, Handle, set_content
from arm_tools.view.plots import Plots
from arm_tools.view.slider_moves import STEP, slider_ranges

_AXES = {
    f'{sign}{axis}': float(f'{sign}1') * np.eye(3)[k]
    for k, axis in enumerate('xyz')
    for sign in '+-'
}
_SPEEDS = 0.1, 0.5, 1, 2, 5


class Panel:
    """The side of the page.

    Attributes:
        chosen: (n,) positions of the sliders while the user chooses them; None: they follow the
            arm.
        head: the line with arm, controller and time.
        sliders: one per joint.
        link, seconds, drag: inputs of a push: on which link, how long [s], whether by arrows.
    """

    def __init__(
        self,
        gui: Gui,
        model: RobotModel,
        commands: Any,
        schedule: Callable[[Callable[[], None]], None],
        film: Callable[[], None],
    ):
        """Build the panel in viser's empty `gui`; the rest is as for `Page.set_arm` and `Page`.

        `film` writes a film of the last minute.
        """
        self._gui, self._model, self._commands, self._schedule = gui, model, commands, schedule
        self.chosen: Array | None = None
        self._home: Array | None = None
        self._moments: tuple[Moment, ...] = ()
        self.head, self._goal = gui.add_html(''), gui.add_html('')
        self._progress = gui.add_progress_bar(0.0)
        times = gui.add_button_group('Time', ('Pause', 'Run', 'Step', 'Reset'))
        times.on_click(lambda event: schedule(partial(commands.time, event.target.value)))
        speeds = gui.add_button_group(
            'Speed',
            tuple(f'{each:g}' for each in _SPEEDS),
            hint='simulated seconds per second, in real time',
        )
        speeds.on_click(
            lambda event: schedule(partial(commands.set_speed, float(event.target.value)))
        )
        self._timeline = gui.add_slider(
            'Timeline [s]', -PAST, 0.0, 0.1, 0.0, hint='show the arm as it was; 0: as it is'
        )
        self._add_button('Film the last minute', film, icon='movie', hint='three times as fast')
        with gui.add_folder('Messages'):
            self._events = gui.add_html('')
        tabs = gui.add_tab_group()
        with tabs.add_tab('Watch'):
            self._scale = gui.add_html('')
            self._plots = Plots(gui, model)
        with tabs.add_tab('Move'):
            self.sliders = self._add_joint_sliders()
        with tabs.add_tab('Gains'):
            self._add_gains()
        with tabs.add_tab('Push'):
            self._add_push()
        self.set_gains(None, '')

    def _add_button(self, label: str, do: Callable[[], None], **look: object) -> Handle:
        button = self._gui.add_button(label, **look)
        button.on_click(lambda _: self._schedule(do))
        return button

    def _add_joint_sliders(self) -> list[Handle]:
        gui, model = self._gui, self._model
        lower, upper = slider_ranges(model)
        sliders = []
        for k, name in enumerate(model.joint_names):
            unit = 'm' if model.prismatic[k] else 'rad'
            start = float(np.clip(model.neutral()[k], lower[k], upper[k]))
            slider = gui.add_slider(
                name, float(lower[k]), float(upper[k]), STEP, start, hint=f'{name} [{unit}]'
            )
            slider.on_update(lambda event: event.client and self._schedule(self._choose))
            sliders.append(slider)
        self._add_button('Move', self._move, color='blue', icon='player-play')
        self._add_button('Home', self._move_home, hint='to the first positions that were seen')
        self._add_button('Sliders to the arm', self._follow_again)
        gui.add_html(
            '<div style="font-size:0.75em;color:#868e96;margin:0 0.6em">The orange arm is where '
            'the sliders are. Or drag the arrows at the tip: the tip goes to where you release '
            'them.</div>'
        )
        return sliders

    def _choose(self) -> None:
        self.chosen = np.array([slider.value for slider in self.sliders])

    def _move(self) -> None:
        self._commands.move(np.array([slider.value for slider in self.sliders]))
        self._follow_again()

    def _move_home(self) -> None:
        if self._home is not None:
            self._commands.move(self._home)
            self._follow_again()

    def _follow_again(self) -> None:
        self.chosen = None

    def _add_gains(self) -> None:
        self._gains_text = self._gui.add_html('')
        frequency = self._gui.add_slider('natural frequency [rad/s]', 0.5, 100.0, 0.5, 20.0)
        ratio = self._gui.add_slider('damping ratio', 0.05, 2.0, 0.05, 1.0)

        def set_gains() -> None:
            self._commands.set_gains(frequency.value, ratio.value)

        self._gains = [frequency, ratio, self._add_button('Set gains', set_gains, color='blue')]

    def set_gains(self, gains: tuple[float, float] | None, controller: str) -> None:
        """Show a controller's natural frequency [rad/s] and damping ratio; None: it has none."""
        for slider, value in zip(self._gains, gains or (), strict=False):
            slider.value = float(np.clip(value, slider.min, slider.max))
        for each in self._gains:
            each.disabled = gains is None
        text = f'of all joints of {controller}'
        if gains is None:
            text = f'{controller} has no gains by natural frequency and damping'
        self._gains_text.content = _text(text if controller else 'no controller', '0.3em 0.6em')

    def _add_push(self) -> None:
        gui, model = self._gui, self._model
        self.link = link = gui.add_dropdown(
            'on', tuple(model.frame_names), initial_value=model.tip_frame
        )
        force = gui.add_slider('force [N]', 0.0, 200.0, 1.0, 20.0)
        axis = gui.add_dropdown('along', tuple(_AXES), initial_value='-z')
        self.seconds = seconds = gui.add_slider('for [s]', 0.05, 5.0, 0.05, 0.5)

        def push() -> None:
            self._commands.push(link.value, force.value * _AXES[axis.value], seconds.value)

        self._add_button('Push', push, color='orange')
        self.drag = gui.add_checkbox(
            'drag', False, hint='arrows at the link: 1 N per mm, where you release them'
        )

    def past(self, arm: ArmMonitor) -> Moment | None:
        """Return the moment that the timeline is at; None: now.

        The timeline is over the minute before a user moved it away from now.
        """
        back = self._timeline.value
        if back == 0.0:
            self._moments = ()
        elif not self._moments:
            self._moments = tuple(arm.past)
        if not self._moments:
            return None
        wanted = self._moments[-1].t + back
        row = bisect_left(self._moments, wanted, key=lambda moment: moment.t)
        return self._moments[min(row, len(self._moments) - 1)]

    def show(
        self, arm: ArmMonitor, controller: str, texts: bool, past: Moment | None = None
    ) -> None:
        """Let the sliders follow the arm; with `texts` update texts and plots too.

        `past`: the moment that the scene shows; None: now.
        """
        if self.chosen is None:
            for slider, value in zip(self.sliders, arm.q.tolist(), strict=True):
                value = min(max(value, slider.min), slider.max)
                if abs(slider.value - value) > STEP:
                    slider.value = value
        self._home = arm.start
        if not texts:
            return
        events = arm.events.changes()
        if events is not None:
            style = 'margin:0 0.6em;max-height:7em;overflow-y:auto'
            self._events.content = f'<div style="{style}">{events}</div>'
        set_content(self.head, head(self._model.name, controller, arm, past))
        set_content(self._goal, _text(_goal_text(arm.goal), '0.2em 0.6em'))
        share = 100.0 * arm.goal.share if arm.goal else 0.0
        if abs(self._progress.value - share) > 0.2:
            self._progress.value = share
        set_content(self._scale, _scale_bar(arm.trail.scale))
        self._plots.show(arm)


def head(name: str, controller: str, arm: ArmMonitor, past: Moment | None = None) -> str:
    """Return the line with arm, controller and time, as HTML; `past`: the moment on show."""
    time = f't = {arm.time:.2f} s' if np.isfinite(arm.t) else 'waiting for joint_states'
    if past is not None:
        time = f'<b style="color:{ALARM}">the past: t = {past.t:.2f} s</b> (now {arm.time:.2f} s)'
    parts = f'<b>{escape(name)}</b>', escape(controller) or 'no controller', time
    return f'<div style="margin:0 0.6em">{" &middot; ".join(parts)}</div>'


def _goal_text(goal: GoalProgress | None) -> str:
    if goal is None:
        return 'no goal yet'
    end = f', {goal.end}' if goal.end else ''
    return f'goal: {min(goal.at, goal.seconds):.1f} of {goal.seconds:.1f} s{end}'


def _text(text: str, margin: str) -> str:
    return f'<div style="font-size:0.8em;margin:{margin}">{escape(text)}</div>'


def _scale_bar(scale: ErrorScale | None) -> str:
    """Return the colours of the path as HTML."""
    if scale is None:
        return ''
    stops = [
        f'rgb({",".join(str(round(255 * c)) for c in row[:3])})' for row in scale.palette[::4]
    ]
    low, high = 10.0**scale.low, 10.0**scale.high
    bar = f'height:8px;border-radius:4px;background:linear-gradient(to right,{",".join(stops)})'
    ends = 'display:flex;justify-content:space-between'
    return (
        '<div style="font-size:0.75em;margin:0.4em 0.6em">path of the tip, by its error'
        f'<div style="{bar}"></div><div style="{ends}"><span>{low:g} mm</span>'
        f'<span>{high:g} mm</span></div></div>'
    )
