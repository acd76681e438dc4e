"""Limits whose values hang on rows from which the model did not learn, told from plain costs."""

from __future__ import annotations

from typing import Any

import pytest

from automl_admm.core.limits import Limit
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.ways import say_unseen
from automl_admm.runs.prepare.assembly import resolve_constraints

COSTS = (
    *("latency_us <= 5", "latency_ms_quantile_99 <= 5", "fit_seconds <= 5", "memory_mb <= 500"),
    *("serve_mb <= 500", "energy_j <= 5", "size_mb <= 5", "columns <= 5", "tree_depth <= 5"),
)


def own(**declared: Any) -> Constraint:
    return Constraint(Limit("own", 1.0), lambda _: 0.0, **declared)


def said(*limits: Any) -> str | None:
    config = RunConfig(constraints=limits)
    return say_unseen(resolve_constraints(config, load_plugins(quietly=True)))


@pytest.mark.parametrize("limit", COSTS)
def test_the_costs_and_facts_that_come_with_it_need_none(limit: str) -> None:
    assert said(limit) is None


@pytest.mark.parametrize("limit", ["fpr <= 0.1", "neg_log_loss >= -1", "recall_gap[sex] <= 0.1"])
def test_what_predictions_tell_is_told_by_those_out_of_fold(limit: str) -> None:
    assert said(limit) is None


@pytest.mark.parametrize(
    "limit", ["noise_moves <= 0.1", "blank_moves_0.3 <= 0.1", "rising_breaks_5[age] <= 0.1"]
)
def test_answers_to_changed_rows_need_some(limit: str) -> None:
    name = limit.partition(" <=")[0]
    found = said("fpr <= 0.1", limit)
    assert found is not None
    assert found.startswith(f"limit '{name}")
    assert found.endswith("needs rows from which no member learned")


@pytest.mark.parametrize(
    "declared",
    [{"any_rows": True}, {"adds_up": True}, {"kind": "checked"}, {"kind": "statistical"}],
    ids=str,
)
def test_a_function_of_your_own_says_that_it_needs_none(declared: Any) -> None:
    assert said(own(**declared)) is None


@pytest.mark.parametrize(
    "declared",
    [{}, {"first_fold": True}, {"kind": "statistical", "asks_model": True, "any_rows": True}],
    ids=str,
)
def test_any_other_needs_some(declared: Any) -> None:
    found = said(own(**declared))
    assert found is not None
    assert ("any_rows=True" in found) == ("kind" not in declared)
