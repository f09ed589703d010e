"""Drawn grasps: success, early report, slip and hang over force, friction, noise and threshold.

    ./ws python benchmarks/grasps.py --grasps 10000 --keep grasps.txt --picture grasps.png

The shipped parallel gripper on a vertical axis closes on a block that lies on a bench, and is
lifted by 50 mm once the gripper controller's monitor reports the end of its goal. Law, monitor,
sensors and physics are the package's, at 500 Hz. Drawn are the force and the speed of the goal,
noise of the position sensor (the velocity has 100/s times as much), stall threshold and timeout,
and width, mass, friction and place of the block.

  early    the report comes before the fingers touch the block
  hang     no report 0.5 s and a timeout after the fingers could have touched the block
  slip     the block slides by more than 2 mm in the hand, or stays on the bench
  success  all else
"""

import argparse
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from conditions import print_conditions
from drawn_cases import interval

from arm_controllers.gripper import GripperGoal, GripperLaw, GripperMonitor, GripperParameters
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.temporary_folder import temporary_folder
from arm_lab.progress import new_console, progress
from arm_sim.loop.mujoco_batch import MujocoBatch
from arm_sim.pictures import new_figure, panels, plain_numbers, save, style
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.scene import SceneObject, objects_text

PERIOD, CHUNK = 2e-3, 250
OPENED, LIFT, LIFTING, HELD = 8e-3, 0.05, 0.3, 0.4  # [m], [m], [s], [s]
GRAVITY, PEAK = 9.81, 10.0 / np.sqrt(3.0) * LIFT / LIFTING**2  # of the lift's quintic [m/s^2]
HANG, TOUCH, SLIP, NOISY = 0.5, 5e-4, 2e-3, 3e-5  # [s], [m], [m], [m]
OUTCOMES = 'success', 'early', 'slip', 'hang'
LOGARITHMIC = {  # ranges of what is drawn
    'force': (2.0, 60.0), 'noise': (1e-6, 1e-3), 'threshold': (1e-4, 0.1), 'timeout': (0.02, 0.5),
    'speed': (0.02, 0.15), 'mass': (0.05, 0.5),
}  # fmt: skip
LINEAR = {'friction': (0.1, 1.0), 'width': (0.03, 0.06), 'offset': (-4e-3, 4e-3)}
COLUMNS = *LOGARITHMIC, *LINEAR
AXIS = """<robot name="axis">
  <link name="base"/>
  <link name="flange"><inertial><mass value="2"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="axis" type="prismatic"><parent link="base"/><child link="flange"/>
    <origin xyz="0 0 0.155" rpy="3.141592653589793 0 0"/><axis xyz="0 0 -1"/>
    <limit lower="0" upper="0.2" effort="2000" velocity="2"/></joint>
</robot>"""


class Found(NamedTuple):
    """What became of grasps: arrays (N,)."""

    outcome: Array  # index into OUTCOMES
    after_touch: Array  # when the report came [s]; nan: never
    slip: Array  # in the hand [m]


def drawn(numbers: range | list[int], seed: int) -> dict[str, Array]:
    """Return what is drawn for grasps; each depends on its number and the seed alone."""
    each = np.array([np.random.default_rng([seed, k]).uniform(size=len(COLUMNS)) for k in numbers])
    found = {}
    for name, share in zip(COLUMNS, each.T, strict=True):
        low, high = {**LOGARITHMIC, **LINEAR}[name]
        spread = low * (high / low) ** share if name in LOGARITHMIC else low + (high - low) * share
        found[name] = spread
    return found


def axis_robot() -> Robot:
    """Return the gripper on a vertical axis."""
    path = temporary_folder() / 'axis.urdf'
    path.write_text(AXIS)
    return Robot.load(f'{path} gripper:=parallel gripper_frame:=flange')


def plant_of(robot: Robot, draws: dict[str, Array], numbers: list[int]) -> MujocoBatch:
    """Return a gripper, a bench and a block for each grasp."""
    bench = SceneObject(name='bench', size=(0.4, 0.4, 0.04), position=(0, 0, -0.02), stiffness=2e4)
    each = []
    for row, number in enumerate(numbers):
        width, mass, friction, offset, noise = (
            float(draws[name][row]) for name in ('width', 'mass', 'friction', 'offset', 'noise')
        )
        block = SceneObject(
            name='block', size=(0.04, width, 0.04), position=(0.0, offset, 0.02), mass=mass,
            friction=friction, stiffness=1e4, damping=float(0.15 * np.sqrt(1e4 * mass)),
        )  # fmt: skip
        each.append(PlantParameters(
            actuator=('servo', 'torque'), servo_kp=(1e5, 1.0), servo_kd=(2e3, 1.0),
            timestep=PERIOD, objects=objects_text([bench, block]), position_noise=noise,
            velocity_noise=100.0 * noise, sensor_seed=number,
        ))  # fmt: skip
    return MujocoBatch([robot.model] * len(numbers), each)


