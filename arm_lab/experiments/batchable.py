"""Whether the law and the task of an experiment run on a batch of arms, as tuning needs."""

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_lab.experiments.experiment import LoadedExperiment
from arm_sim.tasks import Task


def check_tunable(loaded: LoadedExperiment) -> RobotModel:
    """Return the law's model; refuse what a batch of arms cannot run.

    Raises:
        ArmError: a law that commands voltages, or a task with a loop of its own.
    """
    e = loaded.experiment
    if loaded.law_class.command_interface == 'voltage':
        raise ArmError(
            f'law {e.law!r} commands voltages; tuned are laws that command torques or '
            'positions (the five-joint arm has tune_pose_hold)'
        )
    if type(loaded.task).run is not Task.run:
        raise ArmError(f'task {e.task!r} has a loop of its own; a batch cannot run it')
    return loaded.robot.model
