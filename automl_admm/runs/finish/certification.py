"""Certification after a search: a walk over the best pipelines, and the certificate of one."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from automl_admm.certify.bounds.row_counts import stretch
from automl_admm.certify.certificate import Certificate, Price
from automl_admm.certify.plan.power import half_width
from automl_admm.certify.walk.looks import Look, question_of, risk_of_look, take_look
from automl_admm.certify.walk.sequence import (
    Contender,
    Route,
    Spot,
    Step,
    order_routes,
    walk,
)
from automl_admm.certify.walk.verdicts import Finding, judge
from automl_admm.core.errors import DiskFullError, StoreError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.evidence import Evidence
from automl_admm.core.protocols import Finished
from automl_admm.core.ranking import rank
from automl_admm.execution.evidence_files import decode_evidence, encode_evidence, read_told
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.shipping import EVIDENCE, STOPS
from automl_admm.pipelines.thresholds.by_group import Thresholds, name_thresholds
from automl_admm.pipelines.thresholds.cost import NAME as COST
from automl_admm.pipelines.thresholds.path import PATH, DecisionPath, Stop, moves
from automl_admm.plugins.records import Constraint
from automl_admm.runs.prepare.set_aside import USUAL_SPREAD, Aside, Question, is_hopeless
from automl_admm.runs.provenance import versions

logger = logging.getLogger(__name__)


class Bench(Protocol):
    """Makes the models of a walk."""

    def fit(self, evaluation: Evaluation, path: Sequence[Thresholds] = ()) -> Finished | None:
        """Fit a pipeline, measured at all stops of a path; None if there is no time for it."""

    def settle(self, finished: Finished, thresholds: Thresholds) -> Finished | None:
        """Ship a fitted model with other thresholds; None if it failed."""


@dataclass(frozen=True)
class Examined:
    """The walk over the contenders, and the shipped one: certified, or the safest of them.

    `token` tells the question of this walk from that of any other, if it has to. `evidence` is what
    the findings rest on, `evaluation` that of the shipped model at the thresholds it ships with.
    """

    order: tuple[Contender, ...]
    look: Look
    token: str
    shipped: Step
    finished: Finished
    evaluation: Evaluation
    evidence: tuple[Evidence, ...] = ()
    price: Price | None = None


def contend(
    evaluations: Sequence[Evaluation], constraints: Sequence[Constraint], aside: Aside
) -> tuple[Contender, ...]:
    """Order the pipelines and their thresholds to be tested, by the search's rows alone.

    The order is independent of the number of the look, so that a repeated run asks the same
    question. If nothing can pass, the best within the limits is looked at alone: it ships
    uncertified. A pipeline with one class for all rows is no contender: it would be the safest, and
    worth nothing.
    """
    evaluations = [one for one in evaluations if one.one_class is None]
    risk = risk_of_look(1, aside.risk)
    pairs = zip(constraints, aside.examples, strict=True)
    if any(is_hopeless(constraint, example, aside, risk) for constraint, example in pairs):
        ranked = rank(evaluations, [constraint.limit for constraint in constraints])
        return tuple(Contender(best.key, -best.loss, -math.inf) for best in ranked[:1])
    routes = [_route(one, constraints, aside, risk) for one in evaluations if one.is_ranked]
    return order_routes(routes)


def _route(
    evaluation: Evaluation, constraints: Sequence[Constraint], aside: Aside, risk: float
) -> Route:
    """Return a pipeline's path with its slacks; it is ranked by its loss at its own thresholds."""
    path = DecisionPath.from_details(evaluation.details)
    stops = () if path is None else path.stops
    moved = [bool(stops) and moves(one) for one in constraints]
    slacks = _slacks(evaluation.constraints, constraints, aside, risk)
    still = [slack for slack, is_moved in zip(slacks, moved, strict=True) if not is_moved]
    spots = []
    for place, stop in enumerate(stops):
        found = _slacks(_values_at(evaluation, stop, moved), constraints, aside, risk)
        here = [slack for slack, is_moved in zip(found, moved, strict=True) if is_moved]
        spots.append(Spot(place, min(here), _or_least(stop.utility)))
    return Route(evaluation.key, -evaluation.loss, min(still, default=math.inf), tuple(spots))


def _or_least(utility: float) -> float:
    return -math.inf if math.isnan(utility) else utility


def _values_at(evaluation: Evaluation, stop: Stop, moved: Sequence[bool]) -> tuple[float, ...]:
    """Return the values of all limits at a stop."""
    values = iter(stop.measured)
    pairs = zip(evaluation.constraints, moved, strict=True)
    return tuple(next(values) if is_moved else value for value, is_moved in pairs)


def at_stop(
    evaluation: Evaluation, constraints: Sequence[Constraint], place: int | None
) -> Evaluation:
    """Return an evaluation as it is at a stop of its path."""
    path = DecisionPath.from_details(evaluation.details)
    if path is None or place is None:
        return evaluation
    stop = path.stops[place]
    # Rates of the search's own thresholds would be read as those of the model.
    left_out = (PATH, "decisions", "threshold", "group_thresholds")
    rest = {name: value for name, value in evaluation.details.items() if name not in left_out}
    return replace(
        evaluation,
        loss=evaluation.loss if stop.loss is None else stop.loss,
        constraints=_values_at(evaluation, stop, [moves(one) for one in constraints]),
        details={**rest, **stop.thresholds.as_details()},
    )


