"""Contact tasks in the loop, and what their reports have."""

from dataclasses import replace

from arm_dynamics.model_error import ModelError
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.measures import track
from arm_sim.tasks import Run

ROBOT, LAW = 'ur5e gripper:=probe', 'hybrid_force_motion'


def experiment(task, error=None, name=LAW, **given):
    """Return a loaded experiment of a task with these parameters; `name`: of the law."""
    e = Experiment.of_files(ROBOT, task, name, error=error or ModelError())
    return replace(e.load(), given=given)


def results(task, error=None, law=None, **given):
    """Return the experiment and the numbers of its report; `law`: parameters of the law."""
    loaded = experiment(task, error, **given)
    record = loaded.task.run(loaded.law(parameters=law), *loaded.plants())
    return loaded, loaded.task.report.results(Run(record, track(loaded.robot.model, record)))
