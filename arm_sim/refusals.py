"""How a command ends: its exit code, and a line where it cannot do what was asked."""

import sys
from collections.abc import Callable
from functools import wraps

from arm_dynamics.checks import ArmError


def exit_code[**P](main: Callable[P, int | None]) -> Callable[P, int]:
    """Return a command's `main` that returns an exit code, and raises neither of these.

    0, or what it returned; 1 after an ArmError, which is told as `<module>: <reason>`; 130 after
    Ctrl-C.
    """

    @wraps(main)
    def coded(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            return main(*args, **kwargs) or 0
        except ArmError as error:
            print(f'{main.__module__.rpartition(".")[2]}: {error}', file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 130

    return coded
