"""The rows of the promises of a constraint: a small fitted pipeline, and answers of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from automl_admm.core.evidence import Evidence
from automl_admm.core.read_only import read_only
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.core.structure.pipeline_space import Step
from automl_admm.data.spreads import spreads_of
from automl_admm.pipelines.build import build_pipeline, predict_scores
from automl_admm.plugins.configured import configure
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import BuildContext, ConstraintPlugin, Masks

ROWS = 60
STEPS = (Step("impute"), Step("decision_tree", (("max_depth", 3),)))
NOISE = 0.8
# What a user says of costs, for limits that are measured by it.
SETTINGS = MappingProxyType({"cost": "fn=5,fp=1", "column_cost": {"a": 1.0, "b": 2.5}})


class LimitedRows:
    """A constraint, the rows to measure, and possible answers for them."""

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
        return self.measured_with(evaluated, *self.given_with(evaluated))

    def given_with(self, evaluated: EvaluatedPipeline) -> tuple[Any, ...]:
        """Return the second argument of the constraint's function, if it takes one."""
        record = self._record()
        if record.grouped is not None:
            return (self.masks(evaluated),)
        if record.columned is not None:
            return (self.numbers(evaluated),)
        return () if record.changing is None else (self.column(evaluated),)

    def measured_with(self, evaluated: EvaluatedPipeline, *more: Any) -> Evidence:
        """Measure these rows, with this second argument if the function takes one."""
        return as_evidence(self._function()(evaluated, *more), len(evaluated.y))

    def _function(self) -> Any:
        record = self._record()
        return record.function or record.grouped or record.columned or record.changing

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
