"""Names of compared robots in titles."""

from collections import Counter
from collections.abc import Iterable

from arm_lab.experiments.experiment import Experiment


def labels_of(cases: Iterable[Experiment]) -> dict[str, str]:
    """Return each robot's name for titles: its label, as given where two have the same label."""
    labels = {case.robot: case.robot_label for case in cases}
    counts = Counter(labels.values())
    return {robot: robot if counts[label] > 1 else label for robot, label in labels.items()}
