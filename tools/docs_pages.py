"""Generated pages of the docs site: interfaces, engines, measured results, the Python API.

A hook of MkDocs (mkdocs.yml); `./ws docs` builds the site.
"""

import dataclasses
import json
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any, get_args, get_origin
from xml.etree import ElementTree

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

import measured  # noqa: E402

from arm_controllers.follower.parameters import FollowerParameters  # noqa: E402
from arm_controllers.laws import law_class, law_names  # noqa: E402
from arm_controllers.parameter_values import (  # noqa: E402
    ParameterField,
    as_ros_value,
    parameter_fields,
)
from arm_controllers.ros.controller_parameters import ControllerParameters  # noqa: E402
from arm_dynamics.model_error import ModelError  # noqa: E402
from arm_sim.registered import node_class, nodes  # noqa: E402
from arm_sim.ros.simulator_setup import SimulatorParameters  # noqa: E402
from arm_sim.ros.task_parameters import TaskNodeParameters  # noqa: E402
from arm_sim.simulation.plant import PlantParameters, engine_names, plant_class  # noqa: E402
from arm_sim.tasks import task_class, task_names  # noqa: E402

PACKAGES = {
    'arm_dynamics': 'The model of an arm: dynamics, kinematics, paths.',
    'arm_controllers': 'Control laws, goals and trajectories, the controller node.',
    'arm_sim': 'The simulated arm: plants, sensors, the loop, tasks, the nodes.',
    'arm_lab': 'Arms measured: comparisons, tuning, judging, certificates, identification.',
    'arm_tools': 'Arms shown, recorded, connected and driven; motions around obstacles.',
}
# Title and launch command of each plant's page; the docstring has equation, source and use.
PLANTS = {
    'mujoco': ('MuJoCo', 'cube.launch.py'),
    'analytical': ('Analytical', 'cube.launch.py engine:=analytical'),
    'motion_model': ('Motion models', 'motion_models.launch.py'),
    'five_joint_arm': ('Five joints with motors', 'pose_hold.launch.py'),
}
# What a node does with an endpoint, by its right in a permission profile.
RIGHTS = {
    'publish': 'publishes', 'subscribe': 'subscribes', 'reply': 'serves', 'request': 'requests',
    'execute': 'executes', 'call': 'calls',
}  # fmt: skip
COMMANDS = re.compile(r'^\n((?: {4}(?:\./ws|ros2|python) .*\n(?: {4}.*\n)*))', re.MULTILINE)
# First words of the paragraphs of a plant's docstring that become sections of its page.
SECTIONS = re.compile(r'^(Equation|Source|When to use it|When not):[ \n](\w?)', re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    pages = {'interfaces.md': interfaces(), 'measured.md': measured.page()}
    pages |= {f'api/{name}.md': api(name) for name in PACKAGES}
    pages |= {f'engines/{name}.md': plant(name) for name in PLANTS}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(text: str, **others: Any) -> str:
    """Show equations, $$ in LaTeX $$, as MathML, and commands as such.

    Browsers draw MathML without a script.
    """
    from latex2mathml.converter import convert

    text = re.sub(r'\$\$(.+?)\$\$', lambda found: convert(found[1].strip(), display='block'), text)
    return COMMANDS.sub(lambda found: f'\n```sh\n{dedent(found[1])}```\n', text)


def on_post_build(config: Any) -> None:
    """Give pages that are opened as files the text of the search's worker."""
    site = Path(config.site_dir)
    (worker,) = site.glob('assets/javascripts/workers/search.*.js')
    script = site / 'iframe-worker-of-files.js'
    text = script.read_text().replace('SEARCH_WORKER', json.dumps(worker.read_text()))
    script.write_text(text)


def plant(name: str) -> str:
    """Return the page of a plant: the docstring of its module, and its own parameters."""
    title, run = PLANTS[name]
    module = f'arm_lab.published.{name}'
    if name in engine_names():
        module = plant_class(name).__module__
    text = import_module(module).__doc__ or ''
    said = SECTIONS.sub(lambda found: f'## {found[1]}\n\n{found[2].upper()}', text)
    parts = [f'# {title}', said, '## Run it', f'    ./ws ros2 launch arm_sim {run}']
    if name in engine_names():
        shared = {each.name for each in dataclasses.fields(PlantParameters)}
        own = parameter_fields(plant_class(name).Parameters)
        more = [field for field in own if field.name not in shared]
        parts += [
            '## Parameters',
            'Parameters of the node `simulator`, in addition to '
            '[those of every plant](../interfaces.md#simulator).',
            table(more),
        ]
    parts.append('[Which engine, when](../engines.md) compares them.')
    return '\n\n'.join(parts) + '\n'


def interfaces() -> str:
    """Return the page on topics, services, actions and parameters of each node."""
    parts = [
        '# Topics, services and parameters',
        'This page is generated from the code and from the permission profiles in '
        '`config/security`, which a test compares with the endpoints of each node. `~/` is the '
        'name of the node. Every node also has the standard services of ROS 2 for parameters '
        'and loggers.',
    ]
    joints = ('<joint>',)
    follower = parameter_fields(FollowerParameters, joint_names=joints)
    known: dict[str, Iterable[ParameterField]] = {
        'simulator': [*parameter_fields(SimulatorParameters), *plants()],
        'controller': [*parameter_fields(ControllerParameters), *follower],
        'task': parameter_fields(TaskNodeParameters),
    }
    for name in nodes():
        if hasattr(node_class(name), 'Parameters'):
            known[name] = parameter_fields(node_class(name).Parameters)
    for node, fields in known.items():
        parts += [f'## {node}', endpoints(node), table(fields)]
    parts += [
        '## Model errors, `model_error.*`',
        'Parameters of every controller, and keys of the launch arguments `model_error` and '
        '`plant_error`.',
        table(parameter_fields(ModelError, 'model_error.')),
    ]
    for law in law_names():
        parts += [f'## {law}_controller', table(parameter_fields(law_class(law).Parameters))]
    for task in task_names():
        parts += [f'## {task}_task', table(parameter_fields(task_class(task).Parameters))]
    return '\n\n'.join(parts) + '\n'


def plants() -> Iterator[ParameterField]:
    """Yield the parameters of all engines, each once."""
    seen = set()
    for engine in engine_names():
        for field in parameter_fields(plant_class(engine).Parameters):
            if field.name not in seen:
                seen.add(field.name)
                yield field


def endpoints(node: str) -> str:
    """Return the table of the endpoints of a kind of node, with their types."""
    types = yaml.safe_load((ROOT / 'tools' / 'interface_types.yaml').read_text())
    rows = ['| | name | type |', '| --- | --- | --- |']
    for group in ElementTree.parse(ROOT / 'config' / 'security' / f'{node}.xml').getroot():
        what = RIGHTS[next(iter(group.attrib))]
        for name in (entry.text or '' for entry in group):
            if '{' not in name:
                last = name if name in types else name.rpartition('/')[2]
                rows.append(f'| {what} | `{name}` | `{types[last]}` |')
    return '\n'.join(rows)


def table(fields: Iterable[ParameterField]) -> str:
    """Return the table of parameters."""
    rows = ['| parameter | type | default | allowed | description |', f'|{" --- |" * 5}']
    for field in fields:
        for name in field.names or [field.name]:
            value = as_ros_value(field.default)
            shown = '' if isinstance(value, type) or field.names else f'`{value!r}`'
            cells = (f'`{name}`', type_of(field.kind), shown, field.allowed, field.description)
            rows.append('| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |')
    return '\n'.join(rows) if len(rows) > 2 else 'No own parameters.'


def type_of(kind: Any) -> str:
    """Return the type of a parameter in ROS for that of its field."""
    item = next(iter(get_args(kind)), kind)
    array = '[]' if get_origin(kind) is tuple else ''
    return {bool: 'bool', int: 'integer', float: 'double', str: 'string'}[item] + array


def api(package: str) -> str:
    """Return the page on the modules of a package that do not import ROS."""
    parts = [f'# {package}', PACKAGES[package]]
    for path in sorted((ROOT / package).rglob('*.py')):
        inside = path.relative_to(ROOT)
        text = path.read_text()
        if path.parent.name in ('ros', 'launching') or '\ndef ' + 'main' in text:
            continue
        names = inside.with_suffix('').parts
        name = '.'.join(names[:-1] if names[-1] == '__init__' else names)
        if '\nclass ' in text or '\ndef ' in text:
            parts.append(f'::: {name}')
    return '\n\n'.join(parts) + '\n'
