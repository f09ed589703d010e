"""Where to place a camera that sees a whole motion."""

from dataclasses import dataclass

import mujoco
import numpy as np

from arm_dynamics.checks import Array

FIELD_OF_VIEW = 30.0  # vertical [deg]; a narrow one distorts little
_FILLED = np.array([0.86, 0.8])  # largest share of the picture's width and height that is used


@dataclass(frozen=True)
class View:
    """The camera's direction, and how it turns.

    Attributes:
        azimuth, elevation: as in MuJoCo [deg]: azimuth 90 looks along y, elevation -90 down.
        orbit: rate of the azimuth [deg per second of the film].
        zoom: magnification of the middle of the tool's path; 1: the whole arm is seen.
    """

    azimuth: float = 140.0
    elevation: float = -18.0
    orbit: float = 0.0
    zoom: float = 1.0


def axes_of(azimuth: float, elevation: float) -> Array:
    """Return the camera's right, up and forward (3, 3), a row each, in the base frame."""
    a, e = np.radians([azimuth, elevation])
    forward = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([np.sin(a), -np.cos(a), 0.0])
    return np.array([right, np.cross(right, forward), forward])


def camera_for(points: Array, view: View, aspect: float, seconds: float) -> mujoco.MjvCamera:
    """Return a camera that sees these points (k, 3) [m] during a film of a duration [s].

    `aspect`: width of the picture divided by its height.
    """
    camera = mujoco.MjvCamera()
    camera.azimuth, camera.elevation = view.azimuth, view.elevation
    turns = view.orbit * np.linspace(0.0, seconds, 37 if view.orbit else 1)
    tangent = np.tan(np.radians(FIELD_OF_VIEW) / 2) * np.array([aspect, 1.0]) * _FILLED
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    for _ in range(20):
        seen = [
            (points - middle) @ axes_of(view.azimuth + turn, view.elevation).T for turn in turns
        ]  # along the camera's right, up and forward
        distance = max(
            float((-each[:, 2:] + np.abs(each[:, :2]) / tangent).max()) for each in seen
        )
        (first, *_) = seen
        shown = first[:, :2] / (first[:, 2:] + distance)
        off = 0.5 * (shown.min(axis=0) + shown.max(axis=0)) * distance
        if view.orbit:
            break
        middle = middle + off @ axes_of(view.azimuth, view.elevation)[:2]
    camera.lookat[:], camera.distance = middle, distance
    return camera
