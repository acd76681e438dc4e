"""A run that goes on with other limits tries again what a race stopped beside one outside them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

REST = '"," "max_features" "=" "1.0" "," "min_samples_split" "=" "2" "," "bootstrap" "=" "true" ")"'
GRAMMAR = f"""\
%import components (impute, random_forest)
start: impute estimator
estimator: big | small
big: "random_forest" "(" "n_estimators" "=" int{{"20", "22"}} "," "min_samples_leaf" "=" "1" {REST}
small: "random_forest" "(" "n_estimators" "=" "5" "," "min_samples_leaf" "=" "20" {REST}
"""


@pytest.fixture
def waves(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (300, 3))
    y = np.sin(3 * X[:, 0]) * 2 + X[:, 1] ** 2 + 0.3 * X[:, 2] + rng.normal(size=300) * 0.1
    path = tmp_path / "waves.csv"
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_csv(path, index=False)
    return path


@pytest.fixture
def raced(run: Any, waves: Path, tmp_path: Path) -> dict[str, Any]:
    """Return the small pipeline, which the run in `out` has stopped."""
    (tmp_path / "two.lark").write_text(GRAMMAR)
    asked = ("--cv", "4", "--max-evaluations", "4", "--constraint", "trees <= 100", "-q")
    more = ("--grammar", "two.lark", "--executor", "inline", "--out", "out")
    done = run("fit", waves, "--target", "y", *asked, *more)
    assert done.code == 0, done.err
    (small,) = (one for one in standings(run) if "n_estimators=5" in one["pipeline"])
    assert small["status"] == "stopped"
    return small


def standings(run: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("leaderboard", "out", "--json").out)["evaluations"]
    return found


def go_on(run: Any, *changed: str) -> Any:
    more = ("--allow-changed", "--max-evaluations", "+2", "-q")
    return run("resume", "out", *changed, *more)


def test_the_only_one_within_tighter_limits_ships(run: Any, raced: dict[str, Any]) -> None:
    done = go_on(run, "--constraint", "trees <= 10")
    assert done.code == 0, done.err
    assert "do not count any more; the best of them are tried first" in done.err
    first = standings(run)[0]
    assert (first["key"], first["status"]) == (raced["key"], "success")


def test_with_looser_limits_it_stays_stopped(run: Any, raced: dict[str, Any]) -> None:
    done = go_on(run, "--constraint", "trees <= 200")
    assert done.code == 0, done.err
    assert "count any more" not in done.err
    assert [one["status"] for one in standings(run) if one["key"] == raced["key"]] == ["stopped"]


def test_one_that_the_grammar_writes_otherwise_is_tried_first(
    run: Any, raced: dict[str, Any], tmp_path: Path
) -> None:
    written = GRAMMAR.replace("big | small", "small").replace('"20" ","', 'int{"20", "30"} ","')
    (tmp_path / "alone.lark").write_text(re.sub("big:.*\n", "", written))
    done = go_on(run, "--grammar", "alone.lark")
    assert done.code == 0, done.err
    assert "writes otherwise now" in done.err
    assert "are tried first: 1 of 4" in done.err
    first = min(standings(run), key=lambda one: one["number"])
    assert "min_samples_leaf=20" in first["pipeline"]
    assert (first["key"] != raced["key"], first["status"]) == (True, "success")
