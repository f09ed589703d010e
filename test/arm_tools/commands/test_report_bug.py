"""A bug report has the recording and the machine's facts, without the home path and host name."""

import json
import zipfile

import pytest
from mcap.reader import make_reader

from arm_tools.commands import report_bug
from arm_tools.recording.mcap_file import McapFile

HOME, HOST = '/home/änna', 'workshop-7'
TEXT = f'file://{HOME}/arm/link.stl, process 7 on {HOST}, {HOME}s/, {HOST}8'


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Return the folder of a recording from a machine with these names."""
    monkeypatch.setenv('HOME', HOME)
    monkeypatch.setattr('socket.gethostname', lambda: f'{HOST}.example')
    monkeypatch.setattr('platform.node', lambda: HOST)
    found = {'ok': True, 'checks': [{'detail': f'{HOME}/.cache'}], 'versions': {'git': HOST}}
    monkeypatch.setattr(report_bug, 'facts', lambda: found)
    file = McapFile(tmp_path / 'cube_output' / 'recording.mcap')
    file.open_channel('/robot_description', 'std_msgs/msg/String', 'string data')
    file.write('/robot_description', TEXT.encode(), 5)
    file.add_metadata('task', {'parameters': json.dumps({'file': f'{HOME}/goal.yaml'})})
    file.close()
    return tmp_path / 'cube_output'


def packed(folder, tmp_path):
    target = tmp_path / 'report.zip'
    assert report_bug.main([str(folder), '--output', str(target)]) == 0
    with zipfile.ZipFile(target) as archive:
        archive.extractall(tmp_path / 'report')
    return tmp_path / 'report'


def test_home_path_and_host_name_do_not_appear_and_all_else_does(recorded, tmp_path):
    report = packed(recorded, tmp_path)
    with (report / 'recording.mcap').open('rb') as stream:
        reader = make_reader(stream)
        ((schema, channel, message),) = reader.iter_messages()
        (metadata,) = reader.iter_metadata()
    assert (schema.name, channel.topic) == ('std_msgs/msg/String', '/robot_description')
    assert (message.log_time, message.sequence) == (5, 1)
    hidden = 'x' * len(HOME.encode())
    assert message.data.decode() == TEXT.replace(f'{HOME}/', f'{hidden}/').replace(
        f'{HOST},', f'{"x" * len(HOST)},'
    )
    assert json.loads(metadata.metadata['parameters'])['file'].endswith('x/goal.yaml')
    doctor = json.loads((report / 'doctor.json').read_text())
    assert doctor['checks'] == [{'detail': f'{hidden}/.cache'}]
    for name in (HOME, json.dumps(HOME)[1:-1], f'{HOST}.', f'"{HOST}"'):
        for part in report.iterdir():
            assert name.encode() not in part.read_bytes()


def test_a_recording_that_a_crash_has_ended_is_packed(recorded, tmp_path):
    file = recorded / 'recording.mcap'
    file.write_bytes(file.read_bytes()[:-40])
    with (packed(recorded, tmp_path) / 'recording.mcap').open('rb') as stream:
        assert len([*make_reader(stream).iter_messages()]) == 1


def test_a_folder_without_a_recording_is_refused_with_what_to_do(tmp_path, capsys):
    assert report_bug.main([str(tmp_path)]) == 1
    assert 'has no .mcap file; a task writes one' in capsys.readouterr().err
