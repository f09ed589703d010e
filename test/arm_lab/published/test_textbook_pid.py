"""Numbers printed in the documentation of Modern Robotics' chapter 11, and what they rest on."""

from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_lab.published.screw_dynamics import ScrewModel
from arm_lab.published.textbook_pid import simulate_control, textbook_pid

GRAVITY = (0.0, 0.0, -9.8)
LINK_FRAMES = np.array(
    [
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.089159], [0, 0, 0, 1]],
        [[0, 0, 1, 0.28], [0, 1, 0, 0.13585], [-1, 0, 0, 0], [0, 0, 0, 1]],
        [[1, 0, 0, 0], [0, 1, 0, -0.1197], [0, 0, 1, 0.395], [0, 0, 0, 1]],
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.14225], [0, 0, 0, 1]],
    ]
)
INERTIAS = np.array(
    [
        np.diag([0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7]),
        np.diag([0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393]),
        np.diag([0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275]),
    ]
)
SCREWS = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]]).T
BOOK = ScrewModel(LINK_FRAMES, INERTIAS, SCREWS, GRAVITY)
AXIS_LENGTHS = np.array([np.sqrt(2), 1.0, 1.0])  # angle = length * theta, tau = length * torque

Q, V = np.array([0.1, 0.1, 0.1]), np.array([0.1, 0.2, 0.3])
LAW_INPUT = (
    Q,
    V,
    [0.2, 0.2, 0.2],
    [1.0, 1.0, 1.0],
    [2.0, 1.2, 2.0],
    [0.1, 0.1, 0.1],
    1.3,
    1.2,
    1.1,
)
ROWS = {
    'q_ref': np.outer([0.1, 0.2, 0.3], np.ones(3)),
    'v_ref': np.full((3, 3), 0.1),
    'a_ref': np.zeros((3, 3)),
}


def robot() -> RobotModel:
    """The same arm as a URDF."""
    return RobotModel.from_urdf(find_urdf('mr_three_link'), gravity=GRAVITY)


def screw_model(model: RobotModel) -> ScrewModel:
    """The same serial chain, taken apart at q = 0 by Pinocchio."""
    n, zero = model.nv, model.to_pin(np.zeros(model.nv))
    tool = model.forward_kinematics(np.zeros(n))
    jacobian = pin.computeJointJacobians(model.pin_model, model.pin_data, zero).reshape(6, n)
    chain, inertias = [pin.SE3.Identity()], np.zeros((n, 6, 6))
    for i, body in enumerate(model.pin_model.inertias[1:]):
        chain.append(model.pin_data.oMi[i + 1] * pin.SE3(np.eye(3), body.lever))
        inertias[i, :3, :3], inertias[i, 3:, 3:] = body.inertia, body.mass * np.eye(3)
    frames = [(a.inverse() * b).homogeneous for a, b in pairwise([*chain, tool])]
    return ScrewModel(np.array(frames), inertias, np.roll(jacobian, 3, axis=0), model.gravity)


def test_printed_form_gives_every_printed_digit():
    tau = textbook_pid(BOOK, *LAW_INPUT)
    np.testing.assert_allclose(
        tau, [133.0052524649953, -29.942233243760633, -3.03276856161724], rtol=1e-13
    )


def test_prose_form_gives_other_torques_than_the_printed_example():
    tau = textbook_pid(BOOK, *LAW_INPUT, as_printed=False)
    np.testing.assert_allclose(tau, [108.998, -32.203, -3.699], atol=5e-4)


def test_forms_differ_by_the_mass_matrix_times_ki_times_the_error():
    difference = textbook_pid(BOOK, *LAW_INPUT) - textbook_pid(BOOK, *LAW_INPUT, as_printed=False)
    np.testing.assert_allclose(difference, BOOK.mass_matrix(Q) @ (1.2 * (1.0 - Q)), rtol=1e-12)


EXAMPLE = {'kp': 20, 'ki': 10, 'kd': 18, 'timestep': 0.1, 'substeps': 4}
PRINTED = [
    [29.2466, -42.7951, -6.91623],
    [93.5113, -24.4938, -0.00376585],
    [45.3612, -39.6324, -5.62033],
]


def test_simulate_control_gives_all_nine_printed_torques():
    run = simulate_control(BOOK, BOOK, Q, V, np.ones((3, 6)), **ROWS, **EXAMPLE)
    np.testing.assert_allclose(run.torques, PRINTED, rtol=2e-6)  # six digits are printed
    shown = [[f'{x:.6g}' for x in row] for row in run.torques]
    assert shown == [[f'{x:.6g}' for x in row] for row in PRINTED]


def on_unit_axes() -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """State and reference of the example as the URDF's joints have them."""
    return AXIS_LENGTHS * Q, AXIS_LENGTHS * V, {k: AXIS_LENGTHS * x for k, x in ROWS.items()}


def test_simulate_control_on_a_robot_model_gives_all_nine_printed_torques_too():
    """The tip wrenches are ones: a wrong sign, frame or order of theirs changes every torque."""
    model, (q, v, rows) = robot(), on_unit_axes()
    run = simulate_control(model, model, q, v, np.ones((3, 6)), **rows, **EXAMPLE)
    book = simulate_control(BOOK, BOOK, Q, V, np.ones((3, 6)), **ROWS, **EXAMPLE)
    np.testing.assert_allclose(AXIS_LENGTHS * run.torques, PRINTED, rtol=2e-6)
    np.testing.assert_allclose(AXIS_LENGTHS * run.torques, book.torques, rtol=1e-10)
    np.testing.assert_allclose(run.positions, AXIS_LENGTHS * book.positions, rtol=1e-10)


