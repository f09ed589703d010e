"""Torques of an arm in ball arithmetic (PyPI's python-flint): Newton-Euler on Taylor series.

Written without this package's models and dynamics, and without Pinocchio: a URDF is read here. On
an interval of time each torque is its Taylor polynomial about the middle, whose coefficients are
balls, and Lagrange's remainder, a coefficient of the series about the whole interval. All
roundings are within the balls.
"""

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
from flint import arb, arb_poly, arb_series, ctx
from numpy.typing import NDArray

Array = NDArray[np.float64]
Vector = list[Any]  # of arb, arb_series, or the int 0
ctx.prec = 64
_ORDER = 8  # of the remainder
_LENGTH = 0.1  # of an interval, at most [s]
_REST = 3e-7  # largest remainder, as a share of the limit; else an interval is halved
_DENSITY = 7850.0  # of the payload, a steel ball [kg/m^3]
_STANDSTILL = 1e-9  # speeds that may be standstill [rad/s]
_CLOSE = 1e-6  # width of the share that is found


class BallArm:
    """All arms of a URDF of revolute joints in a row, with errors of masses, and a payload.

    Each link's mass and inertia is wrong by a factor of 1 - mass to 1 + mass, each joint has
    Coulomb friction of 0 to `friction` N.m in either direction at standstill, the tip carries a
    steel ball of 0 to `payload` kg.
    """

    def __init__(
        self,
        urdf: str,
        joints: tuple[str, ...],
        tip: str,
        mass: float,
        friction: Array,
        payload: float,
        rotors: Array,
        gravity: tuple[float, ...] = (0.0, 0.0, -9.81),
    ):
        """Read an arm.

        Args:
            urdf: text.
            joints: names from base to tip.
            tip: the link with the payload.
            mass, friction, payload: see the class.
            rotors: (n,) inertias, exact [kg m^2].
            gravity: in the base frame [m/s^2].
        """
        tree = ElementTree.fromstring(urdf)
        parts = {each.find('child').get('link'): each for each in tree.iterfind('joint')}
        self._mass, self._friction = arb(mass), [arb(float(each)) for each in friction]
        self._rotors = [arb(float(each)) for each in rotors]
        self._gravity = [arb(-each) for each in gravity]
        self._joints = []  # placement in the joint before: rotation, translation, and the axis
        for name in joints:
            joint = tree.find(f"joint[@name='{name}']")
            axis = [arb(each) for each in _numbers(joint.find('axis'), 'xyz')]
            place = _placed(parts, joint, joints)[1]
            self._joints.append((*place, axis))
        self._bodies = []  # number of the joint, mass, centre, inertia about the centre
        for link in tree.iterfind('link'):
            inertial = link.find('inertial')
            if inertial is None or link.get('name') not in parts:
                continue
            index, place = _placed(parts, parts[link.get('name')], joints, True)
            if index >= 0:
                self._bodies.append((index, *_body(inertial, place)))
        self._links = len(self._bodies)
        if payload:
            index, (_, centre) = _placed(parts, parts[tip], joints, True)
            radius = (arb(payload) / _DENSITY * 3 / (4 * arb.pi())) ** (arb(1) / 3)
            own = arb(2) / 5 * payload * radius * radius
            none = [[0, 0, 0]] * 3
            sphere = [[own if i == k else 0 for i in range(3)] for k in range(3)]
            self._bodies += [(index, arb(payload), centre, none), (index, 0, centre, sphere)]

    def largest_share(self, goal: Any, limits: Array) -> tuple[float, float]:
        """Return numbers between which the largest torque of any arm is, as a share of limits.

        Args:
            goal: has `times` (m,), `positions` and `velocities` (m, n), and `accelerations` or
                None: cubics or quintics between rest and rest, in the order of the joints.
            limits: (n,) [N.m].
        """
        waiting = []
        for knots in pairwise(range(len(goal.times))):
            polynomials = [_hermite(goal, knots, k) for k in range(len(limits))]
            span = arb(float(goal.times[knots[1]])) - arb(float(goal.times[knots[0]]))
            count = int(np.ceil(float(span) / _LENGTH))
            half = span / (2 * count)
            spans = [(half * (2 * i + 1), half) for i in range(count)]
            while spans:
                at, half = spans.pop()
                pieces = self._pieces(polynomials, at, half, limits)
                if max(piece.remainder for piece in pieces) > _REST:
                    spans += [(at - half / 2, half / 2), (at + half / 2, half / 2)]
                else:
                    waiting += pieces
        rest = [arb_poly([float(each)]) for each in goal.positions[-1]]
        waiting += self._pieces(rest, arb(0), arb(1), limits)
        return _bounded(waiting)

    def _pieces(self, polynomials: list[arb_poly], at: arb, half: arb, limits: Array) -> list:
        """Return the torques of all joints on an interval, as functions of -1..1."""
        motion = []
        for each in polynomials:
            rates = each, each.derivative(), each.derivative().derivative()
            motion.append([rate(arb_poly([at, half])) for rate in rates])
        exact = self._torques(motion)
        around = arb_poly([arb(0, 1), 1])
        wide = self._torques([[rate(around) for rate in rates] for rates in motion])
        found = []
        for k, (rows, far) in enumerate(zip(exact, wide, strict=True)):
            parts = [
                (arb_poly([row[i] for i in range(_ORDER)]), _symmetric(end[_ORDER]))
                for row, end in zip(rows, far, strict=True)
            ]
            _, speed, gain = motion[k]
            arms = self._mass, self._friction[k]
            found.append(
                _Piece(parts, self._links, speed, self._rotors[k] * gain, arms, limits[k])
            )
        return found

    def _torques(self, motion: list[list[arb_poly]]) -> list[Vector]:
        """Return the series of the torques of each joint (n lists), by body: links and payload.

        `motion`: position, velocity and acceleration of each joint.
        """
        ctx.cap = _ORDER + 1
        series = [[arb_series(rate.coeffs(), _ORDER + 1) for rate in each] for each in motion]
        turn: list[Vector] = [[arb(i == k) if i == k else 0 for i in range(3)] for k in range(3)]
        origin: Vector = [0, 0, 0]
        spin: Vector = [0, 0, 0]
        gain: Vector = [0, 0, 0]  # angular acceleration
        lift: Vector = list(self._gravity)
        axes, levers, frames = [], [], []
        for (rotation, offset, axis), (q, v, a) in zip(self._joints, series, strict=True):
            way = _times(turn, offset)
            lift = _sum(lift, _cross(gain, way), _cross(spin, _cross(spin, way)))
            origin = _sum(origin, way)
            turn = _product(_product(turn, rotation), _rotation(axis, q))
            z = _times(turn, axis)
            gain = _sum(gain, [_mul(x, a) for x in z], _cross(spin, [_mul(x, v) for x in z]))
            spin = _sum(spin, [_mul(x, v) for x in z])
            axes.append(z)
            levers.append(_cross(z, origin))
            frames.append((turn, origin, spin, gain, lift))
        result: list[Vector] = [[] for _ in axes]
        zero = arb_series([0], _ORDER + 1)
        for index, mass, place, inertia in self._bodies:
            turn, origin, spin, gain, lift = frames[index]
            centre = _times(turn, place)
            pull = _sum(lift, _cross(gain, centre), _cross(spin, _cross(spin, centre)))
            force = [_mul(mass, x) for x in pull]
            back = [list(row) for row in zip(*turn, strict=True)]
            own_spin, own_gain = _times(back, spin), _times(back, gain)
            moment = _cross(own_spin, _times(inertia, own_spin))
            moment = _times(turn, _sum(moment, _times(inertia, own_gain)))
            moment = _sum(moment, _cross(_sum(origin, centre), force))
            for k, row in enumerate(result):
                if k > index:
                    row.append(zero)
                    continue
                torque = _dot(axes[k], moment) - _dot(levers[k], force)
                row.append(zero + torque)
        return result


