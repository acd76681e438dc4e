"""Every encoder, and every model of a raw table, on categories of many levels, text and tags."""

from __future__ import annotations

import subprocess
import warnings
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from program import run_program
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, TargetEncoder
from skops.io import dumps, get_untrusted_types, loads

from automl_admm import AutoMLClassifier
from automl_admm.builtin.constraints.columns_used import columns
from automl_admm.core.structure.pipeline_space import Step
from automl_admm.data.levels import MOST_ROWS, count_levels, orders_of
from automl_admm.pipelines import column_routes as routes
from automl_admm.pipelines.build import build_pipeline, fit_pipeline, predict_scores
from automl_admm.pipelines.level_shares import LevelShares
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import TASKS, BuildContext
from automl_admm.runs.finish.model_file import trusted_types

PLUGINS = load_plugins()
COLUMNS = {"numeric": ("a",), "categorical": ("few", "many"), "text": ("t",), "tags": ("g",)}
TREE, SHORT = Step("decision_tree"), (("max_iter", 5),)
ENCODERS = ["impute", "one_hot", "ordinal", "target", "counts", "char_text"]
BOOSTERS = ["hist_gradient_boosting", "categorical_boosting"]
# All see the raw table.
FIRST = [*([Step(name), TREE] for name in ENCODERS), *([Step(name, SHORT)] for name in BOOSTERS)]
IDS = [*ENCODERS, *BOOSTERS]


def table(rows=200, seed=0):
    """Some of every kind of column, with gaps in all."""
    rng = np.random.default_rng(seed)
    words, marks = [f"word{i}" for i in range(40)], list("pqrst")
    frame = pd.DataFrame({"a": rng.normal(size=rows), "few": rng.choice(list("xyz"), rows)})
    frame["many"] = [f"level {i}" for i in rng.integers(0, 60, rows)]
    frame["t"] = [" ".join(rng.choice(words, 8)) for _ in range(rows)]
    frame["g"] = ["\x1f".join(sorted(set(rng.choice(marks, 2)))) for _ in range(rows)]
    for place, (name, gap) in enumerate({"many": None, "few": np.nan, "t": "", "g": ""}.items()):
        frame.loc[place :: 7 + place, name] = gap
    return frame


