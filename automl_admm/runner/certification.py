"""Certification around a search: limits tightened before it, and a walk over the best after it."""

from __future__ import annotations

import hashlib
import math
import os
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from automl_admm.certify.cells import stretch
from automl_admm.certify.certificate import Certificate
from automl_admm.certify.looks import Look, count_looks, question_of, risk_of_look, take_look
from automl_admm.certify.margins import tighten
from automl_admm.certify.planning import Demand, can_pass, plan
from automl_admm.certify.power import half_width
from automl_admm.certify.sequence import Contender, Step, order, walk
from automl_admm.certify.verdicts import Finding, judge
from automl_admm.evaluation.objective import EVIDENCE
from automl_admm.evidence import Evidence
from automl_admm.plugin_types import Constraint
from automl_admm.problem import Evaluation, Limit, Status
from automl_admm.protocols import Finished
from automl_admm.ranking import rank
from automl_admm.runner.files import versions

LEAST_FRACTION = 0.2
# How much a cost varies from one fit to the next: nobody knows it beforehand.
USUAL_SPREAD = 0.1
# Enough for the 0.9 quantile at a risk of 0.025, with two slow calls among them.
CALLS = 70

Fit = Callable[[Evaluation], Finished]


@dataclass(frozen=True)
class Aside:
    """What a run that certifies knows before its search.

    `examples` has, for each limit that is measured on rows, evidence as a middling pipeline would
    give it on all rows, and None for the others. `fraction` is the share of the rows that is set
    aside; `shortfalls` says for which limits it is too small.
    """

    confidence: float
    fraction: float
    examples: tuple[Evidence | None, ...]
    shortfalls: tuple[str, ...] = ()

    @property
    def risk(self) -> float:
        """What all looks at the rows set aside may spend together."""
        return 1.0 - self.confidence


@dataclass(frozen=True)
class Question:
    """What is asked of the rows set aside: of which rows, in which ledger, by which run."""

    rows: str
    count: int
    ledger: Path
    run: str

    @property
    def next_look(self) -> int:
        """The number of the look that comes next, from 1; one asked again may have a lower one."""
        return count_looks(self.ledger, self.rows) + 1


@dataclass(frozen=True)
class Examined:
    """The walk over the contenders, and the one that ships: certified, or the safest of them."""

    order: tuple[Contender, ...]
    look: Look
    shipped: Step
    finished: Finished


