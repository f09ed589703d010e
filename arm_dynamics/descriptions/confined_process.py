"""Confines a process that runs other people's code: a xacro, or the law of a submission.

As a script, `confined_process.py FILE MAPPINGS FOLDER ...`, it runs a xacro and prints
{"urdf": ...} or {"error": ...}, and what was said and asked for. That process opens no socket,
starts no process, signals none, types into no terminal and changes no file, and has limits of time
and memory. Where Linux gives its user namespaces, it sees no other process, no network, nothing of
/run and /tmp but the file and the FOLDERs, and all files read-only. Where the kernel refuses no
calls, no xacro runs. It imports no package before that.
"""

import ctypes
import errno
import io
import json
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr, suppress

_SYS_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1
_LIMITS = {
    resource.RLIMIT_CPU: 60,  # [s]
    resource.RLIMIT_AS: 4 << 30,  # [bytes]
    resource.RLIMIT_FSIZE: 0,  # [bytes]
    resource.RLIMIT_CORE: 0,  # [bytes]
    resource.RLIMIT_NPROC: 0,  # no further process or thread; root is exempt
}
# Other programs have their sockets and passing files here.
_EMPTIED = ('/run', '/tmp', '/var/tmp', '/dev/shm')
_NO_SUID, _NO_DEVICES, _NO_EXEC, _BIND, _REC, _PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_PR_SET_PDEATHSIG = 1
# Numbers of refused system calls: sockets; signals, limits and priorities of others; processes
# (also by pidfd); io_uring; mounts and namespaces, which undo a read-only view; memory and
# messages of System V; files that are made, changed, moved or removed, whatever their attributes;
# keys of the user; what only root may do to the machine: its clock, name, modules, programs, swap.
_ANYWHERE = (424, 425, *range(428, 436), 437, 438, 442, 452)
_ON_X86: tuple[int, ...] = (200, 203, 234, 240, 272, 297, 302, 308, 310, 311)
_ON_X86 += (29, 30, 41, 53, 56, 57, 58, 62, 64, 68, 101, 129, 141, 144, 155, 161, 165, 166)
_ON_X86 += (76, 77, *range(82, 89), *range(90, 95), 132, 133, 188, 189, 190, 197, 198, 199, 235)
_ON_X86 += (*range(258, 262), *range(263, 267), 268, 280, 316, 248, 249, 250)
_ON_X86 += (159, 163, 164, *range(167, 174), 175, 176, 179, 227, 246, 298, 305, 313, 320, 321, 323)
_ON_ARM: tuple[int, ...] = (198, 199, 220, 240, 261, 268, 270, 271)
_ON_ARM += (39, 40, 41, 51, 97, 117, 119, 122, 129, 130, 131, 138, 140, 180, 186, 190, 194, 196)
_ON_ARM += (5, 6, 7, 14, 15, 16, *range(33, 39), 45, 46, 52, 53, 54, 55, 88, 276, 217, 218, 219)
_ON_ARM += (60, 89, 104, 105, 106, 112, 142, 161, 162, 170, 171, 224, 225, 241, 266, 273, 280)
_ON_ARM += (282, 294)
# Of a law: what makes sockets, connects them, or makes mounts and namespaces; signals, where it
# sees the processes of others.
_OF_LAW = {
    'x86_64': (41, 42, 155, 161, 165, 166, 272, 308),
    'aarch64': (198, 203, 39, 40, 41, 51, 97, 268),
}
_SIGNALS = {'x86_64': (62, 129, 200, 234, 297), 'aarch64': (129, 130, 131, 138, 240)}
# For each machine: its number, refused calls, calls that open a file and where their flags are,
# and ioctl, of which these commands are refused: they type into a terminal, or take one.
_TYPING = 0x5412, 0x541C, 0x540E
_REFUSED = {
    'x86_64': (0xC000003E, (*_ON_X86, *_ANYWHERE), ((2, 24), (257, 32)), 16),
    'aarch64': (0xC00000B7, (*_ON_ARM, *_ANYWHERE), ((56, 32),), 29),
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
    return _refuse(*_REFUSED[platform.machine()])


def refuse_calls_of_law(apart: bool) -> None:
    """Let the kernel refuse sockets, mounts, typing into a terminal from now on, where it can.

    `apart`: this process is apart from others, so that it may send signals.
    """
    name = platform.machine()
    if name in _REFUSED:
        numbers, (machine, _, _, ioctl) = (*_OF_LAW[name], *range(425, 431), 442), _REFUSED[name]
        _refuse(machine, numbers if apart else (*numbers, *_SIGNALS[name], 424), (), ioctl)


def _refuse(
    machine: int, numbers: tuple[int, ...], opens: tuple[tuple[int, int], ...], ioctl: int
) -> str:
    code = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    code += [(_ABOVE, 0, 1, 0x40000000), (_RETURN, 0, 0, _KILL)]  # calls of 32 bits
    for number in numbers:
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    for number, flags in opens:
        code += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, flags), (_SET, 0, 1, _WRITES)]
        code += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    code += [(_EQUAL, 0, 1 + 2 * len(_TYPING), ioctl), (_LOAD, 0, 0, 24)]
    for command in _TYPING:
        code += [(_EQUAL, 0, 1, command), (_RETURN, 0, 0, _REFUSE)]
    code.append((_RETURN, 0, 0, _ALLOW))
    program = b''.join(struct.pack('HBBI', *each) for each in code)
    buffer = ctypes.create_string_buffer(program, len(program))
    head = struct.pack('HL', len(code), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.create_string_buffer(head, len(head)), 0, 0):
        return f'prctl: {os.strerror(ctypes.get_errno())}'
    return ''


