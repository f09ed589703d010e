"""The page's panel: what the arm does, and what one may ask of it."""

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_sim.view.moves import slider_ends
from arm_sim.view.orders import Orders
from arm_sim.view.plots import Plots
from arm_sim.view.watched import Watched, WatchedGoal

# What somebody does on the page comes in viser's threads; this hands it to the page's own.
Ask = Callable[[Callable[[], None]], None]

_AXES = {
    f'{sign}{axis}': (k, s)
    for k, axis in enumerate('xyz')
    for sign, s in (('+', 1.0), ('-', -1.0))
}
_STEP = 0.001  # of a joint's slider [rad | m]


class Panel:
    """What stands at the side of the page.

    Attributes:
        wanted: (n,) what the sliders say, once somebody has moved one; None: nothing.
    """

    def __init__(self, gui: Any, model: RobotModel, orders: Orders, ask: Ask):
        """Build it in viser's `gui`, which is empty."""
        self._gui, self._model, self._orders, self._ask = gui, model, orders, ask
        self.wanted: Array | None = None
        self._setting = False
        self._head = gui.add_html('')
        self._goal = gui.add_html('')
        self._progress = gui.add_progress_bar(0.0)
        self._time_buttons()
        with gui.add_folder('Messages'):
            self._lines = gui.add_html('')
        tabs = gui.add_tab_group()
        with tabs.add_tab('Watch'):
            self._scale = gui.add_html('')
            self._plots = Plots(gui, model)
        with tabs.add_tab('Move'):
            self._sliders = self._joint_sliders()
        with tabs.add_tab('Gains'):
            self._gains_word, self._gains = gui.add_html(''), self._gain_sliders()
        with tabs.add_tab('Push'):
            self._push_inputs()
        self.set_gains(None, '')

    def _on_click(self, button: Any, do: Callable[[], None]) -> None:
        button.on_click(lambda _: self._ask(do))

    def _time_buttons(self) -> None:
        do = {
            'Pause': lambda: self._orders.pause(True),
            'Run': lambda: self._orders.pause(False),
            'Step': self._orders.step,
            'Reset': self._orders.reset,
        }
        group = self._gui.add_button_group('Time', tuple(do))

        def clicked(event: Any) -> None:
            what = event.target.value
            self._ask(lambda: do[what]())

        group.on_click(clicked)

    def _joint_sliders(self) -> list[Any]:
        gui, model = self._gui, self._model
        lower, upper = slider_ends(model)
        sliders = []
        for k, name in enumerate(model.joint_names):
            unit = 'm' if model.prismatic[k] else 'rad'
            start = float(np.clip(model.neutral()[k], lower[k], upper[k]))
            slider = gui.add_slider(
                name, float(lower[k]), float(upper[k]), _STEP, start, hint=f'{name} [{unit}]'
            )
            slider.on_update(lambda event: event.client and self._ask(self._think))
            sliders.append(slider)
        self._on_click(gui.add_button('Move', color='blue', icon='player-play'), self._move)
        back = gui.add_button('Sliders to the arm')
        self._on_click(back, self.forget)
        gui.add_html(
            '<div style="font-size:0.75em;color:#868e96;margin:0 0.6em">The orange arm stands '
            'where the sliders do. Or drag the arrows at the tip: it goes where you let go.</div>'
        )
        return sliders

    def _think(self) -> None:
        self.wanted = np.array([slider.value for slider in self._sliders])

    def _move(self) -> None:
        self._think()
        if self.wanted is not None:
            self._orders.move(self.wanted)
        self.wanted = None

    def forget(self) -> None:
        """Let the sliders follow the arm again."""
        self.wanted = None

    def _gain_sliders(self) -> list[Any]:
        gui = self._gui
        frequency = gui.add_slider('natural frequency [rad/s]', 0.5, 100.0, 0.5, 20.0)
        ratio = gui.add_slider('damping ratio', 0.05, 2.0, 0.05, 1.0)
        button = gui.add_button('Set gains', color='blue')

        def set_them() -> None:
            self._orders.set_gains(frequency.value, ratio.value)

        self._on_click(button, set_them)
        return [frequency, ratio, button]

    def set_gains(self, gains: tuple[float, float] | None, controller: str) -> None:
        """Show a controller's natural frequency [rad/s] and damping ratio; None: it has none."""
        for slider, value in zip(self._gains, gains or (), strict=False):
            slider.value = float(np.clip(value, slider.min, slider.max))
        for each in self._gains:
            each.disabled = gains is None
        word = f'of all joints of {controller}'
        if gains is None:
            word = 'no controller is seen'
            if controller:
                word = f'{controller} has no gains by natural frequency and damping'
        style = 'font-size:0.8em;margin:0.3em 0.6em'
        self._gains_word.content = f'<div style="{style}">{word}</div>'

    def _push_inputs(self) -> None:
        gui, links = self._gui, tuple(self._model.frame_names)
        link = gui.add_dropdown('on', links, initial_value=self._model.tip_frame)
        force = gui.add_slider('force [N]', 0.0, 200.0, 1.0, 20.0)
        axis = gui.add_dropdown('along', tuple(_AXES), initial_value='-z')
        seconds = gui.add_slider('for [s]', 0.05, 5.0, 0.05, 0.5)

        def push() -> None:
            k, sign = _AXES[axis.value]
            vector = np.zeros(3)
            vector[k] = sign * force.value
            self._orders.push(link.value, vector, seconds.value)

        self._on_click(gui.add_button('Push', color='orange'), push)

    def show(self, watched: Watched, controller: str, slow: bool) -> None:
        """Bring it up to date; `slow`: also what need not be so with every picture."""
        if self.wanted is None:
            self._follow(watched.q)
        if not slow:
            return
        lines = watched.notices.news()
        if lines is not None:
            style = 'margin:0 0.6em;max-height:7em;overflow-y:auto'
            self._lines.content = f'<div style="{style}">{lines}</div>'
        self._set(self._head, _head(self._model.name, controller, watched))
        self._set(self._goal, _goal_line(watched.goal))
        share = 100.0 * watched.goal.share if watched.goal else 0.0
        if abs(self._progress.value - share) > 0.2:
            self._progress.value = share
        self._set(self._scale, _scale_bar(watched))
        self._plots.show(watched)

    def _follow(self, q: Array) -> None:
        for slider, value in zip(self._sliders, q.tolist(), strict=True):
            value = min(max(value, slider.min), slider.max)
            if abs(slider.value - value) > _STEP:
                slider.value = value

    @staticmethod
    def _set(handle: Any, content: str) -> None:
        if handle.content != content:
            handle.content = content


