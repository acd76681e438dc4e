"""The promises of a constraint to measure what it is shown, and not what it was shown before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest import SkipTest

import numpy as np

from automl_admm.core.messages import say_error
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.pipelines.thresholds.single import OfSameRows
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import ConstraintFunction
from automl_admm.testing.fresh_process import TURNS, demand_same_backward, demand_same_elsewhere
from automl_admm.testing.rows_of_limits import LimitedRows


class KeptValues(LimitedRows):
    """The promises to keep no value, neither of other rows nor of other answers."""

    def test_it_keeps_no_value_of_other_rows(self) -> None:
        """Measure the rows at hand, not the first ones in the same process."""
        self._skip_others()
        values = self.values()
        halves, answers = values[:2], values[2:]
        # Halves are equal in their number of rows, answers in all but what is answered.
        if not (_all_alike(halves) and _all_alike(answers)):
            return
        reason = "its value never changes here, and it is not made elsewhere"
        demand_same_elsewhere(values, type(self), "c.values_from_the_end()", reason)

    def test_it_keeps_no_value_of_other_answers(self) -> None:
        """Measure the answers at hand, not the first ones for the same rows."""
        self._skip_others()
        onward, back = (
            np.random.default_rng(seed).permutation(len(self.rows().y)) for seed in TURNS
        )
        first = [self.measured(rows.part(onward)).value for rows in self._answered()]
        again = [self.measured(rows.part(back)).value for rows in reversed(list(self._answered()))]
        demand_same_backward(first, again)

    def test_its_function_of_the_same_rows_measures_alike(self) -> None:
        """Measure by `on_rows_of` what the function itself does, whatever is answered."""
        record = self._record()
        function: Any = record.function
        is_told = record.kind == "statistical" and not record.asks_model
        if not is_told or not isinstance(function, OfSameRows):
            raise SkipTest("it has no function of the same rows")
        answered = list(self._answered())
        halves = [[rows.part(mask) for rows in answered] for mask in self._halves()]
        if record.takes_weights:
            halves += [[_weighed(rows) for rows in half] for half in halves]
        for shown in (_without_answers, _with_answers):
            # All folds are prepared before any of them is measured.
            prepared = [_prepared(function, shown(half[0])) for half in halves]
            for half, of_rows in zip(halves, prepared, strict=True):
                self._demand_alike(of_rows, half)

    def _demand_alike(self, of_rows: ConstraintFunction, half: list[EvaluatedPipeline]) -> None:
        for rows in half:
            value = self.measured(rows).value
            found = as_evidence(of_rows(_with_answers(rows)), len(rows.y)).value
            assert np.isclose(found, value, equal_nan=True), (
                f"{value:g}, and {found:g} by `on_rows_of` for the same rows and answers"
            )

    def values(self) -> list[float]:
        """Return the values on rows seen otherwise."""
        return [self.measured(rows).value for rows in self._seen_otherwise()]

    def values_from_the_end(self) -> list[float]:
        """Return the values on rows seen otherwise, the last of them measured first."""
        return [self.measured(rows).value for rows in reversed(list(self._seen_otherwise()))]

    def _skip_others(self) -> None:
        if self._record().kind != "statistical":
            raise SkipTest("it may be the same on any rows")

    def _seen_otherwise(self) -> Iterator[EvaluatedPipeline]:
        """Yield two halves of the rows, and all of them as they are answered."""
        rows = self.rows()
        yield from (rows.part(mask) for mask in self._halves())
        yield from self.answers()

    def _halves(self) -> tuple[Any, Any]:
        is_even = np.arange(len(self.rows().y)) % 2 == 0
        return is_even, ~is_even

    def _answered(self) -> Iterator[EvaluatedPipeline]:
        """Yield all rows as they are answered, and with other decisions or scores alone."""
        yield from self.answers()
        rows = self.rows()
        yield replace(rows, predictions=rows.predictions[::-1])
        if rows.decisions is not None:
            yield replace(rows, decisions=rows.decisions[::-1])
            # From the end these are the first: neither scores nor decisions are those of the rows.
            yield replace(rows, predictions=rows.predictions[::-1], decisions=rows.y)


def _weighed(rows: EvaluatedPipeline) -> EvaluatedPipeline:
    """Return the rows with weights of two sizes."""
    return replace(rows, weights=np.where(np.arange(len(rows.y)) % 3 == 0, 2.0, 0.5))


def _with_answers(rows: EvaluatedPipeline) -> EvaluatedPipeline:
    """Return the rows as they are shown where thresholds are chosen."""
    return replace(rows, X=None, pipeline=None)


def _without_answers(rows: EvaluatedPipeline) -> EvaluatedPipeline:
    """Return the rows as they are shown before members of an ensemble are chosen."""
    return replace(_with_answers(rows), predictions=None, decisions=None)


def _prepared(function: OfSameRows, rows: EvaluatedPipeline) -> ConstraintFunction:
    try:
        return function.on_rows_of(rows)
    except Exception as problem:  # noqa: BLE001 - a plugin is anybody's code
        said = "`on_rows_of` needs `X`, the model, predictions or decisions"
        raise AssertionError(f"{said}: {say_error(problem)}") from None


def _all_alike(values: list[float]) -> bool:
    return bool(np.allclose(values, values[0], equal_nan=True))
