"""`python -m arm_sim lessons`: the lessons of docs/tutorial as Jupyter notebooks."""

import json
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from arm_controllers.parameter_file import yaml_value
from arm_dynamics.checks import ArmError, typed
from arm_dynamics.parameters import parameter
from arm_dynamics.robots import share_folder
from arm_lab.command_line import CommandOptions, Folder, command
from arm_sim.output_folder import writable_folder

_PREDICT = "prediction = ''  # write your answer here before you run the next cell"
_SLIDER = """\
def with_frequency(natural_frequency):
    run = {begin}, natural_frequency=natural_frequency)
    run.plot_joints()
    print(f'{{run.measures.tracking_rms_mm:.4g}} mm RMS')


arm_sim.explore(with_frequency, natural_frequency=[20, 10, 14.142, 28.284, 40])"""
_FENCED = re.compile(r'^```python\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_LINK = re.compile(r'\[([^]]+)\]\([^)]+\)')
_PICTURE = re.compile(r'!\[[^]]*\]\([^)]+\)')


@dataclass(frozen=True)
class Options(CommandOptions):
    """Write the lessons as Jupyter notebooks, with cells for predictions and folded answers.

    The notebooks are made from the pages in docs/tutorial and run without ROS.
    """

    output_dir: Folder = parameter('lessons', 'new folder for the notebooks')


@command(Options)
def main(options: Options) -> None:
    """Run the command."""
    folder = Path(options.output_dir).expanduser().resolve()
    if folder.is_dir() and any(folder.iterdir()):
        raise ArmError(f'{folder} is not empty, and may hold your work; give --output-dir')
    folder = writable_folder(options.output_dir)
    names = write_lessons(folder)
    install = typed('pip install jupyterlab ipywidgets')
    print(f'wrote {len(names)} notebooks to {folder}; {install}')
    print(typed(f'jupyter lab {shlex.quote(str(folder / names[0]))}'))


def write_lessons(folder: Path) -> list[str]:
    """Write a notebook per lesson, and the robots they load; return the notebooks' names."""
    source = share_folder() / 'docs' / 'tutorial'
    for path in source.glob('pendulum.*'):
        shutil.copy(path, folder)
    names = []
    for page in sorted(source.glob('[0-9]*.md')):
        names.append(f'{page.stem}.ipynb')
        text = json.dumps(notebook(page.read_text()), indent=1)
        (folder / names[-1]).write_text(text + '\n')
    return names


def notebook(page: str) -> dict[str, object]:
    """Return the notebook of a lesson, in the format 4.5 of Jupyter.

    A command becomes a call, a question gets a cell for a prediction, an answer is folded.
    """
    numbers, cells = count(), list[dict[str, Any]]()
    for kind, text in _cells(page):
        if kind == 'markdown' and cells and cells[-1]['cell_type'] == kind:
            cells[-1]['source'] += f'\n\n{text}'
            continue
        cell: dict[str, object] = {
            'id': f'cell-{next(numbers)}', 'cell_type': kind, 'metadata': {}, 'source': text
        }  # fmt: skip
        if kind == 'code':
            cell |= {'execution_count': None, 'outputs': []}
        cells.append(cell)
    kernel = {'name': 'python3', 'display_name': 'Python 3', 'language': 'python'}
    metadata = {'kernelspec': kernel, 'language_info': {'name': 'python'}}
    return {'nbformat': 4, 'nbformat_minor': 5, 'metadata': metadata, 'cells': cells}