def _head(name: str, controller: str, watched: Watched) -> str:
    t = f't = {watched.time:.2f} s' if np.isfinite(watched.t) else 'waiting for joint_states'
    by = controller or 'no controller seen'
    return f'<div style="margin:0 0.6em"><b>{escape(name)}</b> &middot; {by} &middot; {t}</div>'


def _goal_line(goal: WatchedGoal | None) -> str:
    word = 'no goal yet'
    if goal is not None:
        word = f'goal: {min(goal.at, goal.seconds):.1f} of {goal.seconds:.1f} s'
        word += f', {goal.end}' if goal.end else ''
    return f'<div style="font-size:0.8em;margin:0.2em 0.6em">{word}</div>'


def _scale_bar(watched: Watched) -> str:
    """Return the colours of the drawn path as HTML."""
    scale = watched.trail.scale
    if scale is None:
        return ''
    stops = [
        f'rgb({",".join(str(round(255 * c)) for c in row[:3])})' for row in scale.palette[::4]
    ]
    low, high = 10.0**scale.low, 10.0**scale.high
    bar = f'height:8px;border-radius:4px;background:linear-gradient(to right,{",".join(stops)})'
    ends = 'display:flex;justify-content:space-between'
    return (
        '<div style="font-size:0.75em;margin:0.4em 0.6em">drawn path, by error of the tip'
        f'<div style="{bar}"></div><div style="{ends}"><span>{low:g} mm</span>'
        f'<span>{high:g} mm</span></div></div>'
    )
