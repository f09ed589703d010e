"""Regular expressions from clients, restricted to those with a bounded search time."""

import re

from arm_dynamics.checks import ArmError

_LONGEST = 200  # characters
_MOST_GROUPS, _MOST_QUANTIFIERS, _MOST_BARS = 3, 3, 7
# The special parts: escaped characters, sets, ends of groups with a quantifier, quantifiers.
_PARTS = re.compile(r'\\.|\[\^?\]?(?:\\.|[^]\\])*\]|\(\??|\)[*+?{]?|[*+?{|]', re.DOTALL)


def name_filter(pattern: str) -> re.Pattern[str]:
    """Return the compiled expression.

    Python's search backtracks: `(a+)+b` takes 2^n steps in a name of n letters. The allowed
    expressions take about n^4 steps at most.

    Raises:
        ArmError: the text is no regular expression, or one that is not allowed.
    """
    if len(pattern) > _LONGEST:
        raise ArmError(f'filter has {len(pattern)} characters; allowed: {_LONGEST}')
    parts = _PARTS.findall(pattern)
    groups = sum(each[0] == '(' for each in parts)
    quantifiers = sum(each[0] in '*+?{' for each in parts)
    bars = parts.count('|')
    reasons = {
        'a quantifier after a group': any(re.fullmatch(r'\).', each) for each in parts),
        'a group that begins with (?': '(?' in parts,
        'a back reference': any(re.fullmatch(r'\\\d', each) for each in parts),
        f'{groups} groups': groups > _MOST_GROUPS,
        f'{quantifiers} quantifiers': quantifiers > _MOST_QUANTIFIERS,
        f'{bars + 1} alternatives': bars > _MOST_BARS,
    }
    for reason, is_so in reasons.items():
        if is_so:
            raise ArmError(
                f'filter {pattern!r} has {reason}, which may take long; allowed: plain groups '
                f'without quantifier, {_MOST_GROUPS} groups, {_MOST_QUANTIFIERS} of *, +, ?, '
                f'{{}}, {_MOST_BARS + 1} alternatives'
            )
    try:
        return re.compile(pattern)
    except (re.error, OverflowError) as error:
        raise ArmError(f'filter {pattern!r} is no regular expression: {error}') from None
