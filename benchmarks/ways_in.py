"""One model from every form of file: each set of a folder is saved, fitted and predicted in all.

    python benchmarks/ways_in.py ../shared/data --results ways_in.jsonl [--sets …] [--start …]

Each set DIR/NAME.csv has its target in DIR/NAME.json. Four rows of five are saved as CSV with
semicolons and decimal commas, as Parquet, as ARFF and as packed CSV; each file is fitted with
nothing but its target, and two evaluations with seed 0, so that the speed of the machine decides
nothing; with `--start "impute() ridge()"` this pipeline alone is evaluated, and is the model. Each
of the four models predicts the other rows from each of the four forms. Its script pipeline.py,
where this package cannot be imported, fits the file of its form and predicts from it, too. A line
of the results is a set and a form, and a set that is there is not run again. The table says for
each if the digest of the rows, the kinds of the columns and the pipeline are those of the first
form, and the largest difference of any prediction from the first model's of the first form.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
from ways_files import (
    FORMS,
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
)
from ways_files import told as predictions_in

# What is to be the same, by the column of the table: digests of the rows, kinds of columns.
FACTS = {"rows": ["data"], "kinds": ["schema", "ingest", "classes"], "pipeline": ["pipeline"]}
FIRST = next(iter(FORMS))
Model = dict[str, Any]


def options(start: str) -> list[str]:
    """Return the options of `fit`: a fixed number of evaluations, or one of a pipeline."""
    few = ["--max-evaluations", "1", "--start", start] if start else ["--max-evaluations", "2"]
    return [*few, "--seed", "0", "--executor", "inline", "-q"]


def fitted(words: list[object], run: Path, files: dict[str, Path]) -> tuple[str, Model]:
    """Fit a file, predict others by the model; return a problem, and what is to be the same."""
    fit = ["fit", *words, "--out", run]
    predict = (["predict", run, file, "-o", f"{file}.told.parquet"] for file in files.values())
    problem = call_program(fit, *predict)
    if problem:
        return problem, {}
    model = json.loads((run / "model.json").read_text(encoding="utf-8"))
    facts = {name: model.get(name) for name in ("pipeline", "schema", "ingest", "classes")}
    return "", facts | {"data": json.loads((run / "run.json").read_text(encoding="utf-8"))["data"]}


def by_script(run: Path, train: Path, new: Path, first: pd.DataFrame) -> str:
    """Fit and predict by the script of a run; say how far from the first predictions it is."""
    told = run / "script.parquet"
    problem = call(SCRIPT, run / "pipeline.py", train, new, told)
    return problem or compare(predictions_in(told), first)


def run_set(data: Path, name: str, start: str, folder: Path) -> list[dict[str, Any]]:
    """Return a record for each form of a set."""
    target = json.loads((data / f"{name}.json").read_text(encoding="utf-8"))["target"]
    train, new = parted(data / f"{name}.csv")
    trains = save_all(train, folder, "train")
    news = save_all(new.drop(columns=[target]), folder, "new")
    made: list[dict[str, Any]] = []
    first_model: Model = {}
    first = pd.DataFrame()
    for form, file in trains.items():
        run = folder / f"RUN {form}"
        problem, model = fitted([file, "--target", target, *options(start)], run, news)
        record = {"set": name, "form": form, "commit": commit(), "rows": len(new), "fit": problem}
        if problem:
            made.append(record)
            continue
        found = {one: predictions_in(Path(f"{news[one]}.told.parquet")) for one in news}
        if not first_model:
            first_model, first = model, found[FIRST]
        record |= {
            "same": [key for key in model if model[key] == first_model[key]],
            "pipeline": model["pipeline"],
            "predictions": {one: compare(found[one], first) for one in news},
            "script": by_script(run, file, news[form], first),
        }
        made.append(record)
    return made


def cells(record: dict[str, Any]) -> list[str]:
    """Return the row of a record in the table."""
    start = [record["set"], record["form"]]
    if record["fit"]:
        return [*start, record["fit"][:60], *[""] * (len(FORMS) + len(FACTS))]
    same = ["yes" if set(keys) <= {*record["same"]} else "NO" for keys in FACTS.values()]
    return [*start, *same, *record["predictions"].values(), record["script"][:100]]


def main() -> None:
    """Run the sets that are not in the results; print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--start", default="", metavar="PIPELINE")
    given = parser.parse_args()
    names = given.sets or sorted(path.stem for path in given.data.glob("*.json"))
    done = {record["set"] for record in records(given.results)}
    for name in (name for name in names if name not in done):
        with tempfile.TemporaryDirectory() as folder:
            for record in run_set(given.data, name, given.start, Path(folder)):
                keep(given.results, record)
        print(f"{name} is done", file=sys.stderr, flush=True)
    header = ["set", "fitted on", *FACTS, *FORMS, "pipeline.py"]
    print_table([header, *map(cells, records(given.results))])


if __name__ == "__main__":
    main()
