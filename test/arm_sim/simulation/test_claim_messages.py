"""The alarm of a second publisher, under drawn orders of messages; the benchmark draws more."""

import numpy as np
from scripts import load_script

MODEL = load_script('benchmarks/claim_messages.py')


def test_no_order_of_messages_gives_a_false_alarm_or_hides_a_second_publisher():
    assert MODEL.drawn(0, 300) == ([], [], [])


def test_most_orders_use_commands_of_the_controller_and_find_the_second_publisher():
    assert np.median([MODEL.run(seed)[1] for seed in range(50)]) > 20
    assert np.mean([MODEL.run(seed, spoofers=1)[0] for seed in range(50)]) > 0.8


def test_a_claim_granted_again_out_of_a_queue_expects_what_its_publisher_sent_meanwhile():
    claims = MODEL.Claims(MODEL.NAMES)
    claim = claims.claim('arm', MODEL.NAMES, lambda _: True, number=500)
    claims.hear(claim, 500, 500, 500)
    claims.expire()
    # 300 states later the command for the 502nd comes out of a queue, then the newest one.
    again = claims.claim('arm', MODEL.NAMES, lambda _: False, number=502)
    claims.hear(again, 502, 502, 502)
    assert again.most(800) == 502 + 100 + 10 * 298
    claims.restart(800)
    claims.hear(again, 810, 3, 803)  # 3 may be a stamp of before the reset
    assert again.states == 502
    claims.hear(again, 1700, 801, 1601)
    assert again.states == 1601
