"""What the permission files allow a node to open, and what it has opened."""

import yaml
from rclpy import action
from rclpy.node import Node, NodeNameNonExistentError
from repository import ROOT

from arm_controllers.ros.rclpy_internals import RCLError

TYPES = yaml.safe_load((ROOT / 'tools' / 'interface_types.yaml').read_text())
LOOKS = {
    ('topics', 'publish'): Node.get_publisher_names_and_types_by_node,
    ('topics', 'subscribe'): Node.get_subscriber_names_and_types_by_node,
    ('services', 'reply'): Node.get_service_names_and_types_by_node,
    ('services', 'request'): Node.get_client_names_and_types_by_node,
    ('actions', 'execute'): action.get_action_server_names_and_types_by_node,
    ('actions', 'call'): action.get_action_client_names_and_types_by_node,
}


def full(name, space):
    """Return the full name of what a node in a namespace opens."""
    return name if name.startswith('/') else f'{space}/{name}'


def allowed(policy, name, space):
    """Return (group, right, full name) of all that a node may open."""
    profile = policy.find(f".//enclave[@path='/arm_sim{space}/{name}']/profiles/profile")
    assert profile.get('ns') == space
    return {
        (group.tag, right, full(entry.text.replace('~', name), space))
        for group in profile
        for right in group.attrib
        for entry in group
    }


def typed(name, types):
    """Check the type of an endpoint that the page on interfaces names."""
    assert TYPES.get(name.rpartition('/')[2], *types) in types, name
    return True


def opened(watcher, name, space):
    """Return (group, right, full name) of all that a node has open now."""
    try:
        return {
            (*kind, found)
            for kind, look in LOOKS.items()
            for found, types in look(watcher, name, space)
            if '/_action/' not in found and typed(found, types)
        }
    except (NodeNameNonExistentError, RCLError):  # rclpy.action raises the second one
        return set()
