"""The pages: every path that they name exists."""

import re

import pytest
import yaml
from repository import ROOT
from scripts import load_script

PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md'), *ROOT.glob('docs/**/*.svg')])
PACKAGES = ('arm_dynamics', 'arm_controllers', 'arm_sim', 'arm_lab', 'arm_tools')
OURS = r'(?:arm_\w+|config|launch|urdf|test|tools|benchmarks|docs)'
# Pages that tools/docs_pages.py makes.
PLANTS = ('mujoco', 'analytical', 'motion_model', 'five_joint_arm')
MADE = {
    'docs/interfaces.md',
    'docs/measured.md',
    *(f'docs/api/{package}.md' for package in PACKAGES),
    *(f'docs/engines/{plant}.md' for plant in PLANTS),
}


def exists(name):
    """Whether a file or folder is there; types of messages are named without their ending."""
    path = ROOT / name
    types = [path.with_name(f'{path.name}.{kind}') for kind in ('srv', 'action')]
    return name in MADE or any(each.exists() for each in (path, *types))


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_that_a_page_names_exists(page):
    # Without environments of Gymnasium, and links to other sites.
    text = re.sub(r'arm_sim/\w+-v0|\(https://[^)]*\)', '', page.read_text())
    named = set(re.findall(rf'(?<![\w/.~]){OURS}/[\w./]*\w(?:/|\b)', text))
    if page.suffix == '.md':
        links = re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', text)
        linked = {str((page.parent / link).resolve().relative_to(ROOT)) for link in links}
        assert not linked & MADE  # only the site has these pages: on GitHub the link is dead
        if page.parts[len(ROOT.parts)] == 'docs':  # of these, the site has only what is in docs/
            assert [link for link in sorted(linked) if not link.startswith('docs/')] == []
        named |= linked
    assert [name for name in sorted(named) if 'my_' not in name and not exists(name)] == []


def prose(page):
    """Return a page without its samples."""
    return re.sub(r'^```.*?^```', '', page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """Return the anchors of a page's headings that GitHub and the site agree on."""
    titles = re.findall(r'^#{1,6} +(.+)$', prose(page), re.MULTILINE)
    plain = [re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', title).lower() for title in titles]
    words = [re.sub(r'[^\w\- ]', '', title).strip() for title in plain]
    return {each.replace(' ', '-') for each in words} & {re.sub('[- ]+', '-', x) for x in words}


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_heading_that_a_link_names_exists(page):
    links = re.findall(r'\]\(([^)#:\s]*)#([^)\s]+)\)', prose(page))
    pages = [(page.parent / link if link else page, anchor) for link, anchor in links]
    lost = [(str(to), anchor) for to, anchor in pages if anchor not in anchors(to)]
    assert lost == []


def test_the_page_on_architecture_names_every_folder():
    text = (ROOT / 'docs' / 'architecture.md').read_text()
    folders = {
        path.parent for package in PACKAGES for path in (ROOT / package).glob('*/__init__.py')
    }
    named = {ROOT / name for name in re.findall(r'^\| `([\w/]+)/` \|', text, re.MULTILINE)}
    assert folders <= named


def test_the_site_has_every_page_and_no_other():
    listed = yaml.safe_load((ROOT / 'mkdocs.yml').read_text())['nav']

    def files(entry):
        if isinstance(entry, str):
            return [entry]
        return [file for each in (entry.values() if isinstance(entry, dict) else entry)
                for file in files(each)]  # fmt: skip

    written = {str(page.relative_to(ROOT)) for page in ROOT.glob('docs/**/*.md')}
    assert sorted(f'docs/{file}' for file in files(listed)) == sorted(written | MADE)


def test_every_launch_file_has_a_page_in_the_table_of_launch_files():
    table = (ROOT / 'docs' / 'launch' / 'README.md').read_text()
    pages = dict(re.findall(r'^\| \[`(\w+\.launch\.py)`\]\(([^)]+)\)', table, re.MULTILINE))
    assert sorted(pages) == sorted(path.name for path in ROOT.glob('launch/*.py'))
    for name, page in pages.items():
        text = (ROOT / 'docs' / 'launch' / page).read_text()
        assert re.search(rf'ros2 launch arm_sim {name}', text), page


def test_the_readme_has_at_most_700_words():
    assert len((ROOT / 'README.md').read_text().split()) <= 700


@pytest.mark.slow
def test_every_generated_page_has_a_title_and_the_engines_their_sections():
    pages = load_script('tools/docs_pages.py')
    made = {f'docs/engines/{name}.md': pages.plant(name) for name in PLANTS}
    made |= {f'docs/api/{name}.md': pages.api(name) for name in PACKAGES}
    made |= {'docs/interfaces.md': pages.interfaces(), 'docs/measured.md': pages.measured.page()}
    assert made.keys() == MADE
    assert all(text.startswith('# ') for text in made.values())
    assert all('## Equation' in made[f'docs/engines/{name}.md'] for name in PLANTS)
