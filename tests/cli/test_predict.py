"""Training on one file and predicting another: other formats, other types, other rows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.cli.main import main
from automl_admm.data.plain_columns import plain_missing
from automl_admm.runs.finish.model_file import load_model
from automl_admm.store.run_folder import RunFolder

Run = Callable[..., Any]
ON_CSV = pytest.mark.parametrize("trained", ["people.csv"], indirect=True)

SEARCH = (
    *("--grammar", "tiny", "--cv=2", "--max-evaluations", "2", "--theta-solver", "random"),
    *("--executor", "inline", "--out", "out"),
)


def people(rows: int = 240) -> pd.DataFrame:
    """A column of each kind; the target hangs on those that are easily read as something else."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"flag": rng.random(rows) < 0.5, "whole": rng.integers(0, 5, rows)})
    frame["maybe"] = pd.Series(rng.choice([True, False, None], rows), dtype=object)
    frame["code"] = rng.choice(["007", "07", "7", "A7"], rows)
    frame["land"] = rng.choice(["NA", "DE", "FR"], rows)
    frame["half"] = np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows))
    score = 2.0 * frame["flag"] + (frame["maybe"] == True) + (frame["code"] == "007")  # noqa: E712
    score += (frame["land"] == "NA") + frame["half"].fillna(0.0) + 0.2 * frame["whole"]
    frame["buys"] = np.where(score > score.median(), "yes", "no")
    return frame


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    return path


def right(folder: Path, frame: pd.DataFrame) -> np.ndarray:
    """What the model says of rows as they were in training."""
    rows = plain_missing(frame.drop(columns="buys"))
    return load_model(RunFolder(folder)).predict_proba(rows)[:, 1]


def as_read(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The frame as a training on this file has it: a CSV file cannot say NA."""
    return (
        frame.assign(land=frame["land"].replace("NA", np.nan)) if path.suffix == ".csv" else frame
    )


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders with a file of either kind and a run on it."""
    made = {}
    for name in ("people.csv", "people.parquet"):
        folder = tmp_path_factory.mktemp("run")
        path = write(people(), folder / name)
        out = str(folder / "out")
        with pytest.raises(SystemExit) as ended:
            main(["fit", str(path), "--target", "buys", *SEARCH[:-1], out, "-q"])
        assert not ended.value.code
        made[name] = folder
    return made


@pytest.fixture(params=["people.csv", "people.parquet"])
def trained(request: Any, runs: dict[str, Path], tmp_path: Path) -> Path:
    """A run on a file of either kind; returns the file."""
    shutil.copytree(runs[request.param], tmp_path, dirs_exist_ok=True)
    return tmp_path / request.param


@pytest.mark.fault(
    "F57",
    injected="the file to predict is of another format, or has other rows, than that of training",
    expected="every column holds what it held in training: the predictions are the model's own",
)
@pytest.mark.parametrize("name", ["new.csv", "new.parquet"])
def test_predictions_do_not_hang_on_the_file(
    run: Run, trained: Path, tmp_path: Path, name: str, seen: Callable[[str], None]
) -> None:
    frame = people()
    parts = {
        "all rows": frame,
        "one row": frame.head(1),
        "no gaps": frame[frame["maybe"].notna()],
        "whole numbers alone": frame[frame["code"] != "A7"].assign(half=1),
        "gaps in all": frame.assign(flag=frame["flag"].astype(object).where(frame["whole"] > 0)),
        "nothing but gaps": frame.head(3).assign(maybe=None, half=None, code=None),
    }
    for title, part in parts.items():
        new = write(part, tmp_path / name)
        done = run("predict", "out", new, "-o", "predicted.csv")
        assert done.code == 0, f"{title}: {done.err}"
        expected = right(tmp_path / "out", as_read(part, trained))
        found = pd.read_csv(tmp_path / "predicted.csv")["probability_yes"]
        assert found.to_numpy() == pytest.approx(expected), title
    seen(f"{len(parts)} tables as {name} after {trained.name}: the model's own predictions")


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("whole", "n.d.", "column 'whole' holds 'n.d.', and held numbers in training"),
        (
            "whole",
            "9,647.93",
            "column 'whole' holds '9,647.93', and held numbers in training. Write it without signs",
        ),
        ("flag", "maybe", "column 'flag' holds 'maybe', and held true or false in training"),
    ],
)
def test_a_cell_that_does_not_fit_is_named(
    run: Run, trained: Path, tmp_path: Path, column: str, value: str, said: str
) -> None:
    frame = people(1000).astype({column: object})
    frame.loc[700, column] = value
    new = write(frame.assign(code="two\nlines"), tmp_path / "new.csv")
    done = run("predict", "out", new)
    assert done.code == 3
    # A header, 700 rows of two lines before it, and its own two.
    assert f"new.csv, line {1 + 2 * 701}: {said}" in done.err
    assert done.out == ""
    if trained.suffix == ".parquet":
        new = write(frame.astype({column: str}), tmp_path / "new.parquet")
        done = run("predict", "out", new)
        assert done.code == 3
        assert f"new.parquet, row 701: {said}" in done.err


