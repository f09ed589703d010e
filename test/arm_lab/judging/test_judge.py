"""Judging a controller: what the file says, refusals, reports; and one over topics."""

import itertools
import json
import os
import re
import signal
import sys
import time
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import psutil
import pytest
import yaml
from repository import ROOT

from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError
from arm_lab import own_domain
from arm_lab.commands.judge import main
from arm_lab.experiments import over_topics, processes
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.processes import Group
from arm_lab.judging import law_trials, replayed_law, report, trials
from arm_lab.judging.plan import read_plan
from arm_lab.judging.verdict import Judgement, Verdict
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.outcome import outcome
from arm_sim.loop.record import RECORD
from arm_sim.loop.report import Check
from arm_sim.tasks import Run

SHIPPED = ROOT / 'config' / 'judge' / 'planar_3r.yaml'
PAGE = ROOT / 'docs' / 'your_controller.md'
pytest_plugins = ['arm_lab.testing']  # the fixture `judge`
PLAN = """
robot: planar_3r
engines: [mujoco, analytical]
tasks: {sinusoid: {frequency: 1.0}, push: {}}
variants: {exact: {}, heavy: {plant_error: {payload: 0.5}, drives: {command_delay: 1}}}
limits:
  all: {tracking_max_mm: 5.0, recovery_s: 2.0}
  push: {tracking_max_mm: 4.0}
  heavy: {tracking_max_mm: 3.0}
  push/heavy: {tracking_max_mm: 2.0}
"""


def plan_of(folder, text=PLAN):
    file = folder / 'limits.yaml'
    file.write_text(text)
    return read_plan(file)


def test_the_former_key_of_variants_is_read_with_a_warning(tmp_path):
    with pytest.warns(FutureWarning, match='wrongness is called variants since 0.4.0'):
        plan = plan_of(tmp_path, PLAN.replace('variants:', 'wrongness:'))
    assert [trial.name for trial in plan.trials] == [t.name for t in plan_of(tmp_path).trials]


def test_every_task_is_tried_on_every_engine_with_every_variant(tmp_path):
    plan = plan_of(tmp_path)
    assert len(plan.trials) == len({trial.name for trial in plan.trials}) == 8
    first, last = plan.trials[0], plan.trials[-1]
    assert (first.name, first.loaded.given) == ('sinusoid, mujoco, exact', {'frequency': 1.0})
    torque = {'law': 'external', 'actuator': 'torque'}
    assert first.loaded.experiment == Experiment.of_files('planar_3r', 'sinusoid', **torque)
    heavy, late = ModelError(payload=0.5), DriveParameters(command_delay=1)
    assert last.loaded.experiment == Experiment.of_files(
        'planar_3r', 'push', **torque, engine='analytical', error=heavy, drives=late
    )


def test_a_variant_has_drives_for_what_its_actuator_takes(tmp_path):
    text = PLAN.replace('{command_delay: 1}', '{servo_compensation: true}')
    trial = plan_of(tmp_path, 'actuator: servo\n' + text.lstrip()).trials[-1]
    assert trial.loaded.experiment.drives == DriveParameters(servo_compensation=True)
    with pytest.raises(ArmError, match='take position or velocity, and these take effort'):
        plan_of(tmp_path, text)


def test_the_experiment_of_a_trial_builds_its_plant_and_its_launch(tmp_path):
    trial = plan_of(tmp_path, 'actuator: servo\n' + PLAN.lstrip()).trials[-1]
    plant, _ = trial.loaded.plants()
    assert plant.command_interface == 'position'
    assert plant.parameters.command_delay == 1
    np.testing.assert_array_equal(
        plant.parameters.servo_kp, trial.loaded.robot.parameters('simulator')['servo_kp']
    )
    arguments = over_topics.launch_arguments(trial.loaded.experiment)
    assert arguments == {
        'robot': 'planar_3r', 'task': 'push', 'engine': 'analytical', 'actuator': 'servo',
        'config': '', 'controller': 'external', 'plant_error': '{payload: 0.5}',
        'integrator': '',
    }  # fmt: skip


