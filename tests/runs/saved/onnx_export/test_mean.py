"""Averages of pipelines in ONNX: every member in its own precision, and decisions as `predict`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier

from automl_admm.core.errors import ConfigurationError
from automl_admm.pipelines.calibrated import calibrated
from automl_admm.pipelines.column_routes import one_hot
from automl_admm.pipelines.ensembles.all_classes import knowing_all
from automl_admm.pipelines.ensembles.voting import vote
from automl_admm.pipelines.thresholds.fixed import fix_threshold
from automl_admm.runs.saved.onnx_export.file import OnnxModel, convert

COLUMNS = list("abcd")
LABELS = {
    "texts": np.array(["no", "yes"]),
    "numbers": np.array([3, 7]),
    "truth values": np.array([False, True]),
    "several": np.array(["d", "a", "c"]),
}


@cache
def table(labels: str = "texts") -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(600, 4)), columns=COLUMNS).round({"a": 1})
    score = rows["a"] + rows["b"] * rows["c"] + rng.normal(size=600)
    places = np.digitize(score, [0.0] if len(LABELS[labels]) == 2 else [-0.7, 0.7])
    rows.loc[::9, "d"] = np.nan
    return rows, LABELS[labels][places]


def models() -> dict[str, Any]:
    return {
        "logistic": make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
        "boosted": make_pipeline(SimpleImputer(), HistGradientBoostingClassifier(max_iter=5)),
        "forest": make_pipeline(SimpleImputer(), RandomForestClassifier(10, random_state=0)),
        "neighbours": make_pipeline(SimpleImputer(), KNeighborsClassifier(4)),
        "tree": make_pipeline(SimpleImputer(), DecisionTreeClassifier(max_depth=3)),
        "bayes": make_pipeline(SimpleImputer(), GaussianNB()),
    }


@cache
def fitted(name: str, labels: str = "texts") -> Any:
    rows, y = table(labels)
    return models()[name].fit(rows[:300], y[:300])


def mean(names: list[str], weights: list[int], labels: str = "texts") -> Any:
    members = {f"{name}_{place}": fitted(name, labels) for place, name in enumerate(names)}
    return vote(members, weights, np.unique(LABELS[labels]))


def ask(written: OnnxModel, rows: pd.DataFrame, threads: int = 1) -> list[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(written.content, options)
    if list(written.inputs) == ["columns"]:
        given = {"columns": rows.to_numpy(written.inputs["columns"])}
    else:
        kinds = {"text": object, "float64": np.float64, "float32": np.float32}
        full = rows.fillna({name: "" for name, kind in written.inputs.items() if kind == "text"})
        given = {name: full[[name]].to_numpy(kinds[kind]) for name, kind in written.inputs.items()}
    return list(session.run(None, given))


def assert_same(written: OnnxModel, model: Any, rows: pd.DataFrame, *, within: float) -> None:
    labels, chances = ask(written, rows)
    told = model.predict(rows)
    assert labels.tolist() == told.tolist()
    assert type(labels.tolist()[0]) is (int if told.dtype == bool else type(told.tolist()[0]))
    assert np.abs(chances - model.predict_proba(rows)).max() <= within


@pytest.mark.parametrize("labels", LABELS)
def test_members_of_all_kinds_are_averaged(labels: str) -> None:
    model = mean([*models(), "logistic"], [3, 1, 2, 1, 5, 1, 1], labels)
    rows, _ = table(labels)
    written = convert(model, rows[:300], {})
    assert written.inputs == {"columns": "float64"}
    assert_same(written, model, rows, within=1e-6)


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("response", [None, "predict_proba", "decision_function"])
def test_thresholds_and_calibrated_members_are_written(
    response: str | None, *, is_last: bool
) -> None:
    rows, _ = table()
    names = ["logistic", "logistic"] if response == "decision_function" else ["logistic", "forest"]
    members = {f"{name}_{place}": fitted(name) for place, name in enumerate(names)}
    if response is not None:
        numbers = 2.5, -0.8, response
        members = {name: calibrated(one, *numbers) for name, one in members.items()}
    model = vote(members, [2, 1], LABELS["texts"])
    decided = fix_threshold(model, 0.37, LABELS["texts"] if is_last else LABELS["texts"][::-1])
    assert (decided.predict(rows) != model.predict(rows)).any()
    assert_same(convert(decided, rows[:300], {}), decided, rows, within=1e-5)
    assert_same(convert(model, rows[:300], {}), model, rows, within=1e-5)


@pytest.mark.parametrize("share", [None, 0.4])
def test_rows_on_a_threshold_or_tied_get_the_class_of_predict_in_any_session(
    share: float | None,
) -> None:
    rows, y = table()
    full = rows.fillna(0.0)
    forests = [ExtraTreesClassifier(count, random_state=count) for count in (40, 80)]
    fits = {f"fold_{place}": one.fit(full[:300], y[:300]) for place, one in enumerate(forests)}
    model = vote(fits, [1, 2], LABELS["texts"])
    if share is not None:
        model = fix_threshold(model, share, LABELS["texts"])
    near = np.abs(model.predict_proba(full)[:, 1] - (share or 0.5)) < 1e-12
    assert near.any()
    written, told = convert(model, full[:300], {}), model.predict(full).tolist()
    for threads in (1, 2):
        assert ask(written, full, threads)[0].tolist() == told
        alone = [ask(written, full[at : at + 1], threads)[0][0] for at in np.flatnonzero(near)]
        assert alone == [told[at] for at in np.flatnonzero(near)]


def test_rows_truly_near_a_threshold_are_told_apart() -> None:
    rows, _ = table()
    model = mean(["logistic", "bayes"], [1, 1])
    chances = np.sort(model.predict_proba(rows[:300])[:, 1])
    # Less than the usual room above a row: with that room the row would be called.
    decided = fix_threshold(model, chances[150] + 5e-6, LABELS["texts"])
    assert_same(convert(decided, rows[:300], {}), decided, rows, within=1e-6)


def test_texts_gaps_and_new_texts_are_taken_by_every_member() -> None:
    rows, y = table()
    rng = np.random.default_rng(1)
    frame = rows.assign(label=rng.choice(["Ulm", "Bonn", "Kiel"], len(rows)))
    members = {}
    for most, (name, last) in enumerate(list(models().items())[:3], start=2):
        routes = [(encoder, names) for _, encoder, names in one_hot(["label"], most)]
        first = make_column_transformer(*routes, (SimpleImputer(), COLUMNS))
        members[name] = make_pipeline(first, last[-1]).fit(frame[:300], y[:300])
    model = vote(members, [1, 1, 1], LABELS["texts"])
    written = convert(model, frame[:300], {})
    # The name of an output has a number as that of an input.
    assert list(written.inputs) == [*COLUMNS, "label1"]
    new = frame.assign(label=np.resize(np.array(["Rom", "", "Ulm"], dtype=object), len(frame)))
    given = new.rename(columns={"label": "label1"})
    labels, chances = ask(written, given)
    new["label"] = new["label"].replace("", np.nan)
    assert labels.tolist() == model.predict(new).tolist()
    assert chances == pytest.approx(model.predict_proba(new), abs=1e-6)


@pytest.mark.parametrize("name", ["automl_admm_1", "automl_admm_4", "in_double_1", "filled_1"])
def test_a_column_may_be_named_as_the_nodes_that_are_added(name: str) -> None:
    rows, y = table()
    renamed = rows.rename(columns={"a": name})
    filled = make_column_transformer((SimpleImputer(), [name, "b", "c", "d"]))
    lasts = {"logistic": LogisticRegression(), "tree": DecisionTreeClassifier(max_depth=3)}
    members = {key: make_pipeline(filled, last).fit(renamed, y) for key, last in lasts.items()}
    model = fix_threshold(vote(members, [1, 2], LABELS["texts"]), 0.4, LABELS["texts"])
    assert_same(convert(model, renamed[:300], {}), model, renamed, within=1e-6)
    alone = fix_threshold(members["logistic"], 0.4, LABELS["texts"])
    assert_same(convert(alone, renamed[:300], {}), alone, renamed, within=1e-6)


def test_members_of_numbers_together_and_column_by_column_ship_in_one_file() -> None:
    rows, y = table()
    parted = make_column_transformer((SimpleImputer(), ["d", "a"]), remainder="drop")
    apart = make_pipeline(parted, GaussianNB()).fit(rows[:300], y[:300])
    model = vote({"one": fitted("tree"), "two": apart}, [1, 1], LABELS["texts"])
    written = convert(model, rows[:300], {})
    assert list(written.inputs) == COLUMNS
    assert_same(written, model, rows, within=1e-6)


def test_a_member_whose_rows_lacked_a_class_gives_it_no_probability() -> None:
    rows, y = table("several")
    some = y[:300] != "c"
    lacking = make_pipeline(SimpleImputer(), GaussianNB()).fit(rows[:300][some], y[:300][some])
    members = {"fold_1": fitted("forest", "several"), "fold_2": knowing_all(lacking, np.unique(y))}
    model = vote(members, [1, 1], np.unique(y))
    assert_same(convert(model, rows[:300], {}), model, rows, within=1e-6)


def test_averages_of_quantities_are_written() -> None:
    rows, _ = table()
    full = rows.fillna(0.0)
    y = 1e4 * (full["a"] - full["b"]).to_numpy()
    fits = {
        "ridge": make_pipeline(StandardScaler(), Ridge()).fit(full, y),
        "forest": RandomForestRegressor(10, random_state=0).fit(full, y),
        "margin": make_pipeline(StandardScaler(), SVR(C=1e4)).fit(full, y),
    }
    model = vote(fits, [1, 3, 2], None)
    written = convert(model, full, {})
    (found,) = ask(written, full)
    assert found.shape == (len(full), 1)
    assert found.ravel() == pytest.approx(model.predict(full), rel=1e-5, abs=0.1)


@pytest.mark.parametrize("is_alone", [True, False])
def test_gaps_are_told_by_columns_of_their_own(*, is_alone: bool) -> None:
    rows, y = table()
    rows = rows.assign(b=rows["b"].mask(rows["a"] > 1.0))
    filled = SimpleImputer(strategy="median", add_indicator=True)
    model = make_pipeline(filled, RandomForestClassifier(10, random_state=0)).fit(rows, y)
    if not is_alone:
        model = vote({"forest": model, "same": model}, [1, 1], LABELS["texts"])
    assert_same(convert(model, rows[:300], {}), model, rows, within=1e-6)


def test_a_member_that_cannot_be_written_is_named() -> None:
    rows, y = table()
    odd = make_pipeline(SimpleImputer(), FunctionTransformer(np.sin), LogisticRegression())
    model = vote(
        {"pipeline_4": fitted("tree"), "pipeline_9": odd.fit(rows, y)}, [1, 1], LABELS["texts"]
    )
    with pytest.raises(ConfigurationError) as caught:
        convert(fix_threshold(model, 0.4, LABELS["texts"]), rows[:300], {})
    said = str(caught.value)
    assert said.startswith("in 'pipeline_9' of the ensemble: 'functiontransformer' cannot be")
    assert said.count("\n") == 0


@pytest.mark.parametrize("is_alone", [True, False])
def test_trees_that_split_categories_are_told(*, is_alone: bool) -> None:
    rows = table()[0].assign(b=np.arange(600) % 5.0)
    y = np.where(np.isin(rows["b"], [0, 3]) & (rows["a"] > 0.0), "yes", "no")
    boosted = HistGradientBoostingClassifier(max_iter=5, categorical_features=[1])
    model = Pipeline([("fill", SimpleImputer()), ("boosting", make_pipeline(boosted))]).fit(rows, y)
    if not is_alone:
        model = vote({"pipeline_4": model, "pipeline_9": model}, [1, 1], LABELS["texts"])
    with pytest.raises(ConfigurationError) as caught:
        convert(model, rows[:300], {})
    where = "" if is_alone else "in 'pipeline_4' of the ensemble: "
    told = f"{where}'boosting' cannot be written as ONNX: a tree splits categories. Leave it out"
    assert str(caught.value).startswith(told)


def test_a_member_that_predicts_otherwise_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = table()
    model = mean(["tree", "bayes"], [1, 1])
    wrong = [np.array(["no"] * 300), np.zeros((300, 2))]
    monkeypatch.setattr("automl_admm.runs.saved.onnx_export.member.answers_of", lambda *_: wrong)
    monkeypatch.setattr("automl_admm.runs.saved.onnx_export.file.answers_of", lambda *_: wrong)
    with pytest.raises(ConfigurationError) as caught:
        convert(model, rows[:300], {})
    told = "some rows get another class, most of all in '"
    assert f"the model predicts otherwise in ONNX: {told}" in str(caught.value)
