"""Topics of an MJCF that engine mujoco simulates itself: its sensors, its own actuators."""

from collections.abc import Sequence

from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.qos import STATE_QOS
from arm_sim.ros.display import Display
from arm_sim.ros.loop_messages import LoopMessages
from arm_sim.simulation.simulation import Simulation


class MjcfDisplay(Display):
    """Publishes sensors and actuators of an MJCF while a node subscribes; other arms have none."""

    def __init__(self, node: Node, simulation: Simulation, loop: LoopMessages):
        """`mjcf_sensors` has values as positions; `actuator_states` length, velocity, force."""
        super().__init__(node, simulation, loop)
        own = simulation.plant.mjcf
        topics = {'mjcf_sensors': own.sensors, 'actuator_states': own.actuators}
        self._publishers: dict[str, tuple[Publisher, Sequence[str]]] = {
            topic: (node.create_publisher(JointState, topic, STATE_QOS), names)
            for topic, names in topics.items()
            if names
        }

    def show(self) -> None:
        """Publish the present state, if it has a subscriber."""
        simulation, publishers = self.simulation, self._publishers
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
