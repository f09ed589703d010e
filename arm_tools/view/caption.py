"""The text over the pictures of a film: title, time, error and the scale of its colours."""

from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from arm_tools.view.error_scale import SMALLEST, ErrorScale
from arm_tools.view.offscreen import Picture

_INK, _QUIET, _PANEL = (28, 32, 38, 255), (90, 96, 104, 255), (255, 255, 255, 190)


class Caption:
    """Writes title, time and error on pictures of one size."""

    def __init__(self, width: int, height: int, title: str, scale: ErrorScale | None):
        """Prepare the title, and the scale of errors where there is one."""
        self._size = size = max(9, round(min(height / 30.0, width / 42.0)))
        fonts = Path(matplotlib.get_data_path(), 'fonts', 'ttf')
        self._font = ImageFont.truetype(fonts / 'DejaVuSans.ttf', size)
        bold = ImageFont.truetype(fonts / 'DejaVuSans-Bold.ttf', size)
        self._over = Image.new('RGBA', (width, height))
        draw, edge = ImageDraw.Draw(self._over), size
        while draw.textlength(title, font=bold) > width - 2 * edge:
            title = f'{title.removesuffix("…")[:-1]}…'
        box = draw.textbbox((edge, edge), title, font=bold)
        draw.rounded_rectangle(_around(box, 0.5 * size), 0.4 * size, fill=_PANEL)
        draw.text((edge, edge), title, font=bold, fill=_INK)
        self._line = (edge, height - 2.0 * size)
        if scale is not None:
            self._draw_scale(draw, width, height, scale)

    def _draw_scale(
        self, draw: ImageDraw.ImageDraw, width: int, height: int, scale: ErrorScale
    ) -> None:
        size, font = self._size, self._font
        length = round(0.28 * width)
        left, top = width - length - 2 * size, height - round(3.1 * size)
        box = (left - size, top - 1.9 * size, left + length + size, height - 0.5 * size)
        draw.rounded_rectangle(box, 0.4 * size, fill=_PANEL)
        draw.text((left, top - 1.6 * size), 'tracking error [mm]', font=font, fill=_INK)
        errors = 10.0 ** (np.linspace(scale.low, scale.high, length) - 3)
        colours = np.round(255 * scale.palette[scale.levels(errors)]).astype(int)
        for k, colour in enumerate(colours):
            draw.line((left + k, top, left + k, top + 0.7 * size), fill=tuple(colour))
        for exponent in range(scale.low, scale.high + 1):
            at = left + length * (exponent - scale.low) / (scale.high - scale.low)
            draw.line((at, top + 0.7 * size, at, top + size), fill=_QUIET)
            if exponent in (scale.low, scale.high):
                text = f'{10.0**exponent:g}'
                anchor = 'la' if exponent == scale.low else 'ra'
                draw.text((at, top + 1.1 * size), text, font=font, fill=_QUIET, anchor=anchor)

    def on(self, picture: Picture, t: float, error: float) -> Picture:
        """Return a picture with its time [s] and its error [m], nan if unknown, written on it."""
        text = f't = {t:.2f} s'
        if np.isfinite(error):
            text += f'    error {error_text(error * 1e3)} mm'
        image = Image.fromarray(picture).convert('RGBA')
        image.alpha_composite(self._over)
        draw = ImageDraw.Draw(image, 'RGBA')
        widest = draw.textbbox(self._line, 't = 000.00 s', font=self._font)
        box = draw.textbbox(self._line, text, font=self._font)
        widest = (*widest[:2], max(widest[2], box[2]), widest[3])
        draw.rounded_rectangle(_around(widest, 0.5 * self._size), 0.4 * self._size, fill=_PANEL)
        draw.text(self._line, text, font=self._font, fill=_INK)
        return np.asarray(image.convert('RGB'))


def error_text(error: float) -> str:
    """Return an error [mm] with two digits or more, without an exponent if large."""
    if not error > SMALLEST:
        return f'< {SMALLEST:g}'
    return f'{error:.2g}' if error < 99.5 else f'{error:.0f}'


def _around(box: tuple[float, ...], margin: float) -> tuple[float, float, float, float]:
    left, top, right, bottom = box
    return left - margin, top - margin, right + margin, bottom + margin
