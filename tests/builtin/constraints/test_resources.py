from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
)

from automl_admm.builtin.constraints import resources
from automl_admm.builtin.constraints.columns_used import columns
from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import constraint_of
from automl_admm.core.evidence import Fact, Timing
from automl_admm.execution.skops_import import save_pipeline
from automl_admm.pipelines.ensembles.all_classes import AllClasses
from automl_admm.pipelines.ensembles.voting import vote
from automl_admm.pipelines.predictions.wrappers import Numbered
from automl_admm.pipelines.thresholds.weighted_classifier import WeightedClassifier
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.registry import Registry

ROWS = 60


def evaluated(pipeline: Any, X: Any, y: Any) -> EvaluatedPipeline:
    return EvaluatedPipeline(pipeline, X, y, y, fit_seconds=2.0, predict_seconds=0.5, peak_mb=99.0)


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    X = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=list("abcd"))
    X["c"] += 5 * y
    X["city"] = rng.choice(["Bonn", "Kiel", "Ulm"], ROWS)
    return X, y


def to_numbers(**options: Any) -> ColumnTransformer:
    numeric = SimpleImputer(keep_empty_features=True)
    encoder = OneHotEncoder(sparse_output=False, **options)
    routes = [("n", numeric, list("abcd")), ("c", encoder, ["city"])]
    return ColumnTransformer(routes, sparse_threshold=0)


def best(count: int) -> SelectKBest:
    return SelectKBest(f_classif, k=count)


class RowScaler(StandardScaler):  # type: ignore[misc]
    """A scaler with scikit-learn's mark of one output for each input, each made of all inputs."""

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        return np.asarray(X) / np.abs(X).sum(axis=1, keepdims=True)


class RowSelector(SelectKBest):  # type: ignore[misc]
    """A selector that divides by the sum of the row before it drops columns."""

    def transform(self, X: Any) -> Any:
        return super().transform(np.asarray(X) / np.abs(X).sum(axis=1, keepdims=True))


class RowUnion(FeatureUnion):  # type: ignore[misc]
    """Branches that see the values divided by the sum of the row."""

    def transform(self, X: Any, **params: Any) -> Any:
        return super().transform(np.asarray(X) / np.abs(X).sum(axis=1, keepdims=True), **params)


def routed(*routes: tuple[Any, Any]) -> ColumnTransformer:
    named = [(str(place), step, chosen) for place, (step, chosen) in enumerate(routes)]
    return ColumnTransformer(named, sparse_threshold=0)


@pytest.mark.parametrize(
    ("steps", "count"),
    [
        ([], 5),
        ([StandardScaler()], 5),
        ([best(1)], 1),
        ([StandardScaler(), best(2)], 2),
        ([best(2), PCA(1)], 2),
        ([PCA(2)], 5),
        ([Normalizer(), best(1)], 5),
        ([PCA(2), best(1)], 5),
        ([RowScaler(), best(1)], 5),
        ([RowSelector(f_classif, k=1)], 5),
        ([MinMaxScaler(), TfidfTransformer(), best(1)], 5),
        ([MinMaxScaler(), TfidfTransformer(norm=None), best(1)], 1),
        ([FunctionTransformer(), best(1)], 1),
        ([routed(("passthrough", [False] * 4 + [True] * 3))], 1),
        ([routed(("passthrough", [np.bool_(place > 3) for place in range(7)]))], 1),
        ([routed(("passthrough", [4, 5]), ("passthrough", [-1, np.int64(2)]))], 2),
        ([routed(("passthrough", slice(4, 7)))], 5),
        ([PCA(2), routed(("passthrough", [1]))], 5),
        ([FeatureUnion([("one", best(1)), ("two", Pipeline([("s", best(1))]))])], 1),
        ([FeatureUnion([("one", best(1)), ("all", "passthrough")])], 5),
        ([FeatureUnion([("one", best(1)), ("none", "drop")])], 1),
        ([RowUnion([("one", best(1))])], 5),
    ],
)
def test_columns_are_counted_that_reach_the_model(
    steps: list[Any], count: int, rows: tuple[Any, Any]
) -> None:
    X, y = rows
    named = [(str(i), step) for i, step in enumerate([to_numbers(), *steps, LogisticRegression()])]
    pipeline = Pipeline(named).fit(X, y)
    assert columns(evaluated(pipeline, X, y)) == Fact(count)


