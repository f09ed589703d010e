"""Which extra of `pip install "arm_sim[...]"` brings a package that is not installed."""

import os
import re
from collections import defaultdict
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires

# Packages whose modules have other names, by the module.
_PACKAGES = {'PIL': 'pillow'}
_PREFERRED = ('lab', 'view', 'plan', 'learn')  # where several extras bring a package
_REQUIREMENT = re.compile(r'([\w-]+).*extra == "(\w+)"')


def missing(error: ModuleNotFoundError) -> str:
    """Return what is needed, in one line with the command; '': no extra brings the module."""
    module = (error.name or '').partition('.')[0]
    package = _PACKAGES.get(module, module).replace('_', '-').lower()
    extras = _extras()[package]
    if not extras:
        return ''
    extra = next((each for each in _PREFERRED if each in extras), extras[0])
    by = './ws ' * ('ARM_SIM_WS' in os.environ)  # as `typed`, which imports numpy
    return f'needs {package}: {by}pip install "arm_sim[{extra}]"'


def _extras() -> dict[str, list[str]]:
    """Return the extras that bring each package, by the package's name."""
    found = defaultdict(list)
    with suppress(PackageNotFoundError):  # sources that are not installed
        for match in filter(None, map(_REQUIREMENT.match, requires(__package__) or ())):
            found[match[1].lower()].append(match[2])
    return found
