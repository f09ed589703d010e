"""Laws that press on a wall which shares nothing with the package's plants.

    ./ws python benchmarks/foreign_contact.py

`press` of the UR5e with the probe (10 N, 500 Hz), arm and wall outside the package: SciPy's DOP853
over Pinocchio (benchmarks/foreign_arm.py), the ball on a spring with Coulomb friction (0.3), a
sensor from Newton and Euler's equations of the probe. Only the law and its goal are the package's.
The ball sticks on a spring along the wall, too; in the rows that creep the friction fades below
1e-4 m/s instead, so that the ball never rests. `rest` is the RMS error in the last second, `peak`
the largest force [N].
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
import pinocchio as pin
from conditions import print_conditions
from foreign_arm import Array, ForeignArm

from arm_controllers.measurement import Measurement
from arm_controllers.reference import SampledReference
from arm_dynamics.robots import share_folder
from arm_lab.experiments.experiment import Experiment, LoadedExperiment

ROBOT, RADIUS = 'ur5e gripper:=probe', 0.01  # the ball's [m]
SHARP = 1e-4  # below this speed friction fades [m/s | rad/s]
LAWS = (
    'hybrid_force_motion', 'parallel_force_position', 'admittance_effort', 'cartesian_impedance',
    'mpc',
)  # fmt: skip
CREEPS = ', creeps'  # behind the name of a law
STIFFNESSES = (1e4, 4e4, 1e6)


class PressingArm(ForeignArm):
    """An arm without drives whose probe touches a wall below its start.

    Attributes:
        force: of the wall on the ball (3,) at the last instant [N].
    """

    def __init__(self, loaded: LoadedExperiment, creeps: bool = False):
        """Put the wall of the task of an experiment below the ball, which sticks or creeps."""
        model, task, probe = loaded.robot.model, loaded.task.parameters, 'grippers/probe.urdf'
        most = model.effort_limit

        def torque(command: Array, q: Array, v: Array) -> Array:
            dry = model.friction * np.tanh(v / SHARP)
            drive = np.clip(command, -most, most) - model.damping * v - dry
            return np.asarray(drive + self._push(q, v))

        super().__init__(model.urdf, model.armature, torque)
        self._stiffness, self._friction = task.surface_stiffness, task.surface_friction
        self._creeps, self._wall, self._anchor = creeps, -np.inf, np.zeros(2)
        self._tool = self.model.getFrameId('probe')
        self._ball = self.model.getFrameId('probe_tcp')
        one = pin.buildModelFromXML((share_folder() / 'urdf' / probe).read_text())
        self._inertia = one.inertias[0]
        self.q, self.force = np.array(loaded.robot.start), np.zeros(3)
        self._anchor = self.tip(self.q, 'probe_tcp')[:2]
        self._wall = self.tip(self.q, 'probe_tcp')[2] - task.distance + RADIUS
        self._tare = np.zeros(6)
        self._tare = self.wrench(model.gravity_torque(self.q))

    def _push(self, q: Array, v: Array) -> Array:
        """Return what the wall exerts on the joints (n,) [N.m]."""
        pin.computeJointJacobians(self.model, self._data, q)
        pin.updateFramePlacements(self.model, self._data)
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        both = pin.getFrameJacobian(self.model, self._data, self._ball, axes)
        lever = np.array([0.0, 0.0, -RADIUS])
        jacobian = both[:3] - pin.skew(lever) @ both[3:]
        *across, height = self._data.oMf[self._ball].translation
        normal = max(0.0, self._stiffness * (self._wall - height))
        if self._creeps:
            slip = (jacobian @ v)[:2]
            speed = np.hypot(*slip) + 1e-300
            sideways = -self._friction * normal * np.tanh(speed / SHARP) / speed * slip
        else:
            sideways = self._stiffness * (self._anchor - across)
            sideways *= min(1.0, self._friction * normal / (np.hypot(*sideways) + 1e-300))
        self.force = np.array([*sideways, normal])
        return np.asarray(jacobian.T @ self.force)

    def move(self, command: Array, seconds: float, at: Array | None = None) -> Array:
        """Move; then let the point at which the ball sticks follow where the ball has slipped."""
        found = super().move(command, seconds, at)
        self._push(self.q, self.v)
        self._anchor = self.tip(self.q, 'probe_tcp')[:2] + self.force[:2] / self._stiffness
        return found

    def wrench(self, command: Array) -> Array:
        """Return the sensor's reading (6,) at this instant, under this command."""
        a = self.acceleration(command, self.q, self.v)
        pin.forwardKinematics(self.model, self._data, self.q, self.v, a)
        pin.updateFramePlacements(self.model, self._data)
        local = pin.ReferenceFrame.LOCAL
        v = pin.getFrameVelocity(self.model, self._data, self._tool, local)
        rate = pin.getFrameAcceleration(self.model, self._data, self._tool, local)
        place, ball = self._data.oMf[self._tool], self._data.oMf[self._ball]
        rate -= pin.Motion(place.rotation.T @ self.model.gravity.linear, np.zeros(3))
        needs = self._inertia * rate + v.cross(self._inertia * v)
        point = ball.translation + np.array([0.0, 0.0, -RADIUS]) - place.translation
        push = pin.Force(self.force, np.cross(point, self.force))
        turned = pin.SE3(place.rotation, np.zeros(3)).actInv(push)
        return np.asarray((turned - needs).vector) - self._tare


def experiment(law: str, **given: float) -> LoadedExperiment:
    """Return `press` under a law, with parameters of the task."""
    case = Experiment.of_files(ROBOT, 'press', law)
    return LoadedExperiment(case, case.load().robot, given)


def forces(loaded: LoadedExperiment, seconds: float = 6.0, creeps: bool = False) -> Array:
    """Return the force along the normal (k,) at the control instants [N]."""
    arm, law = PressingArm(loaded, creeps), loaded.law()
    period = loaded.plant_parameters().period
    step = round(period * 1e9)
    sampled = SampledReference(loaded.task.reference, len(arm.q), step)
    found = []
    command = loaded.robot.model.gravity_torque(arm.q)
    state = law.start(Measurement(arm.q, arm.v, wrench=arm.wrench(command)), sampled.at(0))
    for k in range(round(seconds / period)):
        measured = Measurement(arm.q.copy(), arm.v.copy(), wrench=arm.wrench(command))
        found.append(arm.force[2])
        command, state = law(state, measured, sampled.at(k * step), period)
        command = np.array(command)
        arm.move(command, period)
    return np.array(found)


def row(law: str, stiffness: float) -> tuple[float, float]:
    """Return the RMS error at rest and the peak [N]."""
    name = law.removesuffix(CREEPS)
    found = forces(experiment(name, surface_stiffness=stiffness), creeps=name != law)
    rest = found[-len(found) // 6 :] - 10.0
    return float(np.sqrt(np.mean(rest**2))), float(found.max())


def main() -> int:
    """Run the laws and print their table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--laws', nargs='+', default=(*LAWS, f'mpc{CREEPS}'))
    laws = parser.parse_args().laws
    print_conditions()
    with ProcessPoolExecutor() as pool:
        jobs = {key: pool.submit(row, *key) for key in product(laws, STIFFNESSES)}
        heads = ' | '.join(f'{k:.0e} N/m: rest, peak [N]' for k in STIFFNESSES)
        print(f'\n| law | {heads} |\n| --- |{" ---: |" * len(STIFFNESSES)}')
        for law in laws:
            cells = ('{:.2g}, {:.3g}'.format(*jobs[law, k].result()) for k in STIFFNESSES)
            print(f'| `{law}` | {" | ".join(cells)} |', flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
