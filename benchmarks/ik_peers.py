"""Other inverse kinematics libraries from PyPI, each behind one call: solve(target, seed)."""

import contextlib
import io
import tempfile
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from arm_dynamics.inverse_kinematics.solvers.analytic import Analytic
from arm_dynamics.kinematics.chain import chain_to
from arm_dynamics.model import RobotModel

POSITION, ORIENTATION = 1e-4, 1e-3  # [m], [rad] what counts as solved for everybody
ITERATIONS = 100  # of the QP-based ones


class UnsupportedError(Exception):
    """A peer cannot do this arm or task; says why."""


class Eaik:
    """EAIK alone: closed-form solutions, least-squares ones dropped, nearest to the seed."""

    name, package = 'EAIK, nearest', 'eaik'

    def __init__(self, model: RobotModel, free_axis: bool):
        """Refuse where there is no closed form."""
        if free_axis:
            raise UnsupportedError('no closed form')
        self.robot = Analytic(model, chain_to(model)).robot

    def solve(self, target: pin.SE3, seed: np.ndarray) -> tuple[bool, np.ndarray]:
        """Return whether it claims success, and q."""
        found = self.robot.calculate_IK(target.homogeneous)
        exact = [
            q for q, least_squares in zip(found.Q, found.is_LS, strict=True) if not least_squares
        ]
        if not exact:
            return False, seed
        return True, min(exact, key=lambda q: float(np.sum((q - seed) ** 2)))


class RoboticsToolbox:
    """roboticstoolbox's compiled Levenberg-Marquardt, 30 iterations by up to 100 searches."""

    name, package = 'roboticstoolbox LM', 'roboticstoolbox'

    def __init__(self, model: RobotModel, free_axis: bool):
        """Read the URDF."""
        if free_axis:
            raise UnsupportedError('masks axes of the base, not of the target')
        import roboticstoolbox

        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            robot = roboticstoolbox.Robot.URDF(urdf_file(model))
        self.chain = robot.ets(end=model.tip_frame)
        self.joints = chain_to(model).joints
        self.tolerance = 0.5 * POSITION**2

    def solve(self, target: pin.SE3, seed: np.ndarray) -> tuple[bool, np.ndarray]:
        """Return whether it claims success, and q."""
        found = self.chain.ik_LM(target.homogeneous, q0=seed[self.joints], tol=self.tolerance)
        q = seed.copy()
        q[self.joints] = found.q
        return bool(found.success), q


class Tracik:
    """pytracik: TRAC-IK, Newton and SQP side by side, at most 50 ms."""

    name, package = 'pytracik', 'pytracik'

    def __init__(self, model: RobotModel, free_axis: bool):
        """Read the URDF."""
        if free_axis:
            raise UnsupportedError('its Python binding has no tolerance per component')
        import pytracik

        self.ik = pytracik.ik
        self.solver = pytracik.TRAC_IK(
            model.base_frame,
            model.tip_frame,
            without_shapes(model.urdf),
            0.05,
            1e-5,
            pytracik.SolveType.Speed,
        )
        self.joints = chain_to(model).joints
        q = model.random_configuration(np.random.default_rng(0))
        pose = pytracik.fk(self.solver, q[self.joints])
        if not np.allclose(pose, model.forward_kinematics(q).homogeneous, atol=1e-6):
            raise UnsupportedError("its forward kinematics is not the URDF's")

    def solve(self, target: pin.SE3, seed: np.ndarray) -> tuple[bool, np.ndarray]:
        """Return whether it claims success, and q."""
        o = pin.Quaternion(target.rotation)
        found = self.ik(self.solver, seed[self.joints], *target.translation, o.x, o.y, o.z, o.w)
        n = len(self.joints)
        if len(found) < n or (len(found) > n and found[0] < 0):
            return False, seed
        q = seed.copy()
        q[self.joints] = found[-n:]
        return True, q


