"""Parts of experiments for tests: laws, plants and measures of a robot that is already loaded."""

from dataclasses import replace
from types import SimpleNamespace

from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.runs import observe


def loaded(robot, law, task='sinusoid', **others):
    """Return an experiment on a robot, which may differ from the robot of that name."""
    return LoadedExperiment(Experiment(robot.name, task, law, **others), robot)


def law_for(law, robot, **others):
    """Return a law that is designed for a robot."""
    return loaded(robot, law, **others).law()


def measures_of(experiment, *record):
    """Return the measures of an experiment."""
    return observe(experiment, *record)[0]


def run(experiment):
    """Return an experiment, its record, its errors over time, and its measures."""
    own = experiment.load()
    record = own.run()
    tracking = own.track(record)
    measures = own.task.report.measure(record, tracking)
    return SimpleNamespace(
        experiment=experiment, record=record, tracking=tracking, measures=measures
    )


def imperfect(parameters, delay=0, position_noise=0.0, velocity_noise=0.0, seed=0):
    """Return plant parameters with a command delay [periods] and sensor noise."""
    return replace(
        parameters, command_delay=delay, position_noise=position_noise,
        velocity_noise=velocity_noise, sensor_seed=seed,
    )  # fmt: skip
