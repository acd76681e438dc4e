"""What decides one class for all rows is known for it, and never passed off as a success."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder
from sklearn.tree import DecisionTreeClassifier

from automl_admm import AutoMLClassifier, InfeasibleError
from automl_admm.cli.main import main
from automl_admm.core.limits import Limit
from automl_admm.core.run import FallbackKind
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.predictions.decisions import only_class
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.records import ComponentPlugin, Constraint
from automl_admm.plugins.registry import Registry
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.decision_summary import explain_held_out_class
from automl_admm.runs.finish.model_file import load_model
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.search.starts import default_start
from automl_admm.store.run_folder import RunFolder

ROWS = 240


def table(share: float = 0.5, labels: tuple[Any, ...] = ("bad", "good")) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    is_last = rng.random(ROWS) < share
    X = pd.DataFrame({"a": rng.normal(size=ROWS) + 1.5 * is_last, "b": rng.normal(size=ROWS)})
    return X, np.where(is_last, labels[-1], labels[0])


def only(used: PipelineWork, model: Callable[[], Any]) -> PipelineWork:
    """The same work with a model of the test's own in the place of every estimator."""
    registry: Registry[ComponentPlugin] = Registry("component")
    for record in used.load_components():
        own = record.role == "estimator"
        registry.add(replace(record, factory=lambda v, c: model()) if own else record, "tests")
    return replace(used, load_components=lambda: registry)


def work(*constraints: str, share: float = 0.5, **more: Any) -> PipelineWork:
    settings = {"grammar": "tiny", "max_evaluations": 1, "executor": "inline", "cv": 3} | more
    return prepare(RunConfig(constraints=constraints, **settings), *table(share)).work


def evaluated(used: PipelineWork, folder: Path) -> dict[str, Any]:
    return dict(used.evaluate(default_start(used.space.space), 0, folder).details)


def prior() -> Any:
    return DummyClassifier(strategy="prior")


@pytest.mark.fault(
    "F67",
    injected="a model of constant scores under a limit on false positives, fitted again",
    expected="it says yes to no row in validation, and to none after it was fitted again",
)
@pytest.mark.parametrize("limit", ["fpr <= 0.05", "fnr <= 0.05"])
def test_never_and_always_stay_so_when_the_model_is_fitted_again(
    limit: str, tmp_path: Path, seen: Callable[[str], None]
) -> None:
    used = only(work(limit), prior)
    found = evaluated(used, tmp_path)
    never = limit.startswith("fpr")
    assert found["threshold"] == (math.inf if never else -math.inf)
    assert found["one_class"] == ("bad" if never else "good")
    again = json.loads(json.dumps(found))  # as the store keeps it
    shifted = replace(used, table=used.table.part(np.arange(ROWS - 40)))  # other class frequencies
    result = shifted.refit(
        default_start(used.space.space), 0, tmp_path, threshold=again["threshold"]
    )
    model = pickle.loads((tmp_path / "model.pickle").read_bytes())
    called = set(model.predict(used.table.X))
    assert called == {found["one_class"]}
    assert result.one_class == found["one_class"]
    seen(f"threshold {found['threshold']}, all rows called {called}, marked one_class")


def test_a_final_fit_tells_the_loss_on_its_own_rows(tmp_path: Path) -> None:
    for model, loss in ((prior, 0.5), (DecisionTreeClassifier, 0.0)):
        used = only(work(), model)
        for ships in (True, False):
            found = used.refit(default_start(used.space.space), 0, tmp_path, ships=ships)
            assert found.seen_loss == loss


def test_a_member_of_an_ensemble_is_judged_at_its_thresholds(tmp_path: Path) -> None:
    used = only(work(scoring="accuracy"), DecisionTreeClassifier)
    start = default_start(used.space.space)
    found = used.refit(start, 0, tmp_path, ships=False, threshold=math.inf)
    assert found.seen_loss == used.refit(start, 0, tmp_path, threshold=math.inf).seen_loss > 0.4


