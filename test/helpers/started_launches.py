"""What a launch file starts, without starting it."""

import sys

from launch import LaunchContext
from launch.actions import OpaqueFunction
from repository import ROOT
from scripts import load_script


def started(monkeypatch, file, *words):
    """Return what a launch file starts with these words; nothing runs. A refusal is raised."""
    path = ROOT / 'launch' / file
    monkeypatch.setattr(sys, 'argv', ['ros2', 'launch', 'arm_sim', str(path), *words])
    context = LaunchContext(argv=words)
    context.extend_locals({'current_launch_file_path': str(path)})
    context.launch_configurations.update(word.split(':=', 1) for word in words)
    found = []
    for entity in load_script(f'launch/{file}').generate_launch_description().entities:
        made = entity.visit(context)
        found += made or [] if isinstance(entity, OpaqueFunction) else []
    return found
