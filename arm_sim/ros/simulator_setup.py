"""What the simulator node runs, from its parameters: model, plant, simulation."""

from dataclasses import dataclass
from typing import Any

from arm_dynamics.checks import ArmError
from arm_dynamics.model import ArmParameters
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.parameters import PerJoint, parameter
from arm_sim.plants.limits import Limits
from arm_sim.plants.plant import check_model, plant_class
from arm_sim.plants.simulation import Simulation


@dataclass(frozen=True)
class SimulatorParameters(ArmParameters, Limits):
    """Parameters of the simulator node, beside those of the plant."""

    engine: str = parameter('mujoco', 'physics engine')
    mode: str = parameter(
        'lockstep',
        "'lockstep' (waits for the command to each state) or 'realtime' (wall clock)",
        one_of=('lockstep', 'realtime'),
    )
    real_time_factor: float = parameter(
        1.0, 'simulated seconds per wall-clock second (realtime)', min=0.001, max=1000
    )
    initial_positions: PerJoint = parameter(
        (), 'positions at reset [rad | m]; empty: nearest to zero in limits'
    )
    initial_velocities: PerJoint = parameter((), 'velocities at reset [rad/s | m/s]; empty: rest')
    payload: float = parameter(0.0, 'mass at the tool frame, not in robot_description [kg]')
    payload_end: float = parameter(0.0, 'time at which the payload falls off [s]; 0: never', min=0)
    clock_rate: float = parameter(100.0, 'rate of /clock [Hz, simulated]', above=0, max=10_000.0)
    command_timeout: float = parameter(
        0.1, 'simulated time without a new command before the arm brakes [s] (realtime)', above=0
    )
    lockstep_timeout: float = parameter(
        30.0, 'wall-clock time without the awaited command before it brakes [s]', above=0
    )
    start_paused: bool = parameter(False, 'do not step until /simulator/pause is told false')
    core: int = parameter(-1, 'run on this CPU core only; -1: on any')
    record_inputs: str = parameter(
        '', 'file of start state and inputs, for `replay_inputs` (engine analytical)'
    )
    viewer: bool = parameter(False, "open MuJoCo's viewer (engine mujoco)")


def set_up(parameters: SimulatorParameters, plant_parameters: Any) -> tuple[Simulation, float]:
    """Return the simulation and the largest relative difference of plant and model.

    A plant that differs is refused. The simulation's model is the arm without payload, which the
    controllers have too.
    """
    p, engine = parameters, plant_class(parameters.engine)
    model = p.model()
    loaded = with_error(model, ModelError(payload=p.payload))
    if p.record_inputs:
        if p.engine != 'analytical' or p.payload_end:
            raise ArmError('record_inputs is set; it needs engine analytical and payload_end 0')
        from arm_sim.plants.input_recording import RecordedPlant  # and with it the compiler

        engine = RecordedPlant
    plant = engine(loaded, plant_parameters)
    agreement = check_model(plant, loaded)
    swap = None
    if p.payload and p.payload_end:
        swap = (round(p.payload_end * 1e9), engine(model, plant_parameters))
    initial = p.initial_positions or model.neutral()
    moving = p.initial_velocities or None
    return Simulation(plant, model, initial, moving, swap, p), agreement
