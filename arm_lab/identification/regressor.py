"""The regressor: joint torques as a linear function of an arm's parameters.

    tau = Y(q, v, a) pi

pi has ten numbers per moving link (mass, mass times centre of mass, inertia about the joint's
frame, in Pinocchio's order), then rotor inertia, viscous and Coulomb friction of each joint, and
the offset of its torque sensor.
"""

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from scipy.linalg import qr, solve_triangular

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import STANDSTILL, RobotModel
from arm_dynamics.urdf_elements import link_of

OF_LINK = ('m', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
OF_JOINT = ('rotor inertia', 'viscous friction', 'Coulomb friction', 'torque offset')
_INDEPENDENT = 1e-8  # of columns of length one; rounding makes some 1e-14


class JointRegressor:
    """Regressor Y of one arm.

    Attributes:
        model: the arm.
        link_names: (n,) names of the links that the joints move.
        names: names of the columns, such as 'forearm_link mx' or 'elbow_joint rotor inertia'.
        links: columns of the links: the first 10 n.
    """

    def __init__(self, model: RobotModel):
        self.model = model
        if model.mimic is not None:
            raise ArmError(
                f'{model.name!r} has joints that follow others by <mimic>, whose parameters are '
                'not identified: hold their leaders, for example by joints:=chain tip_frame:=LINK'
            )
        joints = ElementTree.fromstring(model.urdf).iterfind('joint')
        children = {joint.get('name'): link_of(joint, 'child') for joint in joints}
        self.link_names = tuple(children[name] for name in model.joint_names)
        self.names = tuple(
            [f'{link} {part}' for link in self.link_names for part in OF_LINK]
            + [f'{joint} {part}' for part in OF_JOINT for joint in model.joint_names]
        )
        self.links = slice(0, 10 * model.nv)

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Return Y (m, n, 14 n) at states (m, n)."""
        model, n = self.model, self.model.nv
        y = np.zeros((len(q), n, 14 * n))
        pin_model, data = model.pin_model, model.pin_data
        for i in range(len(q)):
            state = model.to_pin(q[i]), v[i], a[i]
            y[i, :, self.links] = pin.computeJointTorqueRegressor(pin_model, data, *state)
        joint = np.arange(n)
        y[:, joint, 10 * n + joint] = a
        y[:, joint, 11 * n + joint] = v
        y[:, joint, 12 * n + joint] = np.clip(v / STANDSTILL, -1.0, 1.0)
        y[:, joint, 13 * n + joint] = 1.0
        return y

    def parameters(self) -> Array:
        """Return the model's pi (14 n,), without offsets."""
        model = self.model
        joints = model.armature, model.damping, model.friction, np.zeros(model.nv)
        return np.concatenate([model.inertial_parameters(), *joints])

    def random_rows(self, seed: int = 0) -> Array:
        """Return Y (200 n, 14 n) at random states, which shows what any motion could."""
        model, rng = self.model, np.random.default_rng(seed)
        q = np.array([model.random_configuration(rng) for _ in range(200)])
        v, a = rng.uniform(-2.0, 2.0, (2, len(q), model.nv))
        return self(q, v, a).reshape(-1, len(self.names))


@dataclass(frozen=True)
class BaseParameters:
    """The combinations of parameters that torques depend on: beta = pi[columns] + K pi[others].

    Attributes:
        columns: (r,) of the regressor that are kept.
        others: (p - r,) that depend on these, or are zero.
        combination: K (r, p - r).
        names: (p,) of all parameters.
    """

    columns: Array
    others: Array
    combination: Array
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, rows: Array, names: tuple[str, ...], tolerance: float = _INDEPENDENT
    ) -> 'BaseParameters':
        """Find them by QR with pivoting from rows (m, p) of the regressor.

        Source: Gautier, Numerical calculation of the base inertial parameters, ICRA 1990.
        """
        size = np.linalg.norm(rows, axis=0)
        seen = np.flatnonzero(size > tolerance * size.max())
        triangle, order = qr(rows[:, seen] / size[seen], mode='r', pivoting=True)
        diagonal = np.abs(np.diagonal(triangle))
        rank = int((diagonal > tolerance * diagonal[0]).sum())
        k = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
        kept, rest = seen[order[:rank]], seen[order[rank:]]
        unseen = np.setdiff1d(np.arange(len(names)), seen)
        combination = np.zeros((rank, len(rest) + len(unseen)))
        combination[:, : len(rest)] = k * size[rest] / size[kept][:, np.newaxis]
        others, sort = np.concatenate([rest, unseen]), np.argsort(kept)
        return cls(kept[sort], others, combination[sort], names)

    def matrix(self) -> Array:
        """Return T (r, p) with beta = T pi."""
        t = np.zeros((len(self.columns), len(self.names)))
        t[np.arange(len(self.columns)), self.columns] = 1.0
        t[:, self.others] = self.combination
        return t

    def formulas(self) -> list[str]:
        """Return each base parameter as a formula of parameter names."""
        formulas = []
        for column, row in zip(self.columns, self.combination, strict=True):
            terms = [self.names[column]]
            for other, factor in zip(self.others, row, strict=True):
                if abs(factor) > 1e-9:
                    sign = '+' if factor > 0.0 else '-'
                    size = '' if abs(abs(factor) - 1.0) < 1e-9 else f'{abs(factor):.4g} '
                    terms.append(f'{sign} {size}{self.names[other]}')
            formulas.append(' '.join(terms))
        return formulas
