"""Limits that nobody seems to mean are told in one line each."""

from __future__ import annotations

from typing import Any

import pytest

from automl_admm.constraints.doubtful_limits import doubts_of_limits
from automl_admm.core.errors import PluginError
from automl_admm.core.limits import Limit
from automl_admm.plugins.configured import configure
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import Constraint, ConstraintPlugin
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import resolve_constraints


def doubts(*limits: Any) -> list[str]:
    config = RunConfig(constraints=limits, cost="fn=5,fp=1")
    return list(doubts_of_limits(resolve_constraints(config, load_plugins(quietly=True))))


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("fpr >= 0.05", "a smaller 'fpr', and smaller is better. Did you mean 'fpr <= 0.05'?"),
        ("latency_us >= 50", "Did you mean 'latency_us <= 50'?"),
        ("latency_us >= 2 * baseline", "Did you mean 'latency_us <= 2 * baseline'?"),
        ("blank_moves_0 >= 5 %", "Did you mean 'blank_moves_0 <= 0.05'?"),
        ("noise_moves >= 5 %", "Did you mean 'noise_moves <= 0.05'?"),
        ("max_fpr[sex] >= 0.1", "Did you mean 'max_fpr[sex] <= 0.1'?"),
        ("recall_gap[sex] >= 0.1", "a smaller 'recall_gap[sex]'"),
        ("fpr_ratio[sex] <= 0.9", "a larger 'fpr_ratio[sex]', and larger is better"),
        ('recall{class="a"} <= 0.9', "a larger 'recall{class=\"a\"}'"),
        ("neg_log_loss <= -0.4", "Did you mean 'neg_log_loss >= -0.4'?"),
        ("r2 <= 0.9", "Did you mean 'r2 >= 0.9'?"),
        ("cost >= 1", "Did you mean 'cost <= 1'?"),
        ("fpr <= 1", "is kept by every model: 'fpr' is never above 1, and is only reported"),
        ("recall >= 0 %", "is kept by every model: 'recall' is never below 0"),
        ("serve_mb <= 0", "'serve_mb <= 0' leaves no room: 'serve_mb' is never below 0."),
        ("size_mb <= 0", "leaves no room"),
        ("size_mb >= 0", "is kept by every model: 'size_mb' is never below 0"),
    ],
)
def test_one_line_says_what_was_probably_meant(limit: str, said: str) -> None:
    (doubt,) = doubts(limit)
    assert said in doubt


def test_what_may_be_meant_is_not_doubted() -> None:
    given = ("fpr <= 0.05", "recall >= 0.9", "selection_rate >= 0.1", "bias >= -1", "bias <= 1")
    own = Constraint(Limit("mine", 1.0, at_least=True), lambda _: 1.0)
    more = (
        "latency_us <= 0.5 * baseline",
        "size_mb <= 50 % * baseline",
        "r2 >= 0",
        "fnr >= 0.1",
        "fnr <= 0.2",
    )
    # A model may leave every row undecided then, which without the limit it may not.
    assert doubts(*given, *more, own, "abstain <= 100 %") == []


def test_a_side_of_a_range_that_every_model_keeps_is_told() -> None:
    (doubt,) = doubts("selection_rate >= 0", "selection_rate <= 0.5")
    assert "'selection_rate >= 0' is kept by every model" in doubt


def test_each_built_in_measure_says_which_values_are_better() -> None:
    plugins = load_plugins(quietly=True).constraints
    # What is wanted of these hangs on the user.
    open_ones = {"bias", "bias_to", "confusion", "selection_rate"}
    records = [one.numbered(50.0) if one.numbered else configure(one, {}) for one in plugins]
    assert len(records) > 40
    assert {one.name for one in records if not one.better} == open_ones


def test_a_plugin_says_it_in_one_of_two_words() -> None:
    with pytest.raises(PluginError, match="its better must be one of"):
        ConstraintPlugin(name="mine", summary="mine", function=lambda _: 1.0, better="lower")  # type: ignore[arg-type]
