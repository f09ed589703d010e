"""The Riccati recursion of optimal_control: from the last node back to gains, and forward again.

Numba compiles these functions. `value` (2 n, 2 n) and `linear` (2 n,) are the cost from a node to
the end as a function of (dq, dv). `hessian` (3 n, 3 n + 1) is that cost as a function of (dq, dv,
da): its lower triangle, and the gradient in the last column.
"""

import numpy as np

from arm_dynamics.compiling import unlocked_njit


@unlocked_njit
def cost_at_end(final, target, motion, forces, weights, value, linear):
    """Write the cost at the last node, with its limits."""
    n = final.shape[1]
    nodes = motion.shape[1] - 1
    for i in range(n):
        e = motion[0, nodes, i] - target[0, nodes, i]
        de = motion[1, nodes, i] - target[1, nodes, i]
        value[i, i] = final[0, i] + weights[1, nodes - 1, i]
        value[n + i, i] = final[1, i]
        value[n + i, n + i] = final[2, i] + weights[2, nodes - 1, i]
        linear[i] = final[0, i] * e + final[1, i] * de + forces[1, nodes - 1, i]
        linear[n + i] = final[1, i] * e + final[2, i] * de + forces[2, nodes - 1, i]


@unlocked_njit
def one_step_back(tk, sk, value, linear, hessian):
    """Write H and g of a step by t and s of its node, from the value at the next node."""
    n = linear.size // 2
    last = 3 * n
    for i in range(n):
        for j in range(n):
            qq = value[i, j] if j <= i else value[j, i]
            vv = value[n + i, n + j] if j <= i else value[n + j, n + i]
            qv, vq = value[n + j, i], value[n + i, j]
            if j <= i:
                hessian[i, j] = qq
                hessian[n + i, n + j] = tk * tk * qq + tk * (qv + vq) + vv
                hessian[2 * n + i, 2 * n + j] = sk * sk * qq + sk * tk * (qv + vq) + tk * tk * vv
            hessian[n + i, j] = tk * qq + vq
            hessian[2 * n + i, j] = sk * qq + tk * vq
            hessian[2 * n + i, n + j] = tk * sk * qq + sk * qv + tk * (tk * vq + vv)
        hessian[i, last] = linear[i]
        hessian[n + i, last] = tk * linear[i] + linear[n + i]
        hessian[2 * n + i, last] = sk * linear[i] + tk * linear[n + i]


@unlocked_njit
def add_cost(k, h, running, target, motion, torque, slopes, forces, weights, hessian):
    """Add the cost of node k to H and g, with its limits and its torque."""
    n = torque.shape[1]
    last = 3 * n
    for i in range(n):
        hessian[2 * n + i, 2 * n + i] += h * running[2, i]
        hessian[2 * n + i, last] += h * running[2, i] * (motion[2, k, i] - target[2, k, i])
        if k > 0:
            for row in range(2):
                e = motion[row, k, i] - target[row, k, i]
                place = row * n + i
                hessian[place, place] += h * running[row, i] + weights[row + 1, k - 1, i]
                hessian[place, last] += h * running[row, i] * e + forces[row + 1, k - 1, i]
    first = 0 if k > 0 else 2 * n  # the state of the first node is fixed
    for m in range(n):
        weight = h * running[3, m] + weights[0, k, m]
        push = h * running[3, m] * torque[k, m] + forces[0, k, m]
        if weight == 0.0:
            continue
        for i in range(first, 3 * n):
            slope = slopes[k, i // n, m, i % n]
            hessian[i, last] += slope * push
            for block in range(first // n, i // n + 1):
                for j in range(n if block < i // n else i % n + 1):
                    hessian[i, block * n + j] += weight * slope * slopes[k, block, m, j]


@unlocked_njit
def eliminate(first, hessian, gains):
    """Factor the block of da, and write L^-1 (Haq, Hav, ga) into the gains (n, 2 n + 1)."""
    n = gains.shape[0]
    a, last = 2 * n, 3 * n
    for j in range(n):
        for i in range(j, n):
            total = hessian[a + i, a + j]
            for m in range(j):
                total -= hessian[a + i, a + m] * hessian[a + j, a + m]
            if i == j:
                pivot = 1.0 / np.sqrt(total)
            hessian[a + i, a + j] = total * pivot
        hessian[a + j, a + j] = pivot  # its inverse
    for i in range(n):
        for j in range(first, 2 * n):
            gains[i, j] = hessian[a + i, j]
        gains[i, 2 * n] = hessian[a + i, last]
        for m in range(i):
            factor = hessian[a + i, a + m]
            for j in range(first, 2 * n + 1):
                gains[i, j] -= factor * gains[m, j]
        for j in range(first, 2 * n + 1):
            gains[i, j] *= hessian[a + i, a + i]


@unlocked_njit
def value_before(hessian, gains, value, linear):
    """Write the value at a node, whose da is eliminated."""
    n = gains.shape[0]
    last = 3 * n
    for i in range(2 * n):
        for j in range(i + 1):
            value[i, j] = hessian[i, j]
        linear[i] = hessian[i, last]
    for m in range(n):
        for i in range(2 * n):
            factor = gains[m, i]
            for j in range(i + 1):
                value[i, j] -= factor * gains[m, j]
            linear[i] -= factor * gains[m, 2 * n]


@unlocked_njit
def finish_gains(first, hessian, gains):
    """Multiply the gains by L^-T."""
    n = gains.shape[0]
    a = 2 * n
    for i in range(n - 1, -1, -1):
        for m in range(i + 1, n):
            factor = hessian[a + m, a + i]
            for j in range(first, 2 * n + 1):
                gains[i, j] -= factor * gains[m, j]
        for j in range(first, 2 * n + 1):
            gains[i, j] *= hessian[a + i, a + i]


@unlocked_njit
def backward(
    t, s, running, final, target, motion, torque, slopes, forces, weights, gains, hessian
):
    """Write the gains (N, n, 2 n + 1): da = -gains (dq, dv, 1)."""
    nodes, n = torque.shape
    value, linear = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
    cost_at_end(final, target, motion, forces, weights, value, linear)
    for k in range(nodes - 1, -1, -1):
        first = 0 if k > 0 else 2 * n  # the state of the first node is fixed
        one_step_back(t[k], s[k], value, linear, hessian)
        add_cost(k, t[k], running, target, motion, torque, slopes, forces, weights, hessian)
        eliminate(first, hessian, gains[k])
        if k > 0:
            value_before(hessian, gains[k], value, linear)
        finish_gains(first, hessian, gains[k])


@unlocked_njit
def forward(t, s, gains, slopes, change, bent):
    """Write the change (3, N + 1, n) of q, v, a and that of the torques (N, n)."""
    nodes, n = bent.shape
    change[:, 0] = 0.0
    for k in range(nodes):
        for i in range(n):
            total = -gains[k, i, 2 * n]
            if k > 0:
                for j in range(n):
                    total -= (
                        gains[k, i, j] * change[0, k, j] + gains[k, i, n + j] * change[1, k, j]
                    )
            change[2, k, i] = total
        for i in range(n):
            change[0, k + 1, i] = change[0, k, i] + t[k] * change[1, k, i] + s[k] * change[2, k, i]
            change[1, k + 1, i] = change[1, k, i] + t[k] * change[2, k, i]
            total = 0.0
            for row in range(3):
                for j in range(n):
                    total += slopes[k, row, i, j] * change[row, k, j]
            bent[k, i] = total
