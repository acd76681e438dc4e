"""The promises of a component to scikit-learn: copies, pickles, shapes, and its tags."""

from __future__ import annotations

import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar
from unittest import SkipTest

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from automl_admm.core.space import Choice, Parameter, Value
from automl_admm.core.structure.pipeline_space import Step
from automl_admm.pipelines.build import build_pipeline, fit_pipeline, predict_scores
from automl_admm.pipelines.growing import GrowingFit
from automl_admm.pipelines.kept_fits import KeptFits
from automl_admm.plugins.records import BuildContext, ComponentPlugin
from automl_admm.plugins.registry import Registry
from automl_admm.testing.subjects import installed

# More columns than any component of ours makes new ones by default.
ROWS, COLUMNS = 120, 60
SEED = 5
# The size to which fits grow on noise: larger ones take long, and stop no earlier.
GROWN = 60
ANSWERS = ("transform", "predict", "predict_proba", "decision_function")
Values = Mapping[str, Value]


def drawn_settings(parameters: Sequence[Parameter | Choice], draws: int) -> Iterator[Values]:
    """Yield the defaults, the ends of all ranges, and settings drawn at random."""
    rng = np.random.default_rng(1)
    yield {}
    if not parameters:  # all the others would be the defaults again
        return
    drawn = [rng.random(len(parameters)) for _ in range(draws)]
    for units in [np.zeros(len(parameters)), np.ones(len(parameters)), *drawn]:
        pairs = zip(parameters, units, strict=True)
        yield {one.name: _value_at(one, float(u)) for one, u in pairs if one.when is None}


def _value_at(one: Parameter | Choice, unit: float) -> Value:
    if isinstance(one, Choice):
        count = len(one.alternatives)
        return one.value(one.alternatives[min(int(unit * count), count - 1)])
    return one.value(unit)


class TriedComponent:
    """A component in the shortest pipelines with it."""

    takes_raw: ClassVar[bool] = False
    draws: ClassVar[int] = 3

    def make(self) -> ComponentPlugin:
        """Return the record."""
        raise NotImplementedError

    @property
    def registry(self) -> Registry[ComponentPlugin]:
        """The installed components of the task, and this one."""
        record = self.make()
        found = installed().components[record.tasks[0]].without({record.name})
        found.add(record, "the contract")
        return found

    def steps(self, values: Values, *, raw: bool = False) -> list[Step]:
        """Return the shortest pipeline with the component."""
        record = self.make()
        before = [] if raw or record.needs else [Step("impute")]
        after = [] if record.role == "estimator" else [Step("decision_tree")]
        return [*before, Step(record.name, tuple(values.items())), *after]

    def table(self, *, labels: Any = ("no", "yes")) -> tuple[pd.DataFrame, Any]:
        """Return a table with gaps, categories and text, and its target."""
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(ROWS, 2)), columns=["a", "b"])
        X["c"] = rng.choice(["x", "y", "z"], ROWS)
        X["d"] = rng.choice(["one word", "another word", "no more"], ROWS)
        signal = X["a"] + (X["c"] == "x")
        X.loc[rng.random(ROWS) < 0.2, "a"] = np.nan
        X.loc[rng.random(ROWS) < 0.2, "c"] = None
        if self.make().tasks[0] == "regression":
            return X, signal.to_numpy()
        return X, np.asarray(labels)[(signal > 0.5).to_numpy().astype(int)]

    def fitted(
        self,
        X: Any,
        y: Any,
        values: Values,
        weights: Any = None,
        *,
        raw: bool = False,
        growing: GrowingFit | None = None,
    ) -> Any:
        """Fit the shortest pipeline with the component."""
        steps = self.steps(values, raw=raw)
        pipeline = self.built(y, values, raw=raw)
        return fit_pipeline(pipeline, steps, self.registry, X, y, weights, growing=growing)

    def built(self, y: Any, values: Values, *, raw: bool = False) -> Any:
        """Build the shortest pipeline with the component, for a target."""
        task = self.make().tasks[0]
        classes = len(np.unique(y)) if task == "classification" else 0
        context = BuildContext(task, ("a", "b"), ("c",), ("d",), levels=(4,), classes=classes)
        return build_pipeline(self.steps(values, raw=raw), self.registry, context, SEED)

    def settings(self) -> Iterator[Values]:
        """Yield the settings that it is fitted with."""
        yield from drawn_settings(self.make().parameters, self.draws)