def test_the_more_exact_limit_counts_and_recovery_only_where_there_is_one(tmp_path):
    found = {(t.task, t.variant): t.limits for t in plan_of(tmp_path).trials}
    assert found['sinusoid', 'exact'] == {'tracking_max_mm': 5.0}
    assert found['sinusoid', 'heavy'] == {'tracking_max_mm': 3.0}
    assert found['push', 'exact'] == {'tracking_max_mm': 4.0, 'recovery_s': 2.0}
    assert found['push', 'heavy'] == {'tracking_max_mm': 2.0, 'recovery_s': 2.0}


@pytest.mark.parametrize(
    ('old', 'new', 'says'),
    [
        ('push: {}', 'pusch: {}', "unknown task 'pusch'; nearest known: 'push'"),
        ('frequency: 1.0', 'frequenzy: 1.0', "parameter of task 'sinusoid': 'frequenzy'"),
        ('frequency: 1.0', 'frequency: fast', "'fast'; it must be a number"),
        ('analytical]', 'bullet]', "engine is 'bullet'; allowed: mujoco, analytical"),
        ('analytical]', 'mujoco]', 'each may be named once'),
        ('planar_3r', 'planar_4r', "'planar_4r'"),
        ('payload: 0.5', 'paylod: 0.5', "nearest known: 'payload'"),
        ('command_delay: 1', 'command_delay: -1', 'command_delay is -1; it must be'),
        ('drives: {', 'driven: {', "name in variant 'heavy': 'driven'"),
        ('  heavy: {tr', '  heavi: {tr', "name in limits: 'heavi'; nearest known: 'heavy'"),
        ('all: {tracking_max_mm', 'all: {tracking_mm', "'tracking_mm'; nearest known: 'tracking"),
        ('5.0', '-5.0', "limit tracking_max_mm of 'all' is -5; it must be finite, >= 0"),
        ('5.0', 'small', "tracking_max_mm is 'small'; it must be a number"),
        ('push: {track', 'sinusoid: {recovery_s: 1, track', "'sinusoid': no task of it measures"),
        ('5.0, r', '5.0, force_rms_n: 1, r', "force_rms_n of 'all': no task of it measures that"),
        ('exact: {}', 'all: {}', "a variant has the name 'all', which limits use otherwise"),
        ('robot: ', 'robots: ', "unknown name in the file: 'robots'; nearest known: 'robot'"),
        ('robot: planar_3r', 'actuator: torque', 'robot is missing'),
        (
            'robot: ',
            'actuator: muscle\nrobot: ',
            "actuator is 'muscle'; allowed: servo, velocity, torque",
        ),
        ('robot: ', 'timeout: 0\nrobot: ', 'timeout is 0; it must be finite, >= 0.1'),
        ('robot: ', 'robot: {', 'not YAML'),
        ('{sinusoid: {frequency: 1.0}, push: {}}', '{}', 'tasks are missing; there are: '),
        ('{payload: 0.5}', '5', "plant_error is '5'; it must be {name: value}"),
        ('{payload: 0.5}', '[payload]', 'plant_error is "[\'payload\']"; it must be {name'),
        ('heavy: {p', 'a/b: {p', "a variant has the name 'a/b'; it must be of letters"),
        ('5.0', '9' * 400, 'not YAML: a number of more than 70 characters'),
    ],
)
def test_what_cannot_be_tried_or_measured_is_refused_in_a_line_with_the_file(
    old, new, says, tmp_path
):
    assert old in PLAN
    with pytest.raises(ArmError, match=re.escape(says)) as caught:
        plan_of(tmp_path, PLAN.replace(old, new, 1))
    assert str(caught.value).startswith(f'{tmp_path / "limits.yaml"}: ')
    assert '\n' not in str(caught.value)


def test_the_shipped_file_is_one_and_is_on_the_page(tmp_path):
    assert {trial.task for trial in read_plan(SHIPPED).trials} == {'sinusoid', 'push'}
    assert SHIPPED.read_text() in (ROOT / 'docs' / 'judge.md').read_text()
    with pytest.raises(ArmError, match='cannot be read'):
        read_plan(tmp_path / 'none.yaml')


