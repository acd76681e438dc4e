"""The parts of `pipeline.py` that do not hang on the run; nothing of this package is used here.

They are written for readers of the script: the same as in `data`, for the columns of one table.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def read_lines(path: Path) -> Any:
    """Read JSON lines; pandas' own reader takes texts such as 007 for numbers."""
    with path.open(encoding="utf-8") as file:
        return pd.DataFrame([json.loads(line) for line in file if line.strip()])


READERS = {
    **dict.fromkeys((".parquet", ".pq"), pd.read_parquet),
    ".feather": pd.read_feather,
    **dict.fromkeys((".jsonl", ".ndjson"), read_lines),
}
TRUE, FALSE = ("true", "1", "1.0"), ("false", "0", "0.0")


def read_table(path: Path, columns: dict[str, Any], missing: list[str], csv: dict[str, Any]) -> Any:
    """Read these columns of a file, with the values and types of training.

    `csv` is how the training file was written. What counts as missing in text is in `missing`,
    unless it was a value in training.
    """
    if path.suffix.lower() in READERS:
        table = READERS[path.suffix.lower()](path)
        table.columns = table.columns.astype(str)
    else:
        markers = {name: gaps_of(columns[name], missing) for name in columns}
        written = [name for name, known in columns.items() if known["holds"] != "number"]
        table = pd.read_csv(
            path,
            dtype=dict.fromkeys(written, str),
            na_values=markers,
            keep_default_na=False,
            skipinitialspace=True,
            index_col=False,
            low_memory=False,
            **csv,
        )
    made = {}
    for name, known in columns.items():
        if name not in table:
            raise SystemExit(f"{path}: there is no column '{name}'.")
        try:
            made[name] = as_trained(table[name], known, missing)
        except (ValueError, TypeError) as problem:
            raise SystemExit(f"{path}, column '{name}': {problem}") from problem
    return pd.DataFrame(made, index=table.index)


def gaps_of(known: dict[str, Any], missing: list[str]) -> list[str]:
    """Return the texts that mean a missing value in a column."""
    return [text for text in missing if text not in known.get("texts", ())]


def as_trained(column: Any, known: dict[str, Any], missing: list[str]) -> Any:
    """Return a column with the values and the type that it had in training."""
    if known["holds"] == "other":
        return column
    if known["holds"] == "number":
        plain = column if pd.api.types.is_numeric_dtype(column.dtype) else column.astype(object)
        values = pd.to_numeric(plain).replace([np.inf, -np.inf], np.nan)
    else:
        cells = column.astype(object).where(column.notna(), np.nan)
        turn = truth_of if known["holds"] == "boolean" else text_of
        gaps = gaps_of(known, missing)
        values = cells.mask(cells.isin(gaps), np.nan).map(turn, na_action="ignore")
    if "categories" in known:
        new = sorted(set(values.dropna()).difference(known["categories"]))
        levels = pd.Index([*known["categories"], *new]).infer_objects()
        found = pd.Categorical(values, levels, ordered=known.get("is_ordered", False))
        return pd.Series(found, index=column.index)
    return with_type(values, known["dtype"])


def text_of(value: Any) -> str:
    """Return a text; refuse what is none."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text, and it held text in training.")
    return value


def truth_of(value: Any) -> bool:
    """Return the truth value of a cell."""
    text = str(value).strip().lower()
    if text not in (*TRUE, *FALSE):
        raise ValueError(f"{value!r} is neither true nor false.")
    return text in TRUE


def with_type(column: Any, dtype: str) -> Any:
    """Return a column with the type of training, unless this loses values."""
    if dtype in ("object", "str", "string"):
        return column.astype(object if dtype == "object" else "str")
    if dtype.startswith("float"):
        return column.astype(dtype)
    if column.isna().any():
        return column.astype(object if dtype.startswith("bool") else float)
    turned = column.astype(dtype)
    return turned if bool((turned == column).all()) else column


def make_columns(table: Any, readings: list[Any], readers: dict[str, Any]) -> Any:
    """Return the columns that the pipeline takes, made of those of the table.

    A reading has the name of a column, the names of those made of it and, unless they are the
    same, the facts found on it in training.
    """
    rows = table.reset_index(drop=True)
    made: dict[str, Any] = {}
    for name, names, facts in readings:
        found = {"": rows[name]}
        if facts is not None:
            found = readers[facts["form"]](rows[name], facts, lambda row: f"row {row} (from 0)")
        made |= dict(zip(names, found.values(), strict=True))
    return pd.DataFrame(made).set_axis(table.index)


def is_for_training(y: Any, *, by_class: bool, share: float, seed: int) -> Any:
    """Tell for each row if the run trained on it: it held a share of each class out."""
    classes = pd.factorize(y)[0] if by_class else np.zeros(len(y), dtype=int)
    mixed = np.random.default_rng(seed).permutation(len(y))
    order = mixed[np.argsort(classes[mixed], kind="stable")]
    starts = np.flatnonzero(np.diff(classes[order], prepend=-1))
    is_kept = np.ones(len(y), dtype=bool)
    for rows in np.split(order, starts[1:]):
        is_kept[rows[: min(max(round(share * len(rows)), 1), len(rows) - 1)]] = False
    return is_kept


def unpack_rows(packed: str, rows: int) -> Any:
    """Tell for each row if the run trained on it, from a text with a bit a row."""
    import base64
    import zlib

    bits = np.frombuffer(zlib.decompress(base64.b85decode(packed)), dtype=np.uint8)
    return np.unpackbits(bits, count=rows).astype(bool)


def fit_weighted(model: Any, X: Any, y: Any, weights: Any, fit_last: Any) -> Any:
    """Fit a pipeline, its last step with the weights of the rows."""
    before, arrived = model.steps[:-1], X
    for _, step in before:
        arrived = step.fit_transform(arrived, y)
    fit_last(model.steps[-1][1], arrived, y, weights)
    return model


def predictions_of(model: Any, rows: Any) -> Any:
    """Return a column with the predictions, and one with the probabilities of each class."""
    columns = {"prediction": model.predict(rows)}
    if hasattr(model, "predict_proba"):
        for label, column in zip(model.classes_, model.predict_proba(rows).T, strict=True):
            columns[f"probability_{label}"] = column
    return pd.DataFrame(columns)


def hand_out(predictions: Any, output: str | None) -> None:
    """Write predictions to a file, or print them."""
    if output is not None and Path(output).suffix.lower() in (".parquet", ".pq"):
        predictions.to_parquet(output, index=False)
    else:
        predictions.to_csv(output or sys.stdout, index=False)