class Pink:
    """pin-pink: one QP per step, 100 steps."""

    name, package = 'pink', 'pink'

    def __init__(self, model: RobotModel, free_axis: bool):
        """Build configuration and task."""
        import pink
        import pink.tasks

        cost = np.array([1.0, 1.0, 0.0]) if free_axis else 1.0
        self.pink, self.model = pink, model
        self.task = pink.tasks.FrameTask(
            model.tip_frame, position_cost=1.0, orientation_cost=cost, lm_damping=1e-3
        )

    def solve(self, target: pin.SE3, seed: np.ndarray) -> tuple[bool, np.ndarray]:
        """Return whether it claims success, and q."""
        model = self.model
        start = np.clip(seed, model.position_lower, model.position_upper)
        configuration = self.pink.Configuration(
            model.pin_model, model.pin_data, model.to_pin(start).copy()
        )
        self.task.set_target(pin.SE3(target))
        for _ in range(ITERATIONS):
            error = self.task.compute_error(configuration) * (self.task.cost > 0.0)
            if np.linalg.norm(error[:3]) < POSITION and np.linalg.norm(error[3:]) < ORIENTATION:
                return True, self._angles(configuration.q)
            v = self.pink.solve_ik(
                configuration, [self.task], 1.0, solver='daqp', safety_break=False
            )
            configuration.integrate_inplace(v, 1.0)
        return False, self._angles(configuration.q)

    def _angles(self, pin_q: np.ndarray) -> np.ndarray:
        q = pin_q[self.model._q_index].copy()
        ends = self.model._q_index[self.model.continuous]
        q[self.model.continuous] = np.arctan2(pin_q[ends + 1], pin_q[ends])
        return q


class Mink:
    """mink: the same on MuJoCo, 100 steps."""

    name, package = 'mink', 'mink'

    def __init__(self, model: RobotModel, free_axis: bool):
        """Build the MuJoCo model, configuration and task."""
        import mink
        import mujoco

        spec = mujoco.MjSpec.from_string(without_shapes(model.urdf))
        spec.compiler.fusestatic = False
        self.mink, self.model = mink, spec.compile()
        self.order = np.array([self.model.joint(j).qposadr[0] for j in model.joint_names])
        cost = [1.0, 1.0, 0.0] if free_axis else 1.0
        self.configuration = mink.Configuration(self.model)
        self.task = mink.FrameTask(
            model.tip_frame, 'body', position_cost=1.0, orientation_cost=cost, lm_damping=1e-1
        )
        self.limits = [mink.ConfigurationLimit(self.model)]

    def solve(self, target: pin.SE3, seed: np.ndarray) -> tuple[bool, np.ndarray]:
        """Return whether it claims success, and q."""
        q = np.zeros(self.model.nq)
        q[self.order] = seed
        self.configuration.update(q)
        self.task.set_target(self.mink.SE3.from_matrix(target.homogeneous))
        for _ in range(ITERATIONS):
            error = self.task.compute_error(self.configuration) * (self.task.cost > 0.0)
            if np.linalg.norm(error[:3]) < POSITION and np.linalg.norm(error[3:]) < ORIENTATION:
                return True, self.configuration.q[self.order].copy()
            v = self.mink.solve_ik(
                self.configuration, [self.task], 1.0, solver='daqp', limits=self.limits
            )
            self.configuration.integrate_inplace(v, 1.0)
        return False, self.configuration.q[self.order].copy()


class Ikpy:
    """ikpy: a general optimiser of SciPy."""

    name, package = 'ikpy', 'ikpy'

    def __init__(self, model: RobotModel, free_axis: bool):
        """Read the URDF."""
        from ikpy.chain import Chain

        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter('ignore')
            self.chain = Chain.from_urdf_file(
                urdf_file(model), base_elements=[model.base_frame], symbolic=False
            )
        moving = [i for i, link in enumerate(self.chain.links) if link.joint_type != 'fixed']
        names = [self.chain.links[i].name for i in moving]
        wanted = [model.joint_names[j] for j in chain_to(model).joints]
        if [n for n in names if n in wanted] != wanted or len(names) != len(wanted):
            raise UnsupportedError('its URDF reader takes another chain')
        self.links, self.joints = np.array(moving), chain_to(model).joints
        self.mode = 'Z' if free_axis else 'all'

    def solve(self, target: pin.SE3, seed: np.ndarray) -> tuple[bool, np.ndarray]:
        """Return q; it never says whether it succeeded."""
        start = np.zeros(len(self.chain.links))
        start[self.links] = seed[self.joints]
        found = self.chain.inverse_kinematics_frame(
            target.homogeneous, initial_position=start, orientation_mode=self.mode
        )
        q = seed.copy()
        q[self.joints] = found[self.links]
        return True, q


PEERS = (Eaik, RoboticsToolbox, Tracik, Pink, Mink, Ikpy)


def without_shapes(urdf: str) -> str:
    """Return a URDF without shapes, for which some readers want the mesh files."""
    tree = ElementTree.fromstring(urdf)
    for link in tree.iter('link'):
        for shape in [*link.findall('visual'), *link.findall('collision')]:
            link.remove(shape)
    return ElementTree.tostring(tree, encoding='unicode')


def urdf_file(model: RobotModel) -> str:
    """Return the path of a file with the model's URDF, without shapes."""
    path = Path(tempfile.gettempdir()) / f'ik_benchmark_{model.name}.urdf'
    path.write_text(without_shapes(model.urdf))
    return str(path)
