"""Charts in SVG: dots, steps and lines on two axes.

Colours come from the classes of the page, so that a chart is dark where the page is. Dots of one
class are one path, and those on one pixel are one dot: thousands stay small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from automl_admm.report.document.html import Markup, tag, together
from automl_admm.report.document.numbers import plain

# Units of the view box; on a phone of 390 pixels they are nearly pixels.
WIDTH, HEIGHT = 420.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 74.0, 12.0, 10.0, 40.0
MARGIN = 0.04  # of the range, so that no dot is cut by a border
MOST_TICKS = 5
# Of the values: on an axis that spans less, the labels would have more digits than room.
LEAST_SPAN = 1e-4
FEWEST_DIGITS, MOST_DIGITS = 4, 12
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
LONGEST_TITLE = 48
# Between two crosses.
ROOM = 4
# More dots than these are drawn smaller.
MANY = 600
# Values that span more are drawn on a logarithmic scale.
WIDE_SPAN = 300.0

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Layer:
    """Points of one look: dots, a line of steps, crosses at the lower border, or a straight line.

    Of spans each two points are the ends of one, level. The class gives the colour; the label
    stands in the legend.
    """

    kind: Literal["dots", "steps", "crosses", "line", "spans"]
    class_: str
    points: Points
    label: str = ""

    def is_drawn(self) -> bool:
        """Return True if there is anything to see: a line has two places or more."""
        if self.kind == "crosses":
            return any(math.isfinite(x) for x, _ in self.points)
        places = {place for place in self.points if all(map(math.isfinite, place))}
        return len(places) > (self.kind in ("line", "steps"))


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from values to the view box."""

    low: float
    high: float
    begin: float
    end: float
    is_log: bool = False

    def place(self, value: float) -> float:
        """Return the place of a value; one beyond an end stands there."""
        low, high, at = (math.log10(v) if self.is_log else v for v in (self.low, self.high, value))
        part = min(max((at - low) / ((high - low) or 1.0), 0.0), 1.0)
        return self.begin + part * (self.end - self.begin)

    def ticks(self) -> list[float]:
        """Return round values along the axis."""
        return _powers(self.low, self.high) if self.is_log else _round_values(self.low, self.high)


