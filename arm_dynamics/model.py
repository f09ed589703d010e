"""Model of a fixed-base arm from a URDF: rigid bodies by Pinocchio, rotor inertia, friction."""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, finite, freeze, per_joint
from arm_dynamics.frames import Frames
from arm_dynamics.parameters import ParameterValues
from arm_dynamics.tool_link import srdf_tips, tool_link
from arm_dynamics.urdf import read_urdf, with_dynamics
from arm_dynamics.urdf_numbers import impossible_inertias, rotor_inertias
from arm_dynamics.urdf_rules import rules

# Parameters of a model that override what its URDF says.
ARM_PARAMETERS = ('gravity', 'armature', 'damping', 'friction')

# Below this speed [rad/s | m/s] the model's Coulomb friction F is proportional to the speed. A law
# that cancels F at the measured velocity feeds back -F/STANDSTILL v. With a smaller value an arm
# at rest chatters: in MuJoCo, whose friction creeps, from F dt/M = STANDSTILL on.
STANDSTILL = 0.05

_RADIUS = 0.05  # of a payload [m]


class RobotModel(Frames):
    """Kinematics and dynamics of one arm, with the rotor inertias and friction of its joints.

        (M(q) + A) a + C(q, v) v + g(q) + D v + F clip(v / STANDSTILL, -1, 1) = tau + J^T f

    `q` holds one number per joint: an angle [rad] for revolute and continuous joints, a length [m]
    for prismatic ones. (Pinocchio's (cos, sin) of a continuous joint stays inside this class.)
    Wrenches are given in the base frame, the URDF's root link.

    Returned arrays are new, never views of internal data. Not thread-safe.

    Attributes in addition to those of Frames:
        armature: (nv,) A, rotor inertia seen at the joint [kg m^2 | kg].
        damping: (nv,) D, viscous friction [N.m.s/rad | N.s/m].
        friction: (nv,) F, Coulomb friction [N.m | N].
        has_friction: whether D or F is not zero.
        gravity: (3,) gravity [m/s^2] in the base frame.
        urdf: the URDF's text.
        file: path of the URDF file; empty where the text was given.
        springs: what springs and tendons of the MJCF do to the joints, which is not in the model.
        mjcf: path of the MJCF that engine mujoco simulates in place of the URDF; usually empty.
        added: of armature, damping and friction those that differ from the URDF's.
        impossible_inertias: inertias that no body has, by link; see `urdf_numbers`.
        notes: what a user should know about the URDF, one line each.
    """

    def __init__(
        self,
        path_or_xml: str | Path,
        tip_frame: str | None = None,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        armature: ArrayLike = (),
        damping: ArrayLike = (),
        friction: ArrayLike = (),
        notes: Sequence[str] | None = None,
    ):
        """Read any fixed-base URDF with revolute, continuous and prismatic joints.

        Args:
            path_or_xml: path of a URDF file, or the URDF's text.
            tip_frame: link that is the tool frame; by default that of `tool_link`.
            gravity: [m/s^2] in the base frame.
            armature, damping, friction: one number for all joints or one per joint, in place of
                the URDF's <dynamics>, of which `armature` is an extension; its default is 0.
            notes: in place of those on the URDF, as where thousands of arms are drawn from one.

        Raises:
            ArmError: no such file, not a URDF, a joint type that is not supported, no such tip
                frame, or a number that is not allowed.
        """
        self.urdf, tree, model = read_urdf(path_or_xml)
        self.gravity = finite('gravity', gravity, (3,))
        model.gravity.linear = self.gravity
        self.file = '' if '<' in str(path_or_xml) else str(path_or_xml)
        tips = srdf_tips(Path(self.file)) if self.file else ()
        of_mjcf: dict[str, str] = next((each.attrib for each in tree.iterfind('mjcf')), {})
        self.mjcf, self.springs = (of_mjcf.get(name, '') for name in ('file', 'springs'))
        super().__init__(tree, model, tool_link(tree, tips) if tip_frame is None else tip_frame)
        self.impossible_inertias = impossible_inertias(tree)
        self.added: dict[str, Array] = {}

        def given(name: str, values: ArrayLike, urdf: Array) -> Array:
            values = values if np.size(values) else urdf
            numbers = per_joint(name, values, self.joint_names, minimum=0.0)
            if (numbers != urdf).any():
                self.added[name] = numbers
            return numbers

        rotors = rotor_inertias(tree, self.moving_joints)
        viscous, dry = model.damping, model.upperDryFrictionLimit
        if self.mimic is not None:  # what followers have acts on the joint that they follow
            ratio = np.abs(self.mimic.matrix.T)
            rotors, viscous, dry = ratio**2 @ rotors, ratio**2 @ viscous, ratio @ dry
        self.armature = given('armature', armature, rotors)
        self.damping = given('damping', damping, viscous)
        self.friction = given('friction', friction, dry)
        self._know_joints()
        if notes is None:
            notes = [note for rule in rules() for note in rule.notes(tree, self, tip_frame)]
        self.notes = tuple(notes)
        for rule in rules():
            rule.check(tree, self)

    def without_coulomb_friction(self) -> Self:
        """Return the same model with Coulomb friction F = 0."""
        return self.with_joints(self.armature, self.damping, np.zeros(self.nv))

    def with_joints(self, armature: Array, damping: Array, friction: Array) -> Self:
        """Return the same links with other rotor inertias and frictions of the joints (n,)."""
        other = copy(self)
        other.pin_model = self.pin_model.copy()
        other.pin_data = other.pin_model.createData()
        other.armature, other.damping, other.friction = armature, damping, friction
        other._know_joints()
        return other

    def _know_joints(self) -> None:
        self._coulomb = bool(self.friction.any())
        self.has_friction = self._coulomb or bool(self.damping.any())
        rotors = np.zeros(self.pin_model.nv)
        rotors[self.own] = self.armature
        self.pin_model.armature = rotors  # joins M in Pinocchio's RNEA, CRBA and ABA
        freeze(self)

    @classmethod
    def from_description(cls, text: str, tip_frame: str | None = None) -> Self:
        """Return the model of a robot_description; raises ArmError where this is no XML."""
        if not text.lstrip().startswith('<'):
            raise ArmError('not a URDF: the text does not begin with <')
        return cls(text, tip_frame)

    @classmethod
    def from_urdf(cls, path_or_xml: str | Path, *args: Any, **others: Any) -> Self:
        """Return RobotModel(path_or_xml, ...)."""
        return cls(path_or_xml, *args, **others)

    @property
    def description(self) -> str:
        """The URDF with armature, damping and friction of this model as <dynamics>.

        It is the unmodified text where the URDF has these values.
        """
        values = {name: getattr(self, name) for name in ('damping', 'friction', 'armature')}
        if not self.added:
            return self.urdf
        if self.mimic is not None:  # nothing is left to the followers
            all_values = np.zeros((len(values), self.pin_model.nv))
            all_values[:, self.own] = list(values.values())
            values = dict(zip(values, all_values, strict=True))
        return with_dynamics(self.urdf, self.moving_joints, values)

    def arm_parameters(self) -> ParameterValues:
        """Return the parameters that, with the URDF, define this model; see `ArmParameters`."""
        numbers = {name: getattr(self, name).tolist() for name in ARM_PARAMETERS}
        return {'tool_frame': self.tip_frame, **numbers}

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M(q) + A (nv x nv), full and symmetric, by the composite-rigid-body algorithm."""
        return self.reduced(pin.crba(self.pin_model, self.pin_data, self.to_pin(q)))

    def check_inertia(self) -> None:
        """Raise ArmError where a joint moves no inertia except its rotor's."""
        rng = np.random.default_rng(0)
        for _ in range(3):
            m = self.mass_matrix(self.random_configuration(rng)) - np.diag(self.armature)
            roots = np.sqrt(np.diagonal(m).clip(0.0))
            joint, smallest = int(roots.argmin()), 0.0
            if roots[joint] > 1e-7:
                values, vectors = np.linalg.eigh(m / np.outer(roots, roots))
                joint, smallest = int(np.abs(vectors[:, 0]).argmax()), values[0]
            if not smallest > 1e-12:
                used = 'estimated="true"' in self.urdf
                first = 'no shape behind it has volume:' if used else 'use inertia:=estimate, or'
                raise ArmError(
                    f'joint {self.joint_names[joint]!r} of {self.name!r} moves no inertia: '
                    f'{first} give the link behind it an <inertial> with mass'
                )

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return C(q, v) (nv x nv) with Mdot - 2 C skew-symmetric."""
        state = self.to_pin(q), self.all_rates(v)
        return self.reduced(pin.computeCoriolisMatrix(self.pin_model, self.pin_data, *state))

    def gravity_torque(self, q: ArrayLike) -> Array:
        """Return g(q) (nv,): the torque that holds the arm at rest."""
        gravity = pin.computeGeneralizedGravity(self.pin_model, self.pin_data, self.to_pin(q))
        return self.reduced(gravity)

    def bias_torque(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return C(q, v) v + g(q) (nv,)."""
        state = self.to_pin(q), self.all_rates(v)
        return self.reduced(pin.nonLinearEffects(self.pin_model, self.pin_data, *state))

    def friction_torque(self, v: ArrayLike) -> Array:
        """Return D v + F clip(v / STANDSTILL, -1, 1) (..., nv), the torque that overcomes it."""
        v = np.asarray(v, dtype=float)
        tau = self.damping * v
        if self._coulomb:
            tau += self.friction * np.minimum(np.maximum(v / STANDSTILL, -1.0), 1.0)
        return tau

    def inertial_parameters(self, payload: float = 0.0) -> Array:
        """Return the inertial parameters pi (10 m,), ten per moving link.

        A ball of mass `payload` [kg] at the tool is added to the link that carries the tool.


        They are m, m c, and the inertia about the joint frame's origin (Ixx, Ixy, Iyy, Ixz, Iyz,
        Izz), in Pinocchio's order. Rotor inertia and friction are not among them.
        """
        links = list(self.pin_model.inertias[1:])
        tip = self.pin_model.frames[self._tip_id]
        links[tip.parentJoint - 1] += tip.placement.act(pin.Inertia.FromSphere(payload, _RADIUS))
        return np.concatenate([link.toDynamicParameters() for link in links])

    def regressor(self, q: Array, v: Array, w: Array, dw: Array) -> Array:
        """Return Y (nv x 10 m) with Y pi = M(q) dw + C(q, v) w + g(q), without A.

        C(q, x) y is bilinear and symmetric in x and y, so that
        C(q, v) w = C(q, m) m - C(q, d) d with m = (v + w)/2, d = (v - w)/2.
        """
        model, pin_q = self.pin_model, self.to_pin(q)
        mean, half, dw = map(self.all_rates, (0.5 * (v + w), 0.5 * (v - w), dw))
        y = pin.computeJointTorqueRegressor(model, self.pin_data, pin_q, mean, dw).copy()
        weightless, data = self._weightless
        y -= pin.computeJointTorqueRegressor(weightless, data, pin_q, half, np.zeros(model.nv))
        y = y.reshape(model.nv, 10 * model.nv)  # Pinocchio returns a vector for one joint
        return self.reduced(y)

    @cached_property
    def _weightless(self) -> tuple[pin.Model, pin.Data]:
        model = self.pin_model.copy()
        model.gravity.linear = np.zeros(3)
        return model, model.createData()

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_forces: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """Return tau = (M(q) + A) a + C(q, v) v + g(q) + friction_torque(v) - J^T f (nv,).

        By recursive Newton-Euler.

        Args:
            q, v, a: (nq,), (nv,), (nv,).
            external_forces: wrench on a frame, by the frame's name: (6,) force [N], torque [N.m]
                at the frame's origin, in axes aligned with the base frame.
        """
        state = self.to_pin(q), self.all_rates(v), self.all_rates(a)
        forces = _joint_forces(self, state[0], external_forces) if external_forces else ()
        tau = self.reduced(pin.rnea(self.pin_model, self.pin_data, *state, *forces))
        if self.has_friction:
            tau += self.friction_torque(v)
        return tau

    def torques_along(self, q: Array, v: Array, a: Array) -> Array:
        """Return the torques (m, nv) of `inverse_dynamics` at m states (m, nv) [N.m | N]."""
        return np.array([self.inverse_dynamics(*state) for state in zip(q, v, a, strict=True)])

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """Return the acceleration (nv,) under tau, by the articulated-body algorithm.

        Where joints follow others, M is solved instead. Arguments as for `inverse_dynamics`, of
        which this is the inverse.
        """
        if self.mimic is not None:
            rest = np.asarray(tau, dtype=float) - self.inverse_dynamics(
                q, v, np.zeros(self.nv), external_forces
            )
            return np.linalg.solve(self.mass_matrix(q), rest)
        q, v, tau = self.to_pin(q), np.asarray(v, dtype=float), np.asarray(tau, dtype=float)
        if self.has_friction:
            tau = tau - self.friction_torque(v)
        forces = _joint_forces(self, q, external_forces) if external_forces else ()
        return pin.aba(self.pin_model, self.pin_data, q, v, tau, *forces)


def _joint_forces(
    model: RobotModel, pin_q: Array, external_forces: Mapping[str, ArrayLike]
) -> tuple[list[pin.Force]]:
    """Return Pinocchio's last argument: each joint's spatial force in its own frame."""
    pin_model, data = model.pin_model, model.pin_data
    pin.forwardKinematics(pin_model, data, pin_q)
    forces = [pin.Force.Zero() for _ in range(pin_model.njoints)]
    for name, wrench in external_forces.items():
        frame_id = model.frame_id(name)
        wrench = finite(f'wrench on {name!r}', wrench, (6,))
        joint = pin_model.frames[frame_id].parentJoint
        pose = pin.updateFramePlacement(pin_model, data, frame_id)
        at_origin = pin.SE3(np.eye(3), pose.translation).act(pin.Force(wrench))
        forces[joint] += data.oMi[joint].actInv(at_origin)
    return (forces,)
