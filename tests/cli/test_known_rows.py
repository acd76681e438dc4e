"""A run and its looks know their rows in every file, also beside a cell that changes a type."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier, monitor
from automl_admm.core.errors import DataError

Run = Callable[..., Any]


def visits(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=rows), "flag": rng.random(rows) < 0.5})
    frame["job"] = rng.choice([" State-gov", " Private"], rows)
    days = pd.to_timedelta(np.arange(rows) // 2 + 10_000 * seed, unit="h")
    frame["since"] = pd.Timestamp("2020-01-31") + days
    frame["buys"] = np.where(frame["x"] + rng.normal(size=rows) > 0, "yes", "no")
    return frame


def with_gap(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    gap = frame.iloc[:1].astype({column: object})
    gap[column] = None if column == "flag" else "unknown"
    return pd.concat([frame.astype({column: object}), gap], ignore_index=True)


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True, date_format="iso", double_precision=15)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, frame = tmp_path_factory.mktemp("made") / "RUN", visits(900, 0)
    search = AutoMLClassifier(
        grammar="tiny",
        cv=2,
        max_evaluations=1,
        executor="inline",
        random_state=0,
        constraints=["recall >= 0.2"],
        certify=0.9,
        work_dir=folder,
    )
    search.fit(frame[["x", "flag", "job"]], frame["buys"], groups=frame["since"])
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "RUN"))


OWN = visits(900, 0)
GIVEN = {
    "own.parquet": OWN,
    "own.csv": OWN,
    "own.jsonl": OWN,
    "gap.csv": with_gap(OWN, "flag"),
    "gap.jsonl": with_gap(OWN, "flag"),
    "word.csv": with_gap(OWN, "since"),
}


@pytest.mark.parametrize("name", GIVEN)
def test_own_rows_are_not_fresh_in_any_file(run: Run, folder: Path, name: str) -> None:
    done = run("verify", folder, write(GIVEN[name], folder.parent / name), "--fresh")
    assert done.code == 3
    assert "are rows of the run: they are not fresh" in done.err
    assert "CERTIFIED" not in done.out


@pytest.mark.parametrize("name", ["new.parquet", "new.csv"])
def test_new_rows_are_fresh(run: Run, folder: Path, name: str) -> None:
    done = run("verify", folder, write(visits(600, 1), folder.parent / name), "--fresh")
    assert done.code == 0, done.err
    assert "rows of the run" not in done.err


@pytest.mark.parametrize("rest", [b"damaged", b"\x93NUMPY\x01\x00"])
def test_a_damaged_second_hash_is_one_line(run: Run, folder: Path, rest: bytes) -> None:
    path = folder / "row-hashes.npy"
    exact = np.load(path)
    np.save(path, exact)
    path.write_bytes(path.read_bytes() + rest)
    own = write(OWN, folder.parent / "own.parquet")
    done = run("verify", folder, own, "--fresh")
    assert done.code == 7
    assert "row-hashes.npy' cannot be read" in done.err
    with path.open("wb") as file:
        for hashes in (exact, exact[:-1], exact, exact):
            np.save(file, hashes)
    assert "its hashes are of different rows" in run("verify", folder, own, "--fresh").err


def test_a_look_knows_its_rows_beside_a_gap(run: Run, folder: Path) -> None:
    rows = visits(300, 1)
    assert monitor(folder, rows).rows == 300
    for name in ("flag", "since"):
        again = write(with_gap(rows, name), folder.parent / f"{name}.csv")
        done = run("monitor", folder, again)
        assert done.code == 3
        assert "has the rows of look 1 again" in done.err
    some = pd.concat([rows[:100], visits(200, 2)])
    with pytest.raises(DataError, match="100 of the 301 rows"):  # a gap is no False
        monitor(folder, with_gap(some, "flag"))


def towns(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.choice(list("ab"), rows), "b": rng.choice(list("cd"), rows)})
    frame["buys"] = np.where((frame["a"] == "a") ^ (rng.random(rows) < 0.2), "yes", "no")
    return frame


def test_new_rows_of_few_values_are_a_new_look(run: Run, tmp_path: Path) -> None:
    folder, frame = tmp_path / "RUN", towns(300, 1)
    search = AutoMLClassifier("tiny", max_evaluations=1, executor="inline", work_dir=folder)
    search.set_params(constraints=["recall >= 0.3"], random_state=0)
    search.fit(frame[["a", "b"]], frame["buys"])
    first = write(towns(200, 2), tmp_path / "1.csv")
    assert run("monitor", folder, first).code == 0
    done = run("monitor", folder, write(towns(20, 3), tmp_path / "2.csv"))
    assert done.code == 0, done.err
    assert "20 rows equal rows of an earlier look" in done.err
    grown = pd.concat([towns(200, 2), towns(90, 4)])
    for name, again in (("grown", grown), ("turned", towns(200, 2)[::-1])):
        done = run("monitor", folder, write(again, tmp_path / f"{name}.parquet"))
        assert done.code == 3
        assert "has the rows of look 1 again" in done.err


def answers(rows: int, seed: int) -> pd.DataFrame:
    """Rows of many different questions with yes or no, of which few numbers of yes are possible."""
    X = np.random.default_rng(seed).integers(0, 2, (rows, 24))
    frame = pd.DataFrame(X, columns=[f"q{place}" for place in range(24)])
    return frame.assign(buys=np.where(X[:, :3].sum(axis=1) >= 2, "yes", "no"))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, frame = tmp_path_factory.mktemp("asked") / "RUN", answers(600, 0)
    search = AutoMLClassifier("tiny", cv=2, max_evaluations=1, executor="inline", random_state=0)
    search.set_params(constraints=["recall >= 0.2"], certify=0.9, work_dir=folder)
    search.fit(frame.drop(columns="buys"), frame["buys"])
    return folder


def test_rows_with_the_same_cells_in_other_columns_are_fresh(
    run: Run, asked: Path, tmp_path: Path
) -> None:
    new, own = (
        write(answers(400, 1), tmp_path / "1.csv"),
        write(answers(600, 0), tmp_path / "0.csv"),
    )
    done = run("verify", asked, new, "--fresh")
    assert (done.code, "rows of the run" in done.err) == (0, False), done.err
    assert "600 of the 600 rows" in run("verify", asked, own, "--fresh").err
    assert "learned from" not in run("evaluate", asked, new).err


def test_looks_know_rows_by_their_columns(run: Run, asked: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "RUN"))
    first, second = answers(300, 1), answers(300, 2)
    assert monitor(folder, first).learned == 0
    again = write(first.sample(frac=1.0, random_state=0), tmp_path / "again.parquet")
    assert "has the rows of look 1 again" in run("monitor", folder, again).err
    found = monitor(folder, second[second.columns[::-1]])
    assert (found.repeated, found.learned) == (0, 0)
    for frame, look in ((second[:40][::-1], 2), (pd.concat([first, second]), 1)):
        with pytest.raises(DataError, match=f"rows of look {look} again"):
            monitor(folder, frame)


def learned_from(folder: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a run that the model learned from, in another order."""
    places = json.loads((folder / "certification-rows.json").read_text())["places"]
    return frame.drop(index=places).sample(frac=1.0, random_state=0)


