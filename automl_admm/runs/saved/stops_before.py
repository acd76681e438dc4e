"""The shipped model tested again at its thresholds that stand before its own in the order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from automl_admm.certify.certificate import Certificate
from automl_admm.certify.walk.findings import Finding, all_certified
from automl_admm.certify.walk.looks import Look
from automl_admm.certify.walk.sequence import Contender
from automl_admm.certify.walk.verdicts import judge_in
from automl_admm.core.evaluations import Evaluation
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.build import predict_scores
from automl_admm.pipelines.predictions.checks import turn
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.thresholds.cuts import Cut, has_both
from automl_admm.pipelines.thresholds.path import DecisionPath, moves
from automl_admm.pipelines.thresholds.single import decide
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.foreign_calls import measured_by
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.model_file import rows_for_the_model

Stops = Mapping[str, Cut]


def stops_before(certificate: Certificate, logged: Evaluation | None) -> dict[str, Cut]:
    """Return the thresholds or bands of the model's stops before its own, by their names.

    Empty without a path; stops with a threshold for each group are left out.
    """
    path = None if logged is None else DecisionPath.from_details(logged.details)
    if logged is None or path is None:
        return {}
    earlier = set(certificate.order[: max(certificate.position - 1, 0)])
    names = (Contender(logged.key, 0.0, 0.0, place).name for place in range(len(path.stops)))
    return {
        name: stop.thresholds.cut
        for name, stop in zip(names, path.stops, strict=True)
        if name in earlier and not stop.thresholds.by_group
    }


def judge_again(
    stops: Stops, pipeline: Any, rows: Table, constraints: Sequence[Constraint], look: Look
) -> dict[str, tuple[Finding, ...]]:
    """Test the limits that thresholds move at each stop, on one set of predictions.

    A stop that calls all these rows the same is left out: the walk may have passed it over.
    """
    if not stops:
        return {}
    with unheard_warnings(), rows_for_the_model(pipeline, rows.X):
        seen = EvaluatedPipeline(
            pipeline=pipeline,
            X=rows.X,
            y=rows.y,
            predictions=turn(predict_scores(pipeline, rows.X), rows.classes),
            fit_seconds=math.nan,
            predict_seconds=math.nan,
            sensitive=rows.sensitive,
        )
    moved = [one for one in constraints if moves(one)]
    found = {}
    for name, cut in stops.items():
        decided = decide(seen, cut)
        if has_both(decided.decisions):
            evidence = [measured_by(one.function, decided) for one in moved]
            pairs = zip(moved, evidence, strict=True)
            found[name] = tuple(judge_in(look, there, one.limit) for one, there in pairs)
    return found


def not_passed(tested: Mapping[str, tuple[Finding, ...]]) -> Iterator[str]:
    """Yield the stops that do not pass, a sentence each: the tests should have ended there."""
    for name, findings in tested.items():
        if not all_certified(findings):
            failed = next(str(one) for one in findings if not one.is_certified)
            yield f"The tests should have ended at {name}, before the model: {failed}."
