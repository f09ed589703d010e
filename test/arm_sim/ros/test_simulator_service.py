"""Services that other packages add to the simulator: the one of the page, and a broken one."""

import re

import pytest

rclpy = pytest.importorskip('rclpy')

from nodes_in_process import started  # noqa: E402
from plugins import write_plugins  # noqa: E402
from repository import ROOT  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from arm_sim.ros.simulator_service import SERVICES  # noqa: E402

_PAGE = (ROOT / 'docs' / 'simulation_interfaces.md').read_text()
SERVICE = _PAGE.split('```python\n')[1].split('```')[0]
GROUP = 'arm_sim.simulator_services'


@pytest.fixture
def add(monkeypatch, tmp_path):
    """Return a function that adds services of a user's package until the test ends."""

    def add(**entries):
        folder = write_plugins(tmp_path / 'user', {'energy': SERVICE}, {GROUP: entries})
        monkeypatch.syspath_prepend(folder)
        SERVICES.refresh()

    yield add
    monkeypatch.undo()
    SERVICES.refresh()


def test_the_service_of_the_page_answers_with_the_energy_of_the_moving_arm(add, tmp_path):
    add(kinetic_energy='energy:kinetic_energy')
    assert len(SERVICE.splitlines()) <= 15
    with started('simulator', tmp_path) as node:
        (service,) = (each for each in node.services if each.srv_name.endswith('kinetic_energy'))
        plant = node.simulation.plant
        plant.reset(plant.q, 0.3 + 0.0 * plant.q)
        answer = service.callback(Trigger.Request(), Trigger.Response())
        assert answer.success
        assert float(answer.message.split()[0]) == pytest.approx(
            0.045 * plant.mass_matrix().sum(), rel=1e-5
        )


def test_a_service_that_cannot_be_imported_is_named_and_the_others_open(add, tmp_path, capfd):
    add(broken='nowhere:nothing', kinetic_energy='energy:kinetic_energy')
    with started('simulator', tmp_path) as node:
        assert any(each.srv_name.endswith('kinetic_energy') for each in node.services)
    reason = r"service of the simulator 'broken' \(.*'plugins_of_a_user'\) cannot be imported"
    assert re.search(reason, capfd.readouterr().err)
