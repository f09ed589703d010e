"""Commands to actuators of an MJCF that no controller commands."""

from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from arm_controllers.ros.messages import to_ns
from arm_dynamics.checks import ArmError
from arm_sim.ros.simulator_service import RunningSimulator


def actuator_commands(simulator: RunningSimulator) -> Subscription | None:
    """Subscribe to `actuator_commands` where the arm has such actuators.

    A message counts from its stamp on (0: now).
    """

    def take(message: JointState) -> None:
        try:
            stamp_ns = to_ns(message.header.stamp)
            simulator.simulation.set_actuators(controls_of(message), stamp_ns)
        except ArmError as error:
            simulator.refuse(error)

    if not simulator.plant.mjcf.actuators:
        return None
    return simulator.node.create_subscription(JointState, 'actuator_commands', take, 10)


def controls_of(message: JointState) -> dict[str, float]:
    """Return the controls of an `actuator_commands`, by the actuator's name."""
    if not 0 < len(message.name) == len(message.position):
        raise ArmError(
            f'actuator_commands has {len(message.name)} names and {len(message.position)} '
            'positions; allowed: as many of each, at least one'
        )
    return dict(zip(message.name, message.position, strict=True))
