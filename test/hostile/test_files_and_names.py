"""Files, names and graphs that mean harm, a row for each kind: none runs, stays or has no end.

Further rows are where the part is tested: faults and resource strings in test_floods.py, processes
of submissions in test_grade.py, sockets and mounts of a xacro in test_robots.py.
"""

import errno
import io
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from optional import optional
from policies import policy_file
from rich.console import Console

from arm_controllers import policy_file as policies_on_disk
from arm_dynamics.checks import ArmError
from arm_dynamics.descriptions import confined_process, mjcf_files
from arm_lab.experiments.report import Listing
from arm_lab.judging import law_trials

ESCAPE = '\x1b]0;taken\x07\x1b[2J'


class Told:
    """An object whose text is a command of the terminal."""

    def __str__(self):
        return ESCAPE

    __repr__ = __str__


class MuteError(Exception):
    """An error without a text."""

    def __str__(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ('error', 'words'),
    [
        (SystemExit(Told()), 'the law ended its process: sys.exit(]0;taken [2J)'),
        (SystemExit(3), 'the law ended its process: sys.exit(3)'),
        (type(f'Bad{ESCAPE}', (Exception,), {})('x'), 'Bad ]0;taken [2J: x'),
        (ValueError(ESCAPE), 'ValueError: ]0;taken [2J'),
        (MuteError(), 'MuteError: (it has no text)'),
    ],
)
def test_no_exception_of_a_law_controls_a_terminal(error, words):
    found = law_trials.words_of(error)
    assert found.isprintable()
    assert found.split() == words.split()


def test_no_file_name_in_a_table_controls_a_terminal():
    name = f'{ESCAPE}|<script>.py'
    listing = Listing(f'grades of {name}', ('file', 'held'), [(name, '1 of 2')])
    shown = io.StringIO()
    Console(file=shown, force_terminal=True, width=200, no_color=True).print(listing.terminal())
    assert 'taken' in shown.getvalue()
    assert '\x1b]' not in shown.getvalue()
    assert '\x1b[2J' not in shown.getvalue()
    for text in (listing.text(), listing.markdown()):
        assert '\x1b' not in text
    assert '<script' not in listing.markdown()


@pytest.mark.parametrize(
    'sizes',
    [
        'nrow="20000" ncol="20000"',
        'nrow="+20000" ncol=" +20000 "',
        "nrow = '20000' ncol\n=\n'20000'",
        'nrow="&#50;0000" ncol="&#x32;0000"',
        'name="a > b" nrow="20000" ncol="20000"',
        'name="&quot; nrow=&quot;0" nrow="20000" ncol="20000"',
    ],
)
def test_a_height_field_of_gigabytes_is_refused_however_its_size_is_written(tmp_path, sizes):
    file = tmp_path / 'wide.xml'
    text = f'<mujoco><asset><hfield {sizes} size="1 1 1 1"/></asset></mujoco>'
    file.write_text(text)
    with pytest.raises(ArmError, match=r'<hfield> has 4e\+08 places; at most 10000000'):
        mjcf_files.read_mjcf(file)


def test_copies_are_counted_however_they_are_written(tmp_path):
    file = tmp_path / 'many.xml'
    body = '<geom size="0.1"/>'
    for count in ('"+50 &#53;0"', "\n= '50'"):
        count = count if '=' in count else f'={count}'
        body = f'<replicate count{count} offset="1 0 0">{body}</replicate>'
    file.write_text(f'<mujoco><worldbody>{body}</worldbody></mujoco>')
    with pytest.raises(ArmError, match='replicates 125000 times; at most 2000'):
        mjcf_files.read_mjcf(file)


CONFINED = """
import json, os, resource, runpy, sys
{before}
def process_file(*_, **__):
    told = []
    for name, call in {calls}.items():
        try:
            eval(call)
            told.append(name)
        except OSError as error:
            assert error.errno in (1, 30), (name, error)
    return type('D', (), {{'toxml': lambda self: str(told)}})()
sys.modules['xacro'] = type(sys)('xacro')
sys.modules['xacro'].process_file = process_file
sys.argv = ['x', 'x', '{{}}', {folder!r}]
runpy.run_path({script!r}, run_name='__main__')
"""


# Its session's keyring, by the number of keyctl.
KEYS = '__import__("ctypes").CDLL(None).syscall('
KEYS += f'{219 if platform.machine() == "aarch64" else 250}, 0, -3, 1)'


def confined(tmp_path, before):
    """Return what a xacro does to files in its process, where Linux gives no namespaces."""
    kept, script = tmp_path / 'kept', Path(confined_process.__file__)
    kept.write_text('mine')
    calls = {
        'read': f'open({str(kept)!r}).read()',
        'write': f'open({str(kept)!r}, "w")',
        'append': f'open({str(kept)!r}, "a")',
        'make': f'open({str(tmp_path / "new")!r}, "x")',
        'remove': f'os.unlink({str(kept)!r})',
        'move': f'os.rename({str(kept)!r}, {str(tmp_path / "moved")!r})',
        'cut': f'os.truncate({str(kept)!r}, 0)',
        'open to all': f'os.chmod({str(kept)!r}, 0o777)',
        'folder': f'os.mkdir({str(tmp_path / "folder")!r})',
        'link': f'os.symlink("/", {str(tmp_path / "link")!r})',
        'type into a terminal': '__import__("fcntl").ioctl(0, 0x5412, b"x")',
        'keys': f'{KEYS} < 0 and open({str(kept)!r}, "w")',
    }
    code = CONFINED.format(before=before, calls=calls, script=str(script), folder=str(tmp_path))
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.stdout, done.stderr
    assert kept.read_text() == 'mine'
    assert [each.name for each in tmp_path.iterdir()] == ['kept']
    return done.stdout


