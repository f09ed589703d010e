"""The digits in a page that none of its commands printed.

`tools/unprinted_digits.txt` has those that are known, page by page: from theory, from runs of
hours, of hardware. `run_samples` reports every other one, and `--accept` writes the file.
"""

import bisect
import re

from samples import INDENTED, ROOT

KNOWN = ROOT / 'tools' / 'unprinted_digits.txt'
_FENCED = re.compile(r'^ *```.*?^ *```$', re.MULTILINE | re.DOTALL)
_CODE = re.compile(rf'{INDENTED.pattern}|`[^`\n]*`|\]\([^)]*\)', re.MULTILINE)
_NUMBER = re.compile(r'(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?![\w.]*\d)')
_COLOUR = re.compile(r'\x1b\[[0-9;]*m')
_FEWEST = 3  # with fewer significant digits a number is found by accident


def unprinted(page: str, printed: str, fewest: int = _FEWEST) -> list[str]:
    """Return the numbers of a page's text and tables that do not round those in `printed`.

    Numbers with fewer significant digits than `fewest` are left out.
    """
    values = sorted(float(text) for text in _NUMBER.findall(_COLOUR.sub('', printed)))
    text = _CODE.sub(' ', _FENCED.sub(' ', page))
    found = [each for each in _NUMBER.findall(text) if _significant(each) >= fewest]
    return [each for each in dict.fromkeys(found) if not _is_in(each, values)]


def known() -> dict[str, list[str]]:
    """Return the numbers that no command is expected to print, by page."""
    lines = KNOWN.read_text().splitlines() if KNOWN.is_file() else []
    return {page: rest.split() for page, _, rest in (line.partition(':') for line in lines)}


def accept(page: str, numbers: list[str]) -> None:
    """Write a page's numbers into the file."""
    pages = known() | {page: numbers}
    lines = [f'{name}: {" ".join(pages[name])}'.rstrip() + '\n' for name in sorted(pages)]
    KNOWN.write_text(''.join(lines))


def _significant(number: str) -> int:
    return len(re.sub(r'e.*|[-.]', '', number).lstrip('0'))


def _is_in(number: str, values: list[float]) -> bool:
    """Return whether one of the sorted values is the number, rounded to its digits."""
    mantissa, _, exponent = number.partition('e')
    decimals = len(mantissa.partition('.')[2])
    half = 0.5001 * 10.0 ** (int(exponent or 0) - decimals)
    at = bisect.bisect_left(values, float(number) - half)
    return at < len(values) and values[at] <= float(number) + half
