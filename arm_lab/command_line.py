"""Command lines: the options of a command are a dataclass, which `tyro` fills and describes.

    @dataclass(frozen=True)
    class Options(CommandOptions):
        '''Describe the command; `--help` begins with this text.'''

        recording: Positional[str] = parameter(MISSING, 'recording of joint states')
        laws: tuple[str, ...] = parameter(('pd', 'servo'), 'control laws, separated by commas')
        effort: Effort = field(default_factory=Effort)  # its fields are options as well


    @command(Options)
    def main(options: Options) -> int:
        ...

Descriptions, limits and choices are those of `parameter`.
"""

import contextlib
import io
import re
import shlex
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

import tyro

from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, default_of, parameter
from arm_dynamics.plugin_faults import named_faults
from arm_lab.options import (
    REGISTRY,
    RefusedOptionError,
    UsageError,
    flags_of,
    no_option,
    other_word,
    words_of,
)
from arm_lab.progress import WrittenError, interruptible
from arm_sim.output_folder import writable_folder

# Texts that have a name of their own in the help.
File = Annotated[str, 'FILE']
Folder = Annotated[str, 'FOLDER']
Name = Annotated[str, 'NAME']
Names = Annotated[tuple[str, ...], 'NAME,NAME']


@dataclass(frozen=True)
class CommandOptions(Parameters):
    """Base of a command's options.

    Attributes:
        command: the command line as it was typed.
        folder: of the files that the command writes; None: it writes none.
        stopped: what the command says after Ctrl-C; '': whether its files are lost.
        rest: name of the field that takes every word from the first one that is no option.
    """

    command: ClassVar[str] = ''
    folder: ClassVar[Path | None] = None
    stopped: ClassVar[str] = ''
    rest: ClassVar[str] = ''

    def line(self) -> str:
        """Return the command line that gives these options, without ROS."""
        kind = type(self)
        program = (
            ['-m', 'arm_sim', _name_of(kind)] if kind.__module__ != '__main__' else sys.argv[:1]
        )
        return shlex.join(['python', *program, *words_of(self)])


@dataclass(frozen=True)
class RobotOptions(CommandOptions):
    """Base of the options of a command for one robot."""

    robot: Name = parameter('ur5e', 'name of a robot, or path of its URDF or MJCF file')
    config: File = parameter(
        '', "path of a parameter file, whose values replace those of the robot's files"
    )


OptionsT = TypeVar('OptionsT', bound=CommandOptions)
STOPPED = 130  # exit code after Ctrl-C


@contextmanager
def results_in(options: CommandOptions, name: str) -> Iterator[Path]:
    """Give options the folder of their files; a new one that stays empty goes after an error."""
    is_new = not Path(name).expanduser().exists()
    folder = vars(options)['folder'] = writable_folder(name)
    try:
        yield folder
    except BaseException:
        if is_new:
            with suppress(OSError):  # it has files
                folder.rmdir()
        raise


def _name_of(kind: type[CommandOptions]) -> str:
    """Return the name of a command: that of the module of its options, or of the script."""
    module = kind.__module__.rpartition('.')[2]
    return Path(sys.argv[0]).stem if module == '__main__' else module


def command(
    kind: type[OptionsT], *signals: signal.Signals
) -> Callable[[Callable[[OptionsT], int | None]], Callable[..., int]]:
    """Return a decorator that turns a function of the options into the `main` of a command.

    `main(words)` reads the words of a command line, by default those of this process. The exit
    code is that of the function; 1 after an ArmError; 2 for a command line that cannot be read;
    130 after Ctrl-C or one of `signals`. An error is one line on stderr.
    """

    def decorator(function: Callable[[OptionsT], int | None]) -> Callable[..., int]:
        name = _name_of(kind)

        @wraps(function)
        def main(words: Sequence[str] | None = None) -> int:
            options: CommandOptions | type[CommandOptions] = kind
            is_lost = False
            try:
                with interruptible(*signals), named_faults():
                    options = read(kind, name, words)
                    code = function(options) or 0
            except ArmError as error:
                print(f'{name}: {error}', file=sys.stderr)
                return 2 if isinstance(error, UsageError) else 1
            except KeyboardInterrupt as stop:
                code, writes = STOPPED, {'output', 'output_dir'} & {x.name for x in fields(kind)}
                is_lost = bool(writes) and not isinstance(stop, WrittenError)
            said = options.stopped or 'its results are lost' * is_lost
            if code == STOPPED and said:
                print(f'{name}: stopped; {said}', file=sys.stderr)
            return code

        return main

    return decorator


def read(kind: type[OptionsT], name: str, words: Sequence[str] | None = None) -> OptionsT:
    """Return the options that a command line has.

    Args:
        kind: of the options.
        name: of the command.
        words: of the command line; None: those of this process.

    Raises:
        UsageError: an unknown option, a missing value, or one of another type.
        ArmError: a value that is not allowed.
    """
    given = list(sys.argv[1:] if words is None else words)
    ours = [k for k, word in enumerate(given) if word == '--ros-args']
    if kind.rest and len(ours) == 1 and given[-1] != '--ros-args':
        ours = []  # of the program that `rest` starts
    if ours:  # a launch file appends this to the words of every executable
        given = given[: ours[-1 if kind.rest else 0]]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            options = tyro.cli(
                kind,
                prog=name,
                description=_wrapped(kind.__doc__ or ''),
                args=_separated(kind, given),
                config=(tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes),
                registry=REGISTRY,
            )
    except RefusedOptionError as refused:
        raise refused.reason from None
    except SystemExit as end:
        if end.code:
            raise UsageError(_in_one_line(said.getvalue())) from None
        raise
    for each in fields(options):
        if default_of(each) is MISSING and getattr(options, each.name) == ():
            raise UsageError(f'missing: {each.name.removesuffix("s").upper()}')
    vars(options)['command'] = ' '.join([name, *given])
    return options


def _separated(kind: type[CommandOptions], given: list[str]) -> list[str]:
    """Return the words, with `--` before those for `rest`; refuse unknown options."""
    flags = flags_of(kind) | {'--help': True, '--tyro-write-completion': True}
    is_value = False
    for k, word in enumerate(given):
        option, assigned, value = word.partition('=')
        option = other_word(option.replace('_', '-'), flags)
        if option.startswith('--') and option not in ('--', *flags):
            raise UsageError(str(no_option('option', option, flags)))
        if option in flags:
            given[k] = option + assigned + value
        if kind.rest and not is_value and not word.startswith('-'):
            return [*given[:k], '--', *given[k:]]
        if option == '--':
            break
        is_value = not (flags.get(option, True) or assigned)
    return given


def _wrapped(text: str) -> str:
    """Return a text wrapped for the terminal; tyro keeps lines that begin with a space."""
    width = min(shutil.get_terminal_size().columns, 100)
    return textwrap.fill(
        ' '.join(text.split()), width, initial_indent='  ', subsequent_indent='  '
    )


def _in_one_line(box: str) -> str:
    """Return what tyro says in a box, without its title and its hint at --help."""
    lines = (line.strip('│╭╮╰╯─ ') for line in box.splitlines()[1:])
    said = ' '.join(line for line in lines if line.strip('-'))
    said = said.partition(' For full helptext')[0]
    without = r'no option before: \1; write --NAME VALUE, see --help'
    said = re.sub('^Unrecognized options: (.*)', without, said)
    return re.sub(r'^Missing from \w+:', 'missing:', said).removesuffix(' Expected 1 values.')
