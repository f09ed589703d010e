"""The simulator's topic of objects, for RViz, the page in the browser and recordings."""

from typing import Any

import numpy as np
from rclpy.node import Node

from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.running import now_and_then
from arm_dynamics.checks import Array
from arm_dynamics.object_shapes import ObjectShape
from arm_sim.ros.loop_messages import OBJECTS, LoopMessages
from arm_sim.simulation.plant import Plant
from arm_sim.simulation.simulation import Simulation

_LOOK = 0.2  # period of the search for subscribers [s]


class ObjectsOutput:
    """Publishes the objects of a simulation, where it has any; otherwise there is no topic.

    Links of an MJCF that move against the URDF are published as well: viewers show them in place
    of those of robot_description. Without a reader the control loop does not pay for a message.
    """

    def __init__(self, node: Node, simulation: Simulation, loop: LoopMessages):
        """`loop` collects the messages for recorders."""
        self._node, self._simulation, self._loop = node, simulation, loop
        self._publisher: Any = None
        self._messages: Any = None
        self._plant: Plant | None = None
        self._subscribers = 0

    def show(self, every: int) -> None:
        """Publish the objects of one of `every` states (0: never), if a message has a reader."""
        simulation = self._simulation
        if simulation.plant is not self._plant:
            self._follow(simulation.plant)
        read = self._messages and (self._subscribers or self._loop.wanted)
        if read and every and simulation.steps % every == 0:
            self._publish(self._messages)

    def show_now(self) -> None:
        """Publish the objects of the present state, if a message has a reader."""
        if self._simulation.plant is not self._plant:
            self._follow(self._simulation.plant)
        elif self._messages:
            self._publish(self._messages)

    def _follow(self, plant: Plant) -> None:
        """Show the objects of another plant from now on."""
        before = () if self._plant is None else _shapes(self._plant)
        self._plant, shapes = plant, _shapes(plant)
        if shapes == before:
            return
        from arm_controllers.ros import object_messages  # not every simulator has objects

        node = self._node
        if self._publisher is None:
            kind = object_messages.MarkerArray
            self._publisher = node.create_publisher(kind, '~/objects', STATE_QOS)
            now_and_then(node, _LOOK, self._look)
        frame = prefix_of(node) + self._simulation.model.base_frame
        moving = (*plant.scene.objects, *plant.scene.loose_links)
        self._messages = object_messages.ObjectMessages(shapes, moving, frame)
        if before:  # tools that keep markers forget them
            self._publish(object_messages.ObjectMessages((), (), frame))
        self._publish(self._messages)

    def _publish(self, messages: Any) -> None:
        plant, time_ns = self._simulation.plant, self._simulation.time_ns
        raw = messages.at(_poses(plant), time_ns)
        if self._subscribers:
            self._publisher.publish(raw)
        if self._loop.wanted:
            self._loop.add(OBJECTS, raw)

    def _look(self) -> None:
        """Count subscribers; publish at once for a new one, because time may be paused."""
        before, self._subscribers = self._subscribers, self._publisher.get_subscription_count()
        if self._subscribers > before:
            self._publisher.publish(
                self._messages.at(_poses(self._simulation.plant), self._simulation.time_ns)
            )


def _shapes(plant: Plant) -> tuple[ObjectShape, ...]:
    return (*plant.scene.shapes, *plant.scene.link_shapes)


def _poses(plant: Plant) -> Array:
    """Return the poses (k, 7) of objects and links that move."""
    objects = plant.scene.object_poses()
    return np.vstack([objects, plant.scene.link_poses()]) if plant.scene.loose_links else objects
