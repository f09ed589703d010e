"""An arm's dynamics as generated straight-line code, compiled and cached on disk."""

import importlib.util
import os
import re
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.compiled.links import links_of
from arm_dynamics.compiled.source import module_source
from arm_dynamics.compiling import announce, cache_folder, digest
from arm_dynamics.model import RobotModel

_LOADING = threading.Lock()  # no other thread sees a module that is half imported
# Sources that generated code calls, part of its cache key, read before anyone edits them.
_CALLED = [path.read_bytes() for path in sorted(Path(__file__).parent.rglob('*.py'))]


class CompiledModel:
    """RobotModel's dynamics as functions for compiled loops, several times as fast.

    The generated module is a plain Python file in `cache_folder()`. Numba compiles it at its first
    use and loads it from the cache later. Not thread-safe (scratch); `module`'s functions are.

    Attributes:
        model: the RobotModel.
        links: its moving links, in the frames that the generated code uses.
        module: the generated module, with functions of the rigid bodies alone. All arrays are
            contiguous float64; results are written to the last arguments.
    """

    def __init__(self, model: RobotModel, loops: str = ''):
        """Generate or load the module of `model`.

        Args:
            model: the arm.
            loops: source of further compiled functions that call the dynamics, to be appended.
        """
        self.model = model
        self.links = links_of(model)
        self.module = load_module(module_source(model, loops), model.name)
        self._trig = np.zeros(len(self.links)), np.zeros(len(self.links))

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
        """Return a (n,) of (M(q) + A) a + C(q, v) v + g(q) + friction_torque(v) = tau."""
        a = np.empty(self.model.nv)
        tau = np.asarray(tau, dtype=float) - self.model.friction_torque(v)
        arguments = [self._vector(x) for x in (q, v, tau, self.model.armature)]
        self.module.forward_dynamics(*arguments, *self._trig, a)
        return a

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return tau (n,) = (M(q) + A) a + C(q, v) v + g(q) + friction_torque(v)."""
        drives = self.model.armature * np.asarray(a) + self.model.friction_torque(v)
        return self._rigid_bodies(q, v, a) + drives

    def bias_torque(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return C(q, v) v + g(q) (n,)."""
        return self._rigid_bodies(q, v, 0.0)

    def _rigid_bodies(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        tau = np.empty(self.model.nv)
        arguments = [self._vector(x) for x in (q, v, a)]
        self.module.inverse_dynamics(*arguments, *self._trig, tau)
        return tau

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M(q) + A (n x n)."""
        m = np.empty((self.model.nv, self.model.nv))
        self.module.mass_matrix(self._vector(q), *self._trig, m)
        m.flat[:: len(m) + 1] += self.model.armature  # the diagonal
        return m

    def placements(self, q: ArrayLike) -> tuple[Array, Array]:
        """Return rotations (m, 3, 3) and origins (m, 3) of the `links`' frames in the base's."""
        count = len(self.links)
        rotation, translation = np.empty((count, 3, 3)), np.empty((count, 3))
        self.module.placements(self._vector(q), *self._trig, rotation, translation)
        return rotation, translation

    def point_on_link(self, frame: str) -> tuple[int, Array]:
        """Return the link that carries a frame (-1: the base), and the frame's origin on it."""
        frame_info = self.model.pin_model.frames[self.model.frame_id(frame)]
        link = frame_info.parentJoint - 1
        turn = self.links[link].turn if link >= 0 else np.eye(3)
        return link, turn.T @ frame_info.placement.translation

    def _vector(self, values: ArrayLike) -> Array:
        array = np.asarray(values, dtype=float)
        return np.ascontiguousarray(np.broadcast_to(array, (self.model.nv,)))


def load_module(source: str, name: str) -> ModuleType:
    """Return the module of a source, which is written to the cache folder if it is new."""
    identifier = re.sub('[^0-9A-Za-z]', '_', name)
    key = f'arm_{identifier}_{digest(source.encode(), *_CALLED)}'
    with _LOADING:
        return sys.modules.get(key) or _imported(key, source, name)


def _imported(key: str, source: str, name: str) -> ModuleType:
    announce(key, f'the dynamics of {name!r}')
    path = cache_folder() / f'{key}.py'
    if not path.is_file():
        try:
            with tempfile.NamedTemporaryFile('w', dir=path.parent, delete=False) as file:
                file.write(source)
            os.replace(file.name, path)
        except OSError as error:
            raise ArmError(
                f'generated code cannot be stored in {path.parent}: {error.strerror}; '
                'set XDG_CACHE_HOME to another folder'
            ) from None
    spec = importlib.util.spec_from_file_location(key, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    spec.loader.exec_module(module)
    return module
