"""Types of pandas that scikit-learn's check of a table cannot bring together are taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from quick_classifier import fitted
from sklearn.exceptions import DataConversionWarning

import automl_admm
from automl_admm import AutoMLClassifier
from automl_admm.core.errors import DataError

ROWS = 80
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {"x": RNG.normal(size=ROWS), "k": pd.Categorical(RNG.choice(list("abc"), ROWS))}
)
LABELS = np.where(FRAME["x"] > 0, "hi", "lo")


@pytest.mark.parametrize("dtype", ["bool", "boolean", "Int64", "Float64"])
def test_categories_of_text_may_stand_beside_them(dtype: str) -> None:
    beside = FRAME.assign(other=pd.Series(RNG.random(ROWS) > 0.5).astype(dtype))
    plain = beside.assign(k=FRAME["k"].astype(object))
    search = fitted(beside, LABELS)
    expected = search.predict_proba(beside)
    np.testing.assert_array_equal(search.predict_proba(plain), expected)
    np.testing.assert_array_equal(fitted(plain, LABELS).predict_proba(beside), expected)


def test_a_target_may_be_categories() -> None:
    search = fitted(FRAME, pd.Series(pd.Categorical(LABELS)))
    assert list(search.classes_) == ["hi", "lo"]
    np.testing.assert_array_equal(search.predict(FRAME), fitted(FRAME, LABELS).predict(FRAME))


def test_the_rows_for_the_pipeline_itself_are_at_hand(tmp_path: Path) -> None:
    days = pd.date_range("2024-01-01", periods=ROWS).strftime("%Y-%m-%d")
    frame = FRAME.assign(when=days)
    search = fitted(frame, LABELS, work_dir=tmp_path / "run")
    with pytest.raises(ValueError, match=r"columns are missing: .*when\."):
        search.best_pipeline_.predict(frame)
    rows = search.pipeline_rows(frame)
    assert {"when.month", "when.weekday"} <= set(rows.columns)
    np.testing.assert_array_equal(search.best_pipeline_.predict(rows), search.predict(frame))
    loaded = automl_admm.load(tmp_path / "run")
    pd.testing.assert_frame_equal(loaded.pipeline_rows(frame), rows)
    np.testing.assert_array_equal(loaded.pipeline.predict(rows), search.predict(frame))


def test_a_category_with_a_zero_character_leaves_a_run_to_read(tmp_path: Path) -> None:
    """Tables of other programs have texts of a fixed length that are filled up with zeros."""
    frame = FRAME.assign(code=np.where(FRAME["x"] > 0.5, "a\0\0", "bc\0"))
    frame["other"] = frame["code"].astype("category")
    search = fitted(frame, LABELS, work_dir=tmp_path / "run")
    loaded = automl_admm.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.predict(frame), search.predict(frame))
    assert len(automl_admm.read_run(tmp_path / "run").evaluations) == 1


@pytest.mark.parametrize(
    "roles",
    [
        {"y": pd.Series(LABELS, name="n\0")},
        {"sensitive_features": pd.Series(LABELS, name="n\0")},
        {"sample_weight": pd.Series(np.ones(ROWS), name="n\0")},
        {"groups": pd.Series(np.arange(ROWS) // 2, name="n\0")},
    ],
    ids=["target", "sensitive", "weight", "group"],
)
def test_a_name_with_a_zero_character_is_refused_before_the_search(roles: dict[str, Any]) -> None:
    given = {"y": LABELS} | roles
    with pytest.raises(DataError, match=r"name 'n\\x00' has a zero character\. Rename it"):
        AutoMLClassifier("tiny", max_evaluations=1, executor="inline").fit(FRAME, **given)


def test_names_that_are_tuples_stay_names() -> None:
    names = [("a", 1), ("a", 2)]
    frame = FRAME.set_axis(pd.Index(names, tupleize_cols=False), axis=1)
    search = fitted(frame, LABELS)
    assert search.columns_.index.tolist() == names
    np.testing.assert_array_equal(search.predict(frame), fitted(FRAME, LABELS).predict(FRAME))


@pytest.mark.parametrize("labels", [LABELS == "hi", (LABELS == "hi").astype(int)])
def test_labels_that_fit_takes_as_objects_are_scored_as_well(labels: np.ndarray) -> None:
    search = fitted(FRAME, labels.astype(object))
    assert search.score(FRAME, labels.astype(object)) == search.score(FRAME, labels)
    with pytest.raises(DataError, match=r"missing in 1 of .*Score the other rows"):
        search.score(FRAME, np.array([None, *labels[1:]], dtype=object))
    with pytest.raises(DataError, match="none of the labels to score is a class of the model"):
        search.score(FRAME, labels.astype(str))


def test_importances_take_labels_in_a_column() -> None:
    search = fitted(FRAME, LABELS)
    expected = search.permutation_importances(FRAME, LABELS, random_state=0)
    with pytest.warns(DataConversionWarning):
        found = search.permutation_importances(FRAME, LABELS[:, None], random_state=0)
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("value", ["x", pd.Timestamp("2020"), True, None])
def test_a_column_that_was_left_out_may_hold_anything(value: object, tmp_path: Path) -> None:
    given = FRAME.assign(same=1, row=np.arange(ROWS))
    search = fitted(given, LABELS, work_dir=tmp_path / "run")
    loaded = automl_admm.load(tmp_path / "run")
    expected = search.predict_proba(given)
    for name in ("same", "row"):
        for model in (search, loaded):
            found = model.predict_proba(given.assign(**{name: value}))
            np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore::automl_admm.core.errors.NewValuesWarning")
@pytest.mark.parametrize("empty", ["", "NA", "nan", "?", "None"])
def test_texts_for_nothing_are_gaps_for_the_estimator_as_for_load(
    empty: str, tmp_path: Path
) -> None:
    search = fitted(FRAME, LABELS, work_dir=tmp_path / "run")
    loaded = automl_admm.load(tmp_path / "run")
    gaps = FRAME["x"] > 1
    texts = FRAME.assign(x=FRAME["x"].map(str).mask(gaps, empty), k=empty)
    plain = FRAME.assign(x=FRAME["x"].mask(gaps), k=None)
    expected = loaded.predict_proba(plain)
    for model in (search, loaded):
        np.testing.assert_array_equal(model.predict_proba(texts), expected)


def test_whole_numbers_beyond_all_floats_are_categories() -> None:
    codes = pd.Series([10**400 + place % 3 for place in range(ROWS)], dtype=object)
    frame = FRAME.assign(k=codes)
    search = fitted(frame, LABELS, columns={"k": "category"})
    texts = frame.assign(k=[str(code) for code in codes])
    np.testing.assert_array_equal(search.predict(texts), search.predict(frame))
