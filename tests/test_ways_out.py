"""A model predicts the same wherever it is: in fit's process, from files, loaded, as a script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_python

import automl_admm
from automl_admm import AutoMLClassifier, AutoMLRegressor
from automl_admm.cli.main import main
from automl_admm.execution.threads import thread_environment

ROWS = 200
# The script is to run where nothing but scikit-learn and pandas is installed.
ABSENT = ("automl_admm", "skops", "lark", "pluggy", "click", "rich", "psutil")
# An interpreter costs seconds: one runs the script with each of these lists of arguments.
ALONE = f"""
import json, runpy, sys
sys.modules.update(dict.fromkeys({ABSENT}))
for sys.argv in json.loads(sys.argv[1]):
    print(end="\\f", flush=True)
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
FORGOTTEN = f"""
import sys, warnings
warnings.simplefilter("ignore")
for name in list(sys.modules):
    if name.partition(".")[0] in {ABSENT}:
        sys.modules[name] = None
"""
LOADED = """
import sys, automl_admm, pandas
for run, rows, out in zip(*[iter(sys.argv[1:])] * 3):
    found = automl_admm.load(run).predict(pandas.read_parquet(rows))
    pandas.DataFrame({"prediction": found}).to_csv(out, index=False)
"""


def numbers() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=list("abcd"))
    frame["whole"] = rng.integers(0, 9, ROWS)
    frame["target"] = frame["a"] * 2 + frame["whole"] + rng.normal(size=ROWS)
    return frame


def people() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(18, 90, ROWS), "flag": rng.random(ROWS) < 0.5})
    frame["maybe"] = pd.Series(rng.choice([True, False, None], ROWS), dtype=object)
    frame["half"] = np.where(rng.random(ROWS) < 0.1, np.nan, rng.normal(size=ROWS))
    frame["city"] = rng.choice(["Ulm", "Bonn", "Köln, Süd", None], ROWS)
    score = frame["age"] / 40 + 2 * frame["flag"] + frame["half"].fillna(0)
    frame["target"] = np.where(score > score.median(), "yes", "no")
    return frame


def codes() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"code": rng.choice(["007", "07", "7", "012"], ROWS)})
    frame["noise"] = rng.random(ROWS)
    frame["size"] = rng.choice(["S", "M", "L"], ROWS)
    frame["target"] = np.where(frame["code"] == "007", "01", frame["size"])
    return frame


def messy() -> pd.DataFrame:
    """Numbers, dates and truth values in text, texts and a constant: read by the facts found."""
    rng = np.random.default_rng(3)
    price = rng.uniform(10, 9000, ROWS)
    frame = pd.DataFrame({"price": [f"{one:,.2f} €" for one in price]})
    days = pd.Timestamp("2020-01-31") + pd.to_timedelta(rng.integers(0, 900, ROWS), unit="D")
    frame["day"] = pd.Series(days).dt.strftime("%d.%m.%Y")
    frame["works"] = rng.choice(["yes", "Yes", "no", "NO", "n.d."], ROWS)
    frame["share"] = [f"{one:.1%}" for one in rng.random(ROWS)]
    words = np.array(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"])
    frame["told"] = [" ".join(rng.choice(words, 9)) for _ in range(ROWS)]
    frame["same"] = "x"
    frame["target"] = np.where((price > 4000) ^ (days.year == 2021), "good", "bad")
    return frame


TABLES = {"numbers": numbers, "people": people, "codes": codes, "messy": messy}
# Each ends in the estimator of the task.
GRAMMARS = {
    "tree": "start: impute decision_tree",
    "linear": "start: impute standard_scaler {}",
    "stack": "start: impute stack{{decision_tree}} {}",
    "parts": "start: by_type{{a, b}} select_percentile {}\na: impute standard_scaler\nb: impute",
}
COMPONENTS = ("impute", "standard_scaler", "select_percentile", "decision_tree")


def write_all(frame: pd.DataFrame, folder: Path) -> list[Path]:
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet", index=False)
    return [folder / "rows.csv", folder / "rows.parquet"]


def program(*arguments: object) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert not ended.value.code


def run_script(*calls: Sequence[object]) -> subprocess.CompletedProcess[str]:
    """Run a script with each of these lists of arguments, in one interpreter that has nothing else.

    Small products take many times as long in as many threads as there are cores.
    """
    words = json.dumps([[str(word) for word in words] for words in calls])
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALONE, words],
        env=os.environ | thread_environment(1),
        capture_output=True,
        text=True,
        check=False,
    )


