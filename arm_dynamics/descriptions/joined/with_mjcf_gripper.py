"""Joins an arm and a gripper, two MJCFs, to the MJCF of one robot."""

import re
import warnings
from pathlib import Path

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, unknown
from arm_dynamics.descriptions.mjcf_files import read_mjcf
from arm_dynamics.descriptions.mjcf_model import home_state
from arm_dynamics.temporary_folder import cached_by_files, temporary_folder

_PREFIX = 'gripper_'  # of every name of the gripper
_MOUNT = re.compile(r'(.*_)?(attachment|flange)(_site|_frame)?')


@cached_by_files
def with_mjcf_gripper(arm: Path, gripper: Path, frame: str = '') -> Path:
    """Return the MJCF of an arm that carries a gripper, a temporary file.

    All names of the gripper begin with `gripper_`. Options of the arm's file count.

    Args:
        arm, gripper: MJCF files.
        frame: site or body of the arm; '': the last site whose name is or ends in attachment_site
            or flange.

    Raises:
        ArmError: a file that MuJoCo does not compile, or no such site or body.
    """
    (spec, m, _), (own, of_gripper, _) = read_mjcf(arm), read_mjcf(gripper)
    states = [(m, home_state(m), ''), (of_gripper, home_state(of_gripper), _PREFIX)]
    has_key = bool(m.nkey or of_gripper.nkey)
    for each in (spec, own):
        _make_absolute(each)
        for key in list(each.keys):
            each.delete(key)
    sites = [site for site in spec.sites if _MOUNT.fullmatch(site.name)]
    site = spec.site(frame) if frame else next(reversed(sites), None)
    body = spec.body(frame) if frame else None
    if site is None and body is None:
        if frame:
            names = [each.name for each in (*spec.sites, *spec.bodies)]
            raise unknown('site or body in gripper_frame:=', frame, names)
        raise ArmError(
            f'{str(arm)!r} has no site attachment_site or flange: name a site or a body by '
            'gripper_frame:='
        )
    with warnings.catch_warnings(action='ignore'):  # the options differ
        if site is not None:
            spec.attach(own, prefix=_PREFIX, site=site)
        elif body is not None:
            spec.attach(own, prefix=_PREFIX, frame=body.add_frame())
        both = spec.compile()
        if has_key:
            data = mujoco.MjData(both)
            for part, state, prefix in states:
                for k in range(part.njnt):
                    at = both.joint(prefix + part.joint(k).name).qposadr[0]
                    data.qpos[at] = state.qpos[part.jnt_qposadr[k]]
            parts = [state for _, state, _ in states]
            ctrl, act = (
                np.concatenate([getattr(x, name) for x in parts]) for name in ('ctrl', 'act')
            )
            spec.add_key(name='home', qpos=data.qpos, ctrl=ctrl, act=act)
            spec.compile()
        file = temporary_folder() / f'{arm.stem}_{gripper.stem}.xml'
        file.write_text(spec.to_xml())
    return file


def _make_absolute(spec: mujoco.MjSpec) -> None:
    """Give the files of meshes, textures and height fields their full paths."""
    folders = (
        (spec.meshes, spec.meshdir),
        (spec.hfields, spec.meshdir),
        (spec.textures, spec.texturedir),
    )
    for assets, folder in folders:
        for each in assets:
            if each.file:
                name = Path(each.file).name if spec.strippath else each.file
                each.name = each.name or Path(each.file).stem
                each.file = str(Path(spec.modelfiledir, folder, name).resolve())
    spec.meshdir = spec.texturedir = ''
    spec.strippath = False
