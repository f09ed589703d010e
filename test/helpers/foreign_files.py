"""Grippers as other people write them: an MJCF with a tendon, and a URDF with mimic joints."""

# Two fingers on one tendon, which an equality keeps alike; one actuator pulls the tendon.
PINCER = """<mujoco model="pincer">
  <compiler angle="radian" autolimits="true"/>
  <worldbody>
    <body name="palm">
      <geom type="cylinder" size="0.035 0.02" pos="0 0 0.02" mass="0.4"/>
      <site name="grasp" pos="0 0 0.12"/>
      <body name="left" pos="0 0.04 0.04">
        <joint name="left" type="slide" axis="0 -1 0" range="0 0.035" damping="5" armature="0.02"/>
        <geom type="box" size="0.01 0.005 0.04" pos="0 0 0.04" mass="0.05"/>
      </body>
      <body name="right" pos="0 -0.04 0.04">
        <joint name="right" type="slide" axis="0 1 0" range="0 0.035" damping="5" armature="0.02"/>
        <geom type="box" size="0.01 0.005 0.04" pos="0 0 0.04" mass="0.05"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="cable"><joint joint="left" coef="0.5"/><joint joint="right" coef="0.5"/></fixed>
  </tendon>
  <equality><joint joint1="left" joint2="right"/></equality>
  <actuator>
    <position name="close" tendon="cable" ctrlrange="0 0.035" kp="2000" kv="40"
      forcerange="-60 60"/>
  </actuator>
</mujoco>"""

_PART = """<link name="{name}">
    <inertial><origin xyz="0 0 0.025"/><mass value="0.04"/>
      <inertia ixx="2e-5" iyy="2e-5" izz="2e-6" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.025"/><geometry><box size="0.012 0.016 0.05"/></geometry>
    </collision></link>
  <joint name="{name}_joint" type="revolute"><parent link="{parent}"/><child link="{name}"/>
    <origin xyz="{xyz}" rpy="0 0 {turn}"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.9" effort="3" velocity="2"/><dynamics damping="0.02"/>{mimic}
  </joint>"""


def three_fingers():
    """Return a URDF hand: one joint moves three fingers of two parts, by five <mimic>."""
    parts = []
    for finger, (x, y, turn) in {
        'thumb': (0.045, 0.0, 0.0), 'index': (-0.0225, 0.039, 2.0944),
        'middle': (-0.0225, -0.039, 4.1888),
    }.items():  # fmt: skip
        for end, parent, xyz, share in (
            ('base', 'world', f'{x} {y} 0.03', 1.0), ('tip', f'{finger}_base', '0 0 0.05', 0.6),
        ):  # fmt: skip
            mimic = f'<mimic joint="thumb_base_joint" multiplier="{share}"/>'
            place = {'parent': parent, 'xyz': xyz, 'turn': turn if end == 'base' else 0.0}
            name = f'{finger}_{end}'
            mimic = '' if name == 'thumb_base' else mimic
            parts.append(_PART.format(name=name, mimic=mimic, **place))
    palm = """<link name="world"><inertial><mass value="0.5"/>
      <inertia ixx="4e-4" iyy="4e-4" izz="5e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="grasp"/><joint name="grasp_joint" type="fixed"><parent link="world"/>
      <child link="grasp"/><origin xyz="0 0 0.1"/></joint>"""
    return f'<robot name="three_fingers">{palm}{"".join(parts)}</robot>'
