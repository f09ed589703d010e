"""The recorder node: records an arm's messages with any controller and any task."""

import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from arm_controllers.ros.nodes import Node
from arm_controllers.ros.parameters import declare_parameters
from arm_dynamics.parameters import Parameters, parameter
from arm_tools.recording.ros.recorder import Recorder


@dataclass(frozen=True)
class RecorderParameters(Parameters):
    """Parameters of the recorder."""

    record: str = parameter('mcap', 'format of the recording', one_of=('mcap', 'bag'))
    output_dir: str = parameter('recordings', 'folder that receives the recordings')
    rest_period: float = parameter(
        0.0, 'time between recorded states of an arm at rest [s]; 0: every state', min=0, max=10
    )


class RecorderNode(Node):
    """Only subscribes; an error in writing is one log line, and the arm goes on."""

    def __init__(self) -> None:
        """Record from the first state on; each reset begins a new recording."""
        super().__init__('recorder')
        self.parameters = p = declare_parameters(self, RecorderParameters)
        self._folder = Path(p.output_dir).expanduser().absolute()
        self._start = f'{datetime.now():%Y-%m-%d_%H-%M-%S}'
        bag = p.record == 'bag'
        self._recorder = Recorder(self, self._path, bag, rest_period=p.rest_period)

    def _path(self, number: int) -> Path:
        ending = '.mcap' if self.parameters.record == 'mcap' else ''
        return self._folder / f'{self._start}_{number}{ending}'

    def destroy_node(self) -> None:
        """End the recording."""
        self._recorder.close()
        if self._recorder.name:
            print(f'recorder: {self._recorder.name} is in {self._folder}', file=sys.stderr)
        elif not self._recorder.failed:
            print('recorder: nothing is recorded: no joint_states have arrived', file=sys.stderr)
        super().destroy_node()
