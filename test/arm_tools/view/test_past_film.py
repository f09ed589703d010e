"""A film of the last minute: its pictures, its file, and what cannot be filmed."""

import numpy as np
import pytest
from PIL import Image

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import find_urdf
from arm_dynamics.surroundings import Surroundings
from arm_tools.view import offscreen, past_film
from arm_tools.view.monitor import Moment

ARM = RobotModel.from_urdf(find_urdf('planar_3r'))


def moments(seconds):
    """Return moments every 0.1 s of a turning arm; those of the first half have no reference."""
    for t in np.arange(0.0, seconds + 0.05, 0.1):
        q = np.array([t, 0.4, 0.4])
        yield Moment(t, q, q + 0.01 if t > seconds / 2 else None, 0.0, ())


def test_the_film_has_the_pictures_of_its_seconds_and_the_arm_moves(tmp_path):
    path, past = tmp_path / 'film.gif', tuple(moments(1.2))
    if all(offscreen.why_not(library) for library in offscreen.BACKENDS):
        with pytest.raises(ArmError, match='no OpenGL'):
            past_film.film_past(ARM, Surroundings(), past, path, (160, 120))
        return
    past_film.film_past(ARM, Surroundings(), past, path, (160, 120))
    gif = Image.open(path)
    assert (gif.n_frames, gif.size) == (6, (160, 120))  # 12.5 per second, and the first
    first = np.asarray(gif.convert('RGB'))
    gif.seek(5)
    assert (np.asarray(gif.convert('RGB')) != first).any(axis=-1).mean() > 0.02


def test_what_cannot_be_filmed_is_said_and_another_film_waits(tmp_path):
    answers = []
    film = past_film.PastFilm(ARM, Surroundings())
    film.start((), tmp_path / 'a.gif', answers.append)
    film.thread.join()
    assert str(answers[0]) == 'there is no motion yet'
    film.thread = type('Busy', (), {'is_alive': lambda self: True})()
    with pytest.raises(ArmError, match='still being drawn'):
        film.start((), tmp_path / 'b.gif', answers.append)


def test_a_film_gets_a_name_that_is_free(tmp_path, monkeypatch):
    monkeypatch.setattr(past_film, 'ffmpeg', lambda: '')
    assert past_film.film_file(tmp_path) == tmp_path / 'film_1.gif'
    for name in ('film_3.mp4', 'film_x.gif', 'other_9.gif'):
        (tmp_path / name).touch()
    monkeypatch.setattr(past_film, 'ffmpeg', lambda: '/bin/ffmpeg')
    assert past_film.film_file(tmp_path) == tmp_path / 'film_4.mp4'
