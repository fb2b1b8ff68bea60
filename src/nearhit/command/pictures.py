"""The picture of a ranking: horizontal bars, the best feature on top. The same numbers give the same bytes.

Blue and vermilion are from the palette of Okabe and Ito, which people with any kind of colour blindness can tell
apart; the side of the zero line says the same as the colour. Every bar carries its value, so there is no scale.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from typing import Any

BARS_SHOWN = 30
LONGEST_NAME, LONGEST_TITLE, LONGEST_SUBTITLE = 40, 54, 96  # letters
ABOVE, BELOW = "#0072B2", "#D55E00"
INK, QUIET, RULE = "#1a1a1a", "#6b6b6b", "#bdbdbd"
WIDTH, ROW, HEAD, FOOT, EDGE = 8.0, 0.28, 0.95, 0.5, 0.35  # inches
DOTS_PER_INCH = 160


def draw_ranking(scores: Sequence[tuple[str, float]], title: str, subtitle: str) -> bytes:
    """Draw the best features of a ranking.

    Parameters
    ----------
    scores : sequence of (str, float)
        Names and weights, the best first; the first 30 are drawn.
    title, subtitle : str
        What is written above the bars.

    Returns
    -------
    bytes
        A PNG.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = [_shortened(name, LONGEST_NAME) for name, _ in scores[:BARS_SHOWN]]
    weights = [weight for _, weight in scores[:BARS_SHOWN]]
    height = HEAD + FOOT + ROW * len(names)
    figure = Figure(figsize=(WIDTH, height), dpi=DOTS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.5, FOOT / height, 0.4, ROW * len(names) / height))
    with warnings.catch_warnings():
        # Letters that the font does not have are drawn as boxes: the names stand in scores.csv too.
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        _write_head(figure, title, subtitle, height)
        _write_foot(figure, len(names), len(scores), height)
        _draw_bars(axes, names, weights)
        _make_room(figure, axes)
        png = io.BytesIO()
        figure.savefig(png, format="png", metadata={"Software": None})  # no version: same input, same bytes
    return png.getvalue()


def _write_head(figure: Any, title: str, subtitle: str, height: float) -> None:
    x = EDGE / WIDTH
    title, subtitle = _shortened(title, LONGEST_TITLE), _shortened(subtitle, LONGEST_SUBTITLE)
    figure.text(x, 1 - 0.3 / height, title, size=14, weight="bold", color=INK, va="top", parse_math=False)
    figure.text(x, 1 - 0.6 / height, subtitle, size=9, color=QUIET, va="top", parse_math=False)


def _write_foot(figure: Any, n_shown: int, n_features: int, height: float) -> None:
    note = "weight: how much more a feature differs between near rows of different outcome than of the same"
    if n_shown < n_features:
        note = f"the best {n_shown} of {n_features:,} features · {note}"
    figure.text(EDGE / WIDTH, 0.2 / height, note, size=7.5, color=QUIET)


def _draw_bars(axes: Any, names: list[str], weights: list[float]) -> None:
    rows = range(len(names))
    axes.barh(rows, weights, height=0.72, color=[ABOVE if weight > 0 else BELOW for weight in weights])
    axes.axvline(0, color=RULE, linewidth=0.8)
    axes.set_yticks(rows, names, size=9.5, color=INK, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(length=0, pad=8)
    axes.xaxis.set_visible(False)
    axes.spines[:].set_visible(False)
    largest = max(map(abs, weights)) or 1.0
    axes.set_xlim(min(0.0, *weights), max(0.0, *weights) or largest)
    for row, weight in zip(rows, weights, strict=True):
        # Beside the bar; for a bar that goes to the left, in the empty space right of zero, not over the names.
        place = (max(weight, 0.0), row)
        value = _value_text(weight, largest)
        axes.annotate(value, place, (5, 0), textcoords="offset points", size=8.5, color=QUIET, va="center_baseline")


def _make_room(figure: Any, axes: Any) -> None:
    """Move the sides of the axes to where names and values just fit."""
    renderer = figure.canvas.get_renderer()
    for _ in range(3):  # wider axes move the values: this settles at once, or nearly
        around = axes.get_tightbbox(renderer).transformed(figure.transFigure.inverted())
        inside = axes.get_position()
        left = EDGE / WIDTH + (inside.x0 - around.x0)
        right = 1 - EDGE / WIDTH - (around.x1 - inside.x1)
        axes.set_position((left, inside.y0, max(right - left, 0.1), inside.height))


def _value_text(weight: float, largest: float) -> str:
    """As many decimals for all as give the largest three digits."""
    decimals = max(0, 2 - math.floor(math.log10(largest)))
    text = f"{weight:.{decimals}f}" if decimals <= 6 else f"{weight:.2g}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def _shortened(name: str, longest: int) -> str:
    """A name that fits on its line: its beginning and its end."""
    name = "".join(c if c.isprintable() else "�" for c in name)
    half = longest // 2
    return name if len(name) <= longest else f"{name[: half - 1]}…{name[-half:]}"