def fork_script(*calls: Sequence[object]) -> subprocess.CompletedProcess[str]:
    """Do the same in a fork, which has imported what the script may import and loses the rest.

    That the script imports what it needs is told by the tests with an interpreter of its own.
    """
    words = json.dumps([[str(word) for word in words] for words in calls])
    return run_python("-c", f"{FORGOTTEN}{ALONE}", words)


def as_read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype={"prediction": str}, keep_default_na=False)


CASES = [
    *(("numbers", "linear"), ("numbers", "parts"), ("people", "tiny"), ("people", "stack")),
    *(("people", "parts"), ("codes", "tiny"), ("codes", "linear"), ("messy", "tree")),
]


def test_all_ways_out_predict_the_same(tmp_path: Path) -> None:
    """Every case fits by itself; all scripts share one, and so do all loaded models."""
    folders = [tmp_path / f"{name}-{grammar}" for name, grammar in CASES]
    for folder, case in zip(folders, CASES, strict=True):
        fit_and_predict(folder, *case)
    files = [(folder, kind) for folder in folders for kind in ("csv", "parquet")]
    scripted = [
        (
            one / "RUN/pipeline.py",
            one / "rows.csv",
            one / f"rows.{kind}",
            one / f"script-{kind}.csv",
        )
        for one, kind in files
    ]
    done = run_script(*scripted)
    assert done.returncode == 0, done.stderr
    loaded = [(one / "RUN", one / "rows.parquet", one / "loaded.csv") for one in folders]
    done = run_python("-c", LOADED, *(path for paths in loaded for path in paths))
    assert done.returncode == 0, done.stderr
    for folder in folders:
        demand_the_same(folder)


def fit_and_predict(folder: Path, name: str, grammar: str) -> None:
    """Lay a run into a folder, with what the program and a loaded model predict by it."""
    folder.mkdir()
    frame = TABLES[name]()
    files = write_all(frame, folder)
    space: str | Path = "tiny"
    if grammar in GRAMMARS:
        last = "ridge" if name == "numbers" else "logistic_regression"
        text = GRAMMARS[grammar].format(last)
        used = ", ".join(one for one in (*COMPONENTS, last) if one in text)
        space = folder / "space.lark"
        space.write_text(f"%import components ({used})\n{text}\n")
    few = ("--cv=2", "--max-evaluations", "2", "--executor", "inline", "--grammar", space, "-q")
    program("fit", files[0], "--target", "target", "--out", folder / "RUN", *few)
    for file in files:
        program("predict", folder / "RUN", file, "-o", folder / f"told-{file.suffix[1:]}.csv")
    model: Any = automl_admm.load(folder / "RUN")
    own = pd.DataFrame({"prediction": model.predict(frame)})
    if hasattr(model, "predict_proba"):
        for place, label in enumerate(model.classes_):
            own[f"probability_{label}"] = model.predict_proba(frame)[:, place]
    own.to_csv(folder / "own.csv", index=False)


def demand_the_same(folder: Path) -> None:
    first = as_read(folder / "told-csv.csv")
    for way in ("told-parquet", "script-csv", "script-parquet", "own"):
        other = as_read(folder / f"{way}.csv")
        name = f"{folder.name}: {way}"
        pd.testing.assert_frame_equal(other, first, check_exact=True, obj=name)
    loaded = as_read(folder / "loaded.csv")
    assert loaded["prediction"].tolist() == first["prediction"].tolist(), folder.name
    assert len(set(first["prediction"])) > 1, folder.name


@pytest.mark.parametrize("name", ["numbers", "people"])
def test_what_fit_predicts_is_what_its_folder_predicts(name: str, tmp_path: Path) -> None:
    frame = TABLES[name]()
    X, y = frame.drop(columns="target"), frame["target"]
    kind = AutoMLRegressor if name == "numbers" else AutoMLClassifier
    search = kind(
        grammar="tiny", cv=2, max_evaluations=2, executor="inline", work_dir=tmp_path / "RUN"
    )
    search.fit(X, y.rename("wanted"))
    frame = frame.rename(columns={"target": "wanted"})
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    script = tmp_path / "RUN" / "pipeline.py"
    done = fork_script((script, *[tmp_path / "rows.parquet"] * 2, tmp_path / "script.csv"))
    assert done.returncode == 0, done.stderr
    program("predict", tmp_path / "RUN", tmp_path / "rows.parquet", "-o", tmp_path / "told.csv")
    pd.DataFrame({"prediction": search.predict(X)}).to_csv(tmp_path / "own.csv", index=False)
    own = as_read(tmp_path / "own.csv")["prediction"].tolist()
    assert as_read(tmp_path / "told.csv")["prediction"].tolist() == own
    assert as_read(tmp_path / "script.csv")["prediction"].tolist() == own


