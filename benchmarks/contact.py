"""Contacts compared with closed forms: weight, press, slope, impact, energy, friction, balance.

    ./ws python benchmarks/contact.py

Each row is an experiment with a known answer. The exit code is 0 if every error is within its
limit.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import yaml
from conditions import print_conditions

from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters

G = 9.81  # [m/s^2]


class Check(NamedTuple):
    """A number that was found, compared with the expected one.

    Attributes:
        what: the experiment, with the unit of the numbers.
        expected, found: the numbers.
        error: their difference, relative to the expected number where that is not 0.
        limit: the largest allowed error.
    """

    what: str
    expected: float
    found: float
    error: float
    limit: float


def checks() -> Iterator[Check]:
    """Yield every comparison."""
    for make in (weight, press, slopes, impacts, energy, friction_cone, balance):
        yield from make()


def weight() -> Iterator[Check]:
    """A block at rest: the floor carries m g."""
    plant = scene([block(mass=0.7)])
    for _ in range(3000):
        hold(plant)
    force = sum(point.force[2] for point in plant.contacts.points())
    yield relative('weight of a block at rest [N]', 0.7 * G, force, 1e-6)
    depth = plant.contacts.points()[0].penetration
    yield relative('its penetration m g / (4 k) [mm]', 0.7 * G / 4e4 * 1e3, depth * 1e3, 1e-6)


def press() -> Iterator[Check]:
    """The tip of a UR5e presses on a table: joint torques say the force, geometry the depth."""
    robot = Robot.load('ur5e')
    model = robot.model
    x, y, z = model.forward_kinematics(robot.start).translation.tolist()
    for stiffness in (1e4, 1e5):
        table = block(
            mass=0.0, size=[0.2, 0.2, 0.1], position=[x, y, z - 0.051], stiffness=stiffness
        )
        plant = scene([table], model)
        plant.reset(robot.start)
        down = model.jacobian(robot.start)[2]
        forces, depths = [], []
        for _ in range(8000):
            spring = 2000.0 * (robot.start - plant.q) - 200.0 * plant.v
            plant.step(model.gravity_torque(plant.q) - 20.0 * down + spring)
            torque = model.gravity_torque(plant.q) - plant.effort
            forces.append(np.linalg.solve(model.jacobian(plant.q).T, torque)[2])
            depths.append(sum(point.penetration for point in plant.contacts.points()))
        expected, found = stiffness * np.mean(depths[4000:]), np.mean(forces[4000:])
        yield relative(f'press on {stiffness:g} N/m: k x [N]', expected, found, 0.01)


def slopes() -> Iterator[Check]:
    """A block on a slope of angle atan(mu (1 + e)) slides with g (sin - mu cos), or not at all."""
    for mu in (0.3, 0.6):
        for part in (-0.01, 0.01, 0.2):
            angle = np.arctan(mu * (1.0 + part))
            gravity = (G * np.sin(angle), 0.0, -G * np.cos(angle))
            plant = scene([block(friction=mu)], gravity=gravity)
            for _ in range(500):
                hold(plant)
            start, speed = plant.scene.object_poses()[0, 0], object_velocity(plant)[0]
            for _ in range(1000):
                hold(plant)
            speed, far = (
                object_velocity(plant)[0] - speed,
                plant.scene.object_poses()[0, 0] - start,
            )
            if part < 0.0:
                yield Check(f'slope {part:+.0%} of mu {mu:g}: motion in 0.5 s [mm]', 0.0,
                            far * 1e3, far * 1e3, 0.05)  # fmt: skip
            else:
                found = (G * np.sin(angle) - speed / 0.5) / (G * np.cos(angle))
                yield relative(f'slope {part:+.0%} of mu: friction coefficient', mu, found, 0.01)


def impacts() -> Iterator[Check]:
    """A ball on the floor keeps a share of its speed, the restitution."""
    for restitution in (0.2, 0.3, 0.5, 0.8, 1.0):
        found = []
        for height in np.linspace(0.051, 0.0515, 6)[:-1].tolist():
            ball = {
                'name': 'ball', 'shape': 'sphere', 'size': [0.1], 'position': [0.5, 0.0, height],
                'mass': 0.5, 'stiffness': 2e4, 'restitution': restitution,
            }  # fmt: skip
            plant = scene([ball], gravity=(0.0, 0.0, 0.0))
            object_velocity(plant)[2] = -1.0
            for _ in range(200):
                hold(plant)
            found.append(object_velocity(plant)[2])
        yield relative('impact: restitution', restitution, float(np.mean(found)), 0.02)


def energy() -> Iterator[Check]:
    """A block that is thrown onto the floor loses energy from flight to flight."""
    thrown = block(position=[0.5, 0.0, 0.2], rotation=[0.3, 0.5, 0.1], damping=5.0)
    plant = scene([thrown], timestep=5e-4)
    object_velocity(plant)[:] = 0.3, 0.2, -1.0, 3.0, -2.0, 1.0
    mass, moment = 1.0, 1.0 * 0.1**2 / 6.0
    flights = []
    for _ in range(6000):
        hold(plant)
        v = object_velocity(plant)
        height = plant.scene.object_poses()[0, 2]
        total = 0.5 * mass * v[:3] @ v[:3] + 0.5 * moment * v[3:] @ v[3:] + mass * G * height
        if not plant.contacts.points():
            flights.append(total)
    growth = np.diff(flights).max() / flights[0]
    yield Check('thrown block: largest growth of energy per step [1]', 0.0, growth, growth, 1e-3)


def friction_cone() -> Iterator[Check]:
    """No friction force is larger than mu f_n."""
    plant = scene([block(friction=0.4)])
    object_velocity(plant)[:] = 1.0, 0.5, 0.0, 0.0, 0.0, 8.0
    worst = -np.inf
    for _ in range(1000):
        hold(plant)
        for point in plant.contacts.points():
            normal = point.force @ point.normal
            tangential = np.linalg.norm(point.force - normal * point.normal)
            worst = max(worst, tangential - 0.4 * normal)
    yield Check('sliding block: |f_t| - mu f_n at most [N]', 0.0, worst, max(worst, 0.0), 1e-9)


def balance() -> Iterator[Check]:
    """M a + b - tau - J^T f = 0 while a UR5e presses a free block on the floor."""
    robot = Robot.load('ur5e')
    model = robot.model
    tip = model.forward_kinematics(robot.start).translation
    under = block(size=[0.3, 0.3, float(tip[2]) - 0.03], mass=5.0, friction=0.5)
    under['position'] = [float(tip[0]), float(tip[1]), float(tip[2]) / 2.0 - 0.015]
    plant = scene([under], model, timestep=5e-4, integrator='implicitfast')
    plant.reset(robot.start)
    worst, most = 0.0, 0
    down = model.jacobian(robot.start)[2]
    for _ in range(3000):
        q, v = plant.q.copy(), plant.v.copy()
        tau = model.gravity_torque(q) - 60.0 * down - 20.0 * v
        plant.step(tau)
        points = [p for p in plant.contacts.points() if 'floor' not in p.shapes]
        pull = np.zeros(model.nv)
        for point in points:
            sign = -1.0 if point.shapes[1] != 'block' else 1.0
            link = next(name for name in point.shapes if name != 'block').partition(' shape ')[0]
            rows = model.jacobian(q, link)
            lever = point.position - model.forward_kinematics(q, link).translation
            pull -= sign * (rows[:3] - pin.skew(lever) @ rows[3:]).T @ point.force
        a = plant.mj_data.qacc[: model.nv]
        rest = model.mass_matrix(q) @ a + model.bias_torque(q, v) - tau - pull
        worst, most = max(worst, float(np.abs(rest).max())), max(most, len(points))
    yield Check(f'press with {most} points: M a + b - tau - J^T f [N.m]', 0.0, worst, worst, 1e-12)


def block(**changes: Any) -> dict[str, Any]:
    """Return a block of 0.1 m and 1 kg on the floor."""
    values = {
        'name': 'block', 'shape': 'box', 'size': [0.1, 0.1, 0.1], 'position': [0.5, 0.0, 0.05],
        'mass': 1.0, 'stiffness': 1e4, 'damping': 30.0,
    }  # fmt: skip
    return values | changes


def scene(
    objects: Sequence[dict[str, Any]],
    model: RobotModel | None = None,
    gravity: Sequence[float] = (0.0, 0.0, -G),
    **parameters: Any,
) -> MujocoPlant:
    """Return an arm among objects."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, 'scene.yaml')
        file.write_text(yaml.safe_dump(list(objects)))
        numbers = {'actuator': 'torque', 'timestep': 5e-4, **parameters}
        own = PlantParameters(scene=str(file), **numbers)
        return MujocoPlant(
            model or RobotModel.from_urdf(find_urdf('planar_3r'), gravity=gravity), own
        )


def hold(plant: MujocoPlant) -> None:
    """Advance by a period with the arm held."""
    plant.q[:], plant.v[:] = 0.0, 0.0
    plant.step(np.zeros(len(plant.joint_names)))


def object_velocity(plant: MujocoPlant) -> np.ndarray:
    """Return a view of the velocity (6,) of the only free object."""
    return plant.mj_data.qvel[len(plant.joint_names) :]


def relative(what: str, expected: float, found: float, limit: float) -> Check:
    """Return a comparison whose error is relative to the expected number."""
    return Check(what, expected, found, abs(found / expected - 1.0), limit)


def main() -> int:
    """Print a row per comparison."""
    print_conditions()
    print(f'{"":54}  {"expected":>12}  {"found":>12}  {"error":>9}  {"limit":>7}')
    bad = 0
    for each in checks():
        mark = '' if each.error <= each.limit else '  <-- beyond'
        bad += bool(mark)
        print(
            f'{each.what:54}  {each.expected:12.7g}  {each.found:12.7g}  {each.error:9.1e}'
            f'  {each.limit:7.0e}{mark}'
        )
    return int(bad > 0)


if __name__ == '__main__':
    sys.exit(main())
