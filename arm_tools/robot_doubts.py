"""What of a robot's file is doubtful: placeholders of exporters, and links that fit no shape.

These checks read meshes; those of the text alone are rules of `arm_dynamics.urdf_rules`.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array, line_on
from arm_dynamics.descriptions.estimated_inertia import body_of
from arm_dynamics.model import RobotModel
from arm_dynamics.packages import packages_around
from arm_dynamics.shapes import candidates, mesh_finder
from arm_dynamics.urdf_elements import link_of, moves, origin_of, vector
from arm_dynamics.urdf_numbers import principal_moments
from arm_dynamics.urdf_tree import mass_of, moved_links, outward, turns

_LIGHT = 0.05  # a lighter link is not looked at [kg]
_HEAVY = 0.3  # nor is the density of one lighter than this [kg]
_BEYOND = 3.0  # times the gyration radius of a link's shapes, which nothing in them has
_NEAR = 0.02  # nor is a nearer centre of mass outside of its shapes [m]
_DENSEST, _THINNEST = 25_000.0, 10.0  # mass by volume of the shapes [kg/m^3]
_SMALL = 2e-4  # volume from where a link can be too thin [m^3]
_UNLIKE = 20.0  # times larger than the other kind of shape of a link
_ROUND = '1', '2', '3', '5'  # the only digit of a placeholder
_FEW = 3  # joints, from which equal efforts are a placeholder
_AT = 1e-3  # distance of joints at one place [m]
# Share of the gyration radii of the shapes on both sides of such a joint, from which their centres
# are apart: of 400 such joints of vendors it is 0.39 or more.
_SHARED = 0.33
_WITHIN = 0.1  # times the gyration radius of a link's shapes, below which no body of them is
_POINT = 3e-4  # a smaller gyration radius is that of a point [m]
_SOME = 4  # links, from which an arm has usual ones
_UNUSUAL = 6.0  # ratio to the usual density of a mass that is unlike
_ALIKE = 2.5  # and ratio of moments of inertia that are alike
_HOLLOW, _THICK = 90.0, 6_000.0  # usual densities [kg/m^3]
_TINY = 1e-5  # a smaller volume says nothing [m^3]
_ROUNDING = 1e-12  # share of the largest torque of the weight below which another one is rounding
_WEAK = 0.9  # share of its effort limit beyond which gravity makes a joint weak
_SMALL_FILE = 300_000  # [bytes]
_WHAT = (
    'centre of mass so far outside of its shapes; is a sign wrong, or the frame?',
    'gyration radius far beyond its shapes; is <inertia> in kg m^2, or a placeholder?',
    'visual and collision of quite another size; is a scale missing in one of them?',
    'denser in its shapes than any metal; is the mass right, or a shape too small?',
    'gyration radius far within its shapes; is <inertia> in kg m^2, or a shape in millimetres?',
)


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
    folder, around = Path(model.file).expanduser().resolve().parent, cache(packages_around)
    find = mesh_finder(model.file)

    @cache
    def size(filename: str) -> int:
        paths = [x for x in candidates(filename, folder, around) if x.is_file()]
        return sum(path.stat().st_size for path in paths[:1])

    shapes = {link.get('name', ''): Shapes(link, find, size) for link in tree.iterfind('link')}
    yield from _of_links(tree, shapes)
    yield from line_on(
        _nested(tree, shapes),
        '{}: at the place of the joint before, and the shapes that it moves are within those '
        'before it; is an <origin> missing?',
    )
    text = '{}: less than {:g} kg/m^3 in its shapes; is the mass in tonnes, or a placeholder?'
    yield from line_on(_thin(tree, shapes), text, _THINNEST)


def weight_of(model: RobotModel) -> Array:
    """Return the largest torque (n,) of the weight in 200 drawn poses [N.m | N]."""
    rng = np.random.default_rng(0)
    torque = [model.gravity_torque(model.random_configuration(rng)) for _ in range(200)]
    found: Array = np.abs(torque).max(axis=0)
    found[found < _ROUNDING * found.max()] = 0.0
    return found


def weak_joints(model: RobotModel) -> dict[str, str]:
    """Return a line by joint, for each whose effort the weight takes up in some poses."""
    shares: Array = weight_of(model) / model.effort_limit
    return {
        name: f'gravity asks joint {name!r} for {share:.0%} of its effort limit in some poses'
        for name, share in zip(model.joint_names, shares, strict=True)
        if share > _WEAK
    }


def _placeholders(model: RobotModel) -> Iterator[str]:
    """Yield a line where all joints have one round effort, or also one speed."""
    turning = ~model.prismatic
    efforts, speeds = model.effort_limit[turning], model.velocity_limit[turning]
    if len(efforts) < _FEW or not np.isfinite(efforts).all() or np.ptp(efforts) > 0.0:
        return
    if f'{efforts[0]:e}'.replace('.', '').split('e')[0].rstrip('0') in _ROUND:
        same = np.isfinite(speeds).all() and np.ptp(speeds) == 0.0
        speed = f' and the speed limit {speeds[0]:g} rad/s' if same else ''
        yield (
            f'all joints have the effort limit {efforts[0]:g} N.m{speed}: placeholders of an '
            "exporter? Write the drives' limits"
        )


class Shapes:
    """The shapes of a link; large files are read only where the other ones leave a doubt."""

    def __init__(
        self, link: Element, find: Callable[[str], Path | str], size: Callable[[str], int]
    ):
        """Take a link; `find` returns the file of a mesh, `size` its bytes."""
        self._link, self._find, self._size = link, find, size

    @cached_property
    def few(self) -> list[Solid]:
        """The collision shapes, and the visual ones where these are small files, or alone."""
        found = self._of('collision')
        return found + self._of('visual') if not found or self._is_small() else found

    @cached_property
    def all(self) -> list[Solid]:
        """The collision and the visual shapes."""
        return self._of('collision') + self._of('visual')

    def _files(self, kind: str) -> list[str]:
        meshes = self._link.iterfind(f'{kind}/geometry/mesh')
        return [mesh.get('filename', '') for mesh in meshes]

    def _is_small(self) -> bool:
        return sum(map(self._size, self._files('visual'))) < _SMALL_FILE

    def _of(self, kind: str) -> list[Solid]:
        """Return the shapes of a kind as one body; [] where there are none, or one is not read."""
        bodies = []
        if not any(isinstance(self._find(name), str) for name in self._files(kind)):
            with suppress(ArmError, RuntimeError):  # of Qhull
                shapes = self._link.findall(kind)
                found = (body_of(shape, self._find) for shape in shapes)
                bodies = [body.inertia for body in found if body]
        body = sum(bodies, pin.Inertia.Zero())
        if not body.mass > 0.0:
            return []
        largest = float(np.linalg.eigvalsh(body.inertia)[-1])
        radius = float(np.sqrt(max(largest, 0.0) / body.mass))
        return [Solid(body.mass, body.lever.copy(), radius)]


def _of_links(tree: Element, shapes: dict[str, Shapes]) -> Iterator[str]:
    """Yield lines on links whose centre, moments or mass no body of their shapes has."""
    moments = {name: found[0] for name, found in principal_moments(tree).items()}
    moved = moved_links(tree)
    found: dict[str, list[str]] = {what: [] for what in _WHAT}
    bodies: dict[str, tuple[float, float]] = {}
    for link in tree.iterfind('link'):
        name = link.get('name', '')
        mass = mass_of(link)
        if name not in moved or mass < _LIGHT:
            continue
        centre = vector(link.find('inertial/origin'), 'xyz')
        radius = float(np.sqrt(max(moments[name][-1], 0.0) / mass))
        if wrong := _wrong(shapes[name].few, mass, centre, radius):
            wrong = _wrong(shapes[name].all, mass, centre, radius)
        largest = max(shapes[name].few, key=lambda x: x.volume, default=None)
        if largest and largest.volume > _TINY and moments[name][-1] > 0.0:
            ratio = radius / largest.radius
            bodies[name] = mass / largest.volume, mass / largest.volume * ratio**2
        for what, size in wrong.items():
            found[what].append(f'{name} ({size:.3g} m)' if size else name)
    for what, names in found.items():
        yield from line_on(names, f'{{}}: {what}')
    yield from _unusual(bodies)


def _unusual(bodies: dict[str, tuple[float, float]]) -> Iterator[str]:
    """Yield lines on masses unlike those of other links, and on links that all are unlike metal.

    Args:
        bodies: by link, mass by volume [kg/m^3], and largest moment of inertia by that of the
            shapes at density 1 [kg/m^3].
    """
    if len(bodies) < _SOME:
        return
    density, other = np.median([*bodies.values()], axis=0)
    if not _HOLLOW <= density <= _THICK:
        yield (
            f'half of the links have {"more" if density > _THICK else "less"} than {density:.3g} '
            'kg/m^3 in their shapes; are masses placeholders, or too '
            f'{"large" if density > _THICK else "small"}?'
        )
    yield from line_on(
        (
            name
            for name, (own, moment) in bodies.items()
            if not 1.0 / _UNUSUAL < own / density < _UNUSUAL
            and 1.0 / _ALIKE < moment / other < _ALIKE
        ),
        '{}: mass unlike those of the other links for its shapes, but moments of inertia like '
        'theirs; is a decimal point wrong?',
    )


def _wrong(own: list[Solid], mass: float, centre: Array, radius: float) -> dict[str, float]:
    """Return what of a link no body of its shapes has, with a length [m], or 0."""
    if not own:
        return {}
    away = [float(np.linalg.norm(centre - each.centre)) for each in own]
    outside, wide, unlike, dense, within = _WHAT
    found = {}
    if min(away) > _NEAR and all(
        x > _BEYOND * each.radius for x, each in zip(away, own, strict=True)
    ):
        found[outside] = min(away)
    elif all(
        radius > _BEYOND * np.hypot(x, each.radius) for x, each in zip(away, own, strict=True)
    ):
        found[wide] = radius
    if max(each.radius for each in own) > _UNLIKE * min(each.radius for each in own):
        found[unlike] = 0.0
    if mass > _HEAVY and mass > _DENSEST * max(each.volume for each in own):
        found[dense] = 0.0
    if _POINT < radius < _WITHIN * min(each.radius for each in own):
        found[within] = radius
    return found


def _nested(tree: Element, shapes: dict[str, Shapes]) -> list[str]:
    """Return the joints at the place of the joint before, whose links share one place."""
    moved, found = moved_links(tree), []
    for joint in tree.iterfind('joint'):
        pose, before = origin_of(joint), link_of(joint, 'parent')
        is_driven = turns(joint) and joint.find('mimic') is None
        if is_driven and before in moved and np.linalg.norm(pose.translation) < _AT:
            pair = [
                max(shapes[link].few, key=lambda x: x.volume, default=None)
                for link in (before, link_of(joint, 'child'))
            ]
            if all(pair):
                own, other = (x for x in pair if x)
                apart = float(np.linalg.norm(pose.act(other.centre) - own.centre))
                if apart < _SHARED * (own.radius + other.radius):
                    found.append(joint.get('name', ''))
    return found


def _thin(tree: Element, shapes: dict[str, Shapes]) -> list[str]:
    """Return the links that a joint moves with hardly any mass for the volume behind it."""
    bodies: dict[str, str] = {}  # of each link, the link behind the joint that moves it
    for joint in outward(tree):
        child, parent = link_of(joint, 'child'), link_of(joint, 'parent')
        bodies[child] = child if moves(joint) else bodies.get(parent, '')
    masses: dict[str, float] = {}
    parts: dict[str, list[Shapes]] = {}
    for link in tree.iterfind('link'):
        if body := bodies.get(link.get('name', ''), ''):
            masses[body] = masses.get(body, 0.0) + mass_of(link)
            parts.setdefault(body, []).append(shapes[link.get('name', '')])

    def is_thin(body: str, solids: list[list[Solid]]) -> bool:
        volume = max(min((each.volume for each in own), default=0.0) for own in solids)
        return volume > _SMALL and 0.0 < masses[body] < _THINNEST * volume

    return [
        body
        for body, own in parts.items()
        if is_thin(body, [x.few for x in own]) and is_thin(body, [x.all for x in own])
    ]
