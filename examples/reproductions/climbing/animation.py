# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A climb as a sequence of pictures: the robot on its wall, and its feet's forces over time."""
from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon
from matplotlib.ticker import FuncFormatter
from PIL import Image

from legged_dynamics.exceptions import OutputError
from legged_dynamics.pages import style
from legged_dynamics.pages.page import foot_color
from legged_dynamics.reproductions.climbing.comparison import Attempt
from legged_dynamics.reproductions.climbing.plots import (
    BODY_EDGE,
    PAD,
    Climber,
    Look,
    arrow_outlines,
    limb_length,
    pad_outline,
    reach_of,
    round_force,
)
from legged_dynamics.stickybot import StickybotModel

SIZE = (9.2, 6.4)                   # inch
DPI = 90                            # dots per inch
WALL = (0.075, 0.085, 0.52, 0.845)  # left, bottom, width, height; parts of the figure
STRIPS = {'left': 0.69, 'right': 0.975, 'bottom': 0.32, 'top': 0.93}
KEY = (0.635, 0.015, 0.355, 0.215)
TALLEST = 0.62                      # m of wall seen at once; beyond it the picture follows
FOLLOW = 0.02                       # m by which it does so
DEEPEST = 0.5                       # m below the start at which a fall has been seen
MOST_STRIPS = 6
LONGEST_ARROW = 4.0                 # of an arrow of usual size
SAMPLES = 7                         # pictures whose colours a palette is made of


