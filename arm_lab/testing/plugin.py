"""Fixtures of pytest, its entry point `pytest11`: a simulated arm, a ROS domain, a judgement.

Every pytest of an environment with this package imports this file, so it imports nothing slow.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

# Folder of the recordings and logs of failed tests, in the root folder of the tests.
KEPT = 'failed_tests'


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Lend a ROS domain that no other test of this machine uses, as ROS_DOMAIN_ID of this test."""
    with import_module('arm_lab.own_domain').lent_domain() as number:
        monkeypatch.setenv('ROS_DOMAIN_ID', number)
        monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
        yield number


@pytest.fixture
def start_arm(
    request: pytest.FixtureRequest, ros_domain: str, tmp_path: Path
) -> Iterator[Callable[..., Any]]:
    """Return a function that starts a SimulatedArm; its arguments are those of that class.

    All processes end with the test. Where it fails, recording and logs are kept in KEPT.
    """
    kind = import_module('arm_lab.testing.ros.simulated_arm').SimulatedArm
    folder, failed_before = tmp_path / 'arm', request.session.testsfailed
    kept = request.config.rootpath / KEPT / re.sub(r'[^\w.\-\[\]]+', '_', request.node.nodeid)
    shutil.rmtree(kept, ignore_errors=True)  # of an earlier run
    with ExitStack() as ends:

        def start(command: object = '', **arguments: object) -> object:
            return ends.enter_context(kind(folder, command, **arguments))

        yield start
    if request.session.testsfailed > failed_before and folder.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, kept)
        print(f'recording and logs are in {kept}')
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # other tests have failed
        kept.parent.rmdir()


@pytest.fixture
def judge(tmp_path: Path) -> Callable[..., Any]:
    """Return `judged`, with files in `tmp_path / 'judgement'`."""

    def run(controller: object, limits: Path | str) -> object:
        judged = import_module('arm_lab.testing.judged').judged
        return judged(controller, limits, tmp_path / 'judgement')

    return run
