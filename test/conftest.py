"""How long hostile tests go on."""

import pytest


def pytest_addoption(parser):
    parser.addoption(
        '--hostile',
        type=int,
        default=1,
        metavar='N',
        help='hostile tests (test/hostile) try N times as much as in the suite',
    )


@pytest.fixture(scope='session')
def hostile(request):
    """How many times as much as in the suite a hostile test is to try."""
    return request.config.getoption('--hostile')