class ClimbAnimation:
    """Draws a climb, frame by frame; ``frame_rate`` at most one a sample [1/s]."""

    def __init__(self, model: StickybotModel, attempt: Attempt, title: str,
                 frame_rate: float = 25.0):
        trace = attempt.trace
        assert trace is not None, 'the attempt was made with a trace'
        self._model, self._trace, self._pads = model, trace, attempt.pads
        self._force = np.hypot(trace.reaction[..., 0], trace.reaction[..., 1])
        fallen = trace.pose[:, 1] < trace.pose[0, 1] - DEEPEST
        self._last = int(fallen.argmax()) if fallen.any() else len(trace.time) - 1
        self.frame_rate = min(frame_rate, 1.0 / float(trace.time[1] - trace.time[0]))
        seconds = float(trace.time[self._last] - trace.time[0])
        self.n_frames = max(math.floor(seconds * self.frame_rate), 1)
        pulls = self._force[:self._last + 1][self._force[:self._last + 1] > 1e-6]
        self._usual = float(np.quantile(pulls, 0.8)) if pulls.size else 1.0
        self._unit, self._scale = round_force(model, self._usual)
        self._figure = Figure(figsize=SIZE, dpi=DPI)
        self._canvas = FigureCanvasAgg(self._figure)
        self._wall = self._figure.add_axes(WALL)
        strips = min(model.n_limbs, MOST_STRIPS)
        grid = self._figure.add_gridspec(strips, 1, **STRIPS, hspace=0.11 * strips)
        self._strips = [self._figure.add_subplot(row) for row in grid]
        self._climber = Climber(self._wall, model, self._scale, animated=True)
        # Larger forces are clipped.
        self._farthest = 0.95 * limb_length(model) / self._scale
        self._measure()
        self._draw_wall(title)
        self._draw_strips()
        self._draw_key()

    def samples(self) -> list[np.ndarray]:
        """Return pictures (height, width, 3) uint8 over the whole climb, for a palette."""
        times = self._trace.time[:self._last + 1]
        return [self.picture(float(times[int(k)]))
                for k in np.linspace(0.0, len(times) - 1.0, SAMPLES)]

    def frames(self) -> Iterator[np.ndarray]:
        """Yield every picture (height, width, 3) of uint8, RGB."""
        background, seen = None, math.nan
        for frame in range(self.n_frames):
            time = self._trace.time[0] + frame / self.frame_rate
            sample = int(np.searchsorted(self._trace.time, time - 1e-9))
            low = self._low(sample)
            if background is None or low != seen:
                background, seen = self._background(low), low
            self._canvas.restore_region(background)
            yield self._picture(sample)

    def picture(self, time: float) -> np.ndarray:
        """Return the picture (height, width, 3) of uint8, RGB, at a time of the climb [s]."""
        sample = int(np.argmin(np.abs(self._trace.time - time)))
        self._background(self._low(sample))
        return self._picture(sample)

    def _measure(self) -> None:
        """Find how much of the wall is seen: all of the climb where that is possible."""
        y, reach = self._trace.pose[:self._last + 1, 1], reach_of(self._model)
        arrows = 1.2 * self._scale * self._usual
        self._bottom = float(y.min()) - reach[1] - arrows
        top = float(y.max()) + reach[1] + 2.0 * arrows
        narrowest = 2.0 * (reach[0] + arrows)
        shape = (WALL[2] * SIZE[0]) / (WALL[3] * SIZE[1])
        self._tall = max(min(top - self._bottom, TALLEST), narrowest / shape)
        self._top = max(top, self._bottom + self._tall)
        self._wide = self._tall * shape

    def _low(self, sample: int) -> float:
        """Return the lowest height seen [m]."""
        # In steps, since the background is drawn again with each.
        low = FOLLOW * round((float(self._trace.pose[sample, 1]) - 0.5 * self._tall) / FOLLOW)
        return min(max(low, self._bottom), self._top - self._tall)

    def _background(self, low: float) -> object:
        self._wall.set_ylim(low, low + self._tall)
        self._canvas.draw()
        return self._canvas.copy_from_bbox(self._figure.bbox)

    def _picture(self, sample: int) -> np.ndarray:
        trace = self._trace
        on = trace.attached[sample]
        pads = [] if self._pads is None else [
            pad_outline(pad, trace.normal_load[sample, i], trace.pad_angle[sample, i],
                        self._farthest)
            for i, pad in enumerate(self._pads) if on[i]]
        self._climber.show(Look(
            trace.pose[sample], trace.foot[sample], trace.joint[sample],
            _shortened(trace.reaction[sample], LONGEST_ARROW * self._usual), on,
            trace.foot[sample][on], pads))
        self._trail.set_data(trace.pose[:sample + 1, 0], trace.pose[:sample + 1, 1])
        at, feet = np.nonzero(trace.attached[:sample] & ~trace.attached[1:sample + 1])
        self._prints.set_offsets(trace.foot[at, feet] if len(at) else [[math.nan] * 2])
        self._prints.set_color([foot_color(foot) for foot in feet])
        time = float(trace.time[sample])
        self._clock.set_text(f'{time:5.2f} s   '
                             f'{100.0 * (trace.pose[sample, 1] - trace.pose[0, 1]):+6.1f} cm')
        for artist in (self._prints, self._trail, *self._climber.artists, self._clock):
            self._wall.draw_artist(artist)
        for axes, cursor in zip(self._strips, self._cursors):
            cursor.set_xdata([time, time])
            axes.draw_artist(cursor)
        return np.asarray(self._canvas.buffer_rgba())[..., :3].copy()

    def _draw_wall(self, title: str) -> None:
        axes = self._wall
        axes.set_xlim(-self._wide / 2.0, self._wide / 2.0)
        style.dress(axes, x='x [cm]', y='y, up the slope [cm]')
        axes.set_title(title, loc='left', fontsize=11, color=style.TEXT, pad=8)
        in_cm = FuncFormatter(lambda value, _: f'{100.0 * value:g}')
        axes.xaxis.set_major_formatter(in_cm)
        axes.yaxis.set_major_formatter(in_cm)
        self._trail, = axes.plot([], [], color='#777777', linewidth=1.3, zorder=4.5,
                                 animated=True)
        self._prints = axes.scatter([], [], s=22, marker='x', linewidths=1.1, zorder=1,
                                    animated=True)
        self._clock = axes.text(0.02, 0.985, '', transform=axes.transAxes, va='top', fontsize=10,
                                color=style.TEXT, family='monospace', animated=True)

    def _draw_strips(self) -> None:
        shown = slice(0, self._last + 1)
        time, force, on = (self._trace.time[shown], self._force[shown],
                           self._trace.attached[shown])
        top = 1.1 * float(np.quantile(force[on], 0.999)) if on.any() else 1.0
        self._cursors = []
        last = len(self._strips) - 1
        for i, axes in enumerate(self._strips):
            style.line(axes, time, np.where(on[:, i], force[:, i], np.nan), color=foot_color(i),
                       linewidth=1.3)
            style.dress(axes, y='|F| [N]', title=self._model.limb_names[i].replace('_', ' '),
                        x='time [s]' if i == last else '')
            axes.set(xlim=(time[0], time[-1]), ylim=(0.0, max(top, 1e-3)))
            axes.tick_params(labelbottom=i == last)
            self._cursors.append(axes.axvline(time[0], color=style.TEXT, linewidth=1.0,
                                              animated=True))
        if self._model.n_limbs > len(self._strips):
            self._strips[0].set_title(f'{len(self._strips)} of {self._model.n_limbs} feet',
                                      loc='right', fontsize=8.5, color=style.TEXT)
        self._figure.align_ylabels(self._strips)

    def _draw_key(self) -> None:
        """Draw what the marks mean, the scale of the arrows, and the wall from the side."""
        marks: list[Artist] = [
            Line2D([], [], marker='o', color='none', markeredgecolor='#777777',
                   markeredgewidth=1.5, markerfacecolor='white', label='foot off the wall'),
            Line2D([], [], marker='x', color='none', markeredgecolor='#777777',
                   label='where feet were')]
        if self._pads is not None:
            largest = max(pad.shear for pad in self._pads)
            cut = f', to {self._farthest:.2g} N' if largest > self._farthest else ''
            marks.append(Patch(color=PAD, alpha=0.3, label=f'held by the pads{cut}'))
        axes = self._figure.add_axes(KEY)
        axes.set(xlim=(0.0, KEY[2] * SIZE[0]), ylim=(0.0, KEY[3] * SIZE[1]))
        axes.axis('off')
        # In inches, as the wall draws them.
        inch = WALL[3] * SIZE[1] / self._tall
        corner, arrow = np.array([[0.13, 0.2]]), np.array([[inch * self._scale * self._unit, 0.0]])
        axes.add_patch(Polygon(arrow_outlines(corner, arrow, inch * self._climber.arrow_width)[0],
                               facecolor=style.TEXT))
        axes.text(0.22 + arrow[0, 0], 0.2, f'{self._unit:g} N', fontsize=9, va='center',
                  color=style.TEXT)
        style.legend(axes, handles=marks, loc='lower left', bbox_to_anchor=(0.0, 0.27),
                     borderaxespad=0.0, borderpad=0.2)
        _side_view(axes.inset_axes((0.72, 0.02, 0.28, 0.72)), self._model)


