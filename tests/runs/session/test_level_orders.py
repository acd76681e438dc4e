"""Levels in another order are another table to encoders, whatever their cells hash to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from called import run

from automl_admm import AutoMLClassifier, read_run
from automl_admm.core.errors import StoreError
from automl_admm.runs.session.changes import other_orders
from automl_admm.runs.session.model_run import of_other_session

SETTINGS: dict[str, Any] = {
    "grammar": "tiny",
    "cv": 2,
    "executor": "inline",
    "theta_solver": "random",
    "racing": False,
    "ensemble": False,
    "n_jobs": 1,
    "random_state": 0,
}
Begin = Callable[..., Path]
ASKED = ("--target", "y", "--grammar", "tiny", "--cv=2", "--executor", "inline", "-q")


def table(order: str | None, *, ordered: bool = False) -> pd.DataFrame:
    """Return a column with levels in an order, or of plain text, and one of numbers."""
    texts = pd.Series(np.random.default_rng(5).choice(list("pqs"), 120))
    numbers = np.random.default_rng(6).normal(size=120)
    if order is None:
        return pd.DataFrame({"a": texts, "b": numbers})
    return pd.DataFrame({"a": pd.Categorical(texts, list(order), ordered=ordered), "b": numbers})


def labels() -> pd.Series:
    chance = table(None)["b"] + np.random.default_rng(7).normal(size=120)
    return pd.Series(np.where(chance > 0.3, "yes", "no"), name="y")


def fit(folder: Path, X: pd.DataFrame, evaluations: int, **more: Any) -> None:
    search = AutoMLClassifier(**SETTINGS, work_dir=folder, max_evaluations=evaluations, **more)
    search.fit(X, labels())


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Begin:
    """Runs on tables of levels in an order, each begun once, which tests leave as they are."""
    folder = tmp_path_factory.mktemp("begun")

    @cache
    def begun(order: str | None, ordered: bool = False) -> Path:
        run = folder / f"{order} {ordered}"
        fit(run, table(order, ordered=ordered), 2)
        return run

    return begun


@pytest.fixture
def begin(runs: Begin, tmp_path: Path) -> Begin:
    """Copies of these runs, which tests may go on with."""
    return lambda *levels: Path(shutil.copytree(runs(*levels), tmp_path / "run"))


@pytest.mark.parametrize(
    ("was", "is_now", "said"),
    [
        (("pqs", True), table("psq", ordered=True), "stand in other places"),
        (("pqs",), table("psq"), "stand in other places"),
        (("pqs", True), table("prqs", ordered=True), "stand in other places"),
        (("pqs", True), table("pqs"), "have no order any more"),
        (("qps", True), table(None), "have no order any more"),
        ((None,), table("qps", ordered=True), "have an order now"),
        (("qps",), table("qps", ordered=True), "have an order now"),
    ],
    ids=[
        *("ordered", "unordered", "a level more between two", "no order any more", "text"),
        *("text before", "not ordered before"),
    ],
)
def test_another_order_of_levels_is_told_at_resume(
    was: tuple[Any, ...], is_now: pd.DataFrame, said: str, begin: Begin
) -> None:
    run = begin(*was)
    with pytest.raises(StoreError, match=f"data: the levels of 'a' {said}"):
        fit(run, is_now, 3, warm_start=True)
    assert len(read_run(run).log) == 2


@pytest.mark.parametrize(
    ("was", "is_now"),
    [
        (("pqs",), table("pqst")),
        (("pqs",), table("rpqs")),
        (("qps",), table(None)),
        (("pqsz", True), table("pqs", ordered=True)),
        (("pqs", True), table("pqsz", ordered=True)),
    ],
    ids=["unused", "unused first", "text", "less", "more"],
)
def test_a_run_goes_on_where_no_encoder_sees_a_difference(
    was: tuple[Any, ...], is_now: pd.DataFrame, begin: Begin
) -> None:
    run = begin(*was)
    fit(run, is_now, 3, warm_start=True)
    assert len(read_run(run).log) == 3


def test_columns_apart_have_levels_in_any_order() -> None:
    def described(order: str) -> dict[str, Any]:
        levels = {"name": "sex", "categories": list(order)}
        schema = [{"name": "a"}, levels]
        return {"data": {"columns": 1}, "schema": schema, "ordered_columns": []}

    assert other_orders(described("fm"), described("mf")) == []


def test_a_model_made_with_another_order_is_of_an_earlier_session(runs: Begin) -> None:
    run, other = runs("pqs", True), runs("qps", True)
    manifest = json.loads((run / "model.json").read_text("utf-8"))
    contents = [read_run(folder).content for folder in (run, other)]
    assert of_other_session(manifest, contents[0]) == ()
    assert of_other_session(manifest, contents[1]) != ()


def test_a_file_in_another_order_is_read_in_that_of_the_run(tmp_path: Path) -> None:
    folder, path = tmp_path / "run", tmp_path / "people.parquet"
    table("qps", ordered=True).assign(y=labels()).to_parquet(path)
    begun = run("fit", path, *ASKED, "--max-evaluations", "2", "--out", folder)
    assert begun.code == 0, begun.err
    table("spq", ordered=True).assign(y=labels()).to_parquet(path)
    ended = run("resume", folder, "--max-evaluations", "+1", "-q")
    assert ended.code == 0, ended.err
    content = read_run(folder).content
    (column,) = (one for one in content["schema"] if one["name"] == "a")
    assert column["categories"] == ["q", "p", "s"]
    assert content["ordered_columns"] == ["a"]