def continue_apart(kept: Iterable[str], user: int) -> bool:
    """Return in a child process; end this one with it. Return whether the child is apart.

    Apart it sees no other process and no network, and of _EMPTIED only the entries that hold
    files or folders of `kept`; Linux may not allow this.

    Args:
        kept: absolute paths.
        user: os.CLONE_NEWUSER, or 0: as root, who then remains root.
    """
    ids = os.getuid(), os.getgid()
    try:
        flags = os.CLONE_NEWPID | os.CLONE_NEWNS | os.CLONE_NEWNET | os.CLONE_NEWIPC
        os.unshare(user | flags)
        apart = True
    except OSError:
        apart = False
    if apart and user:  # a new file needs an owner
        for name, text in zip(('uid_map', 'gid_map'), ids, strict=True):
            with suppress(OSError):
                if name == 'gid_map':
                    _write('/proc/self/setgroups', 'deny')
                _write(f'/proc/self/{name}', f'{text} {text} 1')
    child = os.fork()
    if child:
        _end_with(child)
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if apart and not libc.mount(None, b'/', None, _REC | _PRIVATE, None):
        forms = {
            form(path) for path in kept if path for form in (os.path.abspath, os.path.realpath)
        }
        for folder in filter(os.path.isdir, _EMPTIED):
            _empty(folder, {each for path in forms if (each := _entry(folder, path))})
        libc.mount(b'proc', b'/proc', b'proc', _NO_SUID | _NO_DEVICES | _NO_EXEC, None)
    return apart


def _write(file: str, text: str) -> None:
    with open(file, 'w') as stream:
        stream.write(text)


def _end_with(child: int) -> None:
    """Wait for a child, and end as it did."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os.kill(child, signal.SIGKILL))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:  # by a signal, which is what there is to say
        with suppress(OSError):  # SIGKILL has no other action
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _entry(folder: str, path: str) -> str:
    """Return the entry of a folder that holds a path, the folder if it is a file; '' for none."""
    if not path.startswith(f'{folder}/'):
        return folder if path == folder else ''
    entry = os.path.join(folder, path[len(folder) + 1 :].partition('/')[0])
    return entry if os.path.isdir(entry) else folder


def _empty(folder: str, kept: set[str]) -> None:
    """Hide all of a folder but entries that are folders; the folder itself: hide nothing."""
    if folder in kept:
        return
    libc, held = ctypes.CDLL(None), {each: os.open(each, os.O_PATH) for each in kept}
    if not libc.mount(b'tmpfs', folder.encode(), b'tmpfs', _NO_SUID | _NO_DEVICES, b'mode=1777'):
        for each, number in held.items():
            os.mkdir(each)
            source = f'/proc/self/fd/{number}'.encode()
            libc.mount(source, each.encode(), None, _BIND | _REC, None)
    for number in held.values():
        os.close(number)


def _confine(kept: Iterable[str]) -> str:
    """Confine this process; return why it is not confined, or ''."""
    if continue_apart(kept, os.CLONE_NEWUSER):
        attributes = (ctypes.c_uint64 * 4)(_READ_ONLY, 0, 0, 0)
        ctypes.CDLL(None).syscall(
            _SYS_MOUNT_SETATTR, _AT_FDCWD, b'/', _AT_RECURSIVE, attributes, 32
        )
    for kind, most in _LIMITS.items():
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))
    return _refuse_calls()


class _Asked(dict[str, str]):
    """Texts by name, and the names that somebody has asked for."""

    def __init__(self, texts: Mapping[str, str]):
        """Take the texts."""
        super().__init__(texts)
        self.names: list[str] = []

    def __contains__(self, name: object) -> bool:
        self.names.append(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.names.append(str(name))
        return super().__getitem__(name)


def _urdf_or_error(file: str, mappings: str) -> dict[str, str]:
    given, environment, said = json.loads(mappings), _Asked(os.environ), io.StringIO()
    arguments = _Asked(given)
    try:
        import xacro

        vars(os)['environ'] = environment  # which remembers what xacro asks for
        with redirect_stderr(said):
            answer = {'urdf': xacro.process_file(file, mappings=arguments).toxml()}
    except (Exception, SystemExit) as error:  # of expressions in the file: any
        answer = {'error': ' '.join(str(error).split()) or type(error).__name__}
        stack = getattr(sys.modules.get('xacro'), 'filestack', None) or ()
        answer['within'] = ''.join(str(each) for each in stack[-1:])  # an included file
        # Arguments that have their defaults, which xacro writes into them.
        left = {name: text for name, text in arguments.items() if name not in json.loads(mappings)}
        answer['left'] = json.dumps(left)
    asked = dict.fromkeys(arguments.names)
    others = {
        'said': said.getvalue(),
        'asked': ' '.join(asked),
        'unused': ' '.join(name for name in given if name not in asked),
        'lacking': ' '.join(set(environment.names).difference(environment)),
    }
    return answer | {name: text for name, text in others.items() if text}


if __name__ == '__main__':
    answer, sys.stdout = sys.stdout, sys.stderr  # what xacro prints is no part of the answer
    file, mappings, *folders = sys.argv[1:]
    imported = [*sys.path, sys.prefix, sys.base_prefix]
    installed = os.environ.get('AMENT_PREFIX_PATH', '').split(':')
    if reason := _confine([file, *folders, *imported, *installed]):
        what = f'xacro is code, which is not confined here ({reason}); give the URDF that it makes'
        json.dump({'error': what}, answer)
    else:
        json.dump(_urdf_or_error(file, mappings), answer)
