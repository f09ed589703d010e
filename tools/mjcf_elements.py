"""Writes docs/mjcf_elements.md, what becomes of each element and attribute of an MJCF.

`./ws python tools/mjcf_elements.py`; a test compares the page with what this writes. Names of
`LACKS` and `CONVERTED` are in the line at the start.
"""

from pathlib import Path
from typing import NamedTuple

from arm_dynamics.descriptions.mjcf_lacks import BY_DIRECTION, FLAGS

USED, HARMLESS, NAMED, REFUSED = 'used', 'harmless', 'named', 'refused'

PAGE = Path(__file__).resolve().parent.parent / 'docs' / 'mjcf_elements.md'
_HEAD = """# Elements and attributes of an MJCF

What becomes of each element and attribute, also in `<default>`, in the controllers' URDF, which
`mjcf:=converted` simulates ([MJCF robots](robots.md#mjcf-robots)). An element without attributes
stands for all of them, also inside. Written by `./ws python tools/mjcf_elements.py`.
"""
_TITLES = {
    USED: 'Used',
    NAMED: "Named at the start: not in the controllers' model",
    REFUSED: 'Refused',
    HARMLESS: 'Harmless',
}


class Row(NamedTuple):
    """A fate, the elements that have it, and their attributes.

    Attributes:
        fate: one of USED, HARMLESS, NAMED, REFUSED.
        elements: paths of two names at most, as in MuJoCo's schema; 'sensor/*': all in it.
        attributes: names; '*': all, and all elements inside.
        what: what becomes of it; of NAMED the phrase of `LACKS` in the line at the start, which
            attributes that are used as well get for some values.
    """

    fate: str
    elements: str
    attributes: str
    what: str


_POSE = 'pos quat axisangle euler xyaxes zaxis'
_OF_LIMITS = 'margin solreflimit solimplimit solreffriction solimpfriction'
_KINDS = 'velocity intvelocity orientation pid damper cylinder muscle adhesion dcmotor plugin'
_OTHER_DRIVES = ' '.join(f'actuator/{x} default/{x}' for x in _KINDS.split())
_DRIVES = ' '.join(f'actuator/{x} default/{x}' for x in ('general', 'motor', 'position'))

