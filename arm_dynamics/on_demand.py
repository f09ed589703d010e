"""Names of a package that are imported when asked for, because they bring a compiler."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def on_demand(package: str, **homes: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package; `homes`: the module in it that has each name."""

    def get(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f'{package}.{homes[name]}'), name)
        raise AttributeError(f'module {package} has no {name!r}')

    return get