def _cells(page: str) -> Iterator[tuple[str, str]]:
    """Yield kind and text of the cells of a page."""
    answer = list[str]()
    calls = list[str]()
    asks = True  # the next code follows a question
    for part in _parts(page):
        is_code = part.startswith(('```python\n', '    ./ws '))
        if answer and (is_code or part.startswith('**Exercise')):
            yield 'markdown', _folded(answer)
            answer = []
        if part.startswith('**Exercise'):
            asks = True
        if part.startswith('*Answer.*') or answer:
            if asks:  # no command of the page belongs to the exercise
                yield 'code', _PREDICT
                if calls and _is_of_joints(calls[0]):
                    yield 'code', _SLIDER.format(begin=calls[0].removesuffix(')'))
            asks = False
            answer.append(part)
        elif is_code:
            if asks:
                yield 'code', _PREDICT if calls else f'import arm_sim\n\n{_PREDICT}'
            asks = False
            if part.startswith('```'):
                yield 'code', part.removeprefix('```python\n').removesuffix('```').strip()
                continue
            for line in part.splitlines():
                calls.append(call(line))
                plot = 'plot_joints' if _is_of_joints(calls[-1]) else 'plot'
                yield 'code', f'run = {calls[-1]}\nrun.{plot}()\nrun'
        elif not _PICTURE.fullmatch(part):
            yield 'markdown', part
    if answer:
        yield 'markdown', _folded(answer)


def _is_of_joints(text: str) -> bool:
    """Return whether a call runs a law designed for a frequency along a motion of the joints."""
    return text.startswith('arm_sim.run(') and 'timestep=' not in text


def _parts(page: str) -> Iterator[str]:
    """Yield the paragraphs of a page, and each block of code as a whole; links as their text."""
    blocks = _FENCED.split(page)
    for text, code in zip(blocks[::2], [*blocks[1::2], ''], strict=True):
        yield from filter(None, (_text(part) for part in text.split('\n\n')))
        if code:
            yield f'```python\n{code}```'


def _text(part: str) -> str:
    part = part.strip('\n')
    return part if _PICTURE.fullmatch(part) else _LINK.sub(r'\1', part)


def _folded(answer: list[str]) -> str:
    text = '\n\n'.join(answer).removeprefix('*Answer.*').strip()
    return f'<details><summary>Answer</summary>\n\n{text}\n\n</details>'


def call(line: str) -> str:
    """Return the call that does the same as a command of a lesson.

    Raises:
        ArmError: a command that no call replaces.
    """
    words = shlex.split(line)
    given = dict(word.split(':=', 1) for word in words if ':=' in word)
    if words[1:4] == ['ros2', 'run', 'arm_sim']:
        name, options = words[4], words[5:]
        found = {
            option.removeprefix('--').replace('-', '_'): value
            for option, value in zip(options[::2], options[1::2], strict=True)
        }
        return _written(name, [], found)
    launch_file = words[4]
    if launch_file == 'model_mismatch.launch.py':
        given['laws'] = str(given['laws'].split(','))
        return _written('sweep', ['sweep'], given, texts=('values',))
    if launch_file != 'task.launch.py':
        raise ArmError(f'no call does what {launch_file!r} does')
    if 'controller' in given:  # with the gains and periods of the robot's files
        given |= {'law': given.pop('controller'), 'natural_frequency': '0', 'timestep': '0'}
    robot = Path(given.get('robot', 'ur5e')).name
    given['robot'] = ' gripper:='.join(filter(None, (robot, given.pop('gripper', ''))))
    given.setdefault('task', 'sinusoid')
    given.setdefault('law', 'computed_torque')
    if 'feedforward' in given:
        given['law'] += f':{given.pop("feedforward")}'
    if 'config' in given:
        given['config'] = Path(given['config']).name
    return _written('run', ['robot', 'task', 'law'], given, texts=('robot',))


def _written(
    name: str, first: list[str], given: Mapping[str, str], texts: tuple[str, ...] = ()
) -> str:
    """Return a call as text; values that are YAML become Python's."""

    def value(key: str) -> str:
        return repr(given[key] if key in texts else yaml_value(key, given[key]))

    later = [f'{key}={value(key)}' for key in given if key not in first]
    return f'arm_sim.{name}({", ".join([*map(value, first), *later])})'
