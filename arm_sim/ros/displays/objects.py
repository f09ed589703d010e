"""The simulator's topic of objects, for RViz, the page in the browser and recordings."""

from typing import Any

import numpy as np
from rclpy.node import Node

from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.object_messages import MarkerArray, ObjectMessages
from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.running import now_and_then
from arm_dynamics.checks import Array
from arm_dynamics.object_shapes import ObjectShape
from arm_sim.ros.display import Display
from arm_sim.ros.loop_messages import OBJECTS, LoopMessages
from arm_sim.simulation.plant import Plant
from arm_sim.simulation.simulation import Simulation

_LOOK = 0.2  # period of the search for subscribers [s]


class ObjectsDisplay(Display):
    """Publishes the objects of a simulation, where it has any; otherwise there is no topic.

    Links of an MJCF that move against the URDF are published as well: viewers show them in place
    of those of robot_description. Without a reader the control loop does not pay for a message.
    """

    def __init__(self, node: Node, simulation: Simulation, loop: LoopMessages):
        super().__init__(node, simulation, loop)
        self._publisher: Any = None
        self._messages: Any = None
        self._shapes: tuple[ObjectShape, ...] = ()
        self._subscribers = 0

    def show(self) -> None:
        """Publish the objects of the present state, if a message has a reader."""
        if self._messages and (self._subscribers or self.loop.wanted):
            self._publish(self._messages)

    def show_now(self) -> None:
        """Publish the objects, which were moved, if a message has a reader."""
        if self._messages:
            self._publish(self._messages)

    def follow(self) -> None:
        """Show the objects of the simulation's present plant from now on."""
        before, plant, node = self._shapes, self.simulation.plant, self.node
        self._shapes = shapes = _shapes(plant)
        if shapes == before:
            return
        if self._publisher is None:
            self._publisher = node.create_publisher(MarkerArray, '~/objects', STATE_QOS)
            now_and_then(node, _LOOK, self._look)
        frame = prefix_of(node) + self.simulation.model.base_frame
        moving = (*plant.scene.objects, *plant.scene.loose_links)
        self._messages = ObjectMessages(shapes, moving, frame)
        if before:  # tools that keep markers forget them
            self._publish(ObjectMessages((), (), frame))
        self._publish(self._messages)

    def _publish(self, messages: ObjectMessages) -> None:
        plant, time_ns = self.simulation.plant, self.simulation.time_ns
        raw = messages.at(_poses(plant), time_ns)
        if self._subscribers:
            self._publisher.publish(raw)
        if self.loop.wanted:
            self.loop.add(OBJECTS, raw)

    def _look(self) -> None:
        """Count subscribers; publish at once for a new one, because time may be paused."""
        before, self._subscribers = self._subscribers, self._publisher.get_subscription_count()
        if self._subscribers > before:
            self._publisher.publish(
                self._messages.at(_poses(self.simulation.plant), self.simulation.time_ns)
            )


def _shapes(plant: Plant) -> tuple[ObjectShape, ...]:
    return (*plant.scene.shapes, *plant.scene.link_shapes)


def _poses(plant: Plant) -> Array:
    """Return the poses (k, 7) of objects and links that move."""
    objects = plant.scene.object_poses()
    return np.vstack([objects, plant.scene.link_poses()]) if plant.scene.loose_links else objects
