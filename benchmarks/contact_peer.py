"""Contacts compared with PyPI's drake on matched stiffness: closed form | ours | drake.

    python3 -m venv /tmp/drake && /tmp/drake/bin/pip install drake
    ./ws python benchmarks/contact_peer.py --peer /tmp/drake/bin/python

drake is in a virtual environment of its own, whose Python runs `drake_side.py`. A ball has one
contact point (drake: point contact), a block has four here and a surface in drake (hydroelastic
contact) of the same total stiffness. Presses have a force from above, impacts neither gravity nor
damping.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from conditions import print_conditions
from contact import G, hold, object_velocity, scene

SIDE = Path(__file__).with_name('drake_side.py')
SIZE = 0.1  # of ball and block [m]


class Case(NamedTuple):
    """A body on the ground; `push` [N] or `speed` downwards [m/s], stiffness in total [N/m]."""

    shape: str
    stiffness: float
    push: float = 0.0
    speed: float = 0.0
    mass: float = 1.0

    @property
    def step(self) -> float:
        """The integration step [s]."""
        return 1e-4 if self.speed else 5e-4

    @property
    def of_drake(self) -> dict[str, Any]:
        """The case as `drake_side.py` reads it."""
        model = 'point' if self.shape == 'ball' else 'hydroelastic'
        seconds = 0.05 if self.speed else 1.5
        more = {'model': model, 'step': self.step, 'seconds': seconds}
        return self._asdict() | more | {'dissipation': 0.0 if self.speed else 20.0}

    @property
    def expected(self) -> dict[str, float]:
        """The closed form: depth of a press; force and rebound of an impact on a spring."""
        peak = self.speed * np.sqrt(self.stiffness * self.mass)
        depth = 1e3 * (self.mass * G + self.push) / self.stiffness
        return {'depth_mm': depth, 'peak': peak, 'rebound': self.speed}


CASES = [
    *(Case('ball', k, push=push) for k in (1e4, 1e5) for push in (10.0, 100.0)),
    *(Case('block', k, push=push) for k in (4e4, 4e5) for push in (10.0, 100.0)),
    *(Case('ball', k, speed=speed) for k in (1e4, 1e5) for speed in (0.2, 1.0)),
    *(Case('block', k, speed=speed) for k in (4e4, 4e5) for speed in (0.2, 1.0)),
]


def ours(case: Case) -> dict[str, float]:
    """Return depth at the end [mm], peak force [N] and speed after the impact [m/s]."""
    gap, points = (1.37e-4 if case.speed else 0.0), 1.0 if case.shape == 'ball' else 4.0
    body = {
        'name': 'body', 'shape': 'sphere' if case.shape == 'ball' else 'box',
        'size': [SIZE] * (1 if case.shape == 'ball' else 3), 'mass': case.mass,
        'position': [0.5, 0.0, SIZE / 2 + gap], 'friction': 0.5,
        'stiffness': case.stiffness / points, 'damping': 0.0 if case.speed else 50.0,
    }  # fmt: skip
    gravity = (0.0, 0.0, 0.0 if case.speed else -G)
    plant = scene([body], gravity=gravity, timestep=case.step)
    data, peak = plant.mj_data, 0.0
    object_velocity(plant)[2] = -case.speed
    data.xfrc_applied[plant.mj_model.body('body').id, 2] = -case.push
    for _ in range(round((0.05 if case.speed else 1.5) / case.step)):
        hold(plant)
        peak = max(peak, sum(abs(point.force[2]) for point in plant.contacts.points()))
    depth = 1e3 * (SIZE / 2 - plant.scene.object_poses()[0, 2])
    return {'depth_mm': depth, 'peak': peak, 'rebound': float(object_velocity(plant)[2])}


def drakes(peer: str) -> list[dict[str, float]]:
    """Return drake's numbers of each case.

    Raises:
        OSError, subprocess.CalledProcessError: that Python has no drake.
    """
    lines = ''.join(json.dumps(case.of_drake) + '\n' for case in CASES)
    done = subprocess.run(
        [peer, str(SIDE)], env=_bare(), check=True, capture_output=True, text=True, input=lines
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def _bare() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'LD_LIBRARY_PATH')}


def main() -> int:
    """Print a row per number."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--peer', default='python3', help='the Python that has drake')
    peer = parser.parse_args().peer
    there = subprocess.run(
        [peer, '-c', 'import pydrake'], env=_bare(), check=False, capture_output=True
    )
    if there.returncode:
        print(f'skipped: {peer} has no drake; name one that has by --peer')
        return 0
    print_conditions()
    print(f'{"":65}  {"expected":>9}  {"ours":>16}  {"drake":>16}')
    for case, theirs in zip(CASES, drakes(peer), strict=True):
        contact = 'point' if case.shape == 'ball' else 'hydroelastic'
        rows = {'depth_mm': f'press of {case.push:g} N: depth [mm]'}
        if case.speed:
            rows = {
                'peak': f'impact at {case.speed:g} m/s: peak force [N]',
                'rebound': f'impact at {case.speed:g} m/s: rebound [m/s]',
            }
        own = ours(case)
        for key, what in rows.items():
            name = f'{case.shape} ({contact}), {case.stiffness:g} N/m, {what}'
            wanted = case.expected[key]
            cells = (f'{x[key]:8.5g} {x[key] / wanted - 1:+7.2%}' for x in (own, theirs))
            print(f'{name:65}  {wanted:9.5g}  {"  ".join(cells)}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
