"""Compiles an MJCF by MuJoCo, without the shapes whose mesh or texture files are missing."""

import re
from html import unescape
from math import prod
from pathlib import Path
from warnings import catch_warnings, simplefilter

import mujoco

from arm_dynamics.checks import ArmError, one_line, say_once, text_of
from arm_dynamics.descriptions.mjcf_slips import slips
from arm_dynamics.mesh_files import near_file, no_mesh

FROM_GEOMS = 1  # inertiafromgeom="true"
_INCLUDE = re.compile(r'<include\b[^>]*?\bfile=["\']([^"\']*)')
_QUOTED = r'"[^"]*"|\'[^\']*\''  # it may contain '>'
_SIZED = re.compile(rf'<(hfield|texture|replicate|composite|flexcomp)\b((?:[^<>"\']|{_QUOTED})*)')
_SIZES = re.compile(rf'\b(?:nrow|ncol|width|height|count)\s*=\s*({_QUOTED})')
_NUMBER = r'(?:[-+.\deE]+|[-+]?nan)'
_NAN = re.compile(
    rf'\s(?!name|class|file)(\w+\s*=\s*["\'](?=[^"\']*nan)\s*{_NUMBER}(?:\s+{_NUMBER})*\s*["\'])',
    re.I,
)
_MOST_COPIES = 2_000
_MOST_BYTES = 10_000_000  # of a file
_MOST_PLACES = 10_000_000  # numbers of a height field, pixels of a texture


def checked_text(file: Path, where: str) -> str:
    """Return the texts of an MJCF and of all files that it includes, before MuJoCo reads them.

    Raises:
        ArmError: begins with `where`. A file cannot be read or is too long, replicates too often,
            has a number that is none, which MuJoCo takes for a missing one, or a height field or
            texture for which MuJoCo would need gigabytes.
    """
    texts, files = [], [file.resolve()]
    for each in files:
        texts.append(text_of(each, where, _MOST_BYTES))
        names = ((each.parent / name).resolve() for name in _INCLUDE.findall(texts[-1]))
        files += [path for path in dict.fromkeys(names) if path not in files and path.is_file()]
    text = '\n'.join(texts)
    if wrong := _NAN.search(text):
        raise ArmError(f'{where}: {wrong[1]}; allowed: finite numbers')
    copies = 1.0
    for kind, attributes in _SIZED.findall(text):
        values = ' '.join(unescape(each) for each in _SIZES.findall(attributes))
        number = prod(float(each) or 1.0 for each in re.findall(r'\d+', values))
        if kind not in ('hfield', 'texture'):
            copies *= number
        elif number > _MOST_PLACES:
            raise ArmError(f'{where}: <{kind}> has {number:g} places; at most {_MOST_PLACES}')
    if copies > _MOST_COPIES:
        raise ArmError(f'{where}: replicates {copies:g} times; at most {_MOST_COPIES}')
    return text


def compiled(file: Path) -> tuple[mujoco.MjModel, list[str]]:
    """Return MuJoCo's model of an MJCF, and the names of its missing files; see `read_mjcf`."""
    return read_mjcf(file)[1:]


def read_mjcf(file: Path) -> tuple[mujoco.MjSpec, mujoco.MjModel, list[str]]:
    """Return an MJCF, MuJoCo's model of it, and the names of its missing files.

    Raises:
        ArmError: MuJoCo does not compile it, or a body's inertia depends on a missing mesh.
    """
    text = checked_text(file, f'MJCF {str(file)!r}')
    try:
        spec = mujoco.MjSpec.from_file(str(file))
        missing: list[str] = []
        try:
            m = _compile(spec, file)
        except ValueError:
            missing = _leave_out_missing(spec)
            if not missing:
                raise
            m = _compile(spec, file)
    except ValueError as error:
        if isinstance(error, ArmError):
            raise
        raise ArmError(f'MuJoCo does not compile {str(file)!r}: {cause(error, file)}') from None
    for line in slips(text):
        say_once(f'{file.name}: {line}')
    return spec, m, missing


def cause(error: Exception, file: Path) -> str:
    """Return MuJoCo's error on a file in one line, with what is wrong with a file it names."""
    text = one_line(error)
    if file.suffix.lower() != '.xml' and str(file) in text and 'decoder' in text:
        return f'it reads files whose names end in .xml: rename it to {file.stem}.xml'
    for name in (file.name, *re.findall("'([^']+)'", text)):
        path = file.parent / name
        what = no_mesh(path) if path.is_file() else ''
        if not path.exists() and 'opening file' in text and (near := near_file(path)):
            what = f'there is {near}'
        if what:
            return f'{text}; {what}'
    return text


def _compile(spec: mujoco.MjSpec, file: Path) -> mujoco.MjModel:
    """Return MuJoCo's model; its warnings are lines for the user."""
    keys = [(key.name, len(key.qpos), len(key.ctrl)) for key in spec.keys]
    with catch_warnings(record=True) as caught:
        simplefilter('always')
        m = spec.compile()
    for each in caught:
        say_once(f'{file.name}: MuJoCo: {" ".join(str(each.message).split())}')
    for name, *counts in keys:
        for what, count, most in zip(('qpos', 'ctrl'), counts, (m.nq, m.nu), strict=True):
            if 0 < count < most:
                line = f'{what} of key {name!r} has {count} numbers, not {most}'
                say_once(f'{file.name}: {line}: the others are 0')
    return m


def _leave_out_missing(spec: mujoco.MjSpec) -> list[str]:
    """Remove geoms whose mesh, and textures whose file is missing; return the missing files."""
    meshes = [each for each in spec.meshes if _is_missing(spec, spec.meshdir, each.file)]
    textures = [each for each in spec.textures if _is_missing(spec, spec.texturedir, each.file)]
    missing = [each.file for each in (*meshes, *textures)]
    of = {each.name or Path(each.file).stem: each.file for each in meshes}
    for geom in [each for each in spec.geoms if each.meshname in of]:
        body = geom.parent
        from_geoms = int(spec.compiler.inertiafromgeom) == FROM_GEOMS
        if body.name != 'world' and (from_geoms or not body.explicitinertial):
            near = near_file(_path(spec, spec.meshdir, of[geom.meshname]))
            hint = f'; there is {near}' if near else ''
            raise ArmError(
                f'mesh {of[geom.meshname]!r} is not found, and the inertia of body {body.name!r} '
                f'is that of its shapes: provide the file, or write the body an <inertial>{hint}'
            )
        spec.delete(geom)
    for mesh in meshes:
        spec.delete(mesh)
    for each in meshes:
        if near := near_file(_path(spec, spec.meshdir, each.file)):
            say_once(f'{each.file!r} does not exist, but there is {near}')
    looks = {each.name or Path(each.file).stem for each in textures}
    for material in spec.materials:
        material.textures = ['' if name in looks else name for name in material.textures]
    for texture in textures:
        spec.delete(texture)
    return missing


def _path(spec: mujoco.MjSpec, folder: str, name: str) -> Path:
    own = Path(name).name if spec.strippath else name
    return Path(spec.modelfiledir, folder, own)


def _is_missing(spec: mujoco.MjSpec, folder: str, name: str) -> bool:
    return bool(name) and not _path(spec, folder, name).is_file()
