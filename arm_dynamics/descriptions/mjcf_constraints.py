"""What the equalities of an MJCF let its joints do, and which joints nothing holds."""

from collections.abc import Iterable, Sequence

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, Array, some_of
from arm_dynamics.descriptions.mjcf import HOLDING, moved_by_actuators
from arm_dynamics.descriptions.mjcf_model import has_spring, home_state

_SINGULAR = 1e-8  # share of the largest singular value
_HOLDS = 1e3  # damping [N.m.s/rad | N.s/m]
# What other equalities than those of bodies and sites are about.
_OBJECTS = {
    int(mujoco.mjtEq.mjEQ_JOINT): mujoco.mjtObj.mjOBJ_JOINT,
    int(mujoco.mjtEq.mjEQ_TENDON): mujoco.mjtObj.mjOBJ_TENDON,
}


def equality_names(m: mujoco.MjModel, numbers: Iterable[int]) -> list[str]:
    """Return the names of equalities; of one without a name its kind and what it couples."""
    found = []
    for k in map(int, numbers):
        objects = _OBJECTS.get(int(m.eq_type[k]), mujoco.mjtObj(m.eq_objtype[k]))
        ends = [x for x in (int(m.eq_obj1id[k]), int(m.eq_obj2id[k])) if x >= 0]
        pair = [mujoco.mj_id2name(m, objects, x) or f'number {x}' for x in ends]
        kind = mujoco.mjtEq(m.eq_type[k]).name.removeprefix('mjEQ_').lower()
        found.append(m.eq(k).name or f'{kind} of {" and ".join(pair)}')
    return found


def check_movable(m: mujoco.MjModel, names: Sequence[str]) -> None:
    """Raise ArmError for joints that a huge damping, friction or rotor holds at their place."""
    for key in ('damping', 'frictionloss', 'armature'):
        values = getattr(m, f'dof_{key}')
        size = {name: float(values[m.joint(name).dofadr[0]]) for name in names}
        held = [name for name in names if size[name] > HOLDING]
        if held:
            others = ','.join(name for name in names if name not in held)
            remedy = f'leave them out, joints:={others}' if others else f'give a smaller {key}'
            what = f'{key}="{size[held[0]]:g}" keeps them from moving'
            raise ArmError(f'joints {some_of(held)}: {what}: {remedy}')


def check_freedom(m: mujoco.MjModel, names: Sequence[str]) -> None:
    """Raise ArmError where equalities let joints move in fewer ways than there are joints."""
    rows, numbers = equality_rows(m)
    if not numbers:
        return
    _, sizes, ways = np.linalg.svd(rows)
    free = ways[int((sizes > _SINGULAR * sizes[0]).sum()) :]  # what the equalities let move
    dofs = [int(m.joint(name).dofadr[0]) for name in names]
    count = int(np.linalg.matrix_rank(free[:, dofs], _SINGULAR)) if free.size else 0
    if count < len(names):
        ways_left = f'{count} of {len(names)} ways' if count else 'no way'
        raise ArmError(
            f'joints {some_of(names)} are commanded, and <equality> '
            f'({some_of(equality_names(m, sorted({*numbers})))}) lets them move in {ways_left}: '
            'remove it, give it active="false", or choose joints:= that it leaves free'
        )


def swinging(m: mujoco.MjModel, names: Sequence[str]) -> list[str]:
    """Return the other joints that nothing drives or holds and whose motion pushes these."""
    own = {m.joint(name).id for name in names}
    pushes = np.isin(m.dof_treeid, m.dof_treeid[m.jnt_dofadr[[*own]]])
    bound = np.abs(equality_rows(m)[0]).max(axis=0, initial=0.0) > 0.0
    bound |= (m.dof_frictionloss > 0.0) | (m.dof_damping > _HOLDS)
    driven = {joint for each in moved_by_actuators(m) for joint in each}
    of_tendons = set(m.wrap_objid[m.wrap_type == mujoco.mjtWrap.mjWRAP_JOINT].tolist())
    loose = (pushes & ~bound)[m.jnt_dofadr]  # each joint has one degree of freedom
    others = set(np.flatnonzero(loose).tolist()) - own - driven - of_tendons
    return [m.joint(k).name for k in sorted(others) if not has_spring(m, k)]


def equality_rows(m: mujoco.MjModel) -> tuple[Array, list[int]]:
    """Return the Jacobian (rows, nv) of the equalities at home, and the equality of each row."""
    data = home_state(m)
    mujoco.mj_forward(m, data)
    rows = np.zeros((data.nefc, m.nv))
    if mujoco.mj_isSparse(m):
        place = data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
        mujoco.mju_sparse2dense(rows, data.efc_J, *place)
    else:
        rows[:] = data.efc_J[: rows.size].reshape(rows.shape)  # behind it: rows of zeros only
    which = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    return rows[which], data.efc_id[which].tolist()
