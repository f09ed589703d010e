"""Recordings of a plant's start state and inputs, and their replay by the analytical plant.

A recording is a NumPy archive (.npz): the arm's URDF, the plant's parameters, the start state,
every command, every wrench, and the end state. A replay needs nothing else, and ends in the same
bits. An archive's directory stands at its end and each part has a checksum, so that a file
that is cut off or damaged is refused.
"""

import json
import zipfile
import zlib
from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import ARM_PARAMETERS, RobotModel
from arm_sim.output_folder import whole_file
from arm_sim.plants.analytical_plant import AnalyticalParameters, AnalyticalPlant

_FORMAT = 'arm_sim inputs 2'
_PARTS = (
    'urdf', 'tip_frame', *ARM_PARAMETERS, 'parameters', 'start_state', 'commands',
    'wrench_step', 'wrench_frame', 'wrench', 'end_state',
)  # fmt: skip


class RecordedPlant(AnalyticalPlant):
    """An analytical plant that remembers what it was given since its last reset."""

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to state q, v; the recording starts anew."""
        super().reset(q, v)
        self._start_state = self.state.copy()
        self._commands: list[Array] = []
        self._pushes: list[tuple[int, str, Array]] = []

    def act(self, command: Array) -> None:
        """Hold `command` (n,) over one control period, and note it."""
        self._commands.append(np.array(command, dtype=float))
        super().act(command)

    def apply_wrench(self, frame: str, wrench: ArrayLike) -> None:
        """Push on a frame, and note it."""
        super().apply_wrench(frame, wrench)
        self._pushes.append((len(self._commands), frame, np.array(wrench, dtype=float)))

    def save(self, path: str | Path) -> None:
        """Write the recording. Raises ArmError where that is not possible."""
        model = self._model
        content: dict[str, Any] = {
            'format': _FORMAT,
            'urdf': model.urdf,
            'tip_frame': model.tip_frame,
            **{name: getattr(model, name) for name in ARM_PARAMETERS},
            'parameters': json.dumps(asdict(self.parameters)),
            'start_state': self._start_state,
            'commands': np.array(self._commands).reshape(-1, model.nv),
            'wrench_step': np.array([step for step, _, _ in self._pushes], dtype=np.int64),
            'wrench_frame': np.array([frame for _, frame, _ in self._pushes], dtype=str),
            'wrench': np.array([wrench for _, _, wrench in self._pushes]).reshape(-1, 6),
            'end_state': self.state,
        }
        with whole_file(path) as file:
            np.savez_compressed(file, allow_pickle=False, **content)


class InputRecording:
    """What a recording file holds.

    Attributes:
        model: the arm.
        parameters: the plant's.
        start_state, end_state: as arm_dynamics.ForwardModel takes them.
        commands: (periods, n), one row per control period.
        wrenches: (period from which on, frame, (6,) wrench).
    """

    def __init__(self, path: str | Path):
        """Read a file; one that is missing, no recording, cut off or damaged is refused."""
        try:
            with np.load(Path(path).expanduser(), allow_pickle=False) as archive:
                parts = {name: archive[name] for name in archive.files}
        except OSError as error:
            raise ArmError(f'cannot read the recording {str(path)!r}: {error}') from None
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError):
            raise ArmError(
                f'{str(path)!r} is not a recording of inputs, or it is cut off or damaged'
            ) from None
        if str(parts.get('format')) != _FORMAT:
            raise ArmError(f'{str(path)!r} is not a recording of format {_FORMAT!r}')
        missing = [name for name in _PARTS if name not in parts]
        if missing:
            raise ArmError(f'{str(path)!r} lacks {", ".join(missing)} of a recording of inputs')
        beside = {name: parts[name] for name in ARM_PARAMETERS}
        self.model = RobotModel(str(parts['urdf']), str(parts['tip_frame']), **beside)
        self.parameters = read_fields(AnalyticalParameters, json.loads(str(parts['parameters'])))
        self.start_state, self.end_state = parts['start_state'], parts['end_state']
        self.commands: Array = parts['commands']
        steps, frames = parts['wrench_step'].tolist(), parts['wrench_frame'].tolist()
        self.wrenches = list(zip(steps, frames, parts['wrench'], strict=True))

    def check_arm(self, model: RobotModel) -> None:
        """Raise ArmError unless the recording is of `model`."""
        if self.model.name != model.name or self.model.joint_names != model.joint_names:
            raise ArmError(
                f'the recording is of {self.model.name!r} (joints '
                f'{", ".join(self.model.joint_names)}), not of {model.name!r}'
            )
        if self.model.urdf != model.urdf:
            raise ArmError(f'the recording is of another version of {model.name!r}: URDFs differ')

    def replay(self) -> Array:
        """Return the end state that is reached from the file alone."""
        plant = AnalyticalPlant(self.model, self.parameters)
        plant.state[:] = self.start_state
        waiting = deque(self.wrenches)
        for period, command in enumerate(self.commands):
            while waiting and waiting[0][0] <= period:
                plant.apply_wrench(*waiting.popleft()[1:])
            plant.act(command)  # what acted on the joints, whatever the drives had added
        return plant.state
