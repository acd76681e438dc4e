"""More evaluations for a run, whichever limit ended it; a session that has none left says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automl_admm import AutoMLClassifier, read_run
from automl_admm.store.json_content import with_digest

LONG = ("--budget", "600s", "-q")


class StopsAfterThree:
    """A callback that ends the search, as the clock would."""

    def should_stop(self, evaluations: int) -> bool:
        """Stop at three evaluations."""
        return evaluations >= 3


@pytest.fixture
def timed(table: Path, tmp_path: Path) -> Path:
    """A run of three evaluations that was asked for by time alone."""
    frame = pd.read_csv(table)
    AutoMLClassifier(
        "tiny",
        time_budget=600,
        cv=2,
        executor="inline",
        callbacks=[StopsAfterThree()],
        work_dir=tmp_path / "timed",
    ).fit(frame.drop(columns="buys"), frame["buys"])
    return tmp_path / "timed"


@pytest.fixture
def counted(run: Any, table: Path, tmp_path: Path) -> Path:
    """A run that was asked for two evaluations."""
    made = run(
        *("fit", table, "--target", "buys", "--grammar", "tiny", "--cv=2", "--executor", "inline"),
        *("--max-evaluations", "2", "--out", "counted", "-q"),
    )
    assert made.code == 0, made.err
    return tmp_path / "counted"


def test_more_of_a_timed_run_are_more_than_it_has_made(run: Any, timed: Path, table: Path) -> None:
    ended = run("resume", timed, table, "--max-evaluations", "+2", *LONG)
    assert ended.code == 0, ended.err
    assert ended.err == ""
    assert len(read_run(timed).log) == 5
    assert read_run(timed).settings["max_evaluations"] == 5


@pytest.mark.parametrize("given", [("--budget", "600s"), ("--max-evaluations", "1")])
def test_a_session_without_an_evaluation_left_says_so(
    run: Any, counted: Path, given: tuple[str, ...]
) -> None:
    """It may have time, or a reason, to fit the best again."""
    ended = run("resume", counted, *given, "-q")
    assert ended.code == 0, ended.err
    most = given[1] if "evaluations" in given[0] else 2
    told = f"the run has made 2 evaluations, and may make {most}: this session makes none."
    assert ended.err == f"warning: {told} Give it more: --max-evaluations +100.\n"
    assert len(read_run(counted).log) == 2


def test_a_limit_far_below_what_was_made_is_added_to_what_was_made(run: Any, counted: Path) -> None:
    """A session may have been told to make fewer than there were."""
    content = json.loads((counted / "run.json").read_text())
    content["request"]["max_evaluations"] = 1
    (counted / "run.json").write_text(json.dumps(with_digest(content)))
    ended = run("resume", counted, "--max-evaluations", "+1", *LONG)
    assert ended.code == 0, ended.err
    assert len(read_run(counted).log) == 3


def test_a_finished_run_is_told_what_goes_on_with_it(run: Any, counted: Path, timed: Path) -> None:
    told = run("resume", counted).err
    assert told.endswith("is finished (evaluations). Give it more: --max-evaluations +100.\n")
    told = run("resume", timed).err
    assert told.endswith("(a plugin). Give it more: --budget +10m or --max-evaluations +100.\n")
    content = json.loads((timed / "run.json").read_text())
    content["result"]["stopped_by"] = "budget"
    (timed / "run.json").write_text(json.dumps(with_digest(content)))
    assert run("resume", timed).err.endswith("(budget). Give it more: --budget +10m.\n")
