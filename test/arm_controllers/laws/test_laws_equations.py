"""Each law's first and second command after a reset, by the equation in its docstring.

The equations are written out with the mass matrix, the Coriolis matrix, gravity and friction of an
arm that has rotors and friction; the laws themselves use inverse dynamics.
"""

import numpy as np
import pytest
from running_law import RunningLaw

from arm_controllers.laws import law_class, law_names
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf

DT = 0.004
ARM = RobotModel(find_urdf('ur5e'), armature=np.linspace(0.1, 0.6, 6), damping=2.0, friction=0.5)
HUNDREDFOLD = ModelError(effort_scale=100.0)
STRONG = with_error(with_error(ARM, HUNDREDFOLD), HUNDREDFOLD)  # for a servo's one step
M, C, G, F = ARM.mass_matrix, ARM.coriolis_matrix, ARM.gravity_torque, ARM.friction_torque
J = ARM.jacobian
KP, KD = np.linspace(90.0, 110.0, 6), np.linspace(15.0, 25.0, 6)
GAINS = {'kp': tuple(KP), 'kd': tuple(KD)}
MOTORS = {'torque_constant': (3.0,), 'back_emf_constant': (4.0,), 'armature_resistance': (5.0,)}


def dynamics(q, v, a):
    return M(q) @ a + C(q, v) @ v + G(q) + F(v)


def pd(q, v, r):
    return KP * (r.q - q) + KD * (r.v - v)


def computed_torque(q, v, r, extra=0.0):
    return dynamics(q, v, r.a + pd(q, v, r) + extra) + r.effort


def modal(mass, stiffness, ratio):
    """Return the damping by the root of a matrix, where the laws have an eigenvalue problem."""
    outer = np.sqrt(np.outer(stiffness, stiffness))
    values, vectors = np.linalg.eigh(mass / outer)
    return 2.0 * ratio * outer * (vectors @ np.diag(np.sqrt(values)) @ vectors.T)


def impedance(q, v, r):
    damping = modal(M(q), KP, 0.4)
    tau = KP * (r.q - q) + damping @ (r.v - v) + M(q) @ r.a + C(q, v) @ r.v
    return tau + G(q) + F(v) + r.effort


def pose_error(target, tip):
    turn = target.rotation @ tip.rotation.T
    sine = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    angle = np.arctan2(np.linalg.norm(sine), np.trace(turn) - 1.0)
    return np.append(target.position - tip.position, angle * sine / np.linalg.norm(sine))


def cartesian_impedance(q, v, r):
    target, tip, jacobian = ARM.frame_motion(r.q, r.v, r.a), ARM.frame_motion(q, v, v), J(q)
    force = KP * pose_error(target, tip) + modal(
        np.linalg.inv(jacobian @ np.linalg.solve(M(q), jacobian.T)), KP, 0.4
    ) @ (target.velocity - tip.velocity)
    return M(q) @ r.a + C(q, v) @ r.v + G(q) + F(v) + jacobian.T @ force + r.effort


def operational_space(q, v, r, kp=KP, kd=KD):
    """For six axes of a six-joint arm the posture has no say: a = J^-1 (x'' - Jdot v)."""
    target, tip = ARM.frame_motion(r.q, r.v, r.a), ARM.frame_motion(q, v, np.zeros(6))
    error = pose_error(target, tip)
    x = target.acceleration + kd * (target.velocity - tip.velocity) + kp * error
    return dynamics(q, v, np.linalg.solve(ARM.jacobian(q), x - tip.acceleration)) + r.effort


def adaptive(q, v, r):
    w, dw = r.v + 15.0 * (r.q - q), r.a + 15.0 * (r.v - v)
    return M(q) @ (dw - 12.0 * (v - w)) + C(q, v) @ w + G(q) + F(w) + r.effort


def servo(level):
    def command(q, v, r):
        bias = G(q) + C(q, v) @ v
        return (
            r.q
            + {
                'none': r.effort,
                'gravity': bias + r.effort,
                'gravity_velocity': bias + KD * r.v + F(r.v) + r.effort,
                'inverse_dynamics': dynamics(r.q, r.v, r.a) + KD * r.v + r.effort,
            }[level]
            / KP
        )

    return command


def discrete(q, v, r, h=0.002):
    """The law's next sample is on the reference: the plant's step is solved for the command."""
    v_next = (r.q - q) / h
    torque = M(q) @ (v_next - v) / h + C(q, v) @ v + G(q) + F(v_next)
    return q + (torque + KD * v_next + r.effort) / KP