def verdicts_of(plan):
    """One that held, one with a broken limit, one that failed; the others were not run."""
    numbers = {'tracking_rms_mm': 1.0, 'tracking_max_mm': 6.0, 'recovery_s': float('nan')}
    held, broken = Check('tracking_max_mm', 4.0, 5.0, ''), Check('recovery_s', np.nan, 2.0, '')
    course = np.array([[0.0, 1.0], [1.0, 2.0]])
    return (
        Verdict(plan.trials[0], 1.0, numbers, (held,), 'aa', '', course),
        Verdict(plan.trials[1], 2.0, numbers, (held, broken), 'bb', '', course),
        Verdict(plan.trials[2], 3.0, reason='no <answer> a|b'),
    )


def test_all_reports_say_which_trial_held_which_limit_is_broken_and_why_one_failed(tmp_path):
    plan = plan_of(tmp_path)
    judgement = Judgement(plan, 'my_controller', verdicts_of(plan))
    assert not judgement.held
    assert judgement.summary.startswith('1 of 8 trials held, 5 not run; SHA-256 of these 3: ')
    whole = Judgement(plan, 'my_controller', verdicts_of(plan)[:1] * 8)
    assert whole.summary.startswith('8 of 8 trials held; SHA-256 of all: ')
    drawn = report.figure(judgement)
    assert drawn.get_suptitle().startswith(f'my_controller on {plan.robot}\n1 of 8 trials held')
    curves = [len(axis.get_lines()) for axis in drawn.axes]
    assert curves == [2 + 2]  # a course of each trial that ended and both limits, in one panel
    none = Judgement(plan, 'my_controller', verdicts_of(plan)[2:])
    assert report.figure(none).texts[-1].get_text() == 'no <answer> a|b'
    report.write(judgement, tmp_path)
    assert all((tmp_path / name).stat().st_size > 0 for name in report.FILES)
    suite = ElementTree.parse(tmp_path / 'judgement.xml').getroot()
    counts = {name: suite.get(name) for name in ('tests', 'failures', 'errors', 'skipped')}
    assert counts == {'tests': '8', 'failures': '1', 'errors': '1', 'skipped': '5'}
    found = [[(part.tag, part.get('message')) for part in case] for case in suite]
    assert found[:3] == [
        [],
        [('failure', 'recovery_s is never, limit 2')],
        [('error', 'no <answer> a|b')],
    ]
    assert found[3] == [('skipped', 'the first trial failed')]
    assert 'recovery_s is never, limit 2 |' in (tmp_path / 'judgement.md').read_text()
    assert '| no &lt;answer> a\\|b |' in (tmp_path / 'judgement.md').read_text()


def test_the_table_has_what_is_limited_and_one_engine_no_name_in_the_picture(tmp_path):
    text = PLAN.partition('limits:')[0].replace('mujoco, ', '')
    plan = plan_of(tmp_path, f'{text}limits: {{all: {{joint_rms_rad: 1.0}}}}')
    first, *_ = verdicts_of(plan)
    numbers = {'tracking_rms_mm': 1.0, 'joint_rms_rad': 0.125, 'energy_j': 3.0}
    judgement = Judgement(plan, 'ours', (replace(first, measures=numbers),))
    table = report.listing(judgement)
    assert table.headings[3:] == ('RMS [mm]', 'joint_rms_rad', 'verdict')
    assert table.rows[0][3:5] == ('1', '0.125')
    assert 'joint_rms_rad' not in table.texts
    drawn = report.figure(judgement)
    (legend,) = drawn.legends
    assert [x.get_text() for x in legend.get_texts()] == ['exact', 'heavy']
    assert drawn.axes[0].get_lines()[0].get_alpha() == 1.0  # not wide under another curve


def test_ctrl_c_during_many_judgements_reports_those_that_were_made(tmp_path, monkeypatch, capsys):
    plan = plan_of(tmp_path)
    first, *_ = verdicts_of(plan)
    whole = Judgement(plan, 'python3 x.py', tuple(first for _ in plan.trials))
    made = iter([whole, whole, whole])

    def judge_all(*_):
        for each in made:
            return each
        raise KeyboardInterrupt

    monkeypatch.setattr('arm_lab.commands.judge.judge_all', judge_all)
    parameters = ['--limits', str(tmp_path / 'limits.yaml'), '--output-dir', str(tmp_path)]
    assert main([*parameters, '--repeat', '9', 'python3', 'x.py']) == 130
    printed = capsys.readouterr()
    assert '3 judgements: 0 unlike the first, one checksum' in printed.out
    assert printed.err == 'judge: stopped; all started processes have ended\n'


