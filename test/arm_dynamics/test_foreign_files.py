"""Kinds of foreign files: each loads, or gets one line that its author would accept."""

import numpy as np
import pytest
import trimesh
from arms import chain, revolute
from optional import optional

from arm_dynamics.checks import ArmError
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import PlantParameters

JOINTS = [
    revolute(name, 'xyz="0 0 0.2"', axis)
    for name, axis in zip(
        'abcdef', ('0 0 1', '0 1 0', '0 1 0', '1 0 0', '0 1 0', '1 0 0'), strict=True
    )
]
ARM = chain('arm', JOINTS)
INERTIAL = ARM[ARM.index('<inertial>') : ARM.index('</inertial>') + len('</inertial>')]
LIMIT = '<limit lower="-2.5" upper="2.2" effort="50" velocity="3"/>'
AXIS = '<axis xyz="0 0 1"/>'
END = '</robot>'
ESTIMATE = 'inertia:=estimate'


def shaped(shape, kind='collision', origin='<origin xyz="0 0 0.1"/>', everywhere=''):
    """Return the arm without inertia, each moving link with a shape."""
    solid = f'<{kind}>{origin}<geometry>{shape}</geometry></{kind}>{everywhere}'
    return without_inertia().replace('_link">', f'_link">{solid}')


def without_inertia(text=ARM):
    while '<inertial>' in text:
        end = text.index('</inertial>') + len('</inertial>')
        text = text[: text.index('<inertial>')] + text[end:]
    return text


def fixed(name, parent='tool', child=''):
    child = child or f'{name}_link'
    return f"""<link name="{child}"/><joint name="{name}" type="fixed">
      <parent link="{parent}"/><child link="{child}"/></joint>"""


def fingers(kind='revolute', mimic='', parent='tool'):
    text = ''
    for name in ('left', 'right'):
        joint = revolute(name, 'xyz="0 0 0.1"', '0 1 0', kind).format(parent=parent)
        text += joint.replace('<limit', f'{mimic}<limit') if name == 'right' else joint
    return text


def behind(text, arm=ARM):
    return arm.replace(END, text + END)


def xacro(body, declared='xmlns:xacro="http://www.ros.org/wiki/xacro"'):
    return f'<robot name="arm" {declared}>{body}</robot>'


INSIDE = ARM[ARM.index('<link') : ARM.rindex(END)]
MACRO = xacro(f'<xacro:macro name="arm" params="size:=0.2">{INSIDE}</xacro:macro>')
USE = '<xacro:include filename="$(find {})/urdf/macro.xacro"/><xacro:arm/>'
STL = trimesh.creation.box((0.1, 0.1, 0.3)).export(file_type='stl')
MESH = '<mesh filename="{}"/>'
PACKAGE = '<package format="3"><name>{}</name><version>1.0.0</version></package>'
MJCF = """<mujoco><worldbody><body name="one"><joint name="a" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.03"/>{}</body></worldbody>{}</mujoco>"""

