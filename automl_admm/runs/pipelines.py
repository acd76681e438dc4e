"""A run over pipelines: data in, the best pipeline within the limits out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from automl_admm.certify.certificate import Certificate, write_certificate
from automl_admm.core.errors import NoSuccessError
from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.protocols import Finished
from automl_admm.core.run import Account, FallbackKind, RunResult, RunState
from automl_admm.execution.evidence_files import read_told
from automl_admm.pipelines.ensembles.fold_models import shipped_folds
from automl_admm.pipelines.shipped_costs import SHIPPED
from automl_admm.pipelines.shipping import PICKLE
from automl_admm.runs.driving.budget import Ledger
from automl_admm.runs.driving.desk import Desk
from automl_admm.runs.driving.dispatch import Dispatcher
from automl_admm.runs.driving.interrupts import Deferral, deferral_for
from automl_admm.runs.finish import kept_model
from automl_admm.runs.finish.certification import Examined, certificate_for, examine, is_certified
from automl_admm.runs.finish.certified_ensemble import Offered, offer_ensemble, tested_refit
from automl_admm.runs.finish.closing import Closing, close_after, raise_lost_store
from automl_admm.runs.finish.effort import effort_of, expected_of_folds, expected_seconds
from automl_admm.runs.finish.ensemble_fit import EnsembleFit, read_pool
from automl_admm.runs.finish.fallback_model import (
    EarlyFallbacks,
    Fallback,
    fall_back,
    last_resort,
)
from automl_admm.runs.finish.final_fit import Fitter, Press, Refit, refit_best
from automl_admm.runs.finish.kept_certificate import keeping_certified, settle_certified
from automl_admm.runs.finish.kept_models import KeptModels
from automl_admm.runs.finish.no_success import LONGER, best_or_raise, is_interrupted
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.finish.passed_over import PassedOver, if_better, not_certified
from automl_admm.runs.finish.reserve import reserve_of
from automl_admm.runs.finish.run_files import note_passed_over, write_model, write_rows_aside
from automl_admm.runs.finish.ways import FoldWays, Ways
from automl_admm.runs.kept_predictions import KeptPredictions
from automl_admm.runs.prepare.assembly import build_executor, title_of_executor
from automl_admm.runs.prepare.baseline import fix_bounds
from automl_admm.runs.prepare.preparation import Preparation, aim_again
from automl_admm.runs.prepare.race import race_against
from automl_admm.runs.search_run import budget_of, run_search, teller
from automl_admm.runs.session.brought_parts import behind_parts
from automl_admm.runs.session.iterations import noting_iterations
from automl_admm.runs.session.session import Session, open_session
from automl_admm.store.run_folder import RunFolder

logger = logging.getLogger(__name__)


def run_pipelines(prepared: Preparation) -> PipelineResult:
    """Search, fit the winner on all rows of the search, measure it on those held out, save it."""
    with open_session(prepared) as session:
        if session.folder is not None:
            settle_certified(session.folder)
        return _run(session)


def _run(session: Session) -> PipelineResult:
    prepared, config = session.prepared, session.prepared.config
    ledger, behind = Ledger(config.begun), behind_parts(prepared)
    work = replace(prepared.work, first=prepared.first)
    executor = build_executor(config, prepared.plugins, work, session.scratch, behind)
    interrupts = deferral_for(executor, config.interrupts)
    title, limits = title_of_executor(config, prepared.plugins), len(prepared.constraints)
    dispatch = Dispatcher(executor, title, interrupts, limits=limits)
    try:
        if not session.past.evaluations:
            session = _with_numbers(session, dispatch)
        with interrupts:
            kept, ways = _kept_predictions(session), _fold_ways(session)
            desk = _desk(session, dispatch, ledger, interrupts, kept, ways)
            outcome = _search_and_conclude(session, desk, kept, ways)
    finally:
        dispatch.close()
    desk.tell("run_finished", result=outcome.result)
    raise_lost_store(outcome.result.stop, session.folder)
    return outcome


def _with_numbers(session: Session, dispatch: Dispatcher) -> Session:
    """Give limits relative to a baseline their numbers."""
    prepared = session.prepared
    constraints, config = prepared.constraints, prepared.config
    fixed = fix_bounds(constraints, config, prepared.problem, prepared.baseline, dispatch)
    if fixed is constraints:
        return session
    prepared = aim_again(prepared, fixed)
    session.write(prepared, RunState.RUNNING)
    return replace(session, prepared=prepared)


def _kept_predictions(session: Session) -> KeptPredictions:
    """Return the predictions that earlier sessions left, in the folder of the run if it has one."""
    folder, prepared = session.folder, session.prepared
    place = session.scratch / "predictions" if folder is None else folder.predictions
    return KeptPredictions.of(place, session.past.evaluations, prepared)


def _fold_ways(session: Session) -> FoldWays:
    """Return the fold models of the run, none kept so far."""
    prepared, work = session.prepared, session.prepared.work
    models = len(shipped_folds(work.splits, work.table.roles))
    kept = KeptModels(session.scratch / "models", prepared.aims)
    return FoldWays(prepared, kept, partial(expected_of_folds, effort_of(work), models))


def _desk(
    session: Session,
    dispatch: Dispatcher,
    ledger: Ledger,
    interrupts: Deferral,
    kept: KeptPredictions,
    ways: FoldWays,
) -> Desk:
    """Set up the desk: the search leaves the expected seconds of the final fits in its budget."""
    prepared, config = session.prepared, session.prepared.config
    reserve = reserve_of(prepared, _expected(prepared), ways, may_keep=not dispatch.is_remote)
    tell = teller(
        config,
        prepared.problem,
        prepared.plugins,
        session.past,
        limits=prepared.limits,
        score=(prepared.metric.name, prepared.metric.best),
    )
    return Desk(
        dispatch,
        session.store,
        budget_of(config, reserve),
        noting_iterations(session, tell),
        session.past,
        ledger,
        race=partial(_given_to_next, prepared, ways if not dispatch.is_remote else None),
        finish=partial(_keep, kept, ways.kept),
        interrupts=interrupts,
    )


def _given_to_next(
    prepared: Preparation, ways: FoldWays | None, best: Evaluation | None
) -> Mapping[str, Any]:
    """Return the arguments of the next evaluation besides its candidate.

    Fold models are kept on this machine alone: from others they would travel for nothing.
    """
    keeping = {} if ways is None else ways.given_to_next(best)
    return {**race_against(prepared, best), **keeping}


def _keep(
    predictions: KeptPredictions, models: KeptModels, evaluation: Evaluation, finished: Finished
) -> None:
    """Take over the files of an evaluation; the last to do so drops its scratch."""
    models.keep(evaluation, finished)
    predictions.keep(evaluation, finished)


@dataclass(frozen=True)
class Ending:
    """Own the rest of a run after its search: the result, and the time left to ship a model."""

    session: Session
    desk: Desk
    result: RunResult
    closing: Closing
    kept: KeptPredictions
    ways: FoldWays
    fallbacks: tuple[Fallback, ...] = ()

    @property
    def prepared(self) -> Preparation:
        """The session's preparation."""
        return self.session.prepared