@ON_CSV
def test_numbers_where_text_was_are_refused(run: Run, trained: Path, tmp_path: Path) -> None:
    done = run("predict", "out", write(people().assign(code=7.0), tmp_path / "new.parquet"))
    assert done.code == 3
    assert "new.parquet, row 1: column 'code' holds 7.0 (and 239 more rows), " in done.err
    assert "and held text in training. Give it as the text" in done.err


@pytest.mark.fault(
    "F58",
    injected="fit and predict of True and False with gaps, in processes of their own",
    expected="the predictions of the model, exit code 0",
)
def test_truth_values_in_processes_of_their_own(
    spawn: Run, tmp_path: Path, seen: Callable[[str], None]
) -> None:
    frame = people()[["flag", "maybe", "buys"]]
    write(frame, tmp_path / "people.csv")
    assert spawn("fit", "people.csv", "--target", "buys", *SEARCH).code == 0
    done = spawn("predict", "out", "people.csv", "-o", "predicted.csv")
    assert done.code == 0, done.err
    found = pd.read_csv(tmp_path / "predicted.csv")
    assert found["probability_yes"].to_numpy() == pytest.approx(right(tmp_path / "out", frame))
    piped = spawn("predict", "out", "people.csv", "-o", "/dev/stdout")
    assert piped.out == (tmp_path / "predicted.csv").read_text()
    assert "predictions in /dev/stdout" in piped.err
    hits = (found["prediction"] == frame["buys"]).mean()
    assert hits > 0.7
    seen(f"{hits:.0%} of the rows of training are right")


@ON_CSV
@pytest.mark.parametrize(
    "schema",
    [3, [3], [{"name": "flag"}], [{"name": "flag", "holds": "fish", "dtype": "bool"}]],
)
def test_a_schema_that_makes_no_sense_is_a_damaged_run(
    run: Run, trained: Path, tmp_path: Path, schema: object
) -> None:
    manifest = tmp_path / "out" / "model.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"schema": schema}))
    done = run("predict", "out", trained)
    assert done.code == 7
    assert "schema" in done.err


@ON_CSV
@pytest.mark.parametrize(
    "key", ["schema", "classes", "positive", "constraints", "certified", "held_out_score"]
)
def test_a_manifest_that_was_edited_is_a_damaged_run(
    run: Run, trained: Path, tmp_path: Path, key: str
) -> None:
    manifest = tmp_path / "out" / "model.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(content))  # laid out otherwise, it says the same
    assert run("predict", "out", trained).code == 0
    other = {"schema": content["schema"][::-1], "constraints": {"fpr <= 0.1": 0.0}}
    labels = {"classes": content["classes"][::-1], "positive": content["classes"][0]}
    edited = {**other, **labels, "certified": True, "held_out_score": 0.99}
    manifest.write_text(json.dumps(content | {key: edited[key]}))
    for command in (("predict", "out", trained), ("verify", "out", trained)):
        done = run(*command)
        assert done.code == 7
        assert done.err.count("\n") == 1
        assert "model.json' is damaged: its content is not what its content_sha256" in done.err


@ON_CSV
def test_predictions_are_written_as_the_name_says(run: Run, trained: Path, tmp_path: Path) -> None:
    done = run("predict", "out", trained, "-o", "predicted.parquet")
    assert done.code == 0, done.err
    run("predict", "out", trained, "-o", "predicted.csv")
    parquet, csv = pd.read_parquet("predicted.parquet"), pd.read_csv("predicted.csv")
    assert list(parquet) == list(csv) == ["prediction", "probability_no", "probability_yes"]
    assert parquet["prediction"].tolist() == csv["prediction"].tolist()
    done = run("predict", "out", trained, "-o", "predicted.xlsx")
    assert done.code == 2
    assert "not as '.xlsx'. Name it 'predicted.csv' or 'predicted.parquet'" in done.err
    assert not (tmp_path / "predicted.xlsx").exists()


