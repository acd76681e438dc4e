"""Files of a table in every form, and predictions compared, for ways_in.py and ways_out.py."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

# Processes begin with these already imported; each imports automl_admm itself, or finds it absent.
IMPORTED = (
    "sklearn.compose",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "pandas",
    "pyarrow.parquet",
    "scipy.stats",
    "skl2onnx",
    "onnxruntime",
)
# The script of a run is to work where nothing but scikit-learn and pandas is installed.
ABSENT = ("automl_admm", "skops", "lark", "pluggy", "click", "rich", "psutil")
SCRIPT = f"""
import runpy, sys, warnings
warnings.simplefilter("ignore")
# scikit-learn imports some of them where they are.
for name in [name for name in sys.modules if name.partition(".")[0] in {ABSENT}]:
    del sys.modules[name]
sys.modules.update(dict.fromkeys({ABSENT}))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
NOMINAL = 50  # so many texts may stand in the header of an ARFF file
# The program, command after command in one process.
COMMANDS = """
import json, sys
from automl_admm.cli.main import main
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as ended:
        if ended.code:
            sys.exit(ended.code)
"""
KEPT_OUT = 5  # one row of so many is predicted
PREDICTION = "prediction"
Save = Callable[[pd.DataFrame, Path], object]


def save_arff(frame: pd.DataFrame, path: Path) -> None:
    """Write ARFF: numbers, few texts as nominal ones, many as strings."""
    header = [f"@attribute {_quoted(str(name))} {_kind(column)}" for name, column in frame.items()]
    rows = (",".join(map(_cell, row)) for row in frame.itertuples(index=False))
    path.write_text("\n".join(["@relation rows", *header, "@data", *rows, ""]), encoding="utf-8")


def _kind(column: pd.Series) -> str:
    texts = sorted({str(cell) for cell in column.dropna()})
    if column.dtype.kind in "iuf":
        return "numeric"
    return "{" + ",".join(map(_quoted, texts)) + "}" if len(texts) <= NOMINAL else "string"


def _cell(cell: Any) -> str:
    if pd.isna(cell):
        return "?"
    is_number = isinstance(cell, (int, float)) and not isinstance(cell, bool)
    return str(cell) if is_number else _quoted(str(cell))


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", r"\\").replace("'", r"\'").replace("\n", r"\n") + "'"


def save_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write Parquet, whose columns hold one kind each: those of numbers and texts become texts."""
    mixed = [name for name in frame if pd.api.types.infer_dtype(frame[name]).startswith("mixed")]
    texts = {name: frame[name].map(str, na_action="ignore") for name in mixed}
    frame.assign(**texts).to_parquet(path, index=False)


def save_json_lines(frame: pd.DataFrame, path: Path) -> None:
    """Write JSON lines with every digit; pandas writes 15."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    lines = (json.dumps(row, default=pd.Timestamp.isoformat) for row in rows)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


FORMS: dict[str, tuple[str, Save]] = {
    "semicolons": (".csv", lambda rows, path: rows.to_csv(path, index=False, sep=";", decimal=",")),
    "Parquet": (".parquet", save_parquet),
    "ARFF": (".arff", save_arff),
    "CSV.gz": (".csv.gz", lambda rows, path: rows.to_csv(path, index=False)),
}
# Further forms, of rows to predict.
LATER: dict[str, tuple[str, Save]] = {
    "CSV": (".csv", lambda rows, path: rows.to_csv(path, index=False)),
    "JSON lines": (".jsonl", save_json_lines),
}


def parted(path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read a set; return the rows to train on and those to predict."""
    frame = pd.read_csv(path)
    is_new = frame.index % KEPT_OUT == KEPT_OUT - 1
    return frame[~is_new].reset_index(drop=True), frame[is_new].reset_index(drop=True)


def save_all(
    rows: pd.DataFrame, folder: Path, stem: str, forms: Iterable[str] = FORMS
) -> dict[str, Path]:
    """Write rows in these forms; return the files."""
    files = {}
    for form in forms:
        suffix, save = (FORMS | LATER)[form]
        files[form] = folder / f"{stem}_{form.replace(' ', '_')}{suffix}"
        save(rows, files[form])
    return files


def call(code: str, *words: object) -> str:
    """Run code in a new process; return its last words if it fails, else nothing."""
    # One thread, as the run had: sums in another order differ in their last digit.
    os.environ["OMP_NUM_THREADS"] = "1"
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([*IMPORTED])
    with tempfile.NamedTemporaryFile(encoding="utf-8", mode="r") as said:
        process = server.Process(target=_run, args=(code, [*map(str, words)], said.name))
        process.start()
        process.join()
        last = (said.read().strip().splitlines() or ["no word"])[-1]
    return (
        "" if not process.exitcode else f"exit {process.exitcode}: {last.removeprefix('error: ')}"
    )


def _run(code: str, words: list[str], said: str) -> None:
    with open(said, "w", encoding="utf-8") as file:  # noqa: PTH123 - a number is needed
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.argv = ["-c", *words]
    exec(code, {"__name__": "__main__"})  # noqa: S102 - the code of these benchmarks


def call_program(*commands: Sequence[object]) -> str:
    """Run commands of the program; return the last words of the one that fails, else nothing."""
    words = [[str(word) for word in command] for command in commands]
    return call(COMMANDS, json.dumps(words))


def told(path: Path) -> pd.DataFrame:
    """Read predictions, numbers to the last digit."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, dtype={PREDICTION: str}, keep_default_na=False)


def compare(found: pd.DataFrame, first: pd.DataFrame) -> str:
    """Say how far predictions are from the first ones: how many labels differ, and the values."""
    if list(found) != list(first) or len(found) != len(first):
        return f"{found.shape} instead of {first.shape}"
    values = [name for name in first if name != PREDICTION]
    labels = [] if values or is_number(first[PREDICTION]) else [PREDICTION]
    other = 0
    if labels or values:
        other = int((found[PREDICTION].astype(str) != first[PREDICTION].astype(str)).sum())
    compared = values or ([] if labels else [PREDICTION])
    apart = np.abs(found[compared].to_numpy(float) - first[compared].to_numpy(float))
    most = float(np.max(apart, initial=0.0))
    if np.isnan(most):
        return "no number"
    if not other and not most:
        return "equal"
    return f"{most:.0e}" if not other else f"{other} labels, {most:.0e}"


def is_number(column: pd.Series) -> bool:
    """Return True for predictions of a quantity; read from CSV they are texts."""
    try:
        column.astype(float)
    except (TypeError, ValueError):
        return False
    return True


def commit() -> str:
    """Return the commit of this code."""
    return subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607 - git is where this script came from
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    ).stdout.strip()


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Return the results so far."""
    if path.is_file():
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def keep(path: Path, record: dict[str, Any]) -> None:
    """Append a result."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def print_table(rows: list[list[str]]) -> None:
    """Print rows in columns of one width; the first is the header."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(map(str.ljust, row, widths)).rstrip())
