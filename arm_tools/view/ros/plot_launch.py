"""rqt_plot beside an arm's nodes."""

from arm_sim.launching.arguments import switch
from arm_sim.launching.companions import LaunchedArm
from arm_sim.launching.processes import missing, node_process
from arm_tools.view.ros.tools import tool

ARGUMENTS = {
    'graph': {
        'plot': switch('whether rqt_plot shows reference, position and error of the first joint')
    }
}


def processes(arm: LaunchedArm) -> list[object]:
    """Return the node that starts rqt_plot, or a log line where rqt_plot is missing."""
    if arm.given['plot'] != 'true':
        return []
    if tool('rqt_plot') is None:
        return [missing('plot', 'rqt_plot', 'or open the recording in PlotJuggler')]
    return [node_process('plot', [{'controller': arm.server}], arm.space, may_end=True)]
