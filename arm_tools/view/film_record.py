"""A record of the loop as a film: below the cell of a notebook, or in a file."""

from base64 import b64encode
from contextlib import closing
from pathlib import Path

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape, ShapePoses
from arm_dynamics.surroundings import Surroundings
from arm_lab.progress import new_console
from arm_sim.loop.record import Record
from arm_sim.notebook import display, in_notebook
from arm_sim.simulation.plant import Plant
from arm_tools.view.camera import View
from arm_tools.view.film import Film, film_times, write_film
from arm_tools.view.recorded_motion import RecordedMotion
from arm_tools.view.shown_objects import RecordedObjects


class _ShownFilm:
    """A film as a notebook shows it."""

    def __init__(self, path: Path):
        self._path = path

    def _repr_html_(self) -> str:
        kind = 'video/mp4' if self._path.suffix == '.mp4' else f'image/{self._path.suffix[1:]}'
        data = f'data:{kind};base64,{b64encode(self._path.read_bytes()).decode()}'
        video = f'<video controls autoplay loop src="{data}"></video>'
        return video if 'video' in kind else f'<img src="{data}">'


def film_record(
    model: RobotModel,
    plant: Plant,
    record: Record,
    path: Path,
    title: str,
    own: Surroundings,
    size: tuple[int, int],
    speed: float,
    view: View | None = None,
) -> None:
    """Film a record: in a notebook shown below the cell, else in a file.

    Args:
        model, plant: of the record.
        record: of one arm.
        path: ends in .gif, .mp4 or .png.
        title: of the film.
        own: floor and table.
        size, speed: as for `RunReport.film`.
        view: the camera's View; None: its default.

    Raises:
        ArmError: no OpenGL on this machine, or a file that cannot be written.
    """
    duration = float(record.t[-1])
    times = film_times(path, 0.0, duration, speed or max(1.0, duration / 4.0))
    motion = RecordedMotion.of(model, record.t, record.q, record.t, record.q_reference, record.q)
    objects = RecordedObjects(*_objects(plant, record, times))
    given = model, own, motion, times, view or View(), size, title, objects
    with closing(Film(*given)) as film:
        write_film(path, [film], size, new_console())
    if in_notebook():
        display(_ShownFilm(path))
    else:
        print(f'wrote {path}')


def _objects(
    plant: Plant, record: Record, times: Array
) -> tuple[list[float], list[list[ObjectShape]]]:
    """Return times [s] and the shapes of the objects at each."""
    if not plant.scene.shapes:
        return [], []
    places = ShapePoses(plant.scene.shapes, plant.scene.objects)
    rows = np.minimum(np.searchsorted(record.t, times), len(record.objects) - 1)
    poses = [places.at(record.objects[row]) for row in rows]  # one row where no object moves
    return list(times), [
        [
            shape._replace(pose=tuple(pose))
            for shape, pose in zip(plant.scene.shapes, each, strict=True)
        ]
        for each in poses
    ]
