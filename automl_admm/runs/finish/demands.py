"""Demands on a finished run: evaluated, certified, within the limits; else the reason."""

from __future__ import annotations

from collections.abc import Iterator

from automl_admm.core.errors import InfeasibleError, NoSuccessError, NotCertifiedError, Remedy
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.run import FallbackKind
from automl_admm.pipelines.thresholds.path import moved_names
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.limit_conflicts import find_conflict, say_conflict, ways
from automl_admm.runs.finish.no_success import (
    LONGER,
    UNDISTURBED,
    cure,
    cure_fit,
    explain,
)
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.finish.passed_over import say_passed_over, say_unsound


def demand_evaluated(outcome: PipelineResult) -> None:
    """Raise, with the outcome as the closest one, if only a constant ships."""
    if outcome.fallback is FallbackKind.CONSTANT:
        raise NoSuccessError(
            explain_fallback(outcome), hint=cure_fallback(outcome), closest=outcome
        )


def explain_fallback(outcome: PipelineResult) -> str:
    """Explain in two sentences the reason for a fallback, and its kind."""
    result = outcome.result
    config = outcome.preparation.config
    reason = "there was no time for the final fit."
    if not _has_success(outcome):
        reason = explain(result, config)
    elif outcome.refit.passed_over:
        reason = f"{outcome.refit.passed_over[0].reason}."
    rows = f"What was saved, and marked, was fitted on {outcome.refit.rows} rows"
    if outcome.fallback is FallbackKind.CONSTANT:
        rows = f"What was saved, and marked, is a {outcome.best.text}"
    return f"{reason} {rows}."


def cure_fallback(outcome: PipelineResult) -> Remedy:
    """Return the remedy for the cause of a fallback: more time only where that helps."""
    if _has_success(outcome):
        passed = outcome.refit.passed_over
        return cure_fit(passed[0].reason, needs_time=False) if passed else LONGER
    return cure(outcome.result, outcome.preparation.config) or UNDISTURBED


def _has_success(outcome: PipelineResult) -> bool:
    return any(evaluation.ok for evaluation in outcome.result.evaluations)


def explain_passed_over(outcome: PipelineResult) -> str | None:
    """Warn of a shipped pipeline that is not the best one found; a makeshift is told elsewhere."""
    passed = outcome.refit.passed_over
    said = None if outcome.fallback is not None else say_passed_over(passed)
    if said is None or not any(one.needs_time for one in passed):
        return said
    return f"{said} {LONGER}"


def explain_unsound(outcome: PipelineResult) -> str | None:
    """Warn of a shipped pipeline whose fit on all rows went wrong; a single class is told apart."""
    return None if outcome.refit.one_class is not None else say_unsound(outcome.went_wrong)


def explain_folds(outcome: PipelineResult) -> str | None:
    """Warn of fold models that ship for lack of time; nothing is said of those asked for."""
    found = outcome.refit.of_folds
    is_late = found is not None and not found.is_asked
    return f"what ships is {found}. {LONGER}" if is_late else None


def demand_certified(outcome: PipelineResult) -> None:
    """Raise, with the outcome as the closest one, if a promised certificate is missing.

    A model outside the limits on validation rows already is infeasible instead.
    """
    certificate = outcome.certificate
    if outcome.preparation.aside is None or not outcome.result.feasible:
        return
    if certificate is None:
        passed = outcome.refit.passed_over
        needs_time = not passed or any(one.needs_time for one in passed)
        raise NotCertifiedError(
            f"nothing was certified: {outcome.refit.untested or 'no time was left to test'}.",
            hint=LONGER if needs_time else None,
            closest=outcome,
        )
    if not certificate.is_certified:
        failed = [str(one) for one in certificate.findings if not one.is_certified]
        said = f"nothing was certified: {'; '.join(failed)}."
        more = say_passed_over(outcome.refit.passed_over)
        raise NotCertifiedError(said if more is None else f"{said} {more}", closest=outcome)


def demand_feasible(outcome: PipelineResult) -> None:
    """Raise, with the outcome as the closest one, if it is outside the limits.

    A model certified on rows of its own is inside, whatever the validation rows say.
    """
    if not outcome.result.feasible and not outcome.is_certified:
        constraints, evaluation = outcome.preparation.constraints, outcome.best
        found = _how_far(constraints, evaluation, outcome.refit.one_class)
        raise InfeasibleError(found, hint=_conflict(outcome), closest=outcome)


def _conflict(outcome: PipelineResult) -> str | None:
    """Say which limits conflict, and the least change that would do."""
    prepared = outcome.preparation
    moved = moved_names(prepared.constraints)
    found = find_conflict(outcome.result.evaluations, prepared.limits, moved)
    said = say_conflict(found)
    if said is None:
        return None
    met = ", or ".join(", ".join(map(str, one.relaxed)) for one in ways(found)[:2])
    return f"In its evaluations {said}.{f' One of them is within {met}.' if met else ''}"


def _how_far(
    constraints: tuple[Constraint, ...], evaluation: Evaluation, one_class: str | None
) -> str:
    pairs = zip(constraints, evaluation.constraints, strict=True)
    broken = [f"{c.limit}, closest {value:.4g}" for c, value in pairs if not c.limit.holds(value)]
    if one_class is not None and not broken:
        within = " within the limits" if constraints else ""
        return (
            f"no pipeline{within} was found that tells classes apart: the best calls every row "
            f"'{one_class}'."
        )
    if broken and len(broken) < len(constraints):
        broken.append("the others hold there")
    besides = "" if one_class is None else f", and the closest calls every row '{one_class}'"
    return f"no pipeline within the limits was found ({'; '.join(broken)}){besides}."


def tell_broken(outcome: PipelineResult) -> Iterator[str]:
    """Yield a sentence for every limit kept on validation rows and broken on held-out rows.

    A certificate says more of the same rows; a proven limit is not broken.
    """
    measured, constraints = outcome.refit.measured, outcome.preparation.constraints
    if outcome.is_certified or len(measured.held_out_constraints) != len(constraints):
        return
    values = zip(constraints, outcome.best.constraints, measured.held_out_constraints, strict=True)
    for constraint, value, other in values:
        limit = constraint.limit
        if limit.holds(value) and not limit.holds(other):
            yield (
                f"{limit} is BROKEN on the {measured.held_out_rows} rows held out ({other:.4g}); "
                f"it holds on the validation rows ({value:.4g}), by which the pipeline was chosen."
            )
