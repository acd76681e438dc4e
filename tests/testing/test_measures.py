"""The contracts of limits and metrics pass what ships, and find each fault."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest
from forked_questions import forked_questions
from scipy.stats import kendalltau
from sklearn.metrics import accuracy_score, make_scorer, mean_absolute_error

from automl_admm.builtin.constraints import serving_memory
from automl_admm.core.evidence import (
    Calibration,
    Fact,
    Largest,
    Mean,
    Quantile,
    RankCorrelation,
    Rate,
    Timing,
)
from automl_admm.core.structure.pipeline_space import Step
from automl_admm.plugin_api import ConstraintPlugin, EvaluatedPipeline, MetricPlugin
from automl_admm.plugins.loading import load_plugins
from automl_admm.testing import fresh_process
from automl_admm.testing.check import BROKEN, ask, promises_of
from automl_admm.testing.contracts import ConstraintContract, MetricContract

SHIPPED = load_plugins().constraints
ticks = count(1.0)


@pytest.fixture(scope="module", autouse=True)
def forks() -> Iterator[None]:
    """Ask a fork where a contract asks another process."""
    with forked_questions(fresh_process):
        yield


class Shipped(ConstraintContract):
    name = ""

    def make(self) -> ConstraintPlugin:
        return SHIPPED.get(self.name)


def once(serve: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """Return a function that serves the same files once, wherever they lie."""
    known: dict[bytes, Any] = {}

    def served(folder: Path) -> Any:
        content = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
        if content not in known:
            known[content] = serve(folder)
        return known[content]

    return served


def keep(contract: Any) -> None:
    """Hold a contract to all of its promises."""
    for name in promises_of(type(contract)):
        with suppress(SkipTest):
            getattr(contract, name)()


@pytest.mark.parametrize("name", [record.name for record in SHIPPED])
def test_a_limit_that_ships_keeps_every_promise(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # All promises are asked about one model: one process serves it for all of them.
    monkeypatch.setattr(serving_memory, "_served", once(serving_memory._served))
    contract = Shipped()
    contract.name = name
    if name == "coefficients":  # a tree has none
        contract.steps = (Step("impute"), Step("logistic_regression"))
    keep(contract)


def limit(function: Callable[[EvaluatedPipeline], Any], **more: Any) -> ConstraintContract:
    class Contract(ConstraintContract):
        def make(self) -> ConstraintPlugin:
            given = {"kind": "statistical", "highest": 1.0, **more}
            return ConstraintPlugin(name="mine", summary="a limit", function=function, **given)

    return Contract()


def wrong(rows: EvaluatedPipeline) -> Any:
    return rows.decisions != rows.y


def percent(rows: EvaluatedPipeline) -> float:
    return 100 * float(wrong(rows).mean())


def first_row(rows: EvaluatedPipeline) -> float:
    return float(rows.y[0])


def meddling(rows: EvaluatedPipeline) -> float:
    rows.X.iloc[0, 0] = 7.0
    rows.sensitive["more"] = 1
    return 0.5


def too_many(rows: EvaluatedPipeline) -> Rate:
    return Rate(len(rows.y) + 1, len(rows.y))


def unbounded(rows: EvaluatedPipeline) -> Mean:
    return Mean(wrong(rows) + 0.5, lowest=0.0, highest=1.0)


def dividing(rows: EvaluatedPipeline) -> float:
    return int(rows.y.sum()) / int((rows.y == 0).sum()) / 10


def row_count(rows: EvaluatedPipeline) -> Fact:
    return Fact(float(len(rows.y)))


def first_wrong(rows: EvaluatedPipeline) -> float:
    half = len(rows.y) // 2
    return float(wrong(rows)[:half].mean())


def distance(rows: EvaluatedPipeline) -> Any:
    return np.abs(rows.scores - rows.y)


def ends_of_data(rows: EvaluatedPipeline) -> Mean:
    return Mean(distance(rows), 0.0, float(distance(rows).max()))


def share_called(rows: EvaluatedPipeline) -> float:
    return float(np.mean(rows.decisions == 1))


def without_small(rows: EvaluatedPipeline, groups: Any) -> Largest:
    parts = {name: rows.part(mask) for name, mask in groups.items() if mask.sum() > 20}
    return Largest(
        {name: Rate(int(wrong(part).sum()), len(part.y)) for name, part in parts.items()}
    )


def of_all_rows(rows: EvaluatedPipeline, groups: Any) -> Largest:
    return Largest({name: Rate(int(wrong(rows).sum()), len(rows.y)) for name in groups})


def of_each(rows: EvaluatedPipeline, groups: Any) -> Largest:
    parts = {name: rows.part(mask) for name, mask in groups.items()}
    return Largest(
        {name: Rate(int(wrong(part).sum()), len(part.y)) for name, part in parts.items()}
    )


def grouping(function: Callable[[EvaluatedPipeline, Any], Any]) -> ConstraintContract:
    class Contract(ConstraintContract):
        def make(self) -> ConstraintPlugin:
            return ConstraintPlugin(
                name="mine", summary="s", grouped=function, kind="statistical", highest=1.0
            )

    return Contract()


FIRST: list[float] = []


def first_value(rows: EvaluatedPipeline) -> float:
    FIRST.append(float(wrong(rows).mean()))
    return FIRST[0]


class Keeping(ConstraintContract):
    """Keeps the value of the first rows that it is shown in a process."""

    def make(self) -> ConstraintPlugin:
        about: Any = {"name": "mine", "summary": "s", "kind": "statistical"}
        return ConstraintPlugin(function=first_value, **about)


class Never(ConstraintContract):
    """Counts what never happens."""

    def make(self) -> ConstraintPlugin:
        about: Any = {"name": "mine", "summary": "s", "kind": "statistical"}
        return ConstraintPlugin(function=never, **about)


def never(rows: EvaluatedPipeline) -> Rate:
    return Rate(0, len(rows.y))


def test_a_limit_that_keeps_its_first_value_is_found() -> None:
    Never().test_it_keeps_no_value_of_other_rows()
    first_value(Keeping().rows())
    with pytest.raises(AssertionError, match="keeps the value of the first rows"):
        Keeping().test_it_keeps_no_value_of_other_rows()


def by_number_of_rows(rows: EvaluatedPipeline) -> float:
    weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
    return float((weights * wrong(rows)).sum() / len(rows.y))


class Remembering:
    """Counts what is wrong, and keeps the answer by some of what it was shown."""

    def __init__(self, key: Callable[[EvaluatedPipeline], Any]) -> None:
        self.key = key
        self.known: dict[Any, Rate] = {}

    def __call__(self, rows: EvaluatedPipeline) -> Rate:
        found = Rate(int(wrong(rows).sum()), len(rows.y))
        return self.known.setdefault(self.key(rows), found)


@pytest.mark.parametrize(
    "key",
    [
        lambda rows: rows.y.tobytes(),
        lambda rows: (rows.y.tobytes(), rows.predictions.tobytes()),
    ],
    ids=["labels", "scores"],
)
def test_a_limit_that_keeps_the_value_of_other_answers_is_found(
    key: Callable[[EvaluatedPipeline], Any],
) -> None:
    contract = limit(Remembering(key))
    with pytest.raises(AssertionError, match="other answers for the same rows were measured"):
        contract.test_it_keeps_no_value_of_other_answers()
    limit(lambda rows: float(wrong(rows).mean())).test_it_keeps_no_value_of_other_answers()


def test_a_limit_of_scores_that_keeps_its_value_by_the_labels_is_found() -> None:
    known: dict[bytes, float] = {}
    kept = limit(
        lambda rows: known.setdefault(rows.y.tobytes(), float(distance(rows).mean())),
        uses_decisions=False,
    )
    with pytest.raises(AssertionError, match="other answers for the same rows were measured"):
        kept.test_it_keeps_no_value_of_other_answers()


@dataclass
class Prepared:
    """Counts what is wrong; prepared for some rows it may err, or forget them for the next."""

    errs: int = 0
    forgets: bool = False

    def __call__(self, rows: EvaluatedPipeline) -> Rate:
        return Rate(int(wrong(rows).sum()), len(rows.y))

    def on_rows_of(self, rows: EvaluatedPipeline) -> Callable[[EvaluatedPipeline], Rate]:
        self.last = rows.y

        def measured(other: EvaluatedPipeline) -> Rate:
            truth = self.last if self.forgets else rows.y
            return Rate(int((other.decisions != truth).sum()) // (1 + self.errs), len(truth))

        return measured


@dataclass
class PreparedWithoutWeights:
    """Weighs what is wrong, but for what is prepared."""

    def __call__(self, rows: EvaluatedPipeline) -> float:
        return float(np.average(wrong(rows), weights=rows.weights))

    def on_rows_of(self, rows: EvaluatedPipeline) -> Callable[[EvaluatedPipeline], float]:
        return lambda other: float(wrong(other).mean())


class PreparedForNoWeights(Prepared):
    """Counts what is wrong, and refuses weights."""

    def __call__(self, rows: EvaluatedPipeline) -> Rate:
        if rows.weights is not None:
            raise TypeError("it takes no weights")
        return super().__call__(rows)


class PreparedByFeatures(Prepared):
    """Counts the rows in X."""

    def on_rows_of(self, rows: EvaluatedPipeline) -> Callable[[EvaluatedPipeline], Rate]:
        count = len(rows.X)
        return lambda other: Rate(int(wrong(other).sum()), count)


@dataclass
class PreparedByScores:
    """Counts rows on the wrong side of ½, by the scores at hand when it is prepared."""

    tolerates: bool = False
    keeps_first: bool = False

    def __call__(self, rows: EvaluatedPipeline) -> Rate:
        return Rate(int((np.round(rows.scores) != rows.y).sum()), len(rows.y))

    def on_rows_of(self, rows: EvaluatedPipeline) -> Callable[[EvaluatedPipeline], Rate]:
        if self.keeps_first:
            known: list[Rate] = []
            return lambda other: known[0] if known else known.append(self(other)) or known[0]
        if self.tolerates and rows.predictions is None:
            return lambda other: Rate(0, len(other.y))
        found = self(rows)
        return lambda other: found


DIFFERS = "by `on_rows_of` for the same rows and answers"
NEEDS = "`on_rows_of` needs `X`, the model, predictions or decisions"


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (Prepared(errs=1), DIFFERS),
        (Prepared(forgets=True), DIFFERS),
        (PreparedWithoutWeights(), DIFFERS),
        (PreparedByFeatures(), NEEDS),
        (PreparedByScores(), NEEDS),
        (PreparedByScores(tolerates=True), DIFFERS),
        (PreparedByScores(keeps_first=True), DIFFERS),
    ],
    ids=["errs", "forgets", "weights", "features", "scores", "scores-if-any", "first-scores"],
)
def test_a_limit_that_differs_on_prepared_rows_is_found(function: Any, said: str) -> None:
    limit(Prepared()).test_its_function_of_the_same_rows_measures_alike()
    weighs = isinstance(function, PreparedWithoutWeights)
    with pytest.raises(AssertionError, match=said):
        limit(function, takes_weights=weighs).test_its_function_of_the_same_rows_measures_alike()


def test_a_limit_that_takes_no_weights_is_prepared_for_none() -> None:
    refusing = PreparedForNoWeights()
    limit(refusing).test_its_function_of_the_same_rows_measures_alike()
    with pytest.raises(TypeError, match="it takes no weights"):
        limit(refusing, takes_weights=True).test_its_function_of_the_same_rows_measures_alike()


def test_a_limit_that_asks_the_model_is_never_prepared() -> None:
    asking = limit(PreparedByFeatures(), asks_model=True, uses_decisions=False)
    with pytest.raises(SkipTest, match="no function of the same rows"):
        asking.test_its_function_of_the_same_rows_measures_alike()


class Counting(ConstraintContract):
    """Keeps the value by the number of rows."""

    def make(self) -> ConstraintPlugin:
        about: Any = {"name": "mine", "summary": "s", "kind": "statistical"}
        return ConstraintPlugin(function=by_number, **about)


by_number = Remembering(lambda rows: len(rows.y))


def test_a_limit_that_keeps_its_value_by_the_number_of_rows_is_found() -> None:
    with pytest.raises(AssertionError, match="keeps the value of the first rows"):
        Counting().test_it_keeps_no_value_of_other_rows()


@pytest.mark.parametrize(
    "contract",
    [
        grouping(of_each),
        limit(lambda rows: Mean(distance(rows), 0.0, 1.0), uses_decisions=False),
        limit(lambda rows: next(ticks), kind="measured", any_rows=True, highest=None),
    ],
    ids=["groups", "scores", "clock"],
)
def test_an_honest_limit_of_an_author_keeps_every_promise(contract: ConstraintContract) -> None:
    keep(contract)


FAULTS: list[tuple[ConstraintContract, str, str]] = [
    (limit(percent), "its_value_is_a_number_in_its_range", "is outside of lowest=0, highest=1"),
    (limit(lambda rows: math.nan), "its_value_is_a_number_in_its_range", "its value is nan"),
    (limit(too_many, highest=None), "its_evidence_is_consistent", "counts 61 events of 60 trials"),
    (limit(unbounded, highest=None), "its_evidence_is_consistent", "outside of 0 to 1"),
    (limit(first_row), "the_same_rows_give_the_same_value", "in another order"),
    (limit(meddling), "rows_stay_as_they_are", "it changed the X, sensitive that"),
    (limit(dividing), "rows_of_one_class_are_no_obstacle", "division by zero"),
    (limit(row_count, kind="checked", highest=None), "a_fact_is_equal_on_any_rows", "30 of the 60"),
    (
        limit(lambda rows: float(len(np.unique(rows.y))), kind="checked", highest=None),
        "a_fact_is_equal_on_any_rows",
        "2, and 1 on",
    ),
    (limit(first_wrong), "the_same_rows_give_the_same_value", "in another order"),
    (
        limit(lambda rows: Timing(np.abs(rows.scores), 0.5)),
        "its_evidence_is_consistent",
        "it returned times, and is not declared as measured",
    ),
    (
        limit(lambda rows: Quantile(distance(rows), 0.5, lowest=0.9)),
        "its_evidence_is_consistent",
        "below 0.9",
    ),
    (
        limit(lambda rows: Calibration(3 * rows.scores, rows.y), highest=None),
        "its_evidence_is_consistent",
        "outside of 0 to 1",
    ),
    (limit(ends_of_data), "ends_are_known_before_the_rows", "a Mean has the ends 0 and"),
    (
        limit(share_called, uses_decisions=False),
        "decisions_do_not_count_where_it_says_so",
        "`uses_decisions=False` is not true",
    ),
    (
        limit(lambda rows: float(np.mean(rows.pipeline.predict(rows.X) == 1))),
        "a_statistical_one_is_told_by_answers_alone",
        "it asked the model for 'predict'",
    ),
    (
        limit(lambda rows: 0.0 if rows.X is None else float(np.mean(rows.X["a"] > 0))),
        "a_statistical_one_is_told_by_answers_alone",
        "0 without `X` and the model",
    ),
    (
        limit(lambda rows: Rate(int(wrong(rows).sum()), len(rows.y)), rows_apart=True),
        "classes_are_apart_where_it_says_so",
        "`rows_apart` is not true: it counts 120 rows",
    ),
    (
        limit(lambda rows: float(wrong(rows).mean()), kind="measured", any_rows=True),
        "a_cost_of_any_rows_hangs_on_no_truth",
        "0 if all answers are right",
    ),
    (grouping(without_small), "each_group_counts", "leaves out ['f'], a group of 4 rows"),
    (grouping(of_all_rows), "each_group_counts", "counts 60 rows for 'f', which has 4"),
    (
        limit(lambda rows: float(wrong(rows).mean()), takes_weights=True),
        "weights_count_as_rows_do",
        "instead of",
    ),
    (
        limit(by_number_of_rows, takes_weights=True, highest=None),
        "weights_count_as_rows_do",
        "with weights whose mean is 2.11667",
    ),
    (
        limit(lambda rows: 0.3, kind="checked", cheap=lambda steps: 0.2),
        "what_is_known_before_training_is_what_is_measured",
        "0.2 before training",
    ),
]


@pytest.mark.parametrize(("contract", "promise", "says"), FAULTS)
def test_a_fault_of_a_limit_is_found(contract: ConstraintContract, promise: str, says: str) -> None:
    with pytest.raises((AssertionError, ValueError, ZeroDivisionError), match=re.escape(says)):
        getattr(contract, f"test_{promise}")()


@pytest.mark.parametrize("name", ["y", "decisions", "predictions", "weights"])
def test_a_limit_that_writes_to_an_array_keeps_no_promise(name: str) -> None:
    def writing(rows: EvaluatedPipeline) -> float:
        getattr(rows, name)[:] = 0
        return 0.5

    contract = limit(writing, takes_weights=True)
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        contract.test_rows_stay_as_they_are()


@pytest.mark.parametrize("kind", ["grouped", "columned"])
def test_a_limit_that_writes_to_masks_or_to_a_column_keeps_no_promise(kind: str) -> None:
    def writing(rows: EvaluatedPipeline, given: Any) -> float:
        array = given["f"] if kind == "grouped" else given
        array[:] = 0
        return 0.5

    class Contract(ConstraintContract):
        def make(self) -> ConstraintPlugin:
            about: Any = {"summary": "s", "kind": "statistical", kind: writing}
            return ConstraintPlugin(name="mine", **about)

    with pytest.raises(ValueError, match="assignment destination is read-only"):
        Contract().test_rows_stay_as_they_are()


def correlating(counted: Callable[[Any], int], filler: float | None) -> ConstraintContract:
    """Return the contract of a limit that fills missing numbers, or leaves them out."""

    def measured(rows: EvaluatedPipeline, numbers: Any) -> RankCorrelation:
        known = np.isfinite(numbers)
        some = known if filler is None else np.ones_like(known)
        filled = np.where(known, numbers, filler or 0.0)
        tau = float(kendalltau(rows.predictions[some, -1], filled[some]).statistic)
        return RankCorrelation(tau, counted(known))

    class Contract(ConstraintContract):
        def make(self) -> ConstraintPlugin:
            return ConstraintPlugin(name="mine", summary="s", columned=measured, kind="statistical")

    return Contract()


@pytest.mark.parametrize(
    ("contract", "says"),
    [
        (correlating(len, None), "it counts 60 rows in a rank correlation where 40 have"),
        (correlating(lambda known: int(known.sum()), 9.0), "beside rows without a number"),
    ],
    ids=["all are counted", "gaps are filled"],
)
def test_a_correlation_of_rows_without_a_number_is_found(
    contract: ConstraintContract, says: str
) -> None:
    with pytest.raises((AssertionError, ValueError), match=says):
        contract.test_rows_without_a_number_do_not_correlate()


def test_a_limit_that_takes_groups_away_keeps_no_promise() -> None:
    def taking(rows: EvaluatedPipeline, groups: Any) -> float:
        groups.popitem()
        return 0.5

    class Contract(ConstraintContract):
        def make(self) -> ConstraintPlugin:
            return ConstraintPlugin(name="mine", summary="s", grouped=taking, kind="statistical")

    with pytest.raises(AttributeError, match="popitem"):
        Contract().test_its_value_is_a_number_in_its_range()


def metric(factory: Callable[[], Any]) -> MetricContract:
    class Contract(MetricContract):
        def make(self) -> MetricPlugin:
            return MetricPlugin(name="mine", summary="a metric", factory=factory)

    return Contract()


def missed(y_true: Any, y_pred: Any, classes: Any) -> float:
    return -float(
        ((y_true == classes[-1]) & (y_pred != classes[-1])).sum() + (y_true != y_pred).sum()
    )


def ones_missed(y_true: Any, y_pred: Any) -> float:
    return -float(((y_true == 1) & (y_pred != 1)).sum() + ((y_true == 0) & (y_pred != 0)).sum())


def heedless(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
    return float(np.mean(y_true == y_pred))


def moving(pipeline: Any, X: Any, y: Any) -> float:
    told = pipeline.predict(X)
    X.iloc[:, 0] = 0.0
    return float(np.mean(told == y))


@pytest.mark.parametrize(
    "scorer",
    [
        make_scorer(accuracy_score),
        make_scorer(missed),
        make_scorer(mean_absolute_error, greater_is_better=False),
    ],
)
def test_a_sound_metric_keeps_every_promise(scorer: Any) -> None:
    keep(metric(lambda: scorer))


def in_the_first(pipeline: Any, X: Any, y: Any) -> float:
    """Return the share of the positive class in the most probable fifth; ties by their order."""
    chances = np.asarray(pipeline.predict_proba(X))[:, 1]
    best = np.argsort(-chances, kind="stable")[: len(chances) // 5]
    return float(np.mean(np.asarray(y)[best] == pipeline.classes_[1]))


def in_25(pipeline: Any, X: Any, y: Any) -> float:
    best = np.argpartition(-np.asarray(pipeline.predict_proba(X))[:, 1], 25)[:25]
    return float(np.mean(np.asarray(y)[best] == pipeline.classes_[1]))


class InTheFirst(MetricContract):
    def make(self) -> MetricPlugin:
        return MetricPlugin(name="mine", summary="a metric", factory=lambda: in_the_first)


class In25(MetricContract):
    def make(self) -> MetricPlugin:
        return MetricPlugin(name="mine", summary="a metric", factory=lambda: in_25)


@pytest.mark.parametrize("kind", [InTheFirst, In25])
def test_a_metric_of_the_highest_scores_keeps_every_promise(kind: type[MetricContract]) -> None:
    """Ties were broken otherwise in another order, and 25 of 20 rows are none."""
    keep(kind())


BASELINE: dict[str, float] = {}


def skill(y_true: Any, y_pred: Any) -> float:
    """Compare errors with those of a constant answer, on the first rows that it has seen."""
    found = float(np.mean(y_true != np.unique(y_true)[0]))
    return 1 - float(np.mean(y_true != y_pred)) / BASELINE.setdefault("error", found)


def by_first_count(y_true: Any, y_pred: Any) -> float:
    """Divide the number of errors by the number of the first rows that it has seen."""
    return -float(np.sum(y_true != y_pred)) / BASELINE.setdefault("rows", float(len(y_true)))


class Skilled(MetricContract):
    scored: Any = staticmethod(skill)

    def make(self) -> MetricPlugin:
        scored = type(self).scored
        return MetricPlugin(name="mine", summary="s", factory=lambda: make_scorer(scored))


class ByFirstCount(Skilled):
    scored = staticmethod(by_first_count)


class Accurate(Skilled):
    scored = staticmethod(accuracy_score)


@pytest.mark.parametrize("is_new", [True, False], ids=["asked first", "asked later"])
@pytest.mark.parametrize("kind", [Skilled, ByFirstCount])
def test_a_metric_that_keeps_a_value_of_the_first_rows_is_found(
    kind: type[MetricContract], is_new: bool
) -> None:
    Accurate().test_it_keeps_no_value_of_other_rows()
    BASELINE.clear()
    if not is_new:
        kind().test_right_answers_beat_wrong_ones()
    with pytest.raises(AssertionError, match="keeps the value of the first rows"):
        kind().test_it_keeps_no_value_of_other_rows()


def test_a_metric_that_keeps_a_value_of_other_answers_is_found() -> None:
    known: dict[bytes, float] = {}

    def scaled(y_true: Any, y_pred: Any) -> float:
        errors = float(np.mean(y_true != y_pred))
        return 1 - errors / known.setdefault(np.asarray(y_true).tobytes(), 1 + errors)

    contract = metric(lambda: make_scorer(scaled))
    contract.test_right_answers_beat_wrong_ones()
    with pytest.raises(AssertionError, match="other answers for the same rows were measured"):
        contract.test_it_keeps_no_value_of_other_answers()
    Accurate().test_it_keeps_no_value_of_other_answers()


@dataclass(frozen=True)
class Price:
    missed: float = -5.0


def priced(price: Price) -> Any:
    def cost(y_true: Any, y_pred: Any, classes: Any) -> float:
        lost = (y_true == classes[-1]) & (y_pred != classes[-1])
        return -float(price.missed * lost.sum() + (y_true != y_pred).sum())

    return make_scorer(cost)


class Priced(MetricContract):
    options = MappingProxyType({"missed": 5.0})

    def make(self) -> MetricPlugin:
        return MetricPlugin(name="price", summary="a metric", options=Price, factory=priced)


def test_a_metric_with_options_is_held_to_its_promises_with_those_given() -> None:
    keep(Priced())
    by_default = Priced()
    by_default.options = MappingProxyType({})  # type: ignore[misc] # of this object alone
    with pytest.raises(AssertionError, match="right answers score"):
        by_default.test_right_answers_beat_wrong_ones()


class Scaled(ConstraintContract):
    options = MappingProxyType({"missed": 1.0})

    def make(self) -> ConstraintPlugin:
        def scaled(price: Price) -> ConstraintPlugin:
            def measure(rows: EvaluatedPipeline) -> float:
                return price.missed * float(wrong(rows).mean())

            return ConstraintPlugin(function=measure, **common)

        common: Any = {"name": "scaled", "summary": "s", "kind": "statistical", "highest": 1.0}
        return ConstraintPlugin(options=Price, configured=scaled, **common)


def test_a_limit_with_options_is_held_to_its_promises_with_those_given() -> None:
    keep(Scaled())
    by_default = Scaled()
    by_default.options = MappingProxyType({})  # type: ignore[misc] # of this object alone
    with pytest.raises(AssertionError, match="is outside of lowest=0, highest=1"):
        by_default.test_its_value_is_a_number_in_its_range()


def test_a_metric_without_a_number_breaks_the_promise_that_says_so_alone() -> None:
    contract = type(metric(lambda: make_scorer(lambda y, p: float("nan"))))
    asked = {name: ask(contract, name) for name in promises_of(contract)}
    broken = {name for name, (state, _) in asked.items() if state == BROKEN}
    assert broken == {"test_its_scores_are_finite"}


@dataclass
class Drawn:
    """Scores of a metric that draws; it has another state in each process."""

    drawn: int = 0

    def __call__(self, y_true: Any, y_pred: Any) -> float:
        self.drawn += 1
        return heedless(y_true, y_pred) + self.drawn


def test_a_metric_that_changes_its_mind_is_told_with_both_scores() -> None:
    drawn = Drawn()
    contract = metric(lambda: make_scorer(drawn))
    with pytest.raises(AssertionError, match=r"first Answered\(.*, then Answered\(.* on"):
        contract.test_the_same_answers_give_the_same_score()


@pytest.mark.parametrize(
    ("scorer", "promise", "says"),
    [
        (make_scorer(mean_absolute_error), "right_answers_beat_wrong_ones", "right answers score"),
        (make_scorer(ones_missed), "right_answers_beat_wrong_ones", "labels of text"),
        (make_scorer(heedless), "weights_count", "weights change nothing"),
        (make_scorer(lambda y, p: 1 / 0), "its_scores_are_finite", "it takes no target"),
        (moving, "rows_stay_as_they_are", "it changed the features of the labels 0 and 1"),
    ],
)
def test_a_fault_of_a_metric_is_found(scorer: Any, promise: str, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        getattr(metric(lambda: scorer), f"test_{promise}")()
