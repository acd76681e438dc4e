"""Limits on the parts of a model hold for the model in the file, as another process reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import automl_admm

FIT = ("fit", "numbers.csv", "--target", "y", "--grammar", "mine.lark", "--out", "run", "--cv=2")
LITTLE = ("--executor", "inline", "--max-evaluations", "2", "--test-size", "0")
TREES = "%import components (decision_tree, k_neighbors)\nstart: decision_tree | k_neighbors\n"
# Leaves of twenty rows: a half of the rows has room for four, all of them for eight.
LARGE = "decision_tree(max_depth=8, min_samples_leaf=20)"
SMALL = "decision_tree(max_depth=1, min_samples_leaf=20)"


@pytest.fixture
def numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(160, 2)), columns=["a", "b"])
    frame["y"] = np.where(np.sin(4 * frame["a"]) + frame["b"] > 0, "yes", "no")
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    (tmp_path / "mine.lark").write_text(TREES, encoding="utf-8")


def leaves(folder: Path) -> int:
    """Count by scikit-learn alone, in the model as it was saved."""
    model: Any = automl_admm.load(folder).pipeline
    inner = model.estimator_.estimator if hasattr(model, "estimator_") else model
    return int(inner.steps[-1][1].get_n_leaves())


def test_a_tree_that_grows_on_all_rows_does_not_ship(
    run: Callable[..., Any], numbers: None, tmp_path: Path
) -> None:
    limits = ("--constraint", "leaves <= 4", "--start", LARGE, "--start", SMALL)
    done = run(*FIT, *LITTLE, *limits)
    assert done.code == 0, done.err
    assert leaves(tmp_path / "run") == 2
    told = json.loads((tmp_path / "run" / "model.json").read_text())
    assert told["constraints"] == {"leaves <= 4": 2.0}
    assert "fitted on all rows it is outside the limits (leaves <= 4: " in done.out
    assert "leaves <= 4: 2 in the model that ships: holds" in done.out


@pytest.mark.filterwarnings("ignore:the model is outside the limits of its run")
def test_with_no_smaller_model_the_run_says_that_it_is_outside(
    run: Callable[..., Any], numbers: None, tmp_path: Path
) -> None:
    limits = ("--constraint", "leaves <= 4", "--start", LARGE, "--max-evaluations", "1")
    done = run(*FIT, *LITTLE, *limits)
    assert done.code == 5
    assert f"leaves <= 4, closest {leaves(tmp_path / 'run')}" in done.err
    assert not json.loads((tmp_path / "run" / "model.json").read_text())["feasible"]


def test_a_model_without_trees_is_within_no_limit_on_them(
    run: Callable[..., Any], numbers: None
) -> None:
    limits = ("--constraint", "tree_depth <= 9", "--start", "k_neighbors()")
    done = run(*FIT, *LITTLE, *limits, "--max-evaluations", "1")
    assert done.code == 4
    assert "KNeighborsClassifier is not made of trees alone" in done.err
