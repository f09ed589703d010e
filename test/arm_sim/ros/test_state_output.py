"""A name that one simulator on a machine has: who comes second gets its name."""

import os
import socket

import pytest
import rclpy
from domains import fresh_domain

from arm_dynamics.checks import ArmError
from arm_sim.ros.state_output import OneSimulator


@pytest.mark.slow
def test_the_second_is_refused_at_once_with_the_firsts_process_and_may_begin_when_it_has_gone():
    rclpy.init(domain_id=int(fresh_domain()))
    first, second = (rclpy.create_node('simulator') for _ in range(2))
    try:
        one = OneSimulator(first)
        one.refuse_another()  # within 2 s: the other node shows no states
        two = OneSimulator(second)
        who = f"'simulator, process {os.getpid()}.* on {socket.gethostname()}'"
        with pytest.raises(ArmError, match=f'simulated already, by {who}'):
            two.refuse_another()
        one.end()
        first.destroy_node()
        three = OneSimulator(second)
        three.refuse_another()
        three.end()
    finally:
        second.destroy_node()
        rclpy.try_shutdown()