def velocity_servo(level):
    def command(q, v, r):
        torque = {
            'none': 0.0,
            'gravity': G(q) + C(q, v) @ v,
            'inverse_dynamics': dynamics(r.q, r.v, r.a),
        }[level]
        return r.v + 9.0 * (r.q - q) + (torque + r.effort) / KD

    return command


# Laws without memory: parameters, command.
SERVO = {'servo_kp': tuple(KP), 'servo_kd': tuple(KD)}
LEVELS = ('none', 'gravity', 'gravity_velocity', 'inverse_dynamics')
CASES = [
    ('pd', GAINS, lambda *x: pd(*x) + G(x[0]) + x[2].effort),
    ('pd', GAINS | {'gravity_compensation': False}, lambda *x: pd(*x) + x[2].effort),
    ('pd_feedforward', GAINS, lambda q, v, r: dynamics(r.q, r.v, r.a) + pd(q, v, r) + r.effort),
    ('pd_feedforward', GAINS | {'feedforward_at': 'measured'},
     lambda q, v, r: dynamics(q, v, r.a) + pd(q, v, r) + r.effort),
    ('computed_torque', GAINS, computed_torque),
    ('hybrid_force_motion', {}, lambda *x: operational_space(*x, 900.0, 60.0)),
    ('parallel_force_position', {}, lambda *x: operational_space(*x, 400.0, 40.0)),
    ('hand_guiding', {}, lambda q, v, r: dynamics(q, v, -60.0 * v) + r.effort),
    ('motor_computed_torque', GAINS | MOTORS,
     lambda q, v, r: 5.0 / 3.0 * computed_torque(q, v, r) + 4.0 * v),
    ('joint_impedance', {'stiffness': tuple(KP), 'damping_ratio': 0.4}, impedance),
    ('cartesian_impedance', {'stiffness': tuple(KP), 'damping_ratio': 0.4}, cartesian_impedance),
    ('operational_space', GAINS, operational_space),
    ('adaptive_computed_torque', {'slope': (15.0,), 'damping_rate': 12.0, 'adaptation_gain': 0.0},
     adaptive),
    *(('servo', SERVO | {'feedforward': level}, servo(level)) for level in LEVELS),
    *(('velocity_servo', {'kp': (9.0,), 'servo_kd': tuple(KD), 'feedforward': level},
       velocity_servo(level)) for level in ('none', 'gravity', 'inverse_dynamics')),
    *(('servo', SERVO | {'feedforward': level}, discrete) for level in ('discrete', 'observed')),
]  # fmt: skip


def states(seed):
    """Return q, v and a reference near them."""
    rng = np.random.default_rng(seed)
    r = Reference(6)
    r.row[:] = rng.uniform(-0.5, 0.5, 24)
    r.q[:] += [0.1, -1.2, 1.1, -0.6, 0.9, 0.2]
    r.effort[:] *= 5.0
    return r.q + rng.uniform(-0.02, 0.02, 6), rng.uniform(-0.5, 0.5, 6), r


@pytest.mark.parametrize(('name', 'parameters', 'expected'), CASES)
def test_command_is_the_laws_equation(name, parameters, expected):
    law = RunningLaw(law_class(name)(STRONG, law_class(name).Parameters(**parameters)))
    for seed in range(3):
        q, v, r = states(seed)
        law.reset(q, v)
        np.testing.assert_allclose(law(q, v, r, DT), expected(q, v, r), rtol=1e-9, atol=1e-9)


def two_commands(name, **parameters):
    law = RunningLaw(law_class(name)(ARM, law_class(name).Parameters(**parameters)))
    first, second = states(1), states(2)
    return law(*first, DT), law(*second, DT), first, second, law


def test_integral_of_computed_torque_pid_grows_after_each_command():
    gains = GAINS | {'ki': (700.0,), 'integral_limit': 2.0}
    one, two, first, second, law = two_commands('computed_torque_pid', **gains)
    np.testing.assert_allclose(one, computed_torque(*first), rtol=1e-9, atol=1e-9)
    extra = 700.0 * DT * (first[2].q - first[0])
    np.testing.assert_allclose(two, computed_torque(*second, extra), rtol=1e-9, atol=1e-9)
    q, v, r = states(1)
    for sign in (1.0, -1.0):
        r.q[:] = q + 0.01 * sign  # too little for the effort limit
        for _ in range(200):
            law(q, v, r, DT)
        np.testing.assert_array_equal(law.state[0], 2.0 * sign)


