"""An arm whose joints lead five others by <mimic>: a piston linkage and a hand of two fingers."""

from arm_dynamics import RobotModel

# name, type, parent, origin, axis, the joint it follows with multiplier and offset
_JOINTS = (
    ('pan', 'revolute', 'base', '0 0 0.2', '0 0 1', ()),
    # The links of a parallelogram stand before the joint that they follow.
    ('a_rod', 'continuous', 'pan_link', '0.1 0 0', '0 1 0', ('lift', 1.0, 0.0)),
    ('lift', 'revolute', 'pan_link', '0 0.05 0.1', '0 1 0', ()),
    ('level', 'revolute', 'lift_link', '0 0 0.4', '0 1 0', ('a_rod', -1.0, 0.2)),
    ('piston', 'prismatic', 'lift_link', '0.05 0 0.1', '0 0 1', ('lift', 0.08, 0.01)),
    ('grip', 'revolute', 'level_link', '0 0.03 0.1', '1 0.2 0', ()),
    ('other', 'revolute', 'level_link', '0 -0.03 0.1', '1 -0.2 0', ('grip', -1.0, 0.0)),
    ('tip_of_other', 'prismatic', 'other_link', '0 0 0.05', '0 1 0', ('other', 0.05, -0.01)),
)  # fmt: skip

MIMICS = 5


def mimic_urdf(count: int = len(_JOINTS)) -> str:
    """Return its URDF, or that of its first joints."""
    text = '<robot name="mimics"><link name="base"/>'
    for k, (name, kind, parent, origin, axis, follows) in enumerate(_JOINTS[:count]):
        mimic = ''
        if follows:
            leader, multiplier, offset = follows
            mimic = f'<mimic joint="{leader}" multiplier="{multiplier}" offset="{offset}"/>'
        mass = 2.0 / (1 + k)
        moments = f'ixx="{mass / 50}" iyy="{mass / 60}" izz="{mass / 70}" ixy="{mass / 900}"'
        text += f"""
  <joint name="{name}" type="{kind}">
    <parent link="{parent}"/><child link="{name}_link"/><origin xyz="{origin}"/>
    <axis xyz="{axis}"/><limit lower="-1.5" upper="1.5" effort="200" velocity="3"/>{mimic}
    <dynamics damping="{0.1 * (k + 1)}" friction="{0.2 * (k % 3)}" armature="0.01"/>
  </joint>
  <link name="{name}_link"><inertial><origin xyz="0.02 0.01 0.1"/><mass value="{mass}"/>
    <inertia {moments} ixz="0" iyz="0"/>
  </inertial></link>"""
    return text + '</robot>'


def mimic_arm(count: int = len(_JOINTS)) -> RobotModel:
    """Return its model, or that of its first joints, with the palm as the tool."""
    return RobotModel(mimic_urdf(count), 'level_link')


def short_mimic_arm() -> RobotModel:
    """Return the arm up to its piston: code for the whole one takes half a minute to compile."""
    return mimic_arm(5)
