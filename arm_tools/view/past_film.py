"""A film of what an arm did in the last minute, drawn while the page goes on."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from threading import Thread

import numpy as np
from rich.console import Console

from arm_dynamics.checks import ArmError, typed
from arm_dynamics.model import RobotModel
from arm_dynamics.surroundings import Surroundings
from arm_tools.view.camera import View
from arm_tools.view.film import Film, film_times, write_film
from arm_tools.view.film_files import ffmpeg
from arm_tools.view.monitor import Moment
from arm_tools.view.recorded_motion import RecordedMotion
from arm_tools.view.shown_objects import RecordedObjects

SIZE = 640, 480  # [pixels]
SPEED = 3.0  # simulated seconds per second: a minute is not too long to draw and to see
NEEDS = f'GIF: an MP4 needs "{typed("pip install imageio-ffmpeg")}"'


def film_past(
    model: RobotModel,
    surroundings: Surroundings,
    past: Sequence[Moment],
    path: Path,
    size: tuple[int, int] = SIZE,
) -> None:
    """Write a film of moments, SPEED times as fast as simulated time, in `size` [pixels].

    Raises:
        ArmError: too few moments, no OpenGL, or a file that cannot be written.
    """
    if len(past) < 2:
        raise ArmError('there is no motion yet')
    known = [moment for moment in past if moment.reference is not None]
    at = np.array([moment.t for moment in known])
    reference, measured = (
        np.array(rows, dtype=float).reshape(-1, model.nv)
        for rows in ([moment.reference for moment in known], [moment.q for moment in known])
    )
    t, q = (np.array([moment[k] for moment in past]) for k in (0, 1))
    motion = RecordedMotion.of(model, t, q, at, reference, measured)
    objects = RecordedObjects(t.tolist(), [moment.objects for moment in past])
    times = film_times(path, t[0], t[-1], SPEED)
    given = model, surroundings, motion, times, View(), size, model.name, objects
    with closing(Film(*given)) as film:
        write_film(path, [film], size, Console(quiet=True))


class PastFilm:
    """Draws films of the past, one at a time.

    Attributes:
        thread: in which the newest film is drawn; None before the first.
    """

    def __init__(self, model: RobotModel, surroundings: Surroundings):
        """Begin without a film."""
        self._given = model, surroundings
        self.thread: Thread | None = None

    def start(
        self, past: Sequence[Moment], path: Path, done: Callable[[Path | ArmError], None]
    ) -> None:
        """Begin to draw moments into a file; `done` is called in the thread: the file, or why not.

        Raises:
            ArmError: another film is being drawn.
        """
        if self.thread is not None and self.thread.is_alive():
            raise ArmError('the last film is still being drawn')

        def draw() -> None:
            try:
                film_past(*self._given, past, path)
                done(path)
            except ArmError as error:
                done(error)

        self.thread = Thread(target=draw, daemon=True)
        self.thread.start()


def film_file(folder: Path) -> Path:
    """Return the first free name in a folder: an MP4 where ffmpeg is installed, else a GIF."""
    end = 'mp4' if ffmpeg() else 'gif'
    numbers = (path.stem.rpartition('_')[2] for path in folder.glob('film_*.*'))
    last = max((int(number) for number in numbers if number.isdecimal()), default=0)
    return folder.absolute() / f'film_{last + 1}.{end}'
