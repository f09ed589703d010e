"""The samples in the pages: commands name what there is, code compiles, data can be read."""

import ast
import tomllib
from xml.etree import ElementTree

import pytest
import yaml

pytest.importorskip('rclpy')

from scripts import load_script

samples = load_script('tools/samples.py')
check = load_script('tools/sample_check.py')

READERS = {
    'python': ast.parse,
    'toml': tomllib.loads,
    'xml': ElementTree.fromstring,
    'yaml': yaml.safe_load,
}
EVERY = samples.pages()


@pytest.mark.slow
def test_every_command_names_files_executables_and_arguments_that_there_are():
    found = [each for page in EVERY for each in samples.commands(page)]
    assert len(found) > 150
    faults = {str(each): check.fault(each) for each in found}
    assert {each: message for each, message in faults.items() if message} == {}


def test_a_command_that_goes_on_in_the_next_line_is_one_as_for_a_shell():
    block = samples.Sample('page.md', 5, 'sh', './ws a \\\n    b:=c\n./ws d "{\n  e: 1}"\ntext\n')
    found = [(each.line, each.text) for each in samples._each(block)]
    assert found == [(5, './ws a b:=c'), (7, './ws d "{\n  e: 1}"')]


def test_a_file_that_a_page_names_before_it_shows_it_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr(samples, 'ROOT', tmp_path)
    page = tmp_path / 'page.md'
    page.write_text(
        'By `a.yaml`:\n\n```yaml\nx: 1\n```\n\n`b.yaml` is not:\n\n```yaml\ny: 2\n```\n'
    )
    assert samples.files(page) == {'a.yaml': 'x: 1\n'}


def test_every_block_of_code_can_be_read():
    known = [each for page in EVERY for each in samples.blocks(page) if each.kind in READERS]
    assert {each.kind for each in known} == set(READERS)
    for each in known:
        READERS[each.kind](each.text)


@pytest.mark.parametrize(
    ('command', 'message'),
    [
        ('./ws ros2 launch arm_sim cubes.launch.py', "no launch file 'cubes.launch.py'"),
        ('ros2 launch arm_sim cube.launch.py robots:=ur5e', "has no argument 'robots'"),
        ('ros2 launch arm_sim cube.launch.py mode:=quick', "mode cannot be 'quick'"),
        ('./ws ros2 run arm_sim tunes --law pd', "no executable 'tunes'"),
        (
            './ws ros2 run arm_sim tune --laws pd',
            "unknown option '--laws'; nearest known: '--law'",
        ),
        (
            './ws ros2 run arm_sim render film.mcap --speed fast',
            "--speed is 'fast'; it must be a number",
        ),
        ('./ws ros2 run arm_sim simulator --ros-args -p motor:=ac', "has no parameter 'motor'"),
        ('./ws python benchmarks/cubes.py', "no file 'benchmarks/cubes.py'"),
        ('./ws python benchmarks/soak.py --weeks 1', 'has no option --weeks'),
        ('./ws test test/test_cubes.py', "no file 'test/test_cubes.py'"),
        ('./ws tests', "./ws has no 'tests'"),
        ('ros2 topics echo /clock', "ros2 has no 'topics'"),
        ("./ws ros2 topic pub '/a", 'No closing quotation'),
    ],
)
def test_a_command_with_something_that_there_is_not_is_found(command, message):
    assert message in check.fault(samples.Sample('a.md', 1, 'sh', command))


def test_a_block_in_a_list_is_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(samples, 'ROOT', tmp_path)
    page = tmp_path / 'page.md'
    page.write_text('1. Do\n\n   ```sh\n   ./ws ros2 topic pub /a b "{\n     c: 1}"\n   ```\n')
    (found,) = samples.commands(page)
    assert (found.line, found.kind) == (4, 'sh')
    assert samples.words(found) == ['ros2', 'topic', 'pub', '/a', 'b', '{\n  c: 1}']


def test_commands_are_found_in_blocks_of_each_kind_and_joined_over_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(samples, 'ROOT', tmp_path)
    page = tmp_path / 'page.md'
    page.write_text(
        'Text, `ros2 topic list` in it.\n\n    ./ws ros2 launch arm_sim a.launch.py \\\n'
        '        robot:=b  # why\n    not a command\n\n```sh\ncd somewhere\n'
        './ws ros2 topic pub /a b "{\n  c: [-1]}" [--once]\n```\n'
    )
    found = samples.commands(page)
    assert [each.line for each in found] == [1, 3, 9]
    assert [samples.words(each) for each in found] == [
        ['ros2', 'topic', 'list'],
        ['ros2', 'launch', 'arm_sim', 'a.launch.py', 'robot:=b'],
        ['ros2', 'topic', 'pub', '/a', 'b', '{\n  c: [-1]}', '--once'],
    ]
