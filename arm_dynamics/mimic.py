"""Joints that follow others by <mimic>: q_follower = multiplier q_leader + offset."""

from collections.abc import Sequence
from typing import NamedTuple, Self
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array, unknown
from arm_dynamics.urdf_elements import moves


class Mimic(NamedTuple):
    """The positions of all m joints that move, as functions of the n that are commanded.

    With q_all = multiplier q[leader] + offset = G q + offset, and G constant, the equations of
    motion are exact: M = G^T M_all G, tau = G^T tau_all.

    Attributes:
        own: (n,) indices of the commanded joints among all.
        leader: (m,) index of the commanded joint that each joint follows, maybe itself.
        multiplier: (m,); 1 for a commanded joint.
        offset: (m,) [rad | m]; 0 for a commanded joint.
        matrix: (m, n) G.
    """

    own: NDArray[np.int64]
    leader: NDArray[np.int64]
    multiplier: Array
    offset: Array
    matrix: Array

    @classmethod
    def of(cls, tree: Element, names: Sequence[str]) -> Self | None:
        """Return how the joints of a URDF follow each other; None where none follows another.

        Args:
            tree: the URDF.
            names: of its joints that move.

        Raises:
            ArmError: joints that follow each other in a ring, or one that does not move.
        """
        joints = {joint.get('name', ''): joint for joint in tree.iterfind('joint')}
        leaders = leaders_of(tree)
        if not leaders:
            return None
        own = [name for name in names if name not in leaders]
        count = len(names)
        leader, multiplier = np.zeros(count, dtype=np.int64), np.ones(count)
        offset = np.zeros(count)
        for i, follower in enumerate(names):
            name = follower
            while name in leaders:
                mimic = joints[name].find('mimic')
                assert mimic is not None
                offset[i] += multiplier[i] * float(mimic.get('offset', '0'))
                multiplier[i] *= float(mimic.get('multiplier', '1'))
                name = leaders[name]
            if name not in own:
                raise ArmError(
                    f'joint {follower!r} follows {name!r} by <mimic>, which does not move: make '
                    f'{follower!r} type="fixed" as well'
                )
            leader[i] = own.index(name)
        matrix = np.zeros((count, len(own)))
        matrix[np.arange(count), leader] = multiplier
        return cls(
            np.array([names.index(each) for each in own]), leader, multiplier, offset, matrix
        )

    def tightest(
        self, lower: Array, upper: Array, speed: Array
    ) -> tuple[Array, Array, Array, list[int]]:
        """Return the limits (n,) of the commanded joints that keep all joints (m,) within theirs.

        Left out, and returned, are followers whose limits leave their leader no range.
        """
        bounds, left_out = (lower[self.own], upper[self.own], speed[self.own]), []
        for i in np.flatnonzero(self.multiplier).tolist():
            k, ratio = self.leader[i], self.multiplier[i]
            ends = np.sort((np.array([lower[i], upper[i]]) - self.offset[i]) / ratio)
            low, high = max(bounds[0][k], ends[0]), min(bounds[1][k], ends[1])
            if low < high:
                bounds[0][k], bounds[1][k] = low, high
            else:
                left_out.append(i)
            bounds[2][k] = min(bounds[2][k], speed[i] / abs(ratio))
        return *bounds, left_out


def leaders_of(tree: Element) -> dict[str, str]:
    """Return, by joint that moves and has a <mimic>, the name of the joint that it follows.

    Raises:
        ArmError: no such joint, or joints that follow each other in a ring.
    """
    joints = {joint.get('name', ''): joint for joint in tree.iterfind('joint')}
    leaders: dict[str, str] = {}
    for name, joint in joints.items():
        mimic = joint.find('mimic')
        if mimic is None or not moves(joint):
            continue
        leaders[name] = mimic.get('joint', '')
        if leaders[name] not in joints:
            raise unknown(f'joint {name!r}: joint of <mimic>', leaders[name], joints)
    for name in leaders:
        seen, last = [name], leaders[name]
        while last in leaders and last not in seen:
            seen.append(last)
            last = leaders[last]
        if last in seen:
            ring = ' -> '.join(map(repr, [*seen, last]))
            raise ArmError(f'joints {ring} follow each other by <mimic>: one of them must lead')
    return leaders
