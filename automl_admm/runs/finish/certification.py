"""Certification after a search: a walk over the best pipelines, and the certificate of one."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from automl_admm.certify.bounds.row_counts import stretch
from automl_admm.certify.certificate import Certificate
from automl_admm.certify.plan.power import half_width
from automl_admm.certify.walk.looks import Look, question_of, risk_of_look, take_look
from automl_admm.certify.walk.sequence import Contender, Step, order, walk
from automl_admm.certify.walk.verdicts import Finding, judge
from automl_admm.core.errors import DiskFullError, StoreError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.evidence import Evidence
from automl_admm.core.protocols import Finished
from automl_admm.core.ranking import rank
from automl_admm.execution.evidence_files import decode_evidence, read_told
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.shipping import EVIDENCE
from automl_admm.pipelines.thresholds.by_group import name_thresholds
from automl_admm.plugins.records import Constraint
from automl_admm.runs.prepare.set_aside import USUAL_SPREAD, Aside, Question, is_hopeless
from automl_admm.runs.provenance import versions

logger = logging.getLogger(__name__)

Fit = Callable[[Evaluation], Finished | None]


@dataclass(frozen=True)
class Examined:
    """The walk over the contenders, and the shipped one: certified, or the safest of them.

    `token` tells the question of this walk from that of any other, if it has to.
    """

    order: tuple[Contender, ...]
    look: Look
    token: str
    shipped: Step
    finished: Finished


def contend(
    evaluations: Sequence[Evaluation], constraints: Sequence[Constraint], aside: Aside
) -> tuple[Contender, ...]:
    """Order the pipelines to be tested, by the search's rows alone.

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
    contenders = [
        Contender(one.key, -one.loss, _slack(one, constraints, aside, risk))
        for one in evaluations
        if one.is_ranked
    ]
    return order(contenders)


def _slack(
    evaluation: Evaluation, constraints: Sequence[Constraint], aside: Aside, risk: float
) -> float:
    """Return the smallest distance to a limit, in half-widths of the bound in its test."""
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
    by_key = {one.key: one for one in evaluations}
    fits: dict[str, Finished] = {}

    def test(contender: Contender) -> Sequence[Finding] | None:
        finished = fit(by_key[contender.key])
        if finished is None or finished.status is not Status.SUCCESS or finished.folder is None:
            return ()
        if FinalFitResult.from_json(finished.result).one_class is not None:
            return None
        fits[contender.key] = finished
        return judge_all(read_evidence(finished), constraints, look.risk)

    walked = walk(contenders, test)
    tested = [step for step in walked.steps if step.contender.key in fits]
    if not tested:
        return None
    shipped = walked.chosen or tested[0]
    return Examined(contenders, look, token, shipped, fits[shipped.contender.key])


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
        [contender.key for contender in contenders],
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
    keys = [contender.key for contender in examined.order]
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
        order=tuple(keys),
        position=keys.index(examined.shipped.contender.key) + 1,
        versions=versions(),
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def whole_text(evaluation: Evaluation) -> str:
    """Return the text of a pipeline, with its thresholds by group, if it has them."""
    by_group = name_thresholds(evaluation.details)
    return f"{evaluation.text}, deciding {by_group}" if by_group else evaluation.text
