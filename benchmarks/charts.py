"""Charts of measured numbers as small SVG files: bars, dots with their intervals, and lines.

Each has a title and a description for screen readers; the table below it has all numbers. The same
numbers give the same file, so that a test can hold picture and numbers equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

# The colours in the dark, the same in all pictures of the documentation.
DARK = Path(__file__).parents[1] / "docs" / "pictures" / "dark.css"
WIDTH, MARGIN, TOP = 760, 24, 66
ROW, GAP, STEP = 17, 9, 16
COLOURS = ("#2f6fce", "#c66a00", "#2c8a4b", "#8a4fbf", "#b3261e", "#44546a", "#008b8b", "#9a7b00")
INK, FAINT = "#1b2430", "#d5dae2"
DASHES = ("", "6 4", "2 3", "9 3 2 3")
Series = Mapping[str, Mapping[str, float]]
Curves = Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class Chart:
    """The words of a chart and the kind of its axes."""

    title: str
    unit: str
    form: str = "g"
    is_log: bool = False
    # The word below the horizontal axis of lines, which may be logarithmic, too.
    below: str = ""
    is_log_below: bool = False


@dataclass(frozen=True)
class Axis:
    """Values at places between two pixels."""

    low: float
    high: float
    first: float
    last: float
    is_log: bool

    def place(self, value: float) -> float:
        """Return the pixel of a value."""
        turn: Callable[[float], float] = math.log10 if self.is_log else float
        share = (turn(value) - turn(self.low)) / (turn(self.high) - turn(self.low))
        return self.first + share * (self.last - self.first)

    def ticks(self) -> list[float]:
        """Return round values between the ends."""
        if self.is_log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            found = [m * 10.0**p for p in powers for m in (1, 3)]
        else:
            rough = (self.high - self.low) / 5
            size = 10.0 ** math.floor(math.log10(rough))
            step = next(m * size for m in (1, 2, 5, 10) if m * size >= rough)
            found = [step * n for n in range(math.ceil(self.low / step), 1 + int(self.high / step))]
        return [one for one in found if self.low <= one * (1 + 1e-9) and one <= self.high]


def bars(chart: Chart, series: Series) -> str:
    """Return a group of horizontal bars for each label, one bar for each series."""
    labels = list(dict.fromkeys(label for values in series.values() for label in values))
    least = min(value for values in series.values() for value in values.values())
    most = max(value for values in series.values() for value in values.values())
    left = MARGIN + 7.4 * max(map(len, labels)) + 8
    low = 10.0 ** math.floor(math.log10(least) - 0.01) if chart.is_log else min(0.0, least * 1.08)
    axis = Axis(low, most * 1.05, left, WIDTH - 90, chart.is_log)
    group = ROW * len(series) + GAP
    height = TOP + group * len(labels) + 34
    parts = [_grid(axis, TOP, height - 30)]
    for number, label in enumerate(labels):
        top = TOP + GAP / 2 + number * group
        parts.append(_text(left - 8, top + ROW * len(series) / 2 + 4, label, "end"))
        for row, (values, colour) in enumerate(zip(series.values(), COLOURS, strict=False)):
            if label in values:
                parts.append(_bar(axis, values[label], top + row * ROW, colour, chart.form))
    return _page(chart, height, [*parts, _legend(list(series))])


def _bar(axis: Axis, value: float, top: float, colour: str, form: str) -> str:
    zero = axis.place(max(axis.low, 0.0) if not axis.is_log else axis.low)
    ends = sorted((zero, axis.place(value)))
    box = f'x="{ends[0]:.1f}" y="{top:.1f}" width="{ends[1] - ends[0]:.1f}" height="{ROW - 3}"'
    return f'<rect {box} fill="{colour}"/>' + _text(ends[1] + 5, top + 11, f"{value:{form}}")


def dots(chart: Chart, values: Mapping[str, tuple[float, float, float]]) -> str:
    """Return a dot with its interval for each label: value, low and high."""
    left = MARGIN + 7.4 * max(map(len, values)) + 8
    low = min(one[1] for one in values.values())
    high = max(one[2] for one in values.values())
    room = 0.08 * (high - low)
    axis = Axis(low - room, high + room, left, WIDTH - 90, is_log=False)
    height = TOP + 36 * len(values) + 34
    parts = [_grid(axis, TOP, height - 30)]
    for number, (label, (value, least, most)) in enumerate(values.items()):
        y, colour = TOP + 20 + 36 * number, COLOURS[0]
        line = f"M{axis.place(least):.1f} {y}H{axis.place(most):.1f}"
        parts += [
            _text(left - 8, y + 4, label, "end"),
            f'<path d="{line}" stroke="{colour}" stroke-width="3"/>',
            f'<circle cx="{axis.place(value):.1f}" cy="{y}" r="6" fill="{colour}"/>',
            _text(axis.place(value), y - 9, f"{value:{chart.form}}", "middle"),
        ]
    return _page(chart, height, parts)


def lines(chart: Chart, curves: Curves) -> str:
    """Return a curve for each series, with its name at its end."""
    xs = [x for points in curves.values() for x, _ in points]
    ys = [y for points in curves.values() for _, y in points]
    height, right = TOP + 330, WIDTH - 20 - 7.2 * max(map(len, curves))
    across = Axis(min(xs), max(xs), MARGIN + 44, right, chart.is_log_below)
    room = 1.1 if chart.is_log else 1 + 0.05 * (max(ys) - min(ys)) / max(ys)
    down = Axis(min(ys) / room, max(ys) * room, height - 56, TOP, chart.is_log)
    parts = [_grid(across, TOP, height - 56), _grid_across(down, MARGIN + 44, right)]
    ends = _spread(
        {name: down.place(points[-1][1]) for name, points in curves.items()}, height - 56
    )
    for number, (name, points) in enumerate(curves.items()):
        colour, dash = (
            COLOURS[number % len(COLOURS)],
            DASHES[(number + number // len(COLOURS)) % len(DASHES)],
        )
        path = "L".join(f"{across.place(x):.1f} {down.place(y):.1f}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(
            f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2.5"{dashes}/>'
        )
        last = across.place(points[-1][0])
        parts.append(_text(last + 6, ends[name] + 4, name, colour=colour))
    parts.append(_text((MARGIN + 44 + right) / 2, height - 12, chart.below, "middle"))
    return _page(chart, height, parts)


def _spread(places: Mapping[str, float], bottom: float) -> dict[str, float]:
    """Move names that would lie over each other apart, in their order, and none below the end."""
    ordered = sorted(places, key=places.__getitem__)
    found: dict[str, float] = {}
    last = -math.inf
    for name in ordered:
        found[name] = last = max(places[name], last + STEP)
    last = bottom + STEP
    for name in reversed(ordered):
        found[name] = last = min(found[name], last - STEP)
    return found


def _grid(axis: Axis, top: float, bottom: float) -> str:
    parts = []
    for value in axis.ticks():
        x = axis.place(value)
        parts.append(f'<path d="M{x:.1f} {top}V{bottom}" stroke="{FAINT}"/>')
        parts.append(_text(x, bottom + 18, f"{value:g}", "middle"))
    return "".join(parts)


def _grid_across(axis: Axis, left: float, right: float) -> str:
    parts = []
    for value in axis.ticks():
        y = axis.place(value)
        parts.append(f'<path d="M{left} {y:.1f}H{right:.1f}" stroke="{FAINT}"/>')
        parts.append(_text(left - 6, y + 4, f"{value:g}", "end"))
    return "".join(parts)


def _legend(names: Sequence[str]) -> str:
    if len(names) < 2:
        return ""
    parts, x = [], float(MARGIN)
    for name, colour in zip(names, COLOURS, strict=False):
        parts.append(f'<rect x="{x:.1f}" y="45" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(x + 17, 55, name))
        x += 17 + 7.2 * len(name) + 20
    return "".join(parts)


def _text(x: float, y: float, words: str, anchor: str = "start", colour: str = INK) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"'
    return f"<text {place}>{escape(words)}</text>"


def _page(chart: Chart, height: float, parts: Sequence[str]) -> str:
    """Put the parts on a card, white or dark, with the words that a screen reader says."""
    head = f"{escape(chart.title)}"
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img"'
        ' aria-labelledby="t d" font-family="system-ui, sans-serif" font-size="12.5">'
    )
    card = f'<rect width="{WIDTH}" height="{height:.0f}" rx="10" fill="#ffffff"/>'
    title = f'<text x="{MARGIN}" y="20" font-size="15" font-weight="600" fill="{INK}">{head}</text>'
    unit = _text(MARGIN, 38, chart.unit, colour="#44546a")
    words = f'<title id="t">{head}</title><desc id="d">{escape(chart.unit)}</desc>'
    dark = f"<style>\n{DARK.read_text(encoding='utf-8')}</style>"
    return "\n".join([start, words, dark, card, title, unit, *parts, "</svg>\n"])
