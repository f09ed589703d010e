"""Make a keystore in which every node may do only what config/security says of its kind.

    ./ws python tools/security.py KEYSTORE [NAMESPACE ...]

Writes KEYSTORE/policy.xml, with an enclave /arm_sim/<node> for each node and /arm_sim/composed
for the process of `composed:=true`, and has `ros2 security` (package sros2) make their keys and
permissions. For arms in namespaces: /arm_sim/<namespace>/<node>, and no node may reach into
another arm's.
"""

import copy
import itertools
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from arm_dynamics.checks import ArmError
from arm_sim.launching.arguments import namespace_of
from arm_sim.registered import OF_MANY, executables, node_of
from arm_tools.driving.presets import PRESETS

ROOT = Path(__file__).resolve().parent.parent
PROFILES = ROOT / 'config' / 'security'
# What may run in one process.
COMPOSED = ('simulator', 'controller', 'inverse_kinematics')


def nodes() -> dict[str, str]:
    """Return the kind of each node that this repository can run, by its name."""
    kinds = {name: node_of(name) for name in executables() if name not in OF_MANY}
    return {name: kind for name, kind in kinds.items() if (PROFILES / f'{kind}.xml').is_file()}


def policy(kinds: dict[str, str], spaces: Sequence[str] = ('',)) -> Element:
    """Return sros2's policy of nodes, given the kind of each, for arms in namespaces."""
    lists = {
        'server': [name for name, kind in kinds.items() if kind in ('simulator', 'controller')],
        'robot': sorted({each.topic() for each in PRESETS.values()}),
    }
    root = Element('policy', version='0.2.0')
    enclaves = SubElement(root, 'enclaves')
    for space, (enclave, nodes) in itertools.product(spaces, processes(kinds).items()):
        path = f'/arm_sim{space}/{enclave}'
        profiles = SubElement(SubElement(enclaves, 'enclave', path=path), 'profiles')
        for name in nodes:
            profile = SubElement(profiles, 'profile', ns=space or '/', node=name)
            for file in ('every_node', kinds[name]):
                for group in ElementTree.parse(PROFILES / f'{file}.xml').getroot():
                    profile.append(_expanded(group, name, lists))
    return root


def processes(kinds: dict[str, str]) -> dict[str, list[str]]:
    """Return the nodes that each enclave is for."""
    composed = [name for name, kind in kinds.items() if kind in COMPOSED]
    return {name: [name] for name in kinds} | {'composed': composed}


def _expanded(group: Element, node: str, lists: dict[str, list[str]]) -> Element:
    """Return a group of names: {node} is the node's own, that of a list stands for each of it."""
    result = Element(group.tag, group.attrib)
    for entry in group:
        many = next((key for key in lists if f'{{{key}}}' in entry.text), '')
        for each in lists.get(many, ['']):
            result.append(copy.copy(entry))
            result[-1].text = entry.text.format(**{'node': node, many: each})
    return result


def main() -> int:
    """Write the policy; have keys and permissions made."""
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    keystore, named = Path(sys.argv[1]), sys.argv[2:] or ['']
    try:
        spaces = [namespace_of({'namespace': name}) for name in named]
    except ArmError as error:
        print(error, file=sys.stderr)
        return 2
    keystore.mkdir(parents=True, exist_ok=True)
    tree = ElementTree.ElementTree(found := policy(nodes(), spaces))
    ElementTree.indent(tree)
    tree.write(keystore / 'policy.xml', encoding='unicode', xml_declaration=True)
    commands = [['create_keystore', keystore]]
    for path in (enclave.attrib['path'] for enclave in found.iter('enclave')):
        commands.append(['create_enclave', keystore, path])
        commands.append(['create_permission', keystore, path, keystore / 'policy.xml'])
    for command in commands:
        if subprocess.run(['ros2', 'security', *command], check=False).returncode:
            print(
                f'{keystore}/policy.xml is written; keys and permissions need `ros2 security`, '
                'which failed: sudo apt install ros-jazzy-sros2',
                file=sys.stderr,
            )
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
