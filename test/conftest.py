"""How long hostile tests go on, and the end of launches whose test has failed."""

import os
import signal
from collections import Counter
from contextlib import suppress

import psutil
import pytest
from domains import own_domain

# Threads of linear algebra spin where they wait for each other, which takes the processor from
# other tests and the processes that they start; numpy reads this when it is imported.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
# Else MuJoCo loads GLFW, which starts a second Python; pictures here are drawn without a window.
os.environ.setdefault('MUJOCO_GL', 'off')


def pytest_configure(config):
    """Let nodes in this process be alone: other runs on this machine choose domains too."""
    os.environ['ROS_DOMAIN_ID'] = own_domain()
    config.addinivalue_line('markers', 'slow: left out by `./ws test --quick`')
    config.addinivalue_line('markers', 'quick(n): of its cases all but the first n are slow')
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background job; nodes end by it
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption(
        '--hostile',
        type=int,
        default=1,
        metavar='N',
        help='hostile tests (test/hostile) try N times as much as in the suite',
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what `quick` leaves out as slow, and begin with the tests that wait for processes."""
    cases = Counter()
    for item in items:
        function = item.nodeid.partition('[')[0]
        cases[function] += 1
        if any(cases[function] > mark.args[0] for mark in item.iter_markers('quick')):
            item.add_marker('slow')
    # At the end they would run one by one.
    items.sort(key=lambda item: item.path.parent.name not in ('hostile', 'system'))


def pytest_make_parametrize_id(val, argname):
    """Name bytes by their number: padding in a message differs from process to process."""
    return f'{argname} of {len(val)} bytes' if isinstance(val, bytes) else None


def pytest_pycollect_makemodule(module_path, parent):
    """Collect tests without launch_testing's plugin, which takes file names for unique."""
    if module_path.parent.name != 'system':
        return pytest.Module.from_parent(parent, path=module_path)
    return None  # launch tests are among them


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """End the launches that a test leaves behind where it fails: they would take the processor."""
    yield
    if call.when == 'call' and call.excinfo is not None:
        for child in psutil.Process().children():
            with suppress(psutil.Error):  # it has just ended
                if 'launch' in child.cmdline():
                    child.terminate()


@pytest.fixture(scope='session')
def hostile(request):
    """How many times as much as in the suite a hostile test is to try."""
    return request.config.getoption('--hostile')
