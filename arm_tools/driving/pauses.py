"""How long this process got no CPU time: where it did not, a robot's states look late."""

_RECENT = 1.0  # time for which a pause may be the cause of a stop [s]


class Pauses:
    """Remembers the newest pause of a process that is called at least once a period."""

    def __init__(self, period: float, shortest: float, now: float):
        """Begin at a time [s]; pauses shorter than `shortest` [s] do not count."""
        self._period, self._shortest, self._woke_at = period, shortest, now
        self._length, self._ended_at = 0.0, float('-inf')

    def wake(self, now: float) -> None:
        """Note that the process is called."""
        length, self._woke_at = now - self._woke_at - self._period, now
        if length > self._shortest:
            self._length, self._ended_at = length, now

    def words(self, now: float) -> str:
        """Return a phrase for the log where a pause may be the cause of what is seen now."""
        if now - self._ended_at > _RECENT:
            return ''
        return (
            ' This machine, not the robot, may be the cause: the supervisor got no CPU time for '
            f'{self._length:.3g} s.'
        )
