from __future__ import annotations

from typing import Any

import pytest
from installed import PLUGINS

from automl_admm.constraints.groups import Grouping
from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import bare_limit, constraint_of
from automl_admm.core.errors import (
    AutomlAdmmError,
    ConfigurationError,
    PluginError,
    UnknownNameError,
)
from automl_admm.core.limits import Limit
from automl_admm.plugins.records import Constraint, ConstraintPlugin, LearningTask
from automl_admm.plugins.registry import Registry


def constraint(text: str) -> Constraint:
    return constraint_of(read_text(text), PLUGINS.constraints)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("latency_us <= 1e2", Limit("latency_us", 100.0, extreme=0.0)),
        ("recall >= 0.8", Limit("recall", 0.8, at_least=True, extreme=1.0)),
        ("fpr_gap[ sex ] <= 5 %", Limit("fpr_gap[sex]", 0.05, extreme=0.0)),
        ("fpr_ratio[sex] >= 0.8", Limit("fpr_ratio[sex]", 0.8, at_least=True, extreme=1.0)),
        ("auc_gap[age:30,40] <= 0.1", Limit("auc_gap[age:30,40]", 0.1, extreme=0.0)),
        ("neg_log_loss >= -1", Limit("neg_log_loss", -1.0, at_least=True, extreme=0.0)),
        ("f1 >= 0.5", Limit("f1", 0.5, at_least=True, extreme=1.0)),
        ("f1 <= 0.5", Limit("f1", 0.5, extreme=0.0)),
        ("r2 <= 0.5", Limit("r2", 0.5)),
        ("fpr <= 10%", Limit("fpr", 0.1, extreme=0.0)),
        ("fpr <= 1", Limit("fpr", 1.0, extreme=0.0)),
        ("recall >= 0", Limit("recall", 0.0, at_least=True, extreme=1.0)),
        ("positive_likelihood_ratio >= 5", Limit("positive_likelihood_ratio", 5.0, at_least=True)),
        ("positive_likelihood_ratio <= 5", Limit("positive_likelihood_ratio", 5.0)),
        ("size_mb <= 10", Limit("size_mb", 10.0, extreme=0.0)),
        ("r2_gap[sex] <= 0.5", Limit("r2_gap[sex]", 0.5, extreme=0.0)),
        (
            "demographic_parity_ratio[sex,race] >= 0.8",
            Limit("demographic_parity_ratio[sex,race]", 0.8, at_least=True, extreme=1.0),
        ),
    ],
)
def test_a_text_becomes_a_limit_with_the_range_of_its_values(text: str, limit: Limit) -> None:
    found = constraint(text)
    assert found.limit == limit
    assert isinstance(found.groups, Grouping) == ("[" in limit.name)


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("latncy_us <= 3", UnknownNameError, "Did you mean 'latency_us'"),
        ("fpr_gpa[sex] <= 3", UnknownNameError, "Did you mean 'fpr_gap'"),
        ("log_loss <= 3", UnknownNameError, "'neg_log_loss'"),
        ("fpr_gap <= 0.1", ConfigurationError, r"'fpr_gap' compares groups.*'fpr_gap\[sex\]'"),
        ("fpr[sex] <= 0.1", ConfigurationError, r"Did you mean 'fpr_gap\[sex\]'"),
        ("max_mae <= 0.1", UnknownNameError, r"Write 'max_mae\[column\]'"),
        ("max_abstain{class} <= 0.1", UnknownNameError, r"Write 'max_abstain\[column\]'"),
        ("size_mb[sex] <= 0.1", ConfigurationError, "'size_mb' is not measured by group"),
        ("size_mb_gap[sex] <= 0.1", ConfigurationError, "no groups can be compared by it"),
        (
            "demographic_parity_ratio_gap[sex] <= 0.1",
            ConfigurationError,
            "no groups can be compared by it",
        ),
        ("neg_log_loss_ratio[sex] >= 0.8", ConfigurationError, "Use 'neg_log_loss_gap'"),
        ("fpr <= -0.1", ConfigurationError, "can never hold"),
        ("recall >= 1.5", ConfigurationError, "can never hold"),
        ("fpr_ratio[sex] >= 120 %", ConfigurationError, "can never hold"),
        ("size_mb <= 1e999", ConfigurationError, "finite"),
    ],
)
def test_what_cannot_be_limited_is_told(text: str, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        constraint(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fpr <= 10", "'fpr <= 10' always holds: 'fpr' is never above 1. Write 'fpr <= 0.1' for"),
        ("recall >= 80", "can never hold: .*Write 'recall >= 0.8' for 80 %."),
        ("fpr_gap[sex] <= 5", r"always holds: .*Write 'fpr_gap\[sex\] <= 0.05' for 5 %."),
        ("fpr_ratio[sex] >= 80", r"never hold: .*Write 'fpr_ratio\[sex\] >= 0.8' for 80 %."),
        ("demographic_parity_difference[sex] <= 3", "always holds"),
        ("fpr <= 150 %", "always holds"),
        ("fpr <= 1e4", "never above 1. Write less than 1.$"),
        ("recall >= -1", "always holds: 'recall' is never below 0"),
        ("balanced_accuracy >= 90", "Write 'balanced_accuracy >= 0.9' for 90 %."),
        ("f1_gap[sex] <= 5", r"Write 'f1_gap\[sex\] <= 0.05' for 5 %."),
        ("roc_auc_ovr <= -1", "can never hold: 'roc_auc_ovr' is never below 0"),
        ("r2 <= 3", "always holds: 'r2' is never above 1. Write less than 1."),
        ("neg_mean_absolute_error <= 3", "always holds: .*Write 'neg_mean_absolute_error >= -3'"),
        ("latency_us >= -1", "always holds: 'latency_us' is never below 0"),
        ("serve_mb <= 300 %", "'serve_mb' is no share of anything. Write 'serve_mb <= 300', or"),
        ("neg_mean_absolute_error >= -20 %", "Write 'neg_mean_absolute_error >= -20', or"),
        ("fpr <= 120 %", "'fpr <= 1.2' always holds: 'fpr' is never above 1. Write less than 1.$"),
        ("columns <= 50 %", r"Write 'columns <= 50', or 'columns <= 0.5 \* baseline'"),
    ],
)
def test_a_limit_that_the_range_settles_is_refused(text: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        constraint(text)


@pytest.mark.parametrize(
    ("text", "task", "says"),
    [
        ("mae_gap <= 1", "classification", "'mae_gap' is of a regression, and this is a class"),
        ("mae <= 1", "classification", "Use a rate, such as 'error <= 0.1'"),
        ("r2 >= 0.1", "classification", "'r2' is of a regression"),
        ("fpr_gap <= 0.1", "regression", r"'fpr_gap' is of a classification.*'mae_gap\[column\]"),
        ("max_recall{class} <= 0.1", "regression", "'max_recall' is of a classification"),
        ("accuracy >= 0.2", "regression", "'accuracy' is of a classification"),
        ("brier <= 0.2", "regression", "'brier' is of a classification"),
        ("mape <= 1", "classification", "Did you mean 'mae'. That is of a reg"),
        ("mae_gpa[sex] <= 1", "regression", "Did you mean 'mae_gap'"),
        ("fpr_gpa[sex] <= 1", "regression", "Did you mean 'fpr_gap'. That is of a class"),
    ],
)
def test_a_limit_of_another_task_is_refused_and_not_suggested(
    text: str, task: LearningTask, says: str
) -> None:
    with pytest.raises(ConfigurationError, match=says):
        constraint_of(read_text(text), PLUGINS.constraints, task)


def test_a_score_from_0_to_1_can_be_a_ratio_of_groups() -> None:
    assert constraint("f1_ratio[sex] >= 0.8").limit.extreme == 1.0


def by_column(way: str) -> ConstraintPlugin:
    """Return a limit on scores of two classes and a column, as a plugin has it."""
    given: dict[str, Any] = {way: lambda evaluated, column: 1.0, "uses_decisions": False}
    return ConstraintPlugin(
        name="ups", summary="one", kind="statistical", target="two classes", highest=1.0, **given
    )


def known_with(record: ConstraintPlugin) -> Registry[ConstraintPlugin]:
    known = Registry[ConstraintPlugin]("constraint")
    known.add(record, "me 1.0")
    return known


@pytest.mark.parametrize("way", ["changing", "columned"])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('ups{class="no"}[age]', r"not measured by \{class=\"no\"\}.*Write 'ups\[column\]'"),
        ('ups{true="a",predicted="b"}[age]', r"not measured by .*Write 'ups\[column\]'"),
        ("ups{class}[age]", r"not measured by \{class\}.*Write 'ups\[column\]'"),
        ("max_ups{class}[age]", "no constraint named 'max_ups'"),
        ("macro_ups[age]", "no constraint named 'macro_ups'"),
    ],
    ids=["one class", "two classes", "no class", "the worst class", "all classes"],
)
def test_what_is_measured_by_a_column_is_asked_of_no_class(way: str, text: str, says: str) -> None:
    known = known_with(by_column(way))
    assert constraint_of(read_text("ups[age] <= 1"), known).limit.name == "ups[age]"
    with pytest.raises(AutomlAdmmError, match=says):
        constraint_of(read_text(f"{text} <= 1"), known)


