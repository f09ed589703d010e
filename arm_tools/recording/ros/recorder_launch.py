"""The recorder beside an arm's nodes; a task records itself."""

from arm_sim.launching.arguments import RECORD, Shared
from arm_sim.launching.companions import LaunchedArm
from arm_sim.launching.processes import node_process

ARGUMENTS = {
    'recording': {
        'record': Shared(
            'true',
            'whether all messages are recorded; true: as an MCAP file, bag: as a rosbag2 folder',
            ['true', 'false', 'bag'],
        )
    }
}
_REST_PERIOD = 0.1  # time between recorded states of an arm at rest [s]


def processes(arm: LaunchedArm) -> list[object]:
    """Return the recorder where requested."""
    if not arm.recorder or arm.given['record'] == 'false':
        return []
    parameters: dict[str, object] = {'record': RECORD[arm.given['record']]}
    if arm.given['mode'] == 'realtime':  # a rerun of a lock-step needs every state
        parameters['rest_period'] = _REST_PERIOD
    return [node_process('recorder', [parameters], arm.space, may_end=True)]
