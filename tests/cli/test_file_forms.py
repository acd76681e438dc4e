"""A model trained from one form of file predicts the same from all others, each in a process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from file_forms import FORMS, write_all
from program import run_program

Run = Callable[..., Any]
SEARCH = (
    *("--grammar", "tiny", "--cv=0.25", "--max-evaluations", "2"),
    *("--theta-solver", "random", "--seed", "1"),
)
SEARCH += ("--executor", "inline", "--out", "out", "--target", "buys", "-q")


def people(rows: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"flag": rng.random(rows) < 0.5, "whole": rng.integers(0, 5, rows)})
    frame["code"] = rng.choice(["007", "07", "7"], rows)
    frame["land"] = rng.choice(["Österreich", "a, b; c", "d|e"], rows)
    frame["half"] = np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows))
    score = 2.0 * frame["flag"] + (frame["code"] == "007") + frame["half"].fillna(0.0)
    frame["buys"] = np.where(score > score.median(), "yes", "no")
    return frame


@pytest.mark.parametrize("trained", ["german.csv", "table.parquet", "table.arff", "lines.jsonl"])
def test_all_forms_are_predicted_alike(trained: str, run: Run, tmp_path: Path) -> None:
    files = {path.name: path for path in write_all(people(), tmp_path)}
    fitted = run("fit", files[trained], *SEARCH)
    assert fitted.code == 0, fitted.err
    said = {name: run("predict", "out", path) for name, path in files.items()}
    assert {name: ended.code for name, ended in said.items()} == dict.fromkeys(FORMS, 0)
    assert len({ended.out for ended in said.values()}) == 1
    content = files["packed.csv.gz"].read_bytes()
    apart = run_program("predict", "out", "-", input=content, text=False)
    assert apart.stdout.decode() == said["plain.csv"].out
    resumed = run("resume", "out", "--max-evaluations", "+1", "-q")
    assert resumed.code == 0, resumed.err


def test_what_was_found_is_told_on_stderr(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    FORMS["german.csv"](people(), path)
    found = "sales.csv: semicolons, decimal commas\n"
    fitted = run("fit", path, *SEARCH)
    assert found in fitted.err
    predicted = run("predict", "out", path)
    assert predicted.err == found
    assert predicted.out.startswith("prediction,")


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and a run on it, to be copied."""
    folder = tmp_path_factory.mktemp("shops")
    frame = people().assign(shop=[f"s{i // 4}" for i in range(240)], at=range(240))
    frame.to_parquet(folder / "whole.parquet", index=False)
    roles = ("--group", "shop", "--sensitive", "at")
    done = run_program("fit", "whole.parquet", *SEARCH, *roles, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("index", ["half", "buys", "shop", "at"])
def test_an_index_of_pandas_is_read_where_the_run_knows_its_name(
    index: str, run: Run, shops: Path, tmp_path: Path
) -> None:
    shutil.copytree(shops, tmp_path, dirs_exist_ok=True)
    pd.read_parquet("whole.parquet").set_index(index).to_parquet("indexed.parquet")
    for command in (("predict", "--keep", "shop"), ("evaluate",)):
        read = [
            run(command[0], "out", path, *command[1:])
            for path in ("whole.parquet", "indexed.parquet")
        ]
        assert read[0] == read[1]
    resumed = run("resume", "out", "indexed.parquet", "--max-evaluations", "+1", "-q")
    assert resumed.code == 0, resumed.err


def test_an_index_that_is_named_is_learned_from_and_another_is_told(
    run: Run, tmp_path: Path
) -> None:
    people().set_index("half").to_parquet("t.parquet")
    told = "t.parquet: index 'half' (no column, unless an option names it)\n"
    fitted = run("fit", "t.parquet", *SEARCH)
    assert told in fitted.err
    assert "half" not in json.loads((tmp_path / "out" / "model.json").read_text())["columns"]
    assert run("predict", "out", "t.parquet").err == ""
    fitted = run("fit", "t.parquet", *SEARCH, "--out", "named", "--column", "half=number")
    assert fitted.code == 0, fitted.err
    assert told not in fitted.err
    assert "half" in json.loads((tmp_path / "named" / "model.json").read_text())["columns"]


def test_a_damaged_parquet_file_is_refused_in_one_line_by_every_command(
    run: Run, tmp_path: Path
) -> None:
    people().to_parquet("t.parquet")
    assert run("fit", "t.parquet", *SEARCH).code == 0
    content = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(content[: len(content) // 2])
    (tmp_path / "zeros.parquet").write_bytes(content[:4] + bytes(60) + content[64:])
    for name in ("cut.parquet", "zeros.parquet"):
        for command in (("predict", "out"), ("evaluate", "out"), ("inspect",)):
            refused = run(*command, name)
            assert refused.code == 3
            assert refused.err.startswith(f"error: {name} is no readable Parquet file: ")
            assert refused.err.count("\n") == 1


def test_what_the_user_says_of_the_file_holds_when_the_run_goes_on(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    # Commas and semicolons in every row: only the user knows.
    rows = "".join(f"{i % 7},x;{i % 3};{'yes' if i % 7 > 3 else 'no'}\n" for i in range(200))
    path.write_text(f"a,b;c;buys\n{rows}")
    refused = run("fit", path, *SEARCH)
    assert refused.code == 3
    assert "--separator" in refused.err
    fitted = run("fit", path, *SEARCH, "--separator", "semicolon")
    assert fitted.code == 0, fitted.err
    request = json.loads((tmp_path / "out" / "run.json").read_text())["request"]
    assert request["separator"] == "semicolon"
    resumed = run("resume", "out", "--max-evaluations", "+1", "-q")
    assert resumed.code == 0, resumed.err
    assert run("predict", "out", path).code == 3
    assert run("predict", "out", path, "--separator", "semicolon").code == 0


def test_a_run_on_stdin_goes_on_with_its_data_alone(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    FORMS["german.csv"](people(), path)
    with path.open("rb") as content:
        fitted = run_program("fit", "-", *SEARCH, stdin=content, cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    refused = run("resume", "out", "--max-evaluations", "+1", "-q")
    assert refused.code == 2
    assert "read its data from stdin, and they are not kept" in refused.err
    resumed = run("resume", "out", path, "--max-evaluations", "+1", "-q")
    assert resumed.code == 0, resumed.err
