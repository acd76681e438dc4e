"""A run over pipelines: data in, the best pipeline within the limits out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from automl_admm.certify.certificate import Certificate, write_certificate
from automl_admm.core.errors import NoSuccessError
from automl_admm.core.pipeline_space import PipelineSpace
from automl_admm.core.problem import Evaluation, is_feasible
from automl_admm.core.protocols import Executor, Finished
from automl_admm.core.run import CONSTANT, RunResult
from automl_admm.core.space import Candidate
from automl_admm.execution.evidence_files import FILES, read_told
from automl_admm.pipelines.work import PICKLE, SHIPPED
from automl_admm.plugins.records import CheapFunction
from automl_admm.runs.driving.budget import Ledger
from automl_admm.runs.driving.driver import TERMINATION
from automl_admm.runs.driving.interrupts import Deferral, deferral_for
from automl_admm.runs.finish.certification import (
    Examined,
    certificate_of,
    examine,
    read_evidence,
    whole_text,
)
from automl_admm.runs.finish.closing import LAST_SECONDS, Closing
from automl_admm.runs.finish.fallback_model import Fallback, fall_back, last_resort
from automl_admm.runs.finish.final_fit import (
    Fitter,
    Refit,
    effort_of,
    expected_seconds,
    read_refit,
    refit_best,
    reserved_for_walk,
)
from automl_admm.runs.finish.kept_model import is_better, model_that_is_there
from automl_admm.runs.finish.no_success import best_or_raise, is_interrupted
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.finish.run_files import keep_predictions, write_model
from automl_admm.runs.prepare.assembly import build_executor
from automl_admm.runs.prepare.baseline import fix_bounds
from automl_admm.runs.prepare.preparation import Preparation, aim_again
from automl_admm.runs.saved.certified_run import write_rows_aside
from automl_admm.runs.search_run import Subject, Tools, run_search, teller
from automl_admm.runs.session.session import Session, open_session
from automl_admm.store.run_folder import RunFolder


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
        with deferral_for(executor, config.interrupts) as interrupts:
            fallbacks = () if _has_success(session) else _ready(prepared, executor, interrupts)
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
            prepared = hurried(prepared, result)
            closing = Closing(prepared.config.deadline, interrupts)
            with ledger.charge("saving"):
                ending = Ending(
                    prepared, result, executor, ledger, closing, session.scratch, fallbacks
                )
                outcome = _conclude(ending, session)
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


@dataclass(frozen=True)
class Ending:
    """What there is when a search has ended, to make of it what ships."""

    prepared: Preparation
    result: RunResult
    executor: Executor
    ledger: Ledger
    closing: Closing
    scratch: Path
    fallbacks: tuple[Fallback, ...] = ()


def _has_success(session: Session) -> bool:
    return any(evaluation.ok and evaluation.is_whole for evaluation in session.past.evaluations)


def _ready(prepared: Preparation, executor: Executor, interrupts: Deferral) -> tuple[Fallback, ...]:
    return fall_back(prepared, subject_of(prepared), executor, interrupts)


def _conclude(ending: Ending, session: Session) -> PipelineResult:
    """The final fit, its measurements and its files."""
    prepared, ledger = ending.prepared, ending.ledger
    shipped = _what_ships(ending, session)
    refit, certificate = shipped.refit, None
    if shipped.finished is not None:
        certificate = _certificate(prepared, refit.evaluation, shipped.examined)
    result = replace(ending.result, stopped_by=ending.closing.end or ending.result.stopped_by)
    limits = tuple(constraint.limit for constraint in prepared.constraints)
    feasible = is_feasible(refit.evaluation, limits) and refit.one_class is None
    best = replace(
        result,
        best=refit.evaluation,
        feasible=feasible and shipped.fallback != CONSTANT,
        limits=limits,
        fallback=shipped.fallback,
    )
    kept, folder = session.folder if shipped.finished is None else None, session.folder
    outcome = PipelineResult(best, shipped.pickled, refit, prepared, certificate, kept)
    if folder is not None:
        if shipped.finished is not None and shipped.finished.folder is not None:
            write_model(folder, shipped.finished.folder / SHIPPED, outcome)
            _write_certificate(folder, prepared, certificate, shipped.examined)
        asked_for = replace(prepared, config=session.prepared.config)
        session.write(asked_for, "done", replace(best, ledger=ledger.seconds))
    return replace(outcome, result=replace(best, ledger=ledger.seconds))


@dataclass(frozen=True)
class Shipped:
    """What ships: of what lies in the run's folder already there is nothing `finished`."""

    refit: Refit
    finished: Finished | None = None
    examined: Examined | None = None
    fallback: str | None = None

    @property
    def pickled(self) -> bytes:
        """The pipeline as the final fit wrote it."""
        if self.finished is None:
            return b""
        content = read_told(self.finished, PICKLE)
        if self.finished.folder is None or content is None:
            raise NoSuccessError("the fitted pipeline was lost.", hint="Is the disk full?")
        return content