@dataclass(frozen=True)
class Chart:
    """A title for screen readers, the names of both axes, the layers, and lines at values of x.

    The label of these lines stands in the legend. Whole numbers on an axis have no ticks between
    them. Values of y far below the others stand on the lower border, unless the chart `shows_all`:
    they would flatten all the rest.
    """

    title: str
    x: str
    y: str
    layers: tuple[Layer, ...]
    marks_x: tuple[float, ...] = ()
    marks_label: str = ""
    may_be_log: bool = False
    has_whole_x: bool = False
    has_whole_y: bool = False
    shows_all: bool = False
    height: float = HEIGHT

    def with_legend(self) -> Markup:
        """Return the legend, and the chart below it."""
        return together(self.legend(), self.drawn())

    def drawn(self) -> Markup:
        """Return the chart as SVG; without a finite point it says so."""
        up = self._up()
        if not up:
            return tag("p", "There is nothing to draw yet.")
        across = [x for one in self.layers for x, _ in one.points if math.isfinite(x)]
        across += self.marks_x
        is_log = self.may_be_log and _spans(across)
        horizontal = _axis(across, LEFT, WIDTH - RIGHT, is_log=is_log)
        if self.has_whole_y:  # room for what is drawn around each
            up = [min(up) - 0.5, max(up) + 0.5]
        vertical = _axis(up if self.shows_all else _without_depths(up), self._bottom, TOP)
        return tag(
            "svg",
            tag("title", self.title),
            self._axes(horizontal, vertical),
            *(_layer(one, horizontal, vertical) for one in self.layers),
            *(_rule(horizontal.place(x), self._bottom) for x in self.marks_x),
            viewBox=f"0 0 {WIDTH:g} {self.height:g}",
            role="img",
            aria_label=self.title,
        )

    @property
    def _bottom(self) -> float:
        return self.height - BOTTOM

    def _up(self) -> list[float]:
        """Return the values of y of all that has a height of its own."""
        points = [p for one in self.layers if one.kind != "crosses" for p in one.points]
        return [y for x, y in points if math.isfinite(x) and math.isfinite(y)]

    def note(self) -> str:
        """Return a sentence, behind a blank, on dots that stand on the lower border, if any do."""
        up = self._up()
        if not up or self.shows_all or len(_without_depths(up)) == len(up):
            return ""
        return " Dots on the lower border are far below it."

    def legend(self) -> Markup:
        """Return the labels of what is drawn, each with its sign."""
        return legend_of([self])

    def signs(self) -> dict[str, Markup]:
        """Return the sign of each label, of what is drawn alone."""
        if not self._up():
            return {}
        found = {one.label: _sign(one) for one in self.layers if one.label and one.is_drawn()}
        if self.marks_x and self.marks_label:
            found[self.marks_label] = _picture("line rule", "M8 0v12")
        return found

    def _axes(self, horizontal: Axis, vertical: Axis) -> Markup:
        bottom, middle = self._bottom, (LEFT + WIDTH - RIGHT) / 2
        return together(
            *(
                _tick_x(horizontal.place(v), bottom, label)
                for v, label in _labelled(_ticks(horizontal, is_whole=self.has_whole_x))
            ),
            *(
                _tick_y(vertical.place(v), label)
                for v, label in _labelled(_ticks(vertical, is_whole=self.has_whole_y))
            ),
            tag("path", class_="axis", d=f"M{LEFT:g} {TOP:g}V{bottom:g}H{WIDTH - RIGHT:g}"),
            _text(middle, self.height - 6, _short(self.x), text_anchor="middle"),
            tag(
                "text",
                _short(self.y),
                transform=f"translate(12 {(TOP + bottom) / 2:g}) rotate(-90)",
                text_anchor="middle",
            ),
        )


def legend_of(charts: Iterable[Chart]) -> Markup:
    """Return one legend of several charts: what any of them draws, each label once."""
    signs = {label: sign for chart in charts for label, sign in chart.signs().items()}
    return tag("ul", *(tag("li", sign, label) for label, sign in signs.items()), class_="legend")


def _ticks(axis: Axis, *, is_whole: bool) -> list[float]:
    found = axis.ticks()
    return [value for value in found if value == int(value)] if is_whole else found


def _labelled(ticks: Sequence[float]) -> list[tuple[float, str]]:
    """Pair ticks with their labels, which have the digits that tell them apart."""
    labels: list[str] = []
    for digits in range(FEWEST_DIGITS, MOST_DIGITS + 1):
        labels = [plain(value, digits) for value in ticks]
        pairs = zip(ticks, labels, strict=True)
        if all(math.isclose(value, float(label), rel_tol=1e-12) for value, label in pairs):
            break
    return list(zip(ticks, labels, strict=True))


def _axis(values: Iterable[float], begin: float, end: float, *, is_log: bool = False) -> Axis:
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known), max(known)
    if is_log:
        return Axis(low / 1.2, high * 1.2, begin, end, is_log=True)
    span = high - low
    room = MARGIN * (span or abs(high) or 1.0)
    if span:
        room = max(room, (LEAST_SPAN * max(abs(low), abs(high)) - span) / 2.0)
    return Axis(low - room, high + room, begin, end)


def _without_depths(values: Sequence[float]) -> list[float]:
    """Leave out values more than three interquartile ranges below the first quartile."""
    first, third = np.quantile(values, [0.25, 0.75])
    floor = first - 3.0 * (third - first)
    return [value for value in values if value >= floor]


def _spans(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) > WIDE_SPAN * min(values)


def _round_values(low: float, high: float) -> list[float]:
    rough = (high - low) / MOST_TICKS
    if not math.isfinite(rough) or rough <= 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * one for one in STEPS if power * one >= rough * 0.999)
    first = math.ceil(low / step)
    last = min(math.floor(high / step), first + 3 * MOST_TICKS)
    return [round(place * step, 12) for place in range(first, last + 1)]


