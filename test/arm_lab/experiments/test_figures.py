"""Pictures of experiments: nothing is cut or touches an edge."""

import numpy as np
import pytest

from arm_lab.experiments.figures import monte_carlo_figure
from arm_lab.experiments.spreads import Spread


@pytest.mark.parametrize('laws', [1, 2])
def test_the_bars_of_the_first_and_the_last_law_are_clear_of_the_edges(laws):
    spreads = [Spread(f'law_{k}', np.array([1.0, 2.0, 3.0]) + k) for k in range(laws)]
    figure = monte_carlo_figure(spreads, 'ur5e, sinusoid: 3 random arms per law')
    figure.draw_without_rendering()
    (axis,) = figure.axes
    edges = axis.get_window_extent()
    for bar in axis.get_lines():
        width = bar.get_linewidth() * figure.dpi / 72.0
        places = axis.transData.transform(bar.get_xydata())[:, 1]
        assert edges.y0 < places.min() - width
        assert places.max() + width < edges.y1