def test_codes_of_the_target_are_predicted_as_they_are_written(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    code = rng.choice(["007", "7", "012"], 240)
    frame = pd.DataFrame({"code": code, "noise": rng.random(240).round(3)})
    frame["label"] = np.where(code == "007", "01", "1")
    frame.to_csv(tmp_path / "codes.csv", index=False)
    few = (
        *("--grammar", "tiny", "--cv=2", "--max-evaluations", "3", "--seed", "1"),
        *("--executor", "inline"),
    )
    assert run("fit", "codes.csv", "--target", "label", *few, "--out", "codes").code == 0
    frame.drop(columns="label").to_parquet(tmp_path / "codes.parquet")
    for name in ("codes.csv", "codes.parquet"):
        assert run("predict", "codes", name, "-o", "labels.csv").code == 0
        told = pd.read_csv("labels.csv", dtype=str)["prediction"]
        assert told.tolist() == frame["label"].tolist()


@pytest.mark.parametrize("trained", [("float32", "int8"), ("float64", "int64")])
def test_the_same_numbers_in_any_width_get_the_same_predictions(
    trained: tuple[str, str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=(240, 2)).astype("float32")
    frame = pd.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1], "c": rng.integers(0, 9, 240)})
    frame["y"] = np.where(frame["a"] + frame["c"] / 4 > 1, "yes", "no")
    widths = [(real, whole) for real in ("float32", "float64") for whole in ("int8", "int64")]
    files = {width: tmp_path / f"{'-'.join(width)}.parquet" for width in widths}
    for (real, whole), path in files.items():
        frame.astype({"a": real, "b": real, "c": whole}).to_parquet(path)
    files["text", ""] = write(frame.astype({"a": float, "b": float}), tmp_path / "text.csv")
    out = str(tmp_path / "out")
    with pytest.raises(SystemExit) as ended:
        main(["fit", str(files[trained]), "--target", "y", *SEARCH[:-1], out, "-q"])
    assert not ended.value.code
    told = []
    for number, path in enumerate(files.values()):
        answers = tmp_path / f"{number}.csv"
        with pytest.raises(SystemExit):
            main(["predict", out, str(path), "-o", str(answers)])
        told.append(answers.read_text(encoding="utf-8"))
    assert len(told[0].splitlines()) == len(frame) + 1
    assert len(set(told)) == 1


@ON_CSV
def test_a_column_in_another_code_is_told(run: Run, trained: Path, tmp_path: Path) -> None:
    """The same values, in the other case: without a word a model would know nothing of them."""
    frame = people()
    known = write(frame, tmp_path / "known.parquet")
    frame["land"] = frame["land"].str.lower()
    new = write(frame, tmp_path / "new.parquet")
    told = run("predict", "out", new)
    assert told.code == 0
    assert "warning: 240 of 240 cells of column 'land'" in told.err
    assert "warning" not in run("predict", "out", known).err
    assert "of column 'land'" in run("evaluate", "out", new).err


@ON_CSV
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_that_is_empty_now_is_told(
    run: Run, trained: Path, tmp_path: Path, suffix: str
) -> None:
    """A feed that broke: the model fills the column, and every row has a prediction."""
    frame = people()
    name = str(frame.select_dtypes("number").columns[0])
    frame[name] = frame[name].where(frame.index % 3 == 0)
    new = write(frame, tmp_path / f"new.{suffix}")
    told = run("predict", "out", new)
    assert told.code == 0
    assert f"warning: 160 of 240 cells of column '{name}' are empty" in told.err
    assert f"cells of column '{name}' are empty" in run("evaluate", "out", new).err


def test_a_model_outside_its_limits_is_told_again(run: Run, tmp_path: Path) -> None:
    write(people(), tmp_path / "people.csv")
    done = run("fit", "people.csv", "--target", "buys", *SEARCH, "--constraint", "size_mb <= 0")
    assert done.code == 5
    said = "warning: the model is outside the limits of its run"
    assert said in run("predict", "out", "people.csv").err
    assert said in run("evaluate", "out", "people.csv").err


def test_a_pipeline_that_fills_no_gaps_says_so_when_later_rows_have_some(
    run: Run, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(120, 2)).round(3), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] + frame["b"] > 0, "yes", "no")
    write(frame, tmp_path / "whole.csv")
    write(frame.assign(a=frame["a"].where(frame["b"] > 0)), tmp_path / "gaps.csv")
    (tmp_path / "bare.lark").write_text(
        "%import components (logistic_regression)\nstart: logistic_regression\n", "utf-8"
    )
    few = ("--grammar", "bare.lark", "--cv=2", "--max-evaluations", "2", "--executor", "inline")
    trained = run("fit", "gaps.csv", "--target", "y", *few, "--out", "none")
    assert trained.code == 4
    assert "Begin the pipelines of the grammar with impute" in trained.err
    assert run("fit", "whole.csv", "--target", "y", *few, "--out", "bare").code == 0
    told = run("predict", "bare", "gaps.csv", "-o", "labels.csv")
    assert told.code == 3
    assert "No step of it fills missing values: fill them, or fit again" in told.err
    assert not (tmp_path / "labels.csv").exists()