def place_of(evaluation: Evaluation, thresholds: Mapping[str, Any]) -> int | None:
    """Return the stop of an evaluation's path with these thresholds; None without one."""
    path = DecisionPath.from_details(evaluation.details)
    stops = () if path is None else path.stops
    found = (place for place, one in enumerate(stops) if one.thresholds.as_details() == thresholds)
    return next(found, None)


def price_of(
    evaluation: Evaluation, constraints: Sequence[Constraint], place: int | None
) -> Price | None:
    """Return the utility at a stop, and the best one within the limits on the search's rows."""
    path = DecisionPath.from_details(evaluation.details)
    if path is None or place is None:
        return None
    limits = [one.limit for one in constraints if moves(one)]
    inside = [
        stop.utility
        for stop in path.stops
        if all(limit.holds(value) for limit, value in zip(limits, stop.measured, strict=True))
    ]
    certified = path.stops[place].utility
    sign = -1.0 if path.utility == COST else 1.0
    best = max([certified, *inside])
    is_known = math.isfinite(certified) and math.isfinite(best)
    return Price(path.utility, sign * certified, sign * best) if is_known else None


def _slacks(
    values: Sequence[float], constraints: Sequence[Constraint], aside: Aside, risk: float
) -> list[float]:
    """Return the distance to each limit, in half-widths of the bound in its test."""
    triples = zip(constraints, aside.examples, values, strict=True)
    return [
        _slack_of_one(constraint, example, value, aside.fraction, risk)
        for constraint, example, value in triples
    ]


def _slack_of_one(
    constraint: Constraint, example: Evidence | None, value: float, share: float, risk: float
) -> float:
    limit = constraint.limit
    room = limit.turned(limit.bound) - limit.turned(value)
    if math.isnan(room):
        return -math.inf
    width = USUAL_SPREAD * abs(limit.bound) if constraint.kind == "measured" else 0.0
    if example is not None:
        width = half_width(stretch(example, share), limit, risk, approximate_allowed=True)
    return room / width if 0.0 < width < math.inf else math.copysign(math.inf, room)


def examine(
    evaluations: Sequence[Evaluation],
    constraints: Sequence[Constraint],
    aside: Aside,
    question: Question,
    bench: Bench,
) -> Examined | None:
    """Fit and test contenders until one fails or no time is left; None if none was fitted.

    A final fit with one class for all rows of the search is passed over: that is known without the
    rows set aside. The look is written down before the first test, so that a broken run counts.
    """
    contenders = contend(evaluations, constraints, aside)
    if not contenders:
        return None
    try:
        look, token = _take_look(contenders, constraints, aside, question)
    except (StoreError, DiskFullError) as problem:  # what was found is not lost for that
        logger.warning("nothing can be tested: %s", problem)
        return None
    tests = _Tests({one.key: one for one in evaluations}, constraints, contenders, bench)

    def test(contender: Contender) -> Sequence[Finding] | None:
        seen = tests.evidence(contender)
        return None if seen is None else judge_all(seen, constraints, look.risk)

    walked = walk(contenders, test)
    tested = [step for step in walked.steps if step.contender.key in tests.fits]
    shipped = walked.chosen or next(iter(tested), None)
    if shipped is None:
        return None
    return _settled(Examined(contenders, look, token, shipped, *tests.model(shipped)), tests)


@dataclass(frozen=True, eq=False)
class _Tests:
    """Owns the final fits of a walk, one of each pipeline, measured at all stops of its path."""

    by_key: Mapping[str, Evaluation]
    constraints: Sequence[Constraint]
    contenders: Sequence[Contender]
    bench: Bench
    fits: dict[str, Finished] = field(default_factory=dict)

    def evidence(self, contender: Contender) -> Sequence[Evidence] | None:
        """Return the evidence of a contender; nothing if its fit failed, None if it is useless."""
        finished = self._fitted(contender.key)
        if finished is None:
            return ()
        found = FinalFitResult.from_json(finished.result)
        if contender.place is None:
            return None if found.one_class is not None else read_evidence(finished)
        places = self.places(contender.key)
        stop = places.index(contender.place)
        return None if stop in found.one_sided else self._at(finished, stop)

    def places(self, key: str) -> list[int]:
        """The stops of a pipeline that are in the order."""
        return [one.place for one in self.contenders if one.key == key and one.place is not None]

    def model(self, step: Step) -> tuple[Finished, Evaluation, tuple[Evidence, ...]]:
        """Return the fit of a tested contender, its evaluation and its evidence."""
        one = step.contender
        evaluation = at_stop(self.by_key[one.key], self.constraints, one.place)
        return self.fits[one.key], evaluation, tuple(self.evidence(one) or ())

    def thresholds(self, key: str, places: Sequence[int]) -> list[Thresholds]:
        """Return the thresholds at some stops of a pipeline."""
        path = DecisionPath.from_details(self.by_key[key].details)
        return [] if path is None else [path.stops[place].thresholds for place in places]

    def _fitted(self, key: str) -> Finished | None:
        """Return a successful fit, made at the first call; a failure ends the walk."""
        if key not in self.fits:
            path = self.thresholds(key, self.places(key))
            finished = self.bench.fit(self.by_key[key], path)
            is_done = finished is not None and finished.status is Status.SUCCESS
            if finished is None or not is_done or finished.folder is None:
                return None
            self.fits[key] = finished
        return self.fits[key]

    def _at(self, finished: Finished, stop: int) -> Sequence[Evidence]:
        """Return the evidence at a stop: of the limits that it moves, and of the others."""
        content, seen = read_told(finished, STOPS), read_evidence(finished)
        moved = [moves(one) for one in self.constraints]
        if content is None or not seen:
            return ()
        here = iter(decode_evidence(content)[stop * sum(moved) : (stop + 1) * sum(moved)])
        return [next(here) if is_moved else one for one, is_moved in zip(seen, moved, strict=True)]


