"""Runs one xacro file: `xacro_process.py FILE MAPPINGS`; prints {"urdf": ...} or {"error": ...}.

xacro is code. This process, where Linux allows it, has no network, sees all files read-only, and
opens no socket, starts no process and signals none; everywhere it writes no file and has limits of
time and memory. It imports no package before that.
"""

import ctypes
import errno
import json
import os
import platform
import resource
import struct
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
# Numbers of refused system calls: sockets; signals, limits and priorities of others; processes
# (also by pidfd); io_uring; mounts and namespaces, which undo a read-only view; memory and
# messages of System V.
_ANYWHERE = (424, 425, *range(428, 436), 438, 442)
_ON_X86: tuple[int, ...] = (200, 203, 234, 240, 272, 297, 302, 308, 310, 311)
_ON_X86 += (29, 30, 41, 53, 56, 57, 58, 62, 64, 68, 101, 129, 141, 144, 155, 161, 165, 166)
_ON_ARM: tuple[int, ...] = (198, 199, 220, 240, 261, 268, 270, 271)
_ON_ARM += (39, 40, 41, 51, 97, 117, 119, 122, 129, 130, 131, 138, 140, 180, 186, 190, 194, 196)
_REFUSED = {
    'x86_64': (0xC000003E, (*_ON_X86, *_ANYWHERE)),
    'aarch64': (0xC00000B7, (*_ON_ARM, *_ANYWHERE)),
}
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_LOAD, _EQUAL, _ABOVE, _RETURN = 0x20, 0x15, 0x35, 0x06  # of the kernel's filter language


def _refuse_calls() -> None:
    """Let the kernel refuse the system calls of _REFUSED from now on."""
    machine, numbers = _REFUSED.get(platform.machine(), (0, ()))
    if not machine:
        return
    code = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    code += [(_ABOVE, 0, 1, 0x40000000), (_RETURN, 0, 0, _KILL)]  # calls of 32 bits
    for number in numbers:
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    code.append((_RETURN, 0, 0, _ALLOW))
    program = b''.join(struct.pack('HBBI', *each) for each in code)
    buffer = ctypes.create_string_buffer(program, len(program))
    head = struct.pack('HL', len(code), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.create_string_buffer(head, len(head)), 0, 0)


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
    _refuse_calls()


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
