"""Inverse kinematics, this package's solvers and PyPI's, side by side in one run.

    ./ws python benchmarks/inverse_kinematics.py [--targets 1000] [--json ik.json]

Arms: UR5e (closed form), Panda (seven joints), the five-joint arm (position and approach
direction). Targets, seeded: reachable (poses of random configurations), nearly singular (the
least singular values of 20000 configurations) and unreachable (beyond the arm's length). Every
answer is checked by Pinocchio's forward kinematics and against the joint limits; `wrong` counts
answers that claim success and fail that check. Times are processor time of one call (all its
threads), the better of two: on an idle machine that is the time it takes, on a busy one other
processes do not count. A peer that is not installed is listed with the reason:
./ws pip install -r requirements-benchmark.txt

Solvers of installed packages (entry points of arm_sim.solvers) are measured like ours.
"""

import argparse
import importlib
import json
import os
import re
import site
import sys
import time
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

os.environ.setdefault('OMP_NUM_THREADS', '1')  # small matrices: threads only cost
import numpy as np
import pinocchio as pin

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

# ruff: noqa: E402  (the package is imported from the source tree)
from conditions import conditions, print_conditions
from ik_peers import ORIENTATION, PEERS, POSITION

from arm_dynamics.inverse_kinematics.solve import solve_ik
from arm_dynamics.kinematics.chain import chain_to
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

Solve = Callable[[pin.SE3, np.ndarray], tuple[bool, np.ndarray]]
PANDA = 'share/example-robot-data/robots/panda_description/urdf/panda.urdf'
OURS = (
    ('this package', {}, 1e-6, 1e-6),
    ('this package, LM', {'solver': 'levenberg_marquardt'}, 1e-6, 1e-6),
    (
        'DLS, 20 restarts',
        {'solver': 'damped_least_squares', 'restarts': 20},
        POSITION,
        ORIENTATION,
    ),
    ('DLS, one start', {'solver': 'damped_least_squares', 'restarts': 0}, POSITION, ORIENTATION),
    ('pseudo-inverse', {'solver': 'pseudo_inverse', 'restarts': 0}, POSITION, ORIENTATION),
)
BUDGET = 4.0  # [s] per solver and kind of target: slow ones get fewer targets


def arms() -> list[tuple[str, RobotModel, bool]]:
    """Return name, model, and whether the rotation about the tool's z axis is free."""
    found = [('UR5e', RobotModel.from_urdf(find_urdf('ur5e')), False)]
    folders = [Path(p) / 'cmeel.prefix' for p in site.getsitepackages()]
    panda = next((p / PANDA for p in folders if (p / PANDA).is_file()), None)
    if panda is None:
        print('Panda: left out, pip install example-robot-data')
    else:
        text = re.sub('<mimic [^>]*>', '', panda.read_text())  # of a finger
        found.append(('Panda', RobotModel.from_urdf(text, 'panda_link8'), False))
    found.append(('five-joint arm', RobotModel.from_urdf(find_urdf('five_joint_arm')), True))
    return found


