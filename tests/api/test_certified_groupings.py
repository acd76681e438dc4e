"""Certificates where several groupings leave most rows alone in their combination of groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from automl_admm import AutoMLClassifier

SEVERAL = [f"s{number}" for number in range(6)]


def rare_and_common(rows: int, seed: int) -> tuple[pd.DataFrame, Any, pd.DataFrame]:
    """Return rows of which two fifths are of a combination of their own, and hard to tell."""
    rng = np.random.default_rng(seed)
    rare = rng.random(rows) < 0.4
    groups = {name: np.where(rare, rng.choice(list("abcdef"), rows), "a") for name in SEVERAL}
    x = rng.normal(size=rows)
    y = x + np.where(rare, 2.0, 0.1) * rng.normal(size=rows) > 0
    return pd.DataFrame({"x": x}), y, pd.DataFrame(groups)


def test_rows_of_rare_combinations_count_in_a_certificate() -> None:
    """Left out of the rows set aside, they let a rate of 0.01 be certified, and it was 0.02."""
    X, y, groups = rare_and_common(3000, 1)
    search = AutoMLClassifier(
        "tiny",
        constraints=["fpr <= 0.14", *(f"min_recall[{name}] >= 0.05" for name in SEVERAL)],
        certify=0.95,
        scoring="balanced_accuracy",
        cv=2,
        max_evaluations=1,
        executor="inline",
        ensemble=False,
        on_infeasible="closest",
        random_state=0,
    ).fit(X, y, sensitive_features=groups)
    rate = search.certificate_.findings[0]
    new, truth, _ = rare_and_common(40_000, 2)
    assert rate.is_certified
    assert search.predict(new)[~truth].mean() <= rate.bound
