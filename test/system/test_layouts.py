"""Layouts for PlotJuggler and Foxglove: each field that they name is in our recordings."""

import json
import os
import re
import subprocess
from xml.etree import ElementTree

import pytest
from repository import ROOT

pytest.importorskip('rclpy')

from domains import fresh_domain
from long_wait import LONG_WAIT
from rclpy.serialization import deserialize_message

from arm_tools.readers.recorded_messages import messages_of
from arm_tools.recording.ros.schemas import message_class

CONFIG = ROOT / 'config'


def of_plotjuggler():
    tree = ElementTree.parse(CONFIG / 'plotjuggler.xml')
    return [curve.get('name') for curve in tree.iter('curve')]


def foxglove():
    return json.loads((CONFIG / 'foxglove.json').read_text())


def of_foxglove():
    """Return a path for each topic and each field: a topic has no dot in it."""
    panels = foxglove()['configById']
    plots = [path['value'] for panel in panels.values() for path in panel.get('paths', ())]
    assert all(path.count('.') == 2 for path in plots)
    shapes = [layer['topic'] for layer in panels['3D!arm']['layers'].values() if 'topic' in layer]
    return [*(path.replace('.', '/') for path in plots), *(f'{topic}/data' for topic in shapes)]


def value(message, path):
    """Return the value at a path such as 'error/positions[0]'; KeyError: there is none."""
    for part in path.split('/'):
        name, index = re.fullmatch(r'(\w+)(?:\[(\d+)\])?', part).groups()
        if not hasattr(message, name):
            raise KeyError(path)
        message = getattr(message, name)
        if index is not None:
            if int(index) >= len(message):
                raise KeyError(path)
            message = message[int(index)]
    return message


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """Return a message of each topic that a UR5e under its servo controller left."""
    folder = tmp_path_factory.mktemp('recorded')
    command = ['ros2', 'launch', 'arm_sim', 'task.launch.py', 'controller:=servo', 'task:=step']
    done = subprocess.run(
        [*command, f'output_dir:={folder}'],
        env=os.environ | {'ROS_DOMAIN_ID': fresh_domain()},
        capture_output=True, text=True, timeout=LONG_WAIT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    found = {}
    for topic, kind, _, data in messages_of(folder / 'recording.mcap'):
        found.setdefault(topic, (kind, data))
    return {
        topic: deserialize_message(data, message_class(kind))
        for topic, (kind, data) in found.items()
    }


@pytest.mark.parametrize('named', [of_plotjuggler, of_foxglove])
def test_every_field_that_a_layout_names_is_in_a_recording_of_the_servo_controller(
    recorded, named
):
    paths = named()
    assert len(paths) >= 24
    for path in paths:
        topic = max(
            (each for each in recorded if path.startswith(f'{each}/')), key=len, default=''
        )
        assert topic, path
        assert value(recorded[topic], path.removeprefix(f'{topic}/')) is not None
    with pytest.raises(KeyError):
        value(recorded['/servo_controller/controller_state'], 'error/positions[6]')
    with pytest.raises(KeyError):
        value(recorded['/servo_controller/controller_state'], 'desired/positions[0]')


def test_foxgloves_frame_is_recorded_and_its_panels_are_those_of_its_layout(recorded):
    panel = foxglove()['configById']['3D!arm']
    frames = {
        name
        for topic in ('/tf', '/tf_static')
        for each in recorded[topic].transforms
        for name in (each.header.frame_id, each.child_frame_id)
    }
    assert {panel['fixedFrame'], panel['layers']['floor']['frameId']} <= frames

    def leaves(node):
        if isinstance(node, str):
            return [node]
        return leaves(node['first']) + leaves(node['second'])

    assert sorted(leaves(foxglove()['layout'])) == sorted(foxglove()['configById'])