def looks_of(folder: Path) -> int:
    return len(list((folder / "monitoring").glob("look-*.json")))


@pytest.mark.parametrize(("old", "new"), [(-1, 0), (40, 0), (100, 300)])
def test_rows_of_the_fit_are_no_look(run: Run, folder: Path, old: int, new: int) -> None:
    some = learned_from(folder, OWN)[:old]
    given = pd.concat([some, visits(new, 5)], ignore_index=True)
    done = run("monitor", folder, write(given, folder.parent / "given.csv"))
    assert done.code == 3
    assert f"{len(some)} of the {len(given)} rows" in done.err
    assert "equal rows that the model learned from" in done.err
    assert done.err.count("\n") == 1
    assert looks_of(folder) == 0


def test_rows_of_looks_are_no_look(run: Run, folder: Path) -> None:
    days = pd.concat([visits(300, seed) for seed in (1, 2, 3)])
    for first, end in ((0, 300), (300, 600)):
        monitor(folder, days[first:end])
    for first, end in ((150, 450), (1, 300), (1, 310), (280, 760)):
        done = run("monitor", folder, write(days[first:end], folder.parent / "export.csv"))
        assert (done.code, done.err.count("\n")) == (3, 1), done.err
        assert "rows that arrived since" in done.err
    assert looks_of(folder) == 2
    assert "1 row equals rows of an earlier look" in (monitor(folder, days[599:]).again or "")


def test_looks_that_hold_rows_twice_do_not_stop_new_ones(folder: Path) -> None:
    """Of two copies of a folder that were put together: the looks are there, and go on."""
    monitor(folder, visits(300, 1))
    path = folder / "monitoring" / "look-0001.json"
    content = json.loads(path.read_text())
    content["result"]["look"] = 2
    path.with_name("look-0002.json").write_text(json.dumps(content))
    found = monitor(folder, visits(300, 2))
    assert (found.look, found.repeated) == (3, 0)


def test_rows_given_twice_in_a_file_are_told(run: Run, asked: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "RUN"))
    some = pd.concat([answers(300, 1), answers(300, 1)[:60]])
    given = write(some, tmp_path / "given.parquet")
    for words in (("monitor", folder, given), ("verify", folder, given, "--fresh")):
        done = run(*words)
        assert done.code == 0, done.err
        assert "warning: 60 of the 360 rows of" in done.err
        assert "equal a row before them, which chance does not explain" in done.err
    once = write(answers(300, 2), tmp_path / "once.csv")
    for words in (("monitor", folder, once), ("verify", folder, once, "--fresh")):
        assert "before them" not in run(*words).err


def test_a_few_rows_of_the_fit_are_told(run: Run, asked: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "RUN"))
    given = pd.concat([learned_from(folder, answers(600, 0))[:1], answers(30, 5)])
    done = run("monitor", folder, write(given, tmp_path / "given.parquet"))
    assert done.code == 0, done.err
    assert "1 of the labelled rows equal rows that the model learned from" in done.err


def test_new_rows_of_few_values_may_equal_rows_of_the_fit(run: Run, tmp_path: Path) -> None:
    folder, frame = tmp_path / "RUN", towns(600, 1)
    search = AutoMLClassifier("tiny", cv=2, max_evaluations=1, executor="inline", random_state=0)
    search.set_params(constraints=["recall >= 0.2"], certify=0.9, work_dir=folder)
    search.fit(frame[["a", "b"]], frame["buys"])
    for number, rows in enumerate((1, 5, 200, 400)):
        given = write(towns(rows, 2 + number), tmp_path / f"{number}.csv")
        done = run("monitor", folder, given)
        assert done.code == 0, done.err
        assert "before them" not in done.err
    assert looks_of(folder) == 4
