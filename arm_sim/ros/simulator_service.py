"""Services of the simulator: functions that open endpoints at the running simulator, each a file.

    def my_service(simulator: RunningSimulator) -> None:
        simulator.serve(Trigger, '~/joints', lambda request, response: f'{simulator.plant.q}')

An installed package adds one as an entry point of the group `arm_sim.simulator_services`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from rclpy.node import Node
from rclpy.service import Service

from arm_controllers.ros.ros_types import ServiceType
from arm_controllers.ros.services import serve
from arm_dynamics.checks import ArmError
from arm_dynamics.plugins import PluginRegistry
from arm_sim.simulation.clock import Clock
from arm_sim.simulation.plant import Plant
from arm_sim.simulation.simulation import Simulation

SERVICES = PluginRegistry(
    'service of the simulator', 'arm_sim.ros.simulator_services', 'arm_sim.simulator_services'
)


@dataclass(frozen=True)
class RunningSimulator:
    """What a service of the simulator may use, from the simulator's own callbacks.

    Attributes:
        node: the node `simulator`, for other endpoints, timers, parameters and the log.
        clock: decides when the arm steps: `pause`, `allow_step`, `reset`, `paused`, `fault`.
        payload: returns the mass at the arm's tip [kg].
        refuse: counts and logs why an input is refused.
    """

    node: Node
    clock: Clock
    payload: Callable[[], float]
    refuse: Callable[[ArmError], None]

    @property
    def simulation(self) -> Simulation:
        """The simulated arm with its model and its time."""
        return self.clock.simulation

    @property
    def plant(self) -> Plant:
        """The present physics; a change of objects or parameters replaces it."""
        return self.clock.simulation.plant

    def serve(self, kind: ServiceType, name: str, answer: Callable[..., str | None]) -> Service:
        """Open a service; `answer` as in `arm_controllers.ros.services.serve`."""
        return serve(self.node, kind, name, answer)


def open_services(simulator: RunningSimulator) -> list[object]:
    """Open all services; the result keeps what they return."""
    return [*SERVICES.load_all(lambda service: service(simulator)).values()]
