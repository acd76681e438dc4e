"""The classes of a fitted pipeline are the sorted labels, and it predicts labels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from automl_admm import ComponentPlugin, hookimpl
from automl_admm.core.errors import InvalidOutcome
from automl_admm.core.evaluations import Status
from automl_admm.pipelines.predictions.fitted_classes import check_classes, check_labels
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.predictions.wrappers import Remembered
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare

X = np.random.default_rng(0).normal(size=(40, 2))
NUMBERS = (X[:, 0] > 0).astype(int)


class Foreign(LogisticRegression):  # type: ignore[misc]
    """A class of neither scikit-learn nor this package."""


class Nameless(Foreign):
    """Keeps no classes."""

    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        del self.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 2), 0.5)


class Turned(Foreign):
    """Turns its classes, and not its columns."""

    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        self.classes_ = self.classes_[::-1]
        return self


class Numbering(Foreign):
    """Predicts the places of labels."""

    def predict(self, X: Any) -> Any:
        return self.predict_proba(X).argmax(axis=1)


def table(*labels: Any) -> Table:
    return Table(X, NUMBERS, np.array(labels))


def fitted(rows: Table, model: Any = None, scaled: bool = False) -> Pipeline:
    steps = [("scale", StandardScaler())] if scaled else []
    return Pipeline([*steps, ("mine", model or Foreign())]).fit(rows.X, rows.labels())


@pytest.mark.parametrize(
    "labels", [("no", "yes"), ("yes", "no"), (False, True), (3, 7), (2.0, -1.0)]
)
def test_sorted_labels_are_the_classes_wherever_the_positive_one_stands(labels: Any) -> None:
    check_classes(fitted(table(*labels)), table(*labels))


def test_a_class_without_training_rows_is_not_expected() -> None:
    rows = Table(X, np.where(NUMBERS == 1, 2, 0), np.array(["a", "b", "c"]))
    check_classes(fitted(rows), rows)


def test_a_quantity_has_no_classes() -> None:
    check_classes(Pipeline([("mine", StandardScaler())]), Table(X, X[:, 0]))


@pytest.mark.parametrize(
    ("classes", "shown"), [(["yes", "no"], "'yes', 'no'"), ([0, 1], "'0', '1'"), (["no"], "'no'")]
)
def test_other_classes_than_the_sorted_labels_are_invalid(classes: Any, shown: str) -> None:
    rows = table("no", "yes")
    pipeline = fitted(rows)
    pipeline[-1].classes_ = np.array(classes)
    said = f"classes_ of component 'mine' are {shown}, where .* are due: 'no', 'yes'$"
    with pytest.raises(InvalidOutcome, match=said):
        check_classes(pipeline, rows)


def test_a_classifier_without_classes_is_invalid() -> None:
    rows = table("no", "yes")
    pipeline = fitted(rows)
    del pipeline[-1].classes_
    with pytest.raises(InvalidOutcome, match="'mine' has no classes_ after its fit, where"):
        check_classes(pipeline, rows)


@pytest.mark.parametrize("scaled", [False, True])
def test_numbers_in_place_of_labels_are_invalid(scaled: bool) -> None:
    rows = table("no", "yes")
    check_labels(Remembered(fitted(rows, Foreign(), scaled)), rows)
    with pytest.raises(InvalidOutcome, match=r"the label '[01]' was predicted"):
        check_labels(Remembered(fitted(rows, Numbering(), scaled)), rows)


class Short(Foreign):
    """Predicts a label too few."""

    def predict(self, X: Any) -> Any:
        return super().predict(X)[:-1]


class Upright(Foreign):
    """Predicts a column of labels."""

    def predict(self, X: Any) -> Any:
        return super().predict(X).reshape(-1, 1)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(("model", "shape"), [(Short(), r"\(19,\)"), (Upright(), r"\(20, 1\)")])
def test_labels_of_another_shape_are_invalid(model: Any, shape: str, scaled: bool) -> None:
    rows = table("no", "yes")
    with pytest.raises(InvalidOutcome, match=f"it returned the shape {shape} for 20 rows"):
        check_labels(Remembered(fitted(rows, model, scaled)), rows)


FAULTY = {
    Short: "predict of component 'short' has to return labels of the target, 'no', 'yes': it ret",
    Nameless: "component 'nameless' has no classes_ after its fit",
    Turned: "the classes_ of component 'turned' are 'yes', 'no'",
    Numbering: "predict of component 'numbering' has to return labels of the target, 'no', 'yes': ",
}


class Provider:
    """A plugin with one component for each fault."""

    @hookimpl
    def components(self) -> Iterator[ComponentPlugin]:
        for kind in FAULTY:
            yield ComponentPlugin(
                name=kind.__name__.lower(),
                summary="s",
                role="estimator",
                tasks=("classification",),
                factory=partial(built, kind),
            )


def built(kind: type, values: object, context: object) -> Any:
    return kind()


def test_a_run_counts_them_as_invalid_with_the_reason(tmp_path: Path) -> None:
    names = [kind.__name__.lower() for kind in FAULTY]
    path = tmp_path / "grammar.lark"
    choice = " | ".join([*names, "gaussian_nb"])
    path.write_text(
        f"%import components (gaussian_nb, {', '.join(names)})\nstart: one\none: {choice}\n"
    )
    config = RunConfig(
        grammar=path,
        executor="inline",
        scoring="roc_auc",
        cv=2,
        max_evaluations=len(names) + 1,
        starts=tuple(f"{name}()" for name in [*names, "gaussian_nb"]),
        extra_plugins={"ours": Provider()},
    )
    labels = np.array(["no", "yes"])[np.roll(NUMBERS, 1) | NUMBERS]
    outcome = run_pipelines(prepare(config, X, labels))
    found = {one.text: one for one in outcome.result.evaluations}
    for name, said in zip(names, FAULTY.values(), strict=True):
        assert found[f"{name}()"].status is Status.INVALID
        assert said in found[f"{name}()"].message
    assert outcome.best.text == "gaussian_nb()"


@pytest.mark.parametrize("scaled", [False, True])
def test_scikit_learns_own_are_not_asked(scaled: bool) -> None:
    rows = table("no", "yes")
    assert Remembered(fitted(rows, DummyClassifier(), scaled)).is_known
    assert not Remembered(fitted(rows, Foreign(), scaled)).is_known


def test_a_few_sparse_rows_are_predicted_in_any_form() -> None:
    from scipy import sparse

    rows = table("no", "yes")
    seen = Remembered(fitted(rows))
    assert len(seen.first_labels(sparse.coo_matrix(X), 5)) == 5
