"""Values of parameters by name, also by names of the release before."""

from arm_controllers.laws.servo import ServoParameters
from arm_controllers.parameter_values import read_fields
from arm_sim.launching.known_parameters import check_parameter_file


def test_old_name_gives_the_value_with_one_warning_in_all(capsys):
    given = {'feedforward': 'observed', 'calm': 0.8}
    assert read_fields(ServoParameters, given).observer_pole == 0.8
    read_fields(ServoParameters, given)
    assert capsys.readouterr().err == (
        "arm_sim: parameter 'calm' is now named 'observer_pole'; the next release refuses the old"
        ' name\n'
    )


def test_new_name_counts_where_both_are_given():
    given = {'feedforward': 'observed', 'calm': 0.8, 'observer_pole': 0.7}
    assert read_fields(ServoParameters, given).observer_pole == 0.7


def test_file_with_an_old_name_is_accepted(tmp_path):
    file = tmp_path / 'own.yaml'
    file.write_text('servo_controller: {ros__parameters: {calm: 0.8}}\n')
    check_parameter_file(file, ('joint_1',))
