"""Requests that are no messages: dropped, in bounded memory, and the next is answered."""

import struct

import numpy as np
import pytest
from arm_system import ArmSystem
from raw_requests import RawRequests
from rcl_interfaces.srv import GetParameters
from rclpy.serialization import serialize_message

NODES = ('simulator', 'computed_torque_controller', 'inverse_kinematics')
GROWTH = 2**30  # what a node may take on [bytes]
# Numbers of strings, of 24 bytes each and 32 where they are: half of what may be, 5 and 15 GB.
NUMBERS = (2**23, 3 * 2**25, 2**28)


@pytest.fixture(scope='module')
def arm():
    with ArmSystem('lockstep') as system:
        system.simulator()
        system.controller()
        system.start('inverse_kinematics')
        system.wait_for_motion_control('computed_torque_controller')
        yield system


def answers(arm, node):
    """Ask a node for its parameters as anybody does, and wait for the answer."""
    request = GetParameters.Request(names=['use_sim_time'])
    return len(arm.call(GetParameters, f'/{node}/get_parameters', request).values) == 1


def largest(arm, node):
    """Return the most memory that a node has had [bytes]."""
    with open(f'/proc/{arm.processes[node].pid}/status') as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith('VmHWM'))


def malformed(good):
    """Return requests that are none, of every kind that was found to matter."""
    rng = np.random.default_rng(0)
    return (
        *(good[:10], good[:-4], good[:4], b'\0', b'\0\0' + good[2:], b'\x99\x99\0\0' + good[4:]),
        *(good[:4] + b'\xff' * 200, good[:4] + b'\xff\xff\xff\x7f' * 50),
        *(good[:4] + rng.bytes(200), b'\0\x0b\0\0' + rng.bytes(100)),
    )


def test_no_malformed_request_of_any_type_ends_a_node(arm):
    services = {}
    arm.wait(lambda: all(answers(arm, node) for node in NODES), 'the nodes')
    for name, (type_name, *_) in arm.node.get_service_names_and_types():
        if not name.startswith('/test_client'):
            services.setdefault((type_name, name.split('/')[1]), name)
    assert len(services) > 15
    for (type_name, _), name in services.items():
        if '_SendGoal' in type_name or '_GetResult' in type_name:
            continue  # goals as bytes have a test of their own
        sender = RawRequests(arm.node, name, type_name)
        arm.wait(sender.matched, name)
        for raw in malformed(bytes(serialize_message(sender.request()))):
            sender.send(raw)
        arm.spin(0.02)
    assert all(answers(arm, node) for node in NODES)
    arm.assert_alive()


@pytest.mark.parametrize('node', NODES)
def test_request_that_claims_to_be_huge_takes_bounded_memory(arm, node):
    sender = RawRequests(arm.node, f'/{node}/get_parameters', 'rcl_interfaces/srv/GetParameters')
    arm.wait(sender.matched, node)
    before = largest(arm, node)
    for number in NUMBERS:
        sender.send(b'\0\1\0\0' + struct.pack('<I', number) + b'\2\0\0\0a\0\0\0' * 20)
        assert answers(arm, node)
    assert largest(arm, node) < before + GROWTH
    arm.assert_alive()
