"""Run the commands in the pages for real, page by page, and say which do not do what they say.

    ./ws python tools/run_samples.py                    # all pages: for the night
    ./ws python tools/run_samples.py docs/recipes.md    # some
    ./ws python tools/run_samples.py --list             # what would be run, what not, and why
    ./ws python tools/run_samples.py --accept PAGE   # its other digits are right too

A page's commands run one after the other in a folder of their own, in which the project's files
are links, and the files that the page shows are there. One that runs until Ctrl-C stays while
those after it run, until the next launch or the end of the page; it must live that long, and end
in order. All others must end with exit code 0, or with 1 where a comment says `exit code 1`; of
one that is shown behind `$`, with what it prints, the exit code does not count. Blocks of Python
that end by themselves run as well, after the page's earlier ones.
Then the digits of the page are compared with those that its commands printed (printed_digits.py).
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from printed_digits import accept, known, unprinted
from sample_check import OF_A_USER
from samples import OPTION, ROOT, Sample, blocks, commands, files, pages, words

_READY = 8.0  # how long one that runs until Ctrl-C has to come up [s]
_LONG_WAIT = 30.0  # for its end [s]
_DOMAIN = '183'
_ENDLESS = re.compile(
    r'arm\.launch\.py|ros2_control\.launch\.py|view\.launch\.py|task:=none|docs serve'
    r'|controller:=external'
    r'|arm_sim (recorder|inverse_kinematics|controller_manager|composed|viewer|\w+_controller)\b'
    r'|topic echo (?!.*--once)|dask'
)
_LOOKS = re.compile(r'arm_sim report (task|excite)_output$')
# Why a command is not run.
_NOT_RUN = {
    'it changes what is installed': r'\bpip install|\bws clean|security',
    'it needs a screen': r'viewer:=true|rviz|plot:=true|rqt|plotjuggler',
    'it is run by ./ws test': r'\bws (test|ruff|docs|--help)',
    'it is for one that plays meanwhile': r'param set /replay',
    'it takes hours': r'--hours|--hostile|tools/mutation|soak|--samples 1000000',
    'it is a part of a command': r'^(?!.*\b(launch|run|python|pub|call|echo|set|sed|cp)\b)',
}


def why_not(sample: Sample) -> str:
    """Return why a sample is not run; '' where it is."""
    if sample.kind == 'python':
        own = re.search(r'rclpy|generate_launch_description|^class |mkdocs', sample.text, re.M)
        return 'it is a part of something' if own else ''
    if OF_A_USER.search(sample.text) or '[' in sample.text.replace("'[", '').replace(': [', ''):
        return 'it is a placeholder for what a user has'
    return next((why for why, like in _NOT_RUN.items() if re.search(like, sample.text)), '')


def samples_of(page: Path) -> list[Sample]:
    """Return a page's samples in its order: commands that stand alone, and Python."""
    shell = [each for each in commands(page) if each.kind == 'sh' or ' launch ' in each.text]
    code = [each for each in blocks(page) if each.kind == 'python']
    return sorted([*shell, *code], key=lambda sample: sample.line)


def judged(page: Path) -> Iterator[tuple[Sample, str]]:
    """Give a page's samples, and why each is not run; what looks at a result goes with it."""
    why = ''
    for sample in samples_of(page):
        if not (why and _LOOKS.search(sample.text)):
            why = why_not(sample)
        yield sample, why


