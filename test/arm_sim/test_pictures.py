"""The one look of all pictures: names next to curves, nothing global touched."""

import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image

from arm_sim import pictures
from arm_sim.loop.picture import draw_errors, draw_torques, force_figure, motion_figure
from arm_sim.loop.record import Record


@pytest.mark.slow
def test_names_next_to_curves_keep_the_order_of_the_ends_and_do_not_overlap():
    figure = pictures.new_figure(8.0, 3.0, 'title')
    (axis,) = pictures.panels(figure, 1)
    ends = [1.0, 1.001, 1.002, 5.0, 1e6, np.nan]  # the last curve ends before the others
    for i, end in enumerate(ends):
        axis.plot([0.0, 1.0, 2.0], [2.0, 3.0, end], label=f'curve {i}')
    axis.plot([0.0, 2.0], [0.0, 0.0], label='_without a name')
    axis.set_ylim(0.0, 10.0)
    pictures.name_ends(axis)
    figure.draw_without_rendering()
    boxes = {text.get_text(): Text.get_window_extent(text) for text in axis.texts}  # no arrows
    assert list(boxes) == [f'curve {i}' for i in range(6)]
    heights = [boxes[f'curve {i}'].y0 for i in (0, 1, 2, 5, 3, 4)]
    assert heights == sorted(heights)
    ordered = sorted(boxes.values(), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 for low, high in pairwise(ordered))


def test_a_long_title_fits_its_picture():
    figure = pictures.new_figure(9.0, 3.0, 'sinusoid: ur5e, computed_torque, ' * 5)
    figure.draw_without_rendering()
    (title,) = (x.get_window_extent() for x in figure.get_children() if isinstance(x, Text))
    assert 0.0 <= title.x0 < title.x1 <= figure.bbox.width


def test_panels_are_as_many_as_asked_for_in_rows_of_three():
    axes = pictures.panels(pictures.new_figure(9.0, 6.0), 5, sharex=True)
    assert len(axes) == 5
    assert len(axes[0].figure.axes) == 6
    assert [axis.axison for axis in axes[0].figure.axes] == [True] * 5 + [False]


@pytest.mark.slow
def test_a_picture_is_saved_with_no_window_and_no_global_setting_touched(tmp_path):
    before = dict(mpl.rcParams)
    figure = pictures.new_figure(4.0, 3.0, 'title')
    (axis,) = pictures.panels(figure, 1)
    axis.plot([0.0, 1.0], [1.0, 2.0], label='curve')
    pictures.style(axis, 'panel', 'x', 'y', 'both')
    pictures.legend(axis)
    pictures.save(figure, tmp_path / 'picture.png')
    assert (tmp_path / 'picture.png').stat().st_size > 5000
    assert dict(mpl.rcParams) == before
    code = 'import sys, arm_sim.pictures; sys.exit("matplotlib.pyplot" in sys.modules)'
    subprocess.run([sys.executable, '-c', code], check=True)


def test_a_run_that_ended_before_its_force_is_measured_is_drawn():
    names = 'robot', 'controller', 'feedforward', 'engine', 'integrator', 'mode', 'task'
    report = dict.fromkeys(names, 'x') | {'force_n': 5.0, 'force_error_rms_n': np.nan}
    figure = force_figure(np.arange(3.0), np.ones(3), report, (10.0, 12.0))
    above, below = figure.axes
    assert [len(axis.lines) for axis in (above, below)] == [2, 2]


@pytest.mark.parametrize(
    ('limits', 'labels'),
    [
        ((0.8, 5.5), ['1', '2', '5']),
        ((9e-6, 2e1), ['1e-5', '0.0001', '0.001', '0.01', '0.1', '1', '10']),
    ],
)
def test_numbers_next_to_a_logarithmic_axis_are_plain_and_never_a_single_one(limits, labels):
    figure = pictures.new_figure(5.0, 2.0)
    (axis,) = pictures.panels(figure, 1)
    axis.set_xscale('log')
    axis.set_xlim(*limits)
    pictures.plain_numbers(axis.xaxis)
    figure.draw_without_rendering()
    low, high = limits
    shown = [
        label.get_text()
        for label in axis.xaxis.get_majorticklabels()
        if low <= label.get_position()[0] <= high
    ]
    assert shown == labels
    assert not any(each.get_text() for each in axis.xaxis.get_minorticklabels())


def test_every_torque_can_be_seen_however_small_compared_with_the_others():
    t = np.linspace(0.0, 1.0, 101)
    effort = np.sin(2 * np.pi * t)[:, np.newaxis] * [100.0, 1e-3, 0.0]
    zeros = np.zeros((101, 3))
    record = Record(t, zeros, zeros, zeros, zeros, effort, np.zeros(3))
    (axis,) = pictures.panels(pictures.new_figure(6.0, 3.0), 1)
    model = SimpleNamespace(joint_names=('a_joint', 'b', 'c'), prismatic=np.zeros(3, dtype=bool))
    draw_torques(axis, record, np.abs(effort) / 100.0, model)
    assert '[N.m]' in axis.get_title()
    courses = [line.get_ydata() for line in axis.get_lines() if len(line.get_ydata()) == 101]
    assert [round(float(np.ptp(each)), 3) for each in courses] == [0.84, 0.84, 0.0]
    assert [each.get_text() for each in axis.get_yticklabels()] == ['a', 'b', 'c']
    colours = {each.get_text(): each.get_color() for each in axis.texts}
    assert list(colours) == ['100\n100 %', '0.001\n< 0.1 %', '0\n< 0.1 %']
    assert [color == 'red' for color in colours.values()] == [True, False, False]


def test_an_error_of_rounding_has_no_gaps_where_it_is_zero_and_is_called_rounding():
    t, error = np.linspace(0.0, 1.0, 6001), np.zeros(6001)
    error[::50] = 1e-16  # [m]
    (axis,) = pictures.panels(pictures.new_figure(6.0, 3.0), 1)
    draw_errors(axis, t, [(error, 'error', 'k')])
    assert np.isfinite(axis.get_lines()[0].get_ydata()).all()
    assert 'rounding' in axis.texts[0].get_text()
    (large,) = pictures.panels(pictures.new_figure(6.0, 3.0), 1)
    draw_errors(large, t, [(1e-3 * (1.0 + t), 'error', 'k')])
    assert list(large.texts) == []


@pytest.mark.slow
def test_a_saved_picture_has_few_colours_and_keeps_those_of_thin_lines(tmp_path):
    figure = pictures.new_figure(6.0, 4.0)
    (axis,) = pictures.panels(figure, 1)
    shades = np.random.default_rng(0).uniform(0.85, 1.0, (200, 200, 3))
    axis.imshow(shades, extent=(0, 8, 0, 10))
    for k in range(8):
        axis.plot([0.0, 8.0], [k + 1.2, k + 1.2], lw=1.5, **pictures.look(k))
    pictures.save(figure, tmp_path / 'picture.png')
    with Image.open(tmp_path / 'picture.png') as saved:
        found = np.array([color for _, color in saved.convert('RGB').getcolors(256)])
    for k in range(8):
        wanted = 255 * np.array(mpl.colors.to_rgb(pictures.look(k)['color']))
        assert np.abs(found - wanted).max(axis=1).min() < 25


def test_a_motion_has_a_title_that_says_of_what_it_is():
    model = SimpleNamespace(prismatic=np.array([False]), joint_names=('joint_1',))
    t = np.array([0.0, 1.0])
    figure = motion_figure('plan: ur5e, shelf', t, t[:, None], t[:, None], model)
    assert figure.get_suptitle() == 'plan: ur5e, shelf'
