"""A model as ONNX: kept if it predicts the same, else refused in a line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from automl_admm.core.errors import ConfigurationError
from automl_admm.pipelines.calibrated import calibrated
from automl_admm.pipelines.thresholds.fixed import fix_threshold
from automl_admm.pipelines.thresholds.single import between
from automl_admm.runs.saved.onnx_export.file import convert

Run = Callable[..., Any]
FEW = ("--cv=2", "--max-evaluations", "1", "--executor", "inline", "-q")


def table(rows: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows)})
    frame["city"] = rng.choice(["Ulm", "Bonn"], rows)
    frame["buys"] = np.where(frame["a"] + (frame["city"] == "Ulm") > 0.5, "yes", "no")
    return frame


def fit(run: Run, frame: pd.DataFrame, last: str, target: str) -> None:
    frame.to_csv("rows.csv", index=False)
    used = f"%import components (impute, standard_scaler, {last})"
    Path("space.lark").write_text(f"{used}\nstart: impute standard_scaler {last}\n")
    done = run(
        "fit", "rows.csv", "--target", target, "--grammar", "space.lark", *FEW, "--out", "RUN"
    )
    assert done.code == 0, done.err


def test_a_model_of_numbers_and_text_is_kept(run: Run, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = table()
    fit(run, frame, "logistic_regression", "buys")
    done = run("export", "RUN", "--onnx", "model.onnx")
    assert done.code == 0, done.err
    assert "the same predictions on 200 rows" in done.out
    assert "it takes an input for each column, an array of one column: a (float" in done.out
    assert done.out.strip().endswith("city (text)")
    run("predict", "RUN", "rows.csv", "-o", "told.csv")
    session = runtime.InferenceSession("model.onnx")
    kinds = {"tensor(string)": object, "tensor(double)": float, "tensor(float)": np.float32}
    feeds = {one.name: frame[[one.name]].to_numpy(kinds[one.type]) for one in session.get_inputs()}
    labels, chances = session.run(None, feeds)
    told = pd.read_csv("told.csv")
    assert labels.tolist() == told["prediction"].tolist()
    assert chances[:, 1] == pytest.approx(told["probability_yes"].to_numpy(), abs=1e-4)


def test_a_session_takes_a_new_text_and_a_gap_as_predict_does(run: Run, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = table().assign(paid=True)
    frame.loc[::3, "paid"] = False
    # More levels than an encoder keeps: new texts join the rare ones.
    frame["shop"] = [f"shop {number % 40}" for number in range(len(frame))]
    frame.loc[::5, "shop"] = None
    fit(run, frame, "logistic_regression", "buys")
    done = run("export", "RUN", "--onnx", "model.onnx")
    assert done.code == 0, done.err
    new = frame.head(6).assign(
        city=["Rom", "", "Ulm", "Bonn", "Rom", ""], shop=["new", "shop 1", "", "new", "", "shop 39"]
    )
    new.to_csv("new.csv", index=False)
    run("predict", "RUN", "new.csv", "-o", "told.csv")
    session = runtime.InferenceSession("model.onnx")
    kinds = {"tensor(string)": object, "tensor(double)": float, "tensor(float)": np.float32}
    new["paid"] = new["paid"].map(str)
    feeds = {one.name: new[[one.name]].to_numpy(kinds[one.type]) for one in session.get_inputs()}
    labels, chances = session.run(None, feeds)
    told = pd.read_csv("told.csv")
    assert labels.tolist() == told["prediction"].tolist()
    assert chances[:, 1] == pytest.approx(told["probability_yes"].to_numpy(), abs=1e-4)


ODD = {"a": "petal length (cm)", "b": "ä€", "city": "a.b", "more": "a_b", "last": "1", "l": "label"}


def test_inputs_have_the_names_of_the_columns(run: Run, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = table().assign(more=lambda f: f["b"] ** 2, last=lambda f: -f["a"], l=1.5 * table()["b"])
    frame["day"] = pd.date_range("2020-01-01", periods=len(frame)).astype(str)
    frame = frame.rename(columns=ODD)
    fit(run, frame, "logistic_regression", "buys")
    done = run("export", "RUN", "--onnx", "model.onnx")
    assert done.code == 0, done.err
    session = runtime.InferenceSession("model.onnx")
    names = {one.name for one in session.get_inputs()}
    assert names >= set(ODD.values()) - {"label"}
    assert "label1" in names  # "label" is what the model answers
    assert any(name.startswith("day.") for name in names)
    assert "petal length (cm) (float" in done.out


def test_a_regression_of_numbers_alone_is_kept(run: Run, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = table()[["a", "b"]].assign(y=lambda f: f["a"] - f["b"])
    fit(run, frame, "ridge", "y")
    done = run("export", "RUN", "--onnx", "model.onnx", "--data", "rows.csv")
    assert done.code == 0, done.err
    said = re.search(r"one input named 'columns', an array of (float\d\d) with 2 columns", done.out)
    assert said is not None
    assert done.out.strip().endswith("in this order: a, b")
    given = {"columns": frame[["a", "b"]].to_numpy(said[1])}
    answers = runtime.InferenceSession("model.onnx").run(None, given)[0]
    run("predict", "RUN", "rows.csv", "-o", "told.csv")
    told = pd.read_csv("told.csv")["prediction"].to_numpy()
    assert answers.ravel() == pytest.approx(told, abs=1e-3)


def test_boosted_trees_are_converted() -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = table()[["a", "b"]]
    for model in (HistGradientBoostingClassifier(max_iter=3), GradientBoostingClassifier()):
        pipeline = Pipeline([("impute", SimpleImputer()), ("last", model)])
        found = convert(pipeline.fit(frame, table()["buys"]), frame, {})
        assert (found.rows, found.columns) == (200, ("a", "b"))
        assert found.difference < 1e-6


def test_labels_that_are_truth_values_are_0_and_1(run: Run, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = table()[["a", "b"]].assign(buys=lambda f: f["a"] > 0.5)
    fit(run, frame, "decision_tree", "buys")
    done = run("export", "RUN", "--onnx", "model.onnx")
    assert done.code == 0, done.err
    assert "its labels are 0 for False and 1 for True" in done.out
    session = runtime.InferenceSession("model.onnx")
    [taken] = session.get_inputs()
    kind = {"tensor(double)": float, "tensor(float)": np.float32}[taken.type]
    labels = session.run(None, {taken.name: frame[["a", "b"]].to_numpy(kind)})[0]
    assert labels.tolist() == frame["buys"].astype(int).tolist()


def test_what_cannot_be_converted_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    fit(run, table().assign(flag=lambda f: f["a"] > 0), "logistic_regression", "buys")
    done = run("export", "RUN", "--onnx", "model.onnx")
    if done.code:
        assert (done.code, done.err.count("\n")) == (2, 1)
    for module in ("file", "diagnosis"):
        name = f"automl_admm.runs.saved.onnx_export.{module}.as_onnx"
        monkeypatch.setattr(name, lambda *_, **__: 1 / 0)
    done = run("export", "RUN", "--onnx", "other.onnx")
    assert done.code == 2
    assert "'impute' cannot be written as ONNX: ZeroDivisionError" in done.err
    assert not (tmp_path / "other.onnx").exists()


def test_a_column_of_text_is_named_with_the_way_round_it(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    rng = np.random.default_rng(1)
    words = ["the", "dog", "ran", "over", "a", "very", "long", "hill", "near", "red", "houses"]
    texts = [" ".join(rng.choice(words, 6)) for _ in range(200)]
    fit(run, table().assign(note=texts), "logistic_regression", "buys")
    done = run("export", "RUN", "--onnx", "model.onnx")
    assert done.code == 2
    assert done.err == (
        "error: the text of 'note' cannot be written as ONNX: skl2onnx has no converter for "
        'HashingVectorizer. Fit with --column "note=drop", or use pipeline.py of the run.\n'
    )


@pytest.mark.parametrize(
    ("limits", "metric", "told"),
    [
        (
            {"latency_ms <= 90": 1.0, "fpr <= 0.9": 0.1},
            "f1",
            (
                "for a limit (FixedThresholdClassifier) cannot be written as ONNX. "
                "Fit without limits that set a threshold, or use pipeline.py of the run."
            ),
        ),
        (
            {"latency_ms <= 90": 1.0},
            "f1",
            (
                "for the metric f1 (FixedThresholdClassifier) cannot be written as ONNX. "
                "Fit with scoring='roc_auc', which looks at no decisions, "
                "or use pipeline.py of the run."
            ),
        ),
        (
            {},
            "roc_auc",
            (
                "because the default one decides one class for all rows (FixedThresholdClassifier) "
                "cannot be written as ONNX. Use pipeline.py of the run."
            ),
        ),
    ],
)
def test_a_threshold_is_told_with_its_cause(
    limits: dict[str, float], metric: str, told: str
) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = table()
    model = FixedThresholdClassifier(HistGradientBoostingClassifier(max_iter=3), threshold=0.6)
    model.fit(frame[["a", "b"]], frame["buys"] == "yes")
    with pytest.raises(ConfigurationError) as caught:
        convert(model, frame[["a", "b"]], {"constraints": limits, "metric": metric})
    assert str(caught.value) == f"the threshold set {told}"


def encoded(frame: pd.DataFrame) -> Any:
    return make_pipeline(
        make_column_transformer((OneHotEncoder(), ["city", "size"]), remainder="passthrough"),
        LogisticRegression(),
    ).fit(frame[["a", "city", "size"]], frame["buys"])


def test_gaps_in_text_are_named_by_their_column() -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = table().assign(size="S")
    frame.loc[::7, "city"] = None
    with pytest.raises(ConfigurationError) as caught:
        convert(encoded(frame), frame[["a", "city", "size"]], {})
    assert str(caught.value) == (
        "the gaps in the text of 'city' cannot be written as ONNX. Fill them with a word such as "
        "'absent' and fit again, fit with --column \"city=drop\", or use pipeline.py of the run."
    )


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no cores to choose here")
def test_the_runtime_says_nothing_where_some_cores_are_not_ours(
    capfd: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = table().assign(size="S")
    model, cores = encoded(frame), os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        convert(model, frame[["a", "city", "size"]], {})
    finally:
        os.sched_setaffinity(0, cores)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (2, 7)], ids=str)
@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("response", [None, "predict_proba", "decision_function"])
def test_thresholds_and_calibrated_probabilities_are_written(
    response: str | None, labels: tuple[Any, Any], *, is_last: bool
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = table()
    X, y = frame[["a", "b"]], np.where(frame["buys"] == "yes", labels[1], labels[0])
    model: Any = make_pipeline(SimpleImputer(), LogisticRegression()).fit(X, y)
    if response is not None:
        model = calibrated(model, 1.7, -0.4, response)
    decided = fix_threshold(model, 0.37, np.array(labels if is_last else labels[::-1]))
    assert (decided.predict(X) != model.predict(X)).sum() > 0
    written = convert(decided, X, {})
    session = runtime.InferenceSession(written.content)
    (kind,) = written.inputs.values()
    found, chances = session.run(None, {"columns": X.to_numpy(kind)})
    assert found.tolist() == decided.predict(X).tolist()
    assert chances == pytest.approx(decided.predict_proba(X), abs=1e-5)


WORDS, NUMBERS = ("no", "yes"), (3, 7)


# Hundreds of trees take seconds to convert: each number of them has one kind of labels.
@pytest.mark.parametrize(
    ("way", "labels"),
    [
        *(("forest", WORDS), ("steps", NUMBERS), ("last", WORDS), ("last", NUMBERS)),
        *(("first", WORDS), ("first", NUMBERS), ("many", WORDS), ("few", NUMBERS)),
    ],
)
def test_rows_on_a_threshold_get_the_class_of_predict_in_any_session(
    way: str, labels: tuple[Any, Any]
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    noise = 0.05 if way == "few" else 0.4
    rows, y = make_classification(900, 6, flip_y=noise, random_state=0)
    y = np.array(labels)[y]
    is_large = way in {"many", "few"}
    model: Any = ExtraTreesClassifier(500 if is_large else 100, random_state=0)
    if way == "steps":
        model = make_pipeline(StandardScaler(), model)
    # The rounding hangs on the number of trees, not on their depth.
    learned = 60 if is_large else 150
    model.fit(rows[:learned], y[:learned])
    rows = rows.astype(np.float32)
    share = 0.5
    is_first = way in {"first", "few"}
    if way in {"last", "first", "many", "few"}:
        places = np.array(labels[::-1] if is_first else labels)
        share = {"many": 0.8, "few": 2 / 500}.get(way, 0.37)
        model = fix_threshold(model, share, places)
    chance = model.predict_proba(rows)[:, 0 if is_first else 1]
    on_it = np.isclose(chance, share, rtol=0, atol=1e-12)
    assert on_it.any()
    written = convert(model, rows, {})
    told = model.predict(rows)
    (kind,) = written.inputs.values()
    alone = np.flatnonzero(on_it | (np.arange(len(rows)) % 4 == 0))
    for threads in (1, 2):
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        session = runtime.InferenceSession(written.content, options)
        for batches in (alone[:, None], np.arange(len(rows))[None]):
            found = [session.run(None, {"columns": rows[one].astype(kind)})[0] for one in batches]
            assert np.concatenate(found).tolist() == told[batches.ravel()].tolist()


@pytest.mark.parametrize("response", [None, "decision_function"])
def test_a_model_without_sums_of_trees_is_decided_without_room(response: str | None) -> None:
    """Scores beside a threshold were taken for those on it."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    X = np.linspace(-5.0, -4.0, 500).reshape(-1, 1).astype(np.float32)
    model = LogisticRegression().fit(np.array([[-9.0], [1.0], [0.0], [9.0]]), [0, 0, 1, 1])
    model.coef_, model.intercept_ = np.array([[1e-3]]), np.array([-4.0])
    if response is not None:
        model = calibrated(model, 1.0, 0.0, response)
    scores = model.predict_proba(X)[:, 1]
    decided = fix_threshold(model, between(scores, 250), np.array([0, 1]))
    assert convert(decided, X, {}).rows == len(X)


def test_labels_that_are_floating_point_numbers_are_told() -> None:
    pytest.importorskip("skl2onnx")
    X = table()[["a", "b"]].fillna(0.0)
    model = LogisticRegression().fit(X, np.where(table()["buys"] == "yes", 1.0, 0.0))
    with pytest.raises(ConfigurationError, match=r"floating-point numbers, such as 0\.0"):
        convert(model, X, {})


def test_other_predictions_are_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    fit(run, table(), "logistic_regression", "buys")
    wrong = [np.array(["no"] * 200), np.zeros((200, 2))]
    monkeypatch.setattr("automl_admm.runs.saved.onnx_export.file.answers_of", lambda *_: wrong)
    done = run("export", "RUN", "--onnx", "model.onnx")
    assert done.code == 2
    assert "the model predicts otherwise in ONNX" in done.err
    assert not (tmp_path / "model.onnx").exists()


def test_without_the_extra_it_says_what_to_install(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    monkeypatch.setattr("automl_admm.runs.saved.onnx_export.file.find_spec", lambda name: None)
    done = run("export", "RUN", "--onnx", "model.onnx")
    assert done.code == 2
    assert "needs skl2onnx and onnxruntime. pip install 'automl-admm[onnx]'" in done.err