def test_a_model_with_a_target_encoder_has_no_loss_on_its_own_rows(tmp_path: Path) -> None:
    def encoded() -> Any:
        inner = make_column_transformer((TargetEncoder(), [0]), remainder="passthrough")
        return make_pipeline(inner, DecisionTreeClassifier())

    found = only(work(), encoded)
    assert math.isnan(found.refit(default_start(found.space.space), 0, tmp_path).seen_loss)


def test_a_limit_that_changes_the_model_changes_nothing_of_that_loss(tmp_path: Path) -> None:
    def spoil(evaluated: Any) -> float:
        evaluated.pipeline.steps[-1][1].tree_.value[:] = 0.5
        return 0.0

    used = only(work(), DecisionTreeClassifier)
    spoiling = Constraint(Limit("mine", 0.5), spoil, kind="statistical")
    used = replace(used, held_out=used.table, constraints=(spoiling,))
    found = used.refit(default_start(used.space.space), 0, tmp_path)
    assert (found.held_out_problem, found.seen_loss) == ("", 0.0)


def test_the_rates_are_of_the_same_decisions_whichever_label_is_positive(tmp_path: Path) -> None:
    """Of two neighbours that differ, the first sorted label is decided."""

    def called(positive: str) -> float:
        used = only(work(positive=positive), lambda: KNeighborsClassifier(2))
        return float(evaluated(used, tmp_path)["decisions"]["selection_rate"])

    assert called("bad") + called("good") == pytest.approx(1.0)


@pytest.mark.parametrize("most", [0.4, 0.5])
def test_a_ranking_that_the_default_makes_nothing_of_is_given_a_threshold(
    most: float, tmp_path: Path
) -> None:
    """Where the scores alone are measured, the decisions may as well be of use."""

    def ranking() -> Ranking:
        return Ranking(most=most)

    found = evaluated(only(work(share=0.04), ranking), tmp_path)
    assert "one_class" not in found
    assert found["decisions"]["recall"] > 0.5
    by_decisions = evaluated(only(work(share=0.04, scoring="accuracy"), ranking), tmp_path)
    assert by_decisions["one_class"] == "bad"
    assert by_decisions["decisions"]["recall"] == 0.0


class Ranking(DummyClassifier):
    """Sure of nothing above `most`, for some rows exactly so, and right about the order."""

    def __init__(self, most: float = 0.4) -> None:
        super().__init__()
        self.most = most

    def predict_proba(self, X: Any) -> Any:
        sure = 1.0 / (1.0 + np.exp(-np.asarray(X)[:, 0].astype(float)))
        sure = self.most * np.minimum(sure / 0.9, 1.0)
        return np.column_stack([1.0 - sure, sure])

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize("limits", [[], ["size_mb <= 9"]])
def test_folds_of_one_row_make_no_model_one_of_one_class(limits: list[str]) -> None:
    """Each such fold has one decision only, whatever decides."""
    X, y = table()
    more = {"max_evaluations": 2, "executor": "inline", "random_state": 0}
    search = AutoMLClassifier(
        "tiny", cv=LeaveOneOut(), scoring="accuracy", constraints=limits, **more
    )
    assert set(search.fit(X[:24], y[:24]).predict(X)) == {"bad", "good"}
    assert search.one_class_ is None


def test_three_classes_are_marked_too(tmp_path: Path) -> None:
    X, _ = table()
    y = np.digitize(X["a"], [0.9, 1.8])  # most are x
    settings = {"grammar": "tiny", "max_evaluations": 1, "executor": "inline", "cv": 3}
    three = prepare(RunConfig(**settings), X, np.array(list("xyz"))[y]).work
    assert evaluated(only(three, prior), tmp_path)["one_class"] == "x"
    assert "decisions" not in evaluated(three, tmp_path)
    assert "one_class" not in evaluated(three, tmp_path)