def _shortened(vectors: np.ndarray, longest: float) -> np.ndarray:
    """Return vectors, (m, 2), no longer than that, in their own directions."""
    size = np.hypot(vectors[:, 0], vectors[:, 1])
    return vectors * np.minimum(1.0, longest / np.maximum(size, 1e-300))[:, None]


def _side_view(inset: Axes, model: StickybotModel) -> None:
    """Draw the wall from the side, with gravity."""
    angle = model.wall.inclination
    along = np.array([math.cos(angle), math.sin(angle)])
    outwards = np.array([-along[1], along[0]])
    inset.plot(*np.outer((-1.0, 1.0), along).T, color=style.TEXT, linewidth=2.2)
    for at in np.linspace(-0.9, 0.9, 7):
        inset.plot(*np.array([at * along, (at - 0.12) * along - 0.22 * outwards]).T,
                   color='#999999', linewidth=0.8)
    inset.plot(*(np.array([-0.45 * along, 0.45 * along]) + 0.19 * outwards).T, color=BODY_EDGE,
               linewidth=5.0, solid_capstyle='round')
    inset.annotate('', (1.0, -0.65), (1.0, 0.35), arrowprops={
        'arrowstyle': '-|>', 'color': style.TEXT, 'linewidth': 1.3})
    inset.text(1.12, -0.15, 'g', fontsize=9, color=style.TEXT, va='center')
    inset.text(-1.3, -1.28, f'{math.degrees(angle):.0f}°', fontsize=8.5, color=style.TEXT)
    inset.set(xlim=(-1.45, 1.45), ylim=(-1.4, 1.3), xticks=[], yticks=[], aspect='equal')
    for side in inset.spines.values():
        side.set_color('#dddddd')


