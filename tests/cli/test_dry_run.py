"""What the data could certify at best, before a search is paid for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

CERTIFY = ("--grammar", "tiny", "--cv=2", "--certify", "0.95", "--dry-run")


@pytest.fixture
def people(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a table of 400 rows, every fourth one negative, by two groups."""
    del run
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    frame = pd.DataFrame({"age": range(400), "sex": ["f", "m"] * 200})
    frame["buys"] = ["no" if number % 4 == 0 else "yes" for number in range(400)]
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    return tmp_path


def fit(run: Any, table: str, *limits: str, words: tuple[str, ...] = CERTIFY) -> Any:
    given = [word for limit in limits for word in ("--constraint", limit)]
    return run("fit", table, "--target", "buys", *words, *given)


@pytest.mark.parametrize("table", ["people.csv", "people.parquet"])
def test_the_best_bound_is_that_of_a_model_without_an_error(
    run: Any, people: Path, table: str
) -> None:
    done = fit(
        run, table, "fpr <= 0.3", "recall >= 0.8 @ 0.99", "size_mb <= 5", words=(*CERTIFY, "--json")
    )
    assert done.code == 0, done.err
    told = json.loads(done.out)
    (aside,) = [line for line in told["facts"] if "rows set aside" in line]
    rows = int(aside.split()[0])
    fpr, recall, size = told["limits"]
    # The first look has half of the risk, 5 %; one of four rows is negative.
    assert fpr["best"] == pytest.approx(1 - 0.025 ** (1 / (rows // 4)), rel=0.05)
    assert recall["best"] == pytest.approx(0.005 ** (1 / (rows * 3 // 4)), rel=0.01)
    assert [one["is_provable"] for one in told["limits"]] == [True, True, None]
    assert (size["best"], size["aim"]) == (None, 5)
    assert not (people / "automl-runs").exists()


def test_a_dry_run_takes_no_look_and_leaves_no_folder(run: Any, people: Path) -> None:
    first = fit(run, "people.csv", "fpr <= 0.3")
    again = fit(run, "people.csv", "fpr <= 0.3")
    assert first.code == 0
    assert first.out == again.out
    assert "look 2" not in again.out
    assert "fpr <= 0.3" in first.out.partition("best bound")[2]
    assert not list((people / "state").rglob("looks.json"))
    assert sorted(path.name for path in people.iterdir()) == [
        "people.csv",
        "people.parquet",
        "state",
    ]


def test_a_folder_that_cannot_be_made_is_refused_and_one_that_can_is_not_left(
    run: Any, people: Path
) -> None:
    words = ("--grammar", "tiny", "--cv=2", "--dry-run", "--out")
    refused = fit(run, "people.csv", words=(*words, "people.csv/run"))
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "the run folder 'people.csv/run' cannot be made" in refused.err
    done = fit(run, "people.csv", words=(*words, "new/deep/run"))
    assert done.code == 0, done.err
    assert not (people / "new").exists()


def test_what_nothing_could_prove_is_refused_or_said(run: Any, people: Path) -> None:
    del people
    refused = fit(run, "people.csv", "fpr <= 0.001")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "could prove fpr <= 0.001" in refused.err
    said = fit(run, "people.csv", "fpr <= 0.001", words=(*CERTIFY, "--on-infeasible", "closest"))
    assert said.code == 0, said.err
    (row,) = [line for line in said.out.splitlines() if line.startswith("fpr <= 0.001 ")]
    assert " NO " in row


def test_a_limit_that_the_risk_of_the_coming_look_cannot_prove_is_refused(
    run: Any, people: Path
) -> None:
    limit, rest = "fpr <= 0.1", ("--executor", "inline", "--max-evaluations", "2", "--out", "out")
    assert fit(run, "people.csv", limit).code == 0
    looked = fit(run, "people.csv", "fpr <= 0.9", words=(*CERTIFY[:-1], *rest))
    assert looked.code == 0, looked.err
    for words in (CERTIFY, (*CERTIFY[:-1], *rest[:-1], "new")):
        done = fit(run, "people.csv", limit, words=words)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "no certificate in look 2 at these data, with 1.25 % of risk" in done.err
        assert f"not even a pipeline without an error could prove {limit}" in done.err
    assert not (people / "new").exists()
    # No look was spent on it.
    closest = fit(run, "people.csv", limit, words=(*CERTIFY, "--on-infeasible", "closest"))
    assert closest.code == 0, closest.err
    assert "look 2 at these data" in closest.out


def test_without_a_certificate_the_facts_are_told(run: Any, people: Path) -> None:
    del people
    done = fit(run, "people.csv", "fpr <= 0.3", words=("--grammar", "tiny", "--cv=2", "--dry-run"))
    assert done.code == 0, done.err
    assert "400 rows, 2 columns" in done.out
    assert "best bound" not in done.out
    wrong = fit(run, "people.csv", "fprr <= 0.3")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)


def test_an_observer_that_refuses_is_told_as_by_a_search(run: Any, people: Path) -> None:
    def dry(path: str) -> Any:
        plain = ("--grammar", "tiny", "--cv=2", "--dry-run")
        return fit(run, "people.csv", words=(*plain, "--observer", f"jsonl:path={path}"))

    assert dry("events.jsonl").code == 0
    assert not (people / "events.jsonl").exists()
    (people / "link.jsonl").symlink_to("none.jsonl")
    assert dry("link.jsonl").code == 0
    assert (people / "link.jsonl").is_symlink()
    done = dry("nowhere/a.jsonl")
    assert (done.code, done.out, done.err.count("error: ")) == (2, "", 1)
    assert "'nowhere/a.jsonl' cannot be written" in done.err


def test_of_a_share_of_decisions_the_best_model_is_not_the_right_one(
    run: Any, people: Path
) -> None:
    """A model without an error calls three of four rows positive, and another one none."""
    del people
    limits = ("selection_rate <= 0.1", "selection_rate_gap[sex] <= 0.3", "fpr <= 0.3")
    done = fit(run, "people.csv", *limits, words=(*CERTIFY, "--json"))
    assert done.code == 0, done.err
    told = json.loads(done.out)["limits"]
    assert [one["is_provable"] for one in told] == [True, True, True]
    assert told[0]["best"] < 0.06


@pytest.mark.parametrize("limit", ["mae <= 4", "rmse <= 4", "bias <= 4", "r2 >= 0.1"])
def test_a_quantity_without_a_largest_error_may_be_certified_as_approximate(
    run: Any, people: Path, limit: str
) -> None:
    """The errors of a model without any are all alike, and tell no spread."""
    del people
    words = (*CERTIFY, "--json", "--constraint", limit)
    done = run("fit", "people.csv", "--target", "age", "--task", "regression", *words)
    assert done.code == 0, done.err
    (told,) = json.loads(done.out)["limits"]
    assert told["is_provable"] is True
    assert told["is_approximate"] is True
    assert told["best"] == pytest.approx(1.0 if "r2" in limit else 0.0, abs=0.01)


def test_the_warning_tells_the_rows_that_were_drawn(run: Any, people: Path) -> None:
    frame = pd.read_csv(people / "people.csv")
    frame["sex"] = ["fm"[number // 4 % 2] for number in range(400)]
    frame["site"], frame["weight"] = frame.index // 2, 1 + frame.index % 5
    frame.to_csv(people / "weighted.csv", index=False)
    drawn = ("--weight", "weight", "--group", "site", "--sensitive", "sex", "--json")
    words = (*CERTIFY, *drawn, "--on-infeasible", "closest")
    told = json.loads(fit(run, "weighted.csv", "fpr_gap[sex] <= 0.1", words=words).out)
    (warned,) = [line for line in told["facts"] if "your " in line]
    (limit,) = told["limits"]
    rows = limit["reason"].rsplit("there are ", 1)[1]
    assert f"your {rows} negative rows in group" in warned
