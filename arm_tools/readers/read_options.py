"""Options of every command that reads a recording."""

from dataclasses import dataclass

from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, parameter


@dataclass(frozen=True)
class ReadRun(Parameters):
    """Which messages of a recording are read, and by which clock."""

    topic: str = parameter(
        '', 'topic of the measured joint states; empty: the only one, or the only one with efforts'
    )
    clock: str = parameter(
        'auto', 'times of the states: stamps of the headers, times of receipt in the recording, '
        'or auto: the headers unless they have no stamps', one_of=('auto', 'header', 'receive'),
    )  # fmt: skip
    time_unit: str = parameter(
        'auto', 'unit of the times of a table; auto: as its header says, or s, unless they cannot '
        'be', one_of=('auto', 's', 'ms', 'us', 'ns'),
    )  # fmt: skip
    columns: str = parameter(
        '',
        "names of a table's columns, as 'time=t,position=q{1},effort=tau{1}': {1} counts "
        'joints from 1, {0} from 0, {joint} is the name; or of one joint, as elbow.position=q3; '
        'time=50Hz gives rows without times a rate; '
        'of messages and datasets names of the joints, as position=left_{joint}',
    )

    def check_messages(self) -> None:
        """Raise ArmError where an option is for tables alone."""
        if self.time_unit != 'auto':
            raise ArmError('--time-unit is for tables, whose times may have any unit')


@dataclass(frozen=True)
class ReadAs(ReadRun):
    """Which messages of a recording are read, by which clock, and in which unit."""

    units: str = parameter(
        'auto', 'unit of the recorded positions and position commands of revolute joints; auto: '
        'rad, unless the positions cannot be', one_of=('auto', 'rad', 'deg'),
    )  # fmt: skip


AS_FOUND = ReadAs()
