"""Sentences before a search: its rows, its beginning, and the proof that was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from automl_admm.constraints.fitted_groups import say_fitted
from automl_admm.core.percentages import percent_of_confidence, percent_of_risk
from automl_admm.runs.finish.certified_ensemble import may_be_certified
from automl_admm.runs.options import FLAGS, FOLDS
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.prepare.scoring_trial import SEES_DECISIONS, note_blind_metric
from automl_admm.runs.prepare.searched_rows import tell_searched


def announce(prepared: Preparation) -> Iterator[str]:
    """Say the facts before a search: its rows; if it is certified, aims and shortfalls, too."""
    searched = tell_searched(prepared.config, len(prepared.work.table.y))
    if searched is not None:
        yield searched
    if prepared.portfolio.starts:
        count, tables = len(prepared.portfolio.starts), prepared.portfolio.tables
        # Within limits some are passed over: those of a model that was outside.
        most = "up to " if prepared.constraints else ""
        good = f"{most}{count} pipelines that were good on {tables} other tables"
        yield f"the search begins with {good} (--no-portfolio: without)"
    for constraint in prepared.constraints:
        yield from say_fitted(constraint)
    if (note := note_blind_metric(prepared)) is not None:
        yield f"{note} {SEES_DECISIONS.on_command_line(FLAGS)}"
    yield from _announce_proof(prepared)


def _announce_proof(prepared: Preparation) -> Iterator[str]:
    """Say how the limits will be certified, if they are to be."""
    aside, question = prepared.aside, prepared.question
    if aside is None or question is None:
        return
    is_wanted = prepared.config.ensemble and prepared.config.refit != FOLDS
    if is_wanted and not may_be_certified(prepared):
        yield "a certificate of these limits is of one pipeline: no ensemble ships"
    look = question.next_look(aside.risk)
    which = f"look {look.number} at these data{', the last' if look.is_last else ''}"
    told = f"; {which}, at {percent_of_risk(look.risk)} of risk"
    sure = percent_of_confidence(aside.confidence)
    yield (
        f"{question.count} rows set aside to certify the limits at {sure}"
        f"{told if look.number > 1 or look.is_last else ''}"
    )
    own = [str(c.limit) for c in prepared.constraints if c.limit.confidence is not None]
    if own:
        yield f"of them at a confidence of their own: {', '.join(own)}"
    if question.tested is not None:
        drawn = "one of a group at most, drawn by their weights"
        yield f"{question.tested} of them count for the proof: {drawn}"
    if prepared.work.table.roles.times is not None:
        yield (
            "warning: the rows set aside are the latest; the proof takes them to be independent of "
            "each other, and later ones to be drawn like them: a drift breaks it"
        )
    for constraint, aim in zip(prepared.constraints, prepared.aims, strict=True):
        if aim.bound != constraint.limit.bound:
            yield f"to have room for the proof the search aims at {aim} for {constraint.limit}"
    yield from (f"warning: {shortfall}" for shortfall in aside.shortfalls)