def lifted(since: Array) -> Array:
    """Return the height of the lift at times since its begin [s]."""
    s = np.clip(since / LIFTING, 0.0, 1.0)
    return LIFT * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def grasp(robot: Robot, draws: dict[str, Array], numbers: list[int]) -> Found:
    """Let grippers close and lift, and return what became of the blocks."""
    plant, joint, count = plant_of(robot, draws, numbers), 'left_finger_joint', len(numbers)
    law = GripperLaw(robot.model, GripperParameters(), joint)
    start = draws['width'] / 2.0 + OPENED
    plant.reset(np.column_stack([np.zeros(count), start]))
    reference, monitors = Reference(1, (count,)), []
    reference.v[:, 0], reference.effort[:, 0] = draws['speed'], draws['force']
    for row in range(count):
        force, speed, threshold, timeout = (
            float(draws[x][row]) for x in ('force', 'speed', 'threshold', 'timeout')
        )
        own = GripperParameters(
            goal_tolerance=1e-3, stall_velocity_threshold=threshold, stall_timeout=timeout
        )
        monitors.append(GripperMonitor(own, float(start[row])))
        monitors[-1].set_goal(GripperGoal(0.0, force, speed), 0)
    place = plant.mj_model.jnt_qposadr[plant.mj_model.body('block').jntadr[0]] + 2
    blocks = plant._arrays.qpos[:, place]
    touch = OPENED / draws['speed']
    latest = touch + HANG + draws['timeout']
    reported, wide = np.full(count, np.nan), np.zeros(count, dtype=bool)
    in_hand, slip, t, state = np.zeros(count), np.full(count, np.nan), 0.0, None
    while np.isnan(slip).any():
        measured = Measurement(plant.measured.q[:, 1:], plant.measured.v[:, 1:])
        for row in np.flatnonzero(np.isnan(reported) & (t <= latest)).tolist():
            if monitors[row].update(round(t * 1e9), float(measured.q[row, 0])) is not None:
                reported[row], in_hand[row] = t, blocks[row] - plant.q[row, 0]
                wide[row] = plant.q[row, 1] > draws['width'][row] / 2.0 + TOUCH
        hang = np.isnan(reported) & (t > latest)
        ended = np.isnan(slip) & (hang | (t > reported + HELD))
        slip[ended] = np.abs(blocks[ended] - plant.q[ended, 0] - in_hand[ended])
        if state is None:
            state = law.start(measured, reference)
        effort, state = law(state, measured, reference, PERIOD)
        since = np.where(np.isnan(reported), 0.0, t - reported)
        plant.step(np.column_stack([lifted(since), effort]))
        t += PERIOD
    kinds = [np.isnan(reported), wide, slip > SLIP]
    return Found(np.select(kinds, [3, 1, 2], 0), reported - touch, slip)


def capacity(draws: dict[str, Array]) -> Array:
    """Return the friction of both fingers over the largest load of the lift [1]."""
    return draws['friction'] * draws['force'] / (draws['mass'] * (GRAVITY + PEAK))


def print_rows(name: str, values: Array, edges: Array, outcome: Array) -> None:
    """Print the shares of the outcomes over ranges of a number."""
    print(f'\n{name:>33}{"grasps":>7}' + ''.join(f'{each:>10}' for each in OUTCOMES))
    for low, high in pairwise(edges):
        own = outcome[(values >= low) & (values < high)]
        shares = ''.join(f'{(own == k).mean() if len(own) else 0.0:10.1%}' for k in range(4))
        print(f'{low:20.3g} to {high:8.3g}{len(own):8d}{shares}')


def map_of(x: Array, y: Array, good: Array, edges: tuple[Array, Array]) -> Array:
    """Return the share of grasps that are good, over two numbers."""
    total = np.histogram2d(x, y, edges)[0]
    return np.histogram2d(x[good], y[good], edges)[0] / np.maximum(total, 1.0)


