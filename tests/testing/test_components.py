"""The contract of components passes a sound one, and finds each fault."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from automl_admm.plugin_api import ComponentPlugin, Growth, Parameter
from automl_admm.plugins.loading import load_plugins
from automl_admm.testing.component_batches import differing
from automl_admm.testing.contracts import ComponentContract
from automl_admm.testing.silence import silent_streams

SHIPPED = load_plugins().components["classification"]
OURS = [one for one in SHIPPED if SHIPPED.provider(one.name).startswith("automl-admm ")]
TRANSFORMERS = [one.name for one in OURS if one.role == "transformer"]
ESTIMATORS = [one.name for one in OURS if one.role == "estimator"]
# What is asked of a model that ships is asked of one of any size.
FEW = 20


class Shipped(ComponentContract):
    name: str

    def make(self) -> ComponentPlugin:
        return SHIPPED.get(self.name)

    def steps(self, values: Mapping[str, Any], *, raw: bool = False) -> list[Any]:
        return super().steps({**self._small(), **values}, raw=raw)

    def settings(self) -> Iterator[Mapping[str, Any]]:
        return ({**values, **self._small()} for values in super().settings())

    def _small(self) -> Mapping[str, Any]:
        name = self.make().fidelity
        return {name: FEW} if name else {}


class Sound(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A tree."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.tree_ = DecisionTreeClassifier(max_depth=3, random_state=0)
        self.tree_.fit(X, y, sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.tree_.predict_proba(X)

    def predict(self, X: Any) -> Any:
        return self.tree_.predict(X)


class Halved(Sound):
    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X) / 2


class Beyond(Sound):
    """Stretches probabilities around their mean: beyond 0 and 1, they add up to 1."""

    def predict_proba(self, X: Any) -> Any:
        mean = 1 / len(self.classes_)
        return mean + 2 * (super().predict_proba(X) - mean)


class OneByOne(Sound):
    """Tells each class from all others: of two classes alone they add up to 1."""

    def predict_proba(self, X: Any) -> Any:
        found = super().predict_proba(X)
        return found if len(self.classes_) == 2 else (1 + found) / 2


class Texting(Sound):
    def predict(self, X: Any) -> Any:
        return super().predict(X).astype(str)


class Careless(Sound):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(X, y)


class Moody(Sound):
    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X) + np.random.default_rng().normal()


class Turned(Sound):
    """Names its classes in another order, its columns with them."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        super().fit(X, y, sample_weight)
        self.classes_ = self.tree_.classes_[::-1]
        return self

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X)[:, ::-1]


class Contrary(Sound):
    """Decides against its own probabilities."""

    def predict(self, X: Any) -> Any:
        return self.classes_[super().predict_proba(X).argmin(axis=1)]


class Talkative(Sound):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        print("fitting")  # noqa: T201
        return super().fit(X, y, sample_weight)


class Picky(Sound):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if np.unique(y, return_counts=True)[1].min() < 2:
            raise ValueError("a class has one row")
        return super().fit(X, y, sample_weight)


class Doubling(Sound):
    """Doubles what it is given in place before it predicts."""

    def predict_proba(self, X: Any) -> Any:
        if hasattr(X, "iloc"):
            X.iloc[:, :] = X.to_numpy() * 2
        return super().predict_proba(X)


