"""The trials of a plan with a law, in the loop without ROS, in a process of their own.

`python -m arm_lab.judging.law_trials LAW LIMITS FOLDER SECONDS` runs them and writes the law's
commands for each trial, or why it failed. `judge_law` moves the arm by the commands, without the
law, so that no law says what came of it. The law may use SECONDS of CPU time. It runs in a child
of that process and, where Linux allows it, sees no other process, no network and no socket of
other programs in /run and /tmp: what it starts ends with it.
"""

import ctypes
import math
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from arm_dynamics.checks import ArmError
from arm_dynamics.descriptions.confined_process import continue_apart, refuse_calls_of_law
from arm_dynamics.temporary_folder import own_folder
from arm_lab.experiments.processes import Group
from arm_lab.experiments.seeded import seeded
from arm_lab.experiments.suited import suited
from arm_lab.judging.plan import JudgedTrial, JudgingPlan, read_plan
from arm_lab.judging.replayed_law import RecordedLaw, bytes_of, made_by
from arm_lab.judging.trials import judgement
from arm_lab.judging.verdict import Judgement
from arm_lab.progress import printable
from arm_sim.loop.outcome import outcome
from arm_sim.loop.record import Record
from arm_sim.loop.report import Check
from arm_sim.simulation.plant import COMMAND_INTERFACE
from arm_sim.tasks import Run

MEMORY = 4_000_000_000  # that a law may allocate [bytes]
_FILE = 1_000_000_000  # the largest file that it may write, its log included [bytes]
# Files of the process of a law.
_COMMANDS, _REASON, _BEGUN = 'commands.f64', 'reason.txt', 'begun'
_LONGEST = 300  # characters of a reason
_ASLEEP = 10.0  # wall-clock time as a multiple of CPU time
_LOOK = 0.02  # [s]
_HEARD = 60.0  # time within which a parent that lives hears that a law begins [s]


def judge_law(
    plan: JudgingPlan,
    law: str,
    folder: Path,
    seconds: float = 60.0,
    advance: Callable[[int], None] = lambda done: None,
) -> Judgement:
    """Return the judgement of a law; the same law gets the same judgement to the last bit.

    The law runs in another process. A failure, an endless loop or too much memory costs a trial,
    not this process. It is no security boundary: the law can do what this user can.

    Args:
        plan: what it is tried on.
        law: name, or path of a Python file.
        folder: gets `law.log`, with all that the law prints, and a folder for each trial.
        seconds: CPU time for all trials, rounded up to whole seconds.
        advance: called with the number of trials done.
    """
    seconds = math.ceil(seconds)
    command = [sys.executable, '-m', 'arm_lab.judging.law_trials']
    words = [*command, law, plan.file, str(folder), str(seconds)]
    for trial in plan.trials:
        for name in ('record.npz', _COMMANDS, _REASON):
            (trial.folder(folder) / name).unlink(missing_ok=True)
    begun, end = folder / _BEGUN, math.inf
    begun.unlink(missing_ok=True)
    with Group(words, folder / 'law.log', os.environ) as group:

        def tried(trial: JudgedTrial) -> tuple[Record, list[Check]]:
            nonlocal end
            own = trial.folder(folder)
            file = own / _REASON
            while not file.exists() and group.code is None and time.monotonic() < end:
                time.sleep(_LOOK)
                if end == math.inf and begun.exists():
                    begun.unlink()  # lets the law begin
                    end = time.monotonic() + _ASLEEP * seconds
            if not file.exists():
                raise ArmError(_why(group, seconds))
            if reason := bytes_of(file).decode(errors='replace'):
                raise ArmError(_line(reason))
            return _made(trial, law, own)

        return judgement(plan, law, tried, advance)


def _made(trial: JudgedTrial, law: str, folder: Path) -> tuple[Record, list[Check]]:
    """Return the record of what a law commanded, and the task's own limits."""
    commands = bytes_of(folder / _COMMANDS)
    try:
        record = made_by(trial, commands)
        record.save(folder / 'record.npz')
    except ArmError:
        raise
    except Exception as error:  # of commands that no arm can follow, of a folder that is gone
        raise ArmError(words_of(error)) from None
    facts = {'controller': law, 'feedforward': '', 'mode': 'lockstep'}
    _, found = outcome(trial.loaded.task, Run(record, trial.loaded.track(record), facts))
    return record, [each for each in found if each.limit is not None]