def _search_and_conclude(
    session: Session, desk: Desk, kept: KeptPredictions, ways: FoldWays
) -> PipelineResult:
    prepared = session.prepared
    standby = EarlyFallbacks() if _has_success(session) else fall_back(prepared, desk)
    desk = replace(desk, standby=standby)
    result = run_search(prepared.config, prepared.plan, prepared.problem, desk)
    closing = close_after(result, prepared.config, desk.interrupts)
    with desk.ledger.charge(Account.SAVING):
        return _conclude(Ending(session, desk, result, closing, kept, ways, standby.ready))


def _has_success(session: Session) -> bool:
    return any(evaluation.is_ranked for evaluation in session.past.evaluations)


def _conclude(ending: Ending) -> PipelineResult:
    """Make the final fit, its measurements and its files."""
    session, prepared, ledger = ending.session, ending.prepared, ending.desk.ledger
    shipped = _what_ships(ending)
    refit, certificate = shipped.refit, shipped.proof
    if shipped.finished is not None:
        certificate = certificate_for(prepared, refit, shipped.examined)
    feasible = is_feasible(refit.evaluation, prepared.limits) and refit.one_class is None
    best = replace(
        ending.result,
        stop=ending.closing.end or ending.result.stop,
        best=refit.as_fitted,
        feasible=feasible and shipped.fallback is not FallbackKind.CONSTANT,
        limits=prepared.limits,
        fallback=shipped.fallback,
    )
    kept, folder = session.folder if shipped.finished is None else None, session.folder
    outcome = PipelineResult(best, shipped.pickled, refit, prepared, certificate, kept)
    if folder is not None and shipped.finished is not None:
        _write_shipped(folder, session.run_id, shipped, outcome)
    elif folder is not None:
        note_passed_over(folder, refit.passed_over)
    # Read once, as late as `run.json` allows: the file, the screen and `--json` tell one number.
    result = best.with_ledger(ledger.seconds)
    session.write(prepared, RunState.DONE, result)
    return replace(outcome, result=result)


