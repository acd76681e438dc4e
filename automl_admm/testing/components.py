"""The promises of a component, an estimator or a transformer, in pipelines of its own."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
from sklearn.utils.validation import has_fit_parameter

from automl_admm.execution.skops_import import import_skops, save_pipeline
from automl_admm.pipelines.as_code import code_of
from automl_admm.pipelines.build import predict_scores
from automl_admm.runs.finish.model_file import trusted_types
from automl_admm.testing.component_batches import BatchPromises, cells, transformed
from automl_admm.testing.silence import silence, silent_streams
from automl_admm.testing.subjects import installed

# Scores of two classes that differ by less may be told apart by rounding alone.
TIE = 1e-6
NEW = pd.DataFrame({"a": [np.nan, 1.0], "b": [0.0, 9.0], "c": [None, "new"], "d": ["", "new word"]})
PREDICT = """
import hashlib, json, sys
import numpy as np, pandas as pd, skops.io
from automl_admm.pipelines.build import predict_scores
model = skops.io.load(sys.argv[1], trusted=json.loads(sys.argv[3]))
found = np.ascontiguousarray(predict_scores(model, pd.read_pickle(sys.argv[2])))
print(hashlib.sha256(found.tobytes()).hexdigest())
"""


class ComponentContract(BatchPromises):
    """The promises of a component: subclass it, and return your record in `make`.

    It must be installed, or registered, under its name. With `takes_raw` it also stands alone on a
    table with gaps, categories and text. `draws` is the number of random settings that it is fitted
    with, beside the defaults and the ends of all ranges.
    """

    def test_every_setting_fits(self) -> None:
        """Fit the ends of all ranges, and random settings; predictions are finite."""
        X, y = self.table()
        for values in self.settings():
            self.demand_taken(self.fitted(X, y, values), X, y, f"with {dict(values)}")

    def test_its_probabilities_are_taken_by_a_run(self) -> None:
        """Give probabilities from 0 to 1 that add up to 1 in each row, of two classes and more."""
        self._skip_quantities()
        X, y = self.table()
        for target in (y, np.where(X["b"] > 0.5, "perhaps", y)):
            model = self.fitted(X, target, {})
            if not hasattr(model, "predict_proba"):
                raise SkipTest("it has no probabilities")
            self.demand_taken(model, X, target, f"of {len(set(target))} classes")

    def test_labels_of_any_type_come_back(self) -> None:
        """Give back labels as they came: text, numbers and truth values."""
        self._skip_quantities()
        for labels in (("no", "yes"), (7, 3), (1.0, 2.0), (False, True)):
            X, y = self.table(labels=labels)
            found = self.fitted(X, y, {}).predict(X)
            assert set(found) <= set(y)
            assert np.asarray(found).dtype == y.dtype

    def test_classes_are_sorted_and_decisions_follow_the_scores(self) -> None:
        """Name the labels in sorted order; predict the class of the largest score, ties aside."""
        self._skip_quantities()
        X, y = self.table(labels=(7, 3))
        for target in (y, np.where(X["b"] > 0.5, 5, y)):
            model = self.fitted(X, target, {})
            assert list(model.classes_) == sorted(set(target)), f"classes_ are {model.classes_}"
            places, is_sure = _decided(model, X)
            differing = is_sure & (model.classes_[places] != model.predict(X))
            assert not differing.any(), f"predict differs from the scores in {differing.sum()} rows"

    def test_a_class_of_one_row_is_no_obstacle(self) -> None:
        """Fit a target with a class of a single row."""
        self._skip_quantities()
        X, y = self.table(labels=("a", "b"))
        y = np.where(np.arange(len(y)) == 0, "c", y)
        assert set(self.fitted(X, y, {}).classes_) == {"a", "b", "c"}

    def _skip_quantities(self) -> None:
        if self.make().tasks[0] == "regression":
            raise SkipTest("it predicts a quantity")

    def test_weights_count(self) -> None:
        """Fit other models for other weights, and the same one for weights that are all 1."""
        X, y = self.table()
        if not has_fit_parameter(self.fitted(X, y, {}).steps[-1][1], "sample_weight"):
            raise SkipTest("it takes no weights of rows")
        plain = predict_scores(self.fitted(X, y, {}), X)
        equal = predict_scores(self.fitted(X, y, {}, np.ones(len(y))), X)
        np.testing.assert_allclose(equal, plain, rtol=1e-5)
        uneven = np.where(X["b"] > 0, 10.0, 0.1)
        weighed = predict_scores(self.fitted(X, y, {}, uneven), X)
        assert not np.allclose(weighed, plain), (
            "weights of 10 and 0.1 change nothing of its scores: "
            "`fit` takes `sample_weight`, and must heed it"
        )

    def test_a_raw_table_is_taken(self) -> None:
        """Fit gaps, categories and text; predict new levels and empty texts."""
        if not self.takes_raw:
            raise SkipTest("it stands behind another component")
        X, y = self.table()
        model = self.fitted(X, y, {}, raw=True)
        assert np.isfinite(predict_scores(model, NEW)).all()

    def test_the_same_seed_gives_the_same_model(self) -> None:
        """Fit again bit by bit the same, with settings drawn at random."""
        X, y = self.table()
        values = list(self.settings())[-1]
        first, again = (self.fitted(X, y, values) for _ in range(2))
        # A model behind a transformer may not mind what it draws: a tree takes any scale.
        if self.make().role != "estimator":
            made, anew = (cells(transformed(model, X)) for model in (first, again))
            assert made.equals(anew), f"two fits transform differently, with {dict(values)}"
        scores = [predict_scores(model, X) for model in (first, again)]
        assert np.array_equal(*scores), f"two fits predict differently, with {dict(values)}"

    def test_a_saved_model_predicts_the_same_elsewhere(self) -> None:
        """Predict bit by bit the same in another process, of trusted types alone."""
        with tempfile.TemporaryDirectory() as folder:
            self._compare_with_saved(Path(folder))

    def _compare_with_saved(self, folder: Path) -> None:
        X, y = self.table()
        model, rows = self.fitted(X, y, {}, raw=self.takes_raw), folder / "rows.pkl"
        here = np.ascontiguousarray(predict_scores(model, X)).tobytes()
        types = save_pipeline(model, folder / "model.skops")
        trusted = trusted_types(installed()) | set(self.make().trusted_types)
        assert set(types) <= trusted, f"trusted_types lack {set(types) - trusted}"
        X.to_pickle(rows)
        command = (sys.executable, "-W", "error", "-c", PREDICT, folder / "model.skops", rows)
        done = subprocess.run(  # noqa: S603 - this interpreter, our own text
            [*command, json.dumps(types)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[-1] == hashlib.sha256(here).hexdigest()
        assert import_skops().load(folder / "model.skops", trusted=list(types)) is not None

    def test_its_code_builds_it_again(self) -> None:
        """Write code that builds a pipeline which fits the same model."""
        X, y = self.table()
        model = self.fitted(X, y, {})
        code = code_of(model)
        assert code.problem == ""
        names: dict[str, Any] = {}
        for full in code.imports:
            module, _, name = full.rpartition(".")
            exec(f"from {module} import {name}", names)  # noqa: S102 - as pipeline.py has it
        again = eval(code.pipeline, names).fit(X, y)  # noqa: S307 - as pipeline.py has it
        assert np.array_equal(predict_scores(again, X), predict_scores(model, X))

    def test_it_is_silent(self) -> None:
        """Print nothing, from native code either; log nothing and leave no file."""
        X, y = self.table()
        values = list(self.settings())[-1]
        with silent_streams(), silence():
            self.fitted(X, y, values).predict(X)


def _decided(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the place of the class with the largest score in each row, and where it is no tie."""
    scores = np.asarray(predict_scores(model, X))
    if not hasattr(model, "predict_proba") and not hasattr(model, "decision_function"):
        return np.searchsorted(model.classes_, scores), np.ones(len(scores), dtype=bool)
    if scores.ndim == 1:  # 0 decides between two classes
        scores = np.column_stack([np.zeros(len(scores)), scores])
    first, second = np.sort(scores, axis=1)[:, :-3:-1].T
    return scores.argmax(axis=1), first - second > TIE
