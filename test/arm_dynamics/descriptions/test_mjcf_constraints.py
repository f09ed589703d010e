"""Joints of an MJCF that equalities or huge friction hold, and joints that nothing holds."""

from pathlib import Path

import mujoco
import pytest

from arm_dynamics.checks import ArmError
from arm_dynamics.descriptions.mjcf_constraints import equality_names
from arm_sim.robot import Robot

ARM = """<mujoco><worldbody><body name="hook" pos="1 0 0" mocap="true"/>
<body name="one"><joint name="a" {a}/><geom size="0.05" fromto="0 0 0 0 0 0.3" type="capsule"/>
<body name="two" pos="0 0 0.3"><joint name="b" axis="0 1 0" {b}/>
<geom size="0.05" fromto="0 0 0 0.3 0 0" type="capsule"/></body></body></worldbody>
<actuator><position name="m" joint="a" kp="50" kv="5"/>{drive}</actuator>{end}</mujoco>"""
TENDON = '<tendon><fixed><joint joint="b" coef="1"/></fixed></tendon>'
DRIVE = '<position name="n" joint="b" kp="50" kv="5"/>'


@pytest.fixture
def written(tmp_path):
    def write(end='', a='', b='', drive=DRIVE):
        file = tmp_path / 'arm.xml'
        file.write_text(ARM.format(end=f'<equality>{end}</equality>', a=a, b=b, drive=drive))
        return str(file)

    return write


@pytest.mark.parametrize(
    ('weld', 'why'),
    [
        ('<weld body1="two"/>', r'<equality> \(weld of two and world\) lets them move in no way'),
        ('<weld name="grip" body1="hook" body2="two"/>', r'<equality> \(grip\) lets them move in'),
        ('<connect body1="two" anchor="0.3 0 0"/>', r'connect of two and world\) lets them move'),
        ('<joint joint1="b"/>', r'joint of b\) lets them move in 1 of 2 ways'),
    ],
)
def test_an_arm_that_equalities_hold_is_refused_with_their_names(written, weld, why):
    with pytest.raises(ArmError, match=f'joints a, b are commanded, and .*{why}'):
        Robot.load(f'{written(weld)} joints:=a,b')


def test_equalities_that_are_switched_off_or_leave_the_arm_free_are_no_reason(written):
    Robot.load(written('<weld body1="two" active="false"/>'))
    assert Robot.load(written('<joint joint1="b" joint2="a"/>')).model.joint_names == ('a',)


def test_a_link_whose_point_on_the_axis_is_held_is_free(tmp_path):
    # MuJoCo has room for three rows, and leaves out the ones that bind nothing: a traceback.
    file = tmp_path / 'held.xml'
    file.write_text("""<mujoco><worldbody><body name="one"><joint name="a" axis="0 1 0"/>
<geom size="0.1"/></body></worldbody><equality><connect body1="one" anchor="0 0 0"/></equality>
<actuator><motor joint="a"/></actuator></mujoco>""")
    assert Robot.load(str(file)).model.joint_names == ('a',)


def test_equalities_without_names_are_named_by_what_they_couple():
    text = ARM.format(
        a='', b='', drive='', end='<equality><joint joint1="b"/><weld body1="one"/></equality>'
    )
    m = mujoco.MjModel.from_xml_string(text)
    assert equality_names(m, range(2)) == ['joint of b', 'weld of one and world']


@pytest.mark.parametrize(
    ('names', 'remedy'),
    [('a,b', 'leave them out, joints:=b'), ('a', 'give a smaller damping')],
)
def test_a_joint_that_its_damping_holds_is_refused_with_what_to_do(written, names, remedy):
    file = written(a='damping="1e12"')
    with pytest.raises(ArmError, match=f'joints a: damping="1e.12" keeps .* moving: {remedy}'):
        Robot.load(f'{file} joints:={names}')


def test_joints_that_nothing_drives_or_holds_are_named(written, capfd):
    assert Robot.load(written(drive='')).model.joint_names == ('a',)
    said = capfd.readouterr().err
    assert 'arm.xml: b: nothing drives or holds them' in said
    assert 'arm.xml: not commanded: b; joints:= chooses what moves' in said


@pytest.mark.parametrize(
    'of',
    [
        {'b': 'stiffness="9"'},
        {'b': 'frictionloss="1"'},
        {'b': 'damping="1e11"'},
        {'end': '<joint joint1="b" joint2="a"/>'},
        {'end': f'</equality>{TENDON}<equality>'},
        {'drive': DRIVE, 'words': ' joints:=a'},
    ],
)
def test_joints_that_something_holds_do_not_swing(written, capfd, of):
    words = of.pop('words', '')
    Robot.load(written(**({'drive': ''} | of)) + words)
    assert 'nothing drives' not in capfd.readouterr().err


def test_a_door_beside_the_arm_does_not_push_it(written, capfd):
    file = Path(written())
    door = '<body pos="2 0 0"><joint name="door"/><geom size="0.1"/></body></worldbody>'
    file.write_text(file.read_text().replace('</worldbody>', door))
    Robot.load(f'{file} joints:=a,b')
    assert 'nothing drives' not in capfd.readouterr().err


@pytest.mark.parametrize('key', ['damping', 'frictionloss', 'armature'])
def test_a_joint_that_a_huge_number_holds_is_refused_where_it_is_commanded(written, key):
    file = written(b=f'{key}="1e+11"')
    with pytest.raises(ArmError, match=rf'joints b: {key}="1e\+11" keeps them .* joints:=a \('):
        Robot.load(file)
    assert Robot.load(f'{file} joints:=a').model.joint_names == ('a',)
