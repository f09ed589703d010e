"""Unusual URDFs and SRDFs: what is not used is named, what cannot be meant is refused."""

import re
from dataclasses import replace

import pytest
from arms import chain, revolute
from optional import optional
from repository import ROOT

import arm_sim
from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import find_urdf
from arm_dynamics.self_contact import touching_links
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import PlantParameters

ARM = chain('arm', [revolute(name, 'xyz="0 0 0.3"', '0 1 0') for name in 'ab'])
LIMIT = '<limit lower="-2.5" upper="2.2" effort="50" velocity="3"/>'
INERTIAL = re.search('<inertial>.*?</inertial>', ARM, re.DOTALL)[0]
MASS = re.search('<mass value="[^"]*"/>', INERTIAL)[0]
SOFT = '<safety_controller soft_lower_limit="{}" soft_upper_limit="1"/>'
MIMIC = '<mimic joint="b"/>'
BOX = '<geometry><box size="0.1 0.1 0.1"/></geometry>'
FIXED = (
    '<link name="z"/><joint name="c" type="fixed"><parent link="tool"/><child link="z"/>{}</joint>'
)


def behind(text, link='<collision>{}</collision>'):
    """Return the first inertia of the arm with something behind."""
    return INERTIAL, INERTIAL + link.format(text)


@pytest.mark.parametrize(
    ('old', 'new', 'says'),
    [
        (LIMIT, LIMIT + SOFT.format(-1) + SOFT.format(0), 'a second <safety_controller> in <join'),
        (LIMIT, f'{LIMIT}<calibration/><calibration/>', 'a second <calibration> in <joint> of a'),
        (*behind(BOX + BOX), 'a second <geometry> in <collision> of '),
        (*behind(BOX.replace('</', '<sphere radius="1"/></')), 'a second shape in <geometry> of '),
        (*behind(f'<origin xyz="0 0 1"/><origin/>{BOX}'), 'a second <origin> in <collision> of '),
        (LIMIT, f'{LIMIT}<x:y xmlns:x="x"/><limitt/>', 'no URDF has it: <limitt>; is it a slip'),
        (*behind(BOX.replace('try>', 'try x="1">', 1)), 'no URDF has it: x="" of <geometry>; is'),
        (
            '<axis xyz="0 1 0"/>',
            f'<axis xyz="0 1 0">{MIMIC}</axis>',
            'has it: <mimic> in <axis>; ',
        ),
        (
            *behind(
                '<origin/><box size="1 1 1"/>', '<collision><geometry>{}</geometry></collision>'
            ),
            'no URDF has it: <origin> in <geometry>; is',
        ),
        ('type="revolute"', 'type="continuous"', 'a: of type continuous, turns beyond lower and'),
        ('lower="-2.5"', 'lower="-170"', 'a: <limit> is beyond 10 rad; is it written in'),
        ('xyz="0 0 0.3"', 'xyz="0 0 0.3" rpy="0 30 0"', 'a: rpy is more than a turn; is it writt'),
        (
            '</robot>',
            FIXED.format('<mimic joint="a"/>') + '</robot>',
            'c: of type fixed: <mimic> ',
        ),
    ],
)
def test_what_has_no_effect_is_named_in_one_line(old, new, says):
    text = ARM.replace(old, new, 1)
    assert text != ARM
    (note,) = RobotModel(text).notes
    assert says in note


@pytest.mark.parametrize(
    ('old', 'new'),
    [
        behind(BOX.replace('try>', 'try name="b">', 1)),
        ('</robot>', '<x:y xmlns:x="x"/><x:y xmlns:x="x"/></robot>'),
    ],
)
def test_names_and_repeated_elements_of_other_programs_are_harmless(old, new):
    text = ARM.replace(old, new, 1)
    assert text != ARM
    assert RobotModel(text).notes == ()


def test_of_two_soft_limits_the_first_one_counts():
    text = ARM.replace(LIMIT, LIMIT + SOFT.format(-1) + SOFT.format(0), 1)
    assert RobotModel(text).position_lower[0] == -1.0