def target(task, rows=200, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    if task == "regression":
        return rng.normal(size=rows)
    return np.array([f"class {i}" for i in rng.permutation(np.arange(rows) % classes)])


def context_of(task, frame, classes=2, **columns):
    found = COLUMNS | columns
    levels = count_levels(frame, found["categorical"])
    return BuildContext(task, **found, levels=levels, classes=classes if "c" in task else 0)


def fitted(steps, task, X, y, context=None):
    components = PLUGINS.components[task]
    known = context or context_of(task, X, len(np.unique(y)))
    built = build_pipeline(steps, components, known, 0)
    return fit_pipeline(built, steps, components, X, y)


def encoded(model, X):
    """What arrives at the model."""
    return (model[:-1] if len(model) > 1 else model[0][:-1]).transform(X)


@cache
def fitted_as_usual(task, place):
    """The pipeline of this place in `FIRST`, fitted once for the tests that leave it as it is."""
    return fitted(FIRST[place], task, table(), target(task))


@pytest.mark.parametrize("place", range(len(FIRST)), ids=IDS)
@pytest.mark.parametrize("task", TASKS)
def test_every_kind_of_column_becomes_dense_numbers_without_gaps(task, place):
    made = encoded(fitted_as_usual(task, place), table())
    assert type(made) is np.ndarray
    assert made.dtype == float
    assert np.isfinite(made).all()


@pytest.mark.parametrize("place", range(len(FIRST)), ids=IDS)
@pytest.mark.parametrize("task", TASKS)
def test_what_training_did_not_see_is_encoded_in_the_same_width(task, place):
    model = fitted_as_usual(task, place)
    odd = pd.DataFrame(
        {
            "a": [np.nan, 1e9, -1.0, 0.0],
            "few": ["new", None, np.nan, "x"],
            "many": ["", np.nan, None, "level 1"],
            "t": ["", "?!  …", "ünknown wörds", "word1\nword2\x00"],
            "g": ["", "unknown", "\x1f", "p\x1fq\x1funknown"],
        }
    )
    made = encoded(model, odd)
    assert made.shape == (4, encoded(model, table()).shape[1])
    assert np.isfinite(made).all()
    assert np.isfinite(np.asarray(predict_scores(model, odd), dtype=float)).all()


NOTHING = {"t": "", "g": "", "many": None, "few": np.nan, "a": np.nan}


@pytest.mark.parametrize("steps", FIRST, ids=IDS)
@pytest.mark.parametrize(
    ("rows", "empty"),
    [(5, {}), (5, NOTHING), (11, {}), (60, NOTHING)],
    ids=["5", "5 of nothing", "11", "60 of nothing"],
)
@pytest.mark.parametrize("task", TASKS)
def test_few_rows_and_columns_of_nothing_are_enough(task, rows, empty, steps):
    X, known = table(rows).assign(**empty), context_of(task, table())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # topics of empty texts explain nothing
        model = fitted(steps, task, X, target(task, rows), known)
    assert np.isfinite(encoded(model, table())).all()


@pytest.mark.parametrize("steps", FIRST, ids=IDS)
@pytest.mark.parametrize("classes", [3, 4, 60])
def test_classes_of_one_row_neither_fail_nor_warn(classes, steps):
    X, y = table(), target("classification", 200, 2)
    y[: classes - 2] = [f"rare {i}" for i in range(classes - 2)]  # one row each
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(steps, "classification", X, y)
    assert list(model.classes_) == sorted(set(y))


def test_a_class_each_is_bounded_in_width():
    X, y = table(600), target("classification", 600, 300)
    made = encoded(fitted([Step("impute"), TREE], "classification", X, y), X)
    assert made.shape[1] < routes.MOST_TARGETS + 200
    assert np.isfinite(made).all()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("place", range(len(FIRST)), ids=IDS)
def test_a_saved_encoder_is_loaded_by_its_trusted_types_and_predicts_the_same(task, place):
    X, model = table(), fitted_as_usual(task, place)
    saved, trusted = dumps(model), trusted_types(PLUGINS)
    assert set(get_untrusted_types(data=saved)) <= trusted
    restored = loads(saved, trusted=sorted(trusted))
    assert np.array_equal(predict_scores(restored, X), predict_scores(model, X))
    assert len(saved) < 5_000_000


def test_a_model_that_would_call_another_function_is_refused():
    """Native categories need trust in `functools.partial`; what it calls needs trust of its own."""
    harmful = FunctionTransformer(partial(subprocess.run, ["true"]))
    names = set(get_untrusted_types(data=dumps(harmful)))
    assert "functools.partial" in names
    assert names - trusted_types(PLUGINS) == {"subprocess.run"}


@pytest.mark.parametrize("task", TASKS)
def test_two_fits_are_equal(task):
    X, y = table(), target(task)
    steps = [Step("impute"), TREE]
    assert np.array_equal(
        predict_scores(fitted(steps, task, X, y), X), predict_scores(fitted(steps, task, X, y), X)
    )


def test_an_array_of_objects_is_encoded_by_the_places_of_its_columns():
    X = table()
    steps, y = [Step("impute"), TREE], target("classification")
    places = {kind: tuple(X.columns.get_loc(c) for c in names) for kind, names in COLUMNS.items()}
    array = X.to_numpy(dtype=object)
    by_place = fitted(
        steps, "classification", array, y, context_of("classification", array, **places)
    )
    by_name = fitted(steps, "classification", X, y)
    assert np.array_equal(encoded(by_place, array), encoded(by_name, X))


def test_few_levels_stay_one_hot_and_many_are_encoded_by_the_target():
    X = table()
    encoder = fitted([Step("impute"), TREE], "classification", X, target("classification"))[0]
    found = {name: (type(one), columns) for name, one, columns in encoder.transformers_}
    assert found["categorical"] == (OneHotEncoder, ["few"])
    assert found["levels"] == (TargetEncoder, ["many"])


def test_the_share_of_a_level_is_that_of_the_training_rows():
    train = pd.DataFrame({"a": ["x", "x", "x", None], "b": ["u", "v", "v", "v"]})
    encoder = LevelShares().fit(train)
    shares = np.column_stack([[0.75, 0.75, 0.75, 0.25], [0.25, 0.75, 0.75, 0.75]])
    assert np.array_equal(encoder.transform(train), shares)
    new = pd.DataFrame({"a": ["new", np.nan], "b": [None, "u"]})
    assert encoder.transform(new).tolist() == [[0.0, 0.0], [0.25, 0.25]]
    assert list(encoder.get_feature_names_out()) == ["a", "b"]


SIZES = ["small", "medium", "large"]


def sizes(*cells, levels=SIZES):
    return pd.DataFrame({"size": pd.Categorical(cells, levels, ordered=True)})


@pytest.mark.parametrize("name", ["ordinal", *BOOSTERS])
def test_levels_with_an_order_are_numbered_in_it(name):
    X = pd.concat([sizes(*SIZES, None)] * 20, ignore_index=True).assign(other="x")
    context = BuildContext(
        "regression", categorical=("size", "other"), orders=orders_of(X, ["size", "other"])
    )
    steps = [Step("ordinal"), TREE] if name == "ordinal" else [Step(name, SHORT)]
    model = fitted(steps, "regression", X, np.arange(80.0), context)
    later = sizes(*SIZES, None, "huge", levels=[*SIZES, "huge"]).assign(other="x")
    places = encoded(model, later)[:, 1]
    assert places.tolist() == [0, 1, 2, routes.MISSING, routes.UNKNOWN]


def test_an_order_is_of_texts_and_has_the_missing_one_if_there_is_one():
    X = sizes("large", "small").assign(
        gap=sizes("large", None), number=pd.Categorical([2, 1], [2, 1], ordered=True), plain="x"
    )
    found = orders_of(X, ["size", "gap", "number", "plain"])
    assert found[0] == tuple(SIZES)
    assert found[1][:3] == tuple(SIZES)
    assert np.isnan(found[1][3])
    assert found[2:] == ((), ())


def test_native_categories_are_split_into_sets_of_levels():
    """Every second level is of a class: numbers in order would need a split for each of them."""
    levels = np.tile([f"level {i:02}" for i in range(30)], 20)
    X, y = pd.DataFrame({"a": 0.0, "c": levels}), np.tile([0, 1], 300)
    context = BuildContext("classification", ("a",), ("c",), levels=(30,), classes=2)
    stump = (("max_iter", 20), ("max_leaf_nodes", 3), ("learning_rate", 1.0))
    native = fitted([Step("categorical_boosting", stump)], "classification", X, y, context)
    assert native.score(X, y) == 1.0
    assert native[0][-1].is_categorical_.tolist() == [True, False]


def test_training_rows_do_not_see_their_own_target():
    """Levels of one row each say nothing; encoded by their own target they would say all."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": [f"row {i}" for i in range(400)]})
    y = rng.integers(0, 2, 400)
    context = BuildContext("classification", categorical=("id",), levels=(400,), classes=2)
    encoder = build_pipeline([Step("impute")], PLUGINS.components["classification"], context, 0)
    assert abs(roc_auc_score(y, encoder.fit_transform(X, y)[:, 0]) - 0.5) < 0.1


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", ENCODERS)
def test_columns_of_every_kind_are_counted_as_used(name, classes):
    X, y = table(), target("classification", classes=classes)
    model = fitted([Step(name), TREE], "classification", X, y)
    seen = EvaluatedPipeline(model, X, y, model.predict_proba(X), 0.0, 0.0)
    assert columns(seen).value == 5
    few = X[["many"]]
    alone = context_of("classification", few, classes, numeric=(), categorical=("many",))
    model = fitted([Step(name), TREE], "classification", few, y, replace(alone, text=(), tags=()))
    assert columns(replace(seen, pipeline=model, X=few)).value == 1


def test_levels_are_counted_with_the_missing_one_and_on_a_part_of_a_long_table():
    frame = pd.DataFrame({"a": ["x", None, "y"] * 10, "b": pd.Categorical(["u"] * 30)})
    assert count_levels(frame, ("a", "b")) == (3, 1)
    assert count_levels(frame.to_numpy(dtype=object), (1, 0)) == (1, 3)
    long = pd.DataFrame({"a": np.arange(10 * MOST_ROWS) % 40})
    assert count_levels(long, ("a",)) == (40,)


def test_a_model_of_many_levels_predicts_the_same_on_the_command_line(tmp_path: Path):
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"city": [f"city {i}" for i in rng.integers(0, 80, 400)]})
    effect = dict(zip([f"city {i}" for i in range(80)], rng.normal(size=80), strict=True))
    y = pd.Series(np.where(X["city"].map(effect) > 0, "up", "down"), name="way")
    X.loc[::17, "city"] = None
    search = AutoMLClassifier(
        cv=2, max_evaluations=1, grammar="tiny", work_dir=tmp_path / "run", executor="inline"
    ).fit(X, y)
    new = pd.concat([X.head(40), pd.DataFrame({"city": ["Atlantis", None]})], ignore_index=True)
    new.to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "out.csv"
    done = run_program("predict", tmp_path / "run", tmp_path / "new.csv", "-o", out)
    assert done.returncode == 0, done.stderr
    assert list(pd.read_csv(out)["prediction"]) == list(search.predict(new))
    assert search.score(X, y) > 0.8
