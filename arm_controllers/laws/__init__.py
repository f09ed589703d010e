"""The control laws by name: one file each in this folder, or a plugin of the group `arm_sim.laws`.

A file `my_law.py` with a class `MyLaw(Law)` is a law of that name. Its executable is
`my_law_controller`, a plugin's is `controller my_law`.
"""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from arm_controllers.law import Law, State
from arm_controllers.law_evaluation import LawEvaluation
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.plugins import PluginRegistry

__all__ = [
    'LAWS', 'Array', 'Law', 'LawEvaluation', 'Measurement', 'Reference', 'RobotModel', 'State',
    'law_class', 'law_names', 'law_of_file',
]  # fmt: skip

LAWS = PluginRegistry('law', __name__, 'arm_sim.laws', ('Parameters',), Law)


def law_of_file(file: Path | str) -> type[Law]:
    """Return the class of a law from a Python file, which runs: the only Law that it defines.

    Raises:
        ArmError: the file cannot be imported, or defines no Law or several.
    """
    path = Path(file)
    spec = spec_from_file_location(f'law_of_file_{path.stem}', path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a file of a user may raise anything
        raise ArmError(f'law {str(file)!r}: {type(error).__name__}: {error}') from error
    laws = [
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Law) and each.__module__ == spec.name
    ]
    if len(laws) != 1:
        raise ArmError(f'law {str(file)!r} defines {len(laws)} subclasses of Law; expected: 1')
    if not hasattr(laws[0], 'Parameters'):
        raise ArmError(f'law {str(file)!r}: {laws[0].__name__} has no Parameters')
    return laws[0]


law_names = LAWS.names  # returns the names of all laws, sorted; no law is imported
law_class = LAWS.load  # returns the class of a law by its name; ArmError: it cannot be had
