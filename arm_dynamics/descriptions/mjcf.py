"""Converts MJCF to URDF, body by body, from the model that MuJoCo compiles.

A link's frame is its body's; where the joint does not pass through the body's origin, the link's
frame is at the joint, with the axes of the body.
"""

from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

import mujoco
import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.descriptions.mjcf_files import compiled
from arm_dynamics.descriptions.mjcf_shapes import add_shapes, rotation_of
from arm_dynamics.urdf_elements import number_text, set_inertial, set_origin

_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
_TYPES = {_HINGE: 'revolute', _SLIDE: 'prismatic'}
_ENDLESS = 1e10  # bound of a joint without limits [m]
HOLDING = 1e9  # from which damping, friction or rotor of a joint hold it: no URDF may have more
_LOOPS = (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD))
_COUPLING = int(mujoco.mjtEq.mjEQ_JOINT)
_ON_JOINTS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
_COUPLING_DRIVES = (int(mujoco.mjtTrn.mjTRN_TENDON), int(mujoco.mjtTrn.mjTRN_SLIDERCRANK))
_PLAIN = int(mujoco.mjtBias.mjBIAS_NONE)
_SITE = int(mujoco.mjtObj.mjOBJ_SITE)


class Mjcf:
    """An MJCF file as MuJoCo compiles it.

    Attributes:
        file: its path.
        mj_model: MuJoCo's model.
        missing: files of meshes and textures that do not exist; their shapes are left out.
        coupled: names of the joints in loops or bent couplings, which do not move here.
        commanded: names of the joints that controllers command by default where engine mujoco
            simulates the file itself: those with an actuator, outside of loops and couplings; of
            a file without such actuators all outside of loops and couplings; where there are
            none, the first joint on which each actuator acts.
    """

    def __init__(self, file: Path):
        """Compile the file.

        Raises:
            ArmError: MuJoCo does not compile the file, its base floats, a joint is a ball or has
                no name, or an actuator has several controls.
        """
        self.file = file
        self.mj_model, self.missing = compiled(file)
        m = self.mj_model
        for k in np.flatnonzero((m.actuator_ctrlnum != 1) | (m.actuator_outnum != 1)):
            raise ArmError(
                f'actuator {m.actuator(k).name or f"number {k}"!r} has {m.actuator_ctrlnum[k]} '
                f'controls and {m.actuator_outnum[k]} outputs (pid, orientation); write an '
                'actuator with one: position, velocity or motor'
            )
        ranges = {'forcerange': m.actuator_forcerange, 'ctrlrange': m.actuator_ctrlrange}
        for key, values in ranges.items():
            for k in np.flatnonzero(values[:, 0] > values[:, 1]):  # which MuJoCo takes for none
                name = m.actuator(k).name or f'number {k}'
                wrong = f'actuator {name!r}: {key}="{values[k, 0]:g} {values[k, 1]:g}"'
                raise ArmError(f'{wrong} is reversed')
        self._names = {m.body(k).name for k in range(m.nbody)}
        self._names |= {m.joint(k).name for k in range(m.njnt)}
        self._links = [m.body(k).name or self._free(f'body_{k}') for k in range(m.nbody)]
        for joint in range(m.njnt):
            name, kind = m.joint(joint).name, int(m.jnt_type[joint])
            if kind == int(mujoco.mjtJoint.mjJNT_FREE):
                body = self._links[m.jnt_bodyid[joint]]
                raise ArmError(
                    f'body {body!r} floats (a free joint); an arm has a fixed base: remove '
                    '<freejoint>, and what is no part of the arm'
                )
            if kind not in _TYPES:
                raise ArmError(f'joint {name!r} is a ball; write three hinges')
            if not name:
                link = self._links[m.jnt_bodyid[joint]]
                raise ArmError(f'a joint of body {link!r} has no name: write one')
            lower, upper = m.jnt_range[joint].tolist()
            if not (lower <= upper or m.jnt_limited[joint]):  # MuJoCo takes that for no limit
                wrong = f'joint {name!r}: range="{lower:g} {upper:g}"'
                raise ArmError(f'{wrong} is reversed, or not two numbers')
        self.coupled = [*self._joints_in_loops(), *self._curved()]
        self.commanded = self._free_joints()

    def urdf(self, folder: Path) -> Element:
        """Return the URDF without <mimic>, and write its meshes to a folder."""
        m = self.mj_model
        robot = Element('robot', {'name': self.file.stem, 'from': 'MJCF'})
        ends: dict[int, tuple[str, Array]] = {}  # last link of each body, its origin in the body
        for body in range(m.nbody):
            name, origin = self._links[body], np.zeros(3)
            if body == 0:
                link = SubElement(robot, 'link', name=name)
            else:
                parent, at = ends[m.body_parentid[body]]
                pose = pin.SE3(rotation_of(m.body_quat[body]), m.body_pos[body] - at)
                joints = range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body])
                for joint in joints or [-1]:
                    last = joint < 0 or joint == joints[-1]
                    own = name if last else self._free(f'{name}/{m.joint(joint).name}')
                    if joint >= 0:
                        pose = pose * pin.SE3(np.eye(3), m.jnt_pos[joint] - origin)
                        pose, origin = pose * self._reference(joint), m.jnt_pos[joint]
                    self._add_joint(robot, joint, pose, parent, own)
                    link = SubElement(robot, 'link', name=own)
                    parent, pose = own, pin.SE3.Identity()
            ends[body] = name, origin
            if body:
                _add_inertial(link, m, body, origin)
            add_shapes(link, m, body, origin, folder)
        self._add_sites(robot, ends)
        return robot

    def _free(self, name: str) -> str:
        """Return a name that neither a body nor a joint of the file has."""
        while name in self._names:
            name += '_'
        return name

    def _reference(self, joint: int) -> pin.SE3:
        """Return the displacement by -ref, so that joint positions are equal to MuJoCo's."""
        m = self.mj_model
        back, axis = -m.qpos0[m.jnt_qposadr[joint]], m.jnt_axis[joint]
        if m.jnt_type[joint] == _SLIDE:
            return pin.SE3(np.eye(3), axis * back)
        return pin.SE3(pin.exp3(axis * back), np.zeros(3))

    def _add_joint(
        self, robot: Element, joint: int, pose: pin.SE3, parent: str, child: str
    ) -> None:
        m = self.mj_model
        name = self._free(f'{child}_fixed') if joint < 0 else m.joint(joint).name
        added = SubElement(robot, 'joint', name=name, type='fixed')
        SubElement(added, 'parent', link=parent)
        SubElement(added, 'child', link=child)
        set_origin(added, pose)
        if joint < 0:
            return
        bounds = np.clip(m.jnt_range[joint], -_ENDLESS, _ENDLESS).tolist()
        limited = bool(m.jnt_limited[joint]) and bounds != [-_ENDLESS, _ENDLESS]
        kind = _TYPES[int(m.jnt_type[joint])]
        added.set('type', kind if limited or kind == 'prismatic' else 'continuous')
        SubElement(added, 'axis', xyz=number_text(m.jnt_axis[joint]))
        bounds = bounds if limited else [-_ENDLESS, _ENDLESS]
        limits = dict(zip(('lower', 'upper'), map(repr, bounds), strict=True))
        SubElement(added, 'limit', limits, effort=repr(self._effort(joint)), velocity='0')
        dof, drives = m.jnt_dofadr[joint], actuators_on(m, joint)
        gears = m.actuator_gear[drives, 0] ** 2
        dynamics = {
            'damping': m.dof_damping[dof] + gears @ m.actuator_damping[drives],
            'friction': m.dof_frictionloss[dof],
            'armature': m.dof_armature[dof] + gears @ m.actuator_armature[drives],
        }
        written = {key: repr(min(float(x), HOLDING)) for key, x in dynamics.items()}
        SubElement(added, 'dynamics', written)

    def _effort(self, joint: int) -> float:
        """Return the largest effort of a joint's actuators [N.m | N]; 0: no limit."""
        m, most = self.mj_model, 0.0
        for k in actuators_on(m, joint):
            force = m.actuator_forcerange[k]
            if not m.actuator_forcelimited[k]:
                is_motor = m.actuator_biastype[k] == _PLAIN
                force = np.array([np.inf])
                if is_motor and m.actuator_ctrllimited[k]:
                    force = m.actuator_ctrlrange[k] * m.actuator_gainprm[k, 0]
            most += float(np.abs(force).max() * abs(m.actuator_gear[k, 0]))
        if m.jnt_actfrclimited[joint]:
            bound = float(np.abs(m.jnt_actfrcrange[joint]).max())
            most = min(most, bound) if most else bound
        return most if np.isfinite(most) else 0.0

    def _add_sites(self, robot: Element, ends: dict[int, tuple[str, Array]]) -> None:
        """Add a link for each named site, at which a tool may be mounted."""
        m = self.mj_model
        taken = {each.get('name') for each in robot}
        for site in range(m.nsite):
            name, (parent, at) = m.site(site).name, ends[m.site_bodyid[site]]
            name = f'{name}_site' if name in taken else name
            if name and name not in taken:
                taken |= {name, f'{name}_fixed'}
                pose = pin.SE3(rotation_of(m.site_quat[site]), m.site_pos[site] - at)
                self._add_joint(robot, -1, pose, parent, name)
                SubElement(robot, 'link', name=name)

    def _curved(self) -> list[str]:
        """Return the joints of equalities with powers, which no <mimic> can express."""
        m = self.mj_model
        curved = (m.eq_type == _COUPLING) & m.eq_active0.astype(bool) & m.eq_data[:, 2:5].any(1)
        pairs = np.stack([m.eq_obj1id[curved], m.eq_obj2id[curved]])
        return [m.joint(int(joint)).name for joint in np.unique(pairs[pairs >= 0])]

    def _joints_in_loops(self) -> list[str]:
        m, found = self.mj_model, set()
        for k in range(m.neq):
            if m.eq_type[k] in _LOOPS and m.eq_active0[k]:
                sites = m.eq_objtype[k] == _SITE
                ends = [int(m.eq_obj1id[k]), int(m.eq_obj2id[k])]
                ends = [int(m.site_bodyid[end]) for end in ends] if sites else ends
                one, other = (_above(m, end) for end in ends)
                for body in one ^ other:
                    first = m.body_jntadr[body]
                    found |= set(range(first, first + m.body_jntnum[body]))
        return [m.joint(joint).name for joint in sorted(found)]

    def _free_joints(self) -> tuple[str, ...]:
        m = self.mj_model
        joints, found = moved_by_actuators(m), {m.joint(name).id for name in self.coupled}
        for k in range(m.nu):
            if m.actuator_trntype[k] in _COUPLING_DRIVES:
                found |= set(joints[k])
        for k in range(m.neq):
            if m.eq_type[k] == _COUPLING and m.eq_active0[k]:
                found |= {int(m.eq_obj1id[k]), int(m.eq_obj2id[k])}
        free = [joint for joint in range(m.njnt) if joint not in found]
        free = [joint for joint in free if actuators_on(m, joint)] or free
        followers = {int(m.eq_obj1id[k]) for k in range(m.neq) if m.eq_type[k] == _COUPLING}
        driven = {each[0] for each in joints if each}
        free = free or sorted(driven - followers) or sorted(driven)
        return tuple(m.joint(joint).name for joint in free)


def moved_by_actuators(m: mujoco.MjModel) -> list[list[int]]:
    """Return the joints on which each actuator acts, at the start."""
    data = mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    moment = np.zeros((m.nu, m.nv))
    mujoco.mju_sparse2dense(
        moment, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind
    )
    return [[int(m.dof_jntid[dof]) for dof in np.flatnonzero(row)] for row in moment]


def actuators_on(m: mujoco.MjModel, joint: int) -> list[int]:
    """Return the indices of the actuators that drive a joint directly."""
    return [
        k
        for k in range(m.nu)
        if m.actuator_trntype[k] in _ON_JOINTS and m.actuator_trnid[k, 0] == joint
    ]


def _above(m: mujoco.MjModel, body: int) -> set[int]:
    found = set()
    while body > 0:
        found.add(body)
        body = int(m.body_parentid[body])
    return found


def _add_inertial(link: Element, m: mujoco.MjModel, body: int, origin: Array) -> None:
    turn = rotation_of(m.body_iquat[body])
    inertia = turn @ np.diag(m.body_inertia[body]) @ turn.T
    set_inertial(link, m.body_mass[body], m.body_ipos[body] - origin, inertia)
