"""The promises of a constraint's record: each field is true of its function."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from unittest import SkipTest

import numpy as np

from automl_admm.constraints.class_views import seen_as
from automl_admm.constraints.column_values import demand_known
from automl_admm.core.evidence import Average, RankCorrelation
from automl_admm.core.messages import say_error
from automl_admm.core.read_only import read_only
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.testing.kept_values import KeptValues
from automl_admm.testing.possible_evidence import demand_of_groups, ends_of, named_parts

# Rows of a group so small that a careless function leaves it out.
FEW = 4


class DeclaredPromises(KeptValues):
    """The promises of a record about its function: its arguments, and its known ends."""

    def test_a_statistical_one_is_told_by_answers_alone(self) -> None:
        """Measure the same without `X` and without a model, unless `asks_model` is set."""
        record = self._record()
        if record.kind != "statistical" or record.asks_model or record.changing is not None:
            raise SkipTest("it is not told by the answers alone")
        rows = self.rows()
        value, more = self.measured(rows).value, self.given_with(rows)
        hidden = replace(rows, X=None, pipeline=_NoModel())
        try:
            found = self.measured_with(hidden, *more).value
        except Exception as problem:  # noqa: BLE001 - a plugin is anybody's code
            why = say_error(problem)
            raise AssertionError(
                f"it needs `X` or the model, without `asks_model`: {why}"
            ) from None
        assert _equal(found, value), f"{value:g}, and {found:g} without `X` and the model"

    def test_decisions_do_not_count_where_it_says_so(self) -> None:
        """Measure the same at any decisions, if `uses_decisions` is False."""
        record = self._record()
        if record.kind != "statistical" or record.uses_decisions:
            raise SkipTest("it may hang on decisions")
        rows = self.rows()
        if rows.decisions is None:
            raise SkipTest("its rows have no decisions")
        value = self.measured(rows).value
        for decided in (1 - rows.decisions, np.zeros_like(rows.decisions)):
            found = self.measured(replace(rows, decisions=decided)).value
            assert _equal(found, value), (
                f"{value:g}, and {found:g} at other decisions: `uses_decisions=False` is not true"
            )

    def test_ends_are_known_before_the_rows(self) -> None:
        """Give the same ends of a mean, and the same lowest or largest value, on any rows."""
        if self._record().kind != "statistical":
            raise SkipTest("no certificate has ends of it")
        known: dict[Any, tuple[float, ...]] = {}
        for rows in self._seen_otherwise():
            for path, part in named_parts(self.measured(rows)):
                ends = ends_of(part)
                first = known.setdefault((path, type(part)), ends)
                assert first == ends, (
                    f"a {type(part).__name__} has the ends {_said(first)}, and {_said(ends)} on "
                    "other rows: a certificate takes them as known before"
                )

    def test_classes_are_apart_where_it_says_so(self) -> None:
        """Count no row for two classes, if `rows_apart` is set."""
        if not self._record().rows_apart or self._record().function is None:
            raise SkipTest("its classes may share rows")
        for rows in self.answers():
            parts = {str(one): self.measured(seen_as(rows, one, one)) for one in (0, 1)}
            try:
                as_evidence(Average(parts, are_apart=True), len(rows.y))
            except ValueError as problem:
                raise AssertionError(f"`rows_apart` is not true: {problem}") from None

    def test_rows_without_a_number_do_not_correlate(self) -> None:
        """Count the rows with a number in the column alone, where the rest of it is missing."""
        if self._record().columned is None:
            raise SkipTest("it compares no column")
        rows = self.rows()
        numbers = np.array(self.numbers(rows), dtype=float)
        known = np.arange(len(numbers)) % 3 > 0
        numbers[~known] = np.nan
        found = self.measured_with(rows, read_only(numbers))
        if not isinstance(found, RankCorrelation):
            raise SkipTest("it is no rank correlation")
        demand_known(found, int(known.sum()))
        alone = self.measured_with(rows.part(known), read_only(numbers[known]))
        assert _equal(found.value, alone.value), (
            f"{alone.value:g}, and {found.value:g} beside rows without a number"
        )

    def test_each_group_counts(self) -> None:
        """Have a part for each group, of its own rows alone, however few they are."""
        if self._record().grouped is None:
            raise SkipTest("it compares no groups")
        rows = self.rows()
        for few in (FEW, len(rows.y) // 4):
            masks = self._masks_of_few(rows, few)
            sizes = {name: int(np.sum(mask)) for name, mask in masks.items()}
            demand_of_groups(self.measured_with(rows, MappingProxyType(masks)), sizes)

    def _masks_of_few(self, rows: EvaluatedPipeline, few: int) -> dict[str, Any]:
        """Return masks of groups with so few rows in all but the last."""
        places = np.minimum(np.arange(len(rows.y)) // few, len(self.groups) - 1)
        return {name: read_only(places == place) for place, name in enumerate(self.groups)}

    def test_a_cost_of_any_rows_hangs_on_no_truth(self) -> None:
        """Measure the same if all answers are right, for `any_rows` or `adds_up` is set."""
        record = self._record()
        rows = self.rows()
        is_cost = record.kind == "measured" and (record.any_rows or record.adds_up)
        if not is_cost or rows.decisions is None:
            raise SkipTest("it is no cost of any rows")
        right = replace(rows, y=rows.decisions)
        cost, other = self.measured(rows).value, self.measured(right).value
        for _ in range(2):
            # A clock never repeats itself, a function of the truth always does.
            is_alike = cost == other or self.measured(rows).value != cost
            if is_alike or self.measured(right).value != other:
                return
        raise AssertionError(f"{cost:g}, and {other:g} if all answers are right")


class _NoModel:
    """A model that answers nothing."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"it asked the model for '{name}'")


def _equal(found: float, value: float) -> bool:
    return math.isclose(found, value, rel_tol=1e-9) or (math.isnan(found) and math.isnan(value))


def _said(ends: tuple[float, ...]) -> str:
    return " and ".join(f"{end:g}" for end in ends)
