"""Rotation vectors of rotation matrices, compiled."""

import math

from arm_dynamics.compiling import inlined_njit


@inlined_njit
def log3(first, second, third):
    """Return the rotation vector, three numbers [rad], of a rotation matrix given by its rows."""
    m00, m01, m02 = first
    m10, m11, m12 = second
    m20, m21, m22 = third
    wx, wy, wz = 0.5 * (m21 - m12), 0.5 * (m02 - m20), 0.5 * (m10 - m01)
    sine = math.sqrt(wx * wx + wy * wy + wz * wz)
    cosine = 0.5 * (m00 + m11 + m22 - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > -0.99:
        scale = angle / sine if sine > 1e-9 else 1.0
        return scale * wx, scale * wy, scale * wz
    # Near a half turn the antisymmetric part vanishes; the axis is in the symmetric part,
    # (M + M^T)/2 = cos I + (1 - cos) u u^T. Its largest column gives u, sin gives the sign.
    d0, d1, d2 = m00 - cosine, m11 - cosine, m22 - cosine
    if d0 >= d1 and d0 >= d2:
        ux, uy, uz = d0, 0.5 * (m01 + m10), 0.5 * (m02 + m20)
    elif d1 >= d2:
        ux, uy, uz = 0.5 * (m01 + m10), d1, 0.5 * (m12 + m21)
    else:
        ux, uy, uz = 0.5 * (m02 + m20), 0.5 * (m12 + m21), d2
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    if ux * wx + uy * wy + uz * wz < 0.0:
        length = -length
    scale = angle / length
    return scale * ux, scale * uy, scale * uz