NO_NAMESPACES = 'def refuse(*_): raise PermissionError(1, "no")\nos.unshare = refuse\n'


@pytest.mark.parametrize('before', ['', NO_NAMESPACES])
def test_a_xacro_changes_no_file_with_or_without_namespaces(tmp_path, before):
    assert confined(tmp_path, before) == '{"urdf": "[\'read\']"}'


TERMINAL = """
import os, pathlib, pty, sys, types
child, terminal = pty.fork()
if child:
    while True:
        try:
            sys.stdout.write(os.read(terminal, 1000).decode())
        except OSError:
            sys.exit()
os.open('/dev/tty', os.O_RDONLY)  # this process has one
from arm_dynamics.descriptions.xacro_files import urdf_of_xacro
print('URDF', urdf_of_xacro(pathlib.Path({file!r})))
"""
XACRO = """
import os
def process_file(*_, **__):
    try:
        os.open('/dev/tty', os.O_RDONLY)
        text = 'it has a terminal'
    except OSError as error:
        text = str(error.errno)
    return type('D', (), {'toxml': lambda self: text})()
"""


def test_a_xacro_has_no_terminal(tmp_path, monkeypatch):
    (tmp_path / 'xacro.py').write_text(XACRO)
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    code = TERMINAL.format(file=str(tmp_path / 'arm.xacro'))
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60)
    assert f'URDF {errno.ENXIO}' in done.stdout, done.stdout + done.stderr


def test_no_xacro_runs_where_the_kernel_refuses_no_calls(tmp_path):
    before = f'{NO_NAMESPACES}import platform\nplatform.machine = lambda: "riscv64"'
    assert 'xacro is code, which is not confined here (calls of' in confined(tmp_path, before)


def test_a_later_inference_that_has_no_end_is_ended(tmp_path, monkeypatch):
    optional('onnx', 'onnx>=1.17')
    import onnx
    from onnx import helper

    _, layout = policy_file(tmp_path / 'policy.onnx')
    number, whole, truth = (getattr(onnx.TensorProto, x) for x in ('FLOAT', 'INT64', 'BOOL'))

    def value(name, kind, shape=()):
        return helper.make_tensor_value_info(name, kind, shape)

    body = helper.make_graph(
        [
            helper.make_node('Identity', ['go'], ['goes']),
            helper.make_node('Cos', ['v'], ['next']),
        ],
        'body',
        [value('k', whole), value('go', truth), value('v', number)],
        [value('goes', truth), value('next', number)],
    )
    nodes = [  # repeated 1e12 times for an observation beyond two
        helper.make_node('Constant', [], ['i'], value_ints=[0, 1, 2]),
        helper.make_node('Constant', [], ['many'], value_float=1e12),
        helper.make_node('Constant', [], ['v0'], value_float=1.0),
        helper.make_node('Constant', [], ['yes'], value=helper.make_tensor('', truth, [], [1])),
        helper.make_node('Abs', ['x'], ['a']),
        helper.make_node('ReduceMax', ['a'], ['most'], keepdims=0),
        helper.make_node('Constant', [], ['two'], value_float=2.0),
        helper.make_node('Sub', ['most', 'two'], ['above']),
        helper.make_node('Relu', ['above'], ['over']),
        helper.make_node('Mul', ['over', 'many'], ['times']),
        helper.make_node('Cast', ['times'], ['count'], to=whole),
        helper.make_node('Loop', ['count', 'yes', 'v0'], ['end'], body=body),
        helper.make_node('Gather', ['x', 'i'], ['some'], axis=1),
        helper.make_node('Mul', ['some', 'end'], ['y']),
    ]
    shapes = [value('x', number, ['n', layout.size])], [value('y', number, ['n', 3])]
    graph = helper.make_graph(nodes, 'g', *shapes)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    helper.set_model_props(model, {'arm_sim': layout.text()})
    path = tmp_path / 'later.onnx'
    onnx.save(model, str(path))
    monkeypatch.setattr(policies_on_disk, 'LONGEST_RUN', 0.2)
    file = policies_on_disk.PolicyFile(str(path))
    assert (file(np.zeros(layout.size)) == 0.0).all()
    with pytest.raises(ArmError, match=r'its actions take more than 0\.2 s') as error:
        file(np.full(layout.size, 3.0))
    assert '\n' not in str(error.value)


def test_a_launch_leaves_no_parameter_file_in_the_temporary_folder(tmp_path):
    pytest.importorskip('launch_ros')
    code = """
from launch import LaunchContext, LaunchDescription, LaunchService
from launch_ros.actions import Node
from pathlib import Path
import sys
from arm_sim.launching.arguments import description
def nodes(given):
    node = Node(package='arm_sim', executable='doctor', parameters=[{'a': 1.0}])
    node._perform_substitutions(LaunchContext())
    print([each.name for each in Path(sys.argv[1]).rglob('launch_params_*')])
    return []
service = LaunchService()
service.include_launch_description(description((), nodes)())
raise SystemExit(service.run())
"""
    done = subprocess.run(
        [sys.executable, '-c', code, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, 'TMPDIR': str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert 'launch_params_' in done.stdout
    assert not list(tmp_path.rglob('launch_params_*'))
