"""Charts keep odd numbers inside, and stay small."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise

import pytest

from automl_admm.report.document.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Chart,
    Layer,
    legend_of,
)
from automl_admm.report.document.html import block_of_code, name, tag
from automl_admm.report.document.numbers import moment


def a_chart(points: list[tuple[float, float]], marks: tuple[float, ...] = ()) -> str:
    layers = (Layer("dots", "inside", points, "all"),)
    return Chart("title", "x", "y", layers, marks_x=marks, may_be_log=True).drawn().source


def places(source: str) -> list[tuple[float, float]]:
    (way,) = re.findall(r'class="dots inside" d="([^"]*)"', source)
    return [(float(x), float(y)) for x, y in re.findall(r"M(\S+) (\S+)h0", way)]


@pytest.mark.parametrize(
    "points",
    [
        [(1.0, 2.0)],
        [(0.0, 0.0), (0.0, 0.0)],
        [(1e-300, 1.0), (1e300, 2.0)],
        [(-1e9, 1.0), (1e-9, 1e308)],
        [(1.0, -1e12), (2.0, 0.5), (3.0, 0.6), (4.0, 0.7), (5.0, 0.6)],
        [(math.nan, 1.0), (2.0, math.inf), (3.0, 1.0)],
    ],
)
@pytest.mark.parametrize("marks", [(), (0.0,), (-5.0,), (1e6,)])
def test_every_dot_is_inside_of_the_axes(
    points: list[tuple[float, float]], marks: tuple[float, ...]
) -> None:
    for x, y in places(a_chart(points, marks)):
        assert LEFT - 1 <= x <= WIDTH - RIGHT + 1
        assert TOP - 1 <= y <= HEIGHT - BOTTOM + 1


def test_without_a_number_there_is_no_drawing() -> None:
    assert "nothing to draw" in a_chart([(math.nan, 1.0)])


def test_dots_on_one_pixel_are_one() -> None:
    assert len(a_chart([(x / 1e5, 1.0) for x in range(20_000)])) < 10_000


def test_a_better_score_is_higher_and_a_larger_value_further_right() -> None:
    (first, second) = places(a_chart([(1.0, 0.5), (2.0, 0.9)]))
    assert first[0] < second[0]
    assert first[1] > second[1]


def test_texts_and_attributes_are_escaped_once() -> None:
    assert (
        tag("b", '<&"', title='"><i>').source
        == '<b title="&quot;&gt;&lt;i&gt;">&lt;&amp;&quot;</b>'
    )
    assert name("a\u202eb\x1b").source == "<bdi>a\\u202eb\\x1b</bdi>"
    assert block_of_code("a\n<b>\t\x00").source.endswith(">a\n&lt;b&gt;\t\\x00</pre>")


def test_a_legend_names_what_is_drawn_and_nothing_else() -> None:
    dots = Layer("dots", "inside", [(1.0, 1.0)], "dots")
    nothing = Layer("dots", "outside", [(math.nan, 1.0)], "nowhere")
    points = [Layer(kind, "any", [(1.0, 1.0), (1.0, 1.0)], kind) for kind in ("steps", "line")]
    crosses = Layer("crosses", "failed", [(1.0, 0.0)], "crosses")
    one = Chart("t", "x", "y", (dots, nothing, *points), (2.0,), "mark")
    assert list(one.signs()) == ["dots", "mark"]
    other = Chart("t", "x", "y", (Layer("line", "s0", [(1.0, 1.0), (2.0, 1.0)], "way"), dots))
    assert re.findall(r"</svg>(\w+)", legend_of([one, other]).source) == ["dots", "mark", "way"]
    # Without a height nothing is drawn, and a sentence says so.
    assert Chart("t", "x", "y", (crosses,), (2.0,), "mark").signs() == {}
    assert Chart("t", "x", "y", (replace(dots, label=""), crosses)).signs().keys() == {"crosses"}


def test_a_chart_says_if_a_dot_stands_on_the_lower_border() -> None:
    near = [(float(x), 0.9 + x / 1000) for x in range(9)]
    for points, has_depths in ((near, False), ([*near, (9.0, 0.1)], True)):
        layer = Layer("dots", "inside", points)
        note = " Dots on the lower border are far below it." if has_depths else ""
        assert Chart("t", "x", "y", (layer,)).note() == note
        assert Chart("t", "x", "y", (layer,), shows_all=True).note() == ""


def test_thousands_of_crosses_are_no_bar() -> None:
    crosses = Layer("crosses", "failed", [(float(x), 0.0) for x in range(5000)])
    dots = Layer("dots", "inside", [(0.0, 1.0), (5000.0, 2.0)])
    drawn = Chart("t", "x", "y", (dots, crosses)).drawn().source
    at = [float(x) for x in re.findall(r"M([\d.]+) [\d.]+v-7", drawn)]
    assert len(at) > 50
    assert min(b - a for a, b in pairwise(at)) >= 4


def test_a_low_chart_has_all_in_its_box() -> None:
    layer = Layer("spans", "inside", [(1.0, 1.0), (2.0, 1.0)])
    drawn = Chart("t", "x", "y", (layer,), marks_x=(1.5,), height=100.0).drawn().source
    assert 'viewBox="0 0 420 100"' in drawn
    levels = [float(y) for _, y in re.findall(r"[ML](\S+) ([\d.]+)", drawn)]
    assert max(levels) <= 100 - BOTTOM


@pytest.mark.parametrize(
    ("text", "said"),
    [("2026-11-23T17:41:08.616+00:00", "2026-11-23 17:41:08 UTC"), ("<b>", "<b>"), ("", "")],
)
def test_a_time_of_day_is_readable(text: str, said: str) -> None:
    assert moment(text) == said


@pytest.mark.parametrize("spread", [1e-9, 1e-5, 1e-4, 0.3])
def test_ticks_of_nearly_equal_values_have_labels_of_their_own(spread: float) -> None:
    drawn = a_chart([(1.0, 0.91861), (2.0, 0.91861 + spread)])
    labels = re.findall(r'text-anchor="end">([^<]+)</text>', drawn)
    assert len(labels) >= 2
    assert len(set(labels)) == len(labels)
    assert max(map(len, labels)) <= 8
