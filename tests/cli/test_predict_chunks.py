"""Prediction piece by piece: the same rows, whole files or none, columns kept as written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from automl_admm.cli.commands.predict import _check_output
from automl_admm.cli.main import main
from automl_admm.core.errors import ConfigurationError
from automl_admm.data.reading import chunks

Run = Callable[..., Any]
ROWS = 300
FEW = 23


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"{number:05}" for number in range(ROWS)]})
    frame["age"] = rng.integers(18, 90, ROWS)
    frame["half"] = np.where(rng.random(ROWS) < 0.2, np.nan, rng.normal(size=ROWS))
    frame["flag"] = rng.random(ROWS) < 0.5
    frame["city"] = rng.choice(["Ulm", "two\nlines", "a,b"], ROWS)
    frame["price"] = [f"{one:,.2f} €" for one in rng.uniform(900, 9000, ROWS)]
    frame["buys"] = np.where(frame["age"] + 30 * frame["flag"] > 70, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and a run on it."""
    place = tmp_path_factory.mktemp("made")
    data = place / "people.csv"
    people().drop(columns="id").to_csv(data, index=False)
    few = ("--grammar", "tiny", "--cv=0.25", "--max-evaluations", "1", "--executor", "inline", "-q")
    with pytest.raises(SystemExit) as ended:
        main(["fit", str(data), "--target", "buys", *few, "--out", str(place / "RUN")])
    assert not ended.value.code
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk has few rows: a dozen of them, and one of a single row, make the table."""
    monkeypatch.setattr(chunks, "rows_at_a_time", lambda columns: FEW)


def save(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path, index=False)
    return path


def test_chunks_change_nothing(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [save(people(), folder / f"new.{suffix}") for suffix in ("csv", "parquet", "jsonl")]
    semicolons = folder / "semicolons.csv"
    people().to_csv(semicolons, index=False, sep=";", decimal=",")
    files.append(semicolons)
    assert run("predict", "RUN", files[0], "-o", "whole.csv").code == 0
    monkeypatch.setattr(chunks, "rows_at_a_time", lambda columns: FEW)
    for file in files:
        done = run("predict", "RUN", file, "-o", "told.csv")
        assert done.code == 0, done.err
        assert f"{ROWS} predictions in told.csv" in done.out
        whole, told = pd.read_csv("whole.csv"), pd.read_csv("told.csv")
        assert told["prediction"].tolist() == whole["prediction"].tolist(), file.name
        # Another number of rows in a product of matrices may change the last digit.
        assert told["probability_yes"].to_numpy() == pytest.approx(whole["probability_yes"])
    printed = run("predict", "RUN", files[0]).out
    assert printed == Path("told.csv").read_text() or len(printed.splitlines()) == ROWS + 1


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_bad_cell_at_the_end_leaves_no_file(run: Run, folder: Path, suffix: str) -> None:
    frame = people().astype({"age": object})
    frame.loc[ROWS - 1, "age"] = "old"
    new = save(frame if suffix == "csv" else frame.astype({"age": str}), folder / f"new.{suffix}")
    (folder / "told.csv").write_text("earlier\n")
    done = run("predict", "RUN", new, "-o", "told.csv")
    assert done.code == 3
    lines = new.read_bytes().count(b"\n") if suffix == "csv" else ROWS
    assert f"{'line' if suffix == 'csv' else 'row'} {lines}: column 'age' holds 'old'" in done.err
    assert (folder / "told.csv").read_text() == "earlier\n"
    assert not list(folder.glob("*partial*")) + list(folder.glob(".*partial*"))
    done = run("predict", "RUN", new)
    assert done.code == 3
    assert done.out == ""


@pytest.mark.usefixtures("few_rows")
def test_a_cell_that_a_form_cannot_read_is_named_with_its_line(run: Run, folder: Path) -> None:
    frame = people().assign(city="x")
    frame.loc[ROWS - 2, "price"] = "dear"
    done = run("predict", "RUN", save(frame, folder / "new.csv"), "-o", "told.csv")
    assert done.code == 3
    assert f"new.csv, line {ROWS}: column 'price' holds 'dear'" in done.err
    assert not (folder / "told.csv").exists()


@pytest.mark.usefixtures("few_rows")
def test_whole_numbers_with_gaps_are_kept_alike_in_every_chunk(run: Run, folder: Path) -> None:
    numbers = pa.array([None if row == FEW else row for row in range(ROWS)])
    table = pa.Table.from_pandas(people(), preserve_index=False).append_column("n", numbers)
    parquet.write_table(table.replace_schema_metadata(), folder / "new.parquet")
    expected = ["" if row == FEW else str(row) for row in range(ROWS)]
    assert run("predict", "RUN", "new.parquet", "--keep", "n", "-o", "told.csv").code == 0
    assert pd.read_csv("told.csv", dtype=str, keep_default_na=False)["n"].tolist() == expected
    assert run("predict", "RUN", "new.parquet", "--keep", "n", "-o", "told.parquet").code == 0
    assert parquet.read_table("told.parquet")["n"].to_pylist() == numbers.to_pylist()


@pytest.mark.usefixtures("few_rows")
def test_columns_are_kept_as_they_are_written(run: Run, folder: Path) -> None:
    frame = people()
    csv = save(frame, folder / "new.csv")
    done = run("predict", "RUN", csv, "--keep", "id", "--keep", "half", "-o", "told.csv")
    assert done.code == 0, done.err
    told = pd.read_csv("told.csv", dtype=str, keep_default_na=False)
    assert list(told)[:3] == ["id", "half", "prediction"]
    assert told["id"].tolist() == frame["id"].tolist()
    raw = pd.read_csv(csv, dtype=str, keep_default_na=False)
    assert told["half"].tolist() == raw["half"].tolist()
    typed = save(frame, folder / "new.parquet")
    done = run("predict", "RUN", typed, "--keep", "id", "--keep", "age", "-o", "told.parquet")
    assert done.code == 0, done.err
    told = pd.read_parquet("told.parquet")
    assert told["age"].tolist() == frame["age"].tolist()
    assert told["age"].dtype == frame["age"].dtype
    done = run("predict", "RUN", csv, "--keep", "id", "--keep", "id", "-o", "told.parquet")
    assert done.code == 0, done.err
    assert list(pd.read_parquet("told.parquet"))[:2] == ["id", "prediction"]
    done = run("predict", "RUN", csv, "--keep", "idd", "-o", "told.csv")
    assert (done.code, "no column 'idd' to keep" in done.err) == (3, True)
    twice = save(frame.assign(prediction=1), folder / "twice.csv")
    done = run("predict", "RUN", twice, "--keep", "prediction")
    assert (done.code, "is a column of the predictions, too" in done.err) == (2, True)


@pytest.mark.usefixtures("few_rows")
def test_the_suffix_says_the_format(run: Run, folder: Path) -> None:
    new = save(people(), folder / "new.csv")
    tables = {}
    for name in ("told.csv", "told.parquet", "told.jsonl"):
        done = run("predict", "RUN", new, "--keep", "id", "-o", name)
        assert done.code == 0, done.err
    tables["csv"] = pd.read_csv("told.csv", dtype={"id": str})
    tables["parquet"] = pd.read_parquet("told.parquet")
    lines = [json.loads(line) for line in Path("told.jsonl").read_text().splitlines()]
    tables["jsonl"] = pd.DataFrame(lines)
    for name, table in tables.items():
        assert list(table) == ["id", "prediction", "probability_no", "probability_yes"], name
        assert (table == tables["csv"]).all().all(), name


@pytest.mark.parametrize(("name", "held"), [("new.csv", "a header"), ("new.parquet", "columns")])
def test_a_table_without_rows_is_refused(run: Run, folder: Path, name: str, held: str) -> None:
    done = run("predict", "RUN", save(people().head(0), folder / name), "-o", "told.csv")
    assert done.code == 3
    assert f"holds {held} and no rows" in done.err
    assert not (folder / "told.csv").exists()


@pytest.mark.usefixtures("few_rows")
def test_decimal_commas_that_only_later_rows_show(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = people()
    assert run("predict", "RUN", save(frame, folder / "new.csv"), "-o", "whole.csv").code == 0
    text = frame.assign(half=frame["half"].round(2), city="x")
    text.loc[:250, "half"] = 1.0
    as_text = text.astype({"half": object})
    as_text["half"] = [f"{one:g}".replace(".", ",") if one == one else "" for one in text["half"]]  # noqa: PLR0124
    as_text.to_csv(folder / "commas.csv", index=False, sep=";")
    text.to_csv(folder / "points.csv", index=False)
    monkeypatch.setattr("automl_admm.data.reading.dialects.SAMPLE", 1 << 10)
    for name in ("commas", "points"):
        done = run("predict", "RUN", f"{name}.csv", "-o", f"{name}.out.csv")
        assert done.code == 0, done.err
    assert Path("commas.out.csv").read_text() == Path("points.out.csv").read_text() or np.allclose(
        pd.read_csv("commas.out.csv")["probability_yes"],
        pd.read_csv("points.out.csv")["probability_yes"],
    )


@pytest.mark.parametrize("name", ["k.csv.gz", "k.gz", "k.parquet.zst"])
def test_a_packed_file_is_refused_with_a_plain_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="not as") as refused:
        _check_output(tmp_path / name)
    assert str(refused.value.hint) == "Name it 'k.csv' or 'k.parquet'."


@pytest.mark.parametrize(
    ("output", "code"),
    [("/proc/said.csv", 7), (f"{'n' * 300}.csv", 7), ("/dev/full", 8), ("nowhere/said.csv", 2)],
    ids=["proc", "long", "full", "missing"],
)
def test_an_output_that_cannot_be_written_is_told_in_a_line(
    output: str, code: int, run: Run, folder: Path
) -> None:
    done = run("predict", "RUN", "people.csv", "-o", output)
    assert (done.code, done.err.count("\n")) == (code, 1), done.err


def test_a_cell_of_a_file_in_latin_1_is_named_by_that_file(run: Run, folder: Path) -> None:
    frame = people().assign(name="Köln", city="Ulm", price="9 971.10")
    frame.to_csv(folder / "latin.csv", index=False, encoding="latin-1")
    done = run("predict", "RUN", "latin.csv")
    assert done.code == 3
    assert "error: latin.csv, line 2: column 'price' holds '9 971.10'" in done.err