class _Piece:
    """The largest torque of one joint on an interval, as a function of its share in -1..1.

    Attributes:
        remainder: of the Taylor polynomials, as a share of the limit.
    """

    def __init__(
        self,
        parts: list[tuple[arb_poly, arb]],
        links: int,
        speed: arb_poly,
        rotor: arb_poly,
        arms: tuple[arb, arb],
        limit: float,
    ):
        """Take the torques of bodies with their remainders, and what else adds to the torque.

        Args:
            parts: of each link, and of the payload as a point and as a ball.
            links: number of links.
            speed: of the joint.
            rotor: torque of the rotor.
            arms: relative error of masses, and Coulomb friction.
            limit: of the torque.
        """
        self._parts, self._links, self._speed = parts, links, speed
        (self._mass, self._friction), self._limit = arms, arb(float(limit))
        self.remainder = sum(float(far.abs_upper()) for _, far in parts) / float(limit)
        self._slopes = [polynomial.derivative() for polynomial, _ in parts]
        total = rotor
        for polynomial, _ in parts[:links]:
            total += polynomial
        self._total, self._total_slope = total, total.derivative()

    def upper(self, at: arb, reach: arb) -> float:
        """Return an upper bound of the share on at - reach to at + reach."""
        wide = arb(at.mid(), reach.abs_upper())
        power = _power(wide)
        rest = [far * power for _, far in self._parts]
        values = [
            polynomial(at) + slope(wide) * (wide - at.mid()) + far
            for (polynomial, _), slope, far in zip(self._parts, self._slopes, rest, strict=True)
        ]
        total = self._total(at) + self._total_slope(wide) * (wide - at.mid())
        for far in rest[: self._links]:
            total += far
        return self._worst(total, values, self._speed(wide), True)

    def lower(self, at: arb) -> float:
        """Return a lower bound of the share at an instant, of an arm that exists."""
        wide = arb(at.mid())
        power = _power(wide)
        values = [polynomial(wide) + far * power for polynomial, far in self._parts]
        total = self._total(wide)
        for _, far in self._parts[: self._links]:
            total += far * power
        return self._worst(total, values, self._speed(wide), False)

    def _worst(self, total: arb, values: list[arb], speed: arb, upper: bool) -> float:
        spread = sum((self._mass * abs(x) for x in values[: self._links]), arb(0))
        found = []
        for sign in (-1, 1):
            loads = [arb(0)]
            if len(values) > self._links:
                point, ball = values[self._links :]
                # Of x in 0..1 the payload's torque is x point + x^(5/3) ball: within a triangle.
                loads += [point + ball] + [0.4 * point] * upper
            acts = speed * sign > -_STANDSTILL if not upper else not speed * sign < -_STANDSTILL
            for load in loads:
                each = sign * (total + load) + spread + (self._friction if acts else 0)
                each = each / self._limit
                found.append(float(each.upper() if upper else each.lower()))
        return max(found)


