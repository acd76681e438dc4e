"""The promises of a constraint, on the rows of a small fitted pipeline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar
from unittest import SkipTest

import cloudpickle
import numpy as np
import pandas as pd

from automl_admm.core.evidence import Evidence, Gap, Largest, Mean, Quantile, Ratio, Timing
from automl_admm.core.limits import DeclaredRange
from automl_admm.core.read_only import read_only
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.core.structure.pipeline_space import Step
from automl_admm.data.spreads import spreads_of
from automl_admm.pipelines.build import build_pipeline, predict_scores
from automl_admm.plugins.configured import configure
from automl_admm.plugins.evaluated_pipeline import ARRAYS, EvaluatedPipeline
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import BuildContext, ConstraintPlugin, Masks
from automl_admm.testing.silence import silence

ROWS = 60
STEPS = (Step("impute"), Step("decision_tree", (("max_depth", 3),)))
NOISE = 0.8
# What a user says of costs, for limits that are measured by it.
SETTINGS = MappingProxyType({"cost": "fn=5,fp=1", "column_cost": {"a": 1.0, "b": 2.5}})
# The size of a file differs by a few bytes from time to time.
SAME = 0.01
# What all limits of an evaluation share.
SHOWN = (*ARRAYS, "sensitive")


class ConstraintContract:
    """The promises of a constraint: subclass it, and return your record in `make`.

    The rows have two classes, and a sensitive column of two groups. Override `rows` for a
    constraint that needs others, such as the errors of a quantity. A `numbered` constraint is
    held to its promises with the `number`, one with options with these `options`, and one measured
    by a setting with costs of decisions or of columns. The pipeline has these `steps`.
    """

    groups: ClassVar[tuple[str, ...]] = ("f", "m")
    number: ClassVar[float] = 2.0
    options: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    steps: tuple[Step, ...] = STEPS

    def make(self) -> ConstraintPlugin:
        """Return the record."""
        raise NotImplementedError

    def rows(self) -> EvaluatedPipeline:
        """Return a fitted pipeline with unseen rows, 60 of them."""
        rows = _evaluated(self.steps)
        # Arrays refuse writing. A frame changed by one promise would hide the change from the next.
        return replace(rows, X=rows.X.copy(), sensitive=rows.sensitive.copy())

    def _record(self) -> ConstraintPlugin:
        made = configure(self.make(), self.options)
        if made.by_setting is not None:
            return made.by_setting(SETTINGS[made.setting])
        return made if made.numbered is None else made.numbered(self.number)

    def measured(self, evaluated: EvaluatedPipeline) -> Evidence:
        """Measure these rows, by group or with a column if the constraint asks for that."""
        record, rows = self._record(), len(evaluated.y)
        if record.grouped is not None:
            return as_evidence(record.grouped(evaluated, self.masks(evaluated)), rows)
        if record.columned is not None:
            return as_evidence(record.columned(evaluated, self.numbers(evaluated)), rows)
        if record.changing is not None:
            return as_evidence(record.changing(evaluated, self.column(evaluated)), rows)
        assert record.function is not None
        return as_evidence(record.function(evaluated), rows)

    def masks(self, evaluated: EvaluatedPipeline) -> Masks:
        """Return the rows of each group."""
        column = evaluated.sensitive.iloc[:, 0].to_numpy()
        return MappingProxyType({name: read_only(column == name) for name in self.groups})

    def numbers(self, evaluated: EvaluatedPipeline) -> Any:
        """Return the column of numbers that a `columned` constraint compares with the scores."""
        return read_only(evaluated.X.iloc[:, 0].to_numpy(dtype=float))

    def column(self, evaluated: EvaluatedPipeline) -> Any:
        """Return the label of the column that a `changing` constraint changes."""
        return evaluated.X.columns[0]

    def answers(self) -> Iterable[EvaluatedPipeline]:
        """Yield the rows as the pipeline answers, all right, all wrong, and at random.

        Other answers than the pipeline's own are for a statistical constraint alone.
        """
        rows = self.rows()
        yield rows
        if self._record().kind == "statistical":
            drawn = np.random.default_rng(1).random(len(rows.y)).round()
            for decided in (rows.y, 1 - rows.y, drawn.astype(rows.y.dtype)):
                yield _answering(rows, decided)

    def test_its_value_is_a_number_in_its_range(self) -> None:
        """Give a finite number from `lowest` to `highest`, in their unit, for any answers."""
        for rows in self.answers():
            value = self.measured(rows).value
            assert math.isfinite(value), f"its value is {value}"
            self._check_range(value)

    def _check_range(self, value: float) -> None:
        record = self._record()
        declared = DeclaredRange(record.lowest, record.highest)
        assert not declared.misses(value), f"its value {value:g} is outside of {declared}"

    def test_its_evidence_is_consistent(self) -> None:
        """Give evidence whose parts are possible: no more events than trials, values in bounds."""
        for rows in self.answers():
            for part in _parts(self.measured(rows)):
                _check_evidence(part)

    def test_the_same_rows_give_the_same_value(self) -> None:
        """Measure twice the same, in any order of the rows; a cost may differ from call to call."""
        self._skip_costs()
        rows = self.rows()
        value, again = (self.measured(rows).value for _ in range(2))
        assert math.isclose(again, value, rel_tol=SAME), f"{value:g}, and then {again:g}"
        turned = self.measured(rows.part(np.arange(len(rows.y))[::-1])).value
        assert math.isclose(turned, value, rel_tol=SAME), f"{turned:g} in another order"

    def test_a_fact_is_equal_on_any_rows(self) -> None:
        """Measure the same on half of the rows, for it is called `checked`."""
        if self._record().kind != "checked":
            raise SkipTest("it is no fact but a measurement")
        rows = self.rows()
        half = rows.part(np.arange(len(rows.y)) % 2 == 0)
        whole, part = self.measured(rows).value, self.measured(half).value
        assert math.isclose(part, whole, rel_tol=SAME), f"{whole:g}, and {part:g} on half of them"

    def test_rows_stay_as_they_are(self) -> None:
        """Change nothing of what it is shown: other limits see the same rows."""
        rows = self.rows()
        if self._record().takes_weights:
            rows = replace(rows, weights=np.ones(len(rows.y)))
        before = {name: cloudpickle.dumps(getattr(rows, name)) for name in SHOWN}
        self.measured(rows)
        changed = [name for name in SHOWN if cloudpickle.dumps(getattr(rows, name)) != before[name]]
        assert not changed, f"it changed the {', '.join(changed)} that other limits see"

    def test_rows_of_one_class_are_no_obstacle(self) -> None:
        """Give a number, or NaN for unknown, where all rows are of one class, or of one group."""
        self._skip_costs()
        rows = self.rows()
        classes = [rows.y == label for label in np.unique(rows.y)]
        for mask in (*classes, *self.masks(rows).values(), np.arange(len(rows.y)) == 0):
            value = self.measured(rows.part(mask)).value
            if not math.isnan(value):
                self._check_range(value)

    def test_weights_count_as_rows_do(self) -> None:
        """Take weights of 1 for none, and a weight of 3 for a row that stands three times."""
        if not self._record().takes_weights:
            raise SkipTest("it takes no weights")
        rows = self.rows()
        value, ones = self.measured(rows).value, np.ones(len(rows.y))
        assert math.isclose(self.measured(replace(rows, weights=ones)).value, value)
        counts = np.random.default_rng(7).integers(1, 4, len(rows.y))
        repeated = self.measured(rows.part(np.repeat(np.arange(len(rows.y)), counts))).value
        weighed = self.measured(replace(rows, weights=counts / counts.mean())).value
        assert math.isclose(weighed, repeated, rel_tol=1e-9), f"{weighed:g} instead of {repeated:g}"

    def test_what_is_known_before_training_is_what_is_measured(self) -> None:
        """Give by `cheap` the value that the fitted pipeline has."""
        cheap = self._record().cheap
        if cheap is None:
            raise SkipTest("it has no cheap function")
        known, value = cheap(self.steps), self.measured(self.rows()).value
        assert math.isclose(known, value), f"{known:g} before training, and {value:g} after it"

    def test_it_measures_in_another_process(self) -> None:
        """Survive the way to a worker: it is pickled by cloudpickle."""
        record, rows = self._record(), self.rows()
        measure = record.function or record.grouped or record.columned or record.changing
        sent = cloudpickle.loads(cloudpickle.dumps(measure))
        more: tuple[Any, ...] = () if record.grouped is None else (self.masks(rows),)
        if record.columned is not None:
            more = (self.numbers(rows),)
        if record.changing is not None:
            more = (self.column(rows),)
        assert math.isfinite(as_evidence(sent(rows, *more)).value)

    def test_it_is_silent(self) -> None:
        """Print nothing, log nothing and leave no file."""
        rows = self.rows()
        with silence():
            self.measured(rows)

    def _skip_costs(self) -> None:
        if self._record().kind == "measured":
            raise SkipTest("it is a cost, and may differ from call to call")


@cache
def _evaluated(steps: tuple[Step, ...]) -> EvaluatedPipeline:
    """Fit the pipeline on some rows, and return it with others."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(2 * ROWS, 3)), columns=["a", "b", "c"])
    y = (X["a"] + rng.normal(size=len(X)) * NOISE > 0).to_numpy().astype(int)
    context = BuildContext("classification", ("a", "b", "c"), classes=2)
    components = load_plugins(quietly=True).components["classification"]
    model = build_pipeline(steps, components, context, 0).fit(X[:ROWS], y[:ROWS])
    unseen = X[ROWS:].reset_index(drop=True)
    groups = pd.DataFrame({"sex": rng.choice(["f", "m"], ROWS)})
    scores, decided = predict_scores(model, unseen), model.predict(unseen)
    costs = {"sensitive": groups, "peak_mb": 100.0, "spreads": spreads_of(X[:ROWS])}
    return EvaluatedPipeline(model, unseen, y[ROWS:], scores, 0.5, 0.01, decided, **costs)


def _answering(rows: EvaluatedPipeline, decided: Any) -> EvaluatedPipeline:
    sure = np.where(decided[:, None] == np.arange(2), 0.9, 0.1)
    predictions = sure if rows.predictions.ndim == 2 else sure[:, -1]
    return replace(rows, decisions=decided, predictions=predictions)


def _parts(evidence: Evidence) -> Iterable[Evidence]:
    """Yield a record and all records in it."""
    yield evidence
    inner = getattr(evidence, "groups", None) or getattr(evidence, "parts", None)
    if isinstance(evidence, Gap | Ratio | Largest) or inner:
        for part in (inner or {}).values():
            yield from _parts(part)


def _check_evidence(evidence: Evidence) -> None:
    match evidence:
        case Mean(values, lowest, highest):
            inside = (values >= lowest) & (values <= highest)
            assert np.all(inside), f"a value of the mean is outside of {lowest:g} to {highest:g}"
        case Quantile(values, quantile):
            assert 0 < quantile < 1, f"its quantile is {quantile:g}"
        case Timing(values, quantile):
            assert 0 < quantile < 1, f"its quantile is {quantile:g}"
            assert np.all(values >= 0), "a time is below 0"