@pytest.mark.slow
def test_ctrl_c_during_a_trial_leaves_the_files_of_the_trials_before_it(
    tmp_path, monkeypatch, capsys
):
    plan = plan_of(tmp_path)
    done = []

    def tried(trial):
        done.append(trial)
        if len(done) == 3:
            raise KeyboardInterrupt
        return trial.loaded.changed(law='computed_torque').run(), []

    def judge_all(plan, *_):
        return trials.judgement(plan, 'ours', tried)

    monkeypatch.setattr('arm_lab.commands.judge.judge_all', judge_all)
    to = ['--limits', str(tmp_path / 'limits.yaml'), '--output-dir', str(tmp_path / 'out')]
    assert main([*to, 'python3', 'x.py']) == 130
    printed = capsys.readouterr()
    assert ' of 8 trials held, 6 not run (stopped); ' in printed.out
    assert printed.err == 'judge: stopped; all started processes have ended\n'
    suite = ElementTree.parse(tmp_path / 'out' / 'judgement.xml').getroot()
    reasons = [each.get('message') for each in suite.iter('skipped')]
    assert reasons == ['stopped'] * 6
    assert len(json.loads((tmp_path / 'out' / 'judgement.json').read_text())['trials']) == 2
    done.clear()
    done[:] = plan.trials[:2]
    assert main([*to, 'python3', 'x.py']) == 130  # in the first trial: there is nothing to show
    assert 'trials held' not in capsys.readouterr().out
    done.clear()
    with pytest.raises(KeyboardInterrupt):  # so that pytest ends as well
        trials.judgement(plan, 'ours', tried)


def test_the_checksum_distinguishes_judgements_that_differ_in_a_bit_of_a_trial(tmp_path):
    plan = plan_of(tmp_path)
    first, second, third = verdicts_of(plan)
    sums = {
        Judgement(plan, '', each).checksum
        for each in ((first, second, third), (first, second), (second, first, third))
    }
    assert len(sums) == 3
    failed = Judgement(plan, '', (Verdict(plan.trials[0], 1.0, reason='it has no law'),))
    assert failed.checksum == ''
    assert 'SHA-256' not in failed.summary


@pytest.mark.parametrize(
    ('words', 'command'),
    [
        (['my.launch.py', 'a:=b'], ['ros2', 'launch', 'my.launch.py', 'a:=b']),
        (['my_package', 'my.launch.xml'], ['ros2', 'launch', 'my_package', 'my.launch.xml']),
        (['python3 my.py --gain "1 2"'], ['python3', 'my.py', '--gain', '1 2']),
        (['./my', 'a b', 'x.launch.py'], ['./my', 'a b', 'x.launch.py']),
    ],
)
def test_a_controller_is_a_launch_file_or_any_command(words, command):
    assert trials.controller_command(words) == command


@pytest.mark.parametrize(('text', 'says'), [(' ', 'an empty text'), ('a "b', 'No closing quot')])
def test_a_command_that_is_none_is_refused_before_anything_starts(text, says, tmp_path, judge):
    plan_of(tmp_path)
    with pytest.raises(ArmError, match=says):
        judge(text, tmp_path / 'limits.yaml')


