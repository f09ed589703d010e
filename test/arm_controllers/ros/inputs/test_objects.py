"""Objects that a controller takes, or does not take in real time; when goals are checked again."""

from types import SimpleNamespace

import numpy as np
import pytest

from arm_controllers.ros.inputs.objects import ObjectsInput, too_large
from arm_controllers.ros.object_messages import ObjectMessages
from arm_dynamics.checks import ArmError
from arm_dynamics.object_shapes import ObjectShape


class Taken:
    """An ObjectsInput in real time, with what it does to a node and a follower."""

    def __init__(self):
        self.again, self.updates, log = 0, [], SimpleNamespace(warning=lambda text: None)
        self.check = SimpleNamespace(least=0.01, look=None, update=self.update)
        node = SimpleNamespace(get_logger=lambda: log, create_subscription=self.subscribe)
        follower = SimpleNamespace(check=self.check, check_again=self.check_again)
        self.input = ObjectsInput(node, follower, True)

    def subscribe(self, kind, topic, send, *_, **__):
        self.send = send

    def update(self, shapes):
        self.updates.append(shapes)
        return False

    def check_again(self):
        self.again += 1
        return iter(())


def shape(kind, file):
    pose = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    return ObjectShape('cup', kind, (1.0, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0), str(file), pose)


@pytest.fixture
def meshes(tmp_path):
    small, large = tmp_path / 'small.stl', tmp_path / 'large.stl'
    small.write_bytes(bytes(1000))
    large.write_bytes(bytes(2_000_000))
    return small, large


def test_a_mesh_that_would_hold_a_cycle_is_named_with_its_size(meshes, tmp_path):
    small, large = meshes
    fit = [shape('mesh', small), shape('mesh', tmp_path / 'none.stl'), shape('box', large)]
    assert too_large(fit) == ''
    expected = f"object 'cup': mesh {large} has 2 MB; allowed in real time: 0.5 MB"
    assert too_large([*fit, shape('mesh', large)]).startswith(expected)


def test_goals_are_refused_while_a_mesh_is_too_large(meshes):
    taken = Taken()
    for file, count in zip(reversed(meshes), (0, 1), strict=True):
        objects = ObjectMessages((shape('mesh', file),), (), 'base_link')
        taken.send(objects.at(np.empty((0, 7)), 0))
        if count == 0:
            with pytest.raises(ArmError, match='has 2 MB; allowed in real time: 0.5 MB'):
                taken.check.look()
        else:
            taken.check.look()
        assert len(taken.updates) == count


def test_a_new_clearance_has_a_running_goal_checked_again():
    taken = Taken()
    taken.input.after_cycle(0)
    assert taken.again == 0
    taken.check.least = 0.05
    for time_ns in (200_000_000, 400_000_000):
        taken.input.after_cycle(time_ns)
    assert taken.again == 1
