"""Runs one xacro file: `xacro_process.py FILE MAPPINGS`; prints {"urdf": ...} or {"error": ...}.

xacro is code. This process, where Linux allows it, has no network and sees all files read-only;
everywhere it writes no file and has limits of time and memory. It imports no package before that.
"""

import ctypes
import json
import os
import resource
import sys
from contextlib import suppress

_SYS_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1
_LIMITS = {
    resource.RLIMIT_CPU: 60,  # [s]
    resource.RLIMIT_AS: 4 << 30,  # [bytes]
    resource.RLIMIT_FSIZE: 0,  # [bytes]
    resource.RLIMIT_CORE: 0,  # [bytes]
    resource.RLIMIT_NPROC: 0,  # no further process or thread; root is exempt
}


def _confine() -> None:
    with suppress(OSError):
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNS | os.CLONE_NEWNET)
        attributes = (ctypes.c_uint64 * 4)(_READ_ONLY, 0, 0, 0)
        ctypes.CDLL(None).syscall(
            _SYS_MOUNT_SETATTR, _AT_FDCWD, b'/', _AT_RECURSIVE, attributes, 32
        )
    for kind, most in _LIMITS.items():
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))


def _urdf_or_error(file: str, mappings: str) -> dict[str, str]:
    try:
        import xacro

        return {'urdf': xacro.process_file(file, mappings=json.loads(mappings)).toxml()}
    except (Exception, SystemExit) as error:  # of expressions in the file: any
        return {'error': ' '.join(str(error).split()) or type(error).__name__}


if __name__ == '__main__':
    answer, sys.stdout = sys.stdout, sys.stderr  # what xacro prints is no part of the answer
    _confine()
    json.dump(_urdf_or_error(*sys.argv[1:]), answer)