def _why(group: Group, seconds: float) -> str:
    """Return why a process did not come to the end of a trial."""
    lines = group.lines()
    last = f'; it said last: {lines[-1]}' if lines else ''
    if group.code is None:
        return f'no end within {_ASLEEP * seconds:g} s{last}'
    if group.code in (signal.SIGXCPU, -signal.SIGXCPU):
        return f'more than {seconds:g} s of CPU time{last}'
    if group.code == -signal.SIGKILL:
        return f'killed from outside, most likely because this machine has no memory left{last}'
    how = f'by signal {-group.code}' if group.code < 0 else f'with exit code {group.code}'
    return f'the process of the law ended {how}{last}'


def attempt(trial: JudgedTrial, law: str, folder: Path) -> None:
    """Run a trial and write the law's commands, or why it failed."""
    folder.mkdir(parents=True, exist_ok=True)
    reason, actuator = '', trial.loaded.experiment.actuator
    try:
        with seeded():
            loaded = suited(trial.loaded.changed(law=law, actuator=''))
            if loaded.law_class.command_interface != COMMAND_INTERFACE[actuator]:
                raise ArmError(
                    f'the law commands {loaded.law_class.command_interface!r}; the file has '
                    f'actuator {actuator!r}'
                )
            kept = RecordedLaw(loaded.law())
            loaded.task.run(kept, *trial.loaded.plants())
        (folder / _COMMANDS).write_bytes(b''.join(row.tobytes() for row in kept.rows))
    except BaseException as error:  # the law of a user may raise anything
        reason = words_of(error)
    part = folder / 'reason.part'
    part.write_text(reason)
    part.rename(folder / _REASON)


def words_of(error: BaseException) -> str:
    """Return an exception of a law in one line; its class and its texts are the law's own."""
    if isinstance(error.__cause__, MemoryError):
        error = error.__cause__
    if isinstance(error, ArmError):
        return _line(error)
    if isinstance(error, SystemExit):
        return f'the law ended its process: sys.exit({_line(error.code)})'
    text = f'a law may allocate {MEMORY / 1e9:g} GB'
    if not isinstance(error, MemoryError):
        text = _line(error)
    return f'{_line(type(error).__name__)}: {text}'


def _line(what: object) -> str:
    """Return the text of an object of a law in one line that no terminal takes for a command."""
    try:
        text = str(what)
    except BaseException:  # of its own __str__
        text = '(it has no text)'
    return ' '.join(printable(text).split())[:_LONGEST]


def _begin(file: Path) -> None:
    """Say that the law's time begins, and wait until that is heard."""
    file.touch()
    end = time.monotonic() + _HEARD
    while file.exists() and time.monotonic() < end:
        time.sleep(_LOOK)


def _main(law: str, limits: str, folder: str, seconds: str) -> None:
    plan = read_plan(limits)
    loaded = plan.trials[0].loaded
    loaded.plants()  # imports and compiles, which are not the law's time
    files = (law, limits, folder, loaded.experiment.robot, loaded.experiment.config)
    kept = [str(Path(each).expanduser()) for each in (*files, '~') if each]
    kept += [str(own_folder()), os.getcwd(), sys.prefix, sys.base_prefix, *sys.path]
    refuse_calls_of_law(continue_apart(kept, os.CLONE_NEWUSER if os.getuid() else 0))
    libc, most = ctypes.CDLL(None), int(seconds)  # of the child's own time
    # The first process of a namespace lives on after a signal that it does not handle.
    libc.signal(signal.SIGXCPU, ctypes.cast(libc._exit, ctypes.c_void_p))
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE, _FILE))
    _begin(Path(folder, _BEGUN))
    for trial in plan.trials:
        attempt(trial, law, trial.folder(Path(folder)))


if __name__ == '__main__':
    _main(*sys.argv[1:])
