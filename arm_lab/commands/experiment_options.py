"""Options that are fields of an experiment."""

from dataclasses import dataclass, fields
from typing import Any

from arm_dynamics.parameters import parameter
from arm_lab.command_line import Name, RobotOptions
from arm_lab.experiments.experiment import Experiment
from arm_sim.simulation.plant import engine_names
from arm_sim.tasks import task_names


@dataclass(frozen=True)
class ExperimentOptions(RobotOptions):
    """Base of the options of a command for arms that perform a task."""

    task: Name = parameter('sinusoid', f'task of the arms, one of {", ".join(task_names())}')
    engine: Name = parameter('mujoco', f'physics engine, one of {", ".join(engine_names())}')
    seed: int = parameter(0, 'seed of the random numbers by which arms are drawn', min=0)

    def experiment(self, **others: Any) -> Experiment:
        """Return the experiment of the options, with the gains of the robot's files."""
        names = {each.name for each in fields(Experiment)} & {each.name for each in fields(self)}
        return Experiment.of_files(**{name: getattr(self, name) for name in names} | others)