@contextmanager
def folder() -> Iterator[Path]:
    """Make a folder in which the project's files are links, and what is written is not."""
    with tempfile.TemporaryDirectory(prefix='samples_') as name:
        listed = subprocess.run(
            ['git', 'ls-files'], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split()
        for top in sorted({path.partition('/')[0] for path in listed}):
            (Path(name) / top).symlink_to(ROOT / top)
        yield Path(name)


def started(sample: Sample, place: Path, output: Path) -> subprocess.Popen[bytes]:
    """Start a sample in a folder; `output`: what it prints."""
    command = ['python', '-c', sample.text]
    if sample.kind != 'python':
        command = ['bash', '-c', re.sub(OPTION, '', sample.text.removeprefix('$ '))]
        if words(sample)[0] == 'ros2' and './ws' not in sample.text:
            command[2] = f'./ws {command[2]}'
    environment = os.environ | {'ROS_DOMAIN_ID': os.environ.get('ROS_DOMAIN_ID', _DOMAIN)}
    with output.open('wb') as file:
        return subprocess.Popen(
            command, cwd=place, env=environment, stdout=file, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip


def ended(process: subprocess.Popen[bytes]) -> str:
    """End what runs until Ctrl-C; return what is wrong with its end."""
    if process.poll() is not None:
        return f'ended by itself, exit code {process.returncode}'
    os.killpg(process.pid, signal.SIGINT)
    try:
        code = process.wait(_LONG_WAIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        return f'did not end within {_LONG_WAIT:g} s of Ctrl-C'
    interrupted = (0, 1, signal.SIGINT, 130, -signal.SIGINT)  # ros2 topic echo: 2
    return '' if code in interrupted else f'exit code {code} after Ctrl-C'


class Page:
    """The samples of a page, run one after the other."""

    def __init__(self, limit: float):
        self._limit, self.faults, self.printed = limit, 0, ''
        self._kept: list[tuple[Sample, subprocess.Popen[bytes], Path]] = []

    def run(self, page: Path) -> None:
        """Run them; print each result."""
        before = ''  # the page's Python so far, which what follows uses
        with folder() as place:
            for name, text in files(page).items():
                (place / name).write_text(text)
            for number, (sample, why) in enumerate(judged(page)):
                if why:
                    print(f'not run: {why}: {sample}', flush=True)
                    continue
                begin, output = time.monotonic(), place / f'sample_{number}.txt'
                whole = sample
                if sample.kind == 'python':
                    before = f'{before}{sample.text}\n'
                    whole = sample._replace(text=before)
                fault = self._one(whole, place, output)
                self._print_result(sample, fault, time.monotonic() - begin, output)
            self._end()
            outputs = sorted(place.glob('sample_*.txt'))
            self.printed = '\n'.join(each.read_text(errors='replace') for each in outputs)

    def _one(self, sample: Sample, place: Path, output: Path) -> str:
        endless = sample.kind != 'python' and _ENDLESS.search(sample.text)
        if ' launch ' in sample.text and 'clock:=false' not in sample.text:  # a second arm stays
            self._end()
        process = started(sample, place, output)
        if endless:
            self._kept.append((sample, process, output))
            time.sleep(_READY)
            return '' if process.poll() is None else f'exit code {process.returncode}'
        try:
            code = process.wait(self._limit)
        except subprocess.TimeoutExpired:
            return f'longer than {self._limit:g} s; {ended(process)}'
        except KeyboardInterrupt:
            self._kept.append((sample, process, output))
            self._end()
            raise
        wanted = 1 if 'exit code 1' in sample.text else 0
        return f'exit code {code}' if code != wanted and not sample.text.startswith('$') else ''

    def _end(self) -> None:
        while self._kept:
            sample, process, output = self._kept.pop()
            if fault := ended(process):
                self._print_result(sample, fault, 0.0, output)

    def _print_result(self, sample: Sample, fault: str, seconds: float, output: Path) -> None:
        print(f'{"FAULT: " + fault if fault else "ok"}, {seconds:.1f} s: {sample}', flush=True)
        if fault:
            self.faults += 1
            said = output.read_text(errors='replace').splitlines()
            print(*(f'    {line}' for line in said[-12:]), sep='\n', flush=True)


def digits(page: Path, printed: str, accepts: bool) -> int:
    """Compare the digits of a page with those printed; return the number of faults."""
    name = str(page.relative_to(ROOT))
    left = unprinted(page.read_text(), printed)
    if accepts:
        accept(name, left)
        return 0
    if name not in known():
        print(f'not compared: digits of {name}: --accept it first', flush=True)
        return 0
    new = [each for each in left if each not in known()[name]]
    if new:
        print(f'FAULT: no command of {name} prints {", ".join(new)}', flush=True)
    return len(new)


def main() -> int:
    """Run the command; return its exit code: 0 where every sample did what it says."""
    parser = argparse.ArgumentParser('run_samples', description=__doc__.partition('\n')[0])
    parser.add_argument('pages', nargs='*', metavar='PAGE', help='pages; none: all')
    parser.add_argument('--limit', type=float, default=900.0, help='for a command [s] (900)')
    parser.add_argument('--list', action='store_true', help='run nothing')
    parser.add_argument(
        '--accept', action='store_true', help='note the digits that are not printed'
    )
    options = parser.parse_args()
    faults = 0
    for page in [Path(each).resolve() for each in options.pages] or pages():
        if options.list:
            for sample, why in judged(page):
                print(f'not run: {why}: {sample}' if why else f'run: {sample}')
            continue
        run = Page(options.limit)
        run.run(page)
        faults += run.faults + digits(page, run.printed, accepts=options.accept)
    if not options.list:
        print(f'{faults} fault{"s" * (faults != 1)}')
    return 1 if faults else 0


if __name__ == '__main__':
    if shutil.which('bash') is None:
        sys.exit('run_samples: bash is not there')
    sys.exit(main())