def test_a_number_after_the_name_changes_nothing_of_it() -> None:
    numbered = ConstraintPlugin(
        name="ups",
        summary="one",
        kind="statistical",
        target="two classes",
        numbered=lambda number: by_column("columned"),
    )
    known = known_with(numbered)
    with pytest.raises(ConfigurationError, match="by a column of numbers, and not class by class"):
        constraint_of(read_text("max_ups_3{class}[age] <= 1"), known)


def test_an_objective_returns_numbers_without_groups() -> None:
    assert bare_limit(read_text("weight <= 3")) == Limit("weight", 3.0)
    with pytest.raises(ConfigurationError, match="no groups in what an objective returns"):
        bare_limit(read_text("weight[sex] <= 3"))
    with pytest.raises(ConfigurationError, match="an objective has no baseline"):
        bare_limit(read_text("weight <= 3 * baseline"))


def test_a_relative_limit_can_hold_until_its_baseline_is_known() -> None:
    found = constraint("recall >= 1.5 * baseline")
    assert found.of_baseline == 1.5
    assert found.limit.holds(1.0)


def test_a_plugin_has_a_function_or_a_grouped_one() -> None:
    for given in ({}, {"function": lambda e: 1.0, "grouped": lambda e, groups: 1.0}):
        with pytest.raises(PluginError, match="one of function, grouped, numbered"):
            ConstraintPlugin(name="one", summary="one", **given)


ERRORS = ("mae", "rmse", "bias", "max_error", "interval_width_90", "abs_error_quantile_90")


@pytest.mark.parametrize("name", [*ERRORS, "mae_gap[sex]", "max_mae[sex]"])
def test_a_percentage_of_an_error_in_the_unit_of_the_target_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="is no share of anything"):
        constraint(f"{name} <= 5 %")


@pytest.mark.parametrize("limit", ["errors_above_5 <= 5 %", "r2 >= 50 %", "mae <= 50 % * baseline"])
def test_a_percentage_of_a_share_or_of_a_baseline_is_none_of_these(limit: str) -> None:
    assert constraint(limit).limit.name == limit.split(maxsplit=1)[0]
