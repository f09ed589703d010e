"""A parameter that means harm is refused by the node that has it, which goes on."""

import pytest

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402

from arm_controllers.ros.parameters import on_change  # noqa: E402
from arm_sim.devices.faults import read_faults  # noqa: E402


@pytest.fixture(scope='module')
def node():
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(fresh_domain()))
    node = rclpy.create_node('has_faults', context=context)
    node.declare_parameter('faults', '')
    on_change(node, lambda changed: read_faults(changed['faults']), lambda faults: None)
    yield node
    node.destroy_node()
    context.try_shutdown()


TEXTS = {
    'endless': f'[0x{"F" * 9000}]',
    'large': f'- {{duration: {"9" * 400}}}',
    'empty': "- !!int ''",
    'nobody': '~no such user',
    'half': 'a\ud800',
}


@pytest.mark.parametrize('name', TEXTS)
def test_no_text_of_a_parameter_raises_in_its_node(node, name):
    (answer,) = node.set_parameters([Parameter('faults', value=TEXTS[name])])
    assert not answer.successful
    assert answer.reason
    assert '\n' not in answer.reason
