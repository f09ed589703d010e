"""Do all readers find the same arm in a URDF? Files drawn over the grammar of URDF 1.0 to 1.2.

    ./ws python benchmarks/robot_files.py --draws 10000

Each file has drawn joints, origins (also by quaternion), axes, limits, inertias, followers, spaces
around numbers, and elements that no arm needs. This package, urdfdom (inside Pinocchio), MuJoCo's
importer and yourdfpy (where it is installed) read it, and the drawn numbers give the same by NumPy
alone. A difference is one of a link's place [m], of the moving mass [kg], or of a limit that no
note names. Readers that do not know the quaternions of URDF 1.1 get the same file without, urdfdom
one with single spaces, yourdfpy one with unit axes: there a slide moves by q times the length of
its <axis>, in the other readers by q.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
from conditions import print_conditions

from arm_dynamics import ArmError, RobotModel

PLACE, MASS = 1e-9, 1e-9  # largest differences [m], [kg]
NAMES = ('joint{}', 'gelenk_ä{}', 'arm/{}', 'a.{}', '{}te', 'Achse {}')
HARMLESS = (
    '<material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>',
    '<gazebo reference="base"><mu1>0.2</mu1></gazebo>',
    '<!-- no element -->',
    '<transmission name="t"><type>transmission_interface/SimpleTransmission</type></transmission>',
    '<ros2_control name="r" type="system"><hardware/></ros2_control>',
)
# Attributes of <limit>, and the limits of acceleration and jerk that they are.
RATES = (
    ('', np.inf, np.inf),
    (' acceleration="3"', 3.0, np.inf),
    (' jerk="50" deceleration="2"', 2.0, 50.0),
)
OF_JOINT = (
    '<calibration rising="0.1"/>',
    '<dynamics damping="0.2" friction="0.1"/>',
    '<safety_controller k_velocity="10" k_position="15" soft_lower_limit="-0.1" '
    'soft_upper_limit="0.1"/>',
)
MOMENTS = 'ixx', 'iyy', 'izz'
AXES = ('1 0 0', '0 1 0', '0 0 -1', '0.6 0 0.8', '0 2 0', '1 1 0')


@dataclass
class Drawn:
    """A file, and what its numbers mean.

    Attributes:
        text: URDF; `plain` is the same without quaternions.
        joints: by name: parent, child, kind, placement (4, 4), axis (3,).
        limits: by name: lower, upper, velocity, effort, as written; acceleration, jerk.
        leaders: by a follower's name: leader, multiplier, offset.
        mass: of all links but the base [kg].
    """

    text: str = ''
    plain: str = ''
    joints: dict[str, tuple[str, str, str, Any, Any]] = field(default_factory=dict)
    limits: dict[str, tuple[float, ...]] = field(default_factory=dict)
    leaders: dict[str, tuple[str, float, float]] = field(default_factory=dict)
    mass: float = 0.0


def spaced(rng: np.random.Generator, numbers: Any) -> str:
    """Return numbers as text, with spaces and tabs as files of others have them."""
    between = ('  ', '\t', ' ')[rng.integers(3)]
    return between.join(repr(float(x)) for x in np.atleast_1d(numbers))


def drawn(seed: int) -> Drawn:
    """Return a drawn file."""
    rng, file = np.random.default_rng(seed), Drawn()
    count = int(rng.integers(1, 8))
    kinds = ['revolute', *rng.choice(('revolute', 'continuous', 'prismatic', 'fixed'), count - 1)]
    parts, plain = ['<link name="base"/>'], ['<link name="base"/>']
    named = NAMES[rng.integers(len(NAMES))]
    for i, kind in enumerate(kinds):
        parent = 'base' if i == 0 else f'link{rng.integers(max(0, i - 2), i)}'
        own, without = _joint(rng, file, named.format(i), str(kind), parent, f'link{i}')
        link = _link(rng, file, f'link{i}')
        parts += [own, link]
        plain += [without, link]
    extra = [str(x) for x in rng.choice(HARMLESS, 2, replace=False)]
    order = rng.permutation(len(parts) + 2)
    # urdfdom reads a quaternion from 1.1 on, this package in every version.
    version = (' version="1.1"', ' version="1.2"')[rng.integers(2)]
    for name, pieces in (('text', parts), ('plain', plain)):
        shuffled = [(*pieces, *extra)[k] for k in order]
        setattr(file, name, f'<robot name="drawn"{version}>{"".join(shuffled)}</robot>')
    return file


def _joint(
    rng: np.random.Generator, file: Drawn, name: str, kind: str, parent: str, child: str
) -> tuple[str, str]:
    xyz, rpy = rng.uniform(-0.5, 0.5, 3), rng.uniform(-3, 3, 3)
    way = ('none', 'xyz', 'rpy', 'both', 'quaternion')[rng.integers(5)]
    xyz, rpy = xyz * (way not in ('none', 'rpy')), rpy * (way in ('rpy', 'both', 'quaternion'))
    place, text = pin.SE3(pin.rpy.rpyToMatrix(*rpy), xyz), ''
    by_rpy = f'<origin xyz="{spaced(rng, xyz)}" rpy="{spaced(rng, rpy)}"/>' * (way != 'none')
    own = by_rpy
    if way == 'quaternion':
        quaternion = pin.Quaternion(place.rotation).coeffs()
        own = f'<origin xyz="{spaced(rng, xyz)}" quat_xyzw="{spaced(rng, quaternion)}"/>'
    axis = AXES[rng.integers(len(AXES))] if rng.random() < 0.8 else ''
    text += f'<axis xyz="{axis}"/>' * bool(axis) * (kind != 'fixed')
    numbers = np.array((axis or '1 0 0').split(), dtype=float)
    file.joints[name] = parent, child, kind, place, numbers / np.linalg.norm(numbers)
    if kind != 'fixed':
        lower, upper = np.sort(rng.uniform(-2.5, 2.5, 2))
        velocity, effort = rng.choice((0.0, 1.5, 3.0)), rng.choice((0.0, 20.0, 150.0))
        more, rate, jerk = RATES[rng.integers(len(RATES))]
        text += (
            f'<limit lower="{spaced(rng, lower)}" upper="{spaced(rng, upper)}" '
            f'velocity="{velocity}" effort="{effort}"{more}/>'
        )
        file.limits[name] = float(lower), float(upper), float(velocity), float(effort), rate, jerk
        text += str(rng.choice(('', *OF_JOINT)))
        leaders = [x for x in file.limits if file.joints[x][2] == kind and x not in file.leaders]
        if kind == 'prismatic' and len(leaders) > 1 and rng.random() < 0.5:
            ratio, offset = rng.uniform(0.2, 1.5), 0.0
            file.leaders[name] = leaders[0], float(ratio), offset
            text += f'<mimic joint="{leaders[0]}" multiplier="{ratio!r}" offset="{offset}"/>'
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    begin = f'<joint name="{name}" type="{kind}">'
    return (f'{begin}{x}{ends}{text}</joint>' for x in (own, by_rpy))  # type: ignore[return-value]


def _link(rng: np.random.Generator, file: Drawn, name: str) -> str:
    mass, moments = rng.uniform(0.5, 5.0), rng.uniform(0.02, 0.03, 3)
    file.mass += float(mass)
    xyz, rpy = rng.uniform(-0.2, 0.2, 3), rng.uniform(-3, 3, 3)
    origin = f'<origin xyz="{spaced(rng, xyz)}" rpy="{spaced(rng, rpy)}"/>' * (rng.random() < 0.7)
    values = ' '.join(f'{k}="{x!r}"' for k, x in zip(MOMENTS, moments.tolist(), strict=True))
    shape = '<visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual>'
    return (
        f'<link name="{name}"><inertial>{origin}<mass value="{spaced(rng, mass)}"/>'
        f'<inertia {values} ixy="0" ixz="0" iyz="0"/></inertial>{shape * rng.integers(2)}</link>'
    )


def differences(file: Drawn) -> Iterator[tuple[str, str]]:
    """Yield readers and their differences from this package; '': none of that reader."""
    model = RobotModel(file.text)
    rng = np.random.default_rng(0)
    at = [model.random_configuration(rng) for _ in range(3)]
    positions = [dict(zip(model.moving_joints, model.all_positions(q), strict=True)) for q in at]
    links = [child for _, child, *_ in file.joints.values()]
    ours = [[model.forward_kinematics(q, link).translation for link in links] for q in at]
    for reader, read in (
        ('numbers', _numbers), ('urdfdom', _urdfdom), ('MuJoCo', _mujoco), ('yourdfpy', _yourdfpy)
    ):  # fmt: skip
        if reader == 'yourdfpy' and not find_spec(reader):
            continue
        try:
            theirs, mass = read(file, positions, links)
        except Exception as error:  # of another program
            yield reader, f'reads none: {" ".join(str(error).split())[:100]}'
            continue
        far = float(np.abs(np.array(theirs) - np.array(ours)).max())
        heavier = abs(mass - _mass(model))
        yield reader, f'a link is {far:.3g} m away' * (far > PLACE)
        yield reader, f'{heavier:.3g} kg' * (heavier > MASS)
    yield 'limits', _of_limits(file, model)


def _mass(model: RobotModel) -> float:
    return float(sum(each.mass for each in model.pin_model.inertias))


def _of_limits(file: Drawn, model: RobotModel) -> str:
    """Return a limit that is neither what the file says nor named."""
    said = ' '.join(model.notes)
    for i, name in enumerate(model.joint_names):
        lower, upper, velocity, effort, rate, jerk = file.limits[name]
        led = any(leader == name for leader, *_ in file.leaders.values())
        bounds = (model.stops[0][i], model.stops[1][i])
        if not (model.continuous[i] or led) and bounds != (lower, upper):
            return f'{name}: {bounds} in place of {lower, upper}'
        for written, used, what in (
            (velocity, model.velocity_limit[i], 'velocity'),
            (effort, model.effort_limit[i], 'effort'),
        ):
            unnamed = not (written == 0.0 and f'<limit {what}="0">' in said and np.isinf(used))
            if written != used and unnamed and not (led and what == 'velocity'):
                return f'{name}: {what} {used:g} in place of {written:g}'
        rates = model.acceleration_limit[i], model.jerk_limit[i]
        if rates != (rate, jerk) and not led:
            return f'{name}: acceleration and jerk {rates} in place of {rate, jerk}'
    if '<safety_controller' in file.text and 'safety_controller' not in said:
        return 'safety_controller is not named'
    return ''


def _numbers(file: Drawn, positions: Any, links: list[str]) -> Any:
    """Return the places of links from the drawn numbers."""
    found = []
    for each in positions:
        poses = {'base': pin.SE3.Identity()}
        for name, (parent, child, kind, place, axis) in file.joints.items():
            leader, ratio, offset = file.leaders.get(name, (name, 1.0, 0.0))
            q = 0.0 if kind == 'fixed' else ratio * each[leader] + offset
            turn = pin.exp3(axis * q) if kind in ('revolute', 'continuous') else np.eye(3)
            move = axis * q if kind == 'prismatic' else np.zeros(3)
            poses[child] = poses[parent] * place * pin.SE3(turn, move)
        found.append([poses[link].translation for link in links])
    return found, file.mass


def _urdfdom(file: Drawn, positions: Any, links: list[str]) -> Any:
    model = pin.buildModelFromXML(file.text.replace('\t', ' ').replace('  ', ' '))
    data, found = model.createData(), []
    for each in positions:
        q = pin.neutral(model)
        for name, value in each.items():
            joint = model.joints[model.getJointId(name)]
            turns = joint.nq == 2
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                (np.cos(value), np.sin(value)) if turns else value
            )
        pin.framesForwardKinematics(model, data, q)
        found.append([data.oMf[model.getFrameId(link)].translation.copy() for link in links])
    return found, sum(each.mass for each in list(model.inertias)[1:]) + model.inertias[0].mass


def _mujoco(file: Drawn, positions: Any, links: list[str]) -> Any:
    tree = ElementTree.fromstring(file.plain)
    compiler = ElementTree.SubElement(tree, 'mujoco')
    ElementTree.SubElement(compiler, 'compiler', fusestatic='false', balanceinertia='false')
    m = mujoco.MjModel.from_xml_string(ElementTree.tostring(tree, encoding='unicode'))
    data, found = mujoco.MjData(m), []
    for each in positions:
        for name, value in each.items():
            data.qpos[m.joint(name).qposadr[0]] = value
        mujoco.mj_kinematics(m, data)
        found.append([data.xpos[m.body(link).id].copy() for link in links])
    return found, float(m.body_mass.sum())


def _yourdfpy(file: Drawn, positions: Any, links: list[str]) -> Any:
    load: Any = import_module('yourdfpy').URDF.load
    tree = ElementTree.fromstring(file.plain)
    for axis in tree.iterfind('joint/axis'):
        numbers = np.array(axis.get('xyz', '').split(), dtype=float)
        axis.set('xyz', ' '.join(map(repr, (numbers / np.linalg.norm(numbers)).tolist())))
    text = ElementTree.tostring(tree, encoding='unicode')
    arm, found = load(StringIO(text), load_meshes=False), []
    for each in positions:
        arm.update_cfg({name: each[name] for name in arm.actuated_joint_names})
        found.append([arm.get_transform(link, 'base')[:3, 3] for link in links])
    return found, sum(link.inertial.mass for link in arm.robot.links if link.inertial)


def main() -> int:
    """Compare the readers; return 1 if one differs."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--draws', type=int, default=1000)
    parser.add_argument('--first', type=int, default=0, help='seed of the first file')
    options = parser.parse_args()
    print_conditions()
    compared, differing, refused = Counter(), Counter(), Counter()
    for seed in range(options.first, options.first + options.draws):
        try:
            for reader, what in differences(drawn(seed)):
                compared[reader] += 1
                if what:
                    differing[reader] += 1
                    print(f'file {seed}, {reader}: {what}')
        except ArmError as error:
            refused[str(error).split(':')[0]] += 1
            print(f'file {seed}, refused: {error}')
    print('| reader | comparisons | differences |\n| --- | ---: | ---: |')
    for reader, count in compared.items():
        print(f'| {reader} | {count} | {differing[reader]} |')
    print(f'{options.draws} files, {sum(refused.values())} refused by this package')
    return int(any(differing.values()))


if __name__ == '__main__':
    sys.exit(main())