def _settled(examined: Examined, tests: _Tests) -> Examined | None:
    """Return the walk with the model that ships: at the thresholds of the shipped contender.

    It is measured anew, as it was saved. Decisions must be those that were tested; facts, such as
    the size of the file, are judged anew, and times and other costs stay those of the test.
    """
    one, constraints = examined.shipped.contender, tests.constraints
    price = price_of(tests.by_key[one.key], constraints, one.place)
    if one.place is None or tests.places(one.key)[0] == one.place:
        return replace(examined, price=price)
    (thresholds,) = tests.thresholds(one.key, [one.place])
    finished = tests.bench.settle(examined.finished, thresholds)
    if finished is None:
        return None
    again = read_evidence(finished)
    pairs = zip(constraints, examined.evidence, again, strict=False)
    if len(again) != len(constraints) or any(
        encode_evidence([seen]) != encode_evidence([now])
        for constraint, seen, now in pairs
        if constraint.kind == "statistical"
    ):
        logger.warning(
            "the model decides otherwise once it is saved and loaded, so nothing was proven of it"
        )
        return None
    evidence = tuple(
        seen if constraint.kind == "measured" else now
        for constraint, seen, now in zip(constraints, examined.evidence, again, strict=True)
    )
    step = replace(examined.shipped, findings=judge_all(evidence, constraints, examined.look.risk))
    return replace(examined, shipped=step, finished=finished, evidence=evidence, price=price)


def _take_look(
    contenders: Sequence[Contender],
    constraints: Sequence[Constraint],
    aside: Aside,
    question: Question,
) -> tuple[Look, str]:
    """Count this walk, and return the token that tells its question from those of other runs.

    A run that may take another course asks something else each time. Only so does the number told
    before the search count.
    """
    token = question.way or str(time.time_ns())
    asked = ask(
        [contender.name for contender in contenders],
        [str(one.limit) for one in constraints],
        aside.risk,
        f"{question.run} {token}",
    )
    look = take_look(
        question.ledger,
        question.data,
        asked,
        aside.risk,
        earlier=(question.rows,),
        run=question.way,
        also=question.also,
    )
    return look, token


def ask(models: Sequence[str], limits: Sequence[str], risk: float, run: str) -> str:
    """Hash the question of a run: its models in their order, its limits, its risk."""
    return question_of([*models, run], limits, risk)


def judge_all(
    evidence: Sequence[Evidence], constraints: Sequence[Constraint], risk: float
) -> tuple[Finding, ...]:
    """Test every limit at the full risk; nothing if nothing could be measured."""
    pairs = zip(evidence, constraints, strict=True) if evidence else ()
    return tuple(judge(seen, constraint.limit, risk) for seen, constraint in pairs)


def read_evidence(finished: Finished) -> list[Evidence]:
    """Read a final fit's evidence on the rows set aside; empty if it was not measured there."""
    content = read_told(finished, EVIDENCE)
    return [] if content is None else decode_evidence(content)


def certificate_of(
    examined: Examined, aside: Aside, question: Question, pipeline: str, model_sha256: str
) -> Certificate:
    """Return the findings about the shipped pipeline, certified or not."""
    names = [contender.name for contender in examined.order]
    return Certificate(
        model_sha256=model_sha256,
        rows_sha256=question.rows,
        data_sha256=question.data,
        rows=question.count,
        tested=question.tested,
        pipeline=pipeline,
        findings=examined.shipped.findings,
        risk=aside.risk,
        risk_spent=examined.look.risk,
        look=examined.look.number,
        token=examined.token,
        order=tuple(names),
        position=names.index(examined.shipped.contender.name) + 1,
        versions=versions(),
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        price=examined.price,
    )


def whole_text(evaluation: Evaluation) -> str:
    """Return the text of a pipeline, with its thresholds by group, if it has them."""
    by_group = name_thresholds(evaluation.details)
    return f"{evaluation.text}, deciding {by_group}" if by_group else evaluation.text
