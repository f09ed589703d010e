"""The one look of all pictures: names beside curves, nothing global touched."""

import subprocess
import sys
from itertools import pairwise

import matplotlib as mpl
import numpy as np
from matplotlib.text import Text

from arm_sim import pictures


def test_names_beside_curves_keep_the_order_of_the_ends_and_do_not_overlap():
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


def test_panels_are_as_many_as_asked_for_in_rows_of_three():
    axes = pictures.panels(pictures.new_figure(9.0, 6.0), 5, sharex=True)
    assert len(axes) == 5
    assert len(axes[0].figure.axes) == 6
    assert [axis.axison for axis in axes[0].figure.axes] == [True] * 5 + [False]


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