class DoublingArrays(Sound):
    """Doubles an array in place before it fits."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if isinstance(X, np.ndarray):
            X *= 2
        return super().fit(X, y, sample_weight)


def contract_of(kind: type) -> ComponentContract:
    """The contract of a component that builds this class."""

    class Contract(ComponentContract):
        draws = 1

        def make(self) -> ComponentPlugin:
            return ComponentPlugin(
                name="mine",
                summary="a tree",
                role="estimator",
                tasks=("classification",),
                factory=lambda values, context: kind(),
            )

    return Contract()


PROMISES: list[tuple[type, Callable[[ComponentContract], None]]] = [
    (Texting, ComponentContract.test_labels_of_any_type_come_back),
    (Careless, ComponentContract.test_weights_count),
    (Moody, ComponentContract.test_the_same_seed_gives_the_same_model),
    (Picky, ComponentContract.test_a_class_of_one_row_is_no_obstacle),
    (Turned, ComponentContract.test_classes_are_sorted_and_decisions_follow_the_scores),
    (Contrary, ComponentContract.test_classes_are_sorted_and_decisions_follow_the_scores),
]


@pytest.mark.parametrize(("kind", "promise"), PROMISES)
def test_a_fault_is_found_and_a_sound_one_passes(kind: type, promise: Any) -> None:
    promise(contract_of(Sound))
    with pytest.raises((AssertionError, ValueError)):
        promise(contract_of(kind))


@pytest.mark.parametrize(
    ("kind", "says"),
    [(Doubling, "predict_proba changed a frame"), (DoublingArrays, "fit changed an array")],
)
def test_one_that_changes_its_rows_is_found(kind: type, says: str) -> None:
    contract_of(Sound).test_rows_stay_as_they_are()
    with pytest.raises(AssertionError, match=says):
        contract_of(kind).test_rows_stay_as_they_are()


class Scores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Scores without probabilities, of the first column."""

    def __init__(self, turned: bool = False) -> None:
        self.turned = turned

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        first = np.nan_to_num(np.asarray(X)[:, 0])
        if len(self.classes_) == 2:
            return first
        return first[:, None] * np.arange(len(self.classes_))

    def predict(self, X: Any) -> Any:
        scores = self.decision_function(X)
        places = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[::-1][places] if self.turned else self.classes_[places]


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Halved, "do not add up to 1 in every row, of 2 classes"),
        (Beyond, "are not all between 0 and 1, of 2 classes"),
        (OneByOne, "do not add up to 1 in every row, of 3 classes"),
    ],
)
def test_probabilities_that_every_run_refuses_are_found(kind: type, says: str) -> None:
    contract_of(Sound).test_its_probabilities_are_taken_by_a_run()
    with pytest.raises(
        AssertionError, match=f"a run refuses its answers: the probabilities {says}"
    ):
        contract_of(kind).test_its_probabilities_are_taken_by_a_run()
    if kind is not OneByOne:
        with pytest.raises(AssertionError, match=r"a run refuses its answers: .*, with \{"):
            contract_of(kind).test_every_setting_fits()


def test_a_component_without_parameters_has_its_defaults_alone() -> None:
    assert list(contract_of(Sound).settings()) == [{}]
    assert len(list(sized(lambda values: 4).settings())) > 1


def test_scores_without_probabilities_are_not_asked_for_them() -> None:
    contract_of(Scores).test_every_setting_fits()
    with pytest.raises(SkipTest, match="it has no probabilities"):
        contract_of(Scores).test_its_probabilities_are_taken_by_a_run()


def test_decisions_by_scores_follow_their_sign() -> None:
    promise = ComponentContract.test_classes_are_sorted_and_decisions_follow_the_scores
    promise(contract_of(Scores))
    with pytest.raises(AssertionError, match="predict differs from the scores"):
        promise(contract_of(lambda: Scores(turned=True)))  # type: ignore[arg-type] # a factory will do


class Drawing(TransformerMixin, BaseEstimator):
    """Scales columns by a draw without a seed, which a tree behind it does not mind."""

    def fit(self, X: Any, y: Any = None) -> Any:
        self.scale_ = np.random.default_rng().uniform(1.0, 2.0)
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X) * self.scale_


def test_a_transformer_that_draws_is_found_behind_a_model_that_does_not_mind() -> None:
    class Contract(ComponentContract):
        draws = 1

        def make(self) -> ComponentPlugin:
            return ComponentPlugin(
                name="mine", summary="s", role="transformer", factory=lambda v, c: Drawing()
            )

    with pytest.raises(AssertionError, match="two fits transform differently"):
        Contract().test_the_same_seed_gives_the_same_model()


class Stateless(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Doubles columns, and keeps nothing of a fit: scikit-learn calls it not fitted."""

    def fit(self, X: Any, y: Any = None) -> Any:
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X) * 2


def test_a_transformer_without_a_state_gives_the_same_model() -> None:
    class Contract(ComponentContract):
        draws = 1

        def make(self) -> ComponentPlugin:
            return ComponentPlugin(
                name="mine", summary="s", role="transformer", factory=lambda v, c: Stateless()
            )

    Contract().test_the_same_seed_gives_the_same_model()


def test_prints_are_found() -> None:
    contract_of(Sound).test_it_is_silent()
    with pytest.raises(AssertionError, match="it printed 'fitting"):
        contract_of(Talkative).test_it_is_silent()


def test_prints_of_native_code_are_found() -> None:
    with pytest.raises(AssertionError, match="it printed b'native'"), silent_streams():
        os.write(1, b"native")


def test_types_that_nobody_trusts_are_found() -> None:
    with pytest.raises(AssertionError, match="trusted_types lack"):
        contract_of(Sound).test_a_saved_model_predicts_the_same_elsewhere()


class Repeated(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Loses a row, and names one column too many."""

    def __init__(self, drops: bool = False) -> None:
        self.drops = drops

    def fit(self, X: Any, y: Any = None) -> Any:
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X)[1:] if self.drops else np.asarray(X)

    def get_feature_names_out(self, names: Any = None) -> Any:
        return np.array([*names, "more"], dtype=object)