def test_simulate_control_counts_the_rotors_and_the_friction_of_a_robot_model():
    arm = {'armature': 0.5, 'damping': 3.0, 'friction': 2.0}
    heavy = RobotModel.from_urdf(find_urdf('mr_three_link'), gravity=GRAVITY, **arm)
    q, v, rows = on_unit_axes()
    run = simulate_control(heavy, robot(), q, v, np.zeros((3, 6)), **rows, **EXAMPLE)
    for _ in range(EXAMPLE['substeps']):  # the first row by hand
        bias = heavy.bias_torque(q, v) + heavy.friction_torque(v)
        a = np.linalg.solve(robot().mass_matrix(q) + 0.5 * np.eye(3), run.torques[0] - bias)
        q, v = q + 0.025 * v, v + 0.025 * a
    np.testing.assert_allclose(run.positions[0], q, rtol=1e-12)


def test_urdf_of_the_example_is_the_same_arm():
    model, rng = robot(), np.random.default_rng(8)
    for _ in range(20):
        q, v, a = rng.uniform(-1, 1, (3, 3))
        expected = BOOK.inverse_dynamics(q, v, a)
        tau = AXIS_LENGTHS * model.inverse_dynamics(
            AXIS_LENGTHS * q, AXIS_LENGTHS * v, AXIS_LENGTHS * a
        )
        np.testing.assert_allclose(tau, expected, rtol=1e-12, atol=1e-12)


def test_law_on_the_urdf_gives_the_printed_digits_too():
    """On unit axes: scale every joint quantity, and the scalar gains stay what they are."""
    model = robot()
    q, v, integral, q_ref, v_ref, a_ref, *gains = LAW_INPUT
    scaled = [AXIS_LENGTHS * np.asarray(x) for x in (q, v, integral, q_ref, v_ref, a_ref)]
    tau = AXIS_LENGTHS * textbook_pid(model, *scaled, *gains)
    np.testing.assert_allclose(tau, textbook_pid(BOOK, *LAW_INPUT), rtol=1e-12)


@pytest.mark.parametrize('name', ['mr_three_link', 'planar_3r', 'ur5e', 'ur5e_menagerie'])
def test_screw_model_taken_from_a_urdf_has_its_dynamics(name):
    model, rng = RobotModel.from_urdf(find_urdf(name)), np.random.default_rng(9)
    screw = screw_model(model)
    for _ in range(5):
        q, v, a = rng.uniform(-1, 1, (3, model.nv))
        tau = model.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(screw.inverse_dynamics(q, v, a), tau, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(screw.mass_matrix(q), model.mass_matrix(q), atol=1e-11)
        np.testing.assert_allclose(screw.forward_dynamics(q, v, tau), a, atol=1e-8)


def test_tip_wrench_is_what_the_tool_does_to_the_environment():
    model = robot()
    screw = screw_model(model)
    wrench = np.array([0.3, -0.2, 0.5, 4.0, -3.0, 7.0])  # moment, force; in the tool frame
    rotation = model.forward_kinematics(Q).rotation
    on_tool = np.concatenate([-rotation @ wrench[3:], -rotation @ wrench[:3]])
    expected = model.inverse_dynamics(Q, V, np.zeros(3), {'tool': on_tool})
    tau = screw.inverse_dynamics(Q, V, np.zeros(3), wrench)
    np.testing.assert_allclose(tau, expected, rtol=1e-12)


@pytest.mark.slow
def test_estimated_masses_too_small_leave_a_larger_error():
    light = ScrewModel(LINK_FRAMES, 0.7 * INERTIAS, SCREWS, GRAVITY)
    rows = {name: np.tile(value[:1], (200, 1)) for name, value in ROWS.items()}
    rows['v_ref'] = np.zeros((200, 3))
    settings = {'kp': 20, 'ki': 0, 'kd': 9, 'timestep': 0.02, 'substeps': 4}
    still = np.zeros((200, 6))
    exact = simulate_control(BOOK, BOOK, Q, 0 * V, still, **rows, **settings)
    wrong = simulate_control(BOOK, light, Q, 0 * V, still, **rows, **settings)
    np.testing.assert_allclose(exact.positions[-1], Q, atol=1e-12)
    droop = np.abs(wrong.positions[-1] - Q)
    assert droop.max() > 0.1


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'kp': -1.0}, 'gains must not be negative: kp -1.0'),
        ({'substeps': 0}, 'substeps 0 at least 1'),
        ({'q_ref': np.zeros((3, 2))}, r'all must be \(N, 3\)'),
    ],
)
def test_bad_input_is_refused(change, message):
    settings = {**ROWS, 'kp': 20, 'ki': 10, 'kd': 18, 'timestep': 0.1, 'substeps': 4, **change}
    with pytest.raises(ArmError, match=message):
        simulate_control(BOOK, BOOK, Q, V, np.ones((3, 6)), **settings)
