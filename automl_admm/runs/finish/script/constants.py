"""The constants of `pipeline.py`: its file, its columns, and what they held in training."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from sklearn.metrics import get_scorer, get_scorer_names

from automl_admm.data.columns import UNNAMED_TARGET
from automl_admm.data.ingest.records import Ingest, Reading
from automl_admm.data.reading.encodings import is_misnamed
from automl_admm.data.sample_table import SHIPPED
from automl_admm.data.table_schema import MISSING_TEXTS, Column
from automl_admm.pipelines.as_code import expression
from automl_admm.runs.prepare.preparation import Preparation


def constants_of(prepared: Preparation, csv: Mapping[str, Any]) -> str:
    """Return the constants of a table; `csv` says how its file is written."""
    names = [str(one.name) for one in kept_readings(prepared.ingest)]
    known, weight = prepared.schema.by_name(), prepared.columns.get("weight")
    described = {name: _description(known[name]) for name in names}
    lines = [
        f"TRAIN = {expression(_train(prepared))}",
        f"TARGET = {expression(prepared.target or UNNAMED_TARGET)}",
        *([] if weight is None else [f"WEIGHT = {expression(weight)}"]),
        "# The metric of the run, if scikit-learn has it.",
        f"METRIC = {expression(_metric_of(prepared))}",
        "# What the columns held in training.",
        f"COLUMNS = {expression(described)}",
        f"ANSWER = {expression(_answers(prepared))}",
        "# Texts that are missing values, unless they were values in training.",
        f"MISSING = {expression(sorted(MISSING_TEXTS))}",
        "# How the training file is written, in the words of pandas.read_csv.",
        *(["# `alike`: the names of columns of one name, or of none."] * ("alike" in csv)),
        *(
            [f"# `is_given`: the encoding was named; {_of_new_rows(prepared)}."]
            * ("is_given" in csv)
        ),
        f"CSV = {expression(dict(csv))}",
    ]
    if not prepared.ingest.is_plain:
        readings = [_reading(one) for one in kept_readings(prepared.ingest)]
        lines.append("# Columns, the columns made of them, and the facts to read them by.")
        lines.append(f"READINGS = {expression(readings)}")
    return "\n".join(lines)


def kept_readings(ingest: Ingest) -> tuple[Reading, ...]:
    """Return the readings of the columns that the pipeline takes."""
    return tuple(one for one in ingest.readings if not one.is_left_out)


def _train(prepared: Preparation) -> str | None:
    """Return the file of the run, relative to the working folder if it is below it."""
    source = prepared.config.source
    if source in (None, SHIPPED):
        return None
    try:
        return str(Path(source).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return source


def _of_new_rows(prepared: Preparation) -> str:
    if is_misnamed(prepared.config.encoding, prepared.config.found_encoding):
        return "its bytes look like UTF-8, and new rows are read as it was"
    return "that of new rows is found"


def _answers(prepared: Preparation) -> dict[str, Any]:
    """Describe the target and the weights."""
    known, weight = prepared.schema.by_name(), prepared.columns.get("weight")
    told = {"holds": "other", "dtype": "object"}
    names = [name for name in (prepared.target or UNNAMED_TARGET, weight) if name is not None]
    return {name: _description(known[name]) if name in known else told for name in names}


def _reading(one: Reading) -> tuple[str, list[str], dict[str, Any] | None]:
    return str(one.name), list(one.made), None if one.is_plain else dict(one.facts)


def _description(column: Column) -> dict[str, Any]:
    described = column.describe()
    return {name: described[name] for name in described if name not in ("name", "has_gaps")}


def _metric_of(prepared: Preparation) -> str | None:
    """Return the metric of a run if scikit-learn has it, and needs no word on the positive class.

    The script has the labels as they are in the file, and not 0 and 1.
    """
    name = prepared.metric.name
    is_given = callable(prepared.config.scoring) or name in prepared.plugins.metrics
    if is_given or name not in get_scorer_names() or "likelihood" in name:
        return None
    scorer = get_scorer(name)
    is_of_one_class = "pos_label" in signature(scorer._score_func).parameters  # noqa: SLF001
    averaged = scorer._kwargs.get("average", "binary")  # noqa: SLF001
    return None if is_of_one_class and averaged == "binary" else name
