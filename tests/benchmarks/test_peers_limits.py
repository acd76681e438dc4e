"""The comparison within limits: one measure for all, judged on rows that no system saw."""

from __future__ import annotations

import json
import math
import pickle
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from peers import __main__ as driver
from peers.limits import FPR, SETTINGS, SIZE, TestRows, is_within, judge
from peers.limits_report import blocks_of, is_best, limits_report, whole_settings
from peers.processes import filtering, ours
from peers.processes.exchange import Fitted, Limit, Task, read_task, serve
from peers.processes.filtering import Judged, Shipping, decider, fit_chosen, in_order
from peers.processes.measuring import auc_gap, bytes_of, threshold_within
from peers.systems import LIMITED
from peers.tasks import DataSet, split_set, write_task

ROWS = 400


def bank(kind: str = "binary") -> DataSet:
    """Rows whose positive class is the first of the sorted labels, and looks like a number."""
    random = np.random.default_rng(0)
    a = random.normal(size=ROWS)
    X = pd.DataFrame({"a": a, "sex": pd.Categorical(random.choice(["m", "f"], ROWS))})
    y = pd.Series(np.where(a + random.normal(size=ROWS) > 0, "01", "1"))
    return DataSet("bank", X, y, kind, "01", "made")


def task(folder: Path, limit: Limit) -> Task:
    found = bank()
    write_task(found, split_set(found, 0), 0, 5.0, folder, limit)
    return read_task(folder)


@dataclass
class Shipped:
    pipeline: list[int]


def test_a_system_is_told_the_limit_and_ours_gets_it_in_its_own_words(tmp_path: Path) -> None:
    told = task(tmp_path, Limit("auc_gap", 0.02, "sex"))
    assert (told.limit, told.positive, told.metric) == (Limit("auc_gap", 0.02, "sex"), "01", "auc")
    assert ours.limits_of(told) == {"constraints": ["auc_gap[sex] <= 0.02"], "positive": "01"}
    size = ours.limits_of(replace(told, limit=SIZE))
    assert size["positive"] == "01"
    assert [str(one.limit) for one in size["constraints"]] == ["pickle_mb <= 5"]
    assert size["constraints"][0].function(Shipped([1, 2])) == len(pickle.dumps([1, 2], 5)) / 1e6
    assert ours.limits_of(replace(told, limit=None)) == {}
    assert task(tmp_path, FPR).metric == "balanced_accuracy"


def test_a_threshold_within_the_limit_is_the_best_of_all_that_are() -> None:
    random = np.random.default_rng(1)
    truth = random.random(200) < 0.4
    chances = np.round(random.normal(size=200) + truth, 1)
    threshold, value, balanced = threshold_within(truth, chances, 0.1)
    called = chances >= threshold
    assert called[~truth].mean() == pytest.approx(value)
    assert value <= 0.1
    tried = [chances >= one for one in np.unique(chances)]
    allowed = [c for c in tried if c[~truth].mean() <= 0.1]
    best = max((c[truth].mean() + 1 - c[~truth].mean()) / 2 for c in allowed)
    assert balanced == pytest.approx(best)


def test_a_group_of_one_class_has_no_part_in_a_gap() -> None:
    truth = np.array([0, 1, 0, 1, 1, 1])
    groups = np.array(["f", "f", "m", "m", "x", "x"])
    chances = np.array([0.1, 0.9, 0.9, 0.1, 0.5, 0.5])
    assert auc_gap(truth, chances, groups) == 1.0
    assert auc_gap(truth, chances, np.array(["all"] * 6)) == 0.0


def test_the_size_is_that_of_a_pickle_or_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a").write_bytes(b"12345")
    assert bytes_of(tmp_path) == 5
    assert bytes_of([1, 2]) == len(pickle.dumps([1, 2], protocol=5))


def served(folder: Path, limit: Limit, bar: float, monkeypatch: Any) -> dict[str, Any]:
    """Run a system that calls a row positive from a bar on, in the process's own way."""

    def fit(told: Task, _variant: str) -> Fitted:
        def predict(X: Any) -> Any:
            yes = 1 / (1 + np.exp(-X["a"].to_numpy()))
            return np.column_stack([yes, 1 - yes])

        return Fitted(predict, ["01", "1"], decide=decider(told, predict, bar), shipped=b"12")

    task(folder, limit)
    monkeypatch.setattr(sys, "argv", ["process", str(folder)])
    serve(fit, [])
    answer: dict[str, Any] = json.loads((folder / "answer.json").read_text())
    return answer


