"""The parameters that the simulator's node may have, with any engine."""

from collections.abc import Iterator, Sequence

from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.parameter_values import ParameterField, parameter_fields
from arm_sim.ros.simulator_setup import SimulatorParameters
from arm_sim.simulation.plant import engine_classes, engine_names


def simulator_fields(name: str, joint_names: Sequence[str]) -> Iterator[ParameterField]:
    """Yield the parameters, also those of engines that follow goals themselves."""
    yield from parameter_fields(SimulatorParameters)
    for engine in engine_classes(engine_names()).values():
        yield from parameter_fields(engine.Parameters)
    yield from parameter_fields(FollowerParameters, joint_names=joint_names)