def draw(draws: dict[str, Array], outcome: Array, path: Path) -> None:
    """Draw success over force and friction, and wrong reports over noise and threshold."""
    figure = new_figure(9.0, 3.6)
    left, right = panels(figure, 2)
    force, friction = np.geomspace(2.0, 60.0, 13), np.linspace(0.1, 1.0, 11)
    noise, threshold = np.geomspace(1e-6, 1e-3, 13), np.geomspace(1e-4, 0.1, 13)
    right_report = (outcome == 0) | (outcome == 2)
    cases = (
        (left, 'held, where the report is right', ('closing force [N]', 'friction [1]'),
         draws['force'], draws['friction'], outcome == 0, right_report, (force, friction), 1.0),
        (right, 'neither early nor hanging', ('noise [mm]', 'stall threshold [mm/s]'),
         draws['noise'], draws['threshold'], right_report, outcome >= 0, (noise, threshold), 1e3),
    )  # fmt: skip
    for axis, title, (x, y), one, other, good, of, edges, unit in cases:
        share = map_of(one[of], other[of], good[of], edges)
        shown = axis.pcolormesh(
            unit * edges[0], unit * edges[1], share.T, vmin=0.0, vmax=1.0, cmap='cividis'
        )
        axis.set_xscale('log')
        plain_numbers(axis.xaxis)
        style(axis, f'Share of grasps {title}', x, y, grid='')
    right.set_yscale('log')
    plain_numbers(right.yaxis)
    figure.colorbar(shown, ax=[left, right])
    save(figure, path)


def main() -> None:
    """Run what the kept file does not have, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--grasps', type=int, default=10_000)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--keep', type=Path, help='file of finished grasps')
    parser.add_argument('--picture', type=Path, help='file of the picture')
    given = parser.parse_args()
    print_conditions()
    draws = drawn(range(given.grasps), given.seed)
    found = np.full((given.grasps, 3), np.nan)
    if given.keep and given.keep.exists():
        kept = np.loadtxt(given.keep, ndmin=2)
        kept = kept[kept[:, 0] < given.grasps]
        found[kept[:, 0].astype(int)] = kept[:, 1:]
    left = np.flatnonzero(np.isnan(found[:, 0]))
    left = left[np.argsort((OPENED / draws['speed'] + draws['timeout'])[left])]
    robot = axis_robot()
    with progress('grasps', given.grasps, new_console(stderr=True)) as show:
        for begin in range(0, len(left), CHUNK):
            rows = left[begin : begin + CHUNK]
            own = {name: each[rows] for name, each in draws.items()}
            found[rows] = np.column_stack(grasp(robot, own, rows.tolist()))
            if given.keep:
                with given.keep.open('a', encoding='utf-8') as file:
                    np.savetxt(file, np.column_stack([rows, found[rows]]), fmt='%.6g')
            show(given.grasps - len(left) + begin + len(rows), '')
    report(draws, Found(*found.T), given.picture)


def report(draws: dict[str, Array], found: Found, picture: Path | None) -> None:
    """Print the tables, and draw the picture."""
    outcome, strength = found.outcome, capacity(draws)
    right = (outcome == 0) | (outcome == 2)
    foreseen = (strength > 1.0) == (outcome == 0)
    print(f'\nof {right.sum()} right reports friction foretells {foreseen[right].mean():.1%}')
    quiet = right & (draws['noise'] < 1e-5)
    print(f'of {quiet.sum()} with less than 0.01 mm of noise {foreseen[quiet].mean():.1%}')
    able = strength > 1.5
    low, high = interval(int((outcome[able] == 0).sum()), int(able.sum()))
    print(
        f'held where friction is 1.5 times the load: {(outcome[able] == 0).mean():.2%} '
        f'({low:.2%} to {high:.2%}) of {able.sum()}'
    )
    print_rows('friction over load', strength, np.array([0, 0.5, 0.9, 1.1, 1.5, 3, 1e3]), outcome)
    print('\nbelow: where friction is 1.5 times the load')
    noisy = able & (draws['noise'] > NOISY)
    cases = (
        ('noise [m]', 'noise', able, np.array([1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3])),
        ('threshold [m/s], noise > 0.03 mm', 'threshold', noisy,
         np.array([1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.1])),
        ('timeout [s], noise > 0.03 mm', 'timeout', noisy,
         np.array([0.02, 0.05, 0.1, 0.2, 0.5])),
    )  # fmt: skip
    for title, name, of, edges in cases:
        print_rows(title, draws[name][of], edges, outcome[of])
    late = found.after_touch - draws['timeout']
    for low, high in pairwise(cases[1][3]):
        own = late[noisy & (draws['threshold'] >= low) & (draws['threshold'] < high)]
        middle, most = np.nanpercentile(own, (50, 95))
        print(
            f'threshold {low:g} to {high:g} m/s: report {1e3 * middle:.0f} ms after touch and '
            f'timeout (median), {1e3 * most:.0f} ms (95 %)'
        )
    if picture:
        draw(draws, outcome, picture)


if __name__ == '__main__':
    main()
