"""Parameters of the nodes that show an arm, which launch files describe as well."""

from dataclasses import dataclass

from arm_dynamics.parameters import parameter
from arm_dynamics.surroundings import Surroundings


@dataclass(frozen=True)
class ShownArmParameters(Surroundings):
    """Parameters of a node that shows an arm."""

    tool_frame: str = parameter(
        '', 'link whose path is drawn; empty: the last link of the longest chain'
    )


@dataclass(frozen=True)
class ViewParameters(ShownArmParameters):
    """Parameters of the page's node."""

    view_host: str = parameter('127.0.0.1', "address of the page's server; 0.0.0.0: all networks")
    view_port: int = parameter(
        8080, 'TCP port of the page; the next free one where taken', min=1, max=65535
    )
