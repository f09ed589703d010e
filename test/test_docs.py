"""The pages: every path that they name exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md'), *ROOT.glob('docs/**/*.svg')])
OURS = r'(?:arm_\w+|config|launch|urdf|test|tools|benchmarks|docs)'


def exists(name):
    """Tell whether a file or folder is there; types of messages are named without their ending."""
    path = ROOT / name
    return path.exists() or any(path.parent.glob(f'{path.name}.srv'))


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_that_a_page_names_exists(page):
    text = page.read_text()
    named = set(re.findall(rf'(?<![\w/.~]){OURS}/[\w./]*\w(?:/|\b)', text))
    if page.suffix == '.md':
        links = re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', text)
        named |= {str((page.parent / link).resolve().relative_to(ROOT)) for link in links}
    assert [name for name in sorted(named) if 'my_' not in name and not exists(name)] == []


def test_the_page_on_architecture_names_every_room():
    text = (ROOT / 'docs' / 'architecture.md').read_text()
    packages = ('arm_dynamics', 'arm_controllers', 'arm_sim')
    rooms = {
        path.parent for package in packages for path in (ROOT / package).glob('*/__init__.py')
    }
    named = {ROOT / name for name in re.findall(r'^\| `([\w/]+)/` \|', text, re.MULTILINE)}
    assert rooms <= named
