"""The memory of a controller in real time does not grow with the number of its goals."""

import numpy as np
import pytest
from arm_system import HOME, ArmSystem, goal
from oracle import memory

CONTROLLER = 'computed_torque_controller'
# Of each kind, before the first measurement and between the measurements.
WARM_UP, GOALS = 250, 250
# 750 goals whose results stay in memory take 3.5 MB. Without them the first 1 000 goals take 2 MB
# until the allocator's pools are full, and 750 later ones 0.1 MB.
ALLOWED_MB = 1.5
RESULTS_EXPIRE = 11.0  # [s]


@pytest.mark.slow
def test_memory_of_a_controller_is_bounded_after_a_thousand_goals():
    rng = np.random.default_rng(0)
    with ArmSystem('realtime') as arm:
        arm.simulator()
        arm.controller()
        arm.wait_for_motion_control(CONTROLLER)

        def send_goals(count):
            ends = []
            for _ in range(count):
                arm.follow(CONTROLLER, goal([0.3], [HOME + 99.0]))  # refused
                for _ in range(2):  # the second one replaces the first one
                    near = HOME + rng.uniform(-0.02, 0.02, 6)
                    ends.append(arm.send(CONTROLLER, goal([0.2], [near]))[1])
            for end in ends:
                arm.result(end, 'end of a goal')
            arm.feedback.clear()
            arm.spin(RESULTS_EXPIRE)
            return memory(arm.processes[CONTROLLER])

        before = send_goals(WARM_UP)
        after = send_goals(GOALS)
        print(f'memory after {3 * WARM_UP} goals: {before:.1f} MB, {3 * GOALS} later {after:.1f}')
        assert after - before < ALLOWED_MB
