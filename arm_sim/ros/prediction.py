"""What the running nodes should do: their parameters read, and their loop as it is believed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

from arm_controllers.follower.discrete_motion import following
from arm_controllers.laws import law_class
from arm_controllers.parameter_values import parameter_fields, read_fields
from arm_controllers.reference import ReferenceFunction
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_dynamics.model import ArmParameters
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.plants.plant import plant_class
from arm_sim.ros.simulator_setup import SimulatorParameters, set_up
from arm_sim.runs.learning import Learner
from arm_sim.runs.record import Record
from arm_sim.tasks import Task


class RunningNodes:
    """What the nodes on the graph say of themselves."""

    def __init__(self, node: Node, law: str, call: Callable[[Any, Any], Any]):
        """Ask from `node`; `call` answers a service client's request, or raises ArmError."""
        self._node, self._law, self._call = node, law, call

    def predicted(self, task: Task) -> Record:
        """Return the record of the same run without ROS."""
        simulator = replace(self._read('simulator', SimulatorParameters), record_inputs='')
        simulation, _ = set_up(simulator, self._drives(simulator.engine))
        return task.run(self._law_of(simulation.model), simulation.plant)

    def learner(self, reference_function: ReferenceFunction, steps: int, cutoff: float) -> Learner:
        """Return who learns from passes, with what the controller believes of the arm."""
        name, engine = (
            f'{self._law}_controller',
            self._read('simulator', SimulatorParameters).engine,
        )
        error = self._read(name, ModelError, ModelError.prefix)
        model = with_error(self._read(name, ArmParameters).model(), error)
        law, drives = self._law_of(model), self._drives(engine)
        return Learner(law, drives, reference_function, steps, cutoff)

    def _law_of(self, model: Any) -> Any:
        made, name = law_class(self._law), f'{self._law}_controller'
        motion = self._read(name, ControllerParameters).reference_motion
        return following(made(model, self._read(name, made.Parameters)), motion)

    def _drives(self, engine: str) -> Any:
        return self._read('simulator', plant_class(engine).Parameters)

    def _read[T](self, name: str, parameters: type[T], prefix: str = '') -> T:
        client = self._node.create_client(GetParameters, f'{name}/get_parameters')
        names = [field.name for field in parameter_fields(parameters, prefix)]
        answer = self._call(client, GetParameters.Request(names=names))
        values = map(parameter_value_to_python, answer.values)
        return read_fields(parameters, dict(zip(names, values, strict=True)), prefix)
