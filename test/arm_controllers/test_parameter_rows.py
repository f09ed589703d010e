"""Lists in YAML texts: read by libyaml, as PyYAML's own classes read them."""

import time
from dataclasses import dataclass

import pytest
import yaml

from arm_controllers.parameter_file import Loader
from arm_controllers.parameter_rows import read_rows
from arm_dynamics.checks import ArmError
from arm_sim.devices.faults import read_faults
from arm_sim.simulation.scene import read_objects


@dataclass(frozen=True)
class Row:
    name: str = ''
    size: tuple[float, ...] = ()
    mass: float = 0.0


def rows(text):
    return read_rows(Row, text, 'rows', 'row')


def seconds(do, *arguments):
    began = time.process_time()
    do(*arguments)
    return time.process_time() - began


@pytest.mark.slow
def test_thirty_kilobytes_of_objects_are_read_sooner_than_pyyaml_reads_the_text_alone():
    line = '- {{name: b_{}, size: [0.05, 0.05, 0.05], position: [0.5, {:.3f}, 0.025], rotation: '
    line += '[0.0, 0.0, 0.1], colour: [0.1, 0.2, 0.3], mass: 0.2}}\n'
    texts = [''.join(line.format(k, k * 0.1 + i) for k in range(230)) for i in range(3)]
    assert len(texts[0]) > 30_000
    own = min(seconds(read_objects, text) for text in texts)
    assert own < min(seconds(yaml.load, text, Loader) for text in texts)


@pytest.mark.parametrize(
    'text',
    [
        '- {name: a, size: [1e-9, .5, 2], mass: 1e3}\n- {name: b}',
        '- name: "a b"\n  size:\n  - 1\n  - 2.5\n- mass: !!float 3 # heavy',
        "[{name: 'it''s', mass: 0.1}, {name: été, size: 4}]",
        f'- {{name: {"n" * 80}, mass: 1}}',
    ],
)
def test_the_numbers_and_names_are_those_of_the_other_loader(text):
    found = [vars(Row(**row)) for row in yaml.load(text, Loader)]
    for row in found:
        row['size'] = (row['size'],) if isinstance(row['size'], int) else tuple(row['size'])
    assert [vars(row) for row in rows(text)] == found


@pytest.mark.parametrize(
    ('text', 'says'),
    [
        ('- ' * 40_000, 'rows: not YAML: maximum recursion depth'),
        ('- &a {name: x}\n- *a', r'rows: not YAML: an alias \(\*a\), which is not allowed'),
        ('- {mass: ' + '9' * 71 + '}', 'rows: not YAML: a number of more than 70 characters'),
        ('- {name: a', 'rows: not YAML: while parsing a flow mapping'),
        ('# none', 'rows: a list of rows is expected'),
    ],
)
def test_what_is_no_list_or_would_end_the_process_is_refused(text, says):
    with pytest.raises(ArmError, match=says):
        rows(text)


def test_two_values_of_a_key_are_refused_in_every_list():
    with pytest.raises(ArmError, match="^faults, fault 1: two values of 'time': write one$"):
        read_faults('[{kind: frozen_state, time: 1.0, time: 2.0}]')
