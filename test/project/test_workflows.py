"""Workflow files: YAML, shell and inputs; GitHub alone can run them."""

import re
import subprocess

import pytest
import yaml
from repository import ROOT

FILES = sorted((ROOT / '.github' / 'workflows').glob('*.yml'))
REUSED = ROOT / '.github' / 'workflows' / 'controller_tests.yml'
EXAMPLE = ROOT / 'examples' / 'controller_package' / '.github' / 'workflows' / 'test.yml'
ON = True  # what YAML 1.1 reads for the key `on`


def steps_of(workflow):
    return [step for job in workflow['jobs'].values() for step in job.get('steps', ())]


@pytest.mark.parametrize('file', FILES, ids=lambda file: file.stem)
def test_each_shell_step_is_one_that_bash_can_read(file):
    workflow = yaml.safe_load(file.read_text())
    shells = [step['run'] for step in steps_of(workflow) if 'run' in step]
    assert shells
    for text in shells:
        words = re.sub(r'\$\{\{.*?\}\}', 'word', text)
        assert subprocess.run(['bash', '-n'], input=words, text=True).returncode == 0, text


def test_the_reusable_workflow_uses_the_inputs_that_it_declares_and_no_others():
    text = REUSED.read_text()
    inputs = yaml.safe_load(text)[ON]['workflow_call']['inputs']
    assert set(re.findall(r'inputs\.(\w+)', text)) == set(inputs)
    for each in inputs.values():
        assert each['type'] == 'string'
        assert each.get('required') or 'default' in each


@pytest.mark.parametrize('source', ['example', 'page'])
def test_a_workflow_that_uses_it_gives_inputs_that_it_has(source):
    text = EXAMPLE.read_text()
    if source == 'page':
        page = (ROOT / 'docs' / 'testing.md').read_text()
        text = re.search(r'```yaml\n(jobs:.*?)```', page, re.DOTALL)[1]
    inputs = yaml.safe_load(REUSED.read_text())[ON]['workflow_call']['inputs']
    (job,) = yaml.safe_load(text)['jobs'].values()
    assert job['uses'].partition('@')[0].endswith(f'/{REUSED.relative_to(ROOT)}')
    assert set(job['with']) <= set(inputs)
    assert {name for name, each in inputs.items() if each.get('required')} <= set(job['with'])


def test_the_steps_of_the_reusable_workflow_work_on_what_was_checked_out():
    """The package is in src/own, arm_sim in src/arm_sim, what is built in install."""
    steps = steps_of(yaml.safe_load(REUSED.read_text()))
    paths = {step['with']['path'] for step in steps if 'checkout' in step.get('uses', '')}
    assert paths == {'src/own', 'src/arm_sim'}
    shell = '\n'.join(step.get('run', '') for step in steps)
    for path in re.findall(r'src/arm_sim/(\w+)', shell):
        assert (ROOT / path).exists(), path
    assert shell.index('colcon build') < shell.index('source install/setup.bash')
