"""The commands of a law as all that counts of it: what records them, and what replays them."""

import os
import stat
from pathlib import Path

import numpy as np

from arm_controllers.law import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_lab.judging.plan import JudgedTrial
from arm_sim.loop.record import Record

_MOST = 200_000_000  # that is read of a process's files [bytes]


class RecordedLaw(Law):
    """A law whose commands are recorded.

    Attributes:
        rows: all commands so far.
    """

    def __init__(self, law: Law):
        """Take the law."""
        self.law, self.model, self.rows = law, law.model, list[Array]()
        self.command_interface, self.lookahead = law.command_interface, law.lookahead
        self.needs, self.goal_needs, self.guard = law.needs, law.goal_needs, law.guard

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the state with which the law takes over the arm."""
        return self.law.start(measured, reference)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the command (n,) of the law."""
        command, state = self.law(state, measured, reference, dt)
        self.rows.append(np.array(command, dtype=float))
        return command, state


class ReplayedLaw(Law):
    """A law that replays commands, whatever is measured."""

    def __init__(self, command_interface: str | tuple[str, ...], rows: Array):
        """Take commands (k, n), one per period."""
        self.command_interface, self._rows = command_interface, iter(rows)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the next command (n,)."""
        row = next(self._rows, None)
        if row is None:
            raise ArmError('the process of the law has fewer commands than the trial has periods')
        return row, state


def made_by(trial: JudgedTrial, commands: bytes) -> Record:
    """Return the record of a trial's arm under commands, as `RecordedLaw` has them in bytes.

    Raises:
        ArmError: there are too few, or one is not finite.
    """
    plant, later = trial.loaded.plants()
    n = len(plant.joint_names)
    whole = len(commands) - len(commands) % (8 * n)
    rows = np.frombuffer(commands[:whole]).reshape(-1, n)
    law = ReplayedLaw(plant.command_interface, rows)
    record = trial.loaded.task.run(law, plant, later)
    if not record.completed:
        raise ArmError('the law commanded a number that is not finite')
    return record


def bytes_of(file: Path) -> bytes:
    """Return what a file of another process holds, which may be a pipe, or endless.

    Raises:
        ArmError: it is no plain file, or larger than any run.
    """
    try:
        number = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        with open(number, 'rb') as stream:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise ArmError(f'{file.name} of the law is no plain file')
            found = stream.read(_MOST + 1)
    except OSError as error:
        raise ArmError(f'{file.name} of the law cannot be read: {error.strerror}') from None
    if len(found) > _MOST:
        raise ArmError(f'{file.name} of the law has more than {_MOST / 1e6:g} MB')
    return found