def test_a_full_turn_and_rotations_by_one_are_usual():
    turn = ARM.replace('lower="-2.5" upper="2.2"', 'lower="-3.2" upper="3.2"')
    text = turn.replace('type="revolute"', 'type="continuous"')
    assert RobotModel(text.replace('xyz="0 0 0.3"', 'xyz="0 0 0.3" rpy="6.2832 0 0"')).notes == ()


@pytest.mark.parametrize(
    ('inertial', 'says'),
    [
        ('<origin xyz="0 0 100"/>' + MASS, 'its centre of mass is 100 m away; is it in millimet'),
        ('<mass value="2"/><inertia ixx="2e4" iyy="2e4" izz="1e4" ixy="0" ixz="0" iyz="0"/>',
         '20000 kg m.2 is that of 2 kg at a radius of 100 m; is it in g mm'),
    ],
)  # fmt: skip
def test_an_inertia_in_another_unit_is_refused(inertial, says):
    moments = '' if '<inertia ' in inertial else re.search('<inertia [^>]*/>', INERTIAL)[0]
    text = ARM.replace(INERTIAL, f'<inertial>{inertial}{moments}</inertial>', 1)
    with pytest.raises(ArmError, match=f"link '[^']*': {says}"):
        RobotModel(text)


@pytest.mark.parametrize(
    ('srdf', 'says'),
    [
        ('<foo/>', 'is ignored: its root element is <foo>, not <robot>'),
        ('<robot name="other"/>', "the SRDF is of 'other', not of 'arm'"),
        ('<robot name="arm"><disable_collision link1="x"/></robot>', 'SRDF: <disable_collision>'),
        ('<robot name="arm"><disable_collisions link1="base"/></robot>', '> without link2'),
        ('<robot name="arm"><end_effector name="e"/></robot>', '<end_effector> without parent_li'),
        ('<robot name="arm"><group_state name="x"/></robot>', ''),
        ('<robot name="arm"><passive_joint name="z"/></robot>', 'the SRDF names z: no links or j'),
        ('<robot name="arm"><group name="g"><joint name="y"/></group></robot>', ' names y: no li'),
        (
            '<robot name="arm"><group_state name="x"><joint name="w"/></group_state></robot>',
            'w: n',
        ),
        (
            '<robot name="arm"><virtual_joint name="v" type="fixed" child_link="u"/>'
            '<group name="g"><joint name="v"/></group></robot>',
            'the SRDF names u: no links or joints of the URDF',
        ),
        (
            '<robot name="arm"><group name="g"><chain base_link="base" tip_link="a_link"/></group>'
            '</robot>',
            "a_link of the SRDF is not at the end of the longest chain: the tool frame is 'tool'",
        ),
    ],
)
def test_what_an_srdf_lacks_or_has_in_vain_is_named(srdf, says, tmp_path):
    (tmp_path / 'arm.urdf').write_text(ARM)
    (tmp_path / 'arm.srdf').write_text(srdf)
    notes = RobotModel(tmp_path / 'arm.urdf').notes
    assert [says in note for note in notes] == [True] * bool(says)


def test_an_srdf_that_is_xacro_is_named_with_its_remedy(tmp_path):
    (tmp_path / 'arm.urdf').write_text(ARM)
    packed = tmp_path / 'arm.srdf.xacro'
    packed.write_text('<robot name="arm" xmlns:xacro="http://wiki.ros.org/xacro"/>')
    remedy = f'it is xacro; expand it: ./ws xacro {packed} -o {tmp_path / "arm.srdf"}'
    for words in ('', ' joints:=a'):  # the file itself, and a converted one
        model = RobotModel(find_urdf(f'{tmp_path / "arm.urdf"}{words}'))
        assert f"SRDF 'arm.srdf.xacro' is ignored: {remedy}" in model.notes
    with pytest.raises(ArmError, match=re.escape(f'srdf is {str(packed)!r}: {remedy}')):
        touching_links(model, str(packed))
    (tmp_path / 'arm.srdf').write_text('<robot name="arm"/>')
    assert not any('xacro' in note for note in RobotModel(tmp_path / 'arm.urdf').notes)