def test_what_a_command_has_started_ends_with_it_also_where_it_ignores_ctrl_c(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(processes, 'END_SIGNALS', ((signal.SIGINT, 0.1), (signal.SIGKILL, 30.0)))
    child = 'import signal, time; signal.signal(2, signal.SIG_IGN); print("up"); time.sleep(999)'
    code = f'import subprocess, sys; subprocess.run([sys.executable, "-uc", {child!r}])'
    with Group([sys.executable, '-c', code], tmp_path / 'log', {}) as group:
        while group.lines() != ['up']:
            assert group.code is None
            time.sleep(0.01)
        (inner,) = psutil.Process(group.pid).children()
    assert group.code is not None
    assert not inner.is_running() or inner.status() == psutil.STATUS_ZOMBIE
    with pytest.raises(ArmError, match="'no_such_program' cannot be run: No such file"):
        Group(['no_such_program'], tmp_path / 'log', {})


def test_a_command_gets_ctrl_c_first_and_time_to_end_also_where_the_clock_jumps(
    tmp_path, monkeypatch
):
    clock = itertools.count(0.0, 1000.0)  # as where the machine is suspended again and again
    code = (
        'import time\ntry: print("up", flush=True); time.sleep(999)\n'
        'except KeyboardInterrupt: time.sleep(0.3); print("ended by Ctrl-C")'
    )
    with Group([sys.executable, '-c', code], tmp_path / 'log', {}) as group:
        while group.lines() != ['up']:
            assert group.code is None
            time.sleep(0.01)
        monkeypatch.setattr(processes.time, 'monotonic', lambda: next(clock))
    assert group.lines() == ['up', 'ended by Ctrl-C']
    assert group.code == 0


# In place of a launch: leaves the record of two states and a report with limits of the task.
STAND_IN = """
import json, pathlib, sys
import numpy as np
from arm_sim.loop.record import RECORD, Record
given = dict(word.split(':=', 1) for word in sys.argv[1:])
folder, rows = pathlib.Path(given['output_dir']), np.zeros((3, 3))
Record(np.arange(3) * 1e-3, rows, rows, rows, rows, rows, rows[0]).save(folder / RECORD)
limits = [
    {'name': 'own', 'value': None, 'limit': 1.0, 'unit': 'mm'},
    {'name': 'own', 'value': 0.5, 'limit': 1.0, 'unit': 'mm'},
    {'name': 'free', 'value': 9.0, 'limit': None, 'unit': 'mm'},
]
heavy = 'payload' in given['plant_error']
(folder / 'report.json').write_text(json.dumps({'limits': limits[0 if heavy else 1 :]}))
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Run a stand-in for the launches of trials, which the arm tracks without error."""
    monkeypatch.setattr(over_topics, 'LAUNCH', [sys.executable, '-c', STAND_IN])
    return plan_of(tmp_path, PLAN.replace('recovery_s: 2.0', 'energy_j: 1.0'))


@pytest.mark.slow
def test_a_limit_of_the_task_decides_as_one_of_the_plan_does(stand_in, tmp_path):
    found = trials.judge_all(stand_in, [], tmp_path)
    assert [each.held for each in found.verdicts] == [True, False] * 4
    fine, broken, *_ = found.verdicts
    assert [each.name for each in fine.checks] == ['tracking_max_mm', 'energy_j', 'own']
    assert (fine.words, broken.words) == ('held', 'own is never, limit 1 mm')
    file = yaml.safe_load((tmp_path / 'sinusoid_mujoco_heavy' / 'parameters.yaml').read_text())
    drives = file['simulator']['ros__parameters']
    assert drives == {'command_delay': 1, 'lockstep_timeout': 120.0}


def test_the_last_words_of_a_controller_are_those_before_the_judge_ends_it(
    stand_in, tmp_path, monkeypatch
):
    up = tmp_path / 'up'
    said = f'print("my gains are wrong", flush=True); open({str(up)!r}, "w")'
    controller = f'import time\n{said}\ntry: time.sleep(999)\nfinally: print("SIGINT", flush=True)'
    refused = f'while [ ! -e {up} ]; do sleep 0.05; done; rm {up}; echo goal refused; exit 1'
    monkeypatch.setattr(over_topics, 'LAUNCH', ['sh', '-c', refused])
    found = trials.judge_all(stand_in, [sys.executable, '-uc', controller], tmp_path)
    failed = {each.reason for each in found.verdicts}
    assert failed == {'goal refused; the controller said last: my gains are wrong'}


def test_what_a_node_said_counts_more_than_how_the_launch_ended(stand_in, tmp_path, monkeypatch):
    lines = ['[INFO] [simulator-1]: process started', '[simulator-1] simulator: simulated already']
    lines += ['[task-2] [INFO] [1.0] [task]: fine', '[INFO] [task-2]: process has finished']
    echo = '; '.join(f'echo "{line}"' for line in lines)
    monkeypatch.setattr(over_topics, 'LAUNCH', ['sh', '-c', f'{echo}; exit 1'])
    found = trials.judge_all(stand_in, ['sleep', '999'], tmp_path)
    assert {each.reason for each in found.verdicts} == {
        'simulator: simulated already; the controller said nothing'
    }


@pytest.mark.parametrize(
    ('words', 'chosen', 'domains'),
    [
        ([], '', ['none']),  # the controller runs already, in the default domain
        ([], '7', ['7']),
        (['sleep', '999'], '7', ['7']),
        (['sleep', '999'], '', [str(each) for each in own_domain.DOMAINS]),
    ],
)
def test_a_judge_that_starts_the_controller_takes_a_domain_of_its_own_unless_one_is_chosen(
    stand_in, tmp_path, monkeypatch, words, chosen, domains
):
    monkeypatch.setenv('ROS_DOMAIN_ID', chosen)
    said = 'echo "${ROS_DOMAIN_ID:-none}"; exit 1'
    monkeypatch.setattr(over_topics, 'LAUNCH', ['sh', '-c', said])
    found = trials.judge_all(stand_in, words, tmp_path)
    assert found.verdicts[0].reason.partition(';')[0] in domains


def test_a_judgement_is_made_once_unless_more_are_asked_for(stand_in, tmp_path, monkeypatch):
    runs = []

    def judge_all(plan, *_):
        runs.append(plan)
        return Judgement(plan, '', tuple(Verdict(x, 1.0) for x in plan.trials))

    monkeypatch.setattr('arm_lab.commands.judge.judge_all', judge_all)
    given = ['--limits', str(tmp_path / 'limits.yaml'), '--output-dir', str(tmp_path)]
    assert main(given) == 0
    assert len(runs) == 1
    assert main([*given, '--repeat', '3']) == 0
    assert len(runs) == 4


def test_trials_of_an_earlier_judgement_in_its_folder_are_named(
    stand_in, tmp_path, monkeypatch, capsys
):
    whole = Judgement(stand_in, '', tuple(Verdict(x, 1.0) for x in stand_in.trials))
    monkeypatch.setattr('arm_lab.commands.judge.judge_all', lambda *_: whole)
    for name in (stand_in.trials[0].folder(tmp_path).name, 'cube_mujoco_exact'):
        (tmp_path / name).mkdir()
        (tmp_path / name / RECORD).touch()
    assert main(['--limits', str(tmp_path / 'limits.yaml'), '--output-dir', str(tmp_path)]) == 0
    line = f'{tmp_path} also has records that are not of this judgement: cube_mujoco_exact'
    assert line in capsys.readouterr().out.splitlines()


def test_what_is_reported_a_process_is_its_end_as_any_page_and_xml_shows_it(tmp_path):
    code = r'print(300_000 * "x", "\x1b[31mno\x07 gains\x1b[0m\x00", sep="\n")'
    with Group([sys.executable, '-c', code], tmp_path / 'log', {}) as group:
        while group.code is None:
            time.sleep(0.01)
    last = group.lines()[-1]
    assert last == 'no  gains'
    assert [len(line) for line in group.lines()] == [300, len(last)]
    ElementTree.fromstring(ElementTree.tostring(ElementTree.Element('error', message=last)))


def test_a_domain_whose_lock_another_user_has_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(own_domain.tempfile, 'tempdir', str(tmp_path))
    monkeypatch.setattr(own_domain, 'DOMAINS', range(216, 219))
    opened = os.open

    def of_others(path, flags, *mode):
        if '216' in str(path) and not flags & os.O_EXCL:
            raise PermissionError(13, 'Permission denied', str(path))
        return opened(path, flags, *mode)

    monkeypatch.setattr(own_domain.os, 'open', of_others)
    (tmp_path / 'arm_sim_benchmark_domain_217.lock').touch(0o444)
    assert own_domain.own_domain() == '217'
    assert own_domain.own_domain() == '218'  # the first one is held
    with pytest.raises(ArmError, match='3 judgements or benchmarks run already'):
        own_domain.own_domain()


def test_a_controller_that_ends_is_reported_with_what_it_said_last(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        over_topics, 'LAUNCH', [sys.executable, '-c', 'import time; time.sleep(999)']
    )
    (tmp_path / 'limits.yaml').write_text(PLAN)
    given = ['--limits', str(tmp_path / 'limits.yaml'), '--output-dir', str(tmp_path), '--']
    assert main([*given, sys.executable, '-c', 'print("no gains"); raise SystemExit(3)']) == 1
    said = ' '.join(re.sub('[│|]', ' ', capsys.readouterr().out).split())
    assert 'exit code 3' in said
    assert '0 of 8 trials held, 7 not run' in said
    log = tmp_path / 'sinusoid_mujoco_exact' / 'controller.log'
    assert f'the controller wrote in {log}: no gains' in said
    failed = ElementTree.parse(tmp_path / 'judgement.xml').getroot()[0][0].get('message')
    assert failed == 'the controller ended with exit code 3; the controller said last: no gains'


LAW = """
import sys
from arm_controllers.laws.pd import PD

class Mine(PD):
    def __call__(self, state, measured, reference, dt):
        {line}
        return super().__call__(state, measured, reference, dt)
"""


@pytest.mark.parametrize(
    ('line', 'reason'),
    [
        ('pass', ''),
        ('sys.exit(3)', 'law Mine ({file}, line 7) ends the process by sys.exit(3)'),
        ('raise MemoryError', 'MemoryError: a law may allocate 4 GB'),
        ('raise ValueError("a\\nb")', 'law Mine ({file}, line 7): ValueError: a b'),
    ],
)
def test_what_a_law_does_in_a_trial_is_in_its_file(line, reason, tmp_path):
    (tmp_path / 'mine.py').write_text(LAW.format(line=line))
    trial = plan_of(tmp_path).trials[0]
    law_trials.attempt(trial, str(tmp_path / 'mine.py'), tmp_path / 'trial')
    words = (tmp_path / 'trial' / 'reason.txt').read_text()
    assert words == reason.format(file=tmp_path / 'mine.py')
    assert (tmp_path / 'trial' / 'commands.f64').is_file() == (not reason)


@pytest.mark.slow
def test_a_limit_of_the_force_counts_where_a_task_has_one_and_the_table_shows_it(tmp_path):
    text = (
        'robot: ur5e gripper:=probe\n'
        'tasks: {press: {duration: 3.0, limit: 0.1}, sinusoid: {cycles: 1}}\n'
        'limits: {all: {force_rms_n: 0.1, tracking_max_mm: 20.0}}'
    )
    plan = plan_of(tmp_path, text)
    assert [list(each.limits) for each in plan.trials] == [
        ['force_rms_n', 'tracking_max_mm'], ['tracking_max_mm']
    ]  # fmt: skip

    def tried(trial):
        law = 'hybrid_force_motion' if trial.task == 'press' else 'computed_torque'
        loaded = trial.loaded.changed(law=law, actuator='')
        record = loaded.run()
        run = Run(record, loaded.track(record), {'controller': law, 'mode': 'lockstep'})
        return record, outcome(loaded.task, run)[1]

    found = trials.judgement(plan, 'ours', tried)
    pressed, moved = (each.measures['force_rms_n'] for each in found.verdicts)
    assert not found.verdicts[0].reason, found
    (of_task,) = (each.value for each in found.verdicts[0].checks if each.name == 'force error')
    assert 0.0 < pressed < 0.01
    assert pressed == pytest.approx(of_task, rel=1e-9)
    assert np.isnan(moved)
    table = report.listing(found)
    at = table.headings.index('force RMS [N]')
    assert [row[at] for row in table.rows] == [f'{pressed:.3g}', '-']


MINE = """
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arm_controllers.laws import Law
from arm_lab.judging import law_trials
from arm_sim.loop.record import Record

{before}

class Mine(Law):
    @dataclass(frozen=True)
    class Parameters:
        pass

    def __call__(self, state, measured, reference, dt):
        {line}
        return np.zeros(self.model.nv), state
"""
# It writes what the process of a law writes, and is gone.
WRITES = """
Path(FOLDER).mkdir(parents=True, exist_ok=True)
{lines}
os._exit(0)
"""
REFERENCE = """
frozen = Record.__post_init__

def forged(record):
    vars(record)['q_reference'] = record.q
    frozen(record)

Record.__post_init__ = forged
"""
FORGERIES = {
    'reference': (REFERENCE, 'pass', ''),
    'moves': ('', 'measured.q.setflags(write=True)', 'ValueError: cannot set WRITEABLE flag'),
    'removes': (
        'import shutil\nshutil.rmtree(Path(FOLDER).parent)', '', 'ended with exit code 1'
    ),
    'nothing': (WRITES.format(lines="Path(FOLDER, 'reason.txt').touch()"), '', 'commands.f64'),
    'few': (
        WRITES.format(
            lines="Path(FOLDER, 'commands.f64').write_bytes(bytes(99))\n"
            "Path(FOLDER, 'reason.txt').touch()"
        ),
        '',
        'the process of the law has fewer commands than the trial has periods',
    ),
    'paints': (
        WRITES.format(lines="Path(FOLDER, 'reason.txt').write_text('\\x1b[31m' + 'x' * 9999)"),
        '',
        '[31mxxx',
    ),
    'pipe': (
        WRITES.format(lines="os.mkfifo(Path(FOLDER, 'reason.txt'))"), '', 'is no plain file'
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize('how', FORGERIES)
def test_what_a_law_writes_about_itself_is_no_verdict(how, tmp_path):
    """The arm moves by the commands in the judging process, whatever the law's process says."""
    before, line, reason = FORGERIES[how]
    out = tmp_path / 'out'
    out.mkdir()
    text = 'robot: planar_3r\ntasks: {sinusoid: {cycles: 1}}\nlimits: {all: {tracking_max_mm: 9}}'
    plan = plan_of(tmp_path, text)
    (trial,) = plan.trials
    code = MINE.format(
        before=before.replace('FOLDER', repr(str(trial.folder(out)))), line=line or 'pass'
    )
    (tmp_path / 'mine.py').write_text(code)
    (verdict,) = law_trials.judge_law(plan, str(tmp_path / 'mine.py'), out).verdicts
    assert not verdict.held
    assert reason in verdict.reason
    assert verdict.reason.isprintable()
    assert len(verdict.reason) < 400
    if not reason:
        assert verdict.measures['tracking_max_mm'] > 9.0


@pytest.mark.slow
def test_commands_move_the_arm_as_the_law_itself_did(tmp_path):
    plan = plan_of(tmp_path)
    for trial in (plan.trials[0], plan.trials[-1]):
        loaded = trial.loaded.changed(law='computed_torque', actuator='')
        law = replayed_law.RecordedLaw(loaded.law())
        own = loaded.task.run(law, *trial.loaded.plants())
        again = replayed_law.made_by(trial, np.array(law.rows).tobytes())
        assert again.checksum() == own.checksum() == loaded.run().checksum()


@pytest.mark.slow
def test_the_pages_controller_is_judged_in_lock_step(tmp_path, judge):
    code = re.search(r'```python\n(.*?)```', PAGE.read_text(), re.DOTALL)[1]
    controller = tmp_path / 'my_controller.py'
    controller.write_text(code)
    (tmp_path / 'limits.yaml').write_text(
        'robot: planar_3r\ntimeout: 300\ntasks: {sinusoid: {cycles: 1}}\n'
        'variants: {heavy: {plant_error: {payload: 0.5}}}\nlimits: {all: {tracking_max_mm: 2.0}}'
    )
    found = judge([sys.executable, str(controller)], tmp_path / 'limits.yaml')
    (verdict,) = found.verdicts
    assert not verdict.reason, found
    assert verdict.measures['tracking_max_mm'] > 2.0  # it knows nothing of the payload
    assert not found.held
    assert (tmp_path / 'judgement' / 'judgement.xml').is_file()


@pytest.mark.slow
def test_a_force_controller_is_judged_by_its_force_and_twice_the_same(tmp_path, judge):
    controller, limits = ROOT / 'examples' / 'force_controller.py', tmp_path / 'limits.yaml'
    limits.write_text(
        'robot: ur5e gripper:=probe\ntimeout: 300\n'
        'tasks: {press: {duration: 3.0, limit: 0.01}}\nlimits: {all: {contact_force_max_n: 5.0}}'
    )
    first, second = (judge([sys.executable, str(controller)], limits) for _ in range(2))
    (verdict,) = first.verdicts
    assert not verdict.reason, first
    peak, error = verdict.checks
    assert error.held, error
    assert 10.0 < peak.value < 13.0
    assert verdict.broken == [f'contact_force_max_n is {peak.shown[0]}, {peak.shown[1]}']
    assert first.checksum == second.checksum