def _powers(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    every = max(1, (last - first) // MOST_TICKS)
    return [10.0**power for power in range(first, last + 1, every)]


def _layer(layer: Layer, horizontal: Axis, vertical: Axis) -> Markup:
    if layer.kind == "crosses":
        return _crosses(layer, horizontal, vertical.begin)
    known = [p for p in layer.points if all(map(math.isfinite, p))]
    if horizontal.is_log:
        known = [p for p in known if p[0] > 0]
    if not known:
        return together()
    at = [(horizontal.place(x), vertical.place(y)) for x, y in known]
    if layer.kind == "spans":
        return tag("path", class_=f"span {layer.class_}", d=_spans_drawn(at))
    if layer.kind == "dots":
        size = " many" if len(at) > MANY else ""
        return tag("path", class_=f"dots {layer.class_}{size}", d=_dots(at))
    ways = [f"M{at[0][0]:.1f} {at[0][1]:.1f}"]
    for x, y in at[1:]:
        ways.append(f"H{x:.1f}V{y:.1f}" if layer.kind == "steps" else f"L{x:.1f} {y:.1f}")
    return tag("path", class_=f"line {layer.class_}", d="".join(ways))


def _dots(at: Points) -> str:
    """Return dots as lines of no length with round ends, one for each pixel."""
    places = np.unique(np.round(np.array(at, dtype=float)).astype(int), axis=0)
    return "".join(f"M{x} {y}h0" for x, y in places.tolist())


def _spans_drawn(at: Points) -> str:
    """Return level lines; those that touch within a pixel are one."""
    drawn: dict[float, list[list[float]]] = {}
    for (begin, level), (end, _) in sorted(zip(at[::2], at[1::2], strict=True)):
        lane = drawn.setdefault(level, [])
        if lane and begin <= lane[-1][1] + 0.5:
            lane[-1][1] = max(lane[-1][1], end)
        else:
            lane.append([begin, max(end, begin + 0.5)])
    return "".join(
        f"M{begin:.1f} {level:.1f}H{end:.1f}"
        for level, lane in drawn.items()
        for begin, end in lane
    )


def _crosses(layer: Layer, horizontal: Axis, bottom: float) -> Markup:
    """Return crosses with room between them: side by side they would look like one bar."""
    at = (horizontal.place(x) for x, _ in layer.points if math.isfinite(x))
    places = sorted({ROOM * round(x / ROOM) for x in at})
    ways = "".join(f"M{x} {bottom:g}v-7" for x in places)
    return tag("path", class_=f"line {layer.class_}", d=ways)


def _rule(place: float, bottom: float) -> Markup:
    way = f"M{place:.1f} {TOP:g}V{bottom:g}"
    return tag("path", class_="line rule", d=way)


def _tick_x(x: float, bottom: float, label: str) -> Markup:
    grid = tag("path", class_="grid", d=f"M{x:.1f} {TOP:g}V{bottom:g}")
    return together(grid, _text(x, bottom + 14, label, text_anchor="middle"))


def _tick_y(y: float, label: str) -> Markup:
    grid = tag("path", class_="grid", d=f"M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}")
    return together(grid, _text(LEFT - 5, y + 4, label, text_anchor="end"))


def _text(x: float, y: float, text: str, **attributes: object) -> Markup:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", **attributes)


def _sign(layer: Layer) -> Markup:
    way = "M8 6h0" if layer.kind == "dots" else "M1 6h14"
    if layer.kind == "crosses":
        way = "M8 10v-7"
    kind = "dots" if layer.kind == "dots" else "line"
    return _picture(f"{kind} {layer.class_}", way)


def _picture(class_: str, way: str) -> Markup:
    path = tag("path", class_=class_, d=way)
    return tag("svg", path, viewBox="0 0 16 12", class_="sign", aria_hidden="true")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TITLE else f"{text[: LONGEST_TITLE - 1]}…"
