"""What `identify` says and writes of friction beyond viscous and Coulomb."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from arm_dynamics.parameters import ParameterValues
from arm_lab.identification.estimation import IdentificationParameters, Identified, identify
from arm_lab.identification.friction_models import (
    KINDS,
    FrictionTerm,
    friction_terms,
    stribeck_torque,
)
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.signals import MotionSamples


class Friction(NamedTuple):
    """The estimate with the terms that are written, all terms, and the parameters written.

    `joints` have a term among the parameters written.
    """

    found: Identified
    terms: list[FrictionTerm]
    written: ParameterValues
    joints: frozenset[int] = frozenset()


def with_friction(
    regressor: JointRegressor,
    samples: MotionSamples,
    parameters: IdentificationParameters,
    without: Mapping[int, str],
) -> Friction:
    """Return the estimate, with Stribeck friction where the used part shows this.

    The held-back part is not asked, but whether a joint is then worse than as given.
    """
    found = identify(regressor, samples, parameters, without)
    if parameters.payload:
        return Friction(found, [], {})
    terms = friction_terms(found, samples, parameters.cutoff, parameters.prior)
    stribeck = [term for term in terms if term.kind == KINDS[0] and term.alone]
    while stribeck:
        known = stribeck_torque(samples, parameters.cutoff, stribeck)
        rest = replace(samples, effort=samples.effort - known)
        again = identify(regressor, rest, parameters, without)
        good = [term for term in stribeck if not again.kept[term.joint]]
        if len(good) == len(stribeck):
            joints = frozenset(term.joint for term in good)
            return Friction(again, terms, _written(again, good), joints)
        stribeck = good
    return Friction(found, terms, {})


def _written(found: Identified, terms: Sequence[FrictionTerm]) -> ParameterValues:
    n = found.regressor.model.nv
    static, speed = found.pi[12 * n : 13 * n].copy(), np.full(n, 0.1)
    for term in terms:
        static[term.joint] += term.size
        speed[term.joint] = term.speed
    return {'joints.static_friction': static.tolist(), 'joints.stribeck_velocity': speed.tolist()}


def friction_notes(friction: Friction) -> list[str]:
    """Return a line on each term."""
    model, lines = friction.found.regressor.model, []
    for joint, kind, size, speed, before, after, _ in friction.terms:
        of, per = ('N', 'm/s') if model.prismatic[joint] else ('N.m', 'rad/s')
        what = {
            'Stribeck': f'Stribeck, {size:.3g} {of} more at standstill, 37 % of that at '
                        f'{speed:.3g} {per}',
            'load': f'grows by {size:.2%} of the load',
            'drift': f'drifts by {size:+.0%} over the recording',
        }[kind]  # fmt: skip
        own = kind == KINDS[0] and joint in friction.joints
        file = 'joints.static_friction has it' if own else 'no parameter file has this: left out'
        if kind == KINDS[0] and not own:
            file = 'with it alone the torque is no better explained: left out'
        lines.append(
            f'friction of {model.joint_names[joint]}: {what}: {after:.2%} of the held-back torque '
            f'is left, {before:.2%} without; {file}'
        )
    return lines


def friction_facts(friction: Friction) -> dict[str, object]:
    """Return the numbers."""
    names = friction.found.regressor.model.joint_names
    terms = [{**term._asdict(), 'joint': names[term.joint]} for term in friction.terms]
    return {'friction_terms': terms}
