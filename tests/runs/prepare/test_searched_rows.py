"""Large data are searched on a share of their rows, and the winner is fitted on all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.execution.stored_work import RestOfWork
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare import searched_rows
from automl_admm.runs.prepare.preparation import Preparation, prepare
from automl_admm.runs.prepare.searched_rows import tell_searched

ROWS = 8_000  # so many that a part is held out


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searched_rows, "FEWEST", 200)
    monkeypatch.setattr(searched_rows, "CELLS_A_SECOND", 30)


@pytest.fixture
def table() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS)})
    y = np.where(X["a"] > 2.2, "rare", np.where(X["b"] > 0, "yes", "no"))
    return X, pd.Series(y, name="class")


def sizes(prepared: Preparation) -> tuple[int, int]:
    ((train, valid),) = prepared.work.splits
    return len(train), len(valid)


def test_the_share_grows_with_the_budget_up_to_all_rows(table: Any) -> None:
    short, longer, longest = (
        prepare(RunConfig("tiny", time_budget=seconds), *table) for seconds in (20.0, 60.0, 6000.0)
    )
    assert [one.config.searched_rows for one in (short, longer, longest)] == [300, 900, None]
    assert sizes(short)[0] == pytest.approx(0.75 * 300, abs=5)
    assert sizes(longest) == (6000, 2000)
    assert len(short.work.table.y) == 8000  # the final fit takes all of them


def test_every_class_keeps_its_share(table: Any) -> None:
    prepared = prepare(RunConfig("tiny", time_budget=60.0), *table)
    ((train, valid),) = prepared.work.splits
    whole = np.bincount(prepared.work.table.y) / len(prepared.work.table.y)
    for part in (train, valid):
        assert np.bincount(prepared.work.table.y[part]) / len(part) == pytest.approx(
            whole, abs=0.01
        )
    assert not set(train) & set(valid)


@pytest.mark.parametrize(
    "settings", [{"max_evaluations": 3}, {"time_budget": 20.0, "min_fidelity": 1.0}]
)
def test_without_a_clock_or_with_a_least_share_all_rows_are_searched(
    table: Any, settings: Any
) -> None:
    prepared = prepare(RunConfig("tiny", **settings), *table)
    assert prepared.config.searched_rows is None
    assert sizes(prepared) == (6000, 2000)
    assert tell_searched(prepared.config, 8000) is None


def test_limits_are_measured_on_all_validation_rows(table: Any) -> None:
    given = {"time_budget": 20.0, "cv": 0.25}
    limited = RunConfig("tiny", constraints=("accuracy >= 0.1",), **given)
    assert sizes(prepare(limited, *table))[1] == 2000


def test_a_run_that_goes_on_keeps_its_rows(table: Any) -> None:
    before = prepare(RunConfig("tiny", time_budget=20.0), *table)
    again = prepare(RunConfig("tiny", time_budget=6000.0, searched_rows=300), *table)
    assert [list(part) for part in again.work.splits[0]] == [
        list(part) for part in before.work.splits[0]
    ]


def test_a_warm_start_searches_on_the_rows_of_before(table: Any, tmp_path: Path) -> None:
    given = {"executor": "inline", "random_state": 0, "work_dir": tmp_path / "run"}
    path = tmp_path / "run" / "run.json"
    AutoMLClassifier("tiny", time_budget=60.0, max_evaluations=1, **given).fit(*table)
    assert json.loads(path.read_text())["request"]["searched_rows"] == 900
    again = AutoMLClassifier("tiny", time_budget=90.0, max_evaluations=2, warm_start=True, **given)
    assert again.fit(*table).n_evaluations_ == 2
    assert json.loads(path.read_text())["request"]["searched_rows"] == 900


def test_a_run_ended_while_the_other_rows_are_written_goes_on(
    table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class has its rows, and a column its gaps, among the last rows alone."""
    X, y = table[0].copy(), table[1].copy()
    X.loc[ROWS - 40 :, "b"] = np.nan
    y[ROWS - 40 :] = "late"
    given = {"random_state": 0, "time_budget": 3600.0}
    monkeypatch.setattr(searched_rows, "CELLS_A_SECOND", 0.5)  # which makes 900 rows
    stored = {**given, "executor": "local", "work_dir": tmp_path / "run"}

    def fail(rest: RestOfWork) -> None:
        raise StoreError("the disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(RestOfWork, "store", fail)
        with pytest.raises(StoreError, match="the disk is full"):
            AutoMLClassifier("tiny", max_evaluations=2, **stored).fit(X, y)
    again = AutoMLClassifier("tiny", max_evaluations=2, warm_start=True, **stored).fit(X, y)
    at_once = AutoMLClassifier("tiny", max_evaluations=2, executor="inline", **given).fit(X, y)
    assert list(again.classes_) == ["late", "no", "rare", "yes"]
    assert np.array_equal(again.predict_proba(X), at_once.predict_proba(X))


def test_a_number_of_rows_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="searched rows must be a whole number"):
        RunConfig("tiny", searched_rows="many")  # type: ignore[arg-type]


def test_the_line_names_the_rows_and_how_to_search_on_all() -> None:
    said = tell_searched(RunConfig("tiny", searched_rows=300), 8000)
    assert said is not None
    assert said.startswith("searched on 300 of 8000 rows, the winner is fitted on all")
    assert "--min-fidelity 1" in said
