"""What a notebook shows: objects below a cell, and sliders for the arguments of a function."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import product


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    return 'ipykernel' in sys.modules


def display(shown: object) -> None:
    """Show an object below the cell of a notebook."""
    import_module('IPython.display').display(shown)


def explore(function: Callable[..., object], **values: Sequence[object]) -> None:
    """Call a function by sliders: in a notebook, with `pip install ipywidgets`.

    Elsewhere it is called with all values in turn.

    Args:
        function: prints or plots, and returns nothing.
        values: of each of its arguments, by name.
    """
    if not callable(function):
        raise TypeError(f'explore calls a function, not {function!r}; arm_sim.run is one')
    if in_notebook() and find_spec('ipywidgets'):
        widgets = import_module('ipywidgets')
        sliders = {
            name: widgets.SelectionSlider(options=each, continuous_update=False)
            for name, each in values.items()
        }
        widgets.interact(function, **sliders)
        return
    for chosen in product(*values.values()):
        named = dict(zip(values, chosen, strict=True))
        print(', '.join(f'{name} = {value}' for name, value in named.items()))
        function(**named)
