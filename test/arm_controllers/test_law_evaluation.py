"""What comparisons, tuning and margins know of a law is beside it; what moved is refused."""

from dataclasses import fields, replace

import pytest
from plugins import write_plugins

from arm_controllers.adapted_law import adapted_law
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.law_file import law_of_file
from arm_controllers.laws import LAWS, Law, LawEvaluation, law_class, law_names
from arm_controllers.laws.admittance import Admittance
from arm_controllers.laws.pd import PD
from arm_controllers.ros.controller_parameters import without_meaning
from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import find_urdf

MODEL = RobotModel.from_urdf(find_urdf('planar_3r'))
MOVED = [
    (each.name, f'evaluation = LawEvaluation({each.name}=...)') for each in fields(LawEvaluation)
]
MOVED += [('without_meaning', 'without_meaning = ... in the class of its Parameters')]


@pytest.mark.parametrize(('name', 'place'), MOVED)
def test_an_attribute_that_has_moved_is_refused_with_its_new_place(name, place):
    with pytest.raises(ArmError) as refused:
        type('Mine', (PD,), {name: ()})
    assert str(refused.value) == f'law Mine sets {name}, which has no effect; write {place}'


def test_an_attribute_that_has_moved_is_refused_where_the_law_sets_it_when_it_is_made():
    class Mine(PD):
        def __init__(self, model, parameters):
            super().__init__(model, parameters)
            self.derivative_step = 1e-4

    for friction_velocity in ('measured', 'reference'):
        with pytest.raises(ArmError, match=r'^law Mine sets derivative_step, .*LawEvaluation'):
            adapted_law(Mine, MODEL, PD.Parameters(), friction_velocity)


OLD = 'from arm_controllers.laws.pd import PD\n\nclass Mine(PD):\n    model_use = 5\n'


def test_a_law_of_a_plugin_and_of_a_file_are_refused_in_one_line(tmp_path, monkeypatch):
    folder = write_plugins(tmp_path, {'mine': OLD}, {'arm_sim.laws': {'old_law': 'mine:Mine'}})
    monkeypatch.syspath_prepend(str(folder))
    LAWS.refresh()
    try:
        with pytest.raises(
            ArmError, match='law Mine sets model_use, .*write evaluation'
        ) as plugin:
            law_class('old_law')
    finally:
        monkeypatch.undo()
        LAWS.refresh()
    file = tmp_path / 'mine_of_file.py'
    file.write_text(OLD)
    with pytest.raises(ArmError, match='law Mine sets model_use, .*write evaluation') as of_file:
        law_of_file(file)
    assert '\n' not in f'{plugin.value}{of_file.value}'


def test_an_adapter_has_the_evaluation_of_its_law():
    class Mine(PD):
        evaluation = replace(PD.evaluation, derivative_step=1e-4)

    guard = GuardParameters(reaction='stop', threshold=(1.0,))
    law = adapted_law(Mine, MODEL, PD.Parameters(), 'reference', 'discrete', guard=guard)
    assert law.evaluation is Mine.evaluation


def test_every_law_says_how_much_of_the_model_it_uses_and_names_its_own_parameters():
    for name in law_names():
        law = law_class(name)
        of_law = {each.name for each in fields(law.Parameters)}
        assert {*law.evaluation.tuned, *law.gains} <= of_law, name
        assert law.evaluation.variant in {'', *of_law}, name
    assert Law.evaluation == LawEvaluation()


def test_parameters_without_meaning_are_those_of_every_controller_and_of_the_laws_parameters():
    assert without_meaning('open_loop_control')
    assert not without_meaning('kinematics.plugin_name', PD.Parameters)
    for name in ('kinematics.plugin_name', 'ft_sensor.name'):
        assert without_meaning(name, PD.Parameters, Admittance.Parameters)