def _bounded(pieces: list[_Piece]) -> tuple[float, float]:
    """Return numbers between which the largest value of all pieces is."""
    least = most = 0.0
    tasks = [(piece.upper(arb(0), arb(1)), piece, arb(0), arb(1)) for piece in pieces]
    tasks.sort(key=lambda each: -each[0])
    while tasks:
        upper, piece, at, reach = tasks.pop(0)
        most = max(least, upper)
        if upper <= least + _CLOSE or reach < 1e-12:
            return least, most
        least = max(least, *(piece.lower(at + side * reach) for side in (-1, 0, 1)))
        reach = reach / 2
        for side in (-1, 1):
            middle = at + side * reach
            bound = piece.upper(middle, reach)
            tasks.insert(sum(each[0] > bound for each in tasks), (bound, piece, middle, reach))
    return least, most


def _hermite(goal: Any, knots: tuple[int, int], joint: int) -> arb_poly:
    """Return the polynomial of a joint between two points, in seconds from the first."""
    rows = goal.positions, goal.velocities, goal.accelerations
    (p, v), (r, w) = ([arb(float(row[k, joint])) for row in rows[:2]] for k in knots)
    h = arb(float(goal.times[knots[1]])) - arb(float(goal.times[knots[0]]))
    if rows[2] is None:
        a = (3 * (r - p) / h - 2 * v - w) / h
        return arb_poly([p, v, a, (v + w - 2 * (r - p) / h) / h**2])
    a, b = (arb(float(rows[2][k, joint])) for k in knots)
    # What the last three coefficients add to position, velocity and acceleration at the end.
    x, y, z = r - p - v * h - a * h**2 / 2, (w - v - a * h) * h, (b - a) * h**2
    last = [10 * x - 4 * y + z / 2, -15 * x + 7 * y - z, 6 * x - 3 * y + z / 2]
    return arb_poly([p, v, a / 2, *(each / h**k for k, each in enumerate(last, 3))])


