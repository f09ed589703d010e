"""A sinusoid at another frequency."""

from arm_dynamics.checks import in_range
from arm_sim.tasks.sinusoid import Sinusoid


def at_frequency(task: Sinusoid, frequency: float) -> dict[str, object]:
    """Return what changes for another frequency [Hz], followed for a second at least.

    Above the task's own frequency the amplitude shrinks with its square: the peak acceleration
    stays, so that laws are compared and not torque limits.
    """
    in_range('frequency', frequency, 0.001, 100.0)
    scale = min(1.0, (task.parameters.frequency / frequency) ** 2)
    amplitude = (scale * task.amplitude).tolist()
    return {'amplitude': amplitude, 'frequency': frequency, 'cycles': max(1.0, 2.0 * frequency)}
