"""Pages of short runs: ticks of few evaluations, and tables without limits."""

from __future__ import annotations

import re

from automl_admm.report.sections import baseline, convergence
from automl_admm.report.sections.baseline import Baseline, Compared
from automl_admm.report.sections.convergence import Convergence, Point


def test_few_evaluations_have_whole_ticks_and_no_words_on_dots_far_below() -> None:
    points = tuple(Point(n, float(n), 0.8 + n / 100, True, "ok", False) for n in (1, 2, 3))
    drawn = convergence.draw(Convergence("auc", False, 1, (), 0, points, (), ())).source
    assert "far below" not in drawn
    by_number = drawn.split("</svg>")
    (chart,) = (part for part in by_number if "auc by evaluation" in part)
    ticks = re.findall(r"<text[^>]*middle[^>]*>([\d.]+)</text>", chart)
    assert ticks == ["1", "2", "3"]


def test_without_limits_no_column_is_on_them() -> None:
    for limits, values in (((), ()), (("fpr <= 1",), (0.5,))):
        one = Compared("the model", 1, "ridge", 0.9, True, values)
        found = Baseline(
            "auc", limits, (one,), None, has_model=True, shipped_at=None, shipped_with=None
        )
        drawn = baseline.draw(found).source
        assert ("Within limits" in drawn) is bool(limits)


def test_a_figure_without_a_line_within_the_limits_does_not_name_it() -> None:
    points = tuple(Point(n, float(n), 0.8 + n / 100, False, "ok", False) for n in (1, 2, 3))
    drawn = convergence.draw(Convergence("auc", True, 1, (), 0, points, (), ())).source
    assert "the line is" not in drawn
    assert "nothing is within the limits so far" in drawn
