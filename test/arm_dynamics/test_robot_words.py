"""A robot's name that names none: the option, package or file that was meant."""

import pytest
from arms import ARM

from arm_dynamics import ArmError
from arm_dynamics.robots import find_urdf


@pytest.mark.parametrize(
    ('said', 'answer'),
    [
        ('ur5e tipframe:=tool0', "is no xacro; did you mean tip_frame:=?"),
        ('ur5e tip-frame:=tool0', 'is no xacro; did you mean tip_frame:=?'),
        ('ur5e joint:=elbow_joint', 'is no xacro; did you mean joints:=?'),
        ('ur5e inertia=estimate', "'inertia=estimate' is not name:=value; did you mean inertia:="),
        ('ur5e tip_frame: tool0', "'tip_frame:' is not name:=value; did you mean tip_frame:=?"),
        ('ur5e TIP_FRAME:=tool0', 'is no xacro; did you mean tip_frame:=?'),
        ('UR5', "nearest 'ur5e', nor the path"),
        ('panda_descripton', 'pip install robot_descriptions)'),
        ('/usr', "('/usr' is a folder)"),
        ('ur5e side:=left', 'is no xacro: leave it out'),
        ('my joints arm.urdf', "'my joints arm.urdf' is neither a shipped robot"),
        ('file:///none/arm.urdf', 'does not exist; give a path'),
    ],
)  # fmt: skip
def test_options_that_are_spelt_otherwise_are_answered_by_the_nearest(said, answer):
    with pytest.raises(ArmError) as refused:
        find_urdf(said)
    assert answer in str(refused.value)


@pytest.mark.parametrize(
    ('said', 'answer'),
    [
        ('my_arms/urdf/arm.urdf', "'my_arms' is not sourced: source its workspace; did you mean "
         "'my_arm'?"),
        ('other/urdf/arm.urdf', "'other' is not sourced: source its workspace"),
        ('my_arm/urdf/arm.xacro', "/urdf/arm.xacro' does not exist; there is 'arm.urdf'"),
        ('my_arm/no/../urdf/arm.urdf', "/share/my_arm/urdf/arm.urdf'"),
        ('my_arm/../../etc/passwd', 'leads out of its package; give a path'),
        ('my_arm/urdf', "/my_arm/urdf': name a file in it"),
    ],
)  # fmt: skip
def test_packages_and_files_that_are_not_there_are_answered_by_the_nearest(
    tmp_path, monkeypatch, said, answer
):
    folder = tmp_path / 'share' / 'my_arm' / 'urdf'
    folder.mkdir(parents=True)
    (folder / 'arm.urdf').write_text(ARM)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    with pytest.raises(ArmError) as refused:
        find_urdf(f'package://{said}')
    assert str(refused.value).endswith(answer)


@pytest.mark.slow
def test_packages_around_the_present_folder_are_known(tmp_path, monkeypatch):
    (tmp_path / 'own_arm').mkdir()
    (tmp_path / 'own_arm' / 'package.xml').write_text('<package><name>own_arm</name></package>')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArmError, match="'own_arms' is not sourced.*did you mean 'own_arm'"):
        find_urdf('package://own_arms/arm.urdf')


@pytest.mark.parametrize('words', ['a', 'x:=', '/a', 'ur5e joints:=a,'])
def test_a_robot_of_a_million_characters_is_refused_in_a_short_line(words):
    with pytest.raises(ArmError, match=r"^robot '[^']{,200}'\.\.\. has \d+ char"):
        find_urdf(words * 100_000)
