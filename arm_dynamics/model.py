"""Rigid-body model of a fixed-base arm, read from a URDF, computed by Pinocchio."""

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from arm_dynamics.errors import ArmError, limit_error

Array = NDArray[np.float64]

_MOVING_JOINTS = ('revolute', 'continuous', 'prismatic')


class RobotModel:
    """Kinematics and dynamics M(q) a + C(q, v) v + g(q) = tau of one arm.

    `q` holds one number a joint: an angle [rad] for revolute and continuous joints, a length [m]
    for prismatic ones. (Pinocchio's (cos, sin) of a continuous joint stays inside this class.)
    Poses, Jacobians and wrenches are given in the base frame, the URDF's root link.

    Returned arrays are the caller's own, never views of internal data. Not thread-safe.

    Attributes:
        joint_names: names of the moving joints, base to tip.
        nq, nv: number of moving joints (equal: one coordinate a joint).
        position_lower, position_upper: (nq,) limits [rad | m]; infinite where there is none.
        velocity_limit, effort_limit: (nv,) limits [rad/s | m/s], [N.m | N]; infinite where the
            URDF has none or zero.
        damping, friction: (nv,) viscous [N.m.s/rad | N.s/m] and Coulomb [N.m | N] friction of the
            URDF's <dynamics>; in no method here, for plants.
        continuous: (nq,) bool, joints without ends.
        prismatic: (nq,) bool.
        base_frame: name of the root link.
        tip_frame: name of the tool frame.
        frame_names: every link and fixed frame, by the URDF's link names.
        gravity: (3,) gravity [m/s^2] in the base frame.
        urdf: the URDF's text.
        pin_model, pin_data: Pinocchio's model and work space, for code that needs them directly.
    """

    def __init__(
        self, urdf: str, tip_frame: str | None = None, gravity: ArrayLike = (0, 0, -9.81)
    ):
        """See `from_urdf`, which also takes a path."""
        tree = _parse(urdf)
        self.urdf = urdf
        self.name = tree.get('name', 'robot')
        self.pin_model = pin.buildModelFromXML(urdf)
        gravity_vector = np.array(gravity, dtype=float)
        if gravity_vector.shape != (3,) or not np.isfinite(gravity_vector).all():
            raise ArmError(f'gravity must be three finite numbers [m/s^2], not {gravity!r}')
        self.pin_model.gravity.linear = gravity_vector
        self.gravity = gravity_vector
        self.pin_data = self.pin_model.createData()

        model = self.pin_model
        self.joint_names = tuple(model.names[1:])
        self.nv = self.nq = model.nv
        if self.nv == 0:
            raise ArmError(f'URDF {self.name!r} has no revolute, continuous or prismatic joint')
        types = {joint.get('name'): joint.get('type') for joint in tree.findall('joint')}
        self.continuous = np.array([types[name] == 'continuous' for name in self.joint_names])
        self.prismatic = np.array([types[name] == 'prismatic' for name in self.joint_names])
        self._any_continuous = bool(self.continuous.any())
        self._q_index = np.array([joint.idx_q for joint in model.joints[1:]])
        self._pin_q = pin.neutral(model)

        self.position_lower = np.where(
            self.continuous, -np.inf, model.lowerPositionLimit[self._q_index]
        )
        self.position_upper = np.where(
            self.continuous, np.inf, model.upperPositionLimit[self._q_index]
        )
        velocity, effort = model.velocityLimit, model.effortLimit
        self.velocity_limit = np.where(velocity > 0, velocity, np.inf)
        self.effort_limit = np.where(effort > 0, effort, np.inf)
        self.damping, self.friction = _joint_dynamics(tree, self.joint_names)

        self.frame_names = tuple(
            frame.name for frame in model.frames if frame.type == pin.FrameType.BODY
        )
        self._frame_ids = {
            frame.name: index
            for index, frame in enumerate(model.frames)
            if frame.type == pin.FrameType.BODY
        }
        self.base_frame = self.frame_names[0]
        self.tip_frame = _default_tip(tree) if tip_frame is None else tip_frame
        self._tip_id = self.frame_id(self.tip_frame)

    @classmethod
    def from_urdf(
        cls,
        path_or_xml: str | Path,
        tip_frame: str | None = None,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
    ) -> 'RobotModel':
        """Read any fixed-base URDF with revolute, continuous and prismatic joints.

        Args:
            path_or_xml: path of a URDF file, or the URDF's text.
            tip_frame: link that is the tool frame; by default the last link of the longest chain.
            gravity: [m/s^2] in the base frame.

        Raises:
            ArmError: no such file, not a URDF, a joint type that is not supported, or no such tip
                frame.
        """
        text = str(path_or_xml)
        if text.lstrip().startswith('<'):
            return cls(text, tip_frame, gravity)
        path = Path(text).expanduser()
        try:
            text = path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise ArmError(f'cannot read URDF {str(path)!r}: {error}') from None
        try:
            return cls(text, tip_frame, gravity)
        except ArmError as error:
            raise ArmError(f'{error} (in {str(path)!r})') from None

    def frame_id(self, frame: str | None = None) -> int:
        """Return Pinocchio's index of a frame (None: the tool frame).

        Raises:
            ArmError: the model has no such frame; the message lists those it has.
        """
        if frame is None:
            return self._tip_id
        try:
            return self._frame_ids[frame]
        except KeyError:
            raise ArmError(
                f'no frame {frame!r} in {self.name!r}; its frames: {", ".join(self.frame_names)}'
            ) from None

    def to_pin(self, q: ArrayLike) -> Array:
        """Return Pinocchio's configuration vector of `q` (valid until the next call)."""
        if not self._any_continuous:
            return np.asarray(q, dtype=float)
        q = np.asarray(q, dtype=float)
        if q.shape != (self.nq,):
            raise ArmError(f'q has shape {q.shape}, {self.name!r} needs ({self.nq},)')
        self._pin_q[self._q_index] = np.where(self.continuous, np.cos(q), q)
        self._pin_q[self._q_index[self.continuous] + 1] = np.sin(q[self.continuous])
        return self._pin_q

    def difference(self, q_from: ArrayLike, q_to: ArrayLike) -> Array:
        """Return q_to - q_from (nv,), the short way round for continuous joints."""
        step = np.asarray(q_to, dtype=float) - np.asarray(q_from, dtype=float)
        if self._any_continuous:
            step = np.where(self.continuous, np.remainder(step + np.pi, 2 * np.pi) - np.pi, step)
        return step

    def neutral(self) -> Array:
        """Return the configuration (nq,) nearest to zero within the position limits."""
        return np.clip(np.zeros(self.nq), self.position_lower, self.position_upper)

    def check_configuration(self, q: ArrayLike, name: str = 'q') -> Array:
        """Return `q` as a new (nq,) array.

        Raises:
            ArmError: wrong length or not finite; calls it `name`.
            JointLimitError: beyond a position limit.
        """
        array = np.array(q, dtype=float)
        if array.shape != (self.nq,) or not np.isfinite(array).all():
            raise ArmError(f'{name} must be {self.nq} finite numbers, one a joint, not {q!r}')
        outside = (array < self.position_lower) | (array > self.position_upper)
        if outside.any():
            i = int(np.flatnonzero(outside)[0])
            raise limit_error(
                self.joint_names[i],
                'position',
                array[i],
                self.position_lower[i],
                self.position_upper[i],
                'm' if self.prismatic[i] else 'rad',
                name,
            )
        return array

    def random_configuration(self, rng: np.random.Generator) -> Array:
        """Return a configuration (nq,) drawn evenly within the limits (+-pi where infinite)."""
        lower = np.where(np.isfinite(self.position_lower), self.position_lower, -np.pi)
        upper = np.where(np.isfinite(self.position_upper), self.position_upper, np.pi)
        return rng.uniform(lower, upper)

    def forward_kinematics(self, q: ArrayLike, frame: str | None = None) -> pin.SE3:
        """Return the pose of a frame (None: the tool frame) in the base frame."""
        frame_id = self.frame_id(frame)
        pin.forwardKinematics(self.pin_model, self.pin_data, self.to_pin(q))
        return pin.updateFramePlacement(self.pin_model, self.pin_data, frame_id)

    def jacobian(self, q: ArrayLike, frame: str | None = None) -> Array:
        """Return J (6 x nv): [v; omega] = J(q) qdot.

        Velocity of the frame's origin on top, both parts in axes aligned with the base frame.
        """
        return pin.computeFrameJacobian(
            self.pin_model,
            self.pin_data,
            self.to_pin(q),
            self.frame_id(frame),
            pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
        )

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M(q) (nv x nv), full and symmetric, by the composite-rigid-body algorithm."""
        return pin.crba(self.pin_model, self.pin_data, self.to_pin(q))

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return C(q, v) (nv x nv) with Mdot - 2 C skew-symmetric."""
        return pin.computeCoriolisMatrix(
            self.pin_model, self.pin_data, self.to_pin(q), np.asarray(v, dtype=float)
        )

    def gravity_torque(self, q: ArrayLike) -> Array:
        """Return g(q) (nv,): the torque that holds the arm at rest."""
        return pin.computeGeneralizedGravity(self.pin_model, self.pin_data, self.to_pin(q))

    def bias_torque(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return C(q, v) v + g(q) (nv,)."""
        return pin.nonLinearEffects(
            self.pin_model, self.pin_data, self.to_pin(q), np.asarray(v, dtype=float)
        )

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_forces: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """Return tau = M(q) a + C(q, v) v + g(q) - J^T f (nv,), by recursive Newton-Euler.

        Args:
            q, v, a: (nq,), (nv,), (nv,).
            external_forces: wrench on a frame, by the frame's name: (6,) force [N], torque [N.m]
                at the frame's origin, in axes aligned with the base frame.
        """
        q, v, a = self.to_pin(q), np.asarray(v, dtype=float), np.asarray(a, dtype=float)
        if not external_forces:
            return pin.rnea(self.pin_model, self.pin_data, q, v, a)
        forces = self._joint_forces(q, external_forces)
        return pin.rnea(self.pin_model, self.pin_data, q, v, a, forces)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """Return the acceleration (nv,) under tau, by the articulated-body algorithm.

        Arguments as for `inverse_dynamics`, of which this is the inverse.
        """
        q, v, tau = self.to_pin(q), np.asarray(v, dtype=float), np.asarray(tau, dtype=float)
        if not external_forces:
            return pin.aba(self.pin_model, self.pin_data, q, v, tau)
        forces = self._joint_forces(q, external_forces)
        return pin.aba(self.pin_model, self.pin_data, q, v, tau, forces)

    def _joint_forces(
        self, pin_q: Array, external_forces: Mapping[str, ArrayLike]
    ) -> pin.StdVec_Force:
        """Return each joint's spatial force in its own frame, as Pinocchio takes them."""
        pin.forwardKinematics(self.pin_model, self.pin_data, pin_q)
        forces = [pin.Force.Zero() for _ in range(self.pin_model.njoints)]
        for name, wrench in external_forces.items():
            frame_id = self.frame_id(name)
            wrench = np.asarray(wrench, dtype=float)
            if wrench.shape != (6,) or not np.isfinite(wrench).all():
                raise ArmError(f'wrench on {name!r} must be six finite numbers, not {wrench!r}')
            joint = self.pin_model.frames[frame_id].parentJoint
            pose = pin.updateFramePlacement(self.pin_model, self.pin_data, frame_id)
            at_origin = pin.SE3(np.eye(3), pose.translation).act(pin.Force(wrench))
            forces[joint] += self.pin_data.oMi[joint].actInv(at_origin)
        vector = pin.StdVec_Force()
        vector.extend(forces)
        return vector


def _parse(urdf: str) -> ElementTree.Element:
    """Return the URDF's tree; refuse what this model cannot represent."""
    try:
        tree = ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        raise ArmError(f'not a URDF: {error}') from None
    if tree.tag != 'robot':
        raise ArmError(f'not a URDF: its root element is <{tree.tag}>, not <robot>')
    links = {link.get('name') for link in tree.findall('link')}
    children = set()
    for joint in tree.findall('joint'):
        name, kind = joint.get('name'), joint.get('type')
        if kind not in (*_MOVING_JOINTS, 'fixed'):
            raise ArmError(
                f'joint {name!r} has type {kind!r}; supported: {", ".join(_MOVING_JOINTS)}, fixed'
            )
        for end in ('parent', 'child'):
            element = joint.find(end)
            link = None if element is None else element.get('link')
            if link not in links:
                raise ArmError(f'joint {name!r}: its {end} link {link!r} does not exist')
            if end == 'child':
                children.add(link)
        if kind in ('revolute', 'prismatic') and joint.find('limit') is None:
            raise ArmError(f'joint {name!r} is {kind} and has no <limit>')
    if len(links - children) != 1:
        raise ArmError(f'a URDF has one root link, this one has {len(links - children)}')
    for owner in (*tree.findall('joint'), *tree.findall('link')):
        numbers = owner if owner.tag == 'joint' else owner.findall('inertial/*')
        for element in numbers:
            _check_numbers(owner, element)
    return tree


_NUMBERS = {'xyz', 'rpy', 'value', 'lower', 'upper', 'effort', 'velocity', 'damping', 'friction'}
_NUMBERS |= {'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'}


def _check_numbers(owner: ElementTree.Element, element: ElementTree.Element) -> None:
    """Raise ArmError unless the numbers of a joint's or a link's element are usable."""
    for name in _NUMBERS.intersection(element.keys()):
        text = element.get(name, '')
        where = f'{owner.tag} {owner.get("name")!r}: <{element.tag} {name}="{text}">'
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            values = []
        if not values or not np.isfinite(values).all():
            raise ArmError(f'{where} must be finite numbers')
        if name in ('xyz', 'rpy') and len(values) != 3:
            raise ArmError(f'{where} must be three numbers')
        if element.tag == 'mass' and values[0] < 0.0:
            raise ArmError(f'{where} must not be negative')
        moves = owner.get('type') != 'fixed'  # the axis of a fixed joint means nothing
        if element.tag == 'axis' and moves and not any(values):
            raise ArmError(f'{where} must not be zero')


def _joint_dynamics(tree: ElementTree.Element, names: tuple[str, ...]) -> tuple[Array, Array]:
    """Return damping and friction (n,) of the joints' <dynamics>, zero where there is none."""
    elements = {joint.get('name'): joint.find('dynamics') for joint in tree.findall('joint')}
    rows = [
        (0.0, 0.0)
        if elements[name] is None
        else (
            float(elements[name].get('damping', 0.0)),  # type: ignore[union-attr]
            float(elements[name].get('friction', 0.0)),  # type: ignore[union-attr]
        )
        for name in names
    ]
    damping, friction = np.array(rows).T
    return damping, friction


def _default_tip(tree: ElementTree.Element) -> str:
    """Return the last link of the chain with the most joints (the last one listed, if equal)."""
    parent = {}
    for joint in tree.findall('joint'):
        parent[joint.find('child').get('link')] = joint.find('parent').get('link')  # type: ignore[union-attr]

    def depth(link: str | None) -> int:
        count = 0
        while link in parent:
            link, count = parent[link], count + 1
        return count

    names = [link.get('name', '') for link in tree.findall('link')]
    return max(reversed(names), key=depth)