ROWS = (
    Row(USED, 'mujoco', 'model', 'the name'),
    Row(USED, 'default', 'class', 'MuJoCo reads the file with it'),
    Row(USED, 'compiler include frame replicate asset/model body/attach', '*',
        'MuJoCo reads the file with it'),
    Row(USED, 'body', f'name {_POSE} childclass fuse simple', 'links'),
    Row(USED, 'asset/mesh default/mesh', '*', 'meshes'),
    Row(USED, 'body/inertial', '*', 'mass and inertia'),
    Row(USED, 'body/joint default/joint',
        'name class type pos axis ref limited range armature damping frictionloss '
        'actuatorfrclimited actuatorfrcrange',
        'joints'),
    Row(USED, 'body/geom default/geom',
        f'name class type size fromto {_POSE} mesh fitscale mass density shellinertia contype '
        'conaffinity group rgba material',
        'inertia, shapes of the clearance check and looks'),
    Row(USED, 'body/site default/site', '*', 'frames, at which a tool may be mounted'),
    Row(USED, _DRIVES,
        'name class joint jointinparent gear ctrllimited ctrlrange forcelimited forcerange '
        'inheritrange kp kv dampratio gaintype gainprm biastype biasprm armature damping',
        'kp, kd and effort limit of the drive'),
    Row(USED, 'keyframe/key', 'name qpos ctrl act', 'the start: key frame home, else the first'),
    Row(USED, 'option', 'gravity', 'gravity'),
    Row(USED, 'option/flag', 'gravity', 'gravity'),
    Row(NAMED, 'body/joint default/joint', 'stiffness springdamper springref springyield',
        'springs of joints'),
    Row(NAMED, 'body/joint default/joint', 'damping', 'nonlinear damping of joints'),
    Row(NAMED, 'actuator/position default/position', 'ctrlrange',
        'control ranges narrower than those of the joints'),
    Row(NAMED, _DRIVES, 'ctrlrange forcerange', BY_DIRECTION),
    Row(NAMED, 'body/joint default/joint', 'actuatorfrcrange', BY_DIRECTION),
    Row(NAMED, 'body', 'gravcomp', 'gravcomp (carried by the law)'),
    Row(NAMED, 'body/joint default/joint', 'actuatorgravcomp', 'gravcomp (carried by the law)'),
    Row(NAMED, 'body', 'mocap', 'mocap bodies'),
    Row(NAMED, 'body/geom default/geom', 'hfield', 'shapes without a URDF element'),
    Row(NAMED, 'asset/hfield', '*', 'shapes without a URDF element'),
    Row(NAMED, 'body/geom default/geom',
        'friction condim priority solref solimp solmix margin gap adhesion surfacevel',
        'contact parameters'),
    Row(NAMED, 'body/geom default/geom', 'fluidshape fluidcoef', 'fluid'),
    Row(NAMED, 'option', 'density viscosity wind', 'fluid'),
    Row(NAMED, 'option', 'actuatorgroupdisable', 'disabled groups of actuators'),
    Row(NAMED, 'option/flag', ' '.join(FLAGS), 'disabled by flags'),
    Row(NAMED, 'contact/pair contact/exclude default/pair', '*', 'contact pairs and exclusions'),
    Row(NAMED, 'tendon default/tendon', '*', 'tendons'),
    Row(NAMED, 'equality default/equality', '*', 'equalities'),
    Row(NAMED, _DRIVES, 'tendon site refsite body cranksite slidersite cranklength', 'actuators'),
    Row(NAMED, _DRIVES, 'delay nsample interp', 'delays of drives'),
    Row(NAMED, _DRIVES, 'timeconst dyntype dynprm actdim actearly actlimited actrange',
        'activation of drives'),
    Row(NAMED, _DRIVES, 'input ffrange velrange', 'other drives'),
    Row(NAMED, _OTHER_DRIVES, '*', 'other drives'),
    Row(NAMED, 'actuator/position default/position', 'kp kv dampratio',
        'servo gains, where other joints have none'),
    Row(NAMED, 'actuator/general default/general', 'biasprm',
        'biasprm without biastype="affine" (MuJoCo ignores it)'),
    Row(NAMED, 'sensor', '*', 'sensors'),
    Row(NAMED, 'deformable/flex body/flexcomp', '*', 'flexes'),
    Row(NAMED, 'extension/plugin body/plugin geom/plugin mesh/plugin', '*', 'plugins'),
    Row(NAMED, 'keyframe/key', 'qpos', 'start of the key frame beyond the limits'),
    Row(NAMED, 'keyframe/key', 'qvel', 'velocities of the key frame'),
    Row(REFUSED, 'body/freejoint', '*', 'a floating base; free and ball joints'),
    Row(REFUSED, 'option/flag', 'actuation', 'no drive would act'),
    Row(REFUSED, 'actuator/pid actuator/orientation default/pid default/orientation', '*',
        'where they have several controls or outputs'),
    Row(HARMLESS, 'option',
        'timestep integrator solver iterations tolerance ls_iterations ls_tolerance '
        'noslip_iterations noslip_tolerance ccd_iterations ccd_tolerance jacobian cone impratio '
        'sdf_iterations sdf_initpoints sleep_tolerance magnetic o_margin o_solref o_solimp '
        'o_friction',
        'parameters of the simulator'),
    Row(HARMLESS, 'option/flag',
        'autoreset contact diagexact energy eulerdamp filterparent fwdinv invdiscrete ipc island '
        'midphase multiccd nativeccd override refsafe sensor sleep speculative spring warmstart',
        'numerics; contacts:=true switches contacts on; without springs nothing is lost'),
    Row(HARMLESS, 'body/joint default/joint', _OF_LIMITS, 'how hard MuJoCo stops a joint'),
    Row(HARMLESS, 'body body/joint default/joint body/geom default/geom ' + _DRIVES,
        'group user sleep castshadow lengthrange', 'of viewers and of other programs'),
    Row(HARMLESS, 'body/camera default/camera body/light default/light asset/texture '
        'default/texture asset/material default/material asset/skin deformable/skin visual '
        'statistic', '*', 'looks'),
    Row(HARMLESS, 'size custom', '*', 'memory, and numbers of other programs'),
    Row(HARMLESS, 'keyframe/key', 'time mpos mquat plastic', 'of parts that are named'),
)  # fmt: skip


def fate_of(element: str, attribute: str) -> Row | None:
    """Return the row of an attribute; `element`: its path below <mujoco>, such as 'body/joint'.

    A row of an element holds for what is inside of it as well, unless that has a row of its own.
    """
    names = element.replace('(world)', '').split('/') if element else ['mujoco']
    found = None
    for end in range(1, len(names) + 1):
        path, inside = '/'.join(names[max(0, end - 2) : end]), end < len(names)
        known = {'*'} if inside else {'*', attribute}
        own = (row for row in ROWS if path in row.elements.split())
        found = next((row for row in own if known & {*row.attributes.split()}), found)
    return found


def parts_of(row: Row) -> str:
    """Return elements and attributes of a row."""
    names = [x for x in row.elements.split() if not x.startswith('default/')]
    elements = ', '.join(f'`{name}`' for name in names)
    words = ', '.join(f'`{name}`' for name in row.attributes.split() if name != '*')
    return f'{elements} ({words})' if words else elements


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for fate, title in _TITLES.items():
        found: dict[str, list[str]] = {}
        for row in ROWS:
            if row.fate == fate:
                found.setdefault(row.what, []).append(parts_of(row))
        parts.append(f'## {title}\n')
        parts += [f'- **{what}**: {"; ".join(rows)}' for what, rows in found.items()]
        parts.append('')
    return '\n'.join(parts)


if __name__ == '__main__':
    PAGE.write_text(page())
