"""A model that comes back from its folder takes whatever rows mean the same as in training."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from program import run_python
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    FixedThresholdClassifier,
    TunedThresholdClassifierCV,
    cross_val_score,
)

import automl_admm
from automl_admm import AutoMLClassifier, AutoMLRegressor
from automl_admm.core.errors import (
    DataError,
    FrozenModelWarning,
    LimitWarning,
    NewValuesWarning,
    StoreError,
)

SEARCH = {
    "grammar": "tiny",
    "cv": 2,
    "max_evaluations": 2,
    "theta_solver": "random",
    "executor": "inline",
    "random_state": 0,
}


def people(rows: int = 160) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"age": rng.integers(18, 90, rows), "half": rng.normal(size=rows)})
    frame["flag"] = rng.random(rows) < 0.5
    frame["code"] = rng.choice(["007", "7", "NA"], rows)
    frame["size"] = pd.Categorical(rng.choice(["S", "M", "L"], rows), ["S", "M", "L"], ordered=True)
    frame.loc[::9, "half"] = np.nan
    return frame


def labels(frame: pd.DataFrame) -> pd.Series:
    score = frame["age"] / 40 + 2 * frame["flag"] + (frame["code"] == "007")
    return pd.Series(np.where(score > score.median(), "yes", "no"), name="buys")


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "out"
    AutoMLClassifier(work_dir=folder, **SEARCH).fit(people(), labels(people()))
    return folder


@pytest.fixture
def folder(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "out"))


def test_it_predicts_what_the_search_predicted(kept: Path) -> None:
    again = AutoMLClassifier(**SEARCH).fit(people(), labels(people()))
    model = automl_admm.load(kept)
    rows = people(40)
    assert list(model.classes_) == ["no", "yes"]
    assert list(model.feature_names_in_) == list(rows)
    assert model.n_features_in_ == 5
    assert model.predict(rows).tolist() == again.predict(rows).tolist()
    assert (model.predict_proba(rows) == again.predict_proba(rows)).all()
    assert model.score(rows, labels(rows)) == again.score(rows, labels(rows))


@pytest.mark.parametrize(
    "turn",
    [
        lambda rows: rows[rows.columns[::-1]],
        lambda rows: rows.assign(buys="no", more=1),
        lambda rows: rows.astype({"age": float, "flag": object, "code": "string"}),
        lambda rows: rows.astype({"age": str, "flag": str, "size": object}),
        lambda rows: rows.convert_dtypes(dtype_backend="pyarrow"),
        lambda rows: rows.to_numpy(dtype=object),
        lambda rows: rows.to_numpy(dtype=object).tolist(),
        lambda rows: rows.assign(half=rows["half"].fillna(np.inf)),
    ],
    ids=["order", "more", "types", "texts", "arrow", "array", "list", "infinite"],
)
def test_the_same_rows_in_another_form_are_the_same(kept: Path, turn: object) -> None:
    model, rows = automl_admm.load(kept), people()
    assert callable(turn)
    assert (model.predict_proba(turn(rows)) == model.predict_proba(rows)).all()


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (lambda rows: rows.drop(columns="age"), "columns are missing: 'age'"),
        (lambda rows: rows.drop(columns="age").assign(row=1), "The table has: half, "),
        (lambda rows: rows.rename(columns={"age": "Age"}), "'age'. Did you mean 'Age'?"),
        (lambda rows: rows[:0], "X holds a header and no rows."),
        (lambda rows: rows[:0].to_numpy(), "X holds a header and no rows."),
        (lambda rows: rows.to_numpy()[:, :3], "have 3 columns, and in training they had 5"),
        (lambda rows: rows.loc[0], "a Series of shape (5,), and no table"),
        (lambda rows: rows.assign(age="old"), "row 0 (from 0): column 'age' holds 'old'"),
        (lambda rows: rows.assign(code=7), "column 'code' holds 7"),
        (lambda _: [[30, [1, 2], True, "7", "S"]], "column 1 (from 0) holds [1, 2], and a cell"),
        (lambda rows: pd.concat([rows, rows["age"]], axis=1), "two columns are named 'age'"),
    ],
)
def test_rows_that_do_not_fit_are_refused_in_a_line(kept: Path, turn: object, said: str) -> None:
    assert callable(turn)
    with pytest.raises(DataError) as raised:
        automl_admm.load(kept).predict(turn(people()))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_regressor_that_was_trained_on_an_array(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=120)
    search = AutoMLRegressor(work_dir=tmp_path / "out", **SEARCH).fit(X, y)
    model = automl_admm.load(tmp_path / "out")
    assert is_regressor(model)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "predict_proba")
    assert (model.predict(X) == search.predict(X)).all()
    assert (model.predict(pd.DataFrame(X)[[2, 0, 1]]) == search.predict(X)).all()
    assert model.score(X, y) == search.score(X, y)


def test_scikit_learn_takes_it_for_fitted(kept: Path) -> None:
    model, rows = automl_admm.load(kept), people()
    assert is_classifier(model)
    assert clone(model) is model
    found = permutation_importance(model, rows, labels(rows), n_repeats=2, random_state=0)
    assert dict(zip(rows, found.importances_mean, strict=True))["flag"] > 0


def test_labels_of_another_type_are_refused_in_a_line_by_score(kept: Path) -> None:
    model, rows = automl_admm.load(kept), people()
    for other in (labels(rows) == "yes", labels(rows).str.upper()):
        with pytest.raises(DataError, match=r"none of the labels .* classes are 'no', 'yes'\."):
            model.score(rows, other)


def test_fit_changes_nothing_and_says_so(kept: Path) -> None:
    model, rows = automl_admm.load(kept), people()
    before = model.predict(rows).tolist()
    with pytest.warns(FrozenModelWarning, match="To fit anew take AutoMLClassifier") as caught:
        assert model.fit(rows, labels(rows)[::-1]) is model
    assert [Path(one.filename).name for one in caught] == [Path(__file__).name]
    assert model.predict(rows).tolist() == before
    with pytest.warns(FrozenModelWarning, match="on rows that it has learned from"):
        cross_val_score(model, rows, labels(rows), cv=2)


def test_estimators_that_keep_a_fitted_model_as_it_is_hear_no_warning(kept: Path) -> None:
    model, rows = automl_admm.load(kept), people()
    frozen = FrozenEstimator(model)
    around = [
        frozen,
        CalibratedClassifierCV(frozen, cv=2),
        FixedThresholdClassifier(frozen, threshold=0.4, pos_label="yes"),
        TunedThresholdClassifierCV(model, cv="prefit", refit=False),
        StackingClassifier([("model", model)], cv="prefit"),
    ]
    for one in around:
        assert set(one.fit(rows, labels(rows)).predict(rows)) <= {"no", "yes"}


def test_it_comes_back_in_a_new_process(kept: Path, tmp_path: Path) -> None:
    people().to_pickle(tmp_path / "rows.pickle")
    program = (
        "import automl_admm, pandas, sys; model = automl_admm.load(sys.argv[1]); "
        "print(model.predict_proba(pandas.read_pickle(sys.argv[2]))[:, 1].tolist())"
    )
    done = run_python("-c", program, kept, tmp_path / "rows.pickle")
    assert done.returncode == 0, done.stderr
    expected = automl_admm.load(kept).predict_proba(people())[:, 1]
    assert json.loads(done.stdout) == expected.tolist()


def test_a_folder_that_is_damaged_or_edited_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"holds no model\.json"):
        automl_admm.load(tmp_path)
    manifest = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps(manifest | {"columns": ["age"]}))
    with pytest.raises(StoreError, match=r"model\.json. is damaged"):
        automl_admm.load(str(folder))
    (folder / "model.json").write_text(json.dumps(manifest))
    with (folder / "model.skops").open("ab") as file:
        file.write(b" ")
    with pytest.raises(StoreError, match="not the file that the run wrote"):
        automl_admm.load(folder)


def test_the_manifest_names_the_types_to_trust(kept: Path) -> None:
    trusted = json.loads((kept / "model.json").read_text())["trusted_types"]
    plain = skops.io.load(kept / "model.skops", trusted=trusted)
    assert trusted == skops.io.get_untrusted_types(file=kept / "model.skops")
    assert plain.predict(people()).tolist() == automl_admm.load(kept).predict(people()).tolist()


def test_new_values_and_the_mark_of_a_model_are_warnings_in_python(tmp_path: Path) -> None:
    frame = people()
    search = AutoMLClassifier(
        **SEARCH, work_dir=tmp_path / "run", constraints=["latency_us <= 1e-6"],
        on_infeasible="closest",
    )  # fmt: skip
    search.fit(frame, np.where(frame["age"] > 50, "yes", "no"))
    with pytest.warns(LimitWarning, match="outside the limits of its run"):
        model = automl_admm.load(tmp_path / "run")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known = model.predict(frame)
    with pytest.warns(NewValuesWarning, match="160 of 160 cells of column 'code'") as caught:
        model.predict(frame.assign(code="new"))
    assert {Path(one.filename).name for one in caught} == {Path(__file__).name}
    assert len(known) == len(frame)