def targets(model: RobotModel, count: int) -> dict[str, list[tuple[pin.SE3, np.ndarray]]]:
    """Return (target, seed) of each kind."""
    rng = np.random.default_rng(2026)

    def pose(q: np.ndarray) -> pin.SE3:
        return pin.SE3(model.forward_kinematics(q))

    def seed() -> np.ndarray:
        return np.clip(
            rng.uniform(-np.pi, np.pi, model.nq), model.position_lower, model.position_upper
        )

    reachable = [(pose(model.random_configuration(rng)), seed()) for _ in range(count)]
    chain = chain_to(model)
    pool = [model.random_configuration(rng) for _ in range(20 * count)]
    jacobians = np.array([model.jacobian(q)[:, chain.joints] for q in pool])
    smallest = np.linalg.svd(jacobians, compute_uv=False)[:, -1]
    near = [(pose(pool[i]), seed()) for i in np.argsort(smallest)[: count // 5]]
    far = []
    for _ in range(count // 5):
        direction = rng.normal(size=3)
        distance = rng.uniform(1.01, 2.0) * chain.reach / np.linalg.norm(direction)
        place = chain.fixed[0, :3, 3] + distance * direction
        far.append((pin.SE3(pin.exp3(rng.normal(size=3)), place), seed()))
    return {'reachable': reachable, 'near-singular': near, 'unreachable': far}


def ours(model: RobotModel, free_axis: bool, options: dict, position: float, orientation: float):
    """Return a solver of this package behind the peers' call, solve(target, seed)."""
    options = {'position_tolerance': position, 'orientation_tolerance': orientation, **options}
    if free_axis:
        options['axis_tolerances'] = (*3 * (position,), orientation, orientation, np.inf)

    def solve(target: pin.SE3, seed: np.ndarray) -> tuple[bool, np.ndarray]:
        result = solve_ik(model, target, seed, **options)
        if not result.success and not result.reason:
            raise AssertionError('a refusal without a reason')
        return result.success, result.q

    return solve


def meets(model: RobotModel, q: np.ndarray, target: pin.SE3, free_axis: bool, tolerances) -> bool:
    """Return whether q reaches the target within limits, by Pinocchio."""
    inside = (q >= model.position_lower - 1e-9) & (q <= model.position_upper + 1e-9)
    away = target.actInv(model.forward_kinematics(q))
    turn = pin.log3(away.rotation)
    if free_axis:  # rotation about the target's z is free
        turn = np.array([*pin.log3(away.rotation)[:2], 0.0])
    near = np.linalg.norm(away.translation) <= tolerances[0] * 1.01
    return bool(inside.all() and near and np.linalg.norm(turn) <= tolerances[1] * 1.01)


def run(model: RobotModel, solve: Solve, problems: list, free_axis: bool, tolerances) -> dict:
    """Return success, wrong claims and times of one solver on one kind of target."""
    for target, seed in problems[:1]:
        solve(target, seed)
    times: list[float] = []
    good = wrong = 0
    begin = time.perf_counter()
    for target, seed in problems:
        if time.perf_counter() - begin > BUDGET:
            break
        best = np.inf
        for _ in range(2):
            start = time.process_time_ns()
            claimed, q = solve(target, seed)
            best = min(best, time.process_time_ns() - start)
        times.append(1e-3 * best)
        true = meets(model, q, target, free_axis, tolerances)
        good += claimed and true
        wrong += claimed and not true
    return {
        'targets': len(times),
        'success_percent': 100.0 * good / len(times),
        'wrong': int(wrong),
        'median_us': float(np.median(times)),
        'p99_us': float(np.percentile(times, 99)),
        'max_us': float(np.max(times)),
    }


def published_experiment(model: RobotModel) -> dict:
    """Return success [%] on 50 random targets: pseudo-inverse against adaptive DLS."""
    rng = np.random.default_rng(50)
    found = {}
    problems = [
        (pin.SE3(model.forward_kinematics(rng.uniform(-np.pi, np.pi, 6))), np.zeros(6))
        for _ in range(50)
    ]
    for name, solver in (('pseudo-inverse', 'pseudo_inverse'), ('DLS', 'damped_least_squares')):
        results = [
            solve_ik(
                model,
                target,
                seed,
                solver=solver,
                restarts=0,
                position_tolerance=POSITION,
                orientation_tolerance=ORIENTATION,
            )
            for target, seed in problems
        ]
        found[name] = 100.0 * float(np.mean([r.success for r in results]))
    return found


def main() -> int:
    """Measure everything, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--targets', type=int, default=1000, help='reachable targets per arm')
    parser.add_argument('--json', type=Path)
    options = parser.parse_args()
    print_conditions()
    report: dict[str, Any] = {'conditions': conditions(), 'arms': {}, 'left_out': {}}
    plugins = [
        (plugin.name, {'solver': plugin.name}, POSITION, ORIENTATION)
        for plugin in entry_points(group='arm_sim.solvers')
    ]
    for arm, model, free_axis in arms():
        solvers: list[tuple[str, Solve, tuple[float, float]]] = [
            (name, ours(model, free_axis, extra, position, orientation), (position, orientation))
            for name, extra, position, orientation in (*OURS, *plugins)
        ]
        for peer in PEERS:
            try:
                importlib.import_module(peer.package)
                solvers.append((peer.name, peer(model, free_axis).solve, (POSITION, ORIENTATION)))
            except Exception as error:  # not installed, or it cannot do this arm
                report['left_out'][f'{peer.name} on {arm}'] = f'{type(error).__name__}: {error}'
        kinds = targets(model, options.targets)
        print(f'\n{arm}')
        print(
            f'{"solver":22s}{"targets":>14s} {"n":>5s} {"solved %":>9s} {"wrong":>6s}'
            f' {"median us":>10s} {"p99 us":>10s} {"max us":>10s}'
        )
        rows = report['arms'][arm] = {}
        for name, solve, tolerances in solvers:
            rows[name] = {}
            for kind, problems in kinds.items():
                try:
                    row = run(model, solve, problems, free_axis, tolerances)
                except Exception as error:  # a peer's own failure is its result
                    report['left_out'][f'{name} on {arm}'] = f'{type(error).__name__}: {error}'
                    break
                rows[name][kind] = row
                print(
                    f'{name:22s}{kind:>14s} {row["targets"]:5d} {row["success_percent"]:9.1f} '
                    f'{row["wrong"]:6d} {row["median_us"]:10.1f} {row["p99_us"]:10.1f} '
                    f'{row["max_us"]:10.1f}',
                    flush=True,
                )
    report['published'] = published_experiment(RobotModel.from_urdf(find_urdf('ur5e')))
    print(
        '\n50 targets, one start each, 200 iterations: '
        + ', '.join(f'{k} {v:.0f} %' for k, v in report['published'].items())
    )
    for name, reason in report['left_out'].items():
        print(f'left out: {name}: {reason.splitlines()[0]}')
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