def test_a_file_in_another_encoding_is_refused_with_the_remedy(tmp_path):
    file = tmp_path / 'arm.urdf'
    file.write_bytes(ARM.replace('name="arm"', 'name="größe"').encode('latin-1'))
    with pytest.raises(ArmError, match=r'position \d+: .*; save it as UTF-8'):
        RobotModel(file)


def test_a_converted_file_is_refused_by_its_own_name(tmp_path):
    follower = LIMIT + '<mimic joint="a"/>'
    text = ARM.replace(LIMIT, '<limit effort="1" velocity="1"/>', 1).replace(LIMIT, follower)
    (tmp_path / 'mine.urdf').write_text(text)
    with pytest.raises(ArmError, match='has no bounds') as refusal:
        Robot.load(str(tmp_path / 'mine.urdf'))
    assert str(refusal.value).endswith(f"(in '{tmp_path / 'mine.urdf'}')")


def test_moments_of_a_link_without_mass_are_the_same_in_both_engines():
    model = RobotModel(ARM.replace(MASS, '<mass value="0"/>', 1))
    plain = RobotModel(ARM)
    assert model.mass_matrix(plain.neutral())[0, 0] < plain.mass_matrix(plain.neutral())[0, 0]
    assert check_model(MujocoPlant(model, PlantParameters('torque')), model) < 1e-9


def test_servos_on_links_without_inertia_are_refused_with_the_remedy():
    model = RobotModel(re.sub('<inertial>.*?</inertial>', '', ARM, flags=re.DOTALL))
    drives = PlantParameters('servo', servo_kp=(10.0,), servo_kd=(1.0,))
    with pytest.raises(ArmError, match='moves no inertia: use inertia:=estimate'):
        MujocoPlant(model, drives)


def test_an_estimate_of_a_link_whose_shape_is_empty_is_not_its_own_remedy(tmp_path, capfd):
    ball = '<collision><geometry><sphere radius="{}"/></geometry></collision>'
    shapes = iter((ball.format(0.1), ball.format(0.0)))
    file = tmp_path / 'arm.urdf'
    bare = re.sub('<inertial>.*?</inertial>', lambda _: next(shapes, ''), ARM, flags=re.DOTALL)
    file.write_text(bare)
    model = Robot.load(f'{file} inertia:=estimate').model
    assert 'no shape is found and has a volume, so no mass: ' in capfd.readouterr().err
    with pytest.raises(ArmError, match='moves no inertia: no shape behind it has volume: give'):
        model.check_inertia()
    file.write_text(
        re.sub('<inertial>.*?</inertial>', ball.format(0.0), ARM, count=1, flags=re.DOTALL)
    )
    assert 'inertia:=estimate adds it' in Robot.load(str(file)).model.notes[-1]
    text = file.read_text()
    file.write_text(
        text.replace('<link name="base"/>', f'<link name="base">{ball.format(1)}</link>')
    )
    assert 'estimate finds no volume of them' in str(
        Robot.load(f'{file} inertia:=estimate').model.notes
    )


@pytest.mark.slow
def test_a_joint_that_a_law_which_cancels_friction_cannot_hold_is_named(tmp_path):
    """Wrists and grippers of some vendors have much friction, little inertia and no rotor."""
    file, axis, errors = tmp_path / 'arm.urdf', '<axis xyz="0 1 0"/>', []
    for rotor in ('', ' armature="1"'):
        file.write_text(ARM.replace(axis, f'{axis}<dynamics friction="8"{rotor}/>'))
        run = arm_sim.run(str(file), law='computed_torque')
        errors += [float(abs(run.record.q - run.record.q_reference).max())]
        named = [x for x in run.loaded.robot.model.notes if 'law which cancels it chatters' in x]
        assert [x.partition(': ')[0] for x in named] == ([] if rotor else ['b'])
    assert errors[0] > 10.0 * errors[1]
    both = RobotModel(ARM.replace(axis, f'{axis}<dynamics friction="8" damping="300"/>'))
    named = [x.partition(': ')[0] for x in both.notes if 'is the rotor missing' in x]
    assert named == ['b', 'a']  # one line is enough


