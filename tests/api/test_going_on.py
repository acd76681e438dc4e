"""An estimator that goes on with a run: the seed, and with it the folds, stay those of the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import StoreError

RNG = np.random.default_rng(3)
X = RNG.normal(size=(160, 3))
Y = (X[:, 0] + RNG.normal(size=160) > 0).astype(int)


def search(folder: Path, evaluations: int, **settings: Any) -> AutoMLClassifier:
    usual: dict[str, Any] = {"cv": 3, "executor": "inline", "theta_solver": "random"}
    return AutoMLClassifier(
        "tiny", max_evaluations=evaluations, work_dir=folder, **usual | settings
    )


def seed_in(folder: Path) -> int:
    return int(json.loads((folder / "run.json").read_text("utf-8"))["settings"]["seed"])


def test_without_a_seed_a_run_goes_on_with_its_own(tmp_path: Path) -> None:
    """Scores of other folds cannot be compared: one that is drawn anew would mix them."""
    folder, fresh = tmp_path / "run", tmp_path / "fresh"
    search(folder, 2).fit(X, Y)
    seed = seed_in(folder)
    found = search(folder, 4, warm_start=True).fit(X, Y)
    assert seed_in(folder) == seed
    again = search(fresh, 4, random_state=seed).fit(X, Y)
    assert found.leaderboard()["score"].tolist() == again.leaderboard()["score"].tolist()


def test_another_seed_that_deals_other_folds_is_refused(tmp_path: Path) -> None:
    search(tmp_path, 2, random_state=0).fit(X, Y)
    with pytest.raises(StoreError, match="folds: seed 0 → seed 5"):
        search(tmp_path, 3, random_state=5, warm_start=True).fit(X, Y)


def test_another_seed_with_the_same_folds_goes_on(tmp_path: Path) -> None:
    given = [(np.arange(80), np.arange(80, 160))]
    search(tmp_path, 2, random_state=0, cv=given).fit(X, Y)
    found = search(tmp_path, 3, random_state=5, warm_start=True, cv=given).fit(X, Y)
    assert found.n_evaluations_ == 3


def test_a_generator_goes_on_with_the_seed_of_the_run(tmp_path: Path) -> None:
    generator = np.random.RandomState(0)
    search(tmp_path, 2, random_state=generator).fit(X, Y)
    seed = seed_in(tmp_path)
    found = search(tmp_path, 3, random_state=generator, warm_start=True).fit(X, Y)
    assert found.n_evaluations_ == 3
    assert seed_in(tmp_path) == seed


def test_other_labels_and_other_values_for_limits_are_refused(tmp_path: Path) -> None:
    sex = pd.DataFrame({"sex": np.where(RNG.random(160) < 0.5, "f", "m")})
    limits = {"constraints": ["fpr_gap[sex] <= 0.9"], "scoring": "balanced_accuracy"}
    settings: dict[str, Any] = {"random_state": 0, **limits}
    search(tmp_path, 2, **settings).fit(X, Y, sensitive_features=sex)
    again = search(tmp_path, 3, warm_start=True, **settings)
    with pytest.raises(StoreError, match="classes: '0, 1' → 'no, yes'"):
        again.fit(X, np.where(Y, "yes", "no"), sensitive_features=sex)
    with pytest.raises(StoreError, match="data: other values of sex"):
        again.fit(X, Y, sensitive_features=sex.replace({"f": "w"}))
