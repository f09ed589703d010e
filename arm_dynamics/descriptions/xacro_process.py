"""Runs one xacro file: `xacro_process.py FILE MAPPINGS`; prints {"urdf": ...} or {"error": ...}.

xacro is code. This process opens no socket, starts no process, signals none and changes no file,
and has limits of time and memory; where Linux gives its user namespaces, it has no network and a
read-only view of all files as well. Where the kernel refuses no calls, no xacro runs. It imports
no package before that.
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
# messages of System V; files that are made, changed, moved or removed, whatever their attributes.
_ANYWHERE = (424, 425, *range(428, 436), 437, 438, 442, 452)
_ON_X86: tuple[int, ...] = (200, 203, 234, 240, 272, 297, 302, 308, 310, 311)
_ON_X86 += (29, 30, 41, 53, 56, 57, 58, 62, 64, 68, 101, 129, 141, 144, 155, 161, 165, 166)
_ON_X86 += (76, 77, *range(82, 89), *range(90, 95), 132, 133, 188, 189, 190, 197, 198, 199, 235)
_ON_X86 += (*range(258, 262), *range(263, 267), 268, 280, 316)
_ON_ARM: tuple[int, ...] = (198, 199, 220, 240, 261, 268, 270, 271)
_ON_ARM += (39, 40, 41, 51, 97, 117, 119, 122, 129, 130, 131, 138, 140, 180, 186, 190, 194, 196)
_ON_ARM += (5, 6, 7, 14, 15, 16, *range(33, 39), 45, 46, 52, 53, 54, 55, 88, 276)
# For each machine: its number, refused calls, calls that open a file and where their flags are.
_REFUSED = {
    'x86_64': (0xC000003E, (*_ON_X86, *_ANYWHERE), ((2, 24), (257, 32))),
    'aarch64': (0xC00000B7, (*_ON_ARM, *_ANYWHERE), ((56, 32),)),
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
# Of the kernel's filter language.
_LOAD, _EQUAL, _ABOVE, _SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06


def _refuse_calls() -> str:
    """Let the kernel refuse the calls of _REFUSED from now on; return why it does not, or ''."""
    if platform.machine() not in _REFUSED:
        return f'calls of {platform.machine()!r} are not known'
    machine, numbers, opens = _REFUSED[platform.machine()]
    code = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    code += [(_ABOVE, 0, 1, 0x40000000), (_RETURN, 0, 0, _KILL)]  # calls of 32 bits
    for number in numbers:
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    for number, flags in opens:
        code += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, flags), (_SET, 0, 1, _WRITES)]
        code += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    code.append((_RETURN, 0, 0, _ALLOW))
    program = b''.join(struct.pack('HBBI', *each) for each in code)
    buffer = ctypes.create_string_buffer(program, len(program))
    head = struct.pack('HL', len(code), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.create_string_buffer(head, len(head)), 0, 0):
        return f'prctl: {os.strerror(ctypes.get_errno())}'
    return ''


def _confine() -> str:
    """Confine this process; return why it is not confined, or ''."""
    with suppress(OSError):
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNS | os.CLONE_NEWNET)
        attributes = (ctypes.c_uint64 * 4)(_READ_ONLY, 0, 0, 0)
        ctypes.CDLL(None).syscall(
            _SYS_MOUNT_SETATTR, _AT_FDCWD, b'/', _AT_RECURSIVE, attributes, 32
        )
    for kind, most in _LIMITS.items():
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))
    return _refuse_calls()


def _urdf_or_error(file: str, mappings: str) -> dict[str, str]:
    try:
        import xacro

        return {'urdf': xacro.process_file(file, mappings=json.loads(mappings)).toxml()}
    except (Exception, SystemExit) as error:  # of expressions in the file: any
        return {'error': ' '.join(str(error).split()) or type(error).__name__}


if __name__ == '__main__':
    answer, sys.stdout = sys.stdout, sys.stderr  # what xacro prints is no part of the answer
    if reason := _confine():
        what = f'xacro is code, which is not confined here ({reason}); give the URDF that it makes'
        json.dump({'error': what}, answer)
    else:
        json.dump(_urdf_or_error(*sys.argv[1:]), answer)