def _power(ball: arb) -> arb:
    """Return the power _ORDER of a ball; arb's own is not a number where 0 is inside."""
    square = ball * ball
    fourth = square * square
    return fourth * fourth


def _symmetric(ball: arb) -> arb:
    return arb(0, ball.abs_upper())


def _numbers(element: Any, name: str) -> list[float]:
    text = '0 0 0' if element is None else element.get(name, '0 0 0')
    return [float(each) for each in text.split()]


def _origin(element: Any) -> tuple[list[Vector], Vector]:
    """Return rotation and translation of an element with an origin."""
    origin = element.find('origin')
    turn: list[Vector] = [[arb(1) if i == k else 0 for i in range(3)] for k in range(3)]
    for k, angle in reversed(list(enumerate(_numbers(origin, 'rpy')))):
        if angle:
            turn = _product(turn, _rotation([arb(i == k) for i in range(3)], arb(angle)))
    return turn, [arb(each) for each in _numbers(origin, 'xyz')]


def _placed(parts: dict, joint: Any, joints: tuple[str, ...], own: bool = False) -> tuple:
    """Return the number of the next joint below, and the placement in its frame.

    `own`: whether the joint itself counts, so that the placement is that of its child.
    """
    turn: list[Vector] = [[arb(1) if i == k else 0 for i in range(3)] for k in range(3)]
    place: Vector = [arb(0)] * 3
    while joint is not None:
        if own and joint.get('name') in joints:
            return joints.index(joint.get('name')), (turn, place)
        rotation, offset = _origin(joint)
        turn, place = _product(rotation, turn), _sum(offset, _times(rotation, place))
        joint, own = parts.get(joint.find('parent').get('link')), True
    return -1, (turn, place)


def _body(inertial: Any, placement: tuple[list[Vector], Vector]) -> tuple:
    """Return mass, centre and inertia about the centre in the frame of a joint."""
    turn, centre = _origin(inertial)
    turn, centre = _product(placement[0], turn), _times(placement[0], centre)
    given = inertial.find('inertia')
    rows = [('ixx', 'ixy', 'ixz'), ('ixy', 'iyy', 'iyz'), ('ixz', 'iyz', 'izz')]
    inertia = [[arb(float(given.get(name, '0'))) for name in row] for row in rows]
    back = [list(row) for row in zip(*turn, strict=True)]
    inertia = _product(_product(turn, inertia), back)
    mass = arb(float(inertial.find('mass').get('value')))
    return mass, _sum(centre, placement[1]), inertia


def _rotation(axis: Vector, angle: Any) -> list[Vector]:
    """Return Rodrigues' rotation about a unit axis."""
    x, y, z = (0 if each == 0 else each for each in axis)
    sine, cosine = angle.sin(), angle.cos()
    cross = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    found = []
    for i in range(3):
        row = []
        for k in range(3):
            along = _mul((x, y, z)[i], (x, y, z)[k])
            value = _plus(_mul(along, 1 - cosine), _mul(cross[i][k], sine))
            if i == k:
                value = _plus(cosine, value)
                value = arb(1) if along == 1 else value
            row.append(value)
        found.append(row)
    return found


def _mul(a: Any, b: Any) -> Any:
    return 0 if type(a) is int or type(b) is int else a * b


def _plus(a: Any, b: Any) -> Any:
    return b if type(a) is int else a if type(b) is int else a + b


def _minus(a: Any, b: Any) -> Any:
    return a if type(b) is int else -b if type(a) is int else a - b


def _sum(first: Vector, *others: Vector) -> Vector:
    for other in others:
        first = [_plus(a, b) for a, b in zip(first, other, strict=True)]
    return first


def _dot(a: Vector, b: Vector) -> Any:
    return _plus(_plus(_mul(a[0], b[0]), _mul(a[1], b[1])), _mul(a[2], b[2]))


def _cross(a: Vector, b: Vector) -> Vector:
    pairs = (1, 2), (2, 0), (0, 1)
    return [_minus(_mul(a[i], b[k]), _mul(a[k], b[i])) for i, k in pairs]


def _times(matrix: list[Vector], vector: Vector) -> Vector:
    return [_dot(row, vector) for row in matrix]


def _product(a: list[Vector], b: list[Vector]) -> list[Vector]:
    columns = list(zip(*b, strict=True))
    return [[_dot(row, list(column)) for column in columns] for row in a]
