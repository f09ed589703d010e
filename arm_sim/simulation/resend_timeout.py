"""Resend timeout: when a state without an answer is published again in lock-step."""

# Period at which a state without any answer is published again [s].
RESEND_PERIOD = 0.1
# An answer is delayed after this number of round trips, before the first loss after this time [s].
_LATE, _USUAL = 1.25, 0.005
# After a loss more losses are expected for this time [s].
_EXPECTED = 0.1
# After this number of repetitions the period doubles each time.
_BEFORE_DOUBLING = 20
# How much one repetition counts in the share of those that were needless.
_NEWEST = 0.1


class ResendTimeout:
    """Estimates the round trip from state to answer, and from it the resend timeout.

    The round trip is a running median: an answer that took longer raises it by 2 %, one that took
    less lowers it by as much, one of less than half halves it. A repeated state raises the
    median a little only, since either message may be answered. Where most repeated states are
    answered twice, answers are delayed and none is lost: then no losses are expected.

    Attributes:
        round_trip: the median [s].
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.round_trip = RESEND_PERIOD
        self._tries = 0
        self._needless = 0.0
        self._expected_until = -float('inf')

    def answered(self, waited: float) -> None:
        """Learn from an answer that came so long [s] after its state was shown first."""
        if waited > self.round_trip:
            self.round_trip *= 1.005 if self._tries else 1.02
        else:
            self.round_trip *= 0.98 if waited > 0.5 * self.round_trip else 0.5
        self._tries = 0

    def lost(self, now: float) -> None:
        """Note that a state was shown again, at this time [s]."""
        self._tries += 1
        self._needless *= 1.0 - _NEWEST
        self._expected_until = now + _EXPECTED

    def answered_again(self) -> None:
        """Note a second answer to one state: it was late, not lost."""
        self._needless += _NEWEST

    def short(self, now: float) -> bool:
        """Whether losses are expected at this time [s]."""
        return now < self._expected_until and self._needless < 0.5

    def seconds(self, now: float) -> float:
        """Return how long after it was shown last a state is shown again [s]."""
        late = _LATE * self.round_trip * 2.0 ** max(self._tries - _BEFORE_DOUBLING, 0)
        return min(late if self.short(now) else max(late, _USUAL), RESEND_PERIOD)
