"""The law of an experiment, which has to suit the task, and its options, which have to act."""

from arm_controllers.laws import Law, law_class
from arm_controllers.policy_file import PolicyFile
from arm_lab.experiments.compared_laws import compared_laws
from arm_lab.experiments.experiment import LoadedExperiment
from arm_lab.experiments.without_effect import check_effect
from arm_sim.tasks._laws import check_law, suitable_law


def suited(loaded: LoadedExperiment) -> LoadedExperiment:
    """Return the experiment; without a law it gets one that suits the task.

    That law has the gains of the robot's files where it has no design.

    Raises:
        ArmError: a law under which the task means nothing, an option that does nothing.
    """
    e = loaded.experiment
    if not e.law:
        law = suitable_law(loaded.task)
        frequency = e.natural_frequency if law in compared_laws() else 0.0
        loaded = loaded.changed(law=law, natural_frequency=frequency)
    e = loaded.experiment
    check_law(loaded.task, e.task, e.law, kind_of(loaded), {'engine': e.engine})
    check_effect(loaded)
    return loaded


def kind_of(loaded: LoadedExperiment) -> type[Law]:
    """Return the class of the law; of a policy, that of the law which the policy adds to."""
    kind: type[Law] = loaded.law_class
    if kind.evaluation.of_file:
        kind = law_class(PolicyFile(loaded.law_parameters.policy).layout.law)
    return kind