# name: (files, words behind the robot's name, expected error or '', expected tool or '')
# The first file is the robot.
KINDS = {
    # joints and limits
    'plain': ({'arm.urdf': ARM}, '', '', 'tool'),
    'continuous wrist': (
        {'arm.urdf': ARM.replace('"f" type="revolute"', '"f" type="continuous"')},
        '',
        '',
        '',
    ),
    'lifting column': (
        {'arm.urdf': ARM.replace('"a" type="revolute"', '"a" type="prismatic"')},
        '',
        '',
        '',
    ),
    'joint without axis': ({'arm.urdf': ARM.replace(AXIS, '')}, '', '', ''),
    'axis of another length': (
        {'arm.urdf': ARM.replace(AXIS, '<axis xyz="0 0 -2"/>')},
        '',
        '',
        '',
    ),
    'velocity 0': ({'arm.urdf': ARM.replace('velocity="3"', 'velocity="0"')}, '', '', ''),
    'effort 0': ({'arm.urdf': ARM.replace('effort="50"', 'effort="0"')}, '', '', ''),
    'huge limits': (
        {'arm.urdf': ARM.replace('"2.2"', '"1e16"').replace('"-2.5"', '"-1e16"')},
        '',
        '',
        '',
    ),
    'zero outside the limits': ({'arm.urdf': ARM.replace('"-2.5"', '"0.5"')}, '', '', ''),
    'safety controller': (
        {'arm.urdf': ARM.replace(LIMIT, LIMIT + '<safety_controller k_velocity="0"/>')},
        '',
        '',
        '',
    ),
    'calibration': (
        {'arm.urdf': ARM.replace(LIMIT, LIMIT + '<calibration rising="0"/>')},
        '',
        '',
        '',
    ),
    'dynamics of a joint': (
        {'arm.urdf': ARM.replace(LIMIT, LIMIT + '<dynamics damping="0.5" friction="0.1"/>')},
        '',
        '',
        '',
    ),
    'no limit at a revolute joint': (
        {'arm.urdf': ARM.replace(LIMIT, '', 1)},
        '',
        "joint 'a' is revolute and has no <limit>: write one",
        '',
    ),
    'limits without bounds': (
        {'arm.urdf': ARM.replace('lower="-2.5" upper="2.2"', '', 1)},
        '',
        "joint 'a': <limit> has no bounds: write its lower and upper",
        '',
    ),
    'locked joint': (
        {'arm.urdf': ARM.replace('lower="-2.5" upper="2.2"', 'lower="0" upper="0"', 1)},
        '',
        'a joint that does not move is of type="fixed"',
        '',
    ),
    'floating joint': (
        {'arm.urdf': ARM.replace('type="revolute"', 'type="floating"', 1)},
        '',
        "joint 'a' has type 'floating'; supported: ",
        '',
    ),
    # numbers and text
    'line break in a number': ({'arm.urdf': ARM.replace('"0.001"', '"\n   0.001\n"')}, '', '', ''),
    'tabs between numbers': (
        {'arm.urdf': ARM.replace('xyz="0 0 0.2"', 'xyz="0\t0\t0.2 "')},
        '',
        '',
        '',
    ),
    'numbers as 1.': ({'arm.urdf': ARM.replace('"1.7"', '"2."')}, '', '', ''),
    'XML declaration': (
        {'arm.urdf': '<?xml version="1.0" encoding="utf-8"?>\n' + ARM},
        '',
        '',
        '',
    ),
    'byte order mark': ({'arm.urdf': '\ufeff' + ARM}, '', '', ''),
    'comments and blank lines': (
        {'arm.urdf': '<!-- exported -->\n\n' + ARM.replace('<joint', '<!-- next --><joint')},
        '',
        '',
        '',
    ),
    'carriage returns': ({'arm.urdf': ARM.replace('\n', '\r\n')}, '', '', ''),
    'comma as a decimal point': (
        {'arm.urdf': ARM.replace('"1.7"', '"1,7"', 1)},
        '',
        'link \'a_link\': <mass value="1,7"> must be finite numbers',
        '',
    ),
    'a number of two words': (
        {'arm.urdf': ARM.replace('"1.7"', '"1. 7"', 1)},
        '',
        'link \'a_link\': <mass value="1. 7"> must be one number',
        '',
    ),
    # tags of others
    'gazebo': (
        {'arm.urdf': behind('<gazebo reference="a_link"><mu1>0.2</mu1></gazebo>')},
        '',
        '',
        '',
    ),
    'ros2_control': (
        {
            'arm.urdf': behind(
                '<ros2_control name="x" type="system"><joint name="a"/></ros2_control>'
            )
        },
        '',
        '',
        '',
    ),
    'transmission': (
        {'arm.urdf': behind('<transmission name="t"><joint name="a"/></transmission>')},
        '',
        '',
        '',
    ),
    'materials': (
        {'arm.urdf': behind('<material name="grey"><color rgba="1 1 1 1"/></material>')},
        '',
        '',
        '',
    ),
    'mujoco tag': ({'arm.urdf': behind('<mujoco><compiler meshdir="m"/></mujoco>')}, '', '', ''),
    # tools
    'tool0 behind a flange': (
        {'arm.urdf': behind(fixed('x', 'tool', 'flange') + fixed('y', 'flange', 'tool0'))},
        '',
        '',
        'tool0',
    ),
    'camera behind the flange': (
        {
            'arm.urdf': behind(
                fixed('x', 'tool', 'flange')
                + fixed('y', 'flange', 'camera')
                + fixed('z', 'camera', 'optical')
            )
        },
        '',
        '',
        'tool',
    ),
    'gripper with two joints': ({'arm.urdf': behind(fingers())}, '', '', 'tool'),
    'gripper with mimic': (
        {'arm.urdf': behind(fingers('prismatic', '<mimic joint="left"/>'))},
        '',
        '',
        'tool',
    ),
    'gripper with its own TCP': (
        {
            'arm.urdf': behind(
                fixed('x', 'tool', 'hand')
                + fixed('y', 'hand', 'hand_tcp')
                + fingers(parent='hand')
            )
        },
        '',
        '',
        'hand_tcp',
    ),
    'eef link': (
        {'arm.urdf': behind(fixed('x', 'tool', 'link_eef') + fingers(parent='link_eef'))},
        '',
        '',
        'tool',
    ),
    'SRDF': (
        {
            'arm.urdf': behind(fixed('x', 'tool', 'grasp') + fixed('y', 'grasp', 'far')),
            'arm.srdf': '<robot><end_effector parent_link="grasp"/></robot>',
        },
        '',
        '',
        'grasp',
    ),
    'chain chosen': ({'arm.urdf': behind(fingers())}, 'joints:=chain tip_frame:=tool', '', 'tool'),
    'chain without its end': (
        {'arm.urdf': ARM},
        'joints:=chain',
        'give tip_frame:=LINK as well',
        '',
    ),
    # trees
    'world link': (
        {
            'arm.urdf': behind(fixed('w', 'world', 'base')).replace(
                '<link name="base"/>', '<link name="world"/>', 1
            )
        },
        '',
        '',
        '',
    ),
    'base with inertia': (
        {'arm.urdf': ARM.replace('<link name="base"/>', f'<link name="base">{INERTIAL}</link>')},
        '',
        '',
        '',
    ),
    'two roots': (
        {'arm.urdf': behind('<link name="table"/>')},
        '',
        "one root link, this one has 2: 'base', 'table'; join them",
        '',
    ),
    'link that is not there': (
        {'arm.urdf': ARM.replace('<link name="base"/>', '')},
        '',
        "its parent link 'base' does not exist",
        '',
    ),
    # inertia
    'collision boxes': ({'arm.urdf': shaped('<box size="0.1 0.1 0.3"/>')}, ESTIMATE, '', ''),
    'collision cylinders': (
        {'arm.urdf': shaped('<cylinder radius="0.05" length="0.3"/>')},
        ESTIMATE,
        '',
        '',
    ),
    'collision spheres': ({'arm.urdf': shaped('<sphere radius="0.1"/>')}, ESTIMATE, '', ''),
    'visual shapes': (
        {'arm.urdf': shaped('<box size="0.1 0.1 0.3"/>', 'visual')},
        ESTIMATE,
        '',
        '',
    ),
    'shapes with a total mass': (
        {'arm.urdf': shaped('<box size="0.1 0.1 0.3"/>')},
        f'{ESTIMATE} total_mass:=25',
        '',
        '',
    ),
    'meshes': ({'arm.urdf': shaped(MESH.format('m/a.stl')), 'm/a.stl': STL}, ESTIMATE, '', ''),
    'meshes of a package': (
        {
            'my_arm/urdf/arm.urdf': shaped(MESH.format('package://my_arm/m/a.stl')),
            'my_arm/m/a.stl': STL,
        },
        ESTIMATE,
        '',
        '',
    ),
    'meshes of a sibling package': (
        {
            'x/urdf/arm.urdf': shaped(MESH.format('package://parts/a.stl')),
            'some/a.stl': STL,
            'some/package.xml': PACKAGE.format('parts'),
        },
        ESTIMATE,
        '',
        '',
    ),
    'meshes in millimetres': (
        {'arm.urdf': shaped('<mesh filename="a.stl" scale="0.5 0.5 0.5"/>'), 'a.stl': STL},
        ESTIMATE,
        '',
        '',
    ),
    'masses of zero': (
        {
            'arm.urdf': shaped(
                '<sphere radius="0.1"/>', everywhere=INERTIAL.replace('"1.7"', '"0"')
            )
        },
        ESTIMATE,
        '',
        '',
    ),
    'no inertia': (
        {'arm.urdf': shaped('<box size="0.1 0.1 0.3"/>')},
        '',
        'moves no inertia: .*inertia:=estimate',
        '',
    ),
    'no inertia and no shapes': (
        {'arm.urdf': without_inertia()},
        ESTIMATE,
        'no link without mass has a shape',
        '',
    ),
    'missing meshes': (
        {'arm.urdf': shaped(MESH.format('a.stl'))},
        ESTIMATE,
        'no link without mass has a shape that is found',
        '',
    ),
    # xacro
    'xacro': ({'arm.urdf.xacro': xacro(INSIDE)}, '', '', 'tool'),
    'xacro without the suffix': ({'arm.urdf': xacro(INSIDE)}, '', '', ''),
    'xacro of its own package': (
        {'my_arm/urdf/arm.xacro': xacro(USE.format('my_arm')), 'my_arm/urdf/macro.xacro': MACRO},
        '',
        '',
        '',
    ),
    'xacro of a package with another folder': (
        {
            'repo/urdf/arm.xacro': xacro(USE.format('my_arm')),
            'repo/urdf/macro.xacro': MACRO,
            'repo/package.xml': PACKAGE.format('my_arm'),
        },
        '',
        '',
        '',
    ),
    'xacro of a sibling package': (
        {
            'moveit/urdf/arm.xacro': xacro(USE.format('my_arm')),
            'repo/urdf/macro.xacro': MACRO,
            'repo/package.xml': PACKAGE.format('my_arm'),
        },
        '',
        '',
        '',
    ),
    'xacro of a package two folders down in a repository next to its own': (
        {
            'src/moves/moveit/urdf/arm.xacro': xacro(USE.format('my_arm')),
            'src/vendor/ros2/description/urdf/macro.xacro': MACRO,
            'src/vendor/ros2/description/package.xml': PACKAGE.format('my_arm'),
        },
        '',
        '',
        '',
    ),
    'xacro of a package that installs a folder as its root': (
        {
            'moveit/urdf/arm.xacro': xacro(USE.format('my_arm')),
            'repo/description/urdf/macro.xacro': MACRO,
            'repo/CMakeLists.txt': 'install(DIRECTORY\n  description/ # all\n'
            '  DESTINATION share/${PROJECT_NAME})',
            'repo/package.xml': PACKAGE.format('my_arm'),
        },
        '',
        '',
        '',
    ),
    'xacro of a package that installs a folder by its own name': (
        {
            'my_arm/description/urdf/arm.xacro': xacro(USE.format('my_arm')),
            'my_arm/description/urdf/macro.xacro': MACRO,
            'my_arm/CMakeLists.txt': 'install(DIRECTORY description/urdf\n'
            '  DESTINATION share/my_arm)',
            'my_arm/package.xml': PACKAGE.format('my_arm'),
        },
        '',
        '',
        '',
    ),
    'mesh of a package that installs a folder as its root': (
        {
            'repo/description/urdf/arm.urdf': shaped(MESH.format('package://my_arm/meshes/a.stl')),
            'repo/description/meshes/a.stl': STL,
            'repo/CMakeLists.txt': 'install(DIRECTORY description/meshes\n'
            '  DESTINATION "share/${PROJECT_NAME}" PATTERN "*.blend" EXCLUDE)',
            'repo/package.xml': PACKAGE.format('my_arm'),
        },
        ESTIMATE,
        '',
        '',
    ),
    'xacro that includes a file that is missing': (
        {
            'my_arm/urdf/arm.xacro': xacro(USE.format('my_arm')),
            'my_arm/package.xml': PACKAGE.format('my_arm'),
        },
        '',
        'xacro: .*ws/my_arm/urdf/macro.xacro',
        '',
    ),
    'xacro of which an argument has a default that is no folder': (
        {
            'my_arm/urdf/arm.xacro': xacro(
                '<xacro:arg name="size" default="5x"/>'
                + USE.format('my_arm').replace('/urdf/', '/$(arg size)/')
            ),
            'my_arm/arm7/macro.xacro': MACRO,
            'my_arm/package.xml': PACKAGE.format('my_arm'),
        },
        '',
        "by default size is '5x', and '.*/my_arm' has arm7, package.xml, urdf: give xacro_args:=",
        '',
    ),
    'xacro of which an argument names a file, and is empty by default': (
        {
            'my_arm/urdf/arm.xacro': xacro(
                '<xacro:arg name="limits" default=""/>'
                '<xacro:property name="file" value="$(arg limits)"/>'
                '<link name="${xacro.load_yaml(file)}"/>'
            ),
            'my_arm/limits.yaml': 'a',
        },
        '',
        "Is a directory: .*by default limits is '', and '.*/my_arm' has limits.yaml, urdf: give ",
        '',
    ),
    'xacro with arguments': (
        {
            'arm.xacro': xacro(
                '<xacro:arg name="on" default="false"/><xacro:if value="$(arg on)">'
                + INSIDE
                + '</xacro:if>'
            )
        },
        'on:=true',
        '',
        '',
    ),
    'xacro with xacro_args': (
        {
            'arm.xacro': xacro(
                '<xacro:arg name="on" default="false"/><xacro:if value="$(arg on)">'
                + INSIDE
                + '</xacro:if>'
            )
        },
        "xacro_args:='on:=true'",
        '',
        '',
    ),
    'xacro without inertia': (
        {
            'arm.xacro': xacro(
                shaped('<box size="0.1 0.1 0.3"/>')[len('<robot name="arm">') : -len(END)]
            )
        },
        ESTIMATE,
        '',
        '',
    ),
    'xacro of a missing package': (
        {'arm.xacro': xacro(USE.format('far_arm'))},
        '',
        "package 'far_arm' is not found: source its workspace",
        '',
    ),
    # MJCF
    'MJCF': ({'arm.xml': MJCF.format('', '')}, '', '', ''),
    'MJCF with a site': (
        {'arm.xml': MJCF.format('<site name="attachment_site" pos="0 0 0.3"/>', '')},
        '',
        '',
        'attachment_site',
    ),
    'MJCF with a tendon': (
        {
            'arm.xml': MJCF.format(
                '', '<tendon><fixed><joint joint="a" coef="1"/></fixed></tendon>'
            )
        },
        '',
        '',
        '',
    ),
    'MJCF with a loose object': (
        {
            'arm.xml': MJCF.format('', '').replace(
                '</worldbody>', '<body><freejoint/><geom size="0.1"/></body></worldbody>'
            )
        },
        '',
        'remove.*<freejoint>',
        '',
    ),
}
_REFUSED = sum(bool(expected) for _, _, expected, _ in KINDS.values())


