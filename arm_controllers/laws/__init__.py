"""The control laws by name: one file each in this folder, or a plugin of the group `arm_sim.laws`.

A file `my_law.py` with a class `MyLaw(Law)` is a law of that name. Its executable is
`my_law_controller`, a plugin's is `controller my_law`.
"""

from arm_controllers.law import Law, State
from arm_controllers.law_evaluation import LawEvaluation
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.plugins import PluginRegistry

__all__ = [
    'LAWS', 'Array', 'Law', 'LawEvaluation', 'Measurement', 'Reference', 'RobotModel', 'State',
    'law_class', 'law_names',
]  # fmt: skip

LAWS = PluginRegistry('law', __name__, 'arm_sim.laws', ('Parameters',), Law)

law_names = LAWS.names  # returns the names of all laws, sorted; no law is imported
law_class = LAWS.load  # returns the class of a law by its name; ArmError: it cannot be had
