"""Charts are SVG that can be read, with bars as long as their numbers."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

import pytest
from charts import Axis, Chart, bars, dots, lines

HOSTILE = '<script>&"] \u202e'


def widths(svg: str) -> list[float]:
    return [float(one) for one in re.findall(r'width="([\d.]+)" height="14"', svg)]


def test_bars_are_as_long_as_their_numbers() -> None:
    one, two = widths(bars(Chart("t", "u"), {"s": {"a": 1.0, "b": 2.0}}))
    assert two == pytest.approx(2 * one, abs=0.2)


def test_a_negative_number_goes_the_other_way() -> None:
    svg = bars(Chart("t", "u"), {"s": {"a": -1.0, "b": 1.0}})
    assert widths(svg)[0] == pytest.approx(widths(svg)[1], abs=0.2)


def test_names_that_look_like_markup_are_shown() -> None:
    chart = Chart(HOSTILE, HOSTILE)
    for svg in (
        bars(chart, {HOSTILE: {HOSTILE: 1.0}, "b": {}}),
        dots(chart, {HOSTILE: (2.0, 1.0, 3.0)}),
        lines(chart, {HOSTILE: [(1.0, 1.0), (2.0, 3.0)]}),
    ):
        root = ET.fromstring(svg)  # noqa: S314 - made above
        assert root.find("{http://www.w3.org/2000/svg}script") is None
        assert HOSTILE in {"".join(one.itertext()) for one in root.iter()}


@pytest.mark.parametrize(
    ("axis", "ticks"),
    [
        (Axis(0.0, 10.0, 0, 100, is_log=False), [0, 2, 4, 6, 8, 10]),
        (Axis(0.5, 20.0, 0, 100, is_log=True), [1, 3, 10]),
    ],
)
def test_ticks_are_round_numbers_between_the_ends(axis: Axis, ticks: list[float]) -> None:
    assert axis.ticks() == pytest.approx(ticks)
    assert all(0 <= axis.place(one) <= 100 and math.isfinite(one) for one in axis.ticks())
