"""For tests of your own controller: `from arm_lab.testing import judge` in a conftest.py.

def test_my_controller(judge):
    found = judge('python3 my_controller.py', 'judge.yaml')
    assert found.held, found
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

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


@pytest.fixture
def judge(tmp_path: Path) -> Callable[[str | Sequence[str], Path | str], Judgement]:
    """Return `judged`, with files in `tmp_path / 'judgement'`."""

    def run(controller: str | Sequence[str], limits: Path | str) -> Judgement:
        return judged(controller, limits, tmp_path / 'judgement')

    return run
