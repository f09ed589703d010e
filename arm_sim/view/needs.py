"""What the page needs and may not be there."""

from importlib.util import find_spec

HELP = 'viser is not installed; get it with "pip install viser"'


def has_viser() -> bool:
    """Whether the page can be served here."""
    return find_spec('viser') is not None
