"""Pictures as files: one as PNG, many as GIF (Pillow) or MP4 (ffmpeg)."""

import math
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image

from arm_dynamics.checks import ArmError, Array, typed
from arm_sim.output_folder import whole_file
from arm_tools.view.offscreen import Picture

KINDS = {'.png': 0.0, '.gif': 12.5, '.mp4': 25.0}  # pictures per second
MOST = 1000  # pictures in a GIF, which is made in memory
_COLOURS = 160  # of 256: fewer make a smaller file


def check_file(path: Path, count: int) -> None:
    """Check a file that is to hold `count` pictures.

    Raises:
        ArmError: another kind than KINDS, too many pictures, no ffmpeg or no such folder.
    """
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise ArmError(f'output {str(path)!r} must end in {", ".join(KINDS)}')
    if kind == '.gif' and count > MOST:
        raise ArmError(
            f'output {str(path)!r} would have {count} pictures; a GIF has at most {MOST}: '
            'raise --speed, choose a part by --from and --to, or write an .mp4'
        )
    if kind == '.mp4' and not ffmpeg():
        raise ArmError(
            f'output {str(path)!r} needs ffmpeg: "{typed("pip install imageio-ffmpeg")}", '
            '"sudo apt install ffmpeg", or write a .gif'
        )
    if not path.expanduser().absolute().parent.is_dir():
        raise ArmError(f'output {str(path)!r}: no such folder {str(path.parent)!r}')


def usual_speed(path: Path, duration: float) -> int:
    """Return the smallest whole speed, 1 or more, at which a film of this duration [s] fits."""
    longest = (MOST - 1) / KINDS['.gif']
    return max(1, math.ceil(duration / longest)) if path.suffix.lower() == '.gif' else 1


def ffmpeg() -> str:
    """Return the path of ffmpeg, imageio-ffmpeg's or the system's; '' if none is installed."""
    with suppress(ImportError, RuntimeError):
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    return shutil.which('ffmpeg') or ''


def write_png(path: Path, picture: Picture) -> None:
    """Write one picture."""
    with whole_file(path) as file:
        Image.fromarray(picture).save(file, 'png', optimize=True)


def write_gif(
    path: Path, pictures: Iterator[Picture], some: Sequence[Picture], colours: Array
) -> None:
    """Write pictures as a GIF that repeats, in the colours of `some` and in `colours` (c, 4)."""
    sample = [Image.fromarray(each) for each in some]
    width, height = sample[0].size
    sheet = Image.new('RGB', (width, height * len(sample)))
    for row, each in enumerate(sample):
        sheet.paste(each, (0, row * height))
    own = np.round(255 * colours[:, :3]).astype(int).ravel().tolist()
    found = sheet.quantize(_COLOURS - len(colours), dither=Image.Dither.NONE)
    palette = Image.new('P', (1, 1))
    palette.putpalette([*(found.getpalette() or []), *own])
    images = (
        Image.fromarray(each).quantize(palette=palette, dither=Image.Dither.NONE)
        for each in pictures
    )
    first = next(images)
    with whole_file(path) as file:
        first.save(
            file, 'gif', save_all=True, append_images=images, loop=0, optimize=True,
            duration=round(1000 / KINDS['.gif']), disposal=1,
        )  # fmt: skip


def write_mp4(path: Path, pictures: Iterator[Picture], size: tuple[int, int]) -> None:
    """Write pictures as an MP4 that browsers play (H.264, yuv420p)."""
    with whole_file(path) as file:
        encoder = subprocess.Popen(
            [
                ffmpeg(), '-y', '-loglevel', 'error', '-f', 'rawvideo', '-pix_fmt', 'rgb24',
                '-s', f'{size[0]}x{size[1]}', '-r', f'{KINDS[".mp4"]:g}', '-i', '-',
                '-c:v', 'libx264', '-crf', '20', '-pix_fmt', 'yuv420p',
                '-movflags', '+faststart', '-f', 'mp4', file.name,
            ],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            _feed(encoder.stdin, pictures)
            errors = encoder.communicate()[1].decode(errors='replace').strip()
        except BaseException:
            encoder.kill()
            encoder.wait()
            raise
        if encoder.returncode:
            last = (errors.splitlines() or [f'exit code {encoder.returncode}'])[-1]
            raise ArmError(f'{str(path)!r} cannot be written: ffmpeg: {last}')


def _feed(stream: IO[bytes] | None, pictures: Iterator[Picture]) -> None:
    assert stream is not None
    with suppress(BrokenPipeError):  # ffmpeg has ended, and its error is read below
        for picture in pictures:
            stream.write(picture.tobytes())
