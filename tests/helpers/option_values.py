"""A value for every option of a run that is not its default, and the words that give it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automl_admm.plugins.records import ComponentPlugin
from automl_admm.runs.option_record import Kind, Option

LIMIT = "columns <= 20"
GAP = "fpr_gap[sex] <= 0.9"
START = (
    'impute(strategy="median") standard_scaler() logistic_regression'
    "(C=1.0, l1_ratio=0.0, fit_intercept=true, class_weight=null, max_iter=300)"
)


class Watcher:
    """An observer that does nothing."""

    def run_finished(self) -> None:
        """Take part in the run."""

    def __repr__(self) -> str:
        return "Watcher()"


def _half(values: object, context: object) -> object:
    raise NotImplementedError


# Values that a real run accepts, for options whose kind alone does not tell such a value.
EXAMPLES: Mapping[str, Any] = {
    "grammar": "tiny",
    "columns": {"mean area": "number"},
    "column_cost": {"mean area": 2.5},
    "starts": (START,),
    "constraints": (LIMIT, GAP, "size_mb <= 900 * baseline"),
    "theta_solver": "trust-region",
    "z_solver": "genetic",
    "strategy": "joint",
    "executor": "inline",
    "scoring": "balanced_accuracy",
    "positive": "0",
    "callbacks": (Watcher(),),
    "components": (ComponentPlugin(name="half", summary="s", role="transformer", factory=_half),),
    # With limits that can be proven on the rows of the tests.
    "certify": 0.9,
    "certify_fraction": 0.3,
    "last_look": True,
    "racing": False,
    "ensemble": False,
    "portfolio": False,
}
BY_KIND: Mapping[Kind, Any] = {
    Kind.SECONDS: 777.0,
    Kind.BYTES: 2_000_000_000,
    Kind.SHARE: 0.5,
    Kind.FLAG: True,
    Kind.PART: "other:key=1",
    Kind.PARTS: ("jsonl:path=seen.jsonl",),
    Kind.SCORER: "accuracy",
    Kind.LABEL: "yes",
    Kind.LIMITS: (LIMIT,),
    Kind.COLUMNS: {"a=b": "category"},
    Kind.STARTS: (START,),
    Kind.RUNS: ("other",),
    Kind.FOLDS: 3,
    Kind.FILE: "other",
    Kind.NAME: "cp1250",
    Kind.COST: "fn=5,fp=1",
    Kind.COSTS: {"a=b": 2.5},
    Kind.FOLDER: "other",
}


def other_value(option: Option) -> Any:
    """Return a valid value of an option that is the default at no door."""
    if option.name in EXAMPLES:
        return EXAMPLES[option.name]
    if option.kind is Kind.WHOLE:
        return max(option.default or 0, option.command_default or 0, option.least) + 2
    if option.kind is Kind.CHOICE:
        return next(choice for choice in option.choices if choice != option.default)
    return BY_KIND[option.kind]


def words_for(option: Option, value: Any) -> tuple[str, ...]:
    """Return the words that give this value on the command line."""
    assert option.flag is not None
    if option.kind is Kind.FLAG:
        return (option.flag,)
    if option.kind in (Kind.COLUMNS, Kind.COSTS):
        value = [f"{name}={kind}" for name, kind in value.items()]
    values = value if isinstance(value, list | tuple) else (value,)
    return tuple(word for one in values for word in (option.flag, str(one)))
