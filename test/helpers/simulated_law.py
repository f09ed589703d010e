"""A law on a simulated arm, for tests of its poles and motions."""

import numpy as np

from arm_controllers.reference import Reference

DT = 1e-3  # control period [s]


def rest_reference(q):
    reference = Reference(len(q))
    reference.q[:] = q
    return reference


def linearised(model, law, q):
    """State matrix (2n x 2n) of plant and law at rest at q, by central differences."""
    n, step = model.nv, 1e-6
    reference = rest_reference(q)

    def derivative(x):
        tau = law(x[:n], x[n:], reference, DT)
        return np.concatenate([x[n:], model.forward_dynamics(x[:n], x[n:], tau)])

    x0 = np.concatenate([q, np.zeros(n)])
    columns = [
        (derivative(x0 + step * unit) - derivative(x0 - step * unit)) / (2 * step)
        for unit in np.eye(2 * n)
    ]
    return np.column_stack(columns)


def run(model, law, reference_of, q, v, duration, tau_ext=None, dt=DT):
    """Lock-step with a Runge-Kutta plant; yields t, q, v before each period."""
    law.reset(q, v)
    push = tau_ext if callable(tau_ext) else lambda q: 0.0 if tau_ext is None else tau_ext
    for i in range(round(duration / dt)):
        yield i * dt, q, v
        tau = law(q, v, reference_of(i * dt), dt) + push(q)

        def rate(x, tau=tau):
            n = len(x) // 2
            return np.concatenate([x[n:], model.forward_dynamics(x[:n], x[n:], tau)])

        x = np.concatenate([q, v])
        k1 = rate(x)
        k2 = rate(x + 0.5 * dt * k1)
        k3 = rate(x + 0.5 * dt * k2)
        k4 = rate(x + dt * k3)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        q, v = x[: model.nv], x[model.nv :]