# -------------------------------------------------------------------------------------------------
# Films of pictures: always a GIF, and an MP4 where ffmpeg is installed.


NEAR_WHITE = 244
PLACES = np.array([1 << 16, 1 << 8, 1])
COLORS = 128        # of a GIF; flat colours and the smoothed edges between them


def write_film(frames: Iterable[np.ndarray], frame_rate: float, folder: Path, name: str,
               samples: Sequence[np.ndarray]) -> list[Path]:
    """
    Write a film and return its files: GIF, and MP4 where ffmpeg is installed.

    ``samples`` have all colours, for the GIF's palette; its frame rates of 20, 25, 50 are
    exact.
    """
    gif, mp4 = folder / f'{name}.gif', folder / f'{name}.mp4'
    pictures: list[Image.Image] = []
    palette = _palette_of(samples)
    try:
        with _started_ffmpeg(samples[0].shape, frame_rate, mp4) or nullcontext() as ffmpeg:
            for frame in frames:
                pictures.append(Image.fromarray(frame).quantize(palette=palette,
                                                                dither=Image.Dither.NONE))
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


def _palette_of(samples: Sequence[np.ndarray]) -> Image.Image:
    """Return the picture of a palette in which a colour counts however small its area is."""
    # Colours as one number each, rounded: sorting rows of three would take seconds.
    numbers = np.concatenate([np.unique((frame & 0xfc) @ PLACES) for frame in samples])
    colors = np.unique(numbers)[:, None] // PLACES % 256
    # What was rounded down to a multiple of 4 goes back up, white to white.
    colors = (colors + colors // 64).astype(np.uint8)
    # White is most of a picture and must stay white.
    colors = colors[colors.min(axis=1) < NEAR_WHITE]
    chosen = Image.fromarray(colors[None]).quantize(COLORS - 1, Image.Quantize.MEDIANCUT)
    palette = Image.new('P', (1, 1))
    palette.putpalette([255, 255, 255, *(chosen.getpalette() or [])[:3 * (COLORS - 1)]])
    return palette


def _started_ffmpeg(shape: Sequence[int], frame_rate: float, path: Path
                    ) -> subprocess.Popen | None:
    program = shutil.which('ffmpeg')
    if program is None:
        return None
    height, width = (length - length % 2 for length in shape[:2])
    return subprocess.Popen(
        [program, '-loglevel', 'error', '-y', '-f', 'rawvideo', '-pix_fmt', 'rgb24',
         '-s', f'{width}x{height}', '-r', f'{frame_rate:g}', '-i', '-', '-pix_fmt', 'yuv420p',
         str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)


def _pipe(process: subprocess.Popen) -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin


def _even(frame: np.ndarray) -> np.ndarray:
    """Return a frame cut to even lengths, which video codecs require."""
    return frame[:frame.shape[0] // 2 * 2, :frame.shape[1] // 2 * 2]
