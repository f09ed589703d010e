"""Pictures of a MuJoCo scene without a window: OpenGL by EGL, else by OSMesa."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError

BACKENDS = ('egl', 'osmesa')
HELP = 'install Mesa ("sudo apt install libegl1 libgl1-mesa-dri") or a graphics driver with EGL'
# In a separate process, because a library that fails to load cannot be tried a second time.
_TRY = """
import sys
from importlib import import_module
import mujoco
context = import_module(f'mujoco.{sys.argv[1]}').GLContext(64, 64)
context.make_current()
model = mujoco.MjModel.from_xml_string('<mujoco/>')
mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value).free()
"""
_FLAG = mujoco.mjtRndFlag
_TIMEOUT = 120.0  # of the attempt [s]

Picture = NDArray[np.uint8]  # (height, width, 3)


@cache
def why_not(library: str) -> str:
    """Return why a library of BACKENDS cannot render on this machine; '' if it can."""
    environment = {**os.environ, 'MUJOCO_GL': library}
    environment.pop('PYOPENGL_PLATFORM', None)
    try:
        done = subprocess.run(
            [sys.executable, '-c', _TRY, library],
            env=environment, capture_output=True, text=True, timeout=_TIMEOUT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f'no answer within {_TIMEOUT:g} s'
    if not done.returncode:
        return ''
    return (done.stderr.strip().splitlines() or [f'exit code {done.returncode}'])[-1][:200]


def backend() -> str:
    """Return the first of BACKENDS that renders here, or the one that MUJOCO_GL names.

    Raises:
        ArmError: none renders.
    """
    chosen = os.environ.get('MUJOCO_GL', '').lower()
    tried = (chosen,) if chosen in BACKENDS else BACKENDS
    for library in tried:
        if not why_not(library):
            return library
    reasons = '; '.join(f'{library}: {why_not(library)}' for library in tried)
    raise ArmError(f'no OpenGL without a window here ({reasons}); {HELP}')


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set variables of the environment within a `with` block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class Offscreen:
    """Renders a model as pictures of one size; `close` it before the process ends."""

    def __init__(
        self, model: mujoco.MjModel, width: int, height: int, shapes: int = 0, fog: bool = True
    ):
        """Set up OpenGL; `shapes`: largest number of shapes added to the model's.

        Raises:
            ArmError: no OpenGL.
        """
        library = backend()
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        self._model, self._options = model, mujoco.MjvOption()
        with _environment(MUJOCO_GL=library, PYOPENGL_PLATFORM=library):  # MuJoCo reads them
            self._gl: Any = import_module(f'mujoco.{library}').GLContext(width, height)
            self._gl.make_current()
            self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._scene = mujoco.MjvScene(model, model.ngeom + shapes + 100)
        self._scene.flags[_FLAG.mjRND_FOG] = fog
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._rect = mujoco.MjrRect(0, 0, width, height)
        self._pixels = np.empty((height, width, 3), dtype=np.uint8)

    def picture(
        self,
        data: mujoco.MjData,
        camera: mujoco.MjvCamera,
        add: Callable[[mujoco.MjvScene], None],
    ) -> Picture:
        """Return the camera's picture, with the shapes that `add` puts into the scene."""
        everything = mujoco.mjtCatBit.mjCAT_ALL
        self._gl.make_current()
        mujoco.mjv_updateScene(
            self._model, data, self._options, None, camera, everything, self._scene
        )
        add(self._scene)
        mujoco.mjr_render(self._rect, self._scene, self._context)
        mujoco.mjr_readPixels(self._pixels, None, self._rect, self._context)
        return self._pixels[::-1].copy()

    def depth(self) -> NDArray[np.float32]:
        """Return the distances (height, width) [m] along the axis of the last picture's camera."""
        found = np.empty(self._pixels.shape[:2], dtype=np.float32)
        flags = self._scene.flags
        before = flags.copy()
        for each in (_FLAG.mjRND_SKYBOX, _FLAG.mjRND_SHADOW, _FLAG.mjRND_REFLECTION):
            flags[each] = False  # the sky would have a distance
        mujoco.mjr_render(self._rect, self._scene, self._context)
        flags[:] = before
        mujoco.mjr_readPixels(None, found, self._rect, self._context)
        lens = self._scene.camera[0]
        near, far = lens.frustum_near, lens.frustum_far
        # The buffer is 1 at the near plane and 0 at the far plane.
        distance = near * far / (near + found[::-1].astype(float) * (far - near))
        return distance.astype(np.float32)

    def close(self) -> None:
        """Release OpenGL."""
        self._gl.make_current()
        self._context.free()
        self._gl.free()
