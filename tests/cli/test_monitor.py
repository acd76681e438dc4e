"""A model in use: looks at rows that arrive, through files, processes and mistakes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import (
    AutomlAdmmError,
    AutoMLClassifier,
    AutoMLRegressor,
    LimitWarning,
    monitor,
)
from automl_admm.certify.watching import State
from automl_admm.core.errors import DataError
from automl_admm.runs.saved.monitor.kept_reference import FEWEST_ROWS

Run = Callable[..., Any]


def people(rows: int, seed: int, older: float = 0.0, wrong: float = 0.0) -> pd.DataFrame:
    """Make buyers by age; `older` moves the ages, `wrong` is the share of labels turned."""
    rng = np.random.default_rng(seed)
    age = rng.normal(45, 15, rows) + older
    frame = pd.DataFrame({"age": age.round(2), "town": rng.choice(["Rome", "Bonn"], rows)})
    buys = (age + 5 * rng.normal(size=rows) > 45) ^ (rng.random(rows) < wrong)
    frame["buys"] = np.where(buys, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    rows = people(600, 0)
    rows.to_csv(folder / "old.csv", index=False)
    AutoMLClassifier(
        grammar="tiny",
        cv=2,
        max_evaluations=2,
        executor="inline",
        random_state=0,
        constraints=["fpr <= 0.3", "recall >= 0.6", "fpr_gap[town] <= 0.9"],
        scoring="balanced_accuracy",
        work_dir=folder / "RUN",
    ).fit(rows[["age", "town"]], rows["buys"])
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made / "RUN", tmp_path / "RUN")
    shutil.copy(made / "old.csv", tmp_path / "old.csv")
    for month in range(1, 4):
        people(400, month).to_csv(tmp_path / f"{month}.csv", index=False)
    return tmp_path


def look(run: Run, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = run("monitor", "RUN", *arguments, "--json")
    assert done.code == code, done.err
    told: dict[str, Any] = json.loads(done.out)
    return told


def test_good_rows_prove_the_limits_over_looks(run: Run, folder: Path) -> None:
    told = [look(run, f"{month}.csv", "--reference", "old.csv") for month in (1, 2, 3)]
    assert [one["look"] for one in told] == [1, 2, 3]
    assert [one["pooled_rows"] for one in told] == [400, 800, 1200]
    assert all(one["alarms"] == [] for one in told)
    first, last = (
        {limit["limit"]: limit for limit in one["limits"]} for one in (told[0], told[-1])
    )
    assert last["recall >= 0.6"]["state"] == "holds"
    width = [one["fpr <= 0.3"]["upper"] - one["fpr <= 0.3"]["lower"] for one in (first, last)]
    assert width[1] < width[0]
    whole = pd.concat([pd.read_csv(folder / f"{month}.csv") for month in (1, 2, 3)])
    whole.to_csv(folder / "whole.csv", index=False)
    once = json.loads(run("evaluate", "RUN", "whole.csv", "--json").out)
    values = {one["limit"]: one["value"] for one in once["constraints"]}
    for name, value in values.items():
        assert last[name]["pooled"] == pytest.approx(value)


def test_a_breach_of_the_last_rows_is_found_under_many_good_ones(run: Run, folder: Path) -> None:
    for month in (1, 2, 3):
        look(run, f"{month}.csv")
    people(400, 9, wrong=0.9).to_csv(folder / "bad.csv", index=False)
    told = look(run, "bad.csv", code=6)
    assert "limit recall >= 0.6 is broken" in told["alarms"]
    assert any(one["recent"] for one in told["limits"] if one["limit"] == "recall >= 0.6")
    people(400, 10, wrong=0.9).to_csv(folder / "worse.csv", index=False)
    done = run("monitor", "RUN", "worse.csv")
    assert done.code == 6
    assert "outside of its limits on new rows" in done.err
    assert "BROKEN" in done.out


def test_shifts_need_no_labels_and_the_reference_is_kept(run: Run, folder: Path) -> None:
    assert not look(run, "1.csv")["has_reference"]
    look(run, "2.csv", "--reference", "old.csv")
    people(300, 4, older=15).drop(columns="buys").to_parquet(folder / "older.parquet")
    told = look(run, "older.parquet")
    assert not told["is_labelled"]
    assert told["limits"] == []
    assert {one["column"] for one in told["shifted"]} == {"age", "the prediction"}
    assert {one["column"] for one in told["shifts"]} == {"age", "town", "the prediction"}


def test_rows_count_once(run: Run, folder: Path) -> None:
    look(run, "1.csv")
    shuffled = pd.read_csv(folder / "1.csv").sample(frac=1, random_state=0)
    shuffled.to_csv(folder / "again.csv", index=False)
    pd.concat([shuffled, people(50, 7)]).to_csv(folder / "grown.csv", index=False)
    shuffled.head(100).to_csv(folder / "part.csv", index=False)
    for name in ("again.csv", "grown.csv", "part.csv"):
        done = run("monitor", "RUN", name)
        assert done.code == 3
        assert "has the rows of look 1 again" in done.err
    pd.concat([shuffled.head(100), people(50, 7)]).to_csv(folder / "mixed.csv", index=False)
    done = run("monitor", "RUN", "mixed.csv")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert "100 of the 150 rows of mixed.csv equal rows of earlier looks" in done.err
    pd.concat([shuffled.head(1), people(50, 7)]).to_csv(folder / "one.csv", index=False)
    assert look(run, "one.csv")["look"] == 2


def test_rows_of_several_looks_count_once(run: Run, folder: Path) -> None:
    """An export of the last days has rows of the looks of all of them."""
    look(run, "1.csv")
    look(run, "2.csv")
    days = pd.concat([pd.read_csv(folder / f"{month}.csv") for month in (1, 2, 3)])
    for first, end in ((200, 600), (1, 400), (360, 840), (1, 810)):
        days.iloc[first:end].to_csv(folder / "export.csv", index=False)
        done = run("monitor", "RUN", "export.csv")
        assert (done.code, done.err.count("\n")) == (3, 1), done.err
        assert "rows that arrived since" in done.err
    assert look(run, "3.csv")["pooled_rows"] == 1200


def test_some_rows_given_twice_are_told_without_a_certificate(run: Run, folder: Path) -> None:
    some = pd.concat([people(300, 8), people(300, 8).head(60)])
    some.to_csv(folder / "some.csv", index=False)
    for command in ("evaluate", "monitor"):
        done = run(command, "RUN", "some.csv")
        assert done.code == 0
        assert "of the 360 rows of some.csv equal a row before them" in done.err
    told = json.loads(run("evaluate", "RUN", "some.csv", "--json").out)
    assert "of the 360 rows" in told["given_twice"]
    assert "before them" not in run("evaluate", "RUN", "2.csv").err


def test_rows_given_twice_in_a_file_are_told(run: Run, folder: Path) -> None:
    assert look(run, "2.csv")["given_twice"] is None
    twice = pd.concat([people(300, 8)] * 2)
    twice.to_csv(folder / "twice.csv", index=False)
    done = run("monitor", "RUN", "twice.csv")
    assert done.code == 0
    assert "of the 600 rows of twice.csv equal a row before them" in done.err
    with pytest.warns(LimitWarning, match="equal a row before them"):
        monitor("RUN", pd.concat([people(200, 9)] * 3))


@pytest.mark.parametrize("order", ["same", "another"])
def test_rows_of_the_fit_are_refused(run: Run, folder: Path, order: str) -> None:
    rows = pd.read_csv(folder / "old.csv")
    given = rows if order == "same" else rows.sample(frac=1.0, random_state=0)
    given.to_csv(folder / "given.csv", index=False)
    done = run("monitor", "RUN", "given.csv")
    assert done.code == 3
    assert done.err.count("\n") == 1
    assert "the model learned from 600 of its 600" in done.err
    assert not list((folder / "RUN" / "monitoring").glob("look-*"))


def test_rows_that_may_be_of_the_fit_are_told(run: Run, folder: Path) -> None:
    mixed = pd.concat([pd.read_csv(folder / name) for name in ("old.csv", "1.csv")])
    mixed.to_csv(folder / "mixed.csv", index=False)
    done = run("monitor", "RUN", "mixed.csv")
    assert done.code == 0
    assert "its own rows are not recognised" in done.err


def test_a_look_that_is_damaged_or_of_another_model_is_not_counted_silently(
    run: Run, folder: Path
) -> None:
    look(run, "1.csv")
    path = folder / "RUN" / "monitoring" / "look-0001.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"model_sha256": "another"}))
    told = look(run, "2.csv")
    assert (told["look"], told["pooled_rows"]) == (2, 400)
    for damaged in ("", "[]", "{}", json.dumps(content | {"evidence": {"fpr <= 0.3": {}}})):
        path.write_text(damaged)
        done = run("monitor", "RUN", "3.csv")
        assert done.code == 7
        assert "look-0001.json' cannot be read" in done.err


def test_the_reference_of_another_model_is_not_compared(run: Run, folder: Path) -> None:
    look(run, "1.csv", "--reference", "old.csv")
    rows = people(600, 0, wrong=0.2)
    rows["buys"] = np.where(rows["age"] > 30, "yes", rows["buys"])
    rows.to_csv("turned.csv", index=False)
    done = run("resume", "RUN", "turned.csv", "--allow-changed", "--max-evaluations", "4", "-q")
    assert done.code == 0, done.err
    done = run("monitor", "RUN", "2.csv")
    assert "another model than at earlier looks" in done.err
    assert "SHIFTED" not in done.out
    assert "shifts: not looked for" in done.out
    # Rows have been counted since: only the reference is still another's.
    with pytest.warns(LimitWarning, match="The reference kept in 'RUN' is of another model"):
        found = monitor("RUN", "3.csv")
    assert (found.has_reference, found.shifted) == (False, ())
    people(200, 9).drop(columns="buys").to_csv("later.csv", index=False)
    told = look(run, "later.csv", "--reference", "turned.csv")
    assert (told["has_reference"], told["anew"]) == (True, None)


def test_a_reference_of_another_model_is_told_until_it_is_given_again(
    run: Run, folder: Path
) -> None:
    look(run, "1.csv", "--reference", "old.csv")
    path = folder / "RUN" / "monitoring" / "reference.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_sha256": "another"}))
    told = look(run, "2.csv")
    assert "is of another model: give the rows again" in told["anew"]
    assert (told["has_reference"], told["shifts"]) == (False, [])
    assert look(run, "3.csv", "--reference", "old.csv")["anew"] is None


def compared(told: dict[str, Any]) -> list[str]:
    return [one["column"] for one in told["shifts"]]


def test_predictions_are_compared_with_those_on_the_first_look(run: Run, folder: Path) -> None:
    # On rows that it learned from a model is surer: those of the reference would seem to differ.
    assert compared(look(run, "1.csv", "--reference", "old.csv")) == ["age", "town"]
    again = look(run, "2.csv", "--reference", "old.csv")
    assert compared(again) == ["age", "town", "the prediction"]
    path = folder / "RUN" / "monitoring" / "reference.json"
    kept = json.loads(path.read_text())
    assert kept["predictions"]["look"] == 1


def test_predictions_on_a_few_rows_are_no_base_of_later_looks(run: Run, folder: Path) -> None:
    people(FEWEST_ROWS - 1, 4).to_csv(folder / "few.csv", index=False)
    assert compared(look(run, "few.csv", "--reference", "old.csv")) == ["age", "town"]
    assert compared(look(run, "1.csv")) == ["age", "town"]
    assert compared(look(run, "2.csv")) == ["age", "town", "the prediction"]
    people(FEWEST_ROWS, 5).to_csv(folder / "enough.csv", index=False)
    people(500, 0).to_csv(folder / "other.csv", index=False)
    assert compared(look(run, "enough.csv", "--reference", "other.csv")) == ["age", "town"]
    assert compared(look(run, "3.csv")) == ["age", "town", "the prediction"]


def test_another_reference_begins_the_comparison_of_predictions_anew(
    run: Run, folder: Path
) -> None:
    look(run, "1.csv", "--reference", "old.csv")
    pd.read_csv(folder / "old.csv")[:400].to_csv(folder / "other.csv", index=False)
    assert compared(look(run, "2.csv", "--reference", "other.csv")) == ["age", "town"]
    kept = json.loads((folder / "RUN" / "monitoring" / "reference.json").read_text())
    assert kept["predictions"]["look"] == 2
    assert compared(look(run, "3.csv")) == ["age", "town", "the prediction"]


ENDLESS = {"counts": {"bin 0": float("inf")}, "edges": []}
DAMAGED = (
    *("", "[]", '{"schema_version": 1}', {"columns": {"age": {}}}, {"predictions": {}}),
    {"columns": {"age": ENDLESS}},
    {"columns": {"town": {"halves": [{"ab12": -5}, {"ab12": 5}]}}, "rows": 0},
    {"rows": 7},
)


@pytest.mark.parametrize("damage", DAMAGED, ids=str)
def test_a_damaged_reference_is_an_error_until_it_is_given_again(
    run: Run, folder: Path, damage: Any
) -> None:
    look(run, "1.csv", "--reference", "old.csv")
    path = folder / "RUN" / "monitoring" / "reference.json"
    kept = json.loads(path.read_text())
    path.write_text(damage if isinstance(damage, str) else json.dumps(kept | damage))
    done = run("monitor", "RUN", "2.csv")
    assert (done.code, done.err.count("\n")) == (7, 1), done.err
    assert "reference.json' cannot be read" in done.err
    assert "Give the rows of the reference again." in done.err
    assert compared(look(run, "2.csv", "--reference", "old.csv")) == ["age", "town"]
    assert compared(look(run, "3.csv")) == ["age", "town", "the prediction"]


def test_a_reference_of_too_few_rows_is_told_at_each_look(run: Run, folder: Path) -> None:
    for rows, is_told in ((4, True), (5, False)):
        pd.read_csv(folder / "old.csv")[:rows].to_csv(folder / "tiny.csv", index=False)
        more = ["--reference", "tiny.csv"]
        for told in (look(run, "1.csv", *more), look(run, "2.csv")):
            assert (f"The reference has {rows} rows" in (told["anew"] or "")) == is_told
        for path in (folder / "RUN" / "monitoring").glob("look-*.json"):
            path.unlink()


def test_predictions_of_a_look_that_was_deleted_do_not_count(run: Run, folder: Path) -> None:
    look(run, "1.csv", "--reference", "old.csv")
    (folder / "RUN" / "monitoring" / "look-0001.json").unlink()
    assert compared(look(run, "2.csv")) == ["age", "town"]
    assert compared(look(run, "3.csv")) == ["age", "town", "the prediction"]


@pytest.mark.parametrize("form", ["frame", "typed frame", "csv", "parquet"])
def test_python_and_the_command_share_their_looks_whatever_the_form(
    run: Run, folder: Path, form: str
) -> None:
    rows = pd.read_csv(folder / "2.csv")
    rows.to_parquet(folder / "2.parquet")
    typed = rows.astype({"town": "category", "buys": "string", "age": "float32"})
    typed["age"] = rows["age"]
    forms = {"frame": rows, "typed frame": typed}
    given = forms.get(form, folder / f"2.{form}")
    first = look(run, "1.csv", "--reference", "old.csv")
    second = monitor("RUN", given)
    third = look(run, "3.csv")
    assert (first["look"], second.look, third["look"]) == (1, 2, 3)
    assert second.pooled_rows == 800
    assert second.has_reference
    assert second.alarms == ()
    kept = json.loads((folder / "RUN" / "monitoring" / "look-0002.json").read_text())
    assert kept["result"] == second.as_json()
    # The same look by the command, in a folder of the first look alone.
    shutil.copytree(folder / "RUN", folder / "COPY")
    for number in ("0002", "0003"):
        (folder / "COPY" / "monitoring" / f"look-{number}.json").unlink()
    again = json.loads(run("monitor", "COPY", "2.csv", "--json").out)
    assert again == second.as_json()


def test_the_count_of_looks_goes_with_the_folder(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(run, "1.csv", "--reference", "old.csv")
    moved = shutil.move(folder / "RUN", tmp_path / "another host" / "moved run")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another home"))
    found = monitor(moved, "2.csv")
    assert (found.look, found.pooled_rows, found.has_reference) == (2, 800, True)
    with pytest.raises(AutomlAdmmError, match="has the rows of look 1 again"):
        monitor(moved, pd.read_csv("1.csv").sample(frac=1, random_state=1))
    people(400, 9, wrong=0.9).to_csv("bad.csv", index=False)
    done = run("monitor", moved, "bad.csv", "--json")
    assert (done.code, json.loads(done.out)["look"]) == (6, 3)
    assert json.loads(done.out)["alarms"]


@pytest.mark.parametrize("data", [None, 3, np.zeros((4, 2)), "nowhere.csv", [["a", 1.5]]])
def test_what_is_no_table_is_refused_in_python(folder: Path, data: object) -> None:
    with pytest.raises(AutomlAdmmError) as refused:
        monitor(folder / "RUN", data)
    assert "\n" not in str(refused.value)
    assert not (folder / "RUN" / "monitoring").exists()


@pytest.mark.parametrize(
    ("change", "said", "code"),
    [
        (lambda rows: rows.head(0), "and no rows", 3),
        (lambda rows: rows.drop(columns="age"), "age", 3),
        (lambda rows: rows.assign(buys="perhaps"), "is no class of the run", 3),
    ],
)
def test_bad_rows_are_one_line_and_no_look(
    run: Run, folder: Path, change: Callable[[Any], Any], said: str, code: int
) -> None:
    change(people(40, 5)).to_csv(folder / "bad.csv", index=False)
    done = run("monitor", "RUN", "bad.csv")
    assert done.code == code
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (folder / "RUN" / "monitoring").exists()


@pytest.mark.parametrize("name", ["age", "buys"])
def test_two_columns_of_one_name_are_refused_in_python(folder: Path, name: str) -> None:
    rows = pd.read_csv(folder / "1.csv")
    with pytest.raises(DataError, match=f"two columns are named '{name}'"):
        monitor(folder / "RUN", pd.concat([rows, rows[[name]]], axis=1))


def test_a_reference_without_rows_is_refused(folder: Path) -> None:
    rows = pd.read_csv(folder / "1.csv")
    with pytest.raises(DataError, match="the reference has no rows"):
        monitor(folder / "RUN", rows, reference=rows.head(0))
    assert not (folder / "RUN" / "monitoring").exists()


def test_a_confidence_out_of_range_is_refused(run: Run, folder: Path) -> None:
    del folder
    done = run("monitor", "RUN", "1.csv", "--confidence", "95")
    assert done.code == 2
    assert "95 is not between 0 and 1" in done.err


def fitted(folder: Path, y: Any, X: pd.DataFrame, limit: str = "recall >= 0.6") -> None:
    AutoMLClassifier(
        grammar="tiny",
        max_evaluations=1,
        executor="inline",
        random_state=0,
        constraints=[limit],
        work_dir=folder,
    ).fit(X, y)


@pytest.mark.parametrize(
    ("name", "said"), [(None, "has no column 'target'"), ("buys", "has no column 'buys'")]
)
def test_python_warns_if_no_limit_can_be_tested(
    run: Run, tmp_path: Path, name: str | None, said: str
) -> None:
    """Every label is turned: without a word a job would take no alarm for good news."""
    rows = people(300, 0)
    X, y = rows[["age", "town"]], pd.Series(rows["buys"].to_numpy(), name=name)
    fitted(tmp_path / "RUN", y, X)
    turned = people(200, 1, wrong=1.0).rename(columns={"buys": "label"})
    with pytest.warns(LimitWarning, match=said):
        found = monitor(tmp_path / "RUN", turned)
    assert not found.is_labelled
    assert found.untested is not None
    turned.to_csv(tmp_path / "turned.csv", index=False)
    assert said in run("monitor", "RUN", "turned.csv").out


def test_cells_in_python_are_what_they_are_in_a_file(tmp_path: Path) -> None:
    """Text for truth values was a new level to the model, and an infinite number an error."""
    rows = people(300, 0).assign(member=lambda frame: frame["age"] > 50)
    fitted(tmp_path / "RUN", rows["buys"], rows[["age", "town", "member"]])
    shutil.copytree(tmp_path / "RUN", tmp_path / "COPY")
    later = people(200, 1).assign(member=lambda frame: (frame["age"] > 50).map(str).str.upper())
    later.loc[3, "age"] = np.inf
    later.to_csv(tmp_path / "later.csv", index=False)
    found = monitor(tmp_path / "RUN", later, reference=rows)
    read = monitor(tmp_path / "COPY", tmp_path / "later.csv", reference=rows)
    assert found.alarms == ()
    assert found.as_json() == read.as_json()


def test_truth_values_in_text_are_the_groups_of_the_run_in_python(tmp_path: Path) -> None:
    rows, later = (
        people(300, seed).assign(is_there=lambda one: one["town"] == "Rome") for seed in (0, 1)
    )
    AutoMLClassifier(
        grammar="tiny",
        max_evaluations=1,
        executor="inline",
        random_state=0,
        constraints=["fpr_gap[is_there] <= 0.9"],
        scoring="balanced_accuracy",
        work_dir=tmp_path / "RUN",
    ).fit(rows[["age"]], rows["buys"], sensitive_features=rows[["is_there"]])
    later["is_there"] = later["is_there"].map(str).str.upper()
    assert monitor(tmp_path / "RUN", later).groups == ()


def test_columns_named_by_numbers_are_known_in_python(tmp_path: Path) -> None:
    ages = pd.DataFrame(np.random.default_rng(0).normal(45, 15, (600, 2)))
    buys = pd.Series(np.where(ages[0] > 45, "yes", "no"), name="buys")
    fitted(tmp_path / "RUN", buys[:300], ages[:300])
    found = monitor(tmp_path / "RUN", ages[300:].assign(buys=buys), reference=ages[:300])
    assert [one.column for one in found.shifts] == ["0", "1"]
    assert found.limits[0].state is not State.BROKEN


def test_limits_that_rows_do_not_tell_need_no_labels(tmp_path: Path) -> None:
    rows = people(300, 0)
    fitted(tmp_path / "RUN", rows["buys"], rows[["age", "town"]], "fit_seconds <= 60")
    assert monitor(tmp_path / "RUN", people(100, 1).drop(columns="buys")).untested is None


def test_labels_that_are_dates_are_known_in_whatever_unit(tmp_path: Path) -> None:
    rows = people(300, 0)
    days = np.where(rows["buys"] == "yes", "2021-01-01", "2020-01-01").astype("datetime64[s]")
    fitted(tmp_path / "RUN", pd.Series(days, name="day"), rows[["age", "town"]])
    later = people(200, 1, wrong=1.0)
    for unit in ("s", "ns"):
        told = np.where(later["buys"] == "yes", "2021-01-01", "2020-01-01")
        frame = later[["age", "town"]].assign(day=told.astype(f"datetime64[{unit}]"))
        found = monitor(tmp_path / "RUN", frame.iloc[: 100 if unit == "s" else None][::-1][:100])
        assert found.is_labelled
        assert found.alarms == ("limit recall >= 0.6 is broken",)


def prices(rows: int, seed: int, more: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows)
    return pd.DataFrame(
        {"size": size, "price": (10 * size + more + rng.normal(size=rows)).round(3)}
    )


@pytest.fixture(scope="module")
def priced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rows = tmp_path_factory.mktemp("priced") / "RUN", prices(200, 0)
    AutoMLRegressor(
        grammar="tiny",
        cv=2,
        max_evaluations=2,
        executor="inline",
        random_state=0,
        constraints=["mae <= 2"],
        work_dir=folder,
    ).fit(rows[["size"]], rows["price"])
    return folder


def with_comma(price: float) -> str:
    return str(price).replace(".", ",")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda y: y.map(with_comma), r"row 0 .*: the target 'price' holds .*, which is no plain"),
        (lambda y: y.map("${}".format), "which is no plain number"),
        (
            lambda y: pd.Series(["x", *y[1:].map(str)]),
            "'price' holds 'x', which is no plain",
        ),
        (lambda y: y.where(y.index != 3, np.inf), "infinite .* in 1 of 100 rows, first in row 3"),
        (lambda y: pd.Series(pd.date_range("2020", periods=len(y))), "which is no plain number"),
    ],
)
def test_a_target_that_is_no_quantity_is_refused_and_no_look_is_written(
    priced: Path, tmp_path: Path, wrong: Any, said: str
) -> None:
    shutil.copytree(priced, tmp_path / "RUN")
    rows = prices(100, 1, more=500.0)
    with pytest.raises(DataError, match=said):
        monitor(tmp_path / "RUN", rows.assign(price=wrong(rows["price"])))
    assert not list((tmp_path / "RUN").glob("monitoring/look-*"))
    found = monitor(tmp_path / "RUN", rows.assign(price=rows["price"].map(str)))
    assert found.alarms == ("limit mae <= 2 is broken",)


@pytest.mark.parametrize("kind", ["float64", "float32", "int8", object, "Int64", "Float64"])
def test_whole_numbers_are_the_classes_in_any_type_of_number(tmp_path: Path, kind: Any) -> None:
    rows = people(300, 0).assign(buys=lambda frame: (frame["buys"] == "yes").astype(int))
    AutoMLClassifier(
        grammar="tiny",
        cv=2,
        max_evaluations=1,
        executor="inline",
        random_state=0,
        constraints=["fpr <= 0.9"],
        work_dir=tmp_path / "RUN",
    ).fit(rows[["age"]], rows["buys"])
    later = people(100, 1).assign(buys=lambda frame: (frame["buys"] == "yes").astype(int))
    later["buys"] = later["buys"].astype(kind)
    found = monitor(tmp_path / "RUN", later[["age", "buys"]])
    assert found.limits[0].state is not State.BROKEN
    with pytest.raises(DataError, match="which is no class of the run"):
        monitor(tmp_path / "RUN", later.assign(buys=later["buys"].astype(float) + 0.5))


def of_days(rows: int, seed: int, since: str) -> pd.DataFrame:
    frame, rng = people(rows, seed), np.random.default_rng(seed)
    days = pd.to_timedelta(rng.integers(0, 400, rows), unit="D")
    return frame.assign(day=(pd.Timestamp(since) + days).strftime("%Y-%m-%d"))


def test_days_of_the_same_time_give_no_alarm_and_later_ones_do(run: Run, tmp_path: Path) -> None:
    rows, place = of_days(500, 0, "2020-01-01"), tmp_path / "RUN"
    given = {"grammar": "tiny", "cv": 2, "max_evaluations": 1, "executor": "inline"}
    AutoMLClassifier(**given, random_state=0, columns={"day": "date"}, work_dir=place).fit(
        rows[["age", "town", "day"]], rows["buys"]
    )
    rows.to_csv(tmp_path / "old.csv", index=False)
    for seed, since in enumerate(("2020-01-01", "2020-01-01", "2020-06-01"), 1):
        of_days(400, seed, since).to_csv(tmp_path / f"{seed}.csv", index=False)
    assert look(run, "1.csv", "--reference", "old.csv")["alarms"] == []
    assert look(run, "2.csv")["alarms"] == []
    assert "day has shifted" in look(run, "3.csv")["alarms"]
