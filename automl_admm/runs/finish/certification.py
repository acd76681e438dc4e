"""Certification after a search: a walk over the best pipelines, and the certificate of one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from automl_admm.certify.certificate import Certificate, Price
from automl_admm.certify.walk.findings import Finding
from automl_admm.certify.walk.looks import Look, question_of, take_look
from automl_admm.certify.walk.sequence import Contender, Step, walk
from automl_admm.certify.walk.verdicts import judge_in
from automl_admm.core.errors import ConfigurationError, DiskFullError, StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.evidence import Evidence
from automl_admm.core.protocols import Finished
from automl_admm.execution.evidence_files import encode_evidence
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.shipped_costs import SHIPPED
from automl_admm.pipelines.shipping import PICKLE
from automl_admm.pipelines.thresholds.by_group import (
    name_thresholds,
    name_undecided,
    name_weights,
)
from automl_admm.plugins.distributions import behind_types
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.contenders import contend, price_of
from automl_admm.runs.finish.final_fit import Refit
from automl_admm.runs.finish.passed_over import PassedOver, say_passed_over
from automl_admm.runs.finish.walk_fits import Bench, WalkFits, better_first, read_evidence
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.prepare.set_aside import Aside, Question
from automl_admm.runs.provenance import versions


@dataclass(frozen=True)
class Examined:
    """The walk over the contenders, and the shipped one: certified, or the safest of them.

    Without an answer of the rows set aside no `look` was taken. `token` tells the question of this
    walk from that of any other, if it has to. `evidence` is what the findings rest on, `evaluation`
    that of the shipped model at the thresholds it ships with. `passed` are better pipelines without
    a test; without a certificate it is all without a test.
    """

    order: tuple[Contender, ...]
    look: Look | None
    token: str
    shipped: Step
    finished: Finished
    evaluation: Evaluation
    evidence: tuple[Evidence, ...] = ()
    price: Price | None = None
    passed: tuple[PassedOver, ...] = ()

    @property
    def why_untested(self) -> str | None:
        """The reason why the shipped model has no findings; None if it has."""
        return None if self.shipped.findings else _say_untested(self.passed)


@dataclass(frozen=True)
class Untested:
    """A walk without a model, and the `reason`: nothing was fitted, or nothing could be tested."""

    reason: str


@dataclass(eq=False)
class Asking:
    """Own the question of a walk; its `look` is counted before the first answer is read.

    A run that may take another course asks something else each time. Only so does the number told
    before the search count.
    """

    contenders: Sequence[Contender]
    constraints: Sequence[Constraint]
    aside: Aside
    question: Question
    look: Look | None = None
    token: str = field(init=False)

    def __post_init__(self) -> None:
        self.token = self.question.way or str(time.time_ns())

    def count(self) -> Look:
        """Return the look, written into the ledger at the first call."""
        if self.look is None:
            self.look = self._take()
        return self.look

    def _take(self) -> Look:
        question, risk = self.question, self.aside.risk
        asked = ask(
            [contender.name for contender in self.contenders],
            [str(one.limit) for one in self.constraints],
            risk,
            f"{question.run} {self.token}",
            is_last=question.is_last,
        )
        return take_look(
            question.ledger,
            question.data,
            asked,
            risk,
            earlier=(question.rows,),
            run=question.way,
            also=question.also,
            carried=question.carried,
            is_last=question.is_last,
        )


def examine(
    evaluations: Sequence[Evaluation],
    constraints: Sequence[Constraint],
    aside: Aside,
    question: Question,
    bench: Bench,
) -> Examined | Untested:
    """Fit and test contenders until one fails, and pass over those that there is no time for.

    A final fit with one class for all rows of the search is passed over, too: both are known
    without the rows set aside. A walk over such pipelines alone takes no look. Any other writes it
    down before the first answer of these rows is read, which may be that nothing could be measured.
    """
    contenders = contend(evaluations, constraints, aside)
    if not contenders:
        return Untested("no evaluation tells the classes apart")
    asking = Asking(contenders, constraints, aside, question)
    tests = WalkFits({one.key: one for one in evaluations}, constraints, contenders, bench)

    def test(contender: Contender) -> Sequence[Finding] | None:
        seen = tests.evidence(contender)
        if seen is None:
            return None
        try:
            look = asking.count()
        # What was found is not lost for that.
        except (StoreError, DiskFullError, ConfigurationError) as problem:
            reason = f"no look could be counted, as {problem.message.rstrip('.')}"
            tests.end_with(contender.key, reason)
            return ()
        return judge_all(seen, constraints, look)

    walked = walk(contenders, test)
    fitted = [step for step in walked.steps if step.contender.key in tests.fits]
    shipped = walked.chosen or next(iter(fitted), None)
    passed = tests.all_passed(walked.steps)
    if shipped is None:
        return Untested(_say_untested(passed))
    others = better_first(passed, tests.by_key[shipped.contender.key])
    if shipped.is_certified:
        others = tuple(one for one in others if one.is_better)
    found = Examined(
        *(contenders, asking.look, asking.token, shipped, *tests.model(shipped)), passed=others
    )
    return _settled(found, tests)


def _say_untested(passed: Sequence[PassedOver]) -> str:
    """Say why nothing was tested, by the pipelines passed over."""
    plain = [replace(one, is_better=False) for one in passed]
    said = say_passed_over(plain)
    return "nothing was tested" if said is None else f"{said[0].lower()}{said[1:].rstrip('.')}"


def _settled(examined: Examined, tests: WalkFits) -> Examined | Untested:
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
        return Untested("the model could not be saved at the thresholds that were tested")
    again = read_evidence(finished)
    pairs = zip(constraints, examined.evidence, again, strict=False)
    if len(again) != len(constraints) or any(
        encode_evidence([seen]) != encode_evidence([now])
        for constraint, seen, now in pairs
        if constraint.kind == "statistical"
    ):
        return Untested("the model decides otherwise once it is saved and loaded")
    evidence = tuple(
        seen if constraint.kind == "measured" else now
        for constraint, seen, now in zip(constraints, examined.evidence, again, strict=True)
    )
    look, shipped = examined.look, examined.shipped
    if look is not None:
        shipped = replace(shipped, findings=judge_all(evidence, constraints, look))
    return replace(examined, shipped=shipped, finished=finished, evidence=evidence, price=price)


def ask(
    models: Sequence[str], limits: Sequence[str], risk: float, run: str, *, is_last: bool = False
) -> str:
    """Hash the question of a run: its models in their order, its limits, its risk, how it asks."""
    return question_of([*models, run, *(["last look"] if is_last else [])], limits, risk)


def judge_all(
    evidence: Sequence[Evidence], constraints: Sequence[Constraint], look: Look
) -> tuple[Finding, ...]:
    """Test every limit at its full risk; nothing if nothing could be measured."""
    pairs = zip(evidence, constraints, strict=True) if evidence else ()
    return tuple(judge_in(look, seen, constraint.limit) for seen, constraint in pairs)


def is_certified(examined: Examined | None) -> bool:
    """Return True if a walk ships a certified model."""
    return examined is not None and examined.shipped.is_certified


def certificate_for(
    prepared: Preparation, refit: Refit, examined: Examined | None
) -> Certificate | None:
    """Return the certificate of the model that a walk ships; None if it tested none."""
    aside, question = prepared.aside, prepared.question
    if examined is None or aside is None or question is None or examined.look is None:
        return None
    told = FinalFitResult.from_json(examined.finished.result).files
    model_sha256 = told[SHIPPED if prepared.work.persist else PICKLE]
    text, behind = whole_text(refit.evaluation), versions() | behind_types(refit.measured.types)
    return certificate_of(examined, examined.look, aside, question, text, model_sha256, behind)


def certificate_of(
    examined: Examined,
    look: Look,
    aside: Aside,
    question: Question,
    pipeline: str,
    model_sha256: str,
    behind: Mapping[str, str],
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
        risk_spent=look.risk,
        look=look.number,
        is_last_look=look.is_last,
        token=examined.token,
        order=tuple(names),
        position=names.index(examined.shipped.contender.name) + 1,
        versions=behind,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        price=examined.price,
    )


def whole_text(evaluation: Evaluation) -> str:
    """Return the text of a pipeline, with more than one threshold or with class weights, if any."""
    by_group, by_class = name_thresholds(evaluation.details), name_weights(evaluation.details)
    text = f"{evaluation.text}, deciding {by_group}" if by_group else evaluation.text
    text = f"{text}, weighing {by_class}" if by_class else text
    undecided = name_undecided(evaluation.details)
    return f"{text}, leaving {undecided} undecided" if undecided else text
