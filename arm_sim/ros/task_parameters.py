"""Parameters of every task's node, which launch files describe as well."""

from dataclasses import dataclass

from arm_dynamics.model_error import ModelError
from arm_dynamics.parameters import Parameters, PerJoint, Stepping, parameter
from arm_dynamics.robots import ArmParameters


@dataclass(frozen=True)
class TaskNodeParameters(ArmParameters, Stepping):
    """Parameters of every task's node, besides those of the arm and of the task."""

    controller: str = parameter(
        'computed_torque',
        "law of the controller; external: the user's own node; none: the simulator itself",
    )
    start: str = parameter(
        'rest',
        "initial state: 'moving' (on the reference) or 'rest' (the task moves there first)",
        one_of=('moving', 'rest'),
    )
    engine: str = parameter('mujoco', 'name of the launched engine, for the report')
    integrator: str = parameter('', 'integrator of the launched engine, for the report')
    mode: str = parameter('lockstep', 'name of the launched mode, for the report')
    feedforward: str = parameter('', 'name of the launched feedforward, for the report')
    errors: str = parameter('', 'plant_error and model_error as launched, for the report')
    faults: str = parameter('', 'faults of the launched simulator, for the report')
    length_scale: PerJoint = parameter(
        (1.0,), "length_scale of the simulated arm's plant_error, for the true tip [1]"
    )
    passes: int = parameter(
        1, 'number of repetitions; each learns from the one before', min=1, max=1000
    )
    learning_cutoff: float = parameter(
        0.0, 'cutoff of the low-pass filter on learnt efforts [Hz]; 0: none', min=0
    )
    timeout: float = parameter(120.0, 'longest wait for another node [s]', min=0.1, max=1000)
    output_dir: str = parameter('', 'folder for the results; empty: <task>_output')
    record: str = parameter('mcap', 'format of the recording', one_of=('mcap', 'bag', 'none'))
    core: int = parameter(-1, 'CPU core to run on; -1: any core')

    @property
    def geometry(self) -> ModelError:
        """What puts the arm's tip elsewhere than the model's."""
        return ModelError(length_scale=self.length_scale)

    @property
    def law(self) -> str:
        """The law's name; 'none': the simulator moves by itself."""
        return self.controller.removesuffix('_controller')

    @property
    def server(self) -> str:
        """The node that takes goals."""
        return 'simulator' if self.law == 'none' else f'{self.law}_controller'


@dataclass(frozen=True)
class AnyTaskParameters(Parameters):
    """The parameter of the node that runs any task."""

    task: str = parameter('sinusoid', 'name of the task')
