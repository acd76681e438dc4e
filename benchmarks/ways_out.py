"""Predictions of one model by every way out of a run, over all data sets of a folder.

    python benchmarks/ways_out.py --data DIR [--evaluations 4] [sets …]

Each set DIR/NAME.csv has its target in DIR/NAME.json. A model is fitted on the CSV file. Its rows
are predicted from CSV, packed CSV with semicolons, Parquet and JSON lines, by `load` in a new
process, by `pipeline.py` where this package cannot be imported, and by ONNX. Printed is for each
way the number of rows with another prediction than from the CSV file, and the largest difference of
a value.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

PROGRAM = (sys.executable, "-m", "automl_admm")
ABSENT = ("automl_admm", "skops", "lark", "pluggy", "click", "rich", "psutil")
ALONE = (
    f"import runpy, sys; sys.modules.update(dict.fromkeys({ABSENT})); sys.argv = sys.argv[1:]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)
LOADED = """
import sys, automl_admm, pandas
model, rows = automl_admm.load(sys.argv[1]), pandas.read_parquet(sys.argv[2])
found = {"prediction": model.predict(rows)}
if hasattr(model, "predict_proba"):
    for label, column in zip(model.classes_, model.predict_proba(rows).T):
        found[f"probability_{label}"] = column
pandas.DataFrame(found).to_csv(sys.argv[3], index=False)
"""
Save = Callable[[pd.DataFrame, Path], object]
FORMS: dict[str, Save] = {
    "rows.csv.gz": lambda frame, path: frame.to_csv(path, index=False, sep=";", decimal=","),
    "rows.parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "rows.jsonl": lambda frame, path: frame.to_json(
        path, orient="records", lines=True, double_precision=15
    ),
}


def call(*words: object) -> str:
    """Run a program; return its last words if it fails, else nothing."""
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["failed"])[-1]


def compare(path: Path, first: pd.DataFrame) -> str:
    """Say how far predictions are from the first ones."""
    found = pd.read_csv(path, dtype={"prediction": str})
    other = int((found["prediction"] != first["prediction"]).sum())
    values = [name for name in first if name != "prediction"]
    apart = np.abs(found[values].to_numpy(float) - first[values].to_numpy(float))
    if not values:
        apart = np.abs(found["prediction"].astype(float) - first["prediction"].astype(float))
    return f"{other} / {np.max(apart, initial=0.0):.1g}"


def ways_of(name: str, data: Path, folder: Path, evaluations: int) -> dict[str, str]:
    """Return a cell for each way out of a run on one set."""
    csv, run = data / f"{name}.csv", folder / "RUN"
    target = json.loads((data / f"{name}.json").read_text())["target"]
    few = ("--max-evaluations", evaluations, "--workers", 1, "-q")
    problem = call(*PROGRAM, "fit", csv, "--target", target, *few, "--out", run)
    problem = problem or call(*PROGRAM, "predict", run, csv, "-o", folder / "first.csv")
    if problem:
        return {"fit": problem}
    first = pd.read_csv(folder / "first.csv", dtype={"prediction": str})
    frame = pd.read_csv(csv)
    cells: dict[str, str] = {}
    for form, save in FORMS.items():
        save(frame, folder / form)
        problem = call(*PROGRAM, "predict", run, folder / form, "-o", folder / "told.csv")
        cells[form] = problem or compare(folder / "told.csv", first)
    rows, told = folder / "rows.parquet", folder / "told.csv"
    problem = call(sys.executable, "-c", LOADED, run, rows, told)
    cells["load"] = problem or compare(told, first)
    script = (sys.executable, "-W", "ignore", "-c", ALONE, run / "pipeline.py")
    cells["pipeline.py"] = call(*script, csv, csv, told) or compare(told, first)
    refused = call(*PROGRAM, "export", run, "--onnx", folder / "model.onnx")
    cells["ONNX"] = refused.removeprefix("error: ")[:60] or "kept"
    return cells


def main() -> None:
    """Print a line for each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--evaluations", type=int, default=4)
    parser.add_argument("sets", nargs="*")
    given = parser.parse_args()
    names = given.sets or sorted(path.stem for path in given.data.glob("*.json"))
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            cells = ways_of(name, given.data, Path(folder), given.evaluations)
        print(f"{name:15}", "  ".join(f"{way} {cell}" for way, cell in cells.items()), flush=True)


if __name__ == "__main__":
    main()
