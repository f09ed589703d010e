"""Parameters of another node that are set for a while, with clients that answer when told to."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from rclpy.task import Future

from arm_tools.cartesian.ros.lent_parameters import LentParameters


class Owner:
    """A node with the parameter `force`, whose answers wait."""

    def __init__(self):
        self.force, self.waiting = 7.0, []

    def create_client(self, kind, name):
        return SimpleNamespace(call_async=self._call, service_is_ready=lambda: True)

    def _call(self, request):
        future = Future()
        self.waiting.append((request, future))
        return future

    def answer(self):
        request, future = self.waiting.pop(0)
        if isinstance(request, GetParameters.Request):
            value = Parameter('force', value=self.force).get_parameter_value()
            future.set_result(GetParameters.Response(values=[value]))
        else:
            self.force = request.parameters[0].value.double_value
            response = SetParametersAtomically.Response()
            response.result.successful = True
            future.set_result(response)


@pytest.fixture
def owner():
    return Owner()


def test_a_value_is_set_and_set_back(owner):
    lent, said = LentParameters(owner, 'owner'), []
    lent.set({'force': 2.0}, said.append)
    owner.answer()
    owner.answer()
    assert (owner.force, said) == (2.0, [''])
    lent.give_back()
    owner.answer()
    assert owner.force == 7.0


def test_a_value_given_back_before_the_owner_answers_is_not_set(owner):
    lent, said = LentParameters(owner, 'owner'), []
    lent.set({'force': 2.0}, said.append)
    lent.give_back()
    owner.answer()  # the reading
    assert (owner.waiting, owner.force, said) == ([], 7.0, [])