def default_ledger() -> Path:
    """Where looks at certification rows are counted: one file for all runs of a user."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "automl-admm" / "looks.json"


def plan_aside(
    constraints: Sequence[Constraint],
    examples: Sequence[Evidence | None],
    confidence: float,
    fraction: float | None = None,
) -> Aside:
    """How many rows to set aside, and what they will not be enough for.

    Costs and facts take no rows to test, but they need some to be measured on. Of a limit relative
    to the baseline nobody knows yet what it takes.
    """
    demands = [
        Demand(constraint.limit, example)
        for constraint, example in zip(constraints, examples, strict=True)
        if example is not None and constraint.of_baseline is None
    ]
    planned = plan(demands, risk_of_look(1, 1.0 - confidence), fraction=fraction)
    share = fraction or max(planned.fraction, LEAST_FRACTION)
    return Aside(confidence, share, tuple(examples), planned.shortfalls)


def aim(constraints: Sequence[Constraint], aside: Aside, risk: float) -> tuple[Limit, ...]:
    """The limits that the search is given: two half-widths inside those of the user.

    One that nothing can pass on so few rows stays as it is: to aim inside of it would cost, and
    bring no proof.
    """
    pairs = zip(constraints, aside.examples, strict=True)
    return tuple(_aimed(constraint, example, aside, risk) for constraint, example in pairs)


def _aimed(constraint: Constraint, example: Evidence | None, aside: Aside, risk: float) -> Limit:
    limit = constraint.limit
    if example is not None:
        is_hopeless = _is_hopeless(constraint, example, aside, risk)
        return limit if is_hopeless else tighten(limit, example, aside.fraction, risk)
    if constraint.kind != "measured" or limit.at_least or limit.bound <= 0:
        return limit
    return replace(limit, bound=limit.bound * (1.0 - 2.0 * USUAL_SPREAD))


def _is_hopeless(
    constraint: Constraint, example: Evidence | None, aside: Aside, risk: float
) -> bool:
    """Whether the best value there can be would not pass on the rows set aside."""
    if example is None:
        return False
    seen = stretch(example, aside.fraction)
    return not can_pass(constraint.limit, seen, risk, approximate_allowed=True)


def contend(
    evaluations: Sequence[Evaluation], constraints: Sequence[Constraint], aside: Aside
) -> tuple[Contender, ...]:
    """The pipelines to be tested, in an order that only the search's rows decide.

    It is the same whatever the number of the look, so that a run made again asks the same question.
    Where nothing can pass, the best within the limits is looked at alone: it ships uncertified.
    """
    risk = risk_of_look(1, aside.risk)
    pairs = zip(constraints, aside.examples, strict=True)
    if any(_is_hopeless(constraint, example, aside, risk) for constraint, example in pairs):
        ranked = rank(evaluations, [constraint.limit for constraint in constraints])
        return tuple(Contender(best.key, -best.loss, -math.inf) for best in ranked[:1])
    contenders = [
        Contender(one.key, -one.loss, _slack(one, constraints, aside, risk))
        for one in evaluations
        if one.ok and one.is_whole
    ]
    return order(contenders)


def _slack(
    evaluation: Evaluation, constraints: Sequence[Constraint], aside: Aside, risk: float
) -> float:
    """The smallest distance to a limit, in half-widths of the bound that it will be tested by."""
    values = zip(constraints, aside.examples, evaluation.constraints, strict=True)
    return min(
        _slack_of_one(constraint, example, value, aside.fraction, risk)
        for constraint, example, value in values
    )


def _slack_of_one(
    constraint: Constraint, example: Evidence | None, value: float, share: float, risk: float
) -> float:
    limit = constraint.limit
    room = limit.turned(limit.bound) - limit.turned(value)
    width = USUAL_SPREAD * abs(limit.bound) if constraint.kind == "measured" else 0.0
    if example is not None:
        width = half_width(stretch(example, share), limit, risk, approximate_allowed=True)
    return room / width if 0.0 < width < math.inf else math.copysign(math.inf, room)


def examine(
    evaluations: Sequence[Evaluation],
    constraints: Sequence[Constraint],
    aside: Aside,
    question: Question,
    fit: Fit,
) -> Examined | None:
    """Fit and test contenders until one does not pass or no time is left; None if none was fitted.

    The look is written down before the first test, so that a run that is broken off counts.
    """
    contenders = contend(evaluations, constraints, aside)
    look = _take_look(contenders, constraints, aside, question)
    by_key = {one.key: one for one in evaluations}
    fits: dict[str, Finished] = {}

    def test(contender: Contender) -> Sequence[Finding]:
        finished = fit(by_key[contender.key])
        if finished.status is not Status.SUCCESS or finished.folder is None:
            return ()
        fits[contender.key] = finished
        return judge_all(read_evidence(finished.folder), constraints, look.risk)

    walked = walk(contenders, test)
    tested = [step for step in walked.steps if step.contender.key in fits]
    if not tested:
        return None
    shipped = walked.chosen or tested[0]
    return Examined(contenders, look, shipped, fits[shipped.contender.key])


def _take_look(
    contenders: Sequence[Contender],
    constraints: Sequence[Constraint],
    aside: Aside,
    question: Question,
) -> Look:
    """Count this walk; calls that are timed anew make it another question each time."""
    models = [*(contender.key for contender in contenders), question.run]
    if any(constraint.kind == "measured" for constraint in constraints):
        models.append(str(time.time_ns()))
    asked = question_of(models, [str(one.limit) for one in constraints], aside.risk)
    return take_look(question.ledger, question.rows, asked, aside.risk)


def judge_all(
    evidence: Sequence[Evidence], constraints: Sequence[Constraint], risk: float
) -> tuple[Finding, ...]:
    """Test every limit at the full risk; nothing if nothing could be measured."""
    pairs = zip(evidence, constraints, strict=True) if evidence else ()
    return tuple(judge(seen, constraint.limit, risk) for seen, constraint in pairs)


def read_evidence(folder: Path) -> list[Evidence]:
    """What a final fit saw on the rows set aside; nothing if it could not be measured there."""
    try:
        with (folder / EVIDENCE).open("rb") as file:
            return list(pickle.load(file))  # noqa: S301 - written by our own child a moment ago
    except FileNotFoundError:
        return []


def certificate_of(
    examined: Examined, aside: Aside, question: Question, pipeline: str, model: Path
) -> Certificate:
    """What was found of the pipeline that ships, whether it passed or not."""
    keys = [contender.key for contender in examined.order]
    return Certificate(
        model_sha256=hashlib.sha256(model.read_bytes()).hexdigest(),
        rows_sha256=question.rows,
        rows=question.count,
        pipeline=pipeline,
        findings=examined.shipped.findings,
        risk=aside.risk,
        risk_spent=examined.look.risk,
        look=examined.look.number,
        order=tuple(keys),
        position=keys.index(examined.shipped.contender.key) + 1,
        versions=versions(),
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )
