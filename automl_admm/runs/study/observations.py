"""Results from elsewhere: another study, a frame, an Optuna study, a run history of SMAC."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any

from automl_admm.core.decisions import Order, Value, find_value
from automl_admm.core.errors import AutomlAdmmError, ConfigurationError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import say_value
from automl_admm.core.space import SearchSpace
from automl_admm.runs.blackbox import PreparedBox
from automl_admm.runs.study.points import locate
from automl_admm.runs.study.saved_study import read_study
from automl_admm.runs.study.telling import read_outcome
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.log import SqliteStore

LOSS = "loss"
# Values of a space that look like empty cells.
EMPTY: Mapping[str, Value] = MappingProxyType({"none": None, "nan": math.nan})
KINDS = "the folder of a study, a data frame, a list of dicts, an Optuna study, a SMAC runhistory"


@dataclass(frozen=True, slots=True)
class Observed:
    """A result from elsewhere, and its place there in words.

    The values of `empty` may be empty cells, and so of no active decision or parameter.
    """

    where: str
    values: Mapping[str, Any]
    loss: Any = None
    limits: Mapping[str, Any] | None = None
    failed: str | None = None
    empty: frozenset[str] = frozenset()


def read_observations(source: Any, box: PreparedBox) -> list[Evaluation]:
    """Return the results of a source as evaluations of this space; all of them, or raise."""
    return [_evaluation(one, box) for one in _observed(source, box)]


def _evaluation(one: Observed, box: PreparedBox) -> Evaluation:
    try:
        candidate = locate(box.problem.space, one.values, may_be_inactive=one.empty)
        outcome = read_outcome(one.where, box.problem.limits, one.loss, one.limits, one.failed)
    except AutomlAdmmError as problem:
        message = problem.message if one.where in problem.message else f"{one.where}: {problem}"
        raise ConfigurationError(message, hint="Nothing was added.") from problem
    return Evaluation(
        number=0,
        key=box.problem.key(candidate),
        candidate=candidate,
        status=outcome.status,
        loss=outcome.loss,
        constraints=outcome.constraints,
        text=box.text(candidate),
        message=outcome.message,
    )


def _observed(source: Any, box: PreparedBox) -> Iterable[Observed]:
    for attributes, read in READERS.items():
        if all(hasattr(source, name) for name in attributes):
            return read(source, box)
    if isinstance(source, str | Path):
        return _of_folder(Path(source))
    if isinstance(source, Iterable) and not isinstance(source, Mapping):
        return _of_rows(source, box)
    raise ConfigurationError(f"{say_value(source)} holds no observations.", hint=f"Give {KINDS}.")


def _of_folder(path: Path) -> Iterator[Observed]:
    """Read the log of another study; it may be in use."""
    study = read_study(path)
    store = SqliteStore(RunFolder(path).store)
    try:
        evaluations = store.read()
    finally:
        store.close()
    return _of_evaluations(evaluations, [limit.name for limit in study.limits])


def _of_evaluations(evaluations: Iterable[Evaluation], names: Sequence[str]) -> Iterator[Observed]:
    for one in evaluations:
        # What the budget cut short has no result: the point is still to be evaluated.
        if not one.is_whole or not one.has_ended:
            continue
        where, values = f"evaluation {one.number}", json.loads(one.text)
        if not one.ok:
            yield Observed(where, values, failed=one.message or str(one.status))
        elif len(one.constraints) != len(names):
            raise ConfigurationError(f"{where} has no value for each of its limits.")
        else:
            limits = dict(zip(names, one.constraints, strict=True))
            yield Observed(where, values, one.loss, limits)


def _of_result(result: Any, box: PreparedBox) -> Iterator[Observed]:
    del box
    return _of_evaluations(result.evaluations, result.limit_names)


def _of_study(study: Any, box: PreparedBox) -> Iterator[Observed]:
    del box
    for one in study.results:
        where = f"trial {one.number}"
        # A failure at a share of the cost is none of the whole, as a loss there is not its loss.
        if one.fidelity != 1.0:
            continue
        if one.failed is not None:
            yield Observed(where, one.values, failed=one.failed)
        else:
            yield Observed(where, one.values, one.loss, one.limits)


def _of_frame(frame: Any, box: PreparedBox) -> Iterator[Observed]:
    _demand_told_apart(frame, box.problem.space)
    return _of_rows(frame.to_dict("records"), box)


def _of_polars(frame: Any, box: PreparedBox) -> Iterator[Observed]:
    _demand_told_apart(frame, box.problem.space)
    return _of_rows(frame.to_dicts(), box)


def _demand_told_apart(frame: Any, space: SearchSpace) -> None:
    """Raise for a float that may have been a whole number, where both are values."""
    for item in (*space.decisions, *space.parameters):
        values = getattr(item, "values", ())
        whole = {one for one in values if type(one) is int}
        doubled = {one for one in values if type(one) is float and one in whole}
        if not doubled or list(frame.columns).count(item.name) != 1:
            continue
        column = frame[item.name]
        is_typed = "object" not in str(column.dtype).lower()
        if is_typed and any(type(one) is float and one in doubled for one in column):
            raise ConfigurationError(
                f"the column '{item.name}' is of floats, which may have been whole numbers, "
                "and the space has both.",
                hint="Give a list of dicts, or a column of objects.",
            )


def _of_rows(rows: Iterable[Any], box: PreparedBox) -> Iterator[Observed]:
    """Read rows with a column for each value, each limit and the loss; no loss is a failure."""
    names = (LOSS, *box.names)
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ConfigurationError(f"row {place} must be a dict, not {say_value(row)}.")
        if LOSS not in row:
            raise ConfigurationError(f"row {place} has no '{LOSS}'.")
        given = {name: one for name, one in row.items() if name not in names}
        empty = frozenset(name for name, one in given.items() if _is_missing(one))
        values, where = _given(given, box), f"row {place}"
        if _is_missing(row[LOSS]):
            yield Observed(where, values, failed="no loss", empty=empty)
        else:
            limits = {name: row[name] for name in box.names if name in row}
            yield Observed(where, values, row[LOSS], limits, empty=empty)


def _given(values: Mapping[Any, Any], box: PreparedBox) -> dict[Any, Any]:
    """Leave out empty cells: a frame has a column for every parameter, active or not.

    A None or a NaN is an empty cell unless it is a value of the space.
    """
    space = box.problem.space
    orders = {one.name for one in space.decisions if isinstance(one, Order)}
    holders = {name: _names_with(space, one) for name, one in EMPTY.items()}
    found = {name: _order(one) if name in orders else one for name, one in values.items()}
    for name in [name for name, one in values.items() if _is_missing(one)]:
        is_nan = isinstance(values[name], float)
        kinds = ["nan", "none"] if is_nan else ["none"] if values[name] is None else ["none", "nan"]
        kept = next((kind for kind in kinds if name in holders[kind]), None)
        if kept is None:
            del found[name]
        else:
            found[name] = EMPTY[kept]
    return found


def _order(value: Any) -> Any:
    """Return an order from its text in a CSV file, such as "('a', 'b')"; else the value."""
    if not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def _names_with(space: SearchSpace, value: Value) -> set[str]:
    """Return the decisions and parameters that have a value among theirs."""
    items = (*space.decisions, *space.parameters)
    return {
        item.name for item in items if find_value(value, getattr(item, "values", ())) is not None
    }


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float) and math.isnan(value)


def _of_optuna(study: Any, box: PreparedBox) -> Iterator[Observed]:
    """Read the ended trials; limited quantities are among their user attributes."""
    if [direction.name for direction in study.directions] != ["MINIMIZE"]:
        raise ConfigurationError(
            "the Optuna study does not minimise one value.",
            hint="Give a list of dicts with a 'loss' to minimise.",
        )
    for one in study.get_trials(deepcopy=False):
        where = f"trial {one.number}"
        if one.state.name == "FAIL":
            yield Observed(where, one.params, failed="it failed in Optuna")
        elif one.state.name == "COMPLETE":
            yield Observed(where, one.params, one.value, _chosen(one.user_attrs, box.names))


def _of_smac(history: Any, box: PreparedBox) -> Iterator[Observed]:
    """Read the configurations at their highest budget: the mean cost over instances and seeds."""
    runs: dict[int, list[tuple[float, Any]]] = {}
    for key, value in history.items():
        if value.status.name != "RUNNING":
            runs.setdefault(key.config_id, []).append((key.budget or 0.0, value))
    highest = max((budget for found in runs.values() for budget, _ in found), default=0.0)
    for number, found in runs.items():
        where, values = f"configuration {number}", dict(history.get_config(number))
        whole = [value for budget, value in found if budget == highest]
        if any(value.status.name != "SUCCESS" for value in whole):
            yield Observed(where, values, failed="it failed in SMAC")
        elif whole:
            yield _mean(where, values, whole, box.names)


def _mean(
    where: str, values: Mapping[str, Any], runs: Sequence[Any], names: Sequence[str]
) -> Observed:
    if any(isinstance(run.cost, list | tuple) for run in runs):
        raise ConfigurationError(f"{where} has several costs.", hint="Give a list of dicts.")
    infos = [_chosen(run.additional_info or {}, names) for run in runs]
    shared = [name for name in names if all(name in info for info in infos)]
    limits = {name: fmean(float(info[name]) for info in infos) for name in shared}
    return Observed(where, values, fmean(float(run.cost) for run in runs), limits)


def _chosen(found: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: found[name] for name in names if name in found}


# Sources are known by their attributes: none of their packages has to be installed.
READERS: Mapping[tuple[str, ...], Callable[[Any, PreparedBox], Iterable[Observed]]] = (
    MappingProxyType(
        {
            ("get_trials", "directions"): _of_optuna,
            ("get_config", "items"): _of_smac,
            ("results", "admm_state"): _of_study,
            ("evaluations", "stopped_by"): _of_result,
            # A frame of polars has `to_dict`, too, and that gives columns.
            ("columns", "to_dicts"): _of_polars,
            ("columns", "to_dict"): _of_frame,
        }
    )
)