@pytest.mark.parametrize(("bar", "kept"), [(0.9, True), (0.3, False)])
def test_decisions_are_judged_by_their_labels_on_the_test_rows(
    bar: float, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = bank()
    split = split_set(found, 0)
    answer = served(tmp_path, FPR, bar, monkeypatch) | {"scores": {}, "limit": "fpr"}
    assert "error" not in answer
    rows = TestRows.of(found, split, tmp_path)
    seen = judge(answer, FPR, rows)
    test = found.X.iloc[split.test]["a"].to_numpy()
    called, truth = 1 / (1 + np.exp(-test)) >= bar, found.y.iloc[split.test].to_numpy() == "01"
    limited = seen["limited"]
    assert limited["value"] == pytest.approx(called[~truth].mean())
    error = math.sqrt(0.05 * 0.95 / (~truth).sum())
    assert limited["allowed"] == pytest.approx(0.05 + error)
    recall, fpr = called[truth].mean(), called[~truth].mean()
    assert seen["scores"]["balanced_accuracy"] == pytest.approx((recall + 1 - fpr) / 2)
    assert is_within(answer | seen) == kept


def test_a_model_that_grew_over_its_limit_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = [Judged(0.3, 1.0), Judged(0.1, 4.0), Judged(0.0, 9.0), Judged(0.2, 3.0)]
    told = task(tmp_path, SIZE)
    assert in_order(told, judged) == [1, 3, 0, 2]
    sizes = {1: 6e6, 3: 2e6}
    monkeypatch.setattr(filtering, "bytes_of", lambda shipped: sizes[shipped])
    place, _ = fit_chosen(told, judged, lambda place: Shipping(None, lambda X: X, place))
    assert place == 3


# --- report --------------------------------------------------------------------------------------


def record(system: str, auc: float, value: float, **more: Any) -> dict[str, Any]:
    made = {
        "system": system,
        "set": "made",
        "seed": 0,
        "budget": 10.0,
        "kind": "binary",
        "limit": "latency",
        "scores": {"auc": auc},
        "limited": {"bound": 50.0, "value": value, "allowed": 55.0},
        "fit_seconds": 9.0,
        "evaluations": 3,
    }
    return made | more


def test_a_model_outside_its_limit_is_no_answer() -> None:
    """The tolerance lets b in; a, the best by far, is outside either way; d has no model."""
    failed = record("d", 0.0, 0.0, error="no model")
    del failed["limited"]
    records = [record("a", 0.99, 56.0), record("b", 0.9, 54.0), record("c", 0.8, 10.0), failed]
    systems = ["c", "a", "b", "d"]
    (block,) = blocks_of(whole_settings(records, systems))
    assert [one for one in systems if is_best(block, one)] == ["b"]
    (strict,) = blocks_of(whole_settings(records, systems), forgiven=False)
    assert [one for one in systems if is_best(strict, one)] == ["c"]
    text = limits_report([*records, record("c", 0.8, 1.0, set="begun")], systems)
    assert "Of 1 settings" in text
    assert "| b | 1 | 1 | 0 | 0 | 0 |" in text
    assert (
        "| latency ≤ 50 µs, made, seed 0 | 0.8000, 10 | (0.9900, 56) | 0.9000, 54 | no model |"
        in text
    )


def test_all_systems_of_a_setting_come_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "find_sets", lambda _folders, names: {names[0]: names[0]})
    monkeypatch.setattr(driver, "read_set", lambda name: replace(bank(), name=name))
    asked = driver.parse(["--limits", "size,fpr", "--seeds", "2"])
    runs = list(driver.limited_runs_of(asked, driver.systems_of(asked)))
    settings = [(run.found.name, run.limit) for run in runs[:: len(LIMITED)]]
    wanted = [one for one in SETTINGS if one[1].name in ("size", "fpr")]
    assert settings == wanted * 2
    assert [run.system.name for run in runs[: len(LIMITED)]] == list(LIMITED)
    assert len({run.key for run in runs}) == len(runs)
    with pytest.raises(SystemExit, match="no limit colour; there are: latency, size, fpr, auc_gap"):
        next(driver.limited_runs_of(driver.parse(["--limits", "colour"]), []))
