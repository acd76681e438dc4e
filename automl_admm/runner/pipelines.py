"""A run over pipelines: data in, the best pipeline within the limits out."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from automl_admm.certify.certificate import Certificate, write_certificate
from automl_admm.errors import InfeasibleError, NoSuccessError, NotCertifiedError
from automl_admm.evaluation.budget import Ledger
from automl_admm.evaluation.driver import TERMINATION
from automl_admm.evaluation.group_thresholds import name_thresholds
from automl_admm.evaluation.interrupts import deferral_for
from automl_admm.plugin_types import CheapFunction, Constraint
from automl_admm.problem import Evaluation, is_feasible
from automl_admm.protocols import Executor, Finished
from automl_admm.run_records import RunResult
from automl_admm.runner.assembly import build_executor
from automl_admm.runner.baseline import fix_bounds
from automl_admm.runner.certification import Examined, certificate_of, examine
from automl_admm.runner.failures import best_or_raise
from automl_admm.runner.files import keep_predictions, write_model
from automl_admm.runner.preparation import Preparation, aim_again
from automl_admm.runner.refit import (
    Fitter,
    Refit,
    effort_of,
    expected_seconds,
    read_refit,
    refit_best,
    reserved_for_walk,
)
from automl_admm.runner.search_run import Subject, Tools, run_search, teller
from automl_admm.runner.session import Session, open_session
from automl_admm.shape import PipelineSpace
from automl_admm.space import Candidate
from automl_admm.store.folder import RunFolder, write_json

# What can be done where the limits do not hold, or are not proven to.
ON_INFEASIBLE = ("raise", "closest")
LAST_SECONDS = 8.0


@dataclass(frozen=True)
class PipelineResult:
    """The outcome of a run over pipelines; `model` is a plain fitted scikit-learn Pipeline.

    Where a decision threshold was tuned it is one in a `FixedThresholdClassifier`, and where those
    of groups were, in a `GroupThresholdClassifier` of this package.
    `certificate` is what was found of it on the rows set aside, if a certificate was asked for and
    there was the time to test.
    """

    result: RunResult
    model: Any
    refit: Refit
    preparation: Preparation = field(repr=False)
    certificate: Certificate | None = None

    @property
    def best(self) -> Evaluation:
        """The evaluation whose pipeline was fitted and ships."""
        return self.refit.evaluation

    @property
    def is_certified(self) -> bool | None:
        """Whether its limits are proven to hold; None if no proof was asked for."""
        if self.preparation.aside is None:
            return None
        return self.certificate is not None and self.certificate.is_certified

    @property
    def score(self) -> float:
        """Its score on validation rows."""
        return self.preparation.metric.score(self.best.loss)


def run_pipelines(prepared: Preparation) -> PipelineResult:
    """Search, fit the winner on all rows of the search, measure it on those held out, save it."""
    with open_session(prepared) as session:
        return _run(session)


def _run(session: Session) -> PipelineResult:
    prepared, config = session.prepared, session.prepared.config
    ledger = Ledger(config.begun)
    executor = build_executor(config, prepared.plugins, prepared.work, session.scratch)
    try:
        if not session.past.evaluations:
            prepared = _with_numbers(session, executor)
        subject = subject_of(prepared)
        tell = teller(config, subject, prepared.plugins, session.past)
        reserve = _expected(prepared)
        if prepared.aside is not None:
            reserve = partial(reserved_for_walk, reserve, config.seconds)
        finish = partial(keep_predictions, session.folder)
        with deferral_for(executor) as interrupts:
            tools = Tools(
                prepared.plan,
                tell,
                executor,
                session.store,
                reserve,
                finish,
                session.past,
                interrupts,
                ledger,
            )
            result = run_search(config, subject, tools)
            with ledger.charge("saving"):
                outcome = _conclude(hurried(prepared, result), result, executor, session, ledger)
    finally:
        executor.close()
    tell("run_finished", result=outcome.result)
    return outcome


def _with_numbers(session: Session, executor: Executor) -> Preparation:
    """The same, its limits relative to a baseline as numbers."""
    prepared = session.prepared
    constraints, config = prepared.constraints, prepared.config
    fixed = fix_bounds(constraints, config, subject_of(prepared), executor)
    if fixed is not constraints:
        prepared = aim_again(prepared, fixed)
        session.write(prepared, "running")
    return prepared


def hurried(prepared: Preparation, result: RunResult) -> Preparation:
    """Who terminates a process kills it soon: the rest has to be done in a few seconds."""
    if result.stopped_by != TERMINATION:
        return prepared
    config = prepared.config
    soon = time.monotonic() - config.begun + LAST_SECONDS
    budget = soon if config.seconds is None else min(config.seconds, soon)
    return replace(prepared, config=replace(config, budget_seconds=budget))


def _conclude(
    prepared: Preparation,
    result: RunResult,
    executor: Executor,
    session: Session,
    ledger: Ledger,
) -> PipelineResult:
    """The final fit, its measurements and its files."""
    best_or_raise(result)
    refit, finished, examined = _fit_and_test(prepared, result, executor, ledger)
    if finished.folder is None:
        raise NoSuccessError("the fitted pipeline was lost.", hint="Is the disk full?")
    with (finished.folder / "model.pickle").open("rb") as file:
        model = pickle.load(file)  # noqa: S301 - written by our own child a moment ago
    limits = tuple(constraint.limit for constraint in prepared.constraints)
    feasible = is_feasible(refit.evaluation, limits)
    best = replace(result, best=refit.evaluation, feasible=feasible, limits=limits)
    certificate = _certificate(prepared, refit.evaluation, examined)
    outcome = PipelineResult(best, model, refit, prepared, certificate)
    folder = session.folder
    if folder is not None:
        write_model(folder, finished.folder / "model.skops", outcome)
        _write_certificate(folder, prepared, certificate)
        asked_for = replace(prepared, config=session.prepared.config)
        session.write(asked_for, "done", replace(best, ledger=ledger.seconds))
    return replace(outcome, result=replace(best, ledger=ledger.seconds))


def _fit_and_test(
    prepared: Preparation, result: RunResult, executor: Executor, ledger: Ledger
) -> tuple[Refit, Finished, Examined | None]:
    """The pipeline that ships: the one that the walk certified, else the best that can be fitted.

    What was tested and did not pass ships before what was not tested.
    """
    config, expected = prepared.config, _expected(prepared)
    if prepared.aside is not None and prepared.question is not None:
        fit = ledger.charge("final fit")(Fitter(config, executor, expected))
        evaluations, constraints = result.evaluations, prepared.constraints
        with ledger.charge("certify"):
            examined = examine(evaluations, constraints, prepared.aside, prepared.question, fit)
        if examined is not None:
            by_key = {evaluation.key: evaluation for evaluation in evaluations}
            evaluation = by_key[examined.shipped.contender.key]
            return read_refit(evaluation, examined.finished), examined.finished, examined
    with ledger.charge("final fit"):
        refit, finished = refit_best(config, subject_of(prepared), result, executor, expected)
    return refit, finished, None


def _certificate(
    prepared: Preparation, evaluation: Evaluation, examined: Examined | None
) -> Certificate | None:
    aside, question = prepared.aside, prepared.question
    if examined is None or aside is None or question is None or not examined.shipped.findings:
        return None
    assert examined.finished.folder is not None  # noqa: S101 - `examine` ships nothing without
    name = "model.skops" if prepared.work.persist else "model.pickle"
    model = examined.finished.folder / name
    return certificate_of(examined, aside, question, _whole_text(evaluation), model)


def _whole_text(evaluation: Evaluation) -> str:
    """A pipeline and, where it decides by group, at which thresholds."""
    by_group = name_thresholds(evaluation.details)
    return f"{evaluation.text}, deciding {by_group}" if by_group else evaluation.text


def _write_certificate(
    folder: RunFolder, prepared: Preparation, certificate: Certificate | None
) -> None:
    if certificate is not None:
        write_certificate(folder.certificate, certificate)
        places = [int(place) for place in prepared.set_aside]
        write_json(folder.rows_set_aside, {"rows": prepared.rows, "places": places})


def demand_certified(outcome: PipelineResult) -> None:
    """Raise, with the outcome as the closest one, if a certificate was asked for and not given.

    What is outside of the limits on validation rows already is infeasible instead.
    """
    certificate = outcome.certificate
    if outcome.preparation.aside is None or not outcome.result.feasible:
        return
    if certificate is None:
        raise NotCertifiedError(
            "nothing was certified: there was no time left to test.",
            hint="Try a longer budget.",
            closest=outcome,
        )
    if not certificate.is_certified:
        failed = [str(one) for one in certificate.findings if not one.is_certified]
        raise NotCertifiedError(f"nothing was certified: {'; '.join(failed)}.", closest=outcome)


def demand_feasible(outcome: PipelineResult) -> None:
    """Raise, with the outcome as the closest one, if it is outside the limits.

    What is certified on rows of its own is inside, whatever the validation rows say.
    """
    if not outcome.result.feasible and not outcome.is_certified:
        constraints, evaluation = outcome.preparation.constraints, outcome.best
        raise InfeasibleError(_how_far(constraints, evaluation), closest=outcome)


def subject_of(prepared: Preparation) -> Subject:
    """What the search is told of pipelines."""
    pipelines = prepared.grammar.pipelines
    cheap = {c.limit.name: c.cheap for c in prepared.constraints if c.cheap is not None}
    return Subject(
        space=pipelines.space,
        key=pipelines.key,
        text=pipelines.text,
        limits=prepared.aims,
        loss_name=prepared.metric.name,
        best_score=prepared.metric.best,
        cheap={name: partial(_measure_steps, pipelines, cheap[name]) for name in cheap},
        starts=prepared.starts,
    )


def _measure_steps(
    pipelines: PipelineSpace, function: CheapFunction, candidate: Candidate
) -> float:
    return float(function(pipelines.steps(candidate)))


def _expected(prepared: Preparation) -> Callable[[Evaluation | None], float]:
    return partial(expected_seconds, effort_of(prepared.work))


def _how_far(constraints: tuple[Constraint, ...], evaluation: Evaluation) -> str:
    pairs = zip(constraints, evaluation.constraints, strict=True)
    broken = [f"{c.limit}, closest {value:.4g}" for c, value in pairs if not c.limit.holds(value)]
    return f"no pipeline within the limits was found ({'; '.join(broken)})."
