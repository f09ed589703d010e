"""Error, energy drift, stability of integrators: `./ws python benchmarks/integrator_study.py`.

Writes docs/images/integrators.png and prints the numbers of docs/integrators.md.
"""

from pathlib import Path

import numpy as np
import pinocchio as pin
from conditions import print_conditions

from arm_dynamics import RobotModel
from arm_dynamics.compiled import ForwardModel, ForwardModelParameters
from arm_dynamics.compiled.integrators import INTEGRATORS
from arm_dynamics.robots import find_urdf
from arm_lab.published.five_joint_arm import MOTORS
from arm_sim import pictures

START_Q = (0.3, -0.8, 0.5, 0.4, 0.2)  # [rad]
START_V = (0.5, -0.4, 0.8, 1.0, -1.0)  # [rad/s]
DURATION = 0.5  # [s]
STEPS = DURATION / np.array([10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240])
DRIFT_STEP, DRIFT_DURATION = 1e-3, 10.0  # [s]


def main() -> None:
    """Run the study."""
    print_conditions()
    model = RobotModel.from_urdf(find_urdf('five_joint_arm'))
    free = {
        name: ForwardModel(model, ForwardModelParameters(integrator=name)) for name in INTEGRATORS
    }
    start = free['rk4'].initial_state(START_Q, START_V)

    def run(name: str, h: float, count: int, state: np.ndarray = start) -> np.ndarray:
        state = state.copy()
        free[name].advance(state, np.zeros(model.nv), h, count)
        return state

    def energy(state: np.ndarray) -> float:
        q, v = state[: model.nv], state[model.nv :]
        potential = pin.computePotentialEnergy(model.pin_model, model.pin_data, model.to_pin(q))
        return float(0.5 * v @ model.mass_matrix(q) @ v + potential)

    exact = run('rk4', 5e-6, round(DURATION / 5e-6))
    figure = pictures.new_figure(12, 4.4, 'Five-joint arm, frictionless and free')
    left, right = pictures.panels(figure, 2)
    for name, color in zip(INTEGRATORS, pictures.COLORS, strict=False):
        errors = [np.abs(run(name, h, round(DURATION / h)) - exact).max() for h in STEPS]
        slope = np.polyfit(np.log(STEPS[4:8]), np.log(errors[4:8]), 1)[0]
        left.loglog(STEPS, errors, 'o-', ms=4, color=color, label=f'{name}: slope {slope:.2f}')
        state, drift = start, []
        for _ in range(round(DRIFT_DURATION / 0.05)):
            state = run(name, DRIFT_STEP, round(0.05 / DRIFT_STEP), state)
            drift.append(abs(energy(state) - energy(start)))
        right.semilogy(0.05 * np.arange(1, len(drift) + 1), drift, color=color, label=name)
        print(f'{name:20} slope {slope:.2f}, energy drift after 10 s {drift[-1]:.2e} J; errors')
        print('   ', ' '.join(f'{error:.1e}' for error in errors))
    left.invert_xaxis()
    pictures.style(left, 'largest error of the state after 0.5 s', 'step h [s]', 'error')
    pictures.style(right, 'energy drift with h = 1 ms', 'time [s]', '|energy - start| [J]')
    for axis in (left, right):
        pictures.name_ends(axis)
    pictures.save(figure, Path(__file__).parents[1] / 'docs' / 'images' / 'integrators.png')

    print('largest stable step [ms] of the arm with its DC motors:')
    for name in (*INTEGRATORS, 'lagged_euler', 'implicitfast'):
        limits = name != 'lagged_euler'  # which has none
        parameters = ForwardModelParameters(
            actuator='voltage', integrator=name, motors=MOTORS, effort_limits=limits
        )
        print(f'    {name:20} {ForwardModel(model, parameters).largest_step * 1e3:.3f}')


if __name__ == '__main__':
    main()
