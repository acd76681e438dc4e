"""Evaluations of other runs: taken over only where they mean the same, whatever is tried."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

from automl_admm import AutoMLClassifier, read_run
from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.core.evaluations import ONE_CLASS, Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.grammar.given_text import GrammarText
from automl_admm.pipelines.predictions.kept_answers import SCORES
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare import basis
from automl_admm.runs.prepare.basis import basis_of
from automl_admm.runs.prepare.preparation import Preparation, prepare
from automl_admm.runs.reuse import reuse_runs
from automl_admm.store.sqlite.log import SqliteStore

LIMITS = ("size_mb <= 5", "latency_us <= 1e6")
SETTINGS: dict[str, Any] = {
    "grammar": "tiny",
    "cv": 2,
    "executor": "inline",
    "theta_solver": "random",
    "scoring": "roc_auc",
    "racing": False,
    "ensemble": False,
    "n_jobs": 1,
    "random_state": 0,
}
COUNT = 3


def features() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)})
    frame["kind"] = pd.Categorical(rng.choice(["u", "v", "w"], 120), ["v", "w", "u"], ordered=True)
    return frame


def labels() -> pd.Series:
    noise = np.random.default_rng(6).normal(size=120)
    return pd.Series(np.where(features()["a"] + noise > 0.3, "yes", "no"), name="y")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "other"
    search = AutoMLClassifier(
        **SETTINGS, constraints=LIMITS, max_evaluations=COUNT, work_dir=folder
    )
    search.fit(features(), labels())
    assert len(read_run(folder).log) == COUNT
    return folder


def begin(
    run: Path, X: Any = None, y: Any = None, sensitive: Any = None, **changes: Any
) -> Preparation:
    """Prepare a run that reuses another one; nothing is searched."""
    given = {"constraints": LIMITS, "max_evaluations": COUNT, "reuse": (run,)}
    config = RunConfig(**{**SETTINGS, **given, **changes})
    X, y = features() if X is None else X, labels() if y is None else y
    return reuse_runs(prepare(config, X, y, sensitive))


def results(prepared: Preparation) -> tuple[Evaluation, ...]:
    return prepared.reused.evaluations


def fresh(prepared: Preparation, one: Evaluation, folder: Path) -> Any:
    """Evaluate anew what was reused."""
    return prepared.work.evaluate(one.candidate, prepared.problem.seed_of(one.key), folder)


def edited(run: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    shutil.copytree(run, target)
    path = target / "run.json"
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")
    return target


def test_equal_runs_share_all(other: Path) -> None:
    prepared = begin(other)
    there = {one.key: one for one in read_run(other).log}
    assert len(results(prepared)) == COUNT
    assert [one.number for one in results(prepared)] == [1, 2, 3]
    for one in results(prepared):
        assert (one.loss, one.constraints) == (there[one.key].loss, there[one.key].constraints)
        assert one.is_reused
    assert prepared.reused.lines == (f"reused of '{other}': 3 as measured",)


def test_other_bounds_other_order_and_fewer_limits_are_the_same_quantities(other: Path) -> None:
    prepared = begin(other, constraints=("latency_us <= 7", "size_mb <= 0.001"))
    there = {one.key: one for one in read_run(other).log}
    for one in results(prepared):
        assert one.constraints == there[one.key].constraints[::-1]
    assert len(results(begin(other, constraints=()))) == COUNT


def test_the_first_of_two_runs_gives_what_both_have(other: Path, tmp_path: Path) -> None:
    second = Path(shutil.copytree(other, tmp_path / "second"))
    prepared = begin(other, reuse=(other, second, other))
    assert [run.same for run in prepared.reused.runs] == [COUNT, 0]
    assert "3 known already" in prepared.reused.lines[1]


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "average_precision"])
def test_another_metric_is_computed_as_a_fresh_evaluation_has_it(
    scoring: str, other: Path, tmp_path: Path
) -> None:
    prepared = begin(other, scoring=scoring)
    assert prepared.reused.runs[0].computed == COUNT
    for one in results(prepared):
        anew = fresh(prepared, one, tmp_path)
        assert (one.loss, one.details["scores"]) == (anew.loss, anew.details["scores"])
    # The bytes of a file vary a little with the addresses of objects in it.
    assert one.constraints[0] == pytest.approx(anew.constraints[0], rel=0.1)


def test_a_metric_of_ones_own_is_computed(other: Path) -> None:
    def wrong(y: Any, decided: Any) -> float:
        return float(np.mean(np.asarray(y) != np.asarray(decided)))

    from sklearn.metrics import make_scorer

    mine = begin(other, scoring=make_scorer(wrong, greater_is_better=False))
    usual = begin(other, scoring="accuracy")
    losses = [one.loss for one in results(usual)]
    assert [one.loss for one in results(mine)] == pytest.approx(losses)


def test_a_new_limit_on_decisions_is_computed_at_its_thresholds(
    other: Path, tmp_path: Path
) -> None:
    prepared = begin(other, constraints=("recall >= 0.9", *LIMITS))
    assert prepared.reused.runs[0].computed == COUNT
    there = {one.key: one.loss for one in read_run(other).log}
    for one in results(prepared):
        anew = fresh(prepared, one, tmp_path)
        assert one.loss == there[one.key] == anew.loss
        assert one.constraints[0] == anew.constraints[0]
        assert one.details["threshold"] == anew.details["threshold"]
        assert one.details.get(ONE_CLASS) == anew.details.get(ONE_CLASS)


def test_a_new_cost_of_decisions_moves_the_thresholds(other: Path, tmp_path: Path) -> None:
    prepared = begin(other, cost="fn=9,fp=1")
    assert prepared.reused.runs[0].computed == COUNT
    one = results(prepared)[0]
    anew = fresh(prepared, one, tmp_path)
    assert one.details["threshold"] == anew.details["threshold"]


def _nearly_sure(run: Path, target: Path) -> tuple[Path, float]:
    """Keep probabilities that differ by 1e-9 near 1 in each file; return their mean score, too."""
    shutil.copytree(run, target)
    y, sure = (labels() == "yes").to_numpy(), 1 - 1e-9 * np.random.default_rng(2).permutation(120)
    for path in (target / "predictions").glob("*.npz"):
        with np.load(path) as content:
            found = {name: content[name] for name in content.files if name != SCORES}
        found["predictions"] = np.stack([1 - sure, sure], axis=1)[found["rows"]]
        np.savez(path, **found)
    folds = np.split(found["rows"], 2)
    return target, float(np.mean([average_precision_score(y[rows], sure[rows]) for rows in folds]))


def test_probabilities_a_billionth_apart_are_no_ties(other: Path, tmp_path: Path) -> None:
    run, expected = _nearly_sure(other, tmp_path / "run")
    found = results(begin(run, scoring="average_precision"))
    assert [1 - one.loss for one in found] == pytest.approx([expected] * COUNT, abs=1e-12)
    bounded = results(begin(run, constraints=("recall >= 0.5", *LIMITS)))
    assert all(1 - 2e-7 < one.details["threshold"] < 1 for one in bounded)


def test_scores_that_nobody_asked_for_are_not_made_of_probabilities(
    other: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(other, tmp_path / "run"))
    for path in (run / "predictions").glob("*.npz"):
        with np.load(path) as content:
            found = {**content, SCORES: np.empty(0)}
        np.savez(path, **found)
    assert not results(begin(run, scoring="average_precision"))
    assert len(results(begin(run, scoring="neg_log_loss"))) == COUNT


def test_answers_to_changed_rows_are_taken_over_and_never_computed(
    other: Path, tmp_path: Path
) -> None:
    limit = ("rising_breaks_0.5[a] <= 90 %",)
    assert not results(begin(other, constraints=limit))
    begun = begin(other, constraints=limit)
    assert len(begun.starts) == COUNT
    texts = tuple(map(begun.grammar.pipelines.text, begun.starts))
    assert begun.reused.as_content()["tried_first"] == list(texts)
    given = begin(other, constraints=limit, starts=texts[:1])
    assert given.reused.tried_first == texts[1:]
    search = AutoMLClassifier(
        **SETTINGS, constraints=limit, max_evaluations=COUNT, work_dir=tmp_path / "asked"
    )
    search.fit(features(), labels())
    prepared = begin(tmp_path / "asked", constraints=limit, scoring="accuracy")
    assert prepared.reused.runs[0].computed == COUNT
    for one in results(prepared):
        assert one.constraints == fresh(prepared, one, tmp_path).constraints


def test_a_cost_that_was_not_measured_makes_starts_of_them(other: Path) -> None:
    prepared = begin(other, constraints=(*LIMITS, "fit_seconds <= 60"))
    assert not results(prepared)
    assert len(prepared.starts) == COUNT
    assert "3 without a value of fit_seconds" in prepared.reused.lines[0]


def _shuffled() -> dict[str, Any]:
    order = np.random.default_rng(1).permutation(120)
    X, y = features().iloc[order], labels().iloc[order]
    return {"X": X.reset_index(drop=True), "y": y.reset_index(drop=True)}


def _one_cell() -> pd.DataFrame:
    X = features()
    X.loc[7, "a"] += 1e-9
    return X


def _other_levels() -> pd.DataFrame:
    X = features()
    levels = pd.Categorical(X["kind"].astype(str), ["u", "v", "w"], ordered=True)
    return X.assign(kind=levels)


def _one_label() -> pd.Series:
    y = labels()
    y.iloc[3] = "no" if y.iloc[3] == "yes" else "yes"
    return y


HOSTILE: dict[str, Callable[[], dict[str, Any]]] = {
    "another table of the same shape": lambda: {"X": features().assign(a=0.5 - features()["a"])},
    "one cell": lambda: {"X": _one_cell()},
    "rows in another order": _shuffled,
    "columns in another order": lambda: {"X": features()[["b", "a", "kind"]]},
    "columns under other names": lambda: {"X": features().rename(columns={"a": "c"})},
    "categories in another order": lambda: {"X": _other_levels()},
    "categories as text": lambda: {"X": features().astype({"kind": str})},
    "one label": lambda: {"y": _one_label()},
    "labels swapped": lambda: {"y": labels().map({"yes": "no", "no": "yes"})},
    "labels with other names": lambda: {"y": labels().map({"yes": "on", "no": "off"})},
    "labels as numbers": lambda: {"y": labels().map({"yes": 1, "no": 0})},
    "the other class is positive": lambda: {"positive": "no"},
    "another number of folds": lambda: {"cv": 3},
    "a holdout": lambda: {"cv": 0.5},
    "another seed": lambda: {"random_state": 1},
    "rows held out": lambda: {"test_size": 0.2},
    "a column left out": lambda: {"columns": {"b": "drop"}},
    "a column read otherwise": lambda: {"columns": {"b": "category"}},
    "weights as plugins of Python": lambda: {"extra_plugins": {"mine": object()}},
}


@pytest.mark.parametrize("change", HOSTILE)
def test_whatever_differs_no_number_is_taken_over(change: str, other: Path) -> None:
    prepared = begin(other, **HOSTILE[change]())
    assert not results(prepared)
    assert "differ" in prepared.reused.lines[0]


def test_groups_of_other_people_are_other_rows(other: Path) -> None:
    people = pd.DataFrame({"sex": ["f", "m"] * 60})
    assert not results(begin(other, sensitive=people))


def test_other_versions_share_no_numbers(other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(basis, "versions", lambda: {"scikit-learn": "0.1"})
    prepared = begin(other)
    assert not results(prepared)
    assert "the versions differ" in prepared.reused.lines[0]


@pytest.mark.parametrize("change", ["machine", "workers", "executor"])
def test_a_time_is_comparable_on_one_machine_alone(
    change: str, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: dict[str, Any] = {}
    if change == "machine":
        monkeypatch.setattr(platform, "node", lambda: "elsewhere")
    else:
        changes = {"n_jobs": 2} if change == "workers" else {"executor": "local"}
    prepared = begin(other, **changes)
    assert not results(prepared)
    assert len(prepared.starts) == COUNT
    assert len(results(begin(other, constraints=LIMITS[:1], **changes))) == COUNT


def test_failures_are_tried_again(other: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(other, tmp_path / "run"))
    first = read_run(run).log[0]
    with closing(SqliteStore(run / "store.sqlite", write=True)) as store:
        for number, status in enumerate(Status, start=10):
            if status is not Status.SUCCESS:
                store.append(replace(first, number=number, key=f"key {number}", status=status))
        stopped = {**first.details, "folds_left": 1}
        store.append(replace(first, number=30, key="stopped", details=stopped))
        rough = replace(first.candidate, fidelity=0.5)
        store.append(replace(first, number=31, key="rough", candidate=rough))
    prepared = begin(run)
    assert {one.key for one in results(prepared)} == {one.key for one in read_run(other).log}
    assert "10 failed or not on all rows and folds" in prepared.reused.lines[0]


def test_a_pipeline_of_another_grammar_is_left(other: Path, tmp_path: Path) -> None:
    grammar = tmp_path / "small.lark"
    grammar.write_text((other / "grammar.lark").read_text("utf-8") + "// more\n", "utf-8")
    assert len(results(begin(other, grammar=grammar))) == COUNT
    grammar.write_text(
        "%import components (impute, decision_tree)\nstart: impute decision_tree\n", "utf-8"
    )
    prepared = begin(other, grammar=grammar)
    assert not results(prepared)
    assert prepared.starts == ()
    assert "3 not in this grammar" in prepared.reused.lines[0]


@pytest.mark.parametrize("damage", ["gone", "other rows", "garbage", "no probabilities"])
def test_predictions_that_are_not_whole_are_not_used(
    damage: str, other: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(other, tmp_path / "run"))
    for path in (run / "predictions").glob("*.npz"):
        with np.load(path) as content:
            rows, predictions = content["rows"], content["predictions"]
        if damage == "gone":
            path.unlink()
        elif damage == "other rows":
            np.savez(path, rows=rows[::-1], predictions=predictions)
        elif damage == "garbage":
            path.write_bytes(b"garbage")
        else:
            np.savez(path, rows=rows, predictions=predictions * 2)
    prepared = begin(run, scoring="accuracy")
    assert not results(prepared)
    assert len(prepared.starts) == COUNT
    assert len(results(begin(run))) == COUNT


def test_a_limit_that_is_an_object_is_not_known_by_its_name(other: Path, tmp_path: Path) -> None:
    mine = Constraint(Limit("size_mb", 5.0), lambda part: 1.0)
    assert not results(begin(other, constraints=(mine,)))

    def told(content: dict[str, Any]) -> None:
        content["request"]["only_python"] = ["constraints"]

    assert not results(begin(edited(other, tmp_path / "run", told)))


def test_a_limit_beside_a_baseline_waits_for_the_baseline(other: Path) -> None:
    prepared = begin(other, constraints=("latency_us <= 2 * baseline",))
    assert not results(prepared)
    assert len(prepared.starts) == COUNT


def test_pipelines_that_may_know_held_out_rows_are_no_starts(other: Path) -> None:
    prepared = begin(other, test_size=0.2)
    assert prepared.starts == ()
    assert "may know the rows held out" in prepared.reused.lines[0]


def test_on_the_same_rows_other_folds_leave_starts(other: Path, tmp_path: Path) -> None:
    there = basis_of(begin(other, test_size=0.2, reuse=()))
    run = edited(other, tmp_path / "run", lambda content: content.update(basis=there))
    assert len(begin(run, test_size=0.2, cv=3).starts) == COUNT
    assert begin(run, test_size=0.2, random_state=1).starts == ()


def test_no_certificate_stands_on_other_runs(other: Path) -> None:
    with pytest.raises(ConfigurationError, match="certificate"):
        begin(other, certify=0.6, constraints=("recall >= 0.01",), on_infeasible="closest")


@pytest.mark.parametrize("kind", ["nowhere", "damaged"])
def test_what_is_no_run_is_an_error_in_one_line(kind: str, other: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    if kind == "damaged":
        shutil.copytree(other, run)
        (run / "store.sqlite").write_bytes(b"damaged" * 1000)
    with pytest.raises(StoreError) as told:
        begin(run)
    assert "\n" not in str(told.value)


def test_a_whole_run_spends_its_budget_on_new_pipelines(other: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    search = AutoMLClassifier(
        **SETTINGS, constraints=("size_mb <= 5",), reuse=[other], max_evaluations=2, work_dir=folder
    )
    search.fit(features(), labels())
    run = read_run(folder)
    keys = [one.key for one in run.log]
    assert len(keys) == len(set(keys)) == COUNT + 2
    assert [one.is_reused for one in run.log] == [True] * COUNT + [False] * 2
    assert run.content["reuse"][0]["same"] == COUNT
    assert search.reused_ == [f"reused of '{other}': 3 as measured"]
    again = AutoMLClassifier(
        **SETTINGS,
        constraints=("size_mb <= 5",),
        max_evaluations=3,
        work_dir=folder,
        warm_start=True,
    )
    again.fit(features(), labels())
    after = read_run(folder)
    assert len(after.log) == COUNT + 3
    assert after.content["reuse"] == run.content["reuse"]


WEIGHED = """\
%import components (impute, reweigh, gaussian_nb)
start: impute weights gaussian_nb
weights: none | reweigh
"""


def test_rows_weighed_for_other_groups_give_other_numbers(tmp_path: Path) -> None:
    """The limits name the same column, and the user the folds: rows and folds are the same."""
    early, late = np.arange(60), np.arange(60, 120)
    given: dict[str, Any] = {
        "cv": [(early, late), (late, early)],
        "grammar": WEIGHED,
        "scoring": "balanced_accuracy",
        "starts": ("impute() gaussian_nb()", "impute() reweigh(strength=2.0) gaussian_nb()"),
        "max_evaluations": 2,
    }
    run = tmp_path / "run"
    AutoMLClassifier(**SETTINGS | given, constraints=["fpr_gap[a:q2] <= 0.9"], work_dir=run).fit(
        features(), labels()
    )
    grammar = GrammarText(given.pop("grammar"))
    same = begin(run, **given, grammar=grammar, constraints=("fnr_gap[a:q2] <= 0.8",))
    assert len(results(same)) == 2
    other_groups = begin(run, **given, grammar=grammar, constraints=("fpr_gap[a:q4] <= 0.9",))
    assert [one.text for one in results(other_groups)] == [read_run(run).log[0].text]
    assert other_groups.reused.runs[0].left["weighed for other groups"] == 1