class Reshaped(ComponentContract):
    def make(self) -> ComponentPlugin:
        return ComponentPlugin(
            name="mine",
            summary="a repetition",
            role="transformer",
            tasks=("classification",),
            factory=lambda values, context: Repeated(),
        )


def test_a_wrong_number_of_names_is_found() -> None:
    with pytest.raises(AssertionError, match=r"names of \d+ columns"):
        Reshaped().test_rows_and_columns_are_kept_count_of()


class Uncopied(Sound):
    """Changes what it was given: `clone` refuses it, or its copy is another one."""

    def __init__(self, random_state: Any = None, names: Any = ()) -> None:
        self.random_state = random_state
        self.names = list(names)


def test_one_that_cannot_be_cloned_is_found() -> None:
    with pytest.raises(RuntimeError, match="Cannot clone"):
        contract_of(Uncopied).test_a_copy_fits_the_same()


def sized(max_depth_of: Callable[[Any], int]) -> ComponentContract:
    """The contract of a tree that declares its depth as its fidelity."""

    class Contract(ComponentContract):
        def make(self) -> ComponentPlugin:
            return ComponentPlugin(
                name="mine",
                summary="a tree",
                role="estimator",
                tasks=("classification",),
                factory=lambda values, context: DecisionTreeClassifier(
                    max_depth=max_depth_of(values)
                ),
                parameters=(Parameter("max_depth", 2, 9, kind="int"),),
                fidelity="max_depth",
            )

    return Contract()


def test_a_fidelity_that_changes_nothing_is_found() -> None:
    sized(lambda values: values.get("max_depth", 4)).test_its_fidelity_counts()
    with pytest.raises(AssertionError, match="'max_depth' changes nothing"):
        sized(lambda values: 4).test_its_fidelity_counts()
    with pytest.raises(SkipTest, match="it declares no fidelity"):
        contract_of(Sound).test_its_fidelity_counts()


