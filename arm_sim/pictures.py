"""The style of all plots: quiet axes, one set of colours, names next to curves.

Figures are matplotlib's `Figure`, which opens no window and reads no global settings of a script.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from PIL import Image

from arm_sim.notebook import display, in_notebook
from arm_sim.output_folder import whole_file
from arm_sim.palette import COLORS

# What a picture is about, what it is held against, and the rest. Many curves take `look`.
BLUE, ORANGE, QUIET = *COLORS[:2], '0.72'

Look = dict[str, Any]  # options of Matplotlib by name

TITLE, TEXT, SMALL = 12, 9, 8  # font sizes [pt]
_TITLE_WIDTH = 105.0  # letters of 1 pt that fit on an inch
_DPI = 110
_LINE_HEIGHT = 1.35  # of a curve's name, in font sizes
_DASHES = ('-', '--', ':')
_SHORT = 300.0  # a logarithmic axis from 1 to less than this is short


class Picture(Figure):
    """A figure that a notebook shows."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format='png', dpi=_DPI)
        return data.getvalue()


def new_figure(width: float, height: float, title: str = '', fixed: bool = False) -> Figure:
    """Return an empty figure of width x height [inch] with its title in bold.

    `fixed`: the caller places the axes, which spares three quarters of the time to draw.
    """
    figure = Picture(figsize=(width, height), layout=None if fixed else 'constrained')
    if title:
        longest = max(map(len, title.splitlines()))
        size = min(TITLE, _TITLE_WIDTH * width / longest)
        figure.suptitle(title, fontsize=size, fontweight='bold')
    return figure


def panels(figure: Figure, count: int, columns: int = 3, **options: Any) -> list[Axes]:
    """Return `count` axes in rows of at most `columns`."""
    columns = min(columns, count)
    axes = figure.subplots(-(-count // columns), columns, squeeze=False, **options)
    for axis in axes.flat[count:]:
        axis.set_axis_off()
    return list(axes.flat[:count])


def style(axis: Axes, title: str = '', x: str = '', y: str = '', grid: str = 'y') -> None:
    """Give an axis its title, labels and look; `grid` is 'x', 'y', 'both' or '' for none."""
    if title:
        axis.set_title(title, fontsize=TEXT + 1)
    axis.set_xlabel(x, fontsize=TEXT)
    axis.set_ylabel(y, fontsize=TEXT)
    axis.tick_params(labelsize=SMALL)
    axis.tick_params(which='minor', labelsize=SMALL - 1)
    axis.spines[['top', 'right']].set_visible(False)
    axis.set_axisbelow(True)
    if grid:
        axis.grid(axis=grid, color='0.9')  # type: ignore[arg-type]


def plain_numbers(axis: Axis) -> None:
    """Label a logarithmic axis with 0.1, 1, 10, and a short one also with 2 and 5."""
    low, high = sorted(axis.get_view_interval())
    short = high / low < _SHORT
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,), numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f'{value:g}'.replace('e-0', 'e-')))
    axis.set_minor_formatter(NullFormatter())


def look(number: int) -> Look:
    """Return colour and line style of the curve with this number, from 0."""
    dashes, color = divmod(number, len(COLORS))
    return {'color': COLORS[color], 'ls': _DASHES[dashes % len(_DASHES)]}


def legend(owner: Axes | Figure | SubFigure, **options: object) -> None:
    """Add a legend without a frame."""
    owner.legend(**{'fontsize': SMALL + 0.5, 'frameon': False, **options})


def name_ends(axis: Axes) -> None:
    """Write each line's label next to its last point, in its colour; names do not overlap.

    Call it when the axis has its limits and scale. Lines whose label begins with '_' have none.
    """
    from scipy.optimize import isotonic_regression  # half a second, which few pictures need

    figure = axis.get_figure()
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()  # only now the axis has its height
    lines = [line for line in axis.get_lines() if not str(line.get_label()).startswith('_')]
    points = [np.asarray(line.get_xydata(), dtype=float) for line in lines]
    ends = np.array([xy[np.isfinite(xy).all(axis=1)][-1] for xy in points])
    ends = np.clip(axis.transAxes.inverted().transform(axis.transData.transform(ends)), 0.0, 1.0)
    heights = ends[:, 1].copy()
    spacing = _LINE_HEIGHT * SMALL / 72.0 * figure.dpi / axis.get_window_extent().height
    order, places = np.argsort(heights, kind='stable'), spacing * np.arange(len(lines))
    # With the spacing taken out, the nearest heights in their order are those that never fall.
    heights[order] = places + isotonic_regression(heights[order] - places).x
    for line, end, height in zip(lines, ends, heights, strict=True):
        arrow = {'arrowstyle': '-', 'color': line.get_color(), 'lw': 0.6, 'relpos': (0.0, 0.5)}
        axis.annotate(
            str(line.get_label()), end, (1.04, height), xycoords='axes fraction', va='center',
            fontsize=SMALL, color=line.get_color(), annotation_clip=False, arrowprops=arrow,
        )  # fmt: skip


def warm_up() -> None:
    """Load fonts, text on logarithmic axes and three dimensions for the first picture."""
    from mpl_toolkits.mplot3d import Axes3D

    figure = new_figure(4.0, 2.0, fixed=True)
    figure.add_axes(Axes3D(figure))
    figure.add_axes((0.5, 0.2, 0.5, 0.7)).semilogy([1e-3, 1.0])
    figure.draw_without_rendering()


def save(figure: Figure, path: Path | str) -> None:
    """Write a figure as PNG with 256 colours, which is a third as large as with all."""
    data = io.BytesIO()
    figure.savefig(data, dpi=_DPI)
    with whole_file(path) as file, Image.open(data) as drawn:
        full = drawn.convert('RGB')
        # This method keeps colours of thin lines; to look at every pixel takes it half a second.
        some = full.resize((full.width // 2, full.height // 2), Image.Resampling.NEAREST)
        colours = some.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1)
        few = full.quantize(palette=colours, dither=Image.Dither.NONE)
        few.save(file, 'png')


def show(figure: Figure, path: Path | str) -> None:
    """Show a figure below the cell of a notebook; elsewhere write it, and print where it is."""
    if in_notebook():
        display(figure)
    else:
        save(figure, path)
        print(f'wrote {path}')
