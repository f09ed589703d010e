"""Topics of an MJCF that engine mujoco simulates itself: its sensors, its own actuators."""

from collections.abc import Sequence

from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.qos import STATE_QOS
from arm_dynamics.checks import ArmError
from arm_sim.simulation.simulation import Simulation


class MjcfOutput:
    """Publishes sensors and actuators of an MJCF while a node subscribes; other arms have none."""

    def __init__(self, node: Node, simulation: Simulation):
        """`mjcf_sensors` has values as positions; `actuator_states` length, velocity, force."""
        self._simulation, plant = simulation, simulation.plant
        topics = {'mjcf_sensors': plant.mjcf.sensors, 'actuator_states': plant.mjcf.actuators}
        self._publishers: dict[str, tuple[Publisher, Sequence[str]]] = {
            topic: (node.create_publisher(JointState, topic, STATE_QOS), names)
            for topic, names in topics.items()
            if names
        }

    def show(self, every: int) -> None:
        """Publish one of `every` states (0: never), if it has a subscriber."""
        simulation, publishers = self._simulation, self._publishers
        if not (every and simulation.steps % every == 0):
            return
        wanted = [x for x, (to, _) in publishers.items() if to.get_subscription_count()]
        if not wanted:
            return
        sensors, (length, velocity, force) = simulation.plant.mjcf.readings()
        values = {'mjcf_sensors': (sensors, (), ()), 'actuator_states': (length, velocity, force)}
        for topic in wanted:
            publisher, names = publishers[topic]
            message = JointState(name=list(names))
            set_stamp(message.header.stamp, simulation.time_ns)
            message.position, message.velocity, message.effort = map(list, values[topic])
            publisher.publish(message)


def controls_of(message: JointState) -> dict[str, float]:
    """Return the controls of an `actuator_commands`, by the actuator's name."""
    if not 0 < len(message.name) == len(message.position):
        raise ArmError(
            f'actuator_commands has {len(message.name)} names and {len(message.position)} '
            'positions; allowed: as many of each, at least one'
        )
    return dict(zip(message.name, message.position, strict=True))
