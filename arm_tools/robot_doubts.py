"""What of a robot's file is doubtful: placeholders of exporters, and links that fit no shape."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array, some_of
from arm_dynamics.descriptions.estimated_inertia import body_of
from arm_dynamics.model import RobotModel
from arm_dynamics.shapes import mesh_finder
from arm_dynamics.urdf_elements import link_of, moves, vector
from arm_dynamics.urdf_numbers import principal_moments
from arm_dynamics.urdf_rules.sizes import moved_links, outward

_LIGHT, _HEAVY = 0.05, 0.3  # below, and from where the mass of a link is looked at [kg]
# Times the gyration radius of a link's shapes: no matter within them is as far from their centre.
_BEYOND, _NEAR = 3.0, 0.02  # [1], [m]
_DENSEST, _THINNEST, _SMALL = 25_000.0, 10.0, 2e-4  # [kg/m^3], [kg/m^3], volume [m^3]
_UNLIKE = 20.0  # times larger than the other kind of shape of a link
_FEW = 3  # joints, from which equal efforts are a placeholder


class Solid(NamedTuple):
    """The shapes of a link, as one body of density 1.

    Attributes:
        volume: [m^3].
        centre: (3,) in the link's frame [m].
        radius: largest radius of gyration about the centre [m].
    """

    volume: float
    centre: Array
    radius: float


def doubts(model: RobotModel) -> Iterator[str]:
    """Yield, one line each, what is doubtful in the file of an arm, and what it may mean."""
    yield from _placeholders(model)
    tree = ElementTree.fromstring(model.urdf)
    find = mesh_finder(model.file)
    solids = {link.get('name', ''): _solids(link, find) for link in tree.iterfind('link')}
    yield from _of_links(tree, solids)
    if thin := _thin(tree, solids):
        yield (
            f'{some_of(thin)}: less than {_THINNEST:g} kg/m^3 in its shapes; is the mass in '
            'tonnes, or a placeholder?'
        )


def _placeholders(model: RobotModel) -> Iterator[str]:
    """Yield a line where all joints have one round effort, or also one speed."""
    turning = ~model.prismatic
    efforts, speeds = model.effort_limit[turning], model.velocity_limit[turning]
    if len(efforts) < _FEW or not np.isfinite(efforts).all() or np.ptp(efforts) > 0.0:
        return
    if float(f'{efforts[0]:.0e}') == efforts[0]:
        same = np.isfinite(speeds).all() and np.ptp(speeds) == 0.0
        speed = f' and the speed limit {speeds[0]:g} rad/s' if same else ''
        yield (
            f'all joints have the effort limit {efforts[0]:g} N.m{speed}: placeholders of an '
            "exporter? Write the drives' limits"
        )


def _solids(link: Element, find: Callable[[str], Path | str]) -> list[Solid]:
    """Return the visual and the collision shapes of a link, those of which all are read."""
    found = []
    for kind in ('visual', 'collision'):
        shapes = link.findall(kind)
        files = [mesh.get('filename', '') for x in shapes for mesh in x.iterfind('geometry/mesh')]
        bodies = []
        if not any(isinstance(find(name), str) for name in files):
            with suppress(ArmError, RuntimeError):  # of Qhull
                bodies = [body for shape in shapes if (body := body_of(shape, find))]
        body = sum(bodies, pin.Inertia.Zero())
        if body.mass > 0.0:
            largest = float(np.linalg.eigvalsh(body.inertia)[-1])
            radius = float(np.sqrt(max(largest, 0.0) / body.mass))
            found.append(Solid(body.mass, body.lever.copy(), radius))
    return found


def _of_links(tree: Element, solids: dict[str, list[Solid]]) -> Iterator[str]:
    """Yield lines on links whose centre, moments or mass no body of their shapes has."""
    moments = {name: found[0] for name, found in principal_moments(tree).items()}
    moved = moved_links(tree)
    outside, wide, dense, unlike = [], [], [], []
    for link in tree.iterfind('link'):
        name, own = link.get('name', ''), solids[link.get('name', '')]
        mass = sum(float(x.get('value', '0')) for x in link.iterfind('inertial/mass'))
        if not own or name not in moved or mass < _LIGHT:
            continue
        centre = vector(link.find('inertial/origin'), 'xyz')
        away = [float(np.linalg.norm(centre - each.centre)) for each in own]
        far = min(x / each.radius for x, each in zip(away, own, strict=True))
        radius = float(np.sqrt(max(moments[name][-1], 0.0) / mass))
        if far > _BEYOND and min(away) > _NEAR:
            outside.append(f'{name} ({min(away):.3g} m)')
        elif radius > _BEYOND * max(
            float(np.hypot(x, each.radius)) for x, each in zip(away, own, strict=True)
        ):
            wide.append(f'{name} ({radius:.3g} m)')
        sizes = [each.radius for each in own]
        if max(sizes) > _UNLIKE * min(sizes):
            unlike.append(name)
        if mass > _HEAVY and mass > _DENSEST * max(each.volume for each in own):
            dense.append(name)
    for names, what in (
        (outside, 'centre of mass so far outside of its shapes; is a sign wrong, or the frame?'),
        (wide, 'gyration radius far beyond its shapes; is <inertia> in kg m^2, or a placeholder?'),
        (unlike, 'visual and collision of quite another size; is a scale missing in one of them?'),
        (dense, 'denser in its shapes than any metal; is the mass right, or a shape too small?'),
    ):
        if names:
            yield f'{some_of(names)}: {what}'


def _thin(tree: Element, solids: dict[str, list[Solid]]) -> list[str]:
    """Return the links that a joint moves with hardly any mass for the volume behind it."""
    bodies: dict[str, str] = {}  # of each link, the link behind the joint that moves it
    for joint in outward(tree):
        child, parent = link_of(joint, 'child'), link_of(joint, 'parent')
        bodies[child] = child if moves(joint) else bodies.get(parent, '')
    masses, volumes = dict.fromkeys(bodies.values(), 0.0), dict.fromkeys(bodies.values(), 0.0)
    for link in tree.iterfind('link'):
        name = link.get('name', '')
        if body := bodies.get(name, ''):
            masses[body] += sum(float(x.get('value', '0')) for x in link.iterfind('inertial/mass'))
            volume = min((each.volume for each in solids[name]), default=0.0)
            volumes[body] = max(volumes[body], volume)
    return [
        body
        for body, volume in volumes.items()
        if body and volume > _SMALL and 0.0 < masses[body] < _THINNEST * volume
    ]
