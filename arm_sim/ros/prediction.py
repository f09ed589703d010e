"""What the running nodes should do: their parameters read, and their run repeated in the loop."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

from arm_controllers.laws import law_class
from arm_controllers.parameter_values import parameter_fields, read_fields
from arm_sim.plants.plant import plant_class
from arm_sim.ros.simulator_setup import SimulatorParameters, set_up
from arm_sim.runs.record import Record
from arm_sim.tasks import Task


def predicted(node: Node, task: Task, law: str, call: Callable[[Any, Any], Any]) -> Record:
    """Return the record of the same run without ROS; `call` answers a service client's request.

    Raises:
        ArmError: a node that does not answer.
    """

    def read[T](name: str, parameters: type[T]) -> T:
        client = node.create_client(GetParameters, f'/{name}/get_parameters')
        names = [field.name for field in parameter_fields(parameters)]
        answer = call(client, GetParameters.Request(names=names))
        values = map(parameter_value_to_python, answer.values)
        return read_fields(parameters, dict(zip(names, values, strict=True)))

    simulator = replace(read('simulator', SimulatorParameters), record_inputs='')
    simulation, _ = set_up(simulator, read('simulator', plant_class(simulator.engine).Parameters))
    made = law_class(law)
    parameters = read(f'{law}_controller', made.Parameters)
    return task.run(made(simulation.model, parameters), simulation.plant)
