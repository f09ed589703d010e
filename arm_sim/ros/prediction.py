"""Prediction of a run: the loop without ROS, with the parameters of the running nodes."""

from collections.abc import Callable, Mapping, Sequence

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

from arm_controllers.adapted_law import adapted_law
from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.laws import Law, law_class
from arm_controllers.parameter_values import parameter_fields, read_fields
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_controllers.ros.ros_types import AnyMessage
from arm_dynamics.checks import T
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import check_data_only
from arm_sim.loop.record import Record
from arm_sim.ros.simulator_setup import SimulatorParameters, set_up
from arm_sim.simulation.plant import PlantParameters, plant_class
from arm_sim.simulation.simulation import Simulation
from arm_sim.tasks import Task


class KnownNodes:
    """Nodes whose parameters are known."""

    def __init__(self, law: str, values: Callable[[str, list[str]], Mapping[str, object]]):
        """`values(node, names)` returns parameters of a node, at least those of these names."""
        self._law, self._name, self._values = law, f'{law}_controller', values

    def predicted(self, task: Task) -> Record:
        """Return the record of the same run without ROS."""
        simulation = self.simulation()
        return task.run(self._law_of(simulation.model), simulation.plant)

    def believed(self) -> tuple[Law, PlantParameters]:
        """Return the controller's law and the drives, with the model of the controller."""
        engine = self.read('simulator', SimulatorParameters).engine
        return self._law_of(self._model_of_controller()), self._drives(engine)

    def controller(self) -> tuple[Law, TrajectoryFollower]:
        """Return the controller's law and its trajectory follower."""
        model = self._model_of_controller()
        rules = self.read(self._name, FollowerParameters, joints=model.joint_names)
        return self._law_of(model), TrajectoryFollower(model, rules)

    def _model_of_controller(self) -> RobotModel:
        """Return the controller's model of the arm."""
        error = self.read(self._name, ModelError, ModelError.prefix)
        return with_error(self.read(self._name, ControllerParameters).model(), error)

    def simulation(self) -> Simulation:
        """Return what the simulator runs, from its start."""
        simulator = self.read('simulator', SimulatorParameters)
        return set_up(simulator, self._drives(simulator.engine))[0]

    def _law_of(self, model: RobotModel) -> Law:
        made, name = law_class(self._law), self._name
        node, own = self.read(name, ControllerParameters), self.read(name, made.Parameters)
        guard = self.read(name, GuardParameters, GuardParameters.prefix)
        friction, motion = node.friction_velocity, node.reference_motion
        return adapted_law(made, model, own, friction, motion, node, guard)

    def _drives(self, engine: str) -> PlantParameters:
        return self.read('simulator', plant_class(engine).Parameters)

    def read(
        self, name: str, parameters: type[T], prefix: str = '', joints: Sequence[str] = ()
    ) -> T:
        """Return parameters of a node; `prefix` and `joints` are as for `read_fields`."""
        names = [field.name for field in parameter_fields(parameters, prefix, joints)]
        return read_fields(parameters, self._values(name, names), prefix, joints)


def running_nodes(node: Node, law: str, call: Callable[..., AnyMessage]) -> KnownNodes:
    """Return the nodes on the graph, whose parameters are read by their services.

    `node` sends the requests; `call` answers that of a service client, or raises ArmError.
    """

    def values(name: str, names: list[str]) -> dict[str, object]:
        client = node.create_client(GetParameters, f'{name}/get_parameters')
        answer = call(client, GetParameters.Request(names=names))
        found = dict(zip(names, map(parameter_value_to_python, answer.values), strict=True))
        if found.get('robot'):
            check_data_only(found['robot'])
        return found

    return KnownNodes(law, values)
