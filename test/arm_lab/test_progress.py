"""Progress of long work where the output is no terminal."""

from io import StringIO

from rich.console import Console

from arm_lab.progress import progress


def test_work_beyond_its_total_is_shown_as_all_of_it():
    text = StringIO()
    with progress('arms', 40, Console(file=text)) as show:
        show(20)
        show(42)
    first, last = text.getvalue().splitlines()
    assert first.startswith('arms: 20 of 40, ')
    assert last.startswith('arms: 40 of 40, ')
    assert last.endswith(' 0 s left')
