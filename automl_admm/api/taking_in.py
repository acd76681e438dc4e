"""The data given to `fit`: checked, with names of their own, cut to what the time allows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.constraints.parse import columns_in
from automl_admm.core.errors import FallbackWarning, LimitWarning
from automl_admm.data.given_names import name_of_target, tell_other_orders, with_own_names
from automl_admm.data.ingest.leaks import tell_leaks
from automl_admm.data.python_rows import plain_target
from automl_admm.data.python_tables import as_table
from automl_admm.data.row_portions import Portion, portion_within, read_portion, take_rows
from automl_admm.data.row_roles import NAMES, columns_given
from automl_admm.data.sensitive import as_frame, tell_shared
from automl_admm.data.unique_names import with_unique_names
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.decision_summary import (
    explain_few_found,
    explain_held_out_class,
    explain_one_class,
)
from automl_admm.runs.finish.demands import (
    cure_fallback,
    explain_fallback,
    explain_folds,
    explain_passed_over,
    explain_unsound,
    tell_broken,
)
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.prepare.preparation import Preparation, prepare
from automl_admm.runs.prepare.scoring_trial import SEES_DECISIONS, note_blind_metric
from automl_admm.runs.reuse import reuse_runs
from automl_admm.runs.validation import seed_of
from automl_admm.store.run_folder import RunFolder

# Frames from a warning here to the caller of `fit`: `fit` of the kind, and `fit` of both kinds.
TO_CALLER = 4
# The arguments of `fit` beside X.
BESIDE = ("y", "sensitive_features", *NAMES.values())
# What scikit-learn's check of a table remembers of the columns of `fit`.
OF_COLUMNS = ("feature_names_in_", "n_features_in_")


@dataclass(frozen=True)
class Given:
    """The data of one `fit`; `columns` are the weights, groups and times of the rows."""

    rows: Any
    target: Any
    sensitive: Any
    columns: Any


def take_in(
    config: RunConfig, X: Any, y: Any, sensitive: Any, *roles: Any
) -> tuple[RunConfig, Given]:
    """Return the rows to search on as they were given, and the settings with their portion.

    `roles` are the weights, the groups and the times of the rows.
    """
    target = plain_target(y)
    named = {*(config.columns or ()), *columns_in(config.constraints)}
    orders = tell_other_orders(X, dict(zip(BESIDE, (y, sensitive, *roles), strict=True)))
    X, doubled = with_unique_names(as_table(X), sole=named)
    columns = columns_given(target, *roles)
    if sensitive is not None:
        sensitive = as_frame(sensitive, len(target))
    columns = with_own_names(columns, y, X, sensitive)
    doubts = ([] if doubled is None else [doubled], orders, tell_shared(sensitive, X))
    for line in chain.from_iterable(doubts):
        warnings.warn(line, UserWarning, stacklevel=TO_CALLER)
    config = replace(config, searched_rows=asked_before(config).get("searched_rows"))
    portion = portion_of(config, X, target)
    if portion is None:
        return config, Given(X, target, sensitive, columns)
    warnings.warn(portion.tell(), UserWarning, stacklevel=TO_CALLER)
    places = portion.places(target)
    part = Given(
        take_rows(X, places),
        take_rows(target, places),
        None if sensitive is None else take_rows(sensitive, places),
        columns.part(places),
    )
    return replace(config, portion=str(portion)), part


def prepare_given(config: RunConfig, given: Given) -> Preparation:
    """Check everything, and warn of rows too few for a proof in the name of the caller of `fit`."""
    prepared = prepare(config, given.rows, given.target, given.sensitive, given.columns)
    prepared = reuse_runs(prepared)
    if prepared.caution is not None:
        warnings.warn(prepared.caution, UserWarning, stacklevel=TO_CALLER + 1)
    for shortfall in () if prepared.aside is None else prepared.aside.shortfalls:
        warnings.warn(shortfall, LimitWarning, stacklevel=TO_CALLER + 1)
    for line in (*tell_leaks(prepared.leaks), *prepared.doubts):
        warnings.warn(line, UserWarning, stacklevel=TO_CALLER + 1)
    for line in prepared.doubtful_limits:
        warnings.warn(line, LimitWarning, stacklevel=TO_CALLER + 1)
    if (note := note_blind_metric(prepared)) is not None:
        warnings.warn(f"{note} {SEES_DECISIONS}", LimitWarning, stacklevel=TO_CALLER + 1)
    return prepared


def warn_of_outcome(outcome: PipelineResult) -> None:
    """Warn of all that is not as the user may expect of a fitted model."""
    bad = explain_unsound(outcome), explain_one_class(outcome), explain_held_out_class(outcome)
    for told in filter(None, bad):
        warnings.warn(told, UserWarning, stacklevel=TO_CALLER)
    if outcome.fallback is not None:
        told = f"{explain_fallback(outcome)} {cure_fallback(outcome)}"
        warnings.warn(told, FallbackWarning, stacklevel=TO_CALLER)
    broken_off = outcome.result.stop.warning
    late = (broken_off, explain_passed_over(outcome), explain_folds(outcome))
    for told in filter(None, late):
        warnings.warn(told, UserWarning, stacklevel=TO_CALLER)
    for broken in filter(None, (*tell_broken(outcome), explain_few_found(outcome))):
        warnings.warn(broken, LimitWarning, stacklevel=TO_CALLER)


def named_as(target: Any, y: Any, given: Given) -> Any:
    """Return a checked target under a name, by which the files of the run know it."""
    import pandas as pd

    name = name_of_target(y, given.rows, given.sensitive, given.columns)
    return target if name is None else pd.Series(target, name=name)


def kept_frame(given: Any, checked: Any) -> Any:
    """Return a frame as the user gave it, anything else as scikit-learn made it."""
    return given if hasattr(given, "iloc") else checked


@contextmanager
def earlier_model(estimator: Any) -> Iterator[None]:
    """Keep an earlier model with its columns if a new search raises; drop it at the end of one.

    Rows in the columns of a refused table would be taken for rows of the earlier model.
    """
    state = vars(estimator)
    before = {name: state[name] for name in OF_COLUMNS if name in state}
    try:
        yield
    except BaseException:
        for name in OF_COLUMNS:
            state.pop(name, None)
        state.update(before)
        raise
    state.pop("best_pipeline_", None)  # what raises later, for limits, leaves no earlier model


def portion_of(config: RunConfig, X: Any, target: Any) -> Portion | None:
    """Return the rows of a large table to take: those before, else as many as there is time for.

    None stands for all rows; the later check of the data reports a malformed table.
    """
    is_table = isinstance(X, np.ndarray) or hasattr(X, "iloc")
    if not is_table or len(X.shape) != 2 or np.shape(target) != X.shape[:1]:
        return None
    before = config.run_before()
    if before is None:
        return portion_within(X, config.seconds, config.begun)
    portion = read_portion(before["request"].get("portion"))
    return portion if portion is not None and portion.rows == len(target) else None


def asked_before(config: RunConfig) -> dict[str, Any]:
    """Return the request of the run that this one goes on with; empty for a new one."""
    before = config.run_before()
    return {} if before is None else dict(before["request"])


def seed_to_use(random_state: Any, before: str | Path | None) -> int:
    """Return the seed that a user gives as a number; else that of the run `before`, if any."""
    seed = seed_of(random_state)
    if before is None or isinstance(random_state, int | np.integer):
        return seed
    folder = RunFolder(Path(before))
    return int(folder.read(folder.settings)["settings"]["seed"])
