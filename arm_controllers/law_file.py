"""A law in a Python file of a user."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from arm_controllers.law import Law
from arm_dynamics.checks import ArmError
from arm_dynamics.plugin_faults import LAW_OF_FILE, fault


def law_of_file(file: Path | str) -> type[Law]:
    """Return the class of a law from a Python file, which runs: the only Law that it defines.

    Raises:
        ArmError: the file cannot be imported, or defines no Law or several.
    """
    path = Path(file)
    spec = spec_from_file_location(f'{LAW_OF_FILE}{path.stem}', path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)  # dataclasses look there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a file of a user may raise anything
        raise fault(f'law {str(file)!r}', error, spec.name) from error
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