class FormPromises(TriedComponent):
    """The promises of a component as an object of scikit-learn."""

    def _itself(self, y: Any, values: Values | None = None) -> Any:
        """Return the component, unfitted, as the factory built it."""
        place = -1 if self.make().role == "estimator" else -2
        return clone(self.built(y, values or {}).steps[place][1])

    def test_a_copy_fits_the_same(self) -> None:
        """Survive `clone`, as a cross-validation makes it: the copy fits the same model."""
        X, y = self.table()
        pipeline = self.built(y, {})
        copy = clone(pipeline)
        assert str(copy.get_params()) == str(pipeline.get_params())
        assert np.array_equal(_fitted_scores(copy, X, y), _fitted_scores(pipeline, X, y))

    def test_a_fitted_one_can_be_pickled(self) -> None:
        """Predict bit by bit the same after a round trip through pickle."""
        X, y = self.table()
        model = self.fitted(X, y, {})
        again = pickle.loads(pickle.dumps(model))  # noqa: S301 - made a moment ago
        assert np.array_equal(predict_scores(again, X), predict_scores(model, X))

    def test_rows_and_columns_are_kept_count_of(self) -> None:
        """Give a row for each row, and name as many columns as there are."""
        if self.make().role == "estimator":
            raise SkipTest("it is no transformer")
        X, y = self.table()
        model = self.fitted(X, y, {})
        found = model[:-1].transform(X)
        assert found.shape[0] == len(X), f"{len(X)} rows became {found.shape[0]}"
        transformer = model.steps[-2][1]
        count = getattr(transformer, "n_features_in_", None)
        if count is not None and hasattr(transformer, "get_feature_names_out"):
            given = np.array([f"x{place}" for place in range(count)], dtype=object)
            # A step before it may have given it names already.
            given = getattr(transformer, "feature_names_in_", given)
            try:
                names = transformer.get_feature_names_out(given)
            except AttributeError:
                # A step inside has no names to give, such as one that hashes words.
                return
            assert len(names) == found.shape[1], f"{len(names)} names of {found.shape[1]} columns"

    def test_rows_stay_as_they_are(self) -> None:
        """Change nothing of the rows that it is given, in a frame or in an array."""
        X, y = self.table()
        if self.make().needs:
            _demand_unchanged(X, lambda rows: self.fitted(rows, y, {}).steps[0][1])
            return
        for rows in (pd.DataFrame(_numbers()).add_prefix("x"), _numbers()):
            _demand_unchanged(rows, lambda given: _fitted_alone(self._itself(y), given, y))

    def test_its_fidelity_counts(self) -> None:
        """Be smaller, and still fit, at a share of the size that its record declares."""
        name = self.make().fidelity
        if not name:
            raise SkipTest("it declares no fidelity")
        X, y = self.table()
        whole, few = ({name: size} for size in self._sizes(name))
        assert str(self._itself(y, few).get_params()) != str(self._itself(y, whole).get_params()), (
            f"its '{name}' changes nothing: the factory must hand it on"
        )
        assert np.isfinite(predict_scores(self.fitted(X, y, few), X)).all()

    def _sizes(self, name: str) -> tuple[int, int]:
        """Return the largest size that is searched, and the least that a solver may ask for."""
        size = next(one for one in self.make().parameters if one.name == name)
        assert isinstance(size, Parameter)  # as its record has checked
        if size.when is not None:
            raise SkipTest("its size depends on another parameter")
        return int(size.high), 1

    def test_it_grows_to_the_model_of_a_fit_from_the_start(self) -> None:
        """Predict bit by bit the same, grown from a smaller fit, or kept where that one stopped."""
        record = self.make()
        if record.growth is None:
            raise SkipTest("it declares no growth")
        most, _ = self._sizes(record.fidelity)
        few, top = max(most // 50, 1), min(most, GROWN)
        climbs = (
            (self.table(), [few], max(most // 12, few + 1)),
            (self._noisy(), _starts(top), top),
        )
        grown = [self._grows(values, *climb) for values in self.settings() for climb in climbs]
        assert any(grown), (
            f"no fit of it goes on: it needs the parameters '{record.fidelity}' and 'warm_start', "
            "and a growth with may_grow true for some settings"
        )

    def _noisy(self) -> tuple[Any, Any]:
        """Return the table with targets that hang on nothing in a third of the rows.

        On noise a loss soon falls no more: an early stop shows before the largest size is reached.
        """
        X, y = self.table()
        rng, y = np.random.default_rng(2), np.array(y)
        places = rng.permutation(len(y))[: len(y) // 3]
        y[places] = y[rng.permutation(places)]
        return X, y

    def _grows(
        self, values: Values, table: tuple[Any, Any], sizes: Sequence[int], top: int
    ) -> bool:
        """Compare fits grown from each size with one from the start; False if none can grow."""
        if not sizes:
            return False
        larger, has_grown = {**values, self.make().fidelity: top}, False
        again = predict_scores(self.fitted(*table, larger), table[0])
        for few in sizes:
            found, fit = self._grown(values, table, few, larger)
            has_grown |= fit.grown
            assert np.array_equal(found, again), (
                f"grown from {few} to {top} it is another model: {dict(values)}"
            )
        return has_grown

    def _grown(
        self, values: Values, table: tuple[Any, Any], few: int, larger: Values
    ) -> tuple[Any, GrowingFit]:
        """Return the predictions of a fit that goes on from a smaller one, and how it went."""
        (X, y), record = table, self.make()
        assert record.growth is not None
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "kept")
            place.mkdir()
            kept = KeptFits(place, sys.maxsize)
            low, high = (
                GrowingFit(record.growth, record.fidelity, kept, Path(folder), keeps=keeps)
                for keeps in (True, False)
            )
            self.fitted(X, y, {**values, record.fidelity: few}, growing=low)
            return predict_scores(self.fitted(X, y, larger, growing=high), X), high

    def test_gaps_are_taken_where_it_says_so(self) -> None:
        """Fit numbers with gaps if its tags of scikit-learn say `allow_nan`."""
        y = self.table()[1][:ROWS]
        component = self._itself(y)
        if self.make().needs or not get_tags(component).input_tags.allow_nan:
            raise SkipTest("it does not say that it takes gaps")
        X = _numbers()
        X[::7, 0] = np.nan
        assert _outcome(component, X, y).shape[0] == ROWS

    def test_sparse_input_is_taken_where_it_says_so(self) -> None:
        """Fit sparse numbers if its tags say `sparse`, and give the same as for dense ones."""
        y = self.table()[1][:ROWS]
        component = self._itself(y)
        if self.make().needs or not get_tags(component).input_tags.sparse:
            raise SkipTest("it does not say that it takes sparse input")
        X = np.where(_numbers() > 0, _numbers(), 0.0)
        dense, thin = (_outcome(clone(component), one, y) for one in (X, sparse.csr_matrix(X)))
        assert thin.shape == dense.shape


def _starts(top: int) -> list[int]:
    """Return a small and a larger size to grow from."""
    return [few for few in (max(top // 10, 1), max(top // 3, 1)) if few < top]


def _fitted_scores(pipeline: Any, X: Any, y: Any) -> Any:
    return predict_scores(pipeline.fit(X, y), X)


def _fitted_alone(component: Any, X: Any, y: Any) -> Any:
    """Fit a component as a pipeline fits it, and return it."""
    if hasattr(component, "transform"):
        component.fit_transform(X, y)
        return component
    return component.fit(X, y)


def _demand_unchanged(rows: Any, fit: Callable[[Any], Any]) -> None:
    """Give copies of the rows to a fit, and to all that the fitted component answers."""
    form, before = "a frame" if hasattr(rows, "iloc") else "an array", pd.DataFrame(rows)
    component = fit(given := rows.copy())
    assert before.equals(pd.DataFrame(given)), f"fit changed {form} that it was given"
    for method in ANSWERS:
        if hasattr(component, method):
            getattr(component, method)(given := rows.copy())
            assert before.equals(pd.DataFrame(given)), f"{method} changed {form} that it was given"


def _numbers() -> Any:
    return np.random.default_rng(3).normal(size=(ROWS, COLUMNS))


def _outcome(component: Any, X: Any, y: Any) -> Any:
    """Fit a component alone and return its predictions, or the rows it makes."""
    component.fit(X, y)
    if hasattr(component, "transform"):
        return component.transform(X)
    return component.predict(X)
