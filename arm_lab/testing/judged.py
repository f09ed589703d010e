"""A judgement as a function, for tests."""

from collections.abc import Sequence
from pathlib import Path

from arm_lab.judging import report
from arm_lab.judging.plan import read_plan
from arm_lab.judging.trials import judge_all
from arm_lab.judging.verdict import Judgement
from arm_sim.output_folder import writable_folder


def judged(controller: str | Sequence[str], limits: Path | str, folder: Path | str) -> Judgement:
    """Return the judgement of a controller, as `ros2 run arm_sim judge` makes it.

    Args:
        controller: the command that starts it, as one text or as words; '': it runs already, in
            this process's ROS_DOMAIN_ID, for example started by a launch_testing description.
        limits: the YAML file.
        folder: where table, picture, JSON, JUnit XML and logs go.

    Raises:
        ArmError: the file is invalid, or the text is no command.
    """
    words = [controller] * bool(controller) if isinstance(controller, str) else controller
    plan, where = read_plan(limits), writable_folder(str(folder))
    found = judge_all(plan, words, where)
    report.write(found, where)
    return found