def _write_shipped(
    folder: RunFolder, run_id: str | None, shipped: Shipped, outcome: PipelineResult
) -> None:
    if shipped.finished is not None and shipped.finished.folder is not None:
        with keeping_certified(folder, until_written=outcome.is_certified):
            write_model(folder, run_id, shipped.finished.folder / SHIPPED, outcome)
            _write_certificate(folder, run_id, outcome, shipped.examined)


@dataclass(frozen=True)
class Shipped:
    """The shipped model; if it lies in the run's folder already, nothing was `finished`.

    Then `proof` is its certificate, if it has one.
    """

    refit: Refit
    finished: Finished | None = None
    examined: Examined | None = None
    fallback: FallbackKind | None = None
    proof: Certificate | None = None

    @property
    def pickled(self) -> bytes:
        """The pipeline as the final fit wrote it."""
        if self.finished is None:
            return b""
        content = read_told(self.finished, PICKLE)
        if self.finished.folder is None or content is None:
            raise NoSuccessError("the fitted pipeline was lost.", hint="Is the disk full?")
        return content


def _what_ships(ending: Ending) -> Shipped:
    """Return the best pipeline, fitted, or an earlier session's better model.

    Without either in time, it is a fallback fitted beforehand; also after an interrupt before the
    first success.
    """
    proven = kept_model.proven_model_that_is_there(ending.session)
    proof = None if proven is None else proven.certificate
    there = kept_model.model_that_is_there(ending.session) if proven is None else proven.refit
    is_early = ending.result.best is None and is_interrupted(ending.result)
    if is_early and there is None and ending.prepared.config.deadline is not None:
        return _makeshift(ending)
    try:
        best_or_raise(ending.result, ending.prepared.config)
        fitted = _fit_and_test(ending)
    except NoSuccessError as problem:
        if there is not None:
            return _kept(ending, there, _unfitted(ending.result, problem), proof)
        if ending.closing.is_open_ended:
            raise
        return _makeshift(ending, _unfitted(ending.result, problem))
    refit, _, examined = fitted
    stays = proven is not None and proven.stays_before(refit, examined, ending.prepared.config.cost)
    if there is not None and (stays or kept_model.is_better(there, refit, ending.session)):
        is_unproven = proven is not None and not is_certified(examined)
        unproven = (not_certified(refit.evaluation),) if is_unproven else ()
        return _kept(ending, there, (*unproven, *refit.passed_over), proof)
    return Shipped(*fitted)


def _unfitted(result: RunResult, problem: NoSuccessError) -> tuple[PassedOver, ...]:
    """Pass over the best evaluation of a run whose final fits all failed."""
    if result.best is None:
        return ()
    said, needs_time = problem.message.rstrip("."), problem.hint == LONGER
    return (PassedOver(result.best, said, needs_time=needs_time),)


def _kept(
    ending: Ending, there: Refit, passed: Sequence[PassedOver], proof: Certificate | None
) -> Shipped:
    """Ship the model of an earlier session, with the better evaluations passed over, if any."""
    better = if_better(passed, there.evaluation, ending.prepared.aims)
    if proof is not None:
        logger.warning("the model that an earlier look (%d) certified stays", proof.look)
    return Shipped(replace(there, passed_over=better), proof=proof)


