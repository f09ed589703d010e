"""Drawn queries in the scene `shelf`: planned, then followed in the loop with MuJoCo's contacts.

    ./ws pip install ompl toppra ruckig
    OMP_NUM_THREADS=1 ./ws python benchmarks/plan.py --queries 1000

Each query goes from one place in the shelf or in front of it to another one, by pose. Results are
kept in a folder: an interrupted run goes on where it ended. Times are CPU time of one thread.
"""

import hashlib
import json
import time
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from conditions import print_conditions

from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.clearance import Clearance
from arm_dynamics.scene_clearance import scene_clearance
from arm_lab.experiments.experiment import Experiment
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.simulation.plant import Plant
from arm_sim.simulation.scene_shapes import scene_shapes
from arm_tools.planning.planner import PlanError, PlanParameters, goals_of_poses, plan_motion

PARAMETERS = PlanParameters()
INSIDE = 0.75  # share of the places that are in the shelf
TOWARDS = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])  # tool at the back


def drawn_goals(
    rng: np.random.Generator, clearance: Clearance, near: Array
) -> tuple[Array, Array]:
    """Return a pose (4, 4) that can be reached without a collision, and its configurations."""
    while True:
        column, row = rng.integers(2), rng.integers(3)
        deep = rng.uniform(0.5, 0.72) if rng.random() < INSIDE else rng.uniform(0.3, 0.42)
        across = (2 * column - 1) * rng.uniform(0.08, 0.44)
        height = 0.06 + 0.32 * row + rng.uniform(0.08, 0.24)
        turn = pin.rpy.rpyToMatrix(*rng.uniform(-0.4, 0.4, 2), rng.uniform(-np.pi, np.pi))
        pose = pin.SE3(TOWARDS @ turn, np.array([deep, across, height])).homogeneous
        try:
            return pose, goals_of_poses(clearance, near, pose, None, PARAMETERS.clearance)
        except PlanError:
            continue


def query(
    number: int, clearance: Clearance, plant: Plant, law: Any, rest: Array
) -> dict[str, Any]:
    """Return the result of a query, which depends on its number alone."""
    rng = np.random.default_rng([32, number])
    start = drawn_goals(rng, clearance, rest)[1][0]
    pose, _ = drawn_goals(rng, clearance, start)
    begin = time.process_time()
    try:
        goals = goals_of_poses(clearance, start, pose, None, PARAMETERS.clearance)
        plan = plan_motion(clearance, start, goals, PARAMETERS)
    except PlanError as error:
        return {'number': number, 'cpu_s': time.process_time() - begin, 'error': str(error)}
    cpu, motion = time.process_time() - begin, plan.motion
    trajectory = motion.trajectory()

    def reference(t: float, reference: Reference) -> None:
        trajectory.evaluate(t, reference)

    record = run_closed_loop(plant, law, reference, motion.duration + 0.1, start=start)
    shares = [getattr(motion, name) for name in motion._fields if name.endswith('share')]
    return {
        'number': number, 'cpu_s': cpu, 'error': '', 'direct': plan.direct, 'checks': plan.checks,
        'duration_s': motion.duration, 'optimal_s': motion.optimal_duration,
        'ruckig_s': ruckig_duration(clearance.model, motion.q) if plan.direct else None,
        'share': max(shares), 'clearance_mm': plan.nearest.distance * 1e3,
        'other': plan.nearest.other, 'contact_n': float(record.contacts[:, 0].max()),
        'tracking_rad': float(np.abs(record.q - record.q_reference).max()),
        'digest': hashlib.sha256(motion.q.tobytes() + motion.times.tobytes()).hexdigest()[:16],
    }  # fmt: skip


def ruckig_duration(model: Any, q: Array) -> float:
    """Return the duration of ruckig's motion along a straight line in joint space [s]."""
    import ruckig

    n = model.nv
    given = ruckig.InputParameter(n)
    given.current_position, given.target_position = q[0].tolist(), q[-1].tolist()
    given.max_velocity = model.velocity_limit.tolist()
    given.max_acceleration = np.broadcast_to(PARAMETERS.acceleration_limit, n).tolist()
    given.max_jerk = np.broadcast_to(PARAMETERS.jerk_limit, n).tolist()
    given.synchronization = ruckig.Synchronization.Phase
    found = ruckig.Trajectory(n)
    ruckig.Ruckig(n).calculate(given, found)
    return float(found.duration)


