"""Joints of an MJCF that follow others by equalities, as <mimic> of a URDF.

An equality of two joints is q_1 = q0_1 + c_0 + c_1 (q_2 - q0_2) + c_2 (q_2 - q0_2)^2 + ..., and a
<mimic> where the powers are zero.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

import mujoco
import numpy as np

from arm_dynamics.checks import some_of
from arm_dynamics.descriptions.mjcf import moved_by_actuators
from arm_dynamics.descriptions.mjcf_constraints import equality_names, equality_rows
from arm_dynamics.model import RobotModel


class Coupling(NamedTuple):
    """How a joint follows another: q = multiplier q_leader + offset [rad | m].

    Attributes:
        joint, leader: numbers of the joints.
        multiplier, offset: as above.
        equality: its number.
    """

    joint: int
    leader: int
    multiplier: float
    offset: float
    equality: int

    def reversed(self) -> 'Coupling':
        """Return how the leader follows the joint."""
        ratio = 1.0 / self.multiplier
        return Coupling(self.leader, self.joint, ratio, -ratio * self.offset, self.equality)


def couplings(m: mujoco.MjModel) -> dict[int, Coupling]:
    """Return how joints follow others; of two active equalities of a joint the first counts."""
    return {each.joint: each for each in reversed(_couplings(m))}


def followers(m: mujoco.MjModel, commanded: Sequence[str]) -> dict[int, Coupling]:
    """Return how other joints follow commanded ones by equalities without powers.

    Either joint of an equality can lead. Left out is a joint on which an actuator acts that acts
    on no commanded joint: it pushes against the drive of the leader.
    """
    known = {k for k in range(m.njnt) if m.joint(k).name in commanded}
    pushed = {x for each in moved_by_actuators(m) if known.isdisjoint(each) for x in each}
    ways = [each for each in _couplings(m) if not m.eq_data[each.equality, 2:5].any()]
    ways += [each.reversed() for each in ways if each.multiplier]
    found: dict[int, Coupling] = {}
    before = -1
    while len(found) > before:  # of followers, others may follow
        before = len(found)
        for each in ways:
            if each.leader in known and each.joint not in known and each.joint not in pushed:
                found[each.joint] = each
                known.add(each.joint)
    return found


def _couplings(m: mujoco.MjModel) -> list[Coupling]:
    """Return how the first joint of each active equality of two joints follows the second."""
    active, found = (m.eq_type == mujoco.mjtEq.mjEQ_JOINT) & m.eq_active0.astype(bool), []
    for k in np.flatnonzero(active & (m.eq_obj2id >= 0) & (m.eq_obj2id != m.eq_obj1id)).tolist():
        joint, leader = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
        offset, multiplier = m.eq_data[k, :2].tolist()
        of_joint, of_leader = m.qpos0[m.jnt_qposadr[[joint, leader]]].tolist()
        offset += of_joint - multiplier * of_leader
        found.append(Coupling(joint, leader, multiplier, offset, k))
    return found


def add_mimics(robot: Element, m: mujoco.MjModel, coupled: Mapping[int, Coupling]) -> None:
    """Add <mimic> to the joints of a URDF that follow others."""
    joints = {joint.get('name'): joint for joint in robot.iterfind('joint')}
    for each in coupled.values():
        numbers = {'multiplier': repr(each.multiplier), 'offset': repr(each.offset)}
        leader = m.joint(each.leader).name
        SubElement(joints[m.joint(each.joint).name], 'mimic', {'joint': leader, **numbers})


def ties(m: mujoco.MjModel, model: RobotModel) -> str:
    """Return a line on equalities between joints of a model and others; '' without such ones."""
    rows, numbers = equality_rows(m)
    moving = np.isin(np.arange(m.nv), [m.joint(x).dofadr[0] for x in model.moving_joints])
    tied = rows[:, moving].any(axis=1) & rows[:, ~moving].any(axis=1)
    if not tied.any():
        return ''
    others = m.dof_jntid[rows[tied].any(axis=0) & ~moving]
    names = some_of(equality_names(m, sorted({numbers[k] for k in np.flatnonzero(tied)})))
    return (
        f'equalities {names} of the MJCF tie joints of the law to '
        f'{some_of([m.joint(k).name for k in np.unique(others)])}, which its model holds still, '
        'so that goals would miss their position; mjcf:=converted simulates what a URDF can say'
    )
