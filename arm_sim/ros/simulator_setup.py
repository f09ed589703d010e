"""What the simulator node runs, from its parameters: model, plant, simulation."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from arm_dynamics.arm_parameters import ArmParameters
from arm_dynamics.checks import in_range, one_of
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.plants.engines import plant_class
from arm_sim.plants.model_check import check_model
from arm_sim.plants.simulation import Simulation


@dataclass(frozen=True)
class SimulatorParameters(ArmParameters):
    """Parameters of the simulator node, beside those of the plant.

    Attributes:
        engine: physics engine.
        mode: 'lockstep' (waits for the command to each state) or 'realtime' (wall clock).
        real_time_factor: simulated seconds a wall-clock second (realtime).
        initial_positions: joint positions at reset [rad | m]; empty: nearest to zero in limits.
        initial_velocities: joint velocities at reset [rad/s | m/s]; empty: at rest.
        payload: mass at the tool frame that robot_description does not have [kg].
        payload_end: simulated time at which the payload falls off [s]; 0: never.
        clock_rate: rate of /clock [Hz of simulated time].
        command_timeout: simulated time without a new command before the arm brakes [s] (realtime).
        lockstep_timeout: wall-clock time without the awaited command before it brakes [s].
        start_paused: do not step before /simulator/pause is called with false.
        core: run on this CPU core only; -1: on any.
        record_inputs: file of start state and inputs, for `replay_inputs` (engine analytical).
        viewer: open MuJoCo's viewer (engine mujoco).
    """

    engine: str = 'mujoco'
    mode: str = 'lockstep'
    real_time_factor: float = 1.0
    initial_positions: tuple[float, ...] = ()
    initial_velocities: tuple[float, ...] = ()
    payload: float = 0.0
    payload_end: float = 0.0
    clock_rate: float = 100.0
    command_timeout: float = 0.1
    lockstep_timeout: float = 5.0
    start_paused: bool = False
    core: int = -1
    record_inputs: str = ''
    viewer: bool = False

    def __post_init__(self):
        """Raises ArmError."""
        one_of('mode', self.mode, ('lockstep', 'realtime'))
        in_range('real_time_factor', self.real_time_factor, 0.001, 1000.0)
        in_range('payload_end', self.payload_end, 0.0)
        in_range('clock_rate', self.clock_rate, 0.0, 10_000.0, exclusive=True)
        in_range('command_timeout', self.command_timeout, 0.0, exclusive=True)
        in_range('lockstep_timeout', self.lockstep_timeout, 0.0, exclusive=True)


class Setup(NamedTuple):
    """What `set_up` makes.

    Attributes:
        model: of the arm without payload, which the controllers have too.
        simulation: of the plant.
        recorder: of the plant's inputs, or None.
        agreement: largest relative difference of plant and model.
    """

    model: RobotModel
    simulation: Simulation
    recorder: Any
    agreement: float


def set_up(parameters: SimulatorParameters, plant_parameters: Any) -> Setup:
    """Build the plant, and refuse it if it differs from the model.

    Raises:
        ArmError: that, or what the engine cannot do.
    """
    p, engine = parameters, plant_class(parameters.engine)
    model = p.model()
    loaded = with_error(model, ModelError(payload=p.payload))
    plant = engine(loaded, plant_parameters)
    agreement = check_model(plant, loaded)
    swap = None
    if p.payload and p.payload_end:
        swap = (round(p.payload_end * 1e9), engine(model, plant_parameters))
    recorder = _recorder(plant, loaded, swap) if p.record_inputs else None
    initial = p.initial_positions or model.neutral()
    moving = p.initial_velocities or None
    simulation = Simulation(recorder or plant, model, initial, moving, swap)
    return Setup(model, simulation, recorder, agreement)


def _recorder(plant: Any, model: RobotModel, swap: Any) -> Any:
    """Return the plant, its inputs recorded. Raises ArmError for what has no replay."""
    if not hasattr(plant, 'forward_model'):
        raise ArmError('record_inputs is set; it needs engine analytical')
    if swap is not None:
        raise ArmError('record_inputs is set; it needs payload_end 0')
    from arm_sim.plants.input_recording import InputRecorder

    return InputRecorder(plant, model)
