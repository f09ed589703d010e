"""Each element and attribute of MuJoCo's schema has a fate; what is named is in the line."""

import re

import mujoco
import numpy as np
import pytest
from scripts import load_script

from arm_dynamics.checks import ArmError
from arm_dynamics.descriptions.mjcf_lacks import CONVERTED, LACKS
from arm_dynamics.descriptions.mjcf_model import servo_of
from arm_sim.robot import Robot

TABLE = load_script('tools/mjcf_elements.py')
ELEMENT = re.compile(r'( *)(\S+) \([!?*R]\) *(.*)')


def schema():
    """Return the elements, below <mujoco>, and attributes of the installed MuJoCo's schema."""
    path, found = [], []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        element = ELEMENT.match(line)
        if element:
            path[len(element[1]) // 3 :] = [element[2]]
        words = element[3] if element else line
        found += [('/'.join(path[1:]), word) for word in words.split()]
    return found


def test_each_element_and_attribute_of_the_installed_mujoco_has_a_fate():
    every = schema()
    assert len(every) > 1500
    assert ('(world)body/joint', 'springref') in every
    assert [each for each in every if TABLE.fate_of(*each) is None] == []


def test_a_name_that_is_new_in_mujoco_has_none():
    assert TABLE.fate_of('(world)body/joint', 'backlash') is None
    assert TABLE.fate_of('default/joint', 'backlash') is None
    assert TABLE.fate_of('actuator/hydraulic', 'gear') is None
    assert TABLE.fate_of('option', 'relativity') is None


def test_what_the_table_names_is_what_the_line_can_name():
    assert {row.what for row in TABLE.ROWS if row.fate == TABLE.NAMED} == {*LACKS, *CONVERTED}


def test_the_page_is_generated():
    assert TABLE.PAGE.read_text() == TABLE.page(), './ws python tools/mjcf_elements.py'


ARM = """<mujoco>{top}<worldbody>{world}<body name="one" {body}><joint name="a" axis="0 1 0"
  range="-120 120" limited="true" {joint}/><geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.03"
  {geom}/><site name="end" pos="0 0 0.3"/></body></worldbody>{end}</mujoco>"""
SERVO = '<actuator><position name="m" joint="a" kp="9" {}/></actuator>'
KEY = '<keyframe><key name="home" qpos="0" qvel="{}"/></keyframe>'
CASES = [
    ('springs of joints a', {'joint': 'stiffness="3"'}),
    ('nonlinear damping of joints a', {'joint': 'damping="1 2"'}),
    ('efforts that differ by direction (the larger counts) a',
     {'end': SERVO.format('forcerange="-2 8"')}),
    ('other drives m', {'end': '<actuator><general name="m" joint="a" gainprm="9" '
     'biastype="affine" biasprm="1 -9 0"/></actuator>'}),
    ('biasprm without biastype="affine" (MuJoCo ignores it) m', {'end':
     '<actuator><general name="m" joint="a" gainprm="9" biasprm="0 -9 0"/></actuator>'}),
    ('other drives m', {'end': '<actuator><general name="m" joint="a" gaintype="affine" '
     'gainprm="9" biastype="affine" biasprm="0 -9 0"/></actuator>'}),
    ('tendons t', {'end': '<tendon><fixed name="t"><joint joint="a" coef="1"/></fixed></tendon>'}),
    ('equalities e',
     {'end': '<equality><connect name="e" body1="one" anchor="0 0 0"/></equality>'}),
    ('actuators s', {'end': '<actuator><motor name="s" site="end"/></actuator>'}),
    ('other drives v', {'end': '<actuator><velocity name="v" joint="a" kv="2"/></actuator>'}),
    ('other drives m', {'end': SERVO.format('gear="50"')}),
    ('activation of drives m', {'end': SERVO.format('timeconst="0.1"')}),
    ('delays of drives m', {'end': SERVO.format('delay="0.004" nsample="4"')}),
    ('control ranges narrower than those of the joints m',
     {'end': SERVO.format('ctrlrange="-1 1"')}),
    ('disabled groups of actuators 2', {'top': '<option actuatorgroupdisable="2"/>'}),
    ('disabled by flags damper, limit',
     {'top': '<option><flag damper="disable" limit="disable"/></option>'}),
    ('fluid density', {'top': '<option density="1000"/>'}),
    ('mocap bodies hand', {'world': '<body name="hand" mocap="true"/>'}),
    ('shapes without a URDF element floor',
     {'world': '<geom name="floor" type="plane" size="1 1 1"/>'}),
    ('shapes without a URDF element of one', {'geom': 'type="ellipsoid" size="0.1 0.2 0.3"'}),
    ('contact pairs and exclusions x',
     {'end': '<contact><exclude name="x" body1="world" body2="one"/></contact>'}),
    ('contact parameters of one', {'geom': 'friction="0.2"'}),
    ('flexes f', {'world': '<flexcomp name="f" type="grid" count="3 3 1" spacing="0.1 0.1 0.1" '
                           'dim="2" rigid="true" pos="2 0 0"/>'}),
    ('start of the key frame beyond the limits a',
     {'end': '<keyframe><key name="home" qpos="9"/></keyframe>'}),
    ('velocities of the key frame a', {'end': KEY.format('0.5')}),
    ('sensors p', {'end': '<sensor><jointpos name="p" joint="a"/></sensor>'}),
    ('gravcomp (carried by the law) one', {'body': 'gravcomp="1"'}),
]  # fmt: skip


@pytest.mark.parametrize(('says', 'parts'), CASES, ids=[says for says, _ in CASES])
def test_what_the_controllers_lack_is_named_in_the_line(says, parts, tmp_path, capfd):
    empty = dict.fromkeys(('top', 'world', 'body', 'joint', 'geom', 'end'), '')
    text = ARM.format(**empty | parts)
    if 'type="e' in text:
        text = text.replace('type="capsule" fromto="0 0 0 0 0 0.3" size="0.03"', '')
    file = tmp_path / 'arm.xml'
    file.write_text(text)
    converted = 'contact parameters' in says
    Robot.load(f'{file} mjcf:=converted' if converted else str(file))
    where = 'not simulated' if converted else "not in the controllers' model"
    (line,) = re.findall(rf'arm.xml: {where}: (.*)', capfd.readouterr().err)
    assert says in line.split('; ')


@pytest.mark.parametrize(
    ('says', 'parts'),
    [
        ("actuator 'c' has 2 controls .* write an actuator with one",
         {'end': '<actuator><pid name="c" joint="a" kp="9" ki="1" kv="1"/></actuator>'}),
        ('<flag actuation="disable"> keeps all drives from acting: remove it',
         {'top': '<option><flag actuation="disable"/></option>'}),
        ("joint 'b': range=\"90 -90\" is reversed",
         {'world': '<body><joint name="b" range="90 -90"/><geom size="0.1"/></body>'}),
        ("body 'cup' floats .*remove <freejoint>",
         {'world': '<body name="cup"><freejoint/><geom size="0.1"/></body>'}),
    ],
)  # fmt: skip
def test_what_no_arm_has_is_refused_in_one_line(says, parts, tmp_path):
    empty = dict.fromkeys(('top', 'world', 'body', 'joint', 'geom', 'end'), '')
    file = tmp_path / 'arm.xml'
    file.write_text(ARM.format(**empty | parts))
    with pytest.raises(ArmError, match=says) as refused:
        Robot.load(str(file))
    assert '\n' not in str(refused.value)


def test_a_servo_beside_a_motor_is_named_as_what_it_is(tmp_path, capfd):
    second = '<body><joint name="b" axis="0 1 0" range="-90 90"/><geom size="0.1"/></body>'
    end = SERVO.format('').replace('</', '<motor name="n" joint="b"/></')
    file = tmp_path / 'arm.xml'
    file.write_text(ARM.format(top='', world=second, body='', joint='', geom='', end=end))
    Robot.load(str(file))
    assert capfd.readouterr().err == (
        "arm_sim: arm.xml: not in the controllers' model: servo gains, where other joints "
        'have none m\n'
    )


def test_inertia_of_a_tendon_is_refused_by_its_name_and_left_out_with_the_tendons(tmp_path):
    end = '<tendon><fixed name="t" armature="0.05"><joint joint="a" coef="2"/></fixed></tendon>'
    file = tmp_path / 'arm.xml'
    file.write_text(ARM.format(top='', world='', body='', joint='', geom='', end=end))
    with pytest.raises(
        ArmError, match='^tendon \'t\': armature="0.05" .* mjcf:=converted, without'
    ):
        Robot.load(str(file))
    model = Robot.load(f'{file} mjcf:=converted').model
    own = mujoco.MjModel.from_xml_string(file.read_text().replace(' armature="0.05"', ''))
    data, full = mujoco.MjData(own), np.zeros((1, 1))
    mujoco.mj_forward(own, data)
    mujoco.mj_fullM(own, data, full)
    np.testing.assert_allclose(model.mass_matrix(np.zeros(1)), full, rtol=1e-9)


def test_a_plain_arm_has_no_line(tmp_path, capfd):
    file = tmp_path / 'arm.xml'
    end = SERVO.format('') + KEY.format('0')
    file.write_text(ARM.format(top='', world='', body='', joint='', geom='', end=end))
    for words in ('', ' mjcf:=converted'):
        Robot.load(f'{file}{words}')
    assert capfd.readouterr().err == ''


def test_of_coupled_joints_with_drives_controllers_command_the_leader(tmp_path):
    second = '<body><joint name="b" axis="0 1 0" range="-90 90"/><geom size="0.1"/></body>'
    drives = SERVO.format('').replace('</', '<motor joint="b"/></')
    end = f'<equality><joint joint1="a" joint2="b"/></equality>{drives}'
    file = tmp_path / 'arm.xml'
    file.write_text(ARM.format(top='', world=second, body='', joint='', geom='', end=end))
    assert Robot.load(str(file)).model.joint_names == ('b',)


def test_ranges_in_radians_that_are_read_as_degrees_are_named(tmp_path):
    second = '<body><joint name="b" axis="0 1 0" range="-2 2"/><geom size="0.1"/></body>'
    text = ARM.format(top='', world=second, body='', joint='', geom='', end='')
    file = tmp_path / 'arm.xml'
    file.write_text(text.replace('range="-120 120"', 'range="-3.1 3.1"'))
    (note,) = [x for x in Robot.load(str(file)).model.notes if 'radians' in x]
    assert note == ('no joint turns by more than 0.054 rad; are radians taken for degrees: in an '
                    'MJCF, <compiler angle="radian"/>?')  # fmt: skip
    file.write_text(text)
    assert not [x for x in Robot.load(str(file)).model.notes if 'radians' in x]


def test_of_two_equalities_of_a_follower_the_second_is_named(tmp_path, capfd):
    second = '<body><joint name="b" axis="0 1 0" range="-90 90"/><geom size="0.1"/></body>'
    end = ''.join(f'<joint name="{x}" joint1="b" joint2="a"/>' for x in ('once', 'twice'))
    end = f'<equality>{end}</equality>'
    file = tmp_path / 'arm.xml'
    file.write_text(ARM.format(top='', world=second, body='', joint='', geom='', end=end))
    Robot.load(f'{file} mjcf:=converted')
    assert 'equalities twice' in re.split(': |; |\n', capfd.readouterr().err)


@pytest.mark.parametrize('words', ['', ' mjcf:=converted'])
def test_an_inactive_equality_does_nothing_and_is_not_named(tmp_path, capfd, words):
    end = '<equality><weld name="e" body1="one" active="false"/></equality>'
    text = ARM.format(top='', world='', body='', joint='', geom='', end=end)
    data = mujoco.MjData(own := mujoco.MjModel.from_xml_string(text))
    data.qpos[0] = 1.0
    mujoco.mj_forward(own, data)
    assert data.nefc == 0
    (tmp_path / 'arm.xml').write_text(text)
    assert Robot.load(f'{tmp_path / "arm.xml"}{words}').model.joint_names == ('a',)
    assert 'equalities' not in capfd.readouterr().err


def test_biasprm_without_its_type_makes_no_servo():
    servo = SERVO.format('')
    general = servo.replace('<position', '<general biasprm="0 -9 0" gainprm="9"')
    for end, kind in ((servo, tuple), (general.replace(' kp="9"', ''), type(None))):
        text = ARM.format(top='', world='', body='', joint='', geom='', end=end)
        m = mujoco.MjModel.from_xml_string(text)
        assert isinstance(servo_of(m, m.joint('a').id), kind)