def table(rows: list[dict[str, Any]], wanted: int) -> int:
    """Print the table; return the exit code."""
    good = [each for each in rows if not each['error']]
    cpu = np.array([each['cpu_s'] for each in rows])
    search = np.array([not each['direct'] for each in good])
    touched = sum(each['contact_n'] > 0.0 for each in good)

    def line(name: str, values: Any, unit: str) -> None:
        low, middle, high, most = np.percentile(values, [5, 50, 95, 100])
        print(f'{name:38} {low:10.3f} {middle:10.3f} {high:10.3f} {most:10.3f} {unit}')

    print(f'{len(rows)} of {wanted} queries: {len(good)} planned ({len(good) / len(rows):.1%}), '
          f'{touched} with a contact in the simulation')  # fmt: skip
    print(f'{"":38} {"5 %":>10} {"median":>10} {"95 %":>10} {"largest":>10}')
    line('CPU time of a query, one thread', cpu, 's')
    if len(good):
        own = np.array([each['cpu_s'] for each in good])
        if search.any():
            line('the same, straight line blocked', own[search], f's ({search.sum()} queries)')
        line('checked configurations', [each['checks'] for each in good], '')
        line('duration of the motion', [each['duration_s'] for each in good], 's')
        line('largest used share of a limit', [each['share'] for each in good], '')
        slower = [each['duration_s'] / each['optimal_s'] for each in good]
        line('duration, by that without jerk limit', slower, '')
        lines = [each['duration_s'] / each['ruckig_s'] for each in good if each['direct']]
        if lines:
            line('straight lines: by that of ruckig', lines, f'({len(lines)} queries)')
        line('smallest distance from an object', [
            each['clearance_mm'] for each in good if each['other'].startswith(('object', 'the'))
        ], 'mm')  # fmt: skip
        line(
            'largest tracking error of a joint',
            [1e3 * each['tracking_rad'] for each in good],
            'mrad',
        )
        digest = hashlib.sha256(''.join(each['digest'] for each in good).encode()).hexdigest()
        print(f'digest of all motions: {digest[:16]}')
    for each in rows:
        if each['error']:
            print(f'query {each["number"]}: {each["error"]}')
    return 0 if len(good) >= 0.99 * len(rows) and not touched else 1


def main() -> int:
    """Run what is missing, then print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument('--queries', type=int, default=1000, help='number of queries')
    parser.add_argument('--first', type=int, default=0, help='number of the first query')
    parser.add_argument('--folder', type=Path, default=Path('plan_queries'), help='of results')
    parser.add_argument(
        '--seconds', type=float, default=0.0, help='ends after this time; 0: never'
    )
    given = parser.parse_args()
    print_conditions()
    given.folder.mkdir(parents=True, exist_ok=True)
    loaded = Experiment('ur5e', 'push', 'computed_torque', scene='shelf').load()
    model, start = loaded.robot.model, loaded.robot.start
    clearance = scene_clearance(model, scene_shapes('shelf'))
    parameters = replace(loaded.plant_parameters(), contacts=True, initial_positions=tuple(start))
    plant, law, begin = MujocoPlant(model, parameters), loaded.law(), time.monotonic()
    rows = []
    for number in range(given.first, given.first + given.queries):
        file = given.folder / f'{number:05d}.json'
        if not file.exists():
            if given.seconds and time.monotonic() - begin > given.seconds:
                break
            file.write_text(json.dumps(query(number, clearance, plant, law, start)))
            if (number + 1) % 20 == 0:
                spent = time.monotonic() - begin
                print(f'{number + 1} queries, {spent:.0f} s', flush=True)
        rows.append(json.loads(file.read_text()))
    return table(rows, given.queries)


if __name__ == '__main__':
    raise SystemExit(main())