def test_an_arm_whose_inertia_makes_the_simulation_slow_is_named_once(capfd):
    drives = PlantParameters('servo', servo_kp=(2000.0,), servo_kd=(800.0,))
    said = 'steps per period, as inertia is tiny for its servo: slow; add rotors'
    MujocoPlant(RobotModel(ARM), replace(drives, servo_kd=(80.0,)))
    assert said not in capfd.readouterr().err
    MujocoPlant(RobotModel(ARM), replace(drives, servo_kd=(8000.0,)))
    assert said in capfd.readouterr().err


@pytest.mark.slow
def test_a_joint_whose_damping_is_far_beyond_its_inertia_is_named_and_servos_bear_it(tmp_path):
    """As in dm_control's manipulator."""
    file, axis = tmp_path / 'arm.urdf', '<axis xyz="0 1 0"/>'
    left = {}
    for rotor in ('', ' armature="9"'):
        text = ARM.replace(axis, f'{axis}<dynamics damping="300"{rotor}/>')
        file.write_text(text.replace('effort="50"', 'effort="5000"'))
        robot = Robot.load(str(file))
        for law in ('pd', 'servo'):
            run = LoadedExperiment(Experiment.of_files(str(file), 'step', law), robot)
            left[law + rotor] = abs(run.track(run.run()).joint_error[-1]).max()
        named = [x for x in robot.model.notes if 'laws with gains by inertia' in x]
        assert [x.partition(': ')[0] for x in named] == ([] if rotor else ['a, b'])
    assert left['servo'] < 1e-3 < left['pd']


@pytest.mark.parametrize('words', ['"{}"', "'{}'", '{} ', ' {}\n', '"{}" mjcf:=native'])
def test_a_path_may_be_in_quotes_and_have_spaces_around(tmp_path, words):
    file = tmp_path / 'my arm.urdf'
    file.write_text(ARM)
    assert find_urdf(words.format(file)) == file
    with pytest.raises(ArmError, match="'arm.urdf' is not name:=value; quote spaces$"):
        find_urdf(f'{file} tip_frame:=tool')


@pytest.mark.slow
def test_an_argument_that_a_xacro_lacks_is_named_with_the_remedy(tmp_path):
    optional('xacro', 'xacro')
    declared = 'xmlns:xacro="http://www.ros.org/wiki/xacro" name="$(arg arm)"'
    (tmp_path / 'arm.xacro').write_text(ARM.replace('name="arm"', declared, 1))
    with pytest.raises(ArmError, match="argument arm; give it: xacro_args:='arm:=VALUE'"):
        Robot.load(str(tmp_path / 'arm.xacro'))


SLIPS = {
    'effort="50"': 'effort="-50"',
    'lower="-2.5" upper="2.2"': 'lower="-150" upper="150"',
    'xyz="0 0 0.3"': 'xyz="0 0 0.3" rpy="0 0 90"',
    ' xyz="0 0 0.3"': ' xyz="0, 0, 0.3"',
    '"0 0 0.3"': '"0 0 300"',
    'type="revolute"': 'type="hinge"',
    'link="shoulder_link"/><child': 'link="shoulder_lnk"/><child',
    LIMIT: f'{LIMIT}<mimic joint="shouder"/>',
    'value="1.7"': 'value="1.7e6"',
    '</inertial>': '</inertial><colision/>',
}


def test_the_page_has_the_lines_of_ten_slips():
    plain = chain('arm', [revolute(x, 'xyz="0 0 0.3"', '0 1 0') for x in ('shoulder', 'elbow')])
    head, tail = plain.split('<joint name="elbow"')
    block = (ROOT / 'docs' / 'robots.md').read_text().split('Slips:\n\n')[1]
    page = [line.strip() for line in block.split('\n\n')[0].splitlines()]
    said = []
    for old, new in SLIPS.items():
        text = f'{head}<joint name="elbow"{tail.replace(old, new, 1)}'
        if '150' in new:  # all limits, since one joint may turn often
            text = text.replace(old, new)
        try:
            said += RobotModel(text).notes
        except ArmError as error:
            said.append(str(error))
    assert said == page
