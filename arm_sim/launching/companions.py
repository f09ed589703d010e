"""Processes beside an arm's nodes that launch arguments request: page, recorder, tools.

A file `my_thing_launch.py` in a folder `ros` brings one, or several that belong together:

    ARGUMENTS = {'graph': {'my_thing': switch('whether ...')}}  # by their group

    def processes(arm: LaunchedArm) -> list[object]:
        '''Return what the arguments of this arm request.'''

Each launch imports these files, which import nothing that is slow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from arm_sim.launching.arguments import namespace_of
from arm_sim.registered import launches


@dataclass(frozen=True)
class LaunchedArm:
    """An arm whose nodes are launched.

    Attributes:
        given: values of the launch arguments.
        base_frame: of the arm.
        config: parameter file of the arm.
        simulator: parameters of the simulator.
        recorder: whether the argument `record` starts a recorder; a task records itself.
        joints: of the arm, where a gripper controller has the others; empty: all.
    """

    given: Mapping[str, str]
    base_frame: str
    config: str
    simulator: Mapping[str, object]
    recorder: bool
    joints: Sequence[str] = ()

    @property
    def space(self) -> str:
        """The namespace of the nodes, '' or '/left'."""
        return namespace_of(self.given)

    @property
    def table(self) -> dict[str, object]:
        """The table as a parameter, where the arguments have one."""
        return {'table': self.simulator['table']} if self.given['table'] else {}

    @property
    def server(self) -> str:
        """The node that takes goals."""
        law = self.given['controller']
        return 'simulator' if law == 'none' else f'{law}_controller'


def companions(arm: LaunchedArm) -> list[object]:
    """Return the processes that arguments request besides the arm's own nodes."""
    return [each for module in launches() for each in import_module(module).processes(arm)]
