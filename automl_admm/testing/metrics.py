"""The promises of a metric, on small tables whose answers are known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar
from unittest import SkipTest

import cloudpickle
import numpy as np
import pandas as pd

from automl_admm.core.messages import say_error
from automl_admm.data.row_roles import Roles
from automl_admm.pipelines.metric_trial import Answered, score_answers, try_metric
from automl_admm.pipelines.metrics import Metric, build_scorer, takes_weights
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.plugins.records import MetricPlugin
from automl_admm.testing.fresh_process import TURNS, demand_same_backward, demand_same_elsewhere
from automl_admm.testing.silence import silence

ROWS = 40
# The labels of each table, the positive one last; None for a quantity.
LABELS: Mapping[str, tuple[Any, ...] | None] = MappingProxyType(
    {
        "the labels 0 and 1": (0, 1),
        "two labels of text": ("good", "bad"),
        "three labels of text": ("a", "b", "c"),
        "a quantity": None,
    }
)


class MetricContract:
    """The promises of a metric: subclass it, and return your record in `make`.

    It is tried on targets of two and of three classes, of numbers and of text, and on a quantity.
    Those that it raises on are not its business, but it must have one. A metric with options is
    held to its promises with these `options`.
    """

    options: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    def make(self) -> MetricPlugin:
        """Return the record."""
        raise NotImplementedError

    def metric(self, labels: tuple[Any, ...] | None) -> Metric:
        """Return the metric as a search has it, for these labels."""
        record = self.make()
        metric = Metric(record.name, self._scorer(), best=0.0, sees_labels=True)
        return metric.knowing(None if labels is None else np.array(labels))

    def _scorer(self) -> Any:
        record = self.make()
        return build_scorer(record, self.options, f"metric '{record.name}'")

    def seen(self, what: str) -> Answered:
        """Return the scores of right and of wrong answers on one of the tables."""
        return try_metric(self.metric(LABELS[what]), _table(LABELS[what]))

    @cached_property
    def taken(self) -> Mapping[str, Answered]:
        """The scores on each table that the metric is for."""
        found, reasons = {}, []
        for what in LABELS:
            try:
                found[what] = self.seen(what)
            except Exception as problem:  # noqa: BLE001 - the metric is anybody's code
                reasons.append(f"{what}: {say_error(problem)}")
        assert found, f"it takes no target: {reasons[0] if reasons else ''}"
        return found

    def test_its_factory_makes_a_scorer(self) -> None:
        """Make something that is called with a pipeline, rows and labels."""
        assert callable(self._scorer())

    def test_right_answers_beat_wrong_ones(self) -> None:
        """Score right answers above wrong ones and shuffled ones: larger is better."""
        for what, found in self.taken.items():
            for wrong in found.wrong:
                assert math.isnan(wrong) or found.right > wrong, (
                    f"on {what} right answers score {found.right:g} and wrong ones {wrong:g}"
                )

    def test_its_scores_are_finite(self) -> None:
        """Score right answers by a finite number."""
        for what, found in self.taken.items():
            assert math.isfinite(found.right), f"right answers score {found.right} on {what}"

    def test_labels_may_be_text(self) -> None:
        """Take labels of text wherever it takes the labels 0 and 1."""
        if "the labels 0 and 1" not in self.taken or "a quantity" in self.taken:
            raise SkipTest("it is not for classes alone")
        self.seen("two labels of text")

    def test_the_same_answers_give_the_same_score(self) -> None:
        """Score the same twice."""
        for what, found in self.taken.items():
            again = self.seen(what)
            assert _are_same(again, found), f"first {found}, then {again} on {what}"

    def test_it_keeps_no_value_of_other_rows(self) -> None:
        """Score the rows at hand by nothing of the first ones in the same process."""
        names = list(self.taken)
        reason = "it is not made elsewhere"
        expression = f"c.scores_from_the_end({names})"
        demand_same_elsewhere(self.scores(names), type(self), expression, reason)

    def scores(self, names: Sequence[str]) -> list[float]:
        """Return the scores of half right answers, on these tables and with more rows of them."""
        return [self._half_right_on(*one) for one in _seen_otherwise(names)]

    def scores_from_the_end(self, names: Sequence[str]) -> list[float]:
        """Return the same scores, the last rows of the last table scored first."""
        return [self._half_right_on(*one) for one in reversed(_seen_otherwise(names))]

    def _half_right_on(self, what: str, places: Any) -> float:
        table = _table(LABELS[what])
        answers = _half_right(table)[places]
        return score_answers(self.metric(LABELS[what]), answers, _part(table, places))

    def test_it_keeps_no_value_of_other_answers(self) -> None:
        """Score the answers at hand by nothing of the first ones for the same rows."""
        onward, back = (np.random.default_rng(seed).permutation(ROWS) for seed in TURNS)
        # No ties: a metric may break them by the order of the rows.
        sure = np.random.default_rng(0).permutation(np.linspace(0.6, 0.9, ROWS))
        for what in self.taken:
            metric, table = self.metric(LABELS[what]), _table(LABELS[what])
            answered = [table.y, _half_right(table), np.roll(table.y, 1)]
            first, again = (
                [
                    score_answers(metric, one[places], _part(table, places), sure[places])
                    for one in answers
                ]
                for places, answers in ((onward, answered), (back, answered[::-1]))
            )
            demand_same_backward(first, again)

    def test_rows_stay_as_they_are(self) -> None:
        """Change nothing of what it is shown: limits are measured on the same rows."""
        for what in self.taken:
            rows = _table(LABELS[what])
            before = cloudpickle.dumps(rows.X)
            score_answers(self.metric(LABELS[what]), np.asarray(rows.y), rows)
            assert cloudpickle.dumps(rows.X) == before, f"it changed the features of {what}"

    def test_weights_count(self) -> None:
        """Take weights of 1 for none, and score otherwise if what is wrong weighs more."""
        what = next(iter(self.taken))
        metric, answers = self.metric(LABELS[what]), _half_right(_table(LABELS[what]))
        if not takes_weights(metric.scorer):
            raise SkipTest("it takes no weights")
        uneven = 1.0 + 9.0 * (np.arange(ROWS) < ROWS // 4)
        plain, equal, other = (
            score_answers(metric, answers, _table(LABELS[what], weights))
            for weights in (None, np.ones(ROWS), uneven)
        )
        assert math.isclose(equal, plain), f"{equal:g} with weights of 1, and {plain:g} without"
        assert not math.isclose(other, plain), "weights change nothing"

    def test_it_scores_in_another_process(self) -> None:
        """Survive the way to a worker: it is pickled by cloudpickle."""
        what = next(iter(self.taken))
        sent = cloudpickle.loads(cloudpickle.dumps(self.metric(LABELS[what])))
        there, here = try_metric(sent, _table(LABELS[what])), self.taken[what]
        assert _are_same(there, here), f"{here} here, and {there} after pickling, on {what}"

    def test_it_is_silent(self) -> None:
        """Print nothing, log nothing and leave no file."""
        with silence():
            self.seen(next(iter(self.taken)))


def _are_same(one: Answered, other: Answered) -> bool:
    """Return True for equal scores; NaN is one, and has a promise of its own."""
    scores, others = ((found.right, *found.wrong) for found in (one, other))
    return np.array_equal(scores, others, equal_nan=True)


def _table(labels: tuple[Any, ...] | None, weights: Any = None) -> Table:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(ROWS, 2)), columns=["a", "b"])
    if labels is None:
        return Table(X, 5.0 + X["a"].to_numpy(), roles=Roles(weights))
    # Fewer of the positive class, as in most data.
    y = np.minimum(rng.integers(len(labels) + 1, size=ROWS), len(labels) - 1)[::-1]
    y = len(labels) - 1 - y
    return Table(X, y, np.array(labels), roles=Roles(weights))


def _seen_otherwise(names: Sequence[str]) -> list[tuple[str, Any]]:
    """Return places of rows in each table: all; all and every second again; all and large targets.

    So numbers of rows and shares of classes differ. No table is smaller than it was: a metric may
    need so many rows.
    """
    found = []
    for what in names:
        every, by_target = np.arange(ROWS), np.argsort(_table(LABELS[what]).y, kind="stable")
        twice = every[::2], np.sort(by_target[ROWS // 4 :])
        found += [(what, places) for places in (every, *(np.append(every, one) for one in twice))]
    return found


def _part(table: Table, places: Any) -> Table:
    """Return some rows, numbered anew: a stand-in knows its answers by them."""
    part = table.part(places)
    return Table(part.X.reset_index(drop=True), part.y, part.classes)


def _half_right(table: Table) -> Any:
    """Return answers that are wrong on every fourth row, and on most of the first ones."""
    y = np.asarray(table.y)
    wrong = (np.arange(ROWS) % 4 == 0) | (np.arange(ROWS) < ROWS // 5)
    other = y + 1.5 if table.classes is None else (y + 1) % len(table.classes)
    return np.where(wrong, other, y)