def _makeshift(ending: Ending, passed: Sequence[PassedOver] = ()) -> Shipped:
    """Return the fallback that is ready; without one, a constant model fitted here and now.

    Of what was `passed` over only a failure that more time would not mend is noted.
    """
    ready = ending.fallbacks or (last_resort(ending.prepared, ending.session.scratch),)
    found, noted = ready[0], tuple(one for one in passed if not one.needs_time)
    refit = replace(found.refit, passed_over=noted)
    return Shipped(refit, found.finished, fallback=found.kind)


def _fit_and_test(ending: Ending) -> tuple[Refit, Finished, Examined | None]:
    """Return the certified pipeline of the walk, else the best one still to be fitted.

    A tested pipeline without a pass ships before an untested one.
    """
    prepared, desk, closing = ending.prepared, ending.desk, ending.closing
    evaluations, expected = ending.result.evaluations, _expected(prepared)
    ledger, problem, untested = desk.ledger, prepared.problem, None
    if prepared.aside is not None and prepared.question is not None:
        press = Press(problem, desk.dispatch, closing)
        fitter = Fitter(press, Ways(expected, ending.ways), ledger)
        with ledger.charge(Account.CERTIFY):
            offered = _offered(ending)
            bench = fitter if offered is None else offered.bench(fitter)
            walkers = evaluations if offered is None else (*evaluations, offered.evaluation)
            asked = prepared.constraints, prepared.aside, prepared.question
            examined = examine(walkers, *asked, bench)
        if isinstance(examined, Examined):
            return tested_refit(examined, fitter.of_folds, offered), examined.finished, examined
        untested = examined.reason
    with ledger.charge(Account.FINAL_FIT):
        single = refit_best(problem, evaluations, desk.dispatch, expected, closing, ending.ways)
        refit, finished = _ensemble(ending, *single)
    better = if_better(single[0].passed_over, refit.evaluation, prepared.aims)
    return replace(refit, passed_over=better, untested=untested), finished, None


def _offered(ending: Ending) -> Offered | None:
    """Return an ensemble for the walk, if there may be one."""
    prepared, result = ending.prepared, ending.result
    if is_interrupted(result) or ending.ways.is_asked:
        return None
    press = Press(prepared.problem, ending.desk.dispatch, ending.closing, patience=0.0)
    expected = _expected(prepared)
    with ending.desk.ledger.charge(Account.FINAL_FIT):
        return offer_ensemble(prepared, result.evaluations, ending.kept, press, expected)


def _ensemble(ending: Ending, refit: Refit, finished: Finished) -> tuple[Refit, Finished]:
    """Return an ensemble that is better than the single pipeline, if there is time to fit one.

    The single one is ready: an interrupt ends this, and nothing else is lost. A certifying
    run offers its ensemble to the walk instead. Fold models ship alone: nothing is to be fitted on
    all rows then.
    """
    prepared, closing, single = ending.prepared, ending.closing, (refit, finished)
    is_wanted = prepared.config.ensemble and prepared.aside is None
    if not is_wanted or is_interrupted(ending.result):
        return single
    if refit.of_folds is not None or ending.ways.is_asked:
        return single
    press = Press(prepared.problem, ending.desk.dispatch, closing, patience=0.0)
    fitted = {refit.evaluation.key: finished}
    fits = EnsembleFit(prepared, press, _expected(prepared), refit, fitted)
    found = closing.unless_interrupted(lambda: fits.run(read_pool(prepared, ending.kept)))
    return found or (replace(refit, alone=fits.reason), finished)


def _write_certificate(
    folder: RunFolder, run_id: str | None, outcome: PipelineResult, examined: Examined | None
) -> None:
    """Write the findings last: without its rows a certificate cannot be verified."""
    prepared = outcome.preparation
    folder.certificate.unlink(missing_ok=True)
    if prepared.aside is not None:
        seen = () if examined is None else examined.evidence
        write_rows_aside(folder, run_id, prepared, seen)
    if outcome.certificate is not None:
        write_certificate(folder.certificate, outcome.certificate)


def _expected(prepared: Preparation) -> Callable[[Evaluation | None], float]:
    return partial(expected_seconds, effort_of(prepared.work))
