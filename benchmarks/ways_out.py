"""Predictions of one model by every way out of a run, over data sets and messy tables.

    python benchmarks/ways_out.py ../shared/data --results ways_out.jsonl [--sets …] [--start …]

Each set DIR/NAME.csv has its target in DIR/NAME.json; the messy tables are some of
`frames_tables.py`. A model is fitted in Python, on four rows of five, with two evaluations and seed
0; with `--start "impute() ridge()"` this pipeline alone is evaluated, and is the model. What it
predicts of the other rows in the process of `fit` is the measure. They are predicted from every
form of file by `automl-admm predict`, by `automl_admm.load` in a new process, by `pipeline.py`
where this package cannot be imported, and by ONNX where the model can be converted. A line of the
results is a set, and one that is there is not run again. The table shows for each way the largest
difference of a prediction, and how many labels are others.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
from frames_tables import make_task
from ways_files import (
    FORMS,
    LATER,
    SCRIPT,
    call,
    call_program,
    commit,
    compare,
    keep,
    parted,
    print_table,
    records,
    save_all,
    save_parquet,
    told,
)

MESSY = (
    "thousands 1,234.50",
    "numbers with n/a and dashes",
    "codes with zeros: 007",
    "yes, Yes, Y, no, N",
    "truth values with gaps",
    "dates 17.05.2023",
    "dates of pandas: the day of the week",
    "durations 1:23:45",
    "categories that are numbers and text",
    "free text with gaps, and numbers",
    "tags in a text",
    "quantity: dates and categories",
)
# The frames arrive as a pickle: Python's own types, such as dates, are part of the test.
START = """
import sys, pandas, automl_admm
def write(model, X, path):
    found = {"prediction": model.predict(X)}
    if hasattr(model, "predict_proba"):
        for label, column in zip(model.classes_, model.predict_proba(X).T):
            found[f"probability_{label}"] = column
    pandas.DataFrame(found).to_parquet(path)
folder, run, *start = sys.argv[1:]
X, y, new = pandas.read_pickle(f"{folder}/frames.pickle")
"""
FIT = (
    START
    + """
is_quantity = y.dtype.kind in "if" and y.nunique() > 20
kind = automl_admm.AutoMLRegressor if is_quantity else automl_admm.AutoMLClassifier
few = {"max_evaluations": 1, "starts": start} if start else {"max_evaluations": 2}
search = kind(**few, random_state=0, executor="inline", work_dir=run)
write(search.fit(X, y), new, f"{folder}/fit.parquet")
"""
)
# The inputs of ONNX are the columns as the pipeline takes them.
LOAD = (
    START
    + """
import os
model = automl_admm.load(run)
write(model, new, f"{folder}/load.parquet")
if not os.path.exists(f"{folder}/model.onnx"):
    sys.exit()
import numpy, onnxruntime
rows = pandas.DataFrame(model.rows.take(new))
session = onnxruntime.InferenceSession(f"{folder}/model.onnx")
kinds = {"tensor(string)": object, "tensor(double)": float, "tensor(float)": numpy.float32}
inputs = {one.name: kinds[one.type] for one in session.get_inputs()}
feeds = {}
for name, kind in inputs.items():
    cells = rows if list(inputs) == ["columns"] else rows[[name]]
    if kind is object:
        cells = cells.astype(object).where(cells.notna(), "")
    feeds[name] = cells.to_numpy(kind)
answers = session.run(None, feeds)
found = {"prediction": numpy.asarray(answers[0]).ravel()}
if hasattr(model, "predict_proba"):
    if model.classes_.dtype == bool:
        found["prediction"] = found["prediction"].astype(bool)
    found |= {f"probability_{label}": c for label, c in zip(model.classes_, answers[1].T)}
pandas.DataFrame(found).to_parquet(f"{folder}/onnx.parquet")
"""
)
HEADER = ["set", "model", *FORMS, *LATER, "load", "pipeline.py", "ONNX"]
Task = tuple[pd.DataFrame, pd.Series, pd.DataFrame]


def task_of(name: str, data: Path) -> Task:
    """Return the rows to train on, their target and the rows to predict."""
    if name in MESSY:
        made = make_task(name, 0)
        return made.X_train, made.y_train, made.X_test
    target = json.loads((data / f"{name}.json").read_text(encoding="utf-8"))["target"]
    train, new = parted(data / f"{name}.csv")
    return train.drop(columns=[target]), train[target], new.drop(columns=[target])


def ways_of(task: Task, start: list[str], folder: Path) -> dict[str, str]:
    """Return what is said of each way out of a run."""
    X, y, new = task
    pd.to_pickle(task, folder / "frames.pickle")
    run = folder / "RUN"
    problem = call(FIT, folder, run, *start)
    if problem:
        return {"model": problem}
    first = told(folder / "fit.parquet")
    model = json.loads((run / "model.json").read_text(encoding="utf-8"))["pipeline"]
    cells = {"model": " ".join(part.partition("(")[0] for part in model.split(") "))}

    def after(problem: str, file: str) -> str:
        return problem or compare(told(folder / file), first)

    files = save_all(new, folder, "new", [*FORMS, *LATER])
    predict = (["predict", run, file, "-o", f"{file}.csv"] for file in files.values())
    problem = call_program(*predict)
    cells |= {form: after(problem, f"{file.name}.csv") for form, file in files.items()}
    train, rows = folder / "train.parquet", files["Parquet"]
    save_parquet(X.assign(**{str(y.name): y}), train)
    script = call(SCRIPT, run / "pipeline.py", train, rows, folder / "script.parquet")
    cells["pipeline.py"] = after(script, "script.parquet")
    refused = call_program(["export", run, "--onnx", folder / "model.onnx", "--data", train])
    problem = call(LOAD, folder, run)
    cells["load"] = after(problem, "load.parquet")
    cells["ONNX"] = after(refused or problem, "onnx.parquet")
    return cells


def main() -> None:
    """Run the sets that are not in the results; print the table, and the refusals below it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--start", nargs="*", default=[], metavar="PIPELINE")
    given = parser.parse_args()
    names = given.sets or [*sorted(path.stem for path in given.data.glob("*.json")), *MESSY]
    done = {record["set"] for record in records(given.results)}
    for name in (name for name in names if name not in done):
        with tempfile.TemporaryDirectory() as folder:
            cells = ways_of(task_of(name, given.data), given.start, Path(folder))
        keep(given.results, {"set": name, "commit": commit(), **cells})
        print(f"{name} is done", file=sys.stderr, flush=True)
    found = list(records(given.results))
    refused = [(one["set"], one["ONNX"]) for one in found if one.get("ONNX", "").startswith("exit")]
    print_table([HEADER, *([shown(one, key) for key in HEADER] for one in found)])
    for name, line in refused:
        print(f"\n{name}: {line}")


def shown(record: dict[str, Any], key: str) -> str:
    """Return a cell of the table; refusals of ONNX stand below it."""
    said = str(record.get(key, ""))
    return "refused" if key == "ONNX" and said.startswith("exit 2") else said


if __name__ == "__main__":
    main()
