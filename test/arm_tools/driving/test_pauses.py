"""What a stop is put down to: the robot, or the machine that was slow."""

from arm_tools.driving.pauses import Pauses


def test_a_pause_of_this_process_is_named_for_a_second_and_a_short_one_never():
    pauses = Pauses(0.01, 0.025, 0.0)
    for k in range(1, 100):
        pauses.wake(0.03 * k)  # late by 20 ms each time
        assert pauses.words(0.03 * k) == ''
    pauses.wake(3.2)
    assert 'the supervisor got no CPU time for 0.22 s.' in pauses.words(3.2)
    for k in range(1, 300):
        now = 3.2 + 0.01 * k
        pauses.wake(now)
        assert bool(pauses.words(now)) == (k <= 100)
