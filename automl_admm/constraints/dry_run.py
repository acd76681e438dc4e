"""Try limits on the data before anything is trained, and report unmeasurable ones at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from automl_admm.constraints.column_values import Changing, OfColumn, label_of
from automl_admm.constraints.group_comparison import Grouped
from automl_admm.constraints.groups import Grouping, check_columns, group_names
from automl_admm.constraints.resolve import with_classes, with_groups
from automl_admm.constraints.syntax import ClassOption, GroupColumn
from automl_admm.core.errors import AutomlAdmmError, ConfigurationError, DataError, Remedy
from automl_admm.core.messages import say_error
from automl_admm.core.unknown_values import explain_unknown
from automl_admm.data.plain_columns import has_numbers
from automl_admm.data.spreads import spreads_of
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.foreign_calls import in_time, measured_by
from automl_admm.plugins.records import (
    Constraint,
)

SURE = 0.9  # below 1, as real probabilities are: a log loss stays finite


@dataclass(frozen=True, slots=True)
class TrialRows:
    """Rows to measure limits on; `classes` is 0 for a regression, `labels` are their names."""

    X: Any
    y: Any
    sensitive: Any
    classes: int
    weights: Any = None
    labels: tuple[object, ...] = ()


def columns_of(constraints: Iterable[Constraint]) -> set[str]:
    """Return the columns named by limits."""
    found: set[str] = set()
    for one in constraints:
        if isinstance(one.function, OfColumn | Changing):
            found.add(one.function.column)
        if isinstance(one.groups, Grouping):
            found.update(column.name for column in one.groups.columns)
    return found


def meet_data(
    constraints: Iterable[Constraint],
    rows: TrialRows,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Constraint, ...]:
    """Return the constraints with their groups; raise if the target or a column does not suit them.

    The rows are all rows of the data, so a group absent from a part of them is known to be missing.
    If the limit's `groups` are known already, the rows may lack some of them.
    """
    return tuple(_met(constraint, rows, groups or {}) for constraint in constraints)


def _met(constraint: Constraint, rows: TrialRows, known: Mapping[str, Sequence[str]]) -> Constraint:
    _check_target(constraint, rows)
    constraint = with_classes(constraint, rows.labels)
    if rows.weights is not None:
        _check_weights(constraint)
    if isinstance(constraint.function, OfColumn):
        column = constraint.function.column
        hint = f"Compare groups by it, as in 'selection_rate_gap[{GroupColumn(column)}]'."
        _check_numbers(column, rows.sensitive, constraint.limit.name, hint)
    if isinstance(constraint.function, Changing):
        _check_change(constraint.function.column, rows, constraint.limit.name)
    if constraint.groups is None:
        return constraint
    name = constraint.limit.name
    if isinstance(constraint.groups, Grouping):
        check_columns(constraint.groups.columns, rows.sensitive, name)
    # A resumed run, or a later table: its rows may lack a group of training.
    if str(constraint.limit) in known:
        return with_groups(constraint, tuple(known[str(constraint.limit)]))
    left_out = constraint.function.left_out if isinstance(constraint.function, Grouped) else ()
    names = group_names(constraint.groups(rows.sensitive), name, left_out)
    return with_groups(constraint, names)


def _check_change(column: str, rows: TrialRows, limit: str) -> None:
    """Raise if a column is no number both in the user's table and in that of the model.

    A date is a number for the model, beside others of the same date that would not change with it.
    """
    hint = "Name a feature that holds numbers."
    _check_numbers(column, rows.sensitive, limit, hint)
    _check_numbers(label_of(column, rows.X), rows.X, limit, hint)


def _check_numbers(column: Any, frame: Any, limit: str, hint: str) -> None:
    """Raise if a column has no numbers to compare scores with, or to change."""
    if not has_numbers(frame[column]):
        raise DataError(f"limit '{limit}': column '{column}' holds no numbers.", hint=hint)


def _check_weights(constraint: Constraint) -> None:
    if constraint.kind == "statistical" and not constraint.takes_weights:
        raise ConfigurationError(
            f"limit '{constraint.limit.name}' takes no weights of rows.",
            hint=Remedy(
                "Choose another limit, or leave out {sample_weight}. Your own function may use "
                "evaluated.weights; then say takes_weights=True."
            ),
        )


def _check_target(constraint: Constraint, rows: TrialRows) -> None:
    wanted, name, classes = constraint.target, constraint.limit.name, rows.classes
    is_by_column = isinstance(constraint.function, OfColumn | Changing)
    if wanted == "a quantity" and classes:
        raise ConfigurationError(
            f"limit '{name}' needs a quantity to predict, and this target has {classes} classes.",
            hint="Use a rate, such as 'error <= 0.1'.",
        )
    if wanted == "classes" and classes == 0:
        raise ConfigurationError(
            f"limit '{name}' needs classes to predict, and this target is a quantity.",
            hint="Use a limit on errors, such as 'mae <= 1'.",
        )
    if wanted == "two classes" and classes != 2:
        found = f"{classes} classes" if classes else "a quantity"
        raise ConfigurationError(
            f"limit '{name}' needs a target of two classes, and this one has {found}.",
            hint=_name_class(name, rows.labels) if classes and not is_by_column else None,
        )


def _name_class(name: str, labels: Sequence[object]) -> str:
    """Say how a limit for two classes is written for more."""
    measure, *columns = name.partition("[")
    one, end = ClassOption("class", str(labels[-1]) if labels else "a"), "".join(columns)
    worst = f"'min_{measure}{{class}}{end}' or 'max_{measure}{{class}}{end}' for the worst class"
    return f"Write '{measure}{{{one}}}{end}' for one class, {worst}, 'macro_{name}' for their mean."


def try_on(
    constraints: Sequence[Constraint], parts: Sequence[TrialRows], deadline: float | None = None
) -> None:
    """Measure perfect predictions on every validation part, each limit until the deadline.

    A constraint without a value even then has none for any pipeline. Only statistical constraints
    are tried: the others need a pipeline, and there is none yet.
    """
    tried = [constraint for constraint in constraints if constraint.kind == "statistical"]
    for number, part in enumerate(parts, start=1):
        evaluated = as_asked(right(part), tried) if tried else None
        for constraint in tried:
            reason = _problem(constraint, evaluated, deadline)
            if reason:
                where = f" in fold {number} of {len(parts)}" if len(parts) > 1 else ""
                raise DataError(
                    f"limit '{constraint.limit.name}': {reason}{where}.",
                    hint=_cure(constraint, parts, reason),
                )


def right(rows: TrialRows) -> EvaluatedPipeline:
    """Return a stand-in for a pipeline with perfect predictions on these rows."""
    y = np.asarray(rows.y)
    if not rows.classes:
        return stand_in(rows, y, y)
    doubt = (1 - SURE) / max(rows.classes - 1, 1)
    predictions = np.where(y[:, None] == np.arange(rows.classes), SURE, doubt)
    return stand_in(rows, predictions, y)


def stand_in(rows: TrialRows, predictions: Any, decisions: Any) -> EvaluatedPipeline:
    """Return a stand-in for a pipeline with these predictions.

    Use it for statistical constraints only: they do not look at the pipeline.
    """
    from sklearn.dummy import DummyClassifier, DummyRegressor

    known = np.arange(rows.classes) if rows.classes else np.zeros(1)
    model = DummyClassifier() if rows.classes else DummyRegressor()
    # Fitted, because scorers ask a model for its classes and check that it is fitted.
    model.fit(np.zeros((len(known), 1)), known)
    y = np.asarray(rows.y)
    return EvaluatedPipeline(
        model,
        rows.X,
        y,
        predictions,
        0.0,
        0.0,
        decisions,
        sensitive=rows.sensitive,
        weights=rows.weights,
    )


def as_asked(evaluated: EvaluatedPipeline, constraints: Iterable[Constraint]) -> EvaluatedPipeline:
    """Return a stand-in with the spreads of its columns, if a limit asks about changed rows."""
    if not any(one.asks_model for one in constraints):
        return evaluated
    return replace(evaluated, spreads=spreads_of(evaluated.X))


def _problem(
    constraint: Constraint, evaluated: EvaluatedPipeline | None, deadline: float | None
) -> str:
    assert evaluated is not None  # noqa: S101 - there is something to try
    try:
        # scikit-learn warns of undefined metrics; the reason below says it in our words.
        with unheard_warnings():
            measure = partial(measured_by, constraint.function, evaluated)
            return explain_unknown(in_time(measure, deadline))
    except AutomlAdmmError:
        raise
    except Exception as problem:
        message = f"limit '{constraint.limit.name}' cannot be measured here: {say_error(problem)}."
        raise ConfigurationError(message, hint="Choose another limit.") from problem


def _cure(constraint: Constraint, parts: Sequence[TrialRows], reason: str) -> str:
    """Say how to fix it, with the number of rows of the group in the reason."""
    function = constraint.function
    if not isinstance(function, Grouped):
        return "Try fewer folds, or more rows."
    found = Counter(name for part in parts for name in function.groups(part.sensitive))
    # A group named in the reason comes first, then the one with the fewest rows.
    scarce = min(function.names, key=lambda name: (f"'{name}'" not in reason, found[name]))
    return (
        f"Group '{scarce}' has {found[scarce]} of the rows to measure on: merge groups, cut wider, "
        "or use fewer folds."
    )