class Grown(RandomForestClassifier):  # type: ignore[misc]
    """Draws the trees that it adds by another seed."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        own = self.random_state
        self.random_state = 99 if self.warm_start else own
        found = super().fit(X, y, sample_weight)
        self.random_state = own
        return found


@pytest.mark.parametrize(
    ("kind", "growth", "fault"),
    [
        (RandomForestClassifier, Growth(), None),
        (Grown, Growth(), "grown from 1 to 2 it is another model"),
        (RandomForestClassifier, Growth(has_stopped=lambda model: True), "it is another model"),
        (RandomForestClassifier, Growth(may_grow=lambda model: False), "no fit of it goes on"),
        (AdaBoostClassifier, Growth(), "needs the parameters 'n_estimators' and 'warm_start'"),
    ],
    ids=["sound", "other trees", "never stopped", "never grows", "cannot"],
)
def test_a_false_growth_is_found(kind: Any, growth: Growth, fault: str | None) -> None:
    class Contract(ComponentContract):
        draws = 0

        def make(self) -> ComponentPlugin:
            return ComponentPlugin(
                name="mine",
                summary="trees",
                role="estimator",
                tasks=("classification",),
                factory=lambda values, context: kind(n_estimators=values["n_estimators"]),
                parameters=(Parameter("n_estimators", 2, 20, kind="int"),),
                fidelity="n_estimators",
                growth=growth,
            )

    promise = Contract().test_it_grows_to_the_model_of_a_fit_from_the_start
    if fault is None:
        promise()
        return
    with pytest.raises(AssertionError, match=fault):
        promise()
    with pytest.raises(SkipTest, match="it declares no growth"):
        contract_of(Sound).test_it_grows_to_the_model_of_a_fit_from_the_start()


GUARDED = Growth(
    may_grow=lambda model: model.n_iter_no_change is None,
    has_stopped=lambda model: model.n_estimators_ < model.n_estimators,
)


@pytest.mark.parametrize("growth", [GUARDED, Growth()], ids=["guarded", "always"])
def test_a_fit_that_stops_early_and_goes_on_all_the_same_is_found(growth: Growth) -> None:
    class Contract(ComponentContract):
        draws = 0

        def make(self) -> ComponentPlugin:
            return ComponentPlugin(
                name="mine",
                summary="boosted trees",
                role="estimator",
                tasks=("classification",),
                factory=lambda values, context: GradientBoostingClassifier(**values),
                parameters=(
                    Parameter("n_estimators", 10, 60, kind="int"),
                    Parameter("n_iter_no_change", 3, 10, kind="int"),
                ),
                fidelity="n_estimators",
                growth=growth,
            )

    promise = Contract().test_it_grows_to_the_model_of_a_fit_from_the_start
    if growth is GUARDED:
        promise()
        return
    with pytest.raises(AssertionError, match="to 60 it is another model"):
        promise()


@pytest.mark.filterwarnings("ignore")  # libraries say that a small table is small
@pytest.mark.parametrize("name", ESTIMATORS)
def test_builtin_classifiers_are_true_to_labels_probabilities_and_rows(name: str) -> None:
    contract = Shipped()
    contract.name = name
    contract.test_classes_are_sorted_and_decisions_follow_the_scores()
    with suppress(SkipTest):
        contract.test_its_probabilities_are_taken_by_a_run()
    contract.test_rows_stay_as_they_are()
    contract.test_each_row_has_an_answer_of_its_own()


@pytest.mark.filterwarnings("ignore")  # libraries say that a small table is small
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_builtin_transformers_keep_rows_and_are_true_to_their_tags(name: str) -> None:
    contract = Shipped()
    contract.name = name
    contract.test_rows_and_columns_are_kept_count_of()
    # Products of words are 400,000 columns at the largest degree, and nothing is drawn for them.
    if name != "polynomial_features":
        contract.test_the_same_seed_gives_the_same_model()
        # Behind columns that add up to one another it makes large columns of their rounding.
        if name != "fast_ica":
            contract.test_each_row_has_an_answer_of_its_own()
    contract.test_rows_stay_as_they_are()
    for promise in (
        contract.test_gaps_are_taken_where_it_says_so,
        contract.test_sparse_input_is_taken_where_it_says_so,
    ):
        with suppress(SkipTest):
            promise()


class OfBatches(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Makes of rows what its name says, and keeps something of each batch."""

    def __init__(self, way: str = "sound") -> None:
        self.way = way

    def fit(self, X: Any, y: Any = None) -> Any:
        self.asked_, self.mean_ = 0, np.mean(np.asarray(X), axis=0)
        return self

    def transform(self, X: Any) -> Any:
        X = np.asarray(X, dtype=float)
        self.asked_ += 1
        if self.way == "mean of the batch":
            return X - X.mean(axis=0)
        if self.way == "ranks":
            return X.argsort(axis=0).argsort(axis=0) / len(X)
        if self.way == "neighbour":
            return X + 0.001 * np.roll(X, 1, axis=0)
        if self.way == "counts":
            return X * (1 + 0.01 * self.asked_)
        before, self.mean_ = self.mean_, X.mean(axis=0) if self.way == "keeps" else self.mean_
        return X - before


class Relative(Sound):
    """Answers by the batch: its largest score is 1."""

    def predict_proba(self, X: Any) -> Any:
        ones = super().predict_proba(X)[:, 1]
        ones = ones / max(ones.max(), 1e-9)
        return np.column_stack([1 - ones, ones])


def transforming(way: str) -> ComponentContract:
    class Contract(ComponentContract):
        draws = 1

        def make(self) -> ComponentPlugin:
            return ComponentPlugin(
                name="mine", summary="s", role="transformer", factory=lambda v, c: OfBatches(way)
            )

    return Contract()


def test_a_transformer_that_answers_each_row_alike_passes() -> None:
    transforming("sound").test_each_row_has_an_answer_of_its_own()


@pytest.mark.parametrize("way", ["mean of the batch", "ranks", "neighbour", "counts", "keeps"])
def test_a_transformer_that_answers_by_the_batch_is_found(way: str) -> None:
    with pytest.raises(AssertionError, match="rows have other answers, with"):
        transforming(way).test_each_row_has_an_answer_of_its_own()


def test_an_estimator_that_answers_by_the_batch_is_found() -> None:
    contract_of(Sound).test_each_row_has_an_answer_of_its_own()
    with pytest.raises(AssertionError, match=r"alone, row \d+: 1 of 1 rows have other answers"):
        contract_of(Relative).test_each_row_has_an_answer_of_its_own()


def test_a_text_that_becomes_another_one_is_found() -> None:
    one = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None]})
    assert differing(one, one.copy()) == 0
    assert differing(one, one.assign(b=["x", "y"])) == 1
    assert differing(one, one.assign(a=[1.1, 2.0])) == 2


def test_weights_that_change_nothing_are_told() -> None:
    with pytest.raises(AssertionError, match="change nothing of its scores"):
        contract_of(Careless).test_weights_count()
