"""Tables of dates, numbers in text, tags and texts the whole way, from file to file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from messy_table import messy_table, typed

import automl_admm
from automl_admm import AutoMLClassifier
from automl_admm.core.errors import DataError
from automl_admm.data.reading import chunks

SEARCH = (
    *("--grammar", "tiny", "--cv=0.25", "--max-evaluations", "2"),
    *("--executor", "inline", "--quiet"),
)
TARGET = ("--target", "bought")


@pytest.fixture
def table(tmp_path: Path) -> pd.DataFrame:
    frame = messy_table()
    frame.to_csv(tmp_path / "train.csv", index=False)
    typed(frame).to_parquet(tmp_path / "train.parquet")
    later = messy_table(60, seed=6).drop(columns="bought")
    later.to_csv(tmp_path / "new.csv", index=False)
    typed(later).to_parquet(tmp_path / "new.parquet")
    return later


def answers(done: Any) -> Any:
    assert done.code == 0, done.err
    return np.array([float(line.split(",")[-1]) for line in done.out.splitlines()[1:]])


def test_every_file_of_the_same_values_gets_the_same_predictions(
    table: pd.DataFrame, run: Any, spawn: Any
) -> None:
    done = run("fit", "train.csv", *TARGET, *SEARCH, "--out", "out")
    assert done.code == 0, done.err
    assert len(json.loads(Path("out/model.json").read_text())["columns"]) == 10
    first = answers(spawn("predict", "out", "new.csv"))
    assert np.unique(first).size > 30
    np.testing.assert_array_equal(answers(run("predict", "out", "new.parquet")), first)
    loaded = automl_admm.load("out")
    for rows in (table, typed(table), table.astype("string"), table.astype("category")):
        found = loaded.predict_proba(rows.sample(frac=1.0, random_state=1))[:, 1]
        by_row = pd.Series(found, index=rows.sample(frac=1.0, random_state=1).index).sort_index()
        np.testing.assert_allclose(by_row, first, rtol=1e-12)
    one = loaded.predict_proba(table.iloc[[7]])[:, 1]
    np.testing.assert_allclose(one, first[7], rtol=1e-9)
    again = run("resume", "out", "--max-evaluations", "+1", "--quiet")
    assert again.code == 0, again.err


def test_digits_with_an_underscore_are_text_in_arrays_lists_and_files(
    tmp_path: Path, run: Any
) -> None:
    rows = [[f"{1 + number % 3}_000", "abc"[number % 2]] for number in range(60)]
    y = np.array([row[0] == "1_000" for row in rows])
    search = AutoMLClassifier(
        grammar="tiny", cv=2, max_evaluations=1, executor="inline", work_dir=tmp_path / "run"
    ).fit(np.array(rows), y)
    expected = search.predict_proba(np.array(rows))[:, 1]
    assert np.array_equal(expected > 0.5, y)
    assert np.array_equal(search.predict_proba(rows)[:, 1], expected)
    frame = pd.DataFrame(rows, columns=["0", "1"])
    frame.to_csv("new.csv", index=False)
    frame.to_json("new.jsonl", orient="records", lines=True)
    for file in ("new.csv", "new.jsonl"):
        np.testing.assert_allclose(answers(run("predict", "run", file)), expected)


def test_types_of_a_file_are_read_again_from_text(table: pd.DataFrame, run: Any) -> None:
    done = run("fit", "train.parquet", *TARGET, *SEARCH, "--out", "out")
    assert done.code == 0, done.err
    typed(table).to_csv("typed.csv", index=False)
    typed(table).to_csv("semicolons.csv", index=False, sep=";", decimal=",")
    first = answers(run("predict", "out", "new.parquet"))
    for name in ("typed.csv", "semicolons.csv"):
        np.testing.assert_allclose(answers(run("predict", "out", name)), first, rtol=1e-9)


def test_python_and_the_command_line_agree(table: pd.DataFrame, run: Any) -> None:
    assert run("fit", "train.csv", *TARGET, *SEARCH, "--test-size", "0", "--out", "out").code == 0
    first = answers(run("predict", "out", "new.csv"))
    frame = messy_table()
    few = {"grammar": "tiny", "cv": 0.25, "max_evaluations": 2, "executor": "inline"}
    search = AutoMLClassifier(**few, random_state=0, n_jobs=1)
    search.fit(frame.drop(columns="bought"), frame["bought"])
    assert search.columns_.loc["when", "kind"] == "date"
    np.testing.assert_allclose(search.predict_proba(table)[:, 1], first, rtol=1e-9)
    np.testing.assert_allclose(search.predict_proba(typed(table))[:, 1], first, rtol=1e-9)
    absent = table.drop(columns=["number", "same"])
    np.testing.assert_allclose(search.predict_proba(absent)[:, 1], first, rtol=1e-9)
    with pytest.raises(ValueError, match="city"):
        search.predict(table.drop(columns=["number", "city"]))


@pytest.mark.parametrize(
    ("column", "junk"),
    [
        ("price", "12 parrots"),
        ("share", "many"),
        ("when", "31.02.2021 08:00"),
        ("took", "soon"),
        ("agreed", "maybe"),
        ("height", "tall"),
    ],
)
def test_new_junk_is_refused_by_name_and_line(
    table: pd.DataFrame, run: Any, column: str, junk: str, fitted: Path
) -> None:
    table[column] = table[column].astype(object)
    table.loc[3, column] = junk
    table.to_csv("junk.csv", index=False)
    done = run("predict", fitted, "junk.csv")
    assert done.code == 3
    assert f"junk.csv, line 5: column '{column}' holds '{junk}'" in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert done.out == ""


def test_a_bare_number_where_training_had_percents_is_refused_by_name_and_row(
    table: pd.DataFrame, run: Any, fitted: Path
) -> None:
    table["share"] = table["share"].str.removesuffix("%").astype(float) / 100
    table.to_parquet("shares.parquet")
    done = run("predict", fitted, "shares.parquet")
    assert (done.code, done.out) == (3, "")
    assert "shares.parquet, row 1: column 'share' holds 0." in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_texts_with_a_point_are_refused_by_a_model_of_decimal_commas(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame({"a": np.arange(40) / 8, "y": ["no", "yes"] * 20})
    frame.to_csv("commas.csv", index=False, sep=";", decimal=",")
    assert run("fit", "commas.csv", "--target", "y", *SEARCH, "--out", "out").code == 0
    Path("texts.jsonl").write_text('{"a": 2}\n{"a": "1.234"}\n')
    done = run("predict", "out", "texts.jsonl")
    assert (done.code, done.out) == (3, "")
    assert "texts.jsonl, line 2: column 'a' holds '1.234'" in done.err
    with pytest.raises(ValueError, match="decimal commas"):
        automl_admm.load("out").predict(pd.DataFrame({"a": ["1.234"]}))
    # The rows of a Parquet file are predicted in pieces, but the whole file tells of its points.
    monkeypatch.setattr(chunks, "rows_at_a_time", lambda _: 2)
    for cells in (["1.234", "2", "3", "4", "0.5"], ["0.5", "2", "3", "1.234"]):
        for kind in (object, "category"):
            pd.DataFrame({"a": cells}, dtype=kind).to_parquet("texts.parquet")
            pd.DataFrame({"a": cells}).astype(float).to_parquet("numbers.parquet")
            done = run("predict", "out", "texts.parquet")
            assert (done.code, done.out) == (0, run("predict", "out", "numbers.parquet").out)
    pd.DataFrame({"a": ["1", "2", "3", "1.234"]}).to_parquet("texts.parquet")
    done = run("predict", "out", "texts.parquet")
    assert (done.code, done.out) == (3, "")
    assert "texts.parquet, row 4: column 'a' holds '1.234'" in done.err


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of the messy table, fitted once for all refusals."""
    frame, folder = messy_table(), tmp_path_factory.mktemp("messy") / "out"
    search = AutoMLClassifier(
        grammar="tiny",
        cv=0.25,
        max_evaluations=1,
        executor="inline",
        random_state=0,
        work_dir=folder,
    )
    search.fit(frame.drop(columns="bought"), frame["bought"])
    return folder