def test_an_ensemble_needs_the_columns_of_its_members(rows: tuple[Any, Any]) -> None:
    X, y = rows
    members = {
        name: Pipeline([("e", to_numbers()), ("s", best(1)), ("m", LogisticRegression())])
        for name in ("on c", "on noise")
    }
    noise = np.where(X["a"] > 0, 1, 0)
    fitted = {name: one.fit(X, y if name == "on c" else noise) for name, one in members.items()}
    assert columns(evaluated(vote(fitted, [1, 1], [0, 1]), X, y)) == Fact(2)
    few = {**fitted, "on c": AllClasses.around(fitted["on c"], [0, 1])}
    assert columns(evaluated(vote(few, [1, 1], [0, 1]), X, y)) == Fact(2)


@pytest.mark.parametrize("decide", [FixedThresholdClassifier, WeightedClassifier])
def test_columns_are_found_in_all_that_is_around_a_pipeline(
    decide: Any, rows: tuple[Any, Any]
) -> None:
    X, y = rows
    made = Pipeline([("e", to_numbers()), ("s", best(1)), ("m", LogisticRegression())]).fit(X, y)
    late = AllClasses.around(made, [0, 1])
    for inner in (late, vote({"one": made, "late": late}, [1, 1], [0, 1])):
        model = decide(FrozenEstimator(inner)).fit(X, y)
        for seen in (model, Numbered(model, model.classes_)):
            assert columns(evaluated(seen, X, y)) == Fact(1)


def test_rare_categories_share_a_feature_of_their_column(rows: tuple[Any, Any]) -> None:
    X, y = rows
    encode = to_numbers(max_categories=2, handle_unknown="infrequent_if_exist")
    pipeline = Pipeline([("e", encode), ("s", best(3)), ("m", LogisticRegression())]).fit(X, y)
    kept = pipeline["s"].get_support()
    assert len(kept) == 6
    expected = len({min(int(place), 4) for place in np.flatnonzero(kept)})
    assert columns(evaluated(pipeline, X, y)) == Fact(expected)


@pytest.mark.parametrize("as_array", [False, True])
def test_costs(as_array: bool) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(ROWS, 3)))
    y = rng.integers(0, 2, ROWS)
    table = X.to_numpy() if as_array else X
    model = Pipeline([("m", LogisticRegression())]).fit(table, y)
    seen = evaluated(model, table, y)
    batch, single = resources.latency_us(seen), resources.latency_ms(seen)
    for timing in (batch, single):
        assert isinstance(timing, Timing)
        assert timing.value > 0
        assert 9 <= len(np.asarray(timing.values)) <= 30
        assert np.shape(resources.latency_us(replace(seen, calls=40)).values) == (40,)
    assert 0 < resources.size_mb(seen).value < 1
    assert resources.fit_seconds(seen) == 2.0
    assert resources.memory_mb(seen) == 99.0


def test_a_size_is_that_of_the_file_that_ships(rows: tuple[Any, Any], tmp_path: Path) -> None:
    table, y = rows[0][list("abcd")], rows[1]
    labels = np.array(["no", "yes"])
    model = Pipeline([("m", LogisticRegression())]).fit(table, labels[y])
    seen = evaluated(Numbered(model, labels), table, y)
    save_pipeline(model, tmp_path / "model.skops")
    size = (tmp_path / "model.skops").stat().st_size
    assert resources.size_mb(seen).value == pytest.approx(size / 1e6, rel=0.02)
    assert resources.size_mb(replace(seen, saved_bytes=123_000)) == Fact(0.123)