def test_independent_joints_integrate_from_the_gravity_where_they_took_over():
    wn, zeta, rate, inertia = 11.0, 0.6, 2.0, np.linspace(1.0, 2.0, 6)
    design = {'natural_frequency': (wn,), 'damping_ratio': (zeta,), 'integral_rate': rate}
    one, two, first, second, _ = two_commands('independent_joint', **design)
    m = np.diagonal(M(first[0]))
    integral = G(first[0])
    for command, (q, v, r) in ((one, first), (two, second)):
        e, de = r.q - q, r.v - v
        expected = m * (r.a + 2.0 * zeta * wn * de + wn**2 * e) + integral + r.effort
        np.testing.assert_allclose(command, expected, rtol=1e-9, atol=1e-9)
        integral = integral + m * wn**2 * rate * DT * e
    cls = law_class('independent_joint')
    given = RunningLaw(cls(ARM, cls.Parameters(**design, inertia=tuple(inertia))))
    q, v, r = first
    given.reset(q, v)
    acceleration = r.a + 2.0 * zeta * wn * (r.v - v) + wn**2 * (r.q - q)
    expected = inertia * acceleration + G(q) + r.effort
    np.testing.assert_allclose(given(q, v, r, DT), expected, rtol=1e-9, atol=1e-9)


def test_observer_takes_off_the_torque_that_the_momentum_shows():
    one, two, first, second, law = two_commands(
        'momentum_observer', **GAINS, observer_gain=(30.0,)
    )
    np.testing.assert_allclose(one, computed_torque(*first), rtol=1e-9, atol=1e-9)
    (q, v, reference), (q_2, v_2, _) = first, second
    torque = np.clip(one, -ARM.effort_limit, ARM.effort_limit) - reference.effort
    known = torque + C(q, v).T @ v - G(q) - F(v)
    r = 30.0 * (M(q_2) @ v_2 - M(q) @ v - DT * known)
    np.testing.assert_allclose(law.state.disturbance, r, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(two, computed_torque(*second) - r, rtol=1e-9, atol=1e-9)


def test_adaptive_law_learns_along_the_regressor_and_forgets_while_a_joint_is_saturated():
    gains = {'slope': (15.0,), 'damping_rate': 12.0, 'adaptation_gain': 0.3}
    one, _, (q, v, r), _, law = two_commands('adaptive_computed_torque', **gains)
    law.reset(q, v)
    before = law.state[0]
    np.testing.assert_array_equal(law(q, v, r, DT), one)
    w, dw = r.v + 15.0 * (r.q - q), r.a + 15.0 * (r.v - v)
    y = ARM.regressor(q, v, w, dw)
    gain = np.zeros((60, 60))
    for k, block in enumerate(law.law.gain):
        gain[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = block
    speed = np.trace(np.linalg.solve(M(q), y @ gain @ y.T))
    step = DT / (1.0 + DT * speed / 12.0)
    np.testing.assert_allclose(law.state[0] - before, -step * gain @ y.T @ (v - w), atol=1e-9)
    r.effort[0] = 1000.0
    learnt = law.state[0].copy()
    law(q, v, r, DT)
    np.testing.assert_allclose(
        law.state[0] - before, np.exp(-12.0 * DT) * (learnt - before), atol=1e-15
    )


def test_voltages_of_the_pose_hold_are_sums_and_differences_of_errors():
    gains = {'p': (3.0,), 'i': (0.5,), 'd': (0.2,)}
    one, two, (q, _, r), (q_2, _, r_2), _ = two_commands('pose_pid', **gains)
    e, e_2 = r.q - q, r_2.q - q_2
    np.testing.assert_allclose(one, 3.5 * e, atol=1e-14)
    np.testing.assert_allclose(two, 3.0 * e_2 + 0.5 * (e + e_2) + 0.2 * (e_2 - e), atol=1e-14)


def test_every_law_has_its_equation_here():
    with_memory = 'computed_torque_pid independent_joint momentum_observer pose_p pose_pi pose_pid'
    elsewhere = {'admittance', 'admittance_effort', 'mpc', 'policy'}
    assert {name for name, *_ in CASES} | {*with_memory.split(), *elsewhere} == set(law_names())


def test_motor_without_torque_is_refused():
    law = law_class('motor_computed_torque')
    with pytest.raises(ArmError, match=r'torque_constant .*0'):
        law(ARM, law.Parameters(torque_constant=(3.0, 3.0, 0.0, 3.0, 3.0, 3.0)))