def test_weights_and_a_dialect_are_those_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = people().assign(weight=np.arange(ROWS) % 5 / 2)
    frame.to_csv("rows.csv", index=False, sep=";", decimal=",", encoding="cp1252")
    (tmp_path / "space.lark").write_text(
        "%import components (k_neighbors, impute)\nstart: impute k_neighbors\n"
    )
    few = (
        *("--cv=2", "--max-evaluations", "1", "--executor", "inline"),
        *("--grammar", "space.lark", "-q"),
    )
    program("fit", "rows.csv", "--target", "target", "--weight", "weight", "--out", "RUN", *few)
    program("predict", "RUN", "rows.csv", "-o", "told.csv")
    text = Path("rows.csv").read_text("cp1252").splitlines()
    age = text[2].split(";")[0]
    text[2] = f"old{text[2].removeprefix(age)}"
    Path("bad.csv").write_text("\n".join(text), "cp1252")
    done = fork_script(
        ("RUN/pipeline.py", "rows.csv", "rows.csv", "script.csv"),
        ("RUN/pipeline.py",),
        ("RUN/pipeline.py", "rows.csv", "bad.csv"),
    )
    said = "error: bad.csv, line 3: column 'age' holds 'old', and held numbers in training.\n"
    assert (done.returncode, done.stderr) == (2, said), "the last alone ends with an error"
    assert done.stdout.split("\f")[3:] == [""]
    assert Path("script.csv").read_text() == Path("told.csv").read_text()


HEADERS = (",a,,y", "y,,a,", "a,b,a,y", "a,b,,y")


def test_names_alike_or_absent_are_those_of_pandas_in_every_way_out(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(len(HEADERS))]
    for folder, header in zip(folders, HEADERS, strict=True):
        folder.mkdir()
        write_numbers(folder / "rows.csv", header)
        few = ("--cv=2", "--max-evaluations", "1", "--executor", "inline", "--grammar", "tiny")
        data, out = (folder / "rows.csv", "--target", "y"), ("--out", folder / "RUN", "-q")
        program("fit", *data, *few, *out)
        program("predict", folder / "RUN", folder / "rows.csv", "-o", folder / "told.csv")
    scripts = [(folder / "RUN" / "pipeline.py", folder) for folder in folders]
    named = [(script, *[one / "rows.csv"] * 2, one / "script.csv") for script, one in scripts]
    done = fork_script(*named, *((script,) for script, _ in scripts))
    assert done.returncode == 0, done.stderr
    for folder, header in zip(folders, HEADERS, strict=True):
        told = (folder / "told.csv").read_text()
        assert (folder / "script.csv").read_text() == told, header
        chances = automl_admm.load(folder / "RUN").predict_proba(pd.read_csv(folder / "rows.csv"))
        last = pd.read_csv(folder / "told.csv").iloc[:, -1].to_numpy()
        assert chances[:, 1] == pytest.approx(last), header


def write_numbers(path: Path, header: str) -> None:
    """Write rows of numbers with a target that their sum tells."""
    numbers = np.random.default_rng(0).random((60, 4)).round(3)
    place = header.split(",").index("y")
    numbers[:, place] = numbers.sum(axis=1) - numbers[:, place] > 1.5
    rows = [",".join(map(str, row)) for row in numbers]
    path.write_text("\n".join((header, *rows)) + "\n")


def test_a_model_without_code_leaves_no_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    frame = numbers()
    monkeypatch.setattr("automl_admm.pipelines.as_code._Writer.value", lambda *_: 1 / 0)
    search = AutoMLRegressor(
        grammar="tiny", cv=2, max_evaluations=1, executor="inline", work_dir=tmp_path / "RUN"
    )
    search.fit(frame.drop(columns="target"), frame["target"])
    assert (tmp_path / "RUN" / "model.skops").exists()
    assert not (tmp_path / "RUN" / "pipeline.py").exists()
    assert "no pipeline.py was written: ZeroDivisionError" in caplog.text