def test_limits_go_by_the_columns_of_the_user(table: pd.DataFrame, run: Any) -> None:
    limits = ("--constraint", "fpr_gap[agreed] <= 1", "--constraint", "columns <= 10")
    cut = ("--constraint", "fpr_gap[share:50] <= 1", "--certify", "0.5")
    done = run("fit", "train.csv", *TARGET, *SEARCH, *limits, *cut, "--out", "out", "--json",
               "--on-infeasible", "closest")  # fmt: skip
    assert done.code == 0, done.err
    said = {one["limit"]: one for one in json.loads(done.out)["constraints"]}
    assert said["columns <= 10"]["validation"] <= 10
    verified = run("verify", "out", "train.csv")
    assert "DIFFERS" not in verified.out
    assert "Traceback" not in verified.err
    assert "not the rows" not in verified.err


def as_arff(frame: pd.DataFrame, name: str) -> None:
    head = "".join(f"@attribute {column} numeric\n" for column in frame.columns)
    rows = frame.to_csv(index=False, header=False)
    Path(name).write_text(f"@relation r\n{head}@data\n{rows}")


def test_columns_of_one_name_are_told_apart_by_their_order(run: Any, tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(60, 3))
    target = np.where(values[:, 0] > values[:, 1], "p", "n")
    frame = pd.DataFrame(values, columns=["a", "a", "c"])
    frame.assign(y=target).to_csv("doubled.csv", index=False)
    done = run("fit", "doubled.csv", "--target", "y", *SEARCH, "--out", "out")
    assert done.code == 0, done.err
    assert "doubled.csv: 2 columns named 'a' (read as 'a', 'a.1')" in done.err
    first = answers(run("predict", "out", "doubled.csv"))
    assert np.unique(first).size > 10
    frame.iloc[:, [2, 0, 1]].to_csv("moved.csv", index=False)
    as_arff(frame, "doubled.arff")
    unique = frame.set_axis(["a", "a.1", "c"], axis=1)
    unique.to_parquet("unique.parquet")
    for name in ("moved.csv", "unique.parquet", "doubled.arff"):
        done = run("predict", "out", name)
        np.testing.assert_array_equal(answers(done), first)
    assert "doubled.arff: 2 columns named 'a' (read as 'a', 'a.1')" in done.err
    loaded = automl_admm.load("out")
    for rows in (frame, unique, frame.iloc[:, [0, 2, 1]]):
        np.testing.assert_array_equal(loaded.predict_proba(rows)[:, 1], first)
    search = AutoMLClassifier(grammar="tiny", cv=0.25, max_evaluations=2, executor="inline")
    with pytest.warns(UserWarning, match="X has 2 columns named 'a'"):
        search.fit(frame, target)
    np.testing.assert_array_equal(search.predict(unique), search.predict(frame))
    frame.iloc[:, [0, 0, 1, 2]].to_csv("three.csv", index=False)
    as_arff(frame.iloc[:, [0, 0, 1, 2]], "three.arff")
    limited = search.set_params(constraints=["fpr_gap[a:0] <= 1"])
    with pytest.raises(DataError, match="two columns are named 'a', and one is meant"):
        limited.fit(frame, target)
    for arguments in (
        ("predict", "out", "three.csv"),
        ("predict", "out", "doubled.csv", "--keep", "a"),
        ("fit", "doubled.csv", "--target", "a", *SEARCH, "--out", "new"),
        ("fit", "doubled.csv", "--target", "y", "--weight", "a", *SEARCH, "--out", "new"),
        ("fit", "doubled.csv", "--target", "y", "--column", "a=category", *SEARCH, "--out", "new"),
        ("fit", "doubled.csv", "--target", "y", "--constraint", "fpr_gap[a:0] <= 1", *SEARCH),
        ("fit", "doubled.arff", "--target", "a", *SEARCH, "--out", "new"),
        ("predict", "out", "three.arff"),
    ):
        done = run(*arguments)
        assert (done.code, done.out) == (3, "")
        assert "columns are named 'a', and" in done.err.strip().splitlines()[0]
        assert len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize("fill", ["9.96921e36", "-1.797693134862315e308", "1e39"])
def test_a_mark_of_missing_cells_leaves_the_other_cells_of_its_column_apart(run: Any, fill: str):
    random = np.random.default_rng(8)
    x = random.normal(size=200).round(3)
    target = np.where(x > 0, "high", "low")
    cells = [fill if row in (5, 90) else one for row, one in enumerate(x)]
    pd.DataFrame({"x": cells, "z": random.normal(size=200), "y": target}).to_csv(
        "t.csv", index=False
    )
    done = run("fit", "t.csv", "--target", "y", *SEARCH[:-1], "--out", "out")
    assert done.code == 0, done.err
    assert "column 'x': numbers beyond 1e+30, such as" in done.err
    told = run("predict", "out", "t.csv")
    assert told.code == 0, told.err
    found = np.array([line.split(",")[0] for line in told.out.splitlines()[1:]])
    assert (found == target).mean() > 0.9