def test_at_least_50_of_61_kinds_load():
    assert len(KINDS) >= 61
    assert len(KINDS) - _REFUSED >= 50


@pytest.mark.quick(7)
@pytest.mark.parametrize('kind', KINDS)
def test_a_foreign_file_is_an_arm_in_both_models_or_refused_in_one_line(kind, tmp_path, capfd):
    if 'xacro' in kind:
        optional('xacro', 'xacro')
    files, words, expected, tool = KINDS[kind]
    for name, content in files.items():
        path = tmp_path / 'ws' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    robot = f'{tmp_path / "ws" / next(iter(files))} {words}'.strip()
    if expected:
        with pytest.raises(ArmError, match=expected) as refusal:
            loaded(robot)
        assert '\n' not in str(refusal.value)
        assert 'ament_index' not in str(refusal.value)
        assert '/share/' not in str(refusal.value)
        return
    model = loaded(robot)
    if tool:
        assert model.tip_frame == tool
    assert 'rror' not in capfd.readouterr().err
    mass = model.mass_matrix(model.neutral())
    assert np.linalg.eigvalsh(mass).min() > 0.0


@pytest.mark.slow
def test_a_xacro_whose_process_fails_is_refused_with_its_last_line(tmp_path, monkeypatch):
    optional('xacro', 'xacro')
    (tmp_path / 'arm.xacro').write_text(xacro(INSIDE))
    (tmp_path / 'platform.py').write_text('raise ImportError("another platform.py")')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ArmError, match=r'ended with code 1: ImportError: another platform.py'):
        Robot.load(str(tmp_path / 'arm.xacro'))


def loaded(robot):
    """Return the model of a robot after its comparison with MuJoCo."""
    model = Robot.load(robot).model
    assert check_model(MujocoPlant(model, PlantParameters('torque')), model) < 1e-9
    return model
