"""What a request to set parameters may not do, and that each answer is one short line."""

from dataclasses import dataclass

import pytest

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from rcl_interfaces.msg import Parameter as ParameterMessage  # noqa: E402
from rcl_interfaces.srv import SetParameters, SetParametersAtomically  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402

from arm_controllers.parameter_values import from_ros_value  # noqa: E402
from arm_controllers.ros.parameters import declare_parameters, on_change_of  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402


@dataclass(frozen=True)
class Own:
    """Parameters of a test."""

    live_number: float = 1.0
    fixed_list: tuple[float, ...] = ()


@pytest.fixture(scope='module')
def node():
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(fresh_domain()))
    node = rclpy.create_node('has_parameters', context=context)
    declare_parameters(node, Own, live=['live_number'])
    on_change_of(node, [Own], lambda own: own, lambda own: 1.0 / (own.live_number - 13.0))
    yield node
    node.destroy_node()
    context.try_shutdown()


def reason(node, message):
    """Return why a service of the node refuses a parameter; all services say the same."""
    services = {each.srv_name.rpartition('/')[2]: each.callback for each in node.services}
    one = services['set_parameters'](
        SetParameters.Request(parameters=[message]), SetParameters.Response()
    ).results[0]
    other = services['set_parameters_atomically'](
        SetParametersAtomically.Request(parameters=[message]), SetParametersAtomically.Response()
    ).result
    assert one == other
    assert not one.successful
    return one.reason


@pytest.mark.parametrize('name', ['live_number', 'fixed_list'])
def test_a_parameter_cannot_be_removed_and_the_others_can_still_be_set(node, name):
    said = reason(node, ParameterMessage(name=name))  # as `ros2 param delete` does
    assert said == f'{name} cannot be removed while the node runs; set it to a value'
    assert node.set_parameters([Parameter('live_number', value=2.0)])[0].successful


def test_a_small_number_may_be_the_text_that_ros2_param_makes_of_it(node):
    set_text = [Parameter('live_number', value='1e-09')]
    assert node.set_parameters(set_text)[0].successful
    assert node.get_parameter('live_number').value == 1e-9
    refused = node.set_parameters([Parameter('live_number', value='two')])[0]
    assert refused.reason == "parameter 'live_number' is 'two'; it must be a number"


def test_an_unknown_parameter_is_named_with_the_nearest(node):
    message = Parameter('live_numbr', value=2.0).to_parameter_msg()
    expected = "unknown parameter 'live_numbr'; nearest known: 'live_number'"
    assert reason(node, message) == expected


@pytest.mark.parametrize('value', ['x' * 100_000, [1.0] * 100_000, ['a'] * 1000])
def test_a_long_value_makes_no_long_answer(node, value):
    said = reason(node, Parameter('live_number', value=value).to_parameter_msg())
    assert len(said) <= 500
    assert said.startswith("parameter 'live_number' is ")
    assert 'array(' not in said


@pytest.mark.parametrize('number', [1e-308, -1e-31, 1e31, -1e308])
@pytest.mark.parametrize('kind', [float, tuple[float, ...]])
def test_a_number_whose_products_overflow_is_no_parameter(number, kind):
    with pytest.raises(ArmError) as refused:
        from_ros_value('rate', number, kind)
    assert str(refused.value) == f'rate is {number:g}; its size must be 0, or from 1e-30 to 1e30'
    for fine in (0.0, 1e-29, -1e29, float('inf')):
        assert from_ros_value('rate', fine, float) == fine


def test_an_error_while_parameters_come_into_use_does_not_end_the_node(node, capfd):
    assert node.set_parameters([Parameter('live_number', value=13.0)])[0].successful
    assert node.set_parameters([Parameter('live_number', value=1.0)])[0].successful
    said = [x for x in capfd.readouterr().err.splitlines() if 'ZeroDivisionError' in x]
    assert len(said) == 1
    assert 'parameters set, but not all in use: restart this node: ZeroDivisionError' in said[0]
