"""The nodes that move the tip, beside an arm's nodes."""

from arm_sim.launching.arguments import switch
from arm_sim.launching.companions import LaunchedArm
from arm_sim.launching.processes import node_process
from arm_sim.ros.config import robot_parameter

_NODES = {
    'tip_servo': switch(
        'whether the node tip_servo moves the tip by streams of twists and poses, on the '
        'topics ~/delta_twist_cmds and ~/pose_target_cmds'
    ),
    'linear_move': switch(
        'whether a node offers the action linear_move: straight lines of the tip'
    ),
    'plan_motion': switch(
        'whether a node offers the action plan_motion: motions around the objects of a scene'
    ),
}
ARGUMENTS = {'robot and control': _NODES}


def processes(arm: LaunchedArm) -> list[object]:
    """Return the nodes that are requested."""
    own: dict[str, object] = {
        'robot': robot_parameter(arm.given['robot']),
        'controller': arm.server,
    }
    if arm.joints:
        own['joints'] = list(arm.joints)
    found = []
    for name in (name for name in _NODES if arm.given[name] == 'true'):
        parameters = own | arm.table if name == 'plan_motion' else own
        found.append(node_process(name, [arm.config, parameters], arm.space, may_end=True))
    return found
