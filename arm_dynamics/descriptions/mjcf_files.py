"""Compiles an MJCF by MuJoCo, without the shapes whose mesh or texture files are missing."""

from pathlib import Path

import mujoco

from arm_dynamics.checks import ArmError, one_line

_FROM_GEOMS = 1  # inertiafromgeom="true"


def compiled(file: Path) -> tuple[mujoco.MjModel, list[str]]:
    """Return MuJoCo's model of an MJCF, and the names of its missing files; see `read_mjcf`."""
    return read_mjcf(file)[1:]


def read_mjcf(file: Path) -> tuple[mujoco.MjSpec, mujoco.MjModel, list[str]]:
    """Return an MJCF, MuJoCo's model of it, and the names of its missing files.

    Raises:
        ArmError: MuJoCo does not compile it, or a body's inertia depends on a missing mesh.
    """
    try:
        spec = mujoco.MjSpec.from_file(str(file))
        try:
            return spec, spec.compile(), []
        except ValueError:
            missing = _leave_out_missing(spec)
            if not missing:
                raise
            return spec, spec.compile(), missing
    except ValueError as error:
        if isinstance(error, ArmError):
            raise
        raise ArmError(f'MuJoCo does not compile {str(file)!r}: {one_line(error)}') from None


def _leave_out_missing(spec: mujoco.MjSpec) -> list[str]:
    """Remove geoms whose mesh, and textures whose file is missing; return the missing files."""
    meshes = [each for each in spec.meshes if _is_missing(spec, spec.meshdir, each.file)]
    textures = [each for each in spec.textures if _is_missing(spec, spec.texturedir, each.file)]
    missing = [each.file for each in (*meshes, *textures)]
    of = {each.name or Path(each.file).stem: each.file for each in meshes}
    for geom in [each for each in spec.geoms if each.meshname in of]:
        body = geom.parent
        from_geoms = int(spec.compiler.inertiafromgeom) == _FROM_GEOMS
        if body.name != 'world' and (from_geoms or not body.explicitinertial):
            raise ArmError(
                f'mesh {of[geom.meshname]!r} is not found, and the inertia of body {body.name!r} '
                'is that of its shapes: provide the file, or write the body an <inertial>'
            )
        spec.delete(geom)
    for mesh in meshes:
        spec.delete(mesh)
    looks = {each.name or Path(each.file).stem for each in textures}
    for material in spec.materials:
        material.textures = ['' if name in looks else name for name in material.textures]
    for texture in textures:
        spec.delete(texture)
    return missing


def _is_missing(spec: mujoco.MjSpec, folder: str, name: str) -> bool:
    own = Path(name).name if spec.strippath else name
    return bool(name) and not Path(spec.modelfiledir, folder, own).is_file()
