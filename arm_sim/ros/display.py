"""What viewers see of a simulated arm, at the rate of /tf.

A file `my_view.py` in `arm_sim/ros/displays/` with a class `MyViewDisplay(Display)` is one, and so
is an entry point of the group `arm_sim.displays`.
"""

from rclpy.node import Node

from arm_dynamics.plugins import PluginRegistry
from arm_sim.ros.loop_messages import LoopMessages
from arm_sim.simulation.plant import Plant
from arm_sim.simulation.simulation import Simulation


class Display:
    """Topics of a simulation that no controller reads.

    Without a reader the control loop is not to pay for a message.
    """

    def __init__(self, node: Node, simulation: Simulation, loop: LoopMessages):
        """`loop` collects messages for tasks and recorders."""
        self.node, self.simulation, self.loop = node, simulation, loop

    def set_every(self, every: int) -> None:
        """From now on `show` is called for one of `every` states; 0: for none."""

    def follow(self) -> None:
        """Show another plant of the simulation from now on; called before the first state."""

    def show(self) -> None:
        """Show the present state."""

    def show_now(self) -> None:
        """Show that objects have been moved; `show` may not be due."""


DISPLAYS = PluginRegistry(
    'display', 'arm_sim.ros.displays', 'arm_sim.displays', base=Display, suffix='Display'
)


class Displays:
    """All displays of a simulation.

    Attributes:
        by_name: the displays.
        every: number of states per message; 0: no messages.
    """

    def __init__(self, node: Node, simulation: Simulation, loop: LoopMessages, rate: float):
        """`rate`: messages per second of simulated time [Hz]; 0: none."""
        self._simulation = simulation
        self._plant: Plant | None = None
        self.by_name: dict[str, Display] = DISPLAYS.load_all(
            lambda display: display(node, simulation, loop)
        )
        self.set_rate(rate)

    def set_rate(self, rate: float) -> None:
        """Show at a rate [Hz of simulated time], at most once per state; 0: never."""
        self.every = max(1, round(1e9 / (rate * self._simulation.period_ns))) if rate else 0
        for each in self.by_name.values():
            each.set_every(self.every)

    def show(self) -> None:
        """Show the present state, where it is due."""
        simulation = self._simulation
        if simulation.plant is not self._plant:
            self._follow()
        if self.every and simulation.steps % self.every == 0:
            for each in self.by_name.values():
                each.show()

    def show_objects(self) -> None:
        """Show the objects of the present state, which were changed."""
        if self._simulation.plant is not self._plant:
            self._follow()
            return
        for each in self.by_name.values():
            each.show_now()

    def _follow(self) -> None:
        self._plant = self._simulation.plant
        for each in self.by_name.values():
            each.follow()