@pytest.mark.fault(
    "F68",
    injected="a table that tells nothing, so that every model decides one class for all rows",
    expected="InfeasibleError with the closest in it, whatever is asked for; marked in every file",
)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"scoring": "accuracy", "constraints": ["size_mb <= 9"]},
        {"constraints": ["fpr <= 0.3"], "certify": 0.9},
    ],
)
def test_a_constant_model_is_no_success(
    settings: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seen: Callable[[str], None],
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    _, y = table(0.4)
    X, folder = pd.DataFrame({"a": np.ones(ROWS)}), tmp_path / "run"
    more = {"executor": "inline", "random_state": 0, "work_dir": folder, **settings}
    # Else a constant column is left out, and there is nothing to learn from.
    search = AutoMLClassifier("tiny", cv=2, max_evaluations=2, columns={"a": "number"}, **more)
    with pytest.raises(InfeasibleError, match="calls every row") as problem:
        search.fit(X, y)
    closest: Any = problem.value.closest
    assert not closest.result.feasible
    assert not closest.is_certified
    manifest = json.loads((folder / "model.json").read_text())
    assert manifest["one_class"] in ("bad", "good")
    assert manifest["feasible"] is False
    assert json.loads((folder / "run.json").read_text())["result"]["one_class"] is not None
    assert set(load_model(RunFolder(folder)).predict(X)) == {manifest["one_class"]}
    seen(f"{type(problem.value).__name__}: {problem.value}")


def test_the_end_of_a_run_says_how_it_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = table(0.4)
    X.assign(out=y).to_csv("people.csv", index=False)
    words = ["--target", "out", "--positive", "bad", "--grammar", "tiny", "--executor", "inline"]
    more = [
        *("--cv=2", "--max-evaluations", "1", "--constraint", "fpr <= 0.4"),
        *("--json", "--out", "run"),
    ]
    with pytest.raises(SystemExit) as ended:
        main(["fit", "people.csv", *words, *more])
    assert ended.value.code == 0
    found = json.loads(capsys.readouterr().out)
    shown = found["decisions"]
    assert (shown["positive"], shown["measured_on"]) == ("bad", "held out")
    assert 0.0 < shown["threshold"] < 1.0
    assert found["one_class"] is None
    assert shown["said"].startswith("'bad' at 0.")
    X["constant"] = 1.0
    with pytest.warns(UserWarning, match="calls every row"):
        search = AutoMLClassifier(
            "tiny",
            cv=2,
            max_evaluations=1,
            executor="inline",
            on_infeasible="closest",
            random_state=0,
            columns={"constant": "number"},
        ).fit(X[["constant"]], y)
    assert search.one_class_ == "bad"
    assert search.decisions_.positive == "good"
    assert search.decisions_.recall == 0.0
    assert search.decisions_.measured_on == "validation"
    assert search.feasible_ is False


def test_one_class_for_all_rows_is_told_only_where_the_rows_have_several() -> None:
    rows = Table(np.zeros((4, 1)), np.array([0, 1, 1, 0]), classes=np.array(["no", "yes"]))
    assert only_class(rows, np.zeros(4, dtype=int)) == "no"
    assert only_class(rows, np.array([0, 0, 1, 0])) is None
    assert only_class(replace(rows, y=np.zeros(4, dtype=int)), np.zeros(4, dtype=int)) is None
    assert only_class(replace(rows, classes=None), np.zeros(4, dtype=int)) is None


@pytest.mark.parametrize(
    ("in_search", "held_out", "fallback", "is_told"),
    [
        (None, "no", None, True),
        (None, "no", FallbackKind.FEW_ROWS, True),
        (None, None, None, False),
        ("no", "no", None, False),  # that it calls every row so is told already
        (None, "no", FallbackKind.CONSTANT, False),
    ],
)
def test_a_model_with_one_class_for_the_rows_held_out_is_told(
    in_search: str | None, held_out: str | None, fallback: FallbackKind | None, is_told: bool
) -> None:
    measured = FinalFitResult(held_out_one_class=held_out, held_out_rows=12)
    measured = FinalFitResult.from_json(measured.as_json())
    refit = SimpleNamespace(measured=measured, one_class=in_search)
    outcome: Any = SimpleNamespace(refit=refit, fallback=fallback)
    told = "the model gives every one of the 12 held-out rows the class 'no'"
    assert (explain_held_out_class(outcome) or "").startswith(told) is is_told