class Clocks:
    """A pipeline and the clocks beside it: each call takes the next of these, (clock, busy)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *seconds: tuple[float, float]) -> None:
        self.clock, self.busy, self.calls = 0.0, 0.0, 0
        self.seconds = seconds
        monkeypatch.setattr(resources.time, "perf_counter", lambda: self.clock)
        monkeypatch.setattr(resources.time, "process_time", lambda: self.busy)

    def predict(self, X: Any) -> None:
        clock, busy = self.seconds[self.calls % len(self.seconds)]
        self.clock, self.busy, self.calls = self.clock + clock, self.busy + busy, self.calls + 1

    def timing(self, calls: int = 0) -> list[float]:
        seen = evaluated(self, np.zeros((4, 1)), np.zeros(4))
        timing = resources.latency_ms(replace(seen, calls=calls))
        return list(map(float, timing.values))


def test_a_slow_pipeline_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Clocks(monkeypatch, (1.0, 1.0)).timing() == [1000.0] * 9


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        # Other work has the processor in most calls: they took no longer by themselves.
        ([(0.25, 0.25), (0.75, 0.25), (2.0, 0.25)], 250.0),
        # The pipeline waits itself, as one that asks another machine does.
        ([(0.5, 0.125), (2.5, 0.125)], 500.0),
        # Two threads: each second by the clock is two of processor time.
        ([(0.5, 1.0)], 500.0),
    ],
)
def test_other_work_on_the_machine_is_no_part_of_a_call(
    seconds: list[tuple[float, float]], expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Clocks(monkeypatch, *seconds).timing() == [expected] * 9


def test_calls_end_when_the_quantile_is_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    steady = (0.0009765625, 0.0009765625)
    assert len(Clocks(monkeypatch, steady).timing()) == 9
    # The first call warms up. Of nine more one is slow, and then no other for long.
    once = [steady] * 4 + [(0.0078125, 0.0078125)] + [steady] * 40
    assert len(Clocks(monkeypatch, *once).timing()) > 9
    ragged = [(0.001 * (1 + place % 7), 0.001 * (1 + place % 7)) for place in range(40)]
    assert len(Clocks(monkeypatch, *ragged).timing()) <= 30
    # A certificate's test counts on a number that was fixed beforehand.
    assert len(Clocks(monkeypatch, *ragged).timing(calls=70)) == 70


class Counting:
    """Counts its calls."""

    calls = 0

    def predict(self, X: Any) -> None:
        self.calls += 1


@pytest.mark.parametrize(
    ("name", "calls", "quantile"),
    [
        ("latency_ms_quantile_99", 700, 0.99),
        ("latency_us_quantile_99.9", 7000, 0.999),
        ("latency_us_quantile_50", 70, 0.5),
        ("latency_ms", 70, 0.9),
    ],
)
def test_a_proof_makes_more_calls_the_further_out_the_quantile_is(
    name: str, calls: int, quantile: float
) -> None:
    measures: Registry[Any] = Registry("constraint")
    for record in resources.latencies():
        measures.add(record, "test 1")
    model = Counting()
    seen = replace(evaluated(model, np.zeros((4, 1)), np.zeros(4)), calls=70)
    made = constraint_of(read_text(f"{name} <= 5"), measures)
    timing = made.function(seen)
    assert isinstance(timing, Timing)
    assert (timing.quantile, len(np.asarray(timing.values))) == (quantile, calls)
    assert model.calls == calls + 1
    assert made.timed_calls >= 1


@pytest.mark.parametrize("number", ["0", "100", "250"])
def test_no_such_quantile(number: str) -> None:
    record = next(one for one in resources.latencies() if one.numbered is not None)
    assert record.numbered is not None
    with pytest.raises(ValueError, match="between 0 and 100"):
        record.numbered(float(number))