def _what_ships(ending: Ending, session: Session) -> Shipped:
    """The best pipeline, fitted; the one that was there where only a worse one could be fitted.

    Where there is none in time, it is what was fitted beforehand; also where an interrupt came
    before anything succeeded.
    """
    prepared, there = ending.prepared, model_that_is_there(session)
    is_early = ending.result.best is None and is_interrupted(ending.result)
    if is_early and there is None and ending.fallbacks:
        return _unevaluated(ending.fallbacks[0])
    try:
        best_or_raise(ending.result)
        fitted = _fit_and_test(ending)
    except NoSuccessError:
        if there is not None:
            return Shipped(there)
        if prepared.config.deadline is None:
            raise
        ready = ending.fallbacks or (last_resort(prepared, subject_of(prepared), ending.scratch),)
        return _unevaluated(ready[0])
    if there is not None and is_better(there, fitted[0], session):
        return Shipped(there)
    return Shipped(*fitted)


def _unevaluated(ready: Fallback) -> Shipped:
    return Shipped(ready.refit, ready.finished, fallback=ready.kind)


def _fit_and_test(ending: Ending) -> tuple[Refit, Finished, Examined | None]:
    """The pipeline that ships: the one that the walk certified, else the best that can be fitted.

    What was tested and did not pass ships before what was not tested.
    """
    prepared, result, executor = ending.prepared, ending.result, ending.executor
    ledger, closing = ending.ledger, ending.closing
    config, expected = prepared.config, _expected(prepared)
    if prepared.aside is not None and prepared.question is not None:
        fit = ledger.charge("final fit")(Fitter(config, executor, expected, closing))
        evaluations, constraints = result.evaluations, prepared.constraints
        with ledger.charge("certify"):
            examined = examine(evaluations, constraints, prepared.aside, prepared.question, fit)
        if examined is not None:
            by_key = {evaluation.key: evaluation for evaluation in evaluations}
            evaluation = by_key[examined.shipped.contender.key]
            return read_refit(evaluation, examined.finished.result), examined.finished, examined
    with ledger.charge("final fit"):
        subject = subject_of(prepared)
        refit, finished = refit_best(config, subject, result, executor, expected, closing)
    return refit, finished, None


def _certificate(
    prepared: Preparation, evaluation: Evaluation, examined: Examined | None
) -> Certificate | None:
    aside, question = prepared.aside, prepared.question
    if examined is None or aside is None or question is None or not examined.shipped.findings:
        return None
    told = examined.finished.result[FILES]
    model_sha256 = told[SHIPPED if prepared.work.persist else PICKLE]
    return certificate_of(examined, aside, question, whole_text(evaluation), model_sha256)


def _write_certificate(
    folder: RunFolder,
    prepared: Preparation,
    certificate: Certificate | None,
    examined: Examined | None,
) -> None:
    """Write what was found; what an earlier session found of another model goes."""
    if certificate is None:
        folder.certificate.unlink(missing_ok=True)
    else:
        write_certificate(folder.certificate, certificate)
    if prepared.aside is not None:
        seen = [] if examined is None else read_evidence(examined.finished)
        write_rows_aside(folder, prepared, seen)


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
