# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pictures into films: a GIF always, an MP4 where ffmpeg is installed."""
from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image

from legged_dynamics.exceptions import OutputError

NEAR_WHITE = 244
PLACES = np.array([1 << 16, 1 << 8, 1])
COLORS = 128        # of a GIF; flat colours and the smoothed edges between them


def write_film(frames: Iterable[np.ndarray], frame_rate: float, folder: Path, name: str,
               samples: Sequence[np.ndarray]) -> list[Path]:
    """
    Write a film and return its files.

    Parameters
    ----------
    frames : iterable of (height, width, 3) arrays of uint8
        At least one; all of one size.
    frame_rate : float [1/s]
        A GIF counts in hundredths of a second: 20, 25 and 50 are exact.
    folder : Path
        Where the files go.
    name : str
        Of the files, without suffix.
    samples : sequence of frames
        Some that have all the film's colours, of which the GIF's palette is made.

    Raises
    ------
    OutputError
        When there is no frame, ffmpeg fails, or the folder cannot be written.

    """
    gif, mp4 = folder / f'{name}.gif', folder / f'{name}.mp4'
    pictures: list[Image.Image] = []
    palette = palette_of(samples)
    started = False
    try:
        with ExitStack() as stack:
            ffmpeg: subprocess.Popen | None = None
            for frame in frames:
                image = Image.fromarray(frame)
                if not started:
                    started = True
                    ffmpeg = _start_ffmpeg(image.size, frame_rate, mp4)
                    if ffmpeg is not None:
                        stack.enter_context(ffmpeg)
                pictures.append(image.quantize(palette=palette, dither=Image.Dither.NONE))
                if ffmpeg is not None:
                    _pipe(ffmpeg).write(_even(frame).tobytes())
        if not pictures:
            raise OutputError('expected at least one frame, got none')
        pictures[0].save(gif, save_all=True, append_images=pictures[1:], loop=0, optimize=False,
                         duration=round(1000.0 / frame_rate))
    except OSError as error:
        raise OutputError(f'cannot write the film to {folder}: {error}') from error
    if ffmpeg is None:
        return [gif]
    if ffmpeg.returncode:
        raise OutputError(f'ffmpeg ended with code {ffmpeg.returncode} while writing {mp4}')
    return [gif, mp4]


def palette_of(samples: Sequence[np.ndarray]) -> Image.Image:
    """Return the picture of a palette in which a colour counts however small its area is."""
    # Colours as one number each, rounded: sorting rows of three would take seconds.
    numbers = np.concatenate([np.unique((frame & 0xfc) @ PLACES) for frame in samples])
    colors = np.unique(numbers)[:, None] // PLACES % 256
    # What was rounded down to a multiple of 4 goes back up, white to white.
    colors = (colors + colors // 64).astype(np.uint8)
    # White is most of a picture, and must not come out as one of its neighbours.
    colors = colors[colors.min(axis=1) < NEAR_WHITE]
    chosen = Image.fromarray(colors[None]).quantize(COLORS - 1, Image.Quantize.MEDIANCUT)
    palette = Image.new('P', (1, 1))
    palette.putpalette([255, 255, 255, *(chosen.getpalette() or [])[:3 * (COLORS - 1)]])
    return palette


def _start_ffmpeg(size: Sequence[int], frame_rate: float, path: Path) -> subprocess.Popen | None:
    program = shutil.which('ffmpeg')
    if program is None:
        return None
    width, height = (length - length % 2 for length in size)
    return subprocess.Popen(
        [program, '-loglevel', 'error', '-y', '-f', 'rawvideo', '-pix_fmt', 'rgb24',
         '-s', f'{width}x{height}', '-r', f'{frame_rate:g}', '-i', '-', '-pix_fmt', 'yuv420p',
         str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)


def _pipe(process: subprocess.Popen) -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin


def _even(frame: np.ndarray) -> np.ndarray:
    """Return a frame cut to even lengths, which video codecs ask for."""
    return frame[:frame.shape[0] // 2 * 2, :frame.shape[1] // 2 * 2]
